"""Every certificate brackets the optimum, which is computed in 60 digits without the library."""

import pytest

from tests.fuzz.proofs import MACHINES, check, drawn

ROUNDS = 24


@pytest.mark.parametrize("first", range(len(MACHINES)), ids=MACHINES)
def test_certificates_bracket_the_optimum(first):
    decided = 0
    for seed in range(first, first + ROUNDS * len(MACHINES), len(MACHINES)):
        case = drawn(seed)
        verdict = check(case)
        assert not verdict.false, f"{case}: {verdict.false}"
        decided += verdict.decided
    assert decided >= 0.9 * ROUNDS
