"""Kernels on sets and multisets against their definitions."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from mercer import SVC
from mercer.gram.program import compile_kernel
from mercer.kernels import Jaccard, Multiset, SetIntersection, SetPower, normalize
from tests.kernels.agreement import agrees
from tests.kernels.set_definitions import (
    MULTISETS,
    common_subsets,
    jaccard,
    measure,
    subsets,
)

sets = st.lists(st.frozensets(st.sampled_from("abcde")), min_size=1, max_size=8)
bags = st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=7)
WEIGHTS = {"a": 0.3, "b": 2.0, "c": 0.7}


# -------------------------------------------------------------------------- sets


@pytest.mark.spec("HO-09")
@settings(max_examples=40, deadline=None)
@given(sets)
def test_set_power_counts_the_common_subsets(X):
    agrees(SetPower(), X, common_subsets)
    agrees(SetPower(base=1.7, weights=WEIGHTS), X, lambda a, b: 1.7 ** measure(a & b, WEIGHTS))


@pytest.mark.spec("HO-09")
def test_set_power_over_all_subsets_of_three_elements():
    X = [frozenset(s) for s in subsets("abc")]
    K = SetPower()(X)
    assert SetPower()([set("abc")], [set("bcd")]) == 4
    assert np.linalg.det(K) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(0.055728, abs=1e-6)
    assert SetPower().definiteness == "positive definite"


@settings(max_examples=40, deadline=None)
@given(sets)
def test_intersections_and_jaccard(X):
    agrees(SetIntersection(), X, lambda a, b: len(a & b))
    agrees(SetIntersection(WEIGHTS), X, lambda a, b: measure(a & b, WEIGHTS))
    agrees(Jaccard(), X, jaccard)
    agrees(Jaccard(WEIGHTS), X, lambda a, b: jaccard(a, b, WEIGHTS))


def test_jaccard_is_strictly_positive_definite_on_distinct_sets():
    X = [frozenset(s) for s in subsets("abcd")]
    for kernel in (Jaccard(), Jaccard(WEIGHTS)):
        assert kernel.definiteness == "positive definite"
        assert np.linalg.eigvalsh(kernel(X))[0] > 1e-3


def test_weights_of_zero_lose_strictness():
    for kernel in (SetPower(weights={"a": 0}), Jaccard({"a": 0}), SetPower(base=1)):
        assert kernel.definiteness == "positive semidefinite"
    np.testing.assert_array_equal(Jaccard({"a": 0})([{"a"}, set(), {"a", "b"}])[0], [1, 1, 0])
    np.testing.assert_array_equal(SetPower(base=1)([{"a"}, {"b"}]), np.ones((2, 2)))


def test_the_empty_set_has_its_value():
    X = [set(), {"a"}, set()]
    np.testing.assert_array_equal(SetPower()(X), [[1, 1, 1], [1, 2, 1], [1, 1, 1]])
    np.testing.assert_array_equal(SetIntersection()(X), np.diag([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(Jaccard()(X), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(Multiset()([[], ["a"]]), [[0, 0], [0, 1]])
    np.testing.assert_array_equal(Multiset("subsets")([[], ["a"]]), [[1, 1], [1, 2]])
    np.testing.assert_array_equal(Multiset("multisets")([[]]), [[1]])


def test_every_way_to_write_a_set():
    expected = SetPower()([{1, 2}, {2, 3}, {2}])
    for X in (
        [frozenset({1, 2}), {2, 3}, {2}],
        [[1, 2], (2, 3), [2, 2]],
        [Counter([1, 1, 2]), Counter({2: 1, 3: 4, 1: 0}), {2: 7}.keys() | set()],
        [np.array([1, 2]), np.array([3, 2]), np.array([2])],
        pd.Series([{1, 2}, {2, 3}, {2}]),
        ([1, 2], [2, 3], [2, 2]),
        np.array([[1, 2], [2, 3], [2, 2]]),
    ):
        np.testing.assert_array_equal(SetPower()(X), expected)


# -------------------------------------------------------------------------- multisets


@pytest.mark.spec("HO-10")
@pytest.mark.parametrize("mode", MULTISETS)
@settings(max_examples=25, deadline=None)
@given(X=bags)
def test_multiset_kernels(mode, X):
    agrees(Multiset(mode), X, MULTISETS[mode])


@pytest.mark.spec("HO-10")
def test_common_multisets_are_counted():
    kernel = Multiset("multisets")
    assert kernel([list("aab")], [list("abb")])[0, 0] == pytest.approx(4, rel=1e-14)
    assert kernel.diag([list("aab")])[0] == pytest.approx(6, rel=1e-14)
    X = [Counter(a=i, b=j) for i, j in product(range(3), repeat=2)]
    assert np.linalg.eigvalsh(kernel(X))[0] == pytest.approx(0.094851, abs=1e-6)
    assert kernel.definiteness == "positive definite"


@pytest.mark.spec("HO-10")
@settings(max_examples=25, deadline=None)
@given(sets)
def test_on_sets_the_multiset_kernels_are_the_set_kernels(X):
    np.testing.assert_allclose(Multiset("multisets")(X), SetPower()(X), rtol=1e-13)
    np.testing.assert_allclose(Multiset("subsets")(X), SetPower()(X), rtol=1e-13)
    np.testing.assert_array_equal(Multiset()(X), SetIntersection()(X))
    np.testing.assert_array_equal(Jaccard(multisets=True)(X), Jaccard()(X))


@settings(max_examples=25, deadline=None)
@given(bags)
def test_jaccard_of_multisets(X):
    agrees(Jaccard(multisets=True), X, jaccard)
    agrees(Jaccard(WEIGHTS, multisets=True), X, lambda a, b: jaccard(a, b, WEIGHTS))


def test_ratios_of_measures_are_evaluated_natively():
    for kernel in (Jaccard(), Jaccard(WEIGHTS), Jaccard(multisets=True), SetPower(), Multiset()):
        assert {leaf.kind for leaf in compile_kernel(kernel).leaves} <= {"dot", "minimum"}
    # An element may be anything hashable, also what the kernel could use for itself.
    X = [{None}, set(), {(None, 0)}, {()}, {None, ()}]
    np.testing.assert_allclose(Jaccard()(X), [[jaccard(a, b) for b in X] for a in X], rtol=1e-15)


# -------------------------------------------------------------------------- in use, and misuse


@pytest.mark.parametrize(
    "kernel", [SetPower(), SetIntersection(), Jaccard(), Multiset(), Multiset("subsets")]
)
def test_a_machine_learns_from_sets(kernel):
    rng = np.random.default_rng(1)
    X = [set(np.flatnonzero(rng.random(8) < 0.5).tolist()) for _ in range(60)]
    y = [3 in x for x in X]
    model = SVC(kernel=normalize(kernel), C=100.0).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.decision_function(X[:5]), model.decision_function(X)[:5])
    assert cross_val_score(SVC(kernel=normalize(kernel), C=100.0), X, y, cv=3).mean() > 0.8


KERNELS = [SetPower(), SetIntersection(), Jaccard(), Multiset()]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (["abc"], TypeError, r"object 0 is of type str.*set\(x\) for characters"),
        ([{"a"}, 3], TypeError, "object 1 is of type int"),
        ([{"a"}, None], TypeError, "object 1 is None"),
        ([[["a"]]], TypeError, "object 0 .* has an unhashable element"),
        ([[{"a": 1}]], TypeError, "unhashable element"),
        ([Counter(a=-1)], ValueError, "counts 'a' -1 times"),
        ([{"a": 0.5}], ValueError, "counts 'a' 0.5 times"),
        ([{"a": 10**9}], ValueError, "at most 1000000"),
        ({"a"}, TypeError, "Put the objects into"),
        ("abc", TypeError, "Put the objects into"),
        ([], ValueError, "got no objects"),
        (np.zeros((2, 2, 2)), ValueError, "array of shape"),
        (pd.DataFrame({"a": [1]}), TypeError, "Choose the column"),
    ],
)
def test_what_is_no_set_is_refused(kernel, X, error, message):
    with pytest.raises(error, match=message):
        kernel(X)


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ValueError, match="base must be a finite number of at least 1"):
        SetPower(base=0.5)
    with pytest.raises(TypeError, match="base must be a real number"):
        SetPower(base="2")
    with pytest.raises(ValueError, match="the weight of 'a' must be"):
        SetIntersection({"a": -1})
    with pytest.raises(TypeError, match="weights must be a mapping"):
        Jaccard([1.0])
    with pytest.raises(ValueError, match="mode must be one of 'minimum'"):
        Multiset("union")
    kernel = SetPower()
    with pytest.raises(ValueError, match="base"):
        kernel.set_params(base=0).bind([{1}])


def test_values_too_large_for_a_float_are_refused():
    large = [set(range(2000))]
    with pytest.raises(OverflowError, match=r"larger than a float can hold.*a smaller base"):
        SetPower()(large)
    for mode in ("multisets", "subsets"):
        with pytest.raises(
            OverflowError, match=r"under Multiset.*; use normalize\(kernel\)"
        ) as bad:
            Multiset(mode)(large)
        assert "base" not in str(bad.value)
    assert SetPower(base=1.2)(large)[0, 0] == pytest.approx(1.2**2000, rel=1e-10)


def test_a_column_of_sets_beside_numbers():
    frame = pd.DataFrame({"tags": [{"a"}, {"a", "b"}, set()], "n": [1.0, 2.0, 3.0]})
    kernel = SetPower().on_columns("tags").bind(frame)
    np.testing.assert_array_equal(kernel(frame), SetPower()(frame["tags"].tolist()))
