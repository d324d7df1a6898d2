"""Print the oldest versions that pyproject.toml allows, as requirements for pip.

    python -m tools.oldest_requirements

Those of the package itself and of the frames (pandas, polars) that its tests give it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

FRAMES = ("pandas", "polars")


def oldest(project: Path) -> list[str]:
    """Return a requirement with "==" for each with ">="."""
    described = tomllib.loads(project.read_text())["project"]
    tested = described["optional-dependencies"]["test"]
    wanted = described["dependencies"] + [one for one in tested if one.startswith(FRAMES)]
    return [one.replace(">=", "==") for one in wanted]


if __name__ == "__main__":
    print(*oldest(Path(__file__).parents[1] / "pyproject.toml"))
