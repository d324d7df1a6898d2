"""Kernels on strings against their definitions, and the numbers of the literature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.gram import Gram
from mercer.kernels import (
    BlendedSpectrum,
    Mismatch,
    PairHMM,
    Spectrum,
    Subsequence,
    Substring,
    WeightedDegree,
    normalize,
)
from tests.kernels import string_definitions as defined
from tests.kernels.agreement import agrees

strings = st.lists(st.text("ab", max_size=7), min_size=1, max_size=6)
dna = st.lists(st.text("ACGT", max_size=8), min_size=1, max_size=6)
lengths = st.integers(1, 4)
decays = st.sampled_from([0.2, 0.5, 1.0, 1.3])
few = settings(max_examples=25, deadline=None)


def same_both_ways(kernel, X):
    K = kernel.bind(X)(X)
    np.testing.assert_array_equal(K, K.T)


# -------------------------------------------------------------------------- contiguous substrings


@few
@given(strings, lengths)
def test_spectrum(X, p):
    agrees(Spectrum(p), X, lambda s, t: defined.spectrum(s, t, p))


@few
@given(dna, st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5]), min_size=1, max_size=4))
def test_blended_spectrum(X, weights):
    p = len(weights)
    agrees(BlendedSpectrum(p, weights), X, lambda s, t: defined.blended_spectrum(s, t, weights))
    agrees(BlendedSpectrum(p), X, lambda s, t: defined.blended_spectrum(s, t, [1] * p))


@few
@given(strings, decays, lengths, st.none() | st.integers(0, 3))
def test_substring(X, decay, shortest, more):
    longest = None if more is None else shortest + more
    kernel = Substring(decay, shortest, longest)
    agrees(kernel, X, lambda s, t: defined.substring(s, t, decay, shortest, longest))
    same_both_ways(kernel, X)


@pytest.mark.spec("CS-3.39")
def test_contiguous_substrings_of_banana_and_ananas():
    pair, own = ["banana", "ananas"], ["banana"]
    assert [Spectrum(p)(pair)[0, 1] for p in range(1, 5)] == [13, 8, 5, 2]
    assert [Spectrum(p)(own)[0, 0] for p in range(1, 4)] == [14, 9, 6]
    assert Substring()(pair)[0, 1] == sum(Spectrum(p)(pair)[0, 1] for p in range(1, 7))


@pytest.mark.spec("HO-11")
def test_substrings_of_statistics_and_computation():
    pair = ["statistics", "computation"]
    assert [Spectrum(p)(pair)[0, 1] for p in range(1, 6)] == [10, 4, 2, 1, 0]
    K = Spectrum(3)(pair)  # tat and ati are common
    np.testing.assert_array_equal(K, [[8, 2], [2, 9]])
    np.testing.assert_array_equal(Spectrum(3).diag(pair), [8, 9])
    assert normalize(Spectrum(3))(pair)[0, 1] == pytest.approx(2 / np.sqrt(72), rel=1e-14)
    assert normalize(Spectrum(3))(pair)[0, 1] == pytest.approx(0.235702, abs=5e-7)
    # Strings shorter than p have no such substring.
    np.testing.assert_array_equal(Spectrum(3)(["ta", "", "statistics"], pair)[:2], 0)


@pytest.mark.spec("CS-3.39")
@few
@given(st.text("ab", max_size=12), st.text("ab", max_size=12), lengths)
def test_the_recursion_of_match_lengths(s, t, n):
    M = np.zeros((len(s) + 1, len(t) + 1), dtype=int)
    for i in range(len(s)):
        for j in range(len(t)):
            M[i + 1, j + 1] = M[i, j] + 1 if s[i] == t[j] else 0
    assert Spectrum(n)([s], [t])[0, 0] == np.count_nonzero(n <= M)
    assert Substring()([s], [t])[0, 0] == M.sum()


def test_long_substrings_of_long_strings():
    rng = np.random.default_rng(0)
    text = "".join(rng.choice(list("ab"), size=3000))
    n = len(text)
    assert Substring()(["a" * n], ["a" * n])[0, 0] == sum(k**2 for k in range(1, n + 1))
    shifted = "x" + text
    assert Substring(min_length=n)([text], [shifted])[0, 0] == 1
    assert Spectrum(40)([text], [shifted])[0, 0] == Spectrum(40)([text])[0, 0]


# -------------------------------------------------------------------------- subsequences


@few
@given(strings, lengths, decays)
def test_subsequence(X, n, decay):
    kernel = Subsequence(n, decay)
    agrees(kernel, X, lambda s, t: defined.subsequence(s, t, n, decay))
    same_both_ways(kernel, X)


@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_subsequences_of_any_length(n):
    rng = np.random.default_rng(n)
    X = ["".join(rng.choice(list("ab"), size=k)) for k in (0, n - 1, n, n + 1, 10, 11)]
    agrees(Subsequence(n, 0.7), X, lambda s, t: defined.subsequence(s, t, n, 0.7))
    weights = rng.random(n)
    agrees(
        Subsequence(n, 0.7, weights),
        X,
        lambda s, t: sum(w * defined.subsequence(s, t, p + 1, 0.7) for p, w in enumerate(weights)),
    )


@pytest.mark.spec("CS-3.37")
@pytest.mark.parametrize("decay", [0.3, 0.5, 1.0])
def test_cat_and_car(decay):
    K = Subsequence(2, decay)(["cat", "car"])
    assert K[0, 1] == pytest.approx(decay**4, rel=1e-14)
    assert K[0, 0] == pytest.approx(2 * decay**4 + decay**6, rel=1e-14)
    cosine = normalize(Subsequence(2, decay))(["cat"], ["car"])[0, 0]
    assert cosine == pytest.approx(1 / (2 + decay**2), rel=1e-14)


@pytest.mark.spec("CS-3.37")
def test_published_subsequence_values():
    values = [Subsequence(n, 0.5)(["cata"], ["gatta"])[0, 0] for n in (1, 2, 3)]
    assert values == [1.5, 0.1953125, 0.015625]
    sentences = ["science is organized knowledge", "wisdom is organized life"]
    cosines = [normalize(Subsequence(n, 0.5))(sentences)[0, 1] for n in range(1, 7)]
    expected = [0.8487, 0.5798, 0.4785, 0.4389, 0.4057, 0.3692]
    np.testing.assert_allclose(cosines, expected, atol=5e-5)
    # Printed by Lodhi et al. (2002) for n = 2 to 6; theirs for n = 1 cannot be the cosine of the
    # letter counts, which does not depend on the decay.
    np.testing.assert_allclose(cosines[1:], [0.580, 0.478, 0.439, 0.406, 0.370], atol=1.5e-3)


@pytest.mark.spec("CS-3.37")
@few
@given(st.text("abc", max_size=9), st.text("abc", max_size=9), lengths, decays)
def test_the_recursion_of_the_text(s, t, n, decay):
    def prime(i, s, t):
        if i == 0:
            return 1.0
        if min(len(s), len(t)) < i:
            return 0.0
        return decay * prime(i, s[:-1], t) + sum(
            prime(i - 1, s[:-1], t[:j]) * decay ** (len(t) - j + 1)
            for j in range(len(t))
            if t[j] == s[-1]
        )

    def value(s, t):
        if min(len(s), len(t)) < n:
            return 0.0
        return value(s[:-1], t) + sum(
            prime(n - 1, s[:-1], t[:j]) * decay**2 for j in range(len(t)) if t[j] == s[-1]
        )

    assert Subsequence(n, decay)([s], [t])[0, 0] == pytest.approx(value(s, t), rel=1e-12, abs=0)


@pytest.mark.spec("CS-3.37")
def test_a_string_without_subsequences_has_cosine_zero():
    K = normalize(Subsequence(3))(["ab", "abc", ""])
    np.testing.assert_array_equal(K, [[0, 0, 0], [0, 1, 0], [0, 0, 0]])


@pytest.mark.spec("CS-3.38")
def test_weighted_lengths_are_the_sum_of_single_ones():
    X = ["cat", "car", "bat", "bar", "cata", "gatta", "tac"]
    weights = [0.5, 0.0, 2.0, 1.0]
    single = sum(w * Subsequence(n, 0.5)(X) for n, w in enumerate(weights, start=1))
    np.testing.assert_allclose(Subsequence(4, 0.5, weights)(X), single, rtol=1e-14)
    composed = 0.5 * Subsequence(1) + 2 * Subsequence(3) + Subsequence(4)
    np.testing.assert_allclose(composed(X), single, rtol=1e-14)
    lowest = np.linalg.eigvalsh(Subsequence(2, 0.5)(X))[0]
    assert lowest == pytest.approx(0.01266, abs=5e-6)


def test_digits_hold_for_long_strings():
    # With decay 1 the values are integers, the number of common subsequences: exact.
    n = 300
    assert Subsequence(2, 1.0)(["a" * n])[0, 0] == (n * (n - 1) // 2) ** 2
    rng = np.random.default_rng(1)
    s, t = ("".join(rng.choice(list("ab"), size=200)) for _ in range(2))
    value = Subsequence(3, 0.9)([s], [t])[0, 0]
    assert value == pytest.approx(_positive_recursion(s, t, 3, 0.9), rel=1e-12)


def _positive_recursion(s, t, n, decay):
    """K'' and K' of the text: sums of positive terms only."""
    prime = np.ones((len(s) + 1, len(t) + 1))
    for p in range(1, n + 1):
        match = np.equal.outer(list(s), list(t))
        if p == n:
            return decay**2 * (match * prime[:-1, :-1]).sum()
        following = np.zeros_like(prime)
        for i in range(len(s)):
            run = 0.0
            for j in range(len(t)):
                run = decay * run + (decay**2 * prime[i, j] if match[i, j] else 0.0)
                following[i + 1, j + 1] = decay * following[i, j + 1] + run
        prime = following
    return None


# -------------------------------------------------------------------------- biological sequences


@few
@given(dna, st.sampled_from([(1, 0), (2, 1), (3, 1), (3, 2), (4, 1)]))
def test_mismatch(X, k_and_m):
    k, m = k_and_m
    agrees(Mismatch(k, m, "ACGT"), X, lambda s, t: defined.mismatch(s, t, k, m, "ACGT"))


def test_mismatch_leaves_out_what_is_not_in_the_alphabet():
    X = ["ACNGT", "ACG", "NNN", "GTAC"]
    agrees(Mismatch(2, 1, "ACGT"), X, lambda s, t: defined.mismatch(s, t, 2, 1, "ACGT"))
    trained = Mismatch(2, 1).bind(["ACG", "GT"])
    assert trained.alphabet == ["A", "C", "G", "T"]
    assert trained(["ANC"], ["ACG"])[0, 0] == 0


def test_mismatch_of_a_large_alphabet():
    letters = [f"word{i}" for i in range(30)]
    rng = np.random.default_rng(0)
    X = [[letters[i] for i in rng.integers(0, 30, size=20)] for _ in range(5)]
    near = Mismatch(5, 2, letters)
    # The words within two replacements of a given one.
    own = sum(comb * 29**e for e, comb in enumerate([1, 5, 10]))
    assert near.common_neighbours()[0] == own
    assert near([X[0][:5]])[0, 0] == own
    assert Mismatch(5, 0, letters)(X)[0, 1] == Spectrum(5)(X)[0, 1]


@few
@given(dna, st.integers(1, 4), st.integers(0, 3))
def test_weighted_degree(X, degree, shift):
    weights = [2 * (degree - k + 1) / (degree * (degree + 1)) for k in range(1, degree + 1)]
    kernel = WeightedDegree(degree, shift)
    agrees(kernel, X, lambda s, t: defined.weighted_degree(s, t, weights, shift))
    same_both_ways(kernel, X)


def test_weighted_degree_of_long_sequences_crosses_words():
    rng = np.random.default_rng(3)
    s = "".join(rng.choice(list("AC"), size=200))
    t = s[:60] + "G" + s[61:129] + "G" + s[130:]
    for shift in (0, 2):
        expected = defined.weighted_degree(s, t, [0.5, 0.25, 1.0], shift)
        value = WeightedDegree(3, shift, [0.5, 0.25, 1.0])([s], [t])[0, 0]
        assert value == pytest.approx(expected, rel=1e-13)


# -------------------------------------------------------------------------- all of them

KERNELS = [
    Spectrum(3),
    BlendedSpectrum(3, [1.0, 0.5, 0.25]),
    Substring(0.8),
    Subsequence(3, 0.6),
    Mismatch(3, 1, "ACGT"),
    WeightedDegree(3, 1),
    PairHMM("ACGT"),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_normalised_values_are_cosines(kernel):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), size=k)) for k in rng.integers(3, 30, size=20)]
    plain = kernel(X)
    norms = np.sqrt(np.diagonal(plain))
    np.testing.assert_allclose(normalize(kernel)(X), plain / np.outer(norms, norms), rtol=1e-12)
    np.testing.assert_allclose(
        normalize(kernel)(X[:3], X[5:]), (plain / np.outer(norms, norms))[:3, 5:], rtol=1e-12
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_single_precision_values_are_the_rounded_ones(kernel):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), size=k)) for k in rng.integers(0, 30, size=40)]
    kernel = normalize(kernel)
    exact = Gram(kernel, X, "float64").tile()
    assert Gram(kernel, X, "float32").tile().dtype == np.float32
    np.testing.assert_allclose(Gram(kernel, X, "float32").tile(), exact, rtol=0, atol=3e-7)
