"""What an estimator's kernel parameter means."""

import numpy as np
import pytest

from mercer.kernels import (
    RBF,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    resolve,
)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("linear", Linear()),
        ("poly", Polynomial(2, 0.5, 1.0)),
        ("polynomial", Polynomial(2, 0.5, 1.0)),
        ("rbf", RBF(0.5)),
        ("laplacian", Laplacian(0.5)),
        ("sigmoid", Sigmoid(0.5, 1.0)),
        ("precomputed", Precomputed()),
    ],
)
def test_names(name, kernel):
    assert resolve(name, gamma=0.5, degree=2, coef0=1.0) == kernel


def test_defaults_are_those_of_scikit_learn():
    from sklearn.svm import SVC

    svc = SVC()
    assert resolve("rbf") == RBF(svc.gamma)
    assert resolve("poly") == Polynomial(svc.degree, svc.gamma, svc.coef0)
    assert resolve(svc.kernel, svc.gamma, svc.degree, svc.coef0) == RBF()


def test_a_kernel_is_itself():
    kernel = RBF(0.5) + Linear()
    assert resolve(kernel) is kernel


@pytest.mark.parametrize("name", ["gamma", "degree", "coef0"])
def test_a_kernel_has_its_own_parameters(name):
    with pytest.raises(ValueError, match=rf"^{name} would have no effect.*set them there"):
        resolve(RBF(0.5), **{name: 2})


def test_a_function_becomes_a_kernel():
    kernel = resolve(np.dot, gamma=3.0)  # ignored, as scikit-learn does
    assert kernel == FromFunction(np.dot)


@pytest.mark.parametrize(
    ("kernel", "params", "error", "message"),
    [
        ("gauss", {}, ValueError, "unknown kernel 'gauss'; the names are 'linear', 'poly'"),
        (RBF, {}, TypeError, r"the class RBF; pass RBF\(\)"),
        (3, {}, TypeError, "a name, a Kernel or a callable"),
        (None, {}, TypeError, "a name, a Kernel or a callable"),
        ("rbf", {"gamma": -1.0}, ValueError, "gamma"),
        ("linear", {"gamma": -1.0}, ValueError, "gamma"),
        ("linear", {"degree": -1}, ValueError, "degree"),
        ("rbf", {"coef0": np.inf}, ValueError, "coef0"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel, params, error, message):
    with pytest.raises(error, match=message):
        resolve(kernel, **params)
