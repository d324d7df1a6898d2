"""Objects without a norm cannot be scaled to length one: they are refused at the door."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC
from mercer.kernels import (
    RBF,
    FromFunction,
    GlobalAlignment,
    LogDistance,
    Multiquadric,
    NegativeDistance,
    PairHMM,
    Polynomial,
    Sigmoid,
    ThinPlate,
    normalize,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 2))
NEGATIVE = [Multiquadric(), Sigmoid(1.0, -9.0), Sigmoid("scale", -9.0), Polynomial(1, 1.0, -50.0)]
ZERO = [
    NegativeDistance(),
    LogDistance(),
    ThinPlate(),
    FromFunction(lambda A, B: np.abs(A[:, None] - B).sum(-1)),
]
FORMS = {
    "plain": normalize,
    "scaled": lambda k: 2 * normalize(k),
    "sum": lambda k: normalize(k) + RBF(1.0),
    "product with a rule": lambda k: normalize(k) * RBF(),
    "columns": lambda k: normalize(k).on_columns([0, 1]),
    "within": lambda k: normalize(2 * k),
    "twice": lambda k: normalize(normalize(k)),
}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@each_form
@pytest.mark.parametrize("kernel", NEGATIVE + ZERO, ids=str)
def test_objects_without_a_norm_are_refused(kernel, form):
    message = "has no norm in feature space"
    with pytest.raises(ValueError, match=message):
        form(kernel).bind(X)
    with pytest.raises(ValueError, match=message):
        form(kernel)(X)
    with pytest.raises(ValueError, match=message):
        SVC(kernel=form(kernel)).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [*((kernel, np.asarray) for kernel in ZERO), *((kernel, sp.csr_matrix) for kernel in ZERO[:3])],
    ids=str,
)
def test_one_object_is_compared_with_the_others(kernel, rows):
    one, other = X[:1], rows(X[1:2])
    with pytest.raises(ValueError, match=r"k\(x, x\) = 0 for object 0 .* with object 0"):
        normalize(kernel)(one, other)


def test_the_error_names_two_objects_and_the_way_out():
    message = r"k\(x, x\) = 0 for object 0 .* k\(x, z\) = -1 with object 1: .* Use Projected"
    with pytest.raises(ValueError, match=message):
        normalize(NegativeDistance())([[0.0], [1.0]])
    message = "k(x, x) = -1 for object 0 under Multiquadric"
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        normalize(Multiquadric()).bind(X)


def test_an_object_without_features_has_length_zero():
    kernel = normalize(FromFunction(lambda A, B: A @ B.T)).bind([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(kernel([[0.0, 0.0], [3.0, 4.0]]), [[0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(kernel([[0.0, 0.0]], [[3.0, 4.0]]), [[0.0]])


def test_norms_of_one_sign_are_enough():
    kernel = NegativeDistance() + 100 * RBF(1.0)
    K = kernel(X)
    np.testing.assert_allclose(normalize(kernel)(X), K / 100, rtol=1e-12)
    assert normalize(Sigmoid(1.0, 1.0)).bind(X)(X).shape == (20, 20)


def test_alignments_are_normalised_beyond_the_range_of_numbers():
    series = [rng.normal(size=600), rng.normal(size=601)]
    values = normalize(GlobalAlignment(1.0)).bind(series)(series)
    np.testing.assert_allclose(np.diagonal(values), 1.0)
    words = ["ACGT" * 300, "AGGT" * 300]
    np.testing.assert_allclose(np.diagonal(normalize(PairHMM()).bind(words)(words)), 1.0)
