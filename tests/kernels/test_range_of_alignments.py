"""Alignments whose sums leave the range of numbers on the way, against sums in many digits."""

import mpmath as mp
import numpy as np
import pytest

from mercer.kernels import GlobalAlignment, PairHMM, normalize


def alignment(x, z, gamma, band=None):
    """Return the exact value of GlobalAlignment."""
    row = [mp.mpf(1)] + [mp.mpf(0)] * len(z)
    for i, a in enumerate(x):
        below = [mp.mpf(0)]
        for j, b in enumerate(z):
            w = mp.mpf(1) if band is None else mp.mpf(max(0, band - abs(i - j))) / band
            g = w * mp.exp(-mp.mpf(gamma) * (mp.mpf(a) - mp.mpf(b)) ** 2)
            below.append(g / (2 - g) * (row[j + 1] + below[j] + row[j]))
        row = below
    return row[-1]


def pair_model(kernel, x, z):
    """Return the exact value of PairHMM."""
    pairs, letters = kernel.probabilities()
    gap, end = mp.mpf(kernel.gap), mp.mpf(kernel.end)
    stop = (1 - gap) ** 2
    code = {letter: k for k, letter in enumerate(kernel.alphabet)}
    insert = [gap * mp.mpf(q) for q in letters]
    row = [mp.mpf(1)]
    for b in z:
        row.append(row[-1] * insert[code[b]])
    for a in x:
        below = [row[0] * insert[code[a]]]
        for j, b in enumerate(z):
            e, f = insert[code[a]], insert[code[b]]
            both = (1 - end) * stop * mp.mpf(pairs[code[a]][code[b]]) - e * f
            below.append(both * row[j] + e * row[j + 1] + f * below[j])
        row = below
    return end * stop * row[-1]


def cosine(value, own, other):
    return float(value / mp.sqrt(own * other))


def test_a_similarity_below_the_smallest_number():
    X = [[2.0, 30.0], [3.0]]
    K = normalize(GlobalAlignment(gamma=1.0))(X)
    np.testing.assert_array_equal(K, np.where(np.eye(2), 1.0, K))
    assert 0.0 <= K[0, 1] == K[1, 0] < 1e-300
    plain = GlobalAlignment(gamma=1.0)(X)
    with mp.workdps(40):
        exact = alignment(*X, 1.0)
    assert plain[0, 1] == pytest.approx(float(exact), rel=1e-3, abs=0.0)  # it has few digits


@pytest.mark.parametrize("gamma", [1.0, 30.0, 1e3, 1e5])
@pytest.mark.parametrize("band", [None, 3])
def test_alignments_of_any_width(gamma, band):
    rng = np.random.default_rng(0)
    kernel = GlobalAlignment(gamma=gamma, band=band)
    for _ in range(12):
        a, b = (rng.normal(size=(rng.integers(1, 6), 1)) for _ in range(2))
        b[-1] = a[-1] + 0.02  # some alignments are good, others are not
        K = normalize(kernel)([a, b])
        with mp.workdps(40):
            x, z = a[:, 0], b[:, 0]
            exact = cosine(alignment(x, z, gamma, band), alignment(x, x, gamma, band),
                           alignment(z, z, gamma, band))  # fmt: skip
        assert K[0, 1] == K[1, 0]
        assert K[0, 1] == pytest.approx(exact, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("gap", "length"), [(0.99, 200), (0.9, 300), (0.1, 300), (0.5, 250)])
def test_pairs_of_very_different_lengths(gap, length):
    kernel = PairHMM(alphabet="ab", gap=gap)
    X = ["a", "ab" * (length // 2), "ba" * (length // 2)]
    K = normalize(kernel)(X)
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(K, K.T)
    with mp.workdps(40):
        own = [pair_model(kernel, x, x) for x in X]
        for i, j in ((0, 1), (1, 2)):
            exact = cosine(pair_model(kernel, X[i], X[j]), own[i], own[j])
            assert K[i, j] == pytest.approx(exact, rel=1e-8, abs=1e-300)
