"""Data-dependent parameters: resolved by bind, required for values on two sets."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.svm import SVC

from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid, exp, normalize
from mercer.kernels.vectors.gamma import resolve_gamma
from mercer.kernels.vectors.scale import KernelScaleWarning

rng = np.random.default_rng(1)
X = rng.normal(size=(30, 4)) * [1, 2, 3, 4] + 5
S = sp.random_array((30, 6), density=0.3, format="csr", rng=rng)


@pytest.mark.parametrize("make", [RBF, Laplacian, lambda g: Polynomial(2, g), Sigmoid])
def test_rules_are_those_of_scikit_learn(make):
    assert make("scale").bind(X).gamma == pytest.approx(1 / (4 * X.var()), rel=1e-14)
    assert make("auto").bind(X).gamma == 0.25
    assert make(0.3).bind(X).gamma == 0.3
    expected = SVC(gamma="scale").fit(X, np.arange(30) % 2)._gamma
    assert make("scale").bind(X).gamma == pytest.approx(expected, rel=1e-14)


def test_sparse_data_count_their_zeros():
    assert RBF().bind(S).gamma == pytest.approx(1 / (6 * S.toarray().var()), rel=1e-14)
    full = sp.csr_matrix(X)
    assert RBF().bind(full).gamma == pytest.approx(RBF().bind(X).gamma, rel=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_weight_is_a_number_of_copies(form):
    A = S.toarray()
    weight = rng.integers(0, 4, size=30)
    repeated = form(np.repeat(A, weight, axis=0))
    expected = RBF().bind(repeated).gamma
    assert RBF().bind(form(A), sample_weight=weight).gamma == pytest.approx(expected, rel=1e-13)
    kernel = RBF().on_columns([1, 3]) + Linear()
    expected = kernel.bind(repeated).left.kernel.gamma
    bound = kernel.bind(form(A), weight)
    assert bound.left.kernel.gamma == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e-200, 12345.678])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_constant_data_give_gamma_one(value, form):
    assert RBF().bind(form(np.full((7, 3), value))).gamma == 1.0
    A = np.full((7, 3), value)
    A[2] = 3.0
    weight = np.ones(7)
    weight[2] = 0.0
    assert RBF().bind(form(A[weight > 0]), weight[weight > 0]).gamma == 1.0


@settings(max_examples=50, deadline=None)
@given(
    arrays(
        np.float32,
        st.tuples(st.integers(1, 40), st.integers(1, 3)),
        elements=st.floats(-100, 100, width=32),
    )
)
def test_float32_data_have_a_float64_variance(A):
    variance = A.astype(np.float64).var()
    gamma = resolve_gamma("scale", A)
    if np.ptp(A) == 0:
        assert gamma == 1.0
    elif variance > 1e-20:
        assert gamma == pytest.approx(1 / (A.shape[1] * variance), rel=1e-9)


def test_the_variance_of_many_blocks_is_the_variance_of_all():
    A = rng.normal(size=(70_001, 3)).astype(np.float32) + 100
    expected = 1 / (3 * A.astype(np.float64).var())
    assert resolve_gamma("scale", A) == pytest.approx(expected, rel=1e-12)
    assert resolve_gamma("scale", np.asfortranarray(A)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1e200, -1e200]]), "too large"),
        (np.array([[1e-160, -1e-160]]), "overflows"),
        (np.array([[1e-200, -1e-200]]), "differ by no more than 2e-200"),
        (sp.csr_matrix([[1e-200, 0.0]]), "differ by no more than 1e-200"),
    ],
)
def test_data_without_a_scale_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        RBF().bind(bad)
    assert RBF("auto").bind(bad).gamma == 0.5


def test_there_is_no_scale_of_what_is_not_finite():
    with pytest.raises(ValueError, match="not finite"):
        resolve_gamma("scale", np.array([[1.0, np.nan]]))


@pytest.mark.parametrize(
    "constant", [np.full((3, 2), 1e-200), np.zeros((3, 2)), sp.csr_matrix((3, 2))]
)
def test_constant_data_have_no_scale_and_get_one(constant):
    assert RBF().bind(constant).gamma == 1.0


def test_weights_must_not_sum_to_zero():
    with pytest.raises(ValueError, match="positive sum"):
        RBF().bind(X, np.zeros(30))


def test_bind_reaches_every_part_and_leaves_the_original():
    kernel = 2 * RBF() + exp(normalize(Polynomial(2, "auto"))) * Laplacian(0.5)
    bound = kernel.bind(X)
    assert not kernel.is_bound
    assert bound.is_bound
    assert bound.left.kernel.gamma == RBF().bind(X).gamma
    assert bound.right.left.kernel.kernel.gamma == 0.25
    assert kernel.left.kernel.gamma == "scale"


def test_a_bound_copy_shares_no_state():
    kernel = RBF(0.5) + Linear() * RBF(0.1)
    bound = kernel.bind(X)
    assert bound == kernel
    kernel.set_params(left__gamma=9.0, right__right__gamma=9.0)
    assert bound == RBF(0.5) + Linear() * RBF(0.1)


def test_one_set_binds_to_itself():
    kernel = RBF()
    np.testing.assert_array_equal(kernel(X), kernel.bind(X)(X))
    np.testing.assert_array_equal(Polynomial().diag(X), Polynomial().bind(X).diag(X))
    assert kernel.gamma == "scale"


@pytest.mark.parametrize(
    "kernel",
    [RBF(), 2 * RBF("auto") + 1, RBF(1.0).on_columns(["a"]), RBF(1.0).on_columns([-1])],
    ids=repr,
)
def test_two_sets_need_a_bound_kernel(kernel):
    with pytest.raises(ValueError, match=r"bind it first: kernel = kernel.bind\(X_train\)"):
        kernel(X, X)


def test_selected_columns_have_their_own_scale():
    kernel = RBF().on_columns([0, 2]).bind(X)
    assert kernel.kernel.gamma == pytest.approx(1 / (2 * X[:, [0, 2]].var()))
    sparse = RBF().on_columns([0, 2]).bind(S)
    assert sparse.kernel.gamma == pytest.approx(1 / (2 * S.toarray()[:, [0, 2]].var()))


def test_a_bound_kernel_looks_at_its_columns_only():
    far = X * [1e-3, 1e9, 1.0, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", KernelScaleWarning)  # of the column of 1e9
        Polynomial(3, 1.0, 1.0).on_columns([0]).bind(far)
    with pytest.warns(KernelScaleWarning):
        Polynomial(3, 1.0, 1.0).on_columns([1]).bind(far)
    table = np.empty((30, 2), dtype=object)
    table[:, 0], table[:, 1] = ["text"] * 30, X[:, 0] / 10
    kernel = Polynomial(2, 1.0, 1.0)
    np.testing.assert_allclose(kernel.on_columns(1).bind(table)(table), kernel(X[:, :1] / 10))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_become_positions(frame):
    data = frame({"age": X[:, 0], "height": X[:, 1], "weight": X[:, 2]})
    kernel = RBF().on_columns(["weight", "age"]) + Linear().on_columns("height")
    bound = kernel.bind(data)
    assert bound.left.columns == [2, 0]
    assert bound.right.columns == [1]
    assert bound.left.kernel.gamma == pytest.approx(1 / (2 * X[:, [0, 2]].var()))
    np.testing.assert_array_equal(kernel(data), bound(X[:, :3]))
    names = ["age", "height", "weight"]
    assert kernel.bind(X[:, :3], feature_names=names) == bound


def test_nested_selections_count_within_the_outer_one():
    A = pd.DataFrame(X, columns=list("abcd"))
    inner = Linear().on_columns(["d"]).on_columns(["b", "d"])
    np.testing.assert_allclose(inner(A), np.outer(X[:, 3], X[:, 3]))
    by_position = Linear().on_columns([1]).on_columns([1, 3])
    np.testing.assert_allclose(by_position(X), np.outer(X[:, 3], X[:, 3]))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([0, 3], [0, 3]),
        (2, [2]),
        ([-1], [3]),
        (slice(1, None), [1, 2, 3]),
        ((1,), [1]),
        (np.array([3, 0]), [3, 0]),
        (range(2), [0, 1]),
    ],
)
def test_ways_to_select_columns(columns, expected):
    kernel = Linear().on_columns(columns).bind(X)
    assert kernel.columns == expected
    np.testing.assert_allclose(kernel(X), X[:, expected] @ X[:, expected].T)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ([4], ValueError, "column 4 does not exist; the data have 4 columns, 0 to 3"),
        ([-5], ValueError, "does not exist"),
        (["age"], ValueError, "no column names"),
        ([], ValueError, "at least one"),
        (slice(9, None), ValueError, "selects none"),
        ([True, False], TypeError, "flatnonzero"),
        ([0.5], TypeError, "positions"),
        (None, TypeError, "positions"),
    ],
)
def test_columns_that_do_not_exist_are_refused(columns, error, message):
    with pytest.raises(error, match=message):
        Linear().on_columns(columns)(X)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown column 'c'; the data have a, b"):
        Linear().on_columns("c").bind(pd.DataFrame({"a": [1.0], "b": [2.0]}))


def test_frames_bind_like_arrays():
    for frame in (pd.DataFrame(X), pl.DataFrame(X), X.tolist(), sp.coo_array(X)):
        assert RBF().bind(frame).gamma == pytest.approx(RBF().bind(X).gamma, rel=1e-14)
