"""The benchmarks are a package of the repository, not of the installed library."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
