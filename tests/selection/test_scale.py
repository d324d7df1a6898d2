"""Polynomial kernels whose values explode or vanish are warned of."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC
from mercer.kernels import RBF, Polynomial
from mercer.selection import KernelScaleWarning

rng = np.random.default_rng(31)
X = rng.normal(size=(30, 3))
y = np.where(X[:, 0] > 0, 1, -1)


def warned(kernel, A):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel.bind(A)
    return [str(w.message) for w in caught if w.category is KernelScaleWarning]


@pytest.mark.spec("LFD-50")
def test_degree_fifteen_on_unscaled_data():
    with pytest.warns(KernelScaleWarning, match="its values reach") as caught:
        SVC(kernel=Polynomial(15, 1.0, 1.0), max_iter=10).fit(100 * X, y)
    assert "Scale the columns" in str(caught[0].message)
    assert caught[0].category is KernelScaleWarning


@pytest.mark.spec("LFD-50")
@pytest.mark.parametrize(
    ("kernel", "factor", "message"),
    [
        (Polynomial(15, 0.1, 1.0), 1e-3, "degree 15 is above 10"),
        (Polynomial(3, 1.0, 0.0), 1e-3, "no larger than"),
        (Polynomial(3, 1.0, 0.0), 1e3, "its values reach"),
        (Polynomial(11, 1.0, 0.5), 1.0, "its values reach"),
    ],
)
def test_what_is_warned_of(kernel, factor, message):
    for A in (factor * X, sp.csr_matrix(factor * X), factor * X.astype(np.float32)):
        (text,) = warned(kernel, A)
        assert message in text


@pytest.mark.spec("LFD-50")
@pytest.mark.parametrize(
    "kernel",
    [Polynomial(3), Polynomial(10, 0.05, 1.0), Polynomial(2, 1.0, 1.0), RBF(100.0)],
    ids=repr,
)
def test_moderate_kernels_pass_in_silence(kernel):
    assert warned(kernel, X) == []
    assert warned(kernel, X.tolist()) == []
    assert warned(0.5 * kernel + 1, X) == []


def test_a_part_of_a_composition_is_warned_of():
    (text,) = warned(0.5 * Polynomial(12, 1.0, 1.0) + RBF(1.0), X)
    assert "Polynomial(degree=12" in text
    assert warned(Polynomial(3, 1.0), np.zeros((4, 2))) == []  # zeros are no scale
