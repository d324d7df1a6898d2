"""Convolution kernels against enumeration of all pairs of decompositions."""

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC
from mercer.gram import Gram
from mercer.kernels import (
    RBF,
    Constant,
    Convolution,
    DelayEmbedding,
    Linear,
    Multiset,
    OverFeatureSpace,
    Precomputed,
    SetIntersection,
    Sigmoid,
    Spectrum,
    normalize,
)
from tests.kernels.agreement import agrees

strings = st.lists(st.text("abc", max_size=6), min_size=1, max_size=6)


def windows(x, n=2):
    return [x[i : i + n] for i in range(len(x) - n + 1)]


def splits(x):
    """Return all ways to cut a string in two."""
    return [(x[:i], x[i:]) for i in range(len(x) + 1)]


def splits_with_sets(x):
    return [(a, frozenset(b)) for a, b in splits(x)]


def letters(x):
    return [[ord(c) - 96.0] for c in x]


def counted_windows(x):
    return Counter(windows(x))


def halves(x):
    return [(tuple(map(float, map(ord, x[:1]))) or (0.0,), set(x[1:]))] if x else []


# -------------------------------------------------------------------------- values


@pytest.mark.spec("SS-11", "CS-3.41")
@settings(max_examples=30, deadline=None)
@given(strings)
def test_equal_windows_are_counted(X):
    def spectrum(x, z):
        a, b = Counter(windows(x)), Counter(windows(z))
        return sum(n * b[part] for part, n in a.items())

    agrees(Convolution(windows), X, spectrum)
    agrees(Convolution(counted_windows), X, spectrum)
    np.testing.assert_array_equal(Convolution(windows)(X), Spectrum(2)(X))


@pytest.mark.spec("SS-11")
@settings(max_examples=30, deadline=None)
@given(strings)
def test_single_characters_give_the_dot_product_of_their_counts(X):
    np.testing.assert_array_equal(Convolution(list)(X), Multiset("product")([list(x) for x in X]))


@pytest.mark.spec("SS-11", "CS-3.41")
@settings(max_examples=30, deadline=None)
@given(strings)
def test_products_over_the_parts_of_a_decomposition(X):
    def defined(x, z):
        # Equal heads, times one more than the common letters of the tails.
        return sum(
            (a == c) * (1 + len(set(b) & set(d))) for a, b in splits(x) for c, d in splits(z)
        )

    agrees(Convolution(splits_with_sets, (None, SetIntersection() + 1)), X, defined)
    agrees(
        Convolution(splits, (None, None)),
        X,
        lambda x, z: sum(s == r for s in splits(x) for r in splits(z)),
    )


@pytest.mark.spec("CS-3.41")
@settings(max_examples=30, deadline=None)
@given(strings)
def test_a_vector_kernel_on_parts(X):
    def defined(x, z):
        return sum(np.exp(-0.3 * (ord(a) - ord(b)) ** 2) for a in x for b in z)

    agrees(Convolution(letters, RBF(0.3)), X, defined)
    agrees(
        Convolution(letters, RBF(0.3), average=True),
        X,
        lambda x, z: defined(x, z) / max(len(x) * len(z), 1),
    )


def test_weights_of_decompositions():
    kernel = Convolution(lambda x: {"even": x, "odd": 1.0})
    np.testing.assert_array_equal(kernel([2.0, 3.0]), [[5.0, 7.0], [7.0, 10.0]])
    weighted = Convolution(lambda x: {(0.0,): x, (1.0,): 1.0}, RBF(1.0))
    e = np.exp(-1.0)
    assert weighted([2.0], [3.0])[0, 0] == pytest.approx(6 + 2 * e + 3 * e + 1)


@pytest.mark.spec("SS-11")
def test_a_convolution_of_convolutions():
    words = Convolution(str.split, Convolution(list))
    letters_in_common = Convolution(lambda x: x.replace(" ", ""))
    X = ["ab ba", "b", "a ca"]
    np.testing.assert_allclose(words(X), letters_in_common(X))


def test_time_series_by_their_windows():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=n) for n in (4, 9, 3, 1)]
    kernel = Convolution(DelayEmbedding(dimension=2).windows, RBF(0.5))
    expected = np.zeros((4, 4))
    for i, x in enumerate(X):
        for j, z in enumerate(X):
            for a in pairwise(x):
                for b in pairwise(z):
                    expected[i, j] += np.exp(-0.5 * np.sum(np.subtract(a, b) ** 2))
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_array_equal(kernel(X)[3], np.zeros(4))  # too short for a window


def test_many_parts_come_in_blocks_and_leave_no_trace():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(n, 2)) for n in rng.integers(0, 90, size=60)]
    X[7] = rng.normal(size=(1500, 2))  # more than a block
    kernel = Convolution(list, RBF(1.0))
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(X[5:9], X[3:20]), K[5:9, 3:20])
    np.testing.assert_array_equal(Gram(kernel, X).tile(rows=[7, 8]), K[[7, 8]])
    np.testing.assert_allclose(K[8, 9], RBF(1.0)(X[8], X[9]).sum(), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(K), rtol=1e-12)


def test_rules_of_the_part_kernel_refer_to_the_parts():
    X = ["abc", "ca", "b"]
    kernel = Convolution(letters, RBF()).bind(X)
    numbers = np.array([1, 2, 3, 3, 1, 2.0])
    assert kernel.kernel.gamma == pytest.approx(1 / numbers.var())
    weighted = Convolution(letters, RBF()).bind(X, sample_weight=np.array([1.0, 0.0, 2.0]))
    assert weighted.kernel.gamma == pytest.approx(1 / np.array([1, 2, 3, 2, 2.0]).var())
    pair = Convolution(lambda x: [([1.0 * len(x)], x)], (RBF(), None)).bind(X)
    assert pair.kernel[0].gamma == pytest.approx(1 / np.var([3, 2, 1]))
    assert pair.is_bound


def test_definiteness_is_that_of_the_parts():
    assert Convolution(list).definiteness == "positive semidefinite"
    assert Convolution(list, (RBF(1.0), None)).definiteness == "positive semidefinite"
    assert Convolution(list, Sigmoid(1.0)).definiteness == "unknown"


def test_objects_without_parts_have_the_value_zero():
    for kernel in (Convolution(windows), Convolution(letters, RBF(1.0), average=True)):
        np.testing.assert_array_equal(kernel([""]), [[0.0]])
        np.testing.assert_array_equal(kernel(["", "abc"])[0], [0.0, 0.0])
        np.testing.assert_array_equal(normalize(kernel)(["", "abc"])[0], [0.0, 0.0])


# -------------------------------------------------------------------------- in use, and misuse


def test_a_machine_learns_from_parts():
    rng = np.random.default_rng(2)
    X = ["".join(rng.choice(list("abc"), size=rng.integers(3, 9))) for _ in range(60)]
    y = ["ab" in x for x in X]
    model = SVC(kernel=normalize(Convolution(windows)), C=100.0).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.score(X, y) == 1.0
    assert cross_val_score(SVC(kernel=Convolution(windows), C=10.0), X, y, cv=3).mean() > 0.9
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    tails = SVC(kernel=Convolution(halves, (Linear(), SetIntersection())), C=1.0).fit(X, y)
    assert tails.certificate_.status == "optimal"


def test_copies():
    kernel = Convolution(halves, (RBF(2.0), SetIntersection()), average=True)
    copy = clone(kernel)
    assert copy == kernel
    assert copy.kernel[0] is not kernel.kernel[0]
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert Convolution(windows, RBF(1.0)).set_params(kernel__gamma=3.0).kernel.gamma == 3.0


def test_parameters_of_several_kernels():
    kernel = Convolution(halves, (RBF(2.0), SetIntersection() + 1.0))
    assert kernel.get_params()["kernel__0__gamma"] == 2.0
    assert kernel.get_params()["kernel__1__right__value"] == 1.0
    kernel.set_params(kernel__0__gamma=3.0, kernel__1=SetIntersection())
    assert kernel == Convolution(halves, (RBF(3.0), SetIntersection()))
    assert isinstance(kernel.kernel, tuple)
    for name, message in (
        ("kernel__2", "no entry '2'; it has 2, counted from 0"),
        ("kernel__gamma", "no entry 'gamma'"),
    ):
        with pytest.raises(ValueError, match=message):
            kernel.set_params(**{name: RBF(1.0)})
    with pytest.raises(ValueError, match=r"entry 1 of the parameter 'kernel'.* has no"):
        Convolution(halves, (RBF(3.0), None)).set_params(kernel__1__gamma=1.0)
    kernel.set_params(kernel__0=3.0)  # looked at when it is used
    with pytest.raises(TypeError, match="kernel of Convolution must be a kernel"):
        kernel(["ab"])


def test_a_search_over_the_parameters_of_several_kernels():
    X, y = ["ab", "ba", "aab", "bba", "abc", "bca"], [1, 0, 1, 0, 1, 0]
    kernel = Convolution(halves, (RBF(1.0), SetIntersection() + 1.0))
    search = GridSearchCV(SVC(kernel=kernel), {"kernel__kernel__0__gamma": [0.1, 9.0]}, cv=2)
    assert search.fit(X, y).best_estimator_.kernel_.kernel[0].gamma in (0.1, 9.0)


def test_derivatives_of_objects_without_parts():
    kernel = Convolution(halves, (RBF(2.0), SetIntersection()))
    for X, Z in ((["", "ab"], ["b"]), ([""], ["ab", "b"]), (["ab"], [""])):
        gradient = kernel.gradient(X, Z)
        assert list(gradient) == ["kernel__0__gamma"]
        assert gradient["kernel__0__gamma"].shape == (len(X), len(Z))
        assert not gradient["kernel__0__gamma"][0].any() or X[0]
    assert kernel.gradient([""]) == {}  # no part tells the names


def test_derivatives_of_norms_of_objects_without_parts():
    for kernel in (
        Convolution(letters, RBF(0.3)),
        Convolution(halves, (RBF(2.0), SetIntersection())),
    ):
        for composed in (normalize(kernel), OverFeatureSpace(kernel, 0.5)):
            name = next(n for n in composed.gradient(["ab"]) if n.endswith("__gamma"))
            whole = composed.gradient(["", "ab", "b"], ["bab", ""])[name]
            np.testing.assert_array_equal(composed.gradient([""], ["bab", ""])[name], whole[:1])
            np.testing.assert_array_equal(composed.gradient(["ab"], [""])[name], whole[1:2, 1:])
            many = composed.gradient([""] * 40 + ["ab"], ["bab", ""])[name]
            np.testing.assert_array_equal(many[40], whole[1])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Convolution("ab"), TypeError, "parts must be a function"),
        (lambda: Convolution(list, "rbf"), TypeError, "kernel of Convolution must be a kernel"),
        (lambda: Convolution(list, RBF), TypeError, r"Create one: RBF\(\)"),
        (lambda: Convolution(list, ()), ValueError, "one for each component; got none"),
        (lambda: Convolution(list, Precomputed()), ValueError, "no kernel on parts"),
        (lambda: Convolution(len)(["ab"]), TypeError, "for object 0 it returned 2"),
        (lambda: Convolution(letters)(["ab"]), TypeError, "is not hashable"),
        (lambda: Convolution(splits, (None, RBF(1.0), None))(["ab"]), ValueError, "tuples of 3"),
        (lambda: Convolution(list, (None, Constant(1)))([[[1], 2]]), ValueError, "tuples of 2"),
        (
            lambda: Convolution(lambda x: {x: np.nan})(["a"]),
            ValueError,
            "weight that is not finite",
        ),
        (lambda: Convolution(letters, RBF())(["ab"], ["a"]), ValueError, "bind it first"),
        (lambda: Convolution(list)("ab"), TypeError, "a list or an array of objects"),
        (lambda: Convolution(list)([]), ValueError, "got no objects"),
        (lambda: Convolution(list, RBF(1.0))(["ab"]), ValueError, "defined on real vectors"),
    ],
)
def test_what_cannot_be_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
