"""The gaps of the benchmark against tight solutions of scikit-learn and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_iris, make_friedman1

from benchmarks.engines import Model, extract
from benchmarks.gaps import duality_gap, expansion

COMMON = {"kernel": "rbf", "gamma": 0.2, "tol": 1e-9}
CLASSES = {
    "svc": (svm.SVC, {"C": 2.0}),
    "nusvc": (svm.NuSVC, {"nu": 0.3}),
    "svr": (svm.SVR, {"C": 2.0, "epsilon": 0.3}),
    "nusvr": (svm.NuSVR, {"C": 2.0, "nu": 0.4}),
    "oneclass": (svm.OneClassSVM, {"nu": 0.2}),
}


def classification(n_classes):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    keep = y >= 3 - n_classes
    return X[keep], y[keep]


def problem(machine, n_classes=2):
    if machine in ("svr", "nusvr"):
        X, y = make_friedman1(150, n_features=5, noise=1.0, random_state=0)
        return (X - X.mean(axis=0)) / X.std(axis=0), y
    return classification(n_classes)


def fitted(machine, n_classes=2, **changed):
    make, own = CLASSES[machine]
    X, y = problem(machine, n_classes)
    params = {**COMMON, **own, **changed}
    return make(**params).fit(X, y), params, X, y


@pytest.mark.parametrize("machine", CLASSES)
def test_a_tight_solution_has_no_gap(machine):
    model, params, X, y = fitted(machine)
    gap = duality_gap(machine, params, extract(model), X, y)
    assert abs(gap.relative) < 1e-7
    assert gap.infeasibility < 1e-9


@pytest.mark.parametrize("machine", ["svc", "nusvc"])
def test_all_pairs_of_several_classes_are_certified(machine):
    model, params, X, y = fitted(machine, n_classes=3)
    gap = duality_gap(machine, params, extract(model), X, y)
    assert abs(gap.worst) < 1e-7
    assert gap.infeasibility < 1e-9


@pytest.mark.parametrize("machine", CLASSES)
def test_a_loose_solution_has_a_positive_gap(machine):
    model, params, X, y = fitted(machine, tol=0.3)
    assert duality_gap(machine, params, extract(model), X, y).relative > 1e-5


def test_weights_enter_the_bounds_and_the_losses():
    X, y = problem("svc")
    weight = np.linspace(0.5, 2.0, len(y))
    params = {**COMMON, "C": 2.0}
    model = svm.SVC(**params).fit(X, y, sample_weight=weight)
    assert abs(duality_gap("svc", params, extract(model), X, y, weight).relative) < 1e-7
    assert duality_gap("svc", params, extract(model), X, y).infeasibility > 0.1


def test_sparse_rows_give_the_gap_of_dense_rows(monkeypatch):
    from scipy import sparse

    model, params, X, y = fitted("svc", n_classes=3, tol=1e-2)
    dense = duality_gap("svc", params, extract(model), X, y)
    monkeypatch.setattr("benchmarks.gaps.DENSE_BYTES", 0)
    thin = duality_gap("svc", params, extract(model), sparse.csr_matrix(X), y)
    assert thin.primal == pytest.approx(dense.primal, rel=1e-12)
    assert thin.dual == pytest.approx(dense.dual, rel=1e-12)


def test_the_expansion_does_not_depend_on_the_blocks(monkeypatch):
    model, params, X, _ = fitted("svr")
    plain = extract(model)
    whole = expansion(X, plain.support, plain.coef.T, params["gamma"])[:, 0]
    monkeypatch.setattr("benchmarks.gaps.BLOCK_BYTES", 8 * len(plain.support) * 7)
    pieces = expansion(X, plain.support, plain.coef.T, params["gamma"])[:, 0]
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)
    np.testing.assert_allclose(whole + plain.intercept[0], model.predict(X), rtol=1e-9)


def test_the_scale_of_a_nu_classifier_does_not_matter():
    model, params, X, y = fitted("nusvc", tol=1e-2)
    plain = extract(model)
    scaled = Model(plain.support, 7.0 * plain.coef, 7.0 * plain.intercept)
    one, other = (duality_gap("nusvc", params, m, X, y) for m in (plain, scaled))
    assert other.relative == pytest.approx(one.relative, rel=1e-9)
    assert other.primal == pytest.approx(one.primal, rel=1e-9)
