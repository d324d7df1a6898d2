"""Values of sequences beyond the range of numbers, against arithmetic of sixty digits."""

from decimal import Decimal, localcontext
from math import comb

import numpy as np
import pytest

from mercer.gram import Gram
from mercer.kernels import (
    Grammar,
    Mismatch,
    PairHMM,
    Spectrum,
    Subsequence,
    Substring,
    WeightedDegree,
    normalize,
)
from mercer.machines import SVC


@pytest.fixture(autouse=True)
def sixty_digits():
    with localcontext(prec=60, Emax=10**9, Emin=-(10**9)):
        yield


def subsequences(s, t, weights, decay):
    """Return sum_l w_l k_l(s, t) by the recursion."""
    a, total = Decimal(decay), Decimal(0)
    above = [[Decimal(1)] * (len(t) + 1) for _ in range(len(s) + 1)]
    for length, weight in enumerate(weights, start=1):
        here = [[Decimal(0)] * (len(t) + 1) for _ in range(len(s) + 1)]
        found = Decimal(0)
        for i, x in enumerate(s):
            run = Decimal(0)
            for j, z in enumerate(t):
                match = above[i][j] if x == z else Decimal(0)
                found += match
                run = match + a * run
                here[i + 1][j + 1] = run + a * here[i][j + 1]
        total += Decimal(weight) * a ** (2 * length) * found
        above = here
    return total


def substrings(s, t, shortest, decay):
    square, total = Decimal(decay) ** 2, Decimal(0)
    runs = [0] * (len(t) + 1)  # lengths of the common substrings that end at a letter of t
    for x in s:
        for j in range(len(t), 0, -1):
            runs[j] = runs[j - 1] + 1 if x == t[j - 1] else 0
            total += sum_of_powers(square, shortest, runs[j])
    return total


def sum_of_powers(x, first, last):
    return Decimal(0) if last < first else (x ** (last + 1) - x**first) / (x - 1)


def cosine(k, u, v):
    return float(k / (u * v).sqrt()) if k else 0.0


def cosines(function, X):
    own = [function(x, x) for x in X]
    return np.array(
        [
            [cosine(function(x, z), u, v) for z, v in zip(X, own, strict=True)]
            for x, u in zip(X, own, strict=True)
        ]
    )


def strings(lengths, seed=0, letters="ab"):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), n)) for n in lengths]


@pytest.mark.parametrize(
    ("weights", "decay", "lengths"),
    [
        ([0, 0, 1], 1e120, (7, 9, 2)),  # a decay whose square overflows
        ([0, 0, 1], 1e60, (7, 9, 12)),
        ([0] * 39 + [1], 1e-9, (43, 41, 44)),  # decay^(2 n) underflows
        ([0] * 4 + [1], 1e-90, (9, 7, 8)),
        ([1, 0, 1e-300, 2], 1e-40, (9, 7, 8)),
        ([1] * 12, 1e30, (14, 12, 1, 3)),  # sequences shorter than the longest weight
    ],
)
def test_normalised_subsequences_are_right_where_values_are_no_numbers(weights, decay, lengths):
    X = strings(lengths)
    n = len(weights)
    kernel = Subsequence(n, decay, None if weights[:-1] == [0] * (n - 1) else weights)
    expected = cosines(lambda s, t: subsequences(s, t, weights, decay), X)
    values = normalize(kernel)(X)
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-300)
    np.testing.assert_array_equal(normalize(kernel).diag(X), np.diag(expected))
    np.testing.assert_array_equal(values, values.T)


@pytest.mark.parametrize(("n", "decay"), [(3, 1.5), (2, 2.0)])
def test_long_strings_of_one_letter_are_the_same_direction(n, decay):
    # They have one feature only; their values with themselves are beyond exp(800).
    values = normalize(Subsequence(n, decay))(["a" * 1000, "a" * 2000])
    np.testing.assert_allclose(values, np.ones((2, 2)), rtol=1e-11)


@pytest.mark.parametrize(
    ("shortest", "decay", "lengths"),
    [
        (1, 1e100, (9, 12, 30)),
        (1, 3.0, (330, 350, 20)),
        (30, 1e-7, (50, 44, 60)),
        (1, 1e200, (5, 9, 3)),
    ],
)
def test_normalised_substrings_are_right_where_values_are_no_numbers(shortest, decay, lengths):
    base = strings([max(lengths)], seed=1)[0]
    X = [base[-n:] for n in lengths]
    expected = cosines(lambda s, t: substrings(s, t, shortest, decay), X)
    values = normalize(Substring(decay, min_length=shortest))(X)
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-300)


def test_values_whose_weight_underflows_are_computed_where_they_are_numbers():
    # The weight decay^(2 n) = 1e-316 has lost most of its digits; the value has not.
    m, n, decay = 300, 158, 0.1
    spans = range(n, m + 1)
    ways = sum((m - k + 1) * comb(k - 2, n - 2) * Decimal(decay) ** k for k in spans)
    np.testing.assert_allclose(Subsequence(n, decay)(["a" * m])[0, 0], float(ways**2), rtol=1e-12)


@pytest.mark.parametrize("kernel", [Substring(decay=1.2), Subsequence(n=3, decay=1.5)], ids=str)
def test_a_value_of_sequences_that_is_too_large_is_refused(kernel):
    with pytest.raises(OverflowError, match=r"object 1 under .*normalize.*or a smaller decay"):
        kernel(["ab", "ab" * 1500])


def test_a_value_of_sequences_that_is_too_small_is_refused():
    with pytest.raises(OverflowError, match=r"object 1 under .*or a larger decay"):
        Subsequence(n=200, decay=0.1)(["ab", "ab" * 150])
    np.testing.assert_array_equal(Subsequence(n=200, decay=0.1)(["ab"]), [[0.0]])


def test_a_value_does_not_depend_on_the_company():
    X = ["ab" * 3, "ba" * 100, "abb" * 260, "a" * 900, "ab" * 250, ""] * 4
    kernel = normalize(Subsequence(n=2, decay=1.7))
    whole = kernel(X)
    gram = Gram(kernel, X)
    for i, j in [(0, 2), (2, 3), (1, 4), (3, 3), (5, 2)]:
        assert kernel([X[i]], [X[j]])[0, 0] == whole[i, j] == whole[j, i]
    np.testing.assert_array_equal(gram.take([9, 2, 4]).tile(), whole[np.ix_([9, 2, 4], [9, 2, 4])])


def test_a_sequence_of_value_zero_stays_zero():
    K = normalize(Subsequence(n=3, decay=0.5))(["ab", "abc", ""])
    np.testing.assert_array_equal(K, [[0, 0, 0], [0, 1, 0], [0, 0, 0]])


def test_products_and_multiples_of_sequence_kernels_keep_plain_values():
    X = ["banana", "ananas", "cab"]
    K = Subsequence(2, 0.5)
    both = normalize(K + Spectrum(2))(X)
    raw = K(X) + Spectrum(2)(X)
    norms = np.sqrt(np.diag(raw))
    np.testing.assert_allclose(both, raw / np.outer(norms, norms), rtol=1e-14)


@pytest.mark.parametrize(
    ("kernel", "decay"),
    [
        (Subsequence(3), 2.0),
        (Subsequence(2, weights=[0.5, 2.0]), 2.0),
        (Subsequence(3), 1e-80),
        (Substring(), 3.0),
        (Substring(min_length=3), 1e-80),
    ],
    ids=repr,
)
def test_derivatives_of_normalised_kernels_whose_values_are_no_numbers(kernel, decay):
    X = ["ab" * 300 + "b", "ba" * 290 + "aab", "ab" * 300, "ba", ""]
    kernel = kernel.replace(decay=decay)
    with pytest.raises(OverflowError, match="no number that the computer holds"):
        kernel.gradient(X)
    slopes = normalize(kernel).gradient(X)
    step, rounding = 1e-5, 2e-13  # of differences of logarithms of about 900
    above, below = (normalize(kernel.replace(decay=decay * (1 + s)))(X) for s in (step, -step))
    np.testing.assert_allclose(
        decay * slopes["kernel__decay"],
        (above - below) / (2 * step),
        rtol=1e-6,
        atol=rounding / step,
    )
    np.testing.assert_allclose(
        normalize(kernel).gradient(X[:2], X)["kernel__decay"],
        slopes["kernel__decay"][:2],
        rtol=1e-12,
        atol=1e-12 / decay,
    )
    if kernel.get_params().get("weights") is not None:
        more = normalize(kernel.replace(weights=[0.5, 2.0 + step]))(X)
        less = normalize(kernel.replace(weights=[0.5, 2.0 - step]))(X)
        np.testing.assert_allclose(
            slopes["kernel__weights"][1],
            (more - less) / (2 * step),
            rtol=1e-6,
            atol=rounding / step,
        )


def test_derivatives_of_short_sequences_are_slopes():
    X, step = ["abab", "abba"], 1e-6
    above, below = (normalize(Subsequence(3, 1.5 + s))(X) for s in (step, -step))
    slopes = normalize(Subsequence(3, 1.5)).gradient(X)["kernel__decay"]
    np.testing.assert_allclose(slopes, (above - below) / (2 * step), atol=1e-8)


def test_a_machine_learns_from_long_strings_under_a_large_decay():
    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list(letters), 700)) for letters in ("aab", "abb") for _ in range(6)]
    y = np.repeat([0, 1], 6)
    X = ["b" + x + "b" if i < 6 else "a" + x + "a" for i, x in enumerate(X)]  # the longest span
    model = SVC(kernel=normalize(Subsequence(2, decay=2.0)), C=10.0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_array_equal(model.predict(X), y)


def test_tokens_that_were_not_seen_count_in_the_norm_of_new_sequences():
    kernel = normalize(Subsequence(1, 0.5))
    seen, new = [["a", "b"]], [["a", "c", "c"]]
    np.testing.assert_allclose(kernel(new, seen), [[1 / np.sqrt(2 * 5)]], rtol=1e-14)


GRAMMAR = Grammar({"S": {("S", "S"): 0.25, "a": 0.5, "b": 0.25}})


@pytest.mark.parametrize(
    "kernel",
    [
        Spectrum(2),
        Subsequence(2),
        Substring(),
        WeightedDegree(2),
        Mismatch(2, 1),
        Mismatch(2, 1, alphabet="ab"),
        PairHMM(),
        GRAMMAR,
    ],
    ids=str,
)
def test_text_is_not_compared_with_bytes(kernel):
    text = ["ab", "ba", "aab", "bb"]
    codes = [x.encode() for x in text]
    words = "sequences of type bytes cannot be compared with sequences of type str"
    with pytest.raises(TypeError, match=words):
        kernel.bind(text)(codes, text)
    with pytest.raises(TypeError, match=words):
        SVC(kernel=kernel).fit(text, [0, 1, 0, 1]).predict(codes)


def test_bytes_and_tokens_have_alphabets_of_their_own():
    of_text = Mismatch(2, 1, alphabet="ab")(["aab"], ["bb"])
    np.testing.assert_array_equal(Mismatch(2, 1, alphabet=b"ab")([b"aab"], [b"bb"]), of_text)
    lists = Mismatch(2, 1, alphabet="ab")([["a", "a", "b"]], [["b", "b"]])
    np.testing.assert_array_equal(lists, of_text)
    assert Mismatch(2, 1).bind([b"", b""])([b""], [b""])[0, 0] == 0.0
