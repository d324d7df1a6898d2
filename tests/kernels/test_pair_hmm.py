"""The kernel of a pair hidden Markov model against enumeration of all alignments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import PairHMM, normalize
from tests.kernels import string_definitions as defined
from tests.kernels.agreement import agrees


def letters(s):
    return ["ACGT".index(c) for c in s]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text("ACGT", max_size=4), min_size=1, max_size=5), st.integers(0, 1000))
def test_pair_model(X, seed):
    rng = np.random.default_rng(seed)
    hidden = rng.random((4, 3))
    emission = hidden @ hidden.T
    emission /= emission.sum()
    background = rng.dirichlet(np.ones(4))
    gap, end = rng.uniform(0, 0.9), rng.uniform(0.05, 1)
    kernel = PairHMM("ACGT", emission, background, gap=gap, end=end)
    agrees(
        kernel,
        X,
        lambda s, t: defined.pair_model(letters(s), letters(t), emission, background, gap, end),
    )
    np.testing.assert_array_equal(kernel(X), kernel(X).T)


@pytest.mark.spec("CS-3.42")
def test_pair_probabilities_add_up_to_one():
    X = [""]
    for _ in range(7):
        X += [s + c for s in X if len(s) == len(X[-1]) for c in "ab"]
    kernel = PairHMM("ab", mutation=0.3, gap=0.05, end=0.95)
    # What is left are pairs with a sequence of more than seven letters.
    assert 1 - 1e-6 < kernel(X).sum() < 1


@pytest.mark.spec("CS-3.42")
def test_the_pair_model_is_a_mixture_of_independent_copies():
    """p(s, t) = sum_c p(c) p(s|c) p(t|c): conditional symmetric independence."""
    X = ["", "a", "b", "ab", "ba", "aab", "abab"]
    gap, end, mutation = 0.3, 0.4, 0.2
    kernel = PairHMM("ab", mutation=mutation, gap=gap, end=end)
    emission, q = kernel.probabilities()
    p_copy = (1 - mutation) * np.eye(2) + mutation * np.tile(q, (2, 1))
    np.testing.assert_allclose(p_copy.T @ np.diag(q) @ p_copy, emission, rtol=1e-14)

    def copied(s, c):
        """The probability of s given the sequence c of letters that pairs are made from."""
        if not c:
            return (1 - gap) * np.prod([gap * q["ab".index(a)] for a in s])
        total = 0.0
        for k in range(len(s)):  # the letter that c[0] became, after k inserted ones
            insert = (1 - gap) * np.prod([gap * q["ab".index(a)] for a in s[:k]])
            emit = p_copy["ab".index(c[0]), "ab".index(s[k])]
            total += insert * emit * copied(s[k + 1 :], c[1:])
        return total

    expected = np.zeros((len(X), len(X)))
    origins = [""]
    for length in range(5):
        origins = [c for c in origins if len(c) == length]
        for c in origins:
            row = np.array([copied(s, c) for s in X])
            weight = end * (1 - end) ** length * np.prod([q["ab".index(a)] for a in c])
            expected += weight * np.outer(row, row)
        origins = [c + a for c in origins for a in "ab"]
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


@pytest.mark.spec("CS-3.42")
def test_an_indefinite_emission_is_refused_with_its_eigenvalue():
    with pytest.raises(ValueError, match=r"eigenvalue -0\.4"):
        PairHMM("ab", emission=[[0.05, 0.45], [0.45, 0.05]])


def test_sequences_too_long_for_a_probability_are_compared_by_logarithms():
    rng = np.random.default_rng(0)
    s = "".join(rng.choice(list("ACGT"), size=2000))
    t = s[:900] + s[910:]
    X = [s, t, "".join(rng.choice(list("ACGT"), size=1500))]
    with pytest.raises(OverflowError, match="normalize"):
        PairHMM("ACGT")(X)
    K = normalize(PairHMM("ACGT"))(X)
    np.testing.assert_allclose(np.diagonal(K), 1, rtol=1e-12)
    assert 0 < K[0, 1] < 1
    assert normalize(PairHMM("ACGT")).diag(X).tolist() == [1, 1, 1]
    short = ["ACGT", "ACT", "TTTT", ""]
    plain = PairHMM("ACGT")(short)
    norms = np.sqrt(np.diagonal(plain))
    expected = plain / np.outer(norms, norms)
    np.testing.assert_allclose(normalize(PairHMM("ACGT"))(short), expected, rtol=1e-12)
    both = normalize(PairHMM("ACGT")) + PairHMM("ACGT")
    np.testing.assert_allclose(both(short), expected + plain, rtol=1e-12)


def test_derivatives_of_sequences_too_long_for_a_probability():
    rng = np.random.default_rng(0)
    s = "".join(rng.choice(list("ACGT"), size=500))
    X = [s, s[:120] + s[124:], s[:490]]
    kernel = normalize(PairHMM("ACGT", mutation=0.3, gap=0.2, end=0.001))
    with pytest.raises(OverflowError, match="normalize"):
        kernel.kernel.gradient(X)
    gradient = kernel.gradient(X)
    assert set(gradient) == {"kernel__mutation", "kernel__gap", "kernel__end"}
    for name, slopes in gradient.items():
        value, step = kernel.get_params()[name], 1e-5 * kernel.get_params()[name]
        up, down = (kernel.set_params(**{name: value + h})(X) for h in (step, -step))
        kernel.set_params(**{name: value})
        np.testing.assert_allclose(slopes, (up - down) / (2 * step), rtol=1e-5, atol=1e-8)
    assert np.abs(gradient["kernel__mutation"][0, 1]) > 1e-3
