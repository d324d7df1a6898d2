"""`bind` takes what a call takes, and refuses what a call refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC
from mercer.kernels import (
    ANOVA,
    RBF,
    Bilinear,
    Boolean,
    ChiSquare,
    Convolution,
    FiniteMatrix,
    FromFeatureMap,
    FromFunction,
    GlobalAlignment,
    Jaccard,
    Laplacian,
    Linear,
    Matern,
    Mismatch,
    NegativeDistance,
    OverFeatureSpace,
    Polynomial,
    PowerSeries,
    Precomputed,
    Projected,
    SetPower,
    Sigmoid,
    Spectrum,
    TfIdf,
    normalize,
)

rng = np.random.default_rng(0)
WORDS = ["banana", "ananas", "nab", "ban"]
X = rng.normal(size=(6, 2))
NAN = np.array([[1.0, np.nan], [0.0, 1.0]])

REFUSED = {
    "texts to RBF": (RBF(1.0), WORDS),
    "texts to RBF with a rule": (RBF(), WORDS),
    "texts to Matern": (Matern(), WORDS),
    "texts to Linear": (Linear(), WORDS),
    "texts to Polynomial": (Polynomial(2, 1.0, 1.0), WORDS),
    "texts to a sum": (RBF(1.0) + 2 * Linear(), WORDS),
    "texts normalised": (normalize(Polynomial(2, 1.0, 1.0)), WORDS),
    "numbers to Spectrum": (Spectrum(2), X),
    "numbers to Spectrum normalised": (normalize(Spectrum(2)), X),
    "texts to SetPower": (SetPower(), WORDS),
    "texts to Jaccard": (Jaccard(), WORDS),
    "texts to GlobalAlignment": (GlobalAlignment(1.0), WORDS),
    "numbers to TfIdf": (TfIdf(), X),
    "numbers to Boolean": (Boolean(), X),
    "NaN": (RBF(1.0), NAN),
    "NaN with a rule": (RBF("auto"), NAN),
    "NaN in a product": (RBF(1.0) * Laplacian(1.0), NAN),
    "infinity": (Linear(), np.array([[np.inf, 0.0]])),
    "a vector": (RBF(1.0), np.array([1.0, 2.0])),
    "no rows": (RBF(1.0), np.empty((0, 2))),
    "nothing": (RBF(1.0), None),
    "no objects": (Spectrum(2), []),
    "unknown item": (FiniteMatrix(np.eye(2), items=["u", "v"]), ["z"]),
    "asymmetric matrix": (Precomputed(), [[1.0, 2.0], [3.0, 1.0]]),
    "matrix that is not square": (Precomputed(), X),
    "matrix scaled": (2 * Precomputed(), X),
    "negative entries": (ChiSquare(), -np.abs(X)),
    "too few columns": (ANOVA(5), X),
    "other columns": (Bilinear(np.eye(3)), X),
    "missing column": (RBF(1.0).on_columns([5]), X),
    "text column": (RBF(1.0).on_columns([0]), np.array([["a", 1.0]], dtype=object)),
    "outside the radius": (PowerSeries([1.0, 1.0], radius=0.1), 10 * X),
    "outside the radius of a rule": (PowerSeries([1.0, 1.0], 0.1, RBF()), X),
}


@pytest.mark.parametrize(("kernel", "objects"), REFUSED.values(), ids=REFUSED)
def test_bind_refuses_what_a_call_refuses(kernel, objects):
    with pytest.raises((ValueError, TypeError)) as by_call:
        kernel(objects)
    with pytest.raises(type(by_call.value)) as by_bind:
        kernel.bind(objects)
    assert str(by_bind.value) == str(by_call.value)


# ------------------------------------------------------------------ sparse formats

DENSE = np.where(rng.random((4, 4)) < 0.5, rng.random((4, 4)), 0.0)  # rows are no columns
FORMATS = [sp.csc_matrix, sp.coo_matrix, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array]
ON_SPARSE = [
    Polynomial(2, 1.0, 1.0),
    Polynomial(2),
    RBF(),
    Polynomial(2, 1.0, 1.0) + RBF(1.0),
    normalize(Polynomial(2, 1.0, 1.0)),
    OverFeatureSpace(Polynomial(2, 1.0, 1.0), 1.0),
    Linear().on_columns([0, 2]),
    Projected(NegativeDistance()),
    ChiSquare(),
    FromFeatureMap(lambda A: A),
]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kernel", ON_SPARSE, ids=str)
@pytest.mark.parametrize("rows", [3, 4], ids=["oblong", "square"])
def test_every_sparse_format_binds_as_dense_rows_do(kernel, form, rows):
    A = DENSE[:rows]
    expected = kernel.bind(A)
    bound = kernel.bind(form(A))
    np.testing.assert_allclose(bound(A), expected(A), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(expected(form(A)), expected(A), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(expected.diag(form(A)), expected.diag(A), rtol=1e-12, atol=1e-15)


def test_the_scale_of_values_is_that_of_the_rows():
    from mercer.kernels.vectors.scale import polynomial_scale

    long_column = np.zeros((3, 3))
    long_column[:, 0] = 3.0  # rows of squared length 9, a column of 27
    for form in (np.asarray, sp.csr_matrix, *FORMATS):
        assert polynomial_scale(2, 1.0, 0.0, form(long_column))[0] == 81.0


def test_entries_that_are_stored_twice_count_once():
    twice = sp.csr_matrix(([1.0, 1.0, 2.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    kernel = FromFeatureMap(lambda A: twice[np.asarray(A, dtype=int)[:, 0]])
    own = FromFeatureMap(lambda A: twice)
    two = np.array([[0.0], [1.0]])
    assert not twice.has_canonical_format
    for k in (kernel, own):
        np.testing.assert_array_equal(k.diag(two), [4.0, 4.0])
        np.testing.assert_array_equal(normalize(k)(two), np.eye(2))
    assert twice.nnz == 3  # what the user returned is left alone
    np.testing.assert_array_equal(Linear().diag(twice), [4.0, 4.0])


# ------------------------------------------------------------------ once, and on nothing


@pytest.mark.parametrize("kernel", [Spectrum(2), 2 * Spectrum(2), Mismatch(2, 1)], ids=str)
def test_a_fit_checks_its_objects_once(kernel, monkeypatch):
    calls = []
    leaf = getattr(kernel, "kernel", kernel)
    original = type(leaf).validate
    monkeypatch.setattr(
        type(leaf),
        "validate",
        lambda self, X, against=None: calls.append(1) or original(self, X, against),
    )
    SVC(kernel=kernel).fit(WORDS, [0, 1, 0, 1])
    assert len(calls) == 1


def test_a_fit_looks_for_numbers_once(monkeypatch):
    def refuse(self, X, against=None):
        raise AssertionError("the machine has checked the rows already")

    monkeypatch.setattr(RBF, "validate", refuse)
    SVC(kernel=RBF(1.0)).fit(X, [0, 1] * 3)


def test_objects_without_parts_are_bound_around():
    kernel = Convolution(lambda x: [(c,) for c in x], kernel=FromFunction(_same)).bind(["ab", ""])
    np.testing.assert_array_equal(kernel([""]), [[0.0]])
    np.testing.assert_array_equal(kernel.bind([""])(["ab", ""]), [[2.0, 0.0], [0.0, 0.0]])


def _same(A, B):
    return [[float(a == b) for b in B] for a in A]


def test_the_domain_of_a_rule_is_checked_after_it():
    with pytest.raises(ValueError, match="refuses"):
        _Restricted()(X)
    with pytest.raises(ValueError, match="refuses"):
        _Restricted().bind(X)


class _Restricted(Sigmoid):
    """A kernel that knows its domain only when its width is a number."""

    _is_restricted = True

    def check_domain(self, X):
        raise ValueError(f"{self.gamma:.3g} refuses these rows")
