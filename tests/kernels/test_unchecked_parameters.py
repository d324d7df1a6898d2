"""What a kernel does between set_params and its next use."""

from dataclasses import dataclass

import numpy as np
import pytest

from mercer.kernels import RBF, FromFeatureMap, Linear, Polynomial, Spectrum, polynomial

X = np.random.default_rng(0).normal(size=(9, 4))


@pytest.mark.parametrize(
    ("kernel", "objects"),
    [
        (Polynomial(2, 1.0, 1.0).set_params(degree=2.5), X),
        (Spectrum(2).set_params(p=-1), ["ab", "ba"]),
        (Spectrum(2).set_params(p=1.5), ["ab", "ba"]),
        (polynomial(Linear(), [1.0, 2.0]).set_params(coefficients=[-1.0, 2.0]), X),
        ((Linear() ** 2).set_params(exponent=-1), X),
        ((2.0 * Linear()).set_params(scale=-1.0), X),
    ],
    ids=repr,
)
def test_features_of_impossible_parameters_are_refused(kernel, objects):
    with pytest.raises((TypeError, ValueError)) as by_values:
        kernel(objects)
    with pytest.raises(by_values.type) as by_features:
        kernel.feature_map(objects)
    assert str(by_features.value) == str(by_values.value)


@pytest.mark.parametrize(
    "kernel",
    [
        (RBF(1.0) + Linear()).set_params(left="rbf"),
        (RBF(1.0) * Linear()).set_params(right="rbf"),
        (2.0 * Linear()).set_params(kernel="rbf"),
        (Linear() ** 2).set_params(kernel="rbf"),
        Linear().on_columns([0]).set_params(kernel="rbf"),
    ],
    ids=["sum", "product", "multiple", "power", "columns"],
)
def test_an_operand_that_is_no_kernel_can_be_looked_at(kernel):
    assert "'rbf'" in repr(kernel)
    with pytest.raises(TypeError, match="must be a kernel"):
        kernel(X)


@dataclass
class Weighted:
    """A map whose equality is that of arrays, which is no truth value."""

    W: np.ndarray

    def __call__(self, A):
        return np.asarray(A) @ self.W


def test_maps_that_cannot_be_compared_are_different():
    left, right = Weighted(np.eye(4)[:, :2]), Weighted(np.eye(4)[:, 2:])
    kernel = FromFeatureMap(left) + FromFeatureMap(right)
    np.testing.assert_allclose(kernel(X), X @ X.T, atol=1e-12)
    assert FromFeatureMap(left) == FromFeatureMap(left)
    assert FromFeatureMap(left) != FromFeatureMap(right)
