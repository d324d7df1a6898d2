"""theta, bounds and clone_with_theta: the continuous parameters of a kernel as one vector."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer.kernels import RBF, Constant, FromFunction, Kernel, Linear, Matern, Polynomial, White
from mercer.kernels.hyperparameters import hyperparameters
from tests.catalogue import catalogue, sample
from tests.kernels.test_catalogue import numeric_parameters


@pytest.mark.parametrize("example", [e for e in catalogue() if not e.kernel.pairwise], ids=str)
def test_theta_of_every_kernel_has_what_it_states_derivatives_for(example):
    kernel = example.kernel
    free, fixed = hyperparameters(kernel)
    named = {entry.name for entry in free} | set(fixed)
    assert named == {n for n in numeric_parameters(kernel) if n.rpartition("__")[2] != "nu"}
    again = kernel.clone_with_theta(kernel.theta)
    assert type(again) is type(kernel)
    np.testing.assert_allclose(again.theta, kernel.theta, rtol=1e-12)
    assert kernel.bounds.shape == (len(kernel.theta), 2)
    X = sample(example.objects, 5, np.random.default_rng(0))
    np.testing.assert_allclose(again(X), kernel(X), rtol=1e-8, atol=1e-10)


def test_default_bounds_are_those_of_a_length_scale():
    kernel = 2 * RBF(0.5) + Matern(length_scale=3.0)
    np.testing.assert_allclose(np.exp(kernel.theta), [0.5, 2.0, 3.0])
    length_scale = np.array([1e5, 1e-5])
    np.testing.assert_allclose(np.exp(kernel.bounds[0]), 0.5 / length_scale**2)
    np.testing.assert_allclose(np.exp(kernel.bounds[1:]), [[1e-5, 1e5]] * 2)


def test_what_is_stated_further_outside_takes_precedence():
    inner = RBF(0.5).with_bounds({"gamma": (0.1, 1.0)})
    kernel = 2.0 * inner + 3.0 * Linear()
    np.testing.assert_allclose(np.exp(kernel.bounds[0]), [0.1, 1.0])
    outer = kernel.with_bounds({"left__kernel__gamma": (0.2, 2.0), "right": "fixed"})
    np.testing.assert_allclose(np.exp(outer.bounds), [[0.2, 2.0], [1e-5, 1e5]])
    assert outer == kernel  # bounds are no part of the function
    assert len(outer.with_bounds("fixed").theta) == 0
    assert len((inner.with_bounds("fixed") + Linear()).theta) == 0
    free = Matern(1.5).with_bounds({"nu": (0.5, 2.5)})
    assert [e.name for e in hyperparameters(free)[0]] == ["nu", "length_scale"]
    copies = [clone(outer), outer.bind([[1.0]]), outer.clone_with_theta(outer.theta)]
    for copied in copies:
        np.testing.assert_array_equal(copied.bounds, outer.bounds)


def test_integers_sequences_and_zeros():
    kernel = 2 * RBF(gamma=[1, 2.0]) + Constant(3)
    np.testing.assert_allclose(np.exp(kernel.theta), [1.0, 2.0, 2.0, 3.0])
    moved = kernel.clone_with_theta(np.log([4.0, 5.0, 6.0, 7.0]))
    np.testing.assert_allclose(moved.get_params()["left__kernel__gamma"], [4.0, 5.0])
    assert moved.get_params()["right__value"] == pytest.approx(7.0)
    free, fixed = hyperparameters(Polynomial(2, gamma=0.5, coef0=0.0))
    assert [e.label for e in free] == ["gamma"]
    assert fixed == ["coef0"]


def test_a_kernel_without_derivatives_keeps_its_parameters():
    class Own(Kernel):
        def __init__(self, width: float = 1.0) -> None:
            self.width = width

        def tile(self, A, B):
            return np.exp(-self.width * np.abs(A - B.T))

    free, fixed = hyperparameters(2.0 * Own() + White(0.1) + FromFunction(lambda A, B: A @ B.T))
    assert fixed == ["left__left__kernel__width"]
    assert [e.name for e in free] == ["left__left__scale", "left__right__level"]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ("free", "None, 'fixed' or a dict"),
        ({"sigma": (1.0, 2.0)}, "no continuous parameter"),
        ({"gamma": (2.0, 1.0)}, "0 < low <= high"),
        ({"gamma": (0.0, 1.0)}, "0 < low <= high"),
        ({"gamma": "free"}, "or 'fixed'"),
        ({"gamma": 3.0}, "0 < low <= high"),
    ],
)
def test_refused_bounds(bounds, message):
    with pytest.raises(ValueError, match=message):
        RBF("scale").with_bounds(bounds)


def test_theta_needs_a_bound_kernel_and_the_right_length():
    with pytest.raises(ValueError, match="bind"):
        _ = RBF("scale").theta
    with pytest.raises(ValueError, match="one for each of gamma"):
        RBF(0.5).clone_with_theta([1.0, 2.0])
