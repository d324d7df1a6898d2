"""The same functions as scikit-learn's machines, where both solve to high accuracy."""

import inspect

import numpy as np
import pytest
import sklearn.svm

import mercer
from tests.machines.data_sets import MACHINES, classes, data_for, regression, scores

# LIBSVM keeps kernel values in float32 whatever its tolerance; larger differences are ours.
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
TIGHT = {"tol": 1e-8}


def both(name, X, y, T, fit=None, **params):
    ours = getattr(mercer, name)(**params, **TIGHT).fit(X, y, **(fit or {}))
    theirs = getattr(sklearn.svm, name)(**params, **TIGHT).fit(X, y, **(fit or {}))
    np.testing.assert_allclose(scores(ours, T), scores(theirs, T), **CLOSE)
    return ours, theirs


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SVC", {"C": 2.0}),
        ("NuSVC", {"nu": 0.6}),
        ("SVR", {"C": 2.0, "epsilon": 0.2}),
        ("NuSVR", {"C": 2.0, "nu": 0.6}),
        # With nu n an integer the threshold would be an interval, of which we take the middle.
        ("OneClassSVM", {"nu": 0.31}),
    ],
)
def test_functions_are_those_of_scikit_learn(name, params, kernel):
    X, y = data_for(getattr(mercer, name))
    T = np.random.default_rng(0).normal(size=(30, X.shape[1]))
    # The one-class machine of a linear kernel is zero when the origin lies among the data.
    shift = 3.0 if name == "OneClassSVM" else 0.0
    ours, theirs = both(name, X + shift, y, T + shift, kernel=kernel, gamma=0.1, **params)
    assert ours.n_support_.sum() == theirs.n_support_.sum()
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_layout_of_several_classes(name, shape):
    X, y = classes(150, 4)
    params = {"nu": 0.25} if name == "NuSVC" else {}
    ours, theirs = both(name, X, y, X, gamma=0.2, decision_function_shape=shape, **params)
    for attribute in ("support_", "n_support_", "classes_"):
        np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))
        assert getattr(ours, attribute).dtype == getattr(theirs, attribute).dtype
    for attribute in ("dual_coef_", "intercept_"):
        np.testing.assert_allclose(
            getattr(ours, attribute), getattr(theirs, attribute), rtol=1e-3, atol=1e-3
        )
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_weight_vectors_of_several_classes():
    X, y = classes(120, 3)
    ours, theirs = both("SVC", X, y, X, kernel="linear", decision_function_shape="ovo")
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        X @ ours.coef_.T + ours.intercept_, ours.decision_function(X), atol=1e-10
    )


def test_ties_are_broken_alike():
    X, y = classes(150, 4)
    for break_ties in (False, True):
        ours, theirs = both("SVC", X, y, X, gamma=5.0, break_ties=break_ties)
        T = np.random.default_rng(1).normal(size=(400, 5)) * 2
        agree = np.mean(ours.predict(T) == theirs.predict(T))
        assert agree > 0.995  # values at rounding distance from 0 may differ


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_sample_weights_scale_the_price(name):
    X, y = data_for(getattr(mercer, name))
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(y))
    both(name, X, y, X, fit={"sample_weight": weight}, gamma=0.2)


def test_class_weight_as_a_dict():
    X, y = classes(120, 3)
    both("SVC", X, y, X, gamma=0.2, class_weight={0: 0.5, 2: 3.0})


def test_larger_problem_in_both_precisions():
    X, y = classes(1500, 2)
    theirs = sklearn.svm.SVC(gamma=0.2, tol=1e-6).fit(X, y)
    for dtype in ("float64", "float32"):
        ours = mercer.SVC(gamma=0.2, tol=1e-4, dtype=dtype).fit(X, y)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=2e-3
        )
        proof = ours.certificate_
        assert proof.gap - proof.rounding < 1e-5 * proof.primal


@pytest.mark.parametrize("machine", [m for m in MACHINES if hasattr(sklearn.svm, m.__name__)])
def test_every_parameter_of_scikit_learn_has_its_default(machine):
    ours = inspect.signature(machine).parameters
    theirs = inspect.signature(getattr(sklearn.svm, machine.__name__)).parameters
    for name, parameter in theirs.items():
        assert name in ours
        expected = False if name == "probability" else parameter.default
        assert ours[name].default == expected, name
    for name in ("n_jobs", "dtype", "gap_tol", "time_limit", "fit_intercept", "lam"):
        assert name in ours


def test_float32_input_stays_float32():
    X, y = regression()
    model = mercer.SVR().fit(X.astype(np.float32), y)
    assert model.support_vectors_.dtype == np.float32
    np.testing.assert_allclose(model.predict(X), mercer.SVR().fit(X, y).predict(X), atol=1e-4)
