"""Similarities of biological sequences: kernels by construction, and scores that are none."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVC
from mercer.inspection import check
from mercer.kernels import FromFunction, PairHMM, Spectrum, Subsequence, WeightedDegree, normalize


def local_alignment(s: str, t: str) -> float:
    """Return the best score of an alignment of parts: 1 a match, -1 a mismatch or a gap."""
    best = 0
    row = [0] * (len(t) + 1)
    for a in s:
        corner = 0
        for j, b in enumerate(t):
            corner, row[j + 1] = (
                row[j + 1],
                max(0, corner + (1 if a == b else -1), row[j + 1] - 1, row[j] - 1),
            )
            best = max(best, row[j + 1])
    return float(best)


def sites(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return sequences of which every other one has a signal in the middle."""
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("ACGT"), size=(n, 30))
    y = np.arange(n) % 2
    letters[y == 1, 11:20] = list("TTTTCAGGT")
    return ["".join(row) for row in letters], y


@pytest.mark.spec("CS-8.23")
@pytest.mark.parametrize(
    "kernel",
    [Spectrum(3), Subsequence(3, 0.5), WeightedDegree(4, 1), PairHMM("ACGT", mutation=0.6)],
    ids=repr,
)
def test_sequence_kernels_find_a_signal_and_prove_it(kernel):
    X, y = sites(120, 0)
    machine = SVC(kernel=normalize(kernel), C=10).fit(X[:80], y[:80])
    assert machine.score(X[80:], y[80:]) > 0.75
    assert machine.certificate_.status == "optimal"
    assert machine.certificate_.assumes is None  # definiteness is a theorem


@pytest.mark.spec("CS-8.23")
def test_an_alignment_score_is_flagged_when_it_is_no_kernel():
    rng = np.random.default_rng(0)
    X = sorted({"".join(rng.choice(list("AC"), size=k)) for k in rng.integers(1, 7, size=60)})
    y = np.array(["AA" in x for x in X])
    score = FromFunction(lambda A, B: [[local_alignment(a, b) for b in B] for a in A])
    K = score(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    assert score.definiteness == "unknown"
    assert not check(score, X).is_psd
    # The proof says what it rests on, here in vain.
    assert SVC(kernel=score, C=100).fit(X, y).certificate_.assumes == "psd"
