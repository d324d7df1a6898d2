"""Fuzz the certificates for some minutes: ``python -m tests.fuzz --minutes 5 --first 0``.

Prints what was tried, and every certificate that does not bracket the optimum; exit status 1 if
there is one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from time import perf_counter

from tests.fuzz.proofs import check, drawn


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    options = parser.parse_args()
    begin, seed = perf_counter(), options.first
    tried: Counter[str] = Counter()
    undecided = wrong = 0
    while perf_counter() - begin < 60.0 * options.minutes:
        case = drawn(seed)
        verdict = check(case)
        tried[f"{case.machine:<14} {case.kernel:<7} {verdict.status}"] += 1
        undecided += not verdict.decided
        wrong += bool(verdict.false)
        for line in verdict.false:
            sys.stdout.write(f"FALSE  {case}: {line}\n")
        seed += 1
    for name, count in sorted(tried.items()):
        sys.stdout.write(f"{count:7,}  {name}\n")
    sys.stdout.write(
        f"{seed - options.first:,} fits, seeds {options.first} to {seed - 1}; the optimum was "
        f"found in 60 digits for all but {undecided:,}; {wrong:,} with a false certificate\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
