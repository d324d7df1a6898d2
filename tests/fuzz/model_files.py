"""Mutate model files and read them: ``python -m tests.fuzz.model_files --mutations 20000``.

The checksums of the mutations are put right. A mutation must be refused, or read as a model that
may fail in Python; a crash, a hang of more than ten seconds, or an allocation beyond the limit ends
the program with an error.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys

import numpy as np

from tests.persistence.mutations import survives
from tests.persistence.test_model_files import FILES, INPUTS, X

_BATCH = 20
_BATCH_SECONDS = 10 * _BATCH
_MEMORY = 2**30  # beyond what the program has when it begins


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="seed")
    options = parser.parse_args()
    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
    rng = np.random.default_rng(options.first)
    refused = tried = 0
    while tried < options.mutations:
        path = FILES[int(rng.integers(len(FILES)))]
        name = path.stem.partition("-")[2].replace("_", " ")
        signal.alarm(_BATCH_SECONDS)
        refused += survives(path.read_bytes(), INPUTS.get(name, X), _BATCH, rng)
        tried += _BATCH
    sys.stdout.write(f"{tried:,} mutations of {len(FILES)} model files, {refused:,} refused\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
