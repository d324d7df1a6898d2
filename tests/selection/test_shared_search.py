"""Searches that share work give what scikit-learn's searches give with the same estimators."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn.model_selection as theirs
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mercer import LSSVC, SVC, SVR, KernelRidge, NuSVC, NuSVR, OneClassSVM
from mercer import selection as ours
from mercer.data import rings
from mercer.kernels import RBF, Categorical, Polynomial, Spectrum, White
from mercer.selection import (
    GridSearchCV,
    SharedScore,
    cross_val_predict,
    loop,
    sharing,
)


def _iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _cancer(n=200):
    X, y = load_breast_cancer(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0))[:n], y[:n]


def _diabetes(n=150):
    X, y = load_diabetes(return_X_y=True)
    return X[:n] * 20, (y[:n] - 150) / 50


CLASSES = {"C": [0.1, 1.0, 50.0, 1000.0], "gamma": [0.01, "scale", 1.0]}
CASES = {
    "two classes": (SVC(), _cancer(), CLASSES),
    "three classes": (SVC(), _iris(), CLASSES),
    "one against the rest": (SVC(multiclass="ovr"), _iris(), CLASSES),
    "no intercept": (SVC(fit_intercept=False), _iris(), CLASSES),
    "squared hinge": (SVC(penalty_norm=2), _iris(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}),
    "both hinges": (SVC(C2=3.0), _iris(), {"C": [0.1, 10.0], "gamma": [0.1]}),
    "class weights": (
        SVC(gamma=0.1),
        _cancer(),
        {"C": [0.1, 5.0], "class_weight": [None, "balanced", {0: 3.0}]},
    ),
    "linear kernel": (SVC(kernel="linear"), _cancer(), {"C": [0.01, 1.0]}),
    "lam": (SVC(gamma=0.1), _cancer(), {"lam": [0.001, 0.1]}),
    "nested kernel": (
        SVC(kernel=RBF(1.0) + Polynomial(2)),
        _iris(),
        {"C": [1.0, 20.0], "kernel__left__gamma": [0.1, 1.0], "kernel__right__degree": [1, 3]},
    ),
    "tube": (SVR(), _diabetes(), {"C": [0.1, 3.0, 100.0], "epsilon": [0.1, 0.5], "gamma": [0.05]}),
    "squared tube": (
        SVR(loss="squared_epsilon_insensitive"),
        _diabetes(),
        {"C": [0.1, 3.0], "gamma": [0.05]},
    ),
    "pipeline": (
        make_pipeline(StandardScaler(), SVC()),
        _cancer(),
        {"svc__C": [0.1, 10.0], "svc__gamma": [0.01, "scale"]},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_scores_equal_those_of_separate_fits(case):
    estimator, (X, y), grid = CASES[case]
    cv = theirs.KFold(3, shuffle=True, random_state=0)
    plain = theirs.GridSearchCV(estimator, grid, cv=cv, return_train_score=True).fit(X, y)
    shared = GridSearchCV(estimator, grid, cv=cv, return_train_score=True).fit(X, y)
    assert set(shared.cv_results_["note"]) == {"shared"}
    assert set(shared.cv_results_["status"]) == {"optimal"}
    assert shared.cv_results_["worst_gap"].max() <= 5.1e-4
    assert shared.cv_results_["params"] == plain.cv_results_["params"]
    # A row on the boundary may change sides within the tolerance of the solvers.
    classifies = hasattr(plain.best_estimator_, "classes_")
    least = 1.01 / (len(y) // 3) if classifies else 2e-3
    for side in ("test", "train"):
        for k in range(3):
            name = f"split{k}_{side}_score"
            assert np.abs(shared.cv_results_[name] - plain.cv_results_[name]).max() <= least
    mean = "mean_test_score"
    differing = shared.cv_results_[mean] != plain.cv_results_[mean]
    assert not classifies or differing.mean() < 0.1
    assert abs(shared.best_score_ - plain.best_score_) <= least


@pytest.mark.parametrize("cache_size", [500.0, 0.1])
def test_an_intercept_that_is_not_unique_is_the_same_as_in_separate_fits(cache_size):
    rng = np.random.default_rng(1)
    y = (rng.random(210) < 0.3).astype(int)
    X = rng.normal(size=(210, 3)) + 0.4 * y[:, None]
    grid = {"C": [1e-4, 1e-3, 1e-2, 0.1], "gamma": [0.1, 10.0]}
    options = {"cv": 4, "refit": False}
    plain = theirs.GridSearchCV(SVC(class_weight="balanced"), grid, **options)
    shared = GridSearchCV(SVC(class_weight="balanced"), grid, cache_size=cache_size, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the intercepts
        a, b = (s.fit(X, y).cv_results_ for s in (plain, shared))
    assert set(b["note"]) == {"shared"}
    np.testing.assert_allclose(a["mean_test_score"], b["mean_test_score"], atol=1.01 / 210)


def test_decision_values_are_those_of_separate_fits_within_the_tolerance():
    X, y = _iris()
    for method in ("decision_function", "predict"):
        a = theirs.cross_val_predict(SVC(C=50.0), X, y, method=method)
        b = ours.cross_val_predict(SVC(C=50.0), X, y, method=method)
        np.testing.assert_allclose(a, b, atol=2e-3)


@pytest.mark.parametrize("dtype", ["auto", "float64"])
def test_results_are_the_same_bits_for_any_number_of_threads(dtype):
    X, y = _iris()
    grid = {"C": [0.1, 1.0, 100.0], "gamma": [0.1, 1.0]}
    values = [
        ours.cross_val_predict(SVC(dtype=dtype), X, y, n_jobs=n, method="decision_function")
        for n in (1, 2)
    ]
    assert np.array_equal(*values)
    a, b = (GridSearchCV(SVC(dtype=dtype), grid, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(a.cv_results_["worst_gap"], b.cv_results_["worst_gap"])
    assert np.array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])


def _split(K):
    high = K.astype(np.float32)
    return high, (K - high).astype(np.float32)


def test_a_larger_cost_takes_no_step_where_no_coefficient_is_bounded():
    from mercer import _native
    from mercer.losses import Hinge
    from mercer.run import Run
    from mercer.solvers import Settings
    from mercer.solvers.decomposition import native_settings
    from mercer.solvers.problem import DualProblem

    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 20)
    X = rng.standard_normal((40, 2)) + 3.0 * y[:, None]
    K = RBF(0.5)(X)
    steps = []
    for C in (1e-3, 1e3, 1e4, 1e5):
        arrays = DualProblem(*Hinge().pieces(y, np.full(40, C))).native(None)
        steps.append({k: v for k, v in arrays.items() if np.shape(v) == (40,)})
    rows, ends = np.arange(40), np.array([40])
    path = _native.CostPath(rows, ends, rows, True, steps)
    (found,), _ = _native.solve_cost_paths(
        [_split(K)], [(0, path)], native_settings(Settings(), Run())[0], np.inf
    )
    assert [_native.cost_path_statuses[s] for s in found["status"][:, 0]] == ["optimal"] * 4
    assert found["n_iter"][0, 0] > 0
    assert found["n_iter"][2:, 0].tolist() == [0, 0]
    assert np.array_equal(found["beta"][1], found["beta"][3])
    np.testing.assert_allclose(found["valid"][:, 0], found["beta"] @ K, atol=1e-9)
    assert np.abs(found["beta"].sum(axis=1)).max() < 1e-9


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_conjugate_steps_keep_bounds_and_sums_and_reach_the_optimum(intercept, curved):
    from mercer import _native
    from mercer.losses import EpsilonInsensitive, SquaredEpsilonInsensitive
    from mercer.run import Run
    from mercer.solvers import Settings
    from mercer.solvers.decomposition import native_settings
    from mercer.solvers.problem import DualProblem

    rng = np.random.default_rng(0)
    X, n = rng.uniform(size=(120, 5)), 120
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 10 * X[:, 3] + rng.standard_normal(n)
    K = RBF(0.6)(X)
    loss = SquaredEpsilonInsensitive(0.05) if curved else EpsilonInsensitive(0.05)
    steps = []
    for C in (1.0, 30.0, 300.0):
        arrays = DualProblem(*loss.pieces(y, np.full(n, C))).native(None)
        steps.append({k: v for k, v in arrays.items() if np.shape(v) == (n,)})
    rows = np.arange(n)
    path = _native.CostPath(rows, np.array([n]), rows, intercept, steps)
    (found,), _ = _native.solve_cost_paths(
        [_split(K)], [(0, path)], native_settings(Settings(), Run())[0], 5e-4
    )
    assert [_native.cost_path_statuses[s] for s in found["status"][:, 0]] == ["optimal"] * 3
    assert found["n_iter"].max() > 8 * n  # after which such steps are made
    assert found["gap"].max() <= 5.1e-4
    assert found["violation"].max() <= 1.1e-3
    for beta, terms in zip(found["beta"], steps, strict=True):
        assert (beta >= terms["lower"]).all()
        assert (beta <= terms["upper"]).all()
        assert not intercept or abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()


def test_gaps_of_large_c_come_from_kernel_values_in_double_precision():
    from mercer import _native
    from mercer.losses import Hinge
    from mercer.run import Run
    from mercer.solvers import Settings
    from mercer.solvers.decomposition import native_settings
    from mercer.solvers.problem import DualProblem

    rng = np.random.default_rng(0)
    X, n, C = rng.standard_normal((150, 3)), 150, 3e4
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    K = RBF(0.3)(X)
    arrays = DualProblem(*Hinge().pieces(y, np.full(n, C))).native(None)
    steps = [{k: v for k, v in arrays.items() if np.shape(v) == (n,)}]
    path = _native.CostPath(np.arange(n), np.array([n]), np.arange(n), True, steps)
    high, low = _split(K)
    gaps = []
    for parts, kernel in (((high, low), K), ((high, 0 * low), high.astype(np.float64))):
        (found,), _ = _native.solve_cost_paths(
            [parts], [(0, path)], native_settings(Settings(), Run())[0], 5e-4
        )
        assert _native.cost_path_statuses[found["status"][0, 0]] == "optimal"
        beta, m = found["beta"][0], found["multiplier"][0, 0]
        for true in (kernel, K):
            f = true @ beta
            primal = 0.5 * beta @ f + C * np.maximum(0.0, 1.0 - y * (f - m)).sum()
            gaps.append((primal - (np.abs(beta).sum() - 0.5 * beta @ f)) / primal)
        assert gaps[-2] <= found["gap"][0, 0] <= 5.05e-4
        assert found["violation"][0, 0] <= 1e-3
        np.testing.assert_allclose(found["valid"][0, 0], kernel @ beta, atol=1e-4)
    assert gaps[3] > 2.0 * gaps[1]  # values in single precision prove nothing of the problem


def test_values_of_c_too_large_for_single_precision_share():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 3)), rng.integers(0, 2, 120)
    grid = {"C": [1.0, 10.0, 1e5], "gamma": [0.3]}
    shared = GridSearchCV(SVC(), grid, cv=3, refit=False).fit(X, y)
    assert set(shared.cv_results_["note"]) == {"shared"}
    plain = theirs.GridSearchCV(SVC(), grid, cv=3, refit=False).fit(X, y)
    difference = shared.cv_results_["mean_test_score"] - plain.cv_results_["mean_test_score"]
    assert np.abs(difference).max() <= 1.01 / 40


@pytest.mark.parametrize("steps", [[], [StandardScaler()]])
def test_rows_of_matrices_beyond_the_budget_are_computed_again(steps):
    X, y = _cancer()
    y = np.where(X[:, 0] > 1.5, 2, y)
    grid = {"svc__C": [10.0, 0.1, 1.0], "svc__gamma": [0.03, "scale"]}
    machine = make_pipeline(*steps, SVC())
    options = {"cv": 3, "refit": False, "scoring": "accuracy", "return_train_score": True}
    small = GridSearchCV(machine, grid, cache_size=1.0, **options).fit(X, y)
    assert set(small.cv_results_["note"]) == {"shared"}
    assert set(small.cv_results_["status"]) == {"optimal"}
    assert small.cv_results_["worst_gap"].max() <= 5.1e-4
    plain = theirs.GridSearchCV(machine, grid, **options).fit(X, y)
    for name in ("mean_test_score", "mean_train_score"):
        difference = small.cv_results_[name] - plain.cv_results_[name]
        assert np.abs(difference).max() <= 1.01 / len(y)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_rows_beyond_the_budget_are_predicted(form, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] > 0.0).astype(int)
    monkeypatch.setattr(loop, "SharedFits", lambda _, n_jobs: sharing.SharedFits(0.1, n_jobs))
    monkeypatch.setattr(loop, "fit_and_predict", _refuse)
    ours = cross_val_predict(SVC(gamma=0.5), form(X), y, cv=3)
    np.testing.assert_array_equal(ours, theirs.cross_val_predict(SVC(gamma=0.5), form(X), y, cv=3))


def _of_the_user(model, X, y=None):
    """Return a number that no other model than a fitted machine has."""
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :1])
    return float(len(model.support_vectors_)) + float(model.decision_function(2.0 * X).mean())


@pytest.mark.filterwarnings("ignore:The scoring .* does not support sample_weight")
@pytest.mark.filterwarnings("ignore::mercer.machines.DegenerateFitWarning")
@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.1), OneClassSVM()])
def test_a_metric_of_the_users_is_given_fitted_machines(machine):
    X, y = _cancer()
    weight = np.arange(len(y)) % 3
    options = {"scoring": _of_the_user, "cv": 3, "refit": False}
    a = theirs.GridSearchCV(machine, {"gamma": [0.1, 1.0]}, **options)
    b = GridSearchCV(machine, {"gamma": [0.1, 1.0]}, **options)
    a, b = (search.fit(X, y, sample_weight=weight).cv_results_ for search in (a, b))
    why = "fitted by itself: the metric is a function of the fitted estimator"
    assert set(b["note"]) == {why}
    assert np.array_equal(a["mean_test_score"], b["mean_test_score"])


class _Broken(BaseEstimator):
    def fit(self, X, y=None):
        raise RuntimeError("of the user's")

    def transform(self, X):
        return X


def _broken_kernel(A, B):
    raise RuntimeError("of the user's")


def test_errors_are_those_of_plain_fits_and_sharing_adds_none(monkeypatch):
    X, y = _iris()
    grid = {"svc__C": [1.0, 10.0]}
    search = GridSearchCV(make_pipeline(_Broken(), SVC()), grid, cv=3, error_score="raise")
    with pytest.raises(RuntimeError, match="of the user's"):
        search.fit(X, y)
    kernels = [RBF(0.5), _broken_kernel, Polynomial(200, 1.0, 1.0)]  # the last one overflows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = GridSearchCV(SVC(), {"kernel": kernels}, cv=3).fit(1e8 * X, y)
    np.testing.assert_array_equal(np.isnan(found.cv_results_["mean_test_score"]), [0, 1, 1])
    plain = theirs.GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3).fit(X, y).cv_results_
    monkeypatch.setattr(sharing, "take", None)
    found = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3).fit(X, y).cv_results_
    assert np.array_equal(found["mean_test_score"], plain["mean_test_score"])
    assert all("it cannot be prepared (TypeError: 'NoneType'" in note for note in found["note"])


@pytest.mark.parametrize("definite", [True, False])
def test_machines_on_a_given_kernel_matrix_share_it(definite):
    X, y = _cancer()
    K = RBF(0.03)(X) if definite else np.tanh(0.1 * X @ X.T - 1.0)
    for machine, grid in (
        (SVC(kernel="precomputed"), {"C": [0.1, 10.0, 100.0]}),
        (NuSVC(kernel="precomputed"), {"nu": [0.1, 0.2]}),
        (KernelRidge(kernel="precomputed"), {"alpha": [0.1, 10.0]}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the matrix that is not definite
            a = theirs.GridSearchCV(machine, grid, return_train_score=True).fit(K, y)
            b = GridSearchCV(machine, grid, return_train_score=True).fit(K, y)
        assert set(b.cv_results_["note"]) == {"shared"}
        assert definite or "stationary" in b.cv_results_["status"]
        for name in ("mean_test_score", "mean_train_score"):
            np.testing.assert_allclose(a.cv_results_[name], b.cv_results_[name], atol=1e-3)


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (NuSVC(gamma=0.5), {"nu": [0.1, 0.3]}),
        (SVC(gamma=0.5), {"C": [0.1, 10.0]}),
        (NuSVR(gamma=0.5), {"C": [0.1, 10.0]}),
        (KernelRidge(kernel="rbf", gamma=0.5), {"alpha": [0.1, 10.0]}),
        (LSSVC(), {"C": [0.1, 10.0]}),
    ],
    ids=repr,
)
def test_weights_of_zero_inside_a_pipeline_are_shared(machine, grid):
    """The fold of the weightless row held 79 objects for 80 targets."""
    X, y = rings(100, random_state=0)
    weight = np.where(np.arange(100) % 9 == 3, 0.0, 1.0 + np.arange(100) % 2)
    pipe = Pipeline([("scale", StandardScaler()), ("machine", machine)])
    grid = {f"machine__{name}": values for name, values in grid.items()}
    search = GridSearchCV(pipe, grid, cv=5).fit(X, y, machine__sample_weight=weight)
    assert set(search.cv_results_["note"]) == {"shared"}
    alone = theirs.GridSearchCV(pipe, grid, cv=5)
    alone.fit(X, y, machine__sample_weight=weight)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"], atol=1e-3
    )


def test_weights_of_the_last_step_of_a_pipeline_are_shared():
    X, y = _cancer()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    machine, grid = make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 10.0, 1000.0]}
    given = {"svc__sample_weight": weight}
    a = theirs.GridSearchCV(machine, grid, cv=3).fit(X, y, **given).cv_results_
    b = GridSearchCV(machine, grid, cv=3).fit(X, y, **given).cv_results_
    assert set(b["note"]) == {"shared"}
    assert b["mean_test_score"] == pytest.approx(a["mean_test_score"], abs=1e-12)
    plain = GridSearchCV(machine, grid, cv=3).fit(X, y).cv_results_
    assert (plain["mean_test_score"] != b["mean_test_score"]).any()


def test_several_metrics_weights_groups_and_other_splitters():
    X, y = _cancer()
    rng = np.random.default_rng(0)
    weight, groups = rng.uniform(0.0, 2.0, len(y)), rng.integers(0, 8, len(y))
    weight[:30] = 0.0
    scoring = {"area": "roc_auc", "right": "accuracy"}
    for cv, more in (
        (GroupKFold(4), {"groups": groups}),
        (ShuffleSplit(3, test_size=0.3, random_state=0), {}),
    ):
        options = {"cv": cv, "scoring": scoring, "refit": "area"}
        grid = {"C": [0.1, 10.0], "gamma": [0.03]}
        a = theirs.GridSearchCV(SVC(), grid, **options).fit(X, y, sample_weight=weight, **more)
        b = GridSearchCV(SVC(), grid, **options).fit(X, y, sample_weight=weight, **more)
        assert set(b.cv_results_["note"]) == {"shared"}
        for name in scoring:
            np.testing.assert_allclose(
                a.cv_results_[f"mean_test_{name}"], b.cv_results_[f"mean_test_{name}"], atol=2e-3
            )


def test_objects_that_are_no_vectors_share_their_kernel_matrix():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ab" if k % 2 else "bcc"), 12)) for k in range(40)]
    y = np.arange(40) % 2
    grid = {"C": [0.1, 1.0], "kernel__p": [1, 2]}
    a = theirs.GridSearchCV(SVC(kernel=Spectrum(2)), grid, cv=4).fit(X, y)
    b = GridSearchCV(SVC(kernel=Spectrum(2)), grid, cv=4).fit(X, y)
    assert set(b.cv_results_["note"]) == {"shared"}
    assert np.array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_tables_that_a_transformer_makes_share_within_a_fold(form):
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=60), "b": rng.normal(size=60), "c": rng.choice(list("xyz"), 60)}
    table = {"pandas": pd, "polars": pl}[form].DataFrame(columns)
    y = (columns["a"] + (columns["c"] == "x") > 0.5).astype(int)
    scaled = make_column_transformer(
        (StandardScaler(), ["a", "b"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform=form)
    kernel = RBF(0.1).on_columns(["a", "b"]) + Categorical().on_columns("c")
    grid = {"svc__C": [1.0, 10.0], "svc__kernel__left__kernel__gamma": [0.1, 1.0]}
    machine = make_pipeline(scaled, SVC(kernel=kernel))
    found = ours.GridSearchCV(machine, grid, cv=3).fit(table, y).cv_results_
    apart = theirs.GridSearchCV(machine, grid, cv=3).fit(table, y).cv_results_
    assert set(found["note"]) == {"shared"}
    np.testing.assert_array_equal(found["mean_test_score"], apart["mean_test_score"])


class _Frame(pd.DataFrame):
    """A frame of another package than pandas, as geographic tables are."""

    @property
    def _constructor(self):
        return _Frame


def test_tables_of_a_subclass_of_frames_share():
    rng = np.random.default_rng(1)
    X = np.c_[rng.normal(size=(60, 2)), rng.integers(3, size=60)]
    y = (X[:, 0] + X[:, 2] > 1.0).astype(int)
    kernel = RBF(1.0).on_columns([0, 1]) + Categorical().on_columns(2)
    machine = make_pipeline(FunctionTransformer(_Frame), SVC(kernel=kernel))
    found = ours.GridSearchCV(machine, {"svc__C": [1.0, 10.0]}, cv=3).fit(X, y).cv_results_
    apart = theirs.GridSearchCV(machine, {"svc__C": [1.0, 10.0]}, cv=3).fit(X, y).cv_results_
    assert set(found["note"]) == {"shared"}
    np.testing.assert_array_equal(found["mean_test_score"], apart["mean_test_score"])


def test_precomputed_matrices_share():
    X, y = _iris()
    K = RBF(0.3)(X)
    grid = {"C": [0.1, 10.0]}
    a = theirs.GridSearchCV(SVC(kernel="precomputed"), grid).fit(K, y)
    b = GridSearchCV(SVC(kernel="precomputed"), grid).fit(K, y)
    assert np.array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (SVC(probability=True, gamma=0.1, random_state=0), {"C": [1.0]}),
        (SVC(max_iter=5000), {"C": [1.0, 2.0]}),
        (LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}),
        (SVC(kernel=RBF(0.5) + White()), {"C": [1.0, 10.0]}),
        (NuSVC(kernel=RBF(0.5) + White()), {"nu": [0.1, 0.2]}),
    ],
)
def test_what_cannot_share_is_fitted_by_itself_with_the_same_result(estimator, grid):
    X, y = _iris()
    a = theirs.GridSearchCV(estimator, grid, cv=3, return_train_score=True).fit(X, y)
    b = GridSearchCV(estimator, grid, cv=3, n_jobs=1, return_train_score=True).fit(X, y)
    assert all(note.startswith("fitted by itself: ") for note in b.cv_results_["note"])
    for name in ("mean_test_score", "mean_train_score"):
        assert np.array_equal(a.cv_results_[name], b.cv_results_[name])


@pytest.mark.parametrize(
    ("estimator", "data", "scoring"),
    [
        (SVC(gamma=0.1), _iris(), None),
        (SVC(gamma=0.1, break_ties=True), _iris(), ["accuracy", "f1_macro"]),
        (SVC(gamma=0.1, multiclass="ovr"), _iris(), "accuracy"),
        (SVC(gamma=0.1), _cancer(), ["accuracy", "roc_auc"]),
        (SVR(gamma=0.1), _diabetes(), None),
    ],
)
def test_scores_of_shared_fits_take_no_further_fit(estimator, data, scoring, monkeypatch):
    monkeypatch.setattr(loop, "_fitted_alone", _refuse)
    options = {"refit": False, "error_score": "raise"}
    GridSearchCV(estimator, {"C": [0.1, 10.0]}, cv=3, scoring=scoring, **options).fit(*data)


STORED = {
    "nu": (NuSVC(), _iris(), {"nu": [0.05, 0.2], "gamma": [0.1, "scale"]}),
    "nu tube": (NuSVR(gamma=0.05), _diabetes(), {"nu": [0.2, 0.5], "C": [1.0, 10.0]}),
    "alpha": (KernelRidge(kernel="rbf"), _diabetes(), {"alpha": [0.1, 10.0], "gamma": [0.05]}),
    "least squares": (LSSVC(), _iris(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}),
    "hard margin": (SVC(C=np.inf), (_iris()[0][:100], _iris()[1][:100]), {"gamma": [0.1, 1.0]}),
    "function": (SVC(kernel=lambda A, B: A @ B.T), _iris(), {"C": [0.1, 10.0]}),
    "pipeline": (
        make_pipeline(StandardScaler(), NuSVC(gamma=0.1)),
        _iris(),
        {"nusvc__nu": [0.1, 0.3]},
    ),
}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("case", STORED)
def test_machines_without_a_path_share_the_kernel_matrix(case, named, monkeypatch):
    estimator, (X, y), grid = STORED[case]
    cv = theirs.KFold(3, shuffle=True, random_state=0)
    scoring = (
        ("f1_macro" if is_classifier(estimator) else "neg_mean_absolute_error") if named else None
    )
    options = {"cv": cv, "return_train_score": True, "refit": False, "scoring": scoring}
    plain = theirs.GridSearchCV(estimator, grid, **options).fit(X, y).cv_results_
    monkeypatch.setattr(loop, "_fitted_alone", _refuse)
    shared = GridSearchCV(estimator, grid, error_score="raise", **options).fit(X, y).cv_results_
    assert set(shared["note"]) == {"shared"}
    assert set(shared["status"]) == {"optimal"}
    for name in (f"split{k}_{part}_score" for k in range(3) for part in ("train", "test")):
        np.testing.assert_allclose(shared[name], plain[name], atol=1e-6)


def test_predictions_on_stored_values_are_those_of_the_machine():
    X, y = _iris()
    assert np.array_equal(
        theirs.cross_val_predict(NuSVC(nu=0.1), X, y), cross_val_predict(NuSVC(nu=0.1), X, y)
    )


def _refuse(*arguments):
    raise AssertionError("a plain fit")


def test_a_small_budget_gives_the_same_result():
    X, y = _iris()
    grid = {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}
    a = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    b = GridSearchCV(SVC(), grid, cv=3, cache_size=0.01).fit(X, y)
    assert set(b.cv_results_["note"]) == {"shared"}
    assert np.array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])


def test_a_candidate_with_a_wrong_parameter_fails_alone():
    X, y = _iris()
    grid = {"C": [1.0, -1.0], "gamma": [0.1]}
    search = GridSearchCV(SVC(), grid, cv=3, n_jobs=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = search.fit(X, y)
    assert any(w.category is FitFailedWarning for w in caught)
    assert found.cv_results_["status"].tolist() == ["optimal", "failed"]
    assert found.best_params_["C"] == 1.0
    with pytest.raises(ValueError, match="C must be"):
        GridSearchCV(SVC(), grid, cv=3, error_score="raise", n_jobs=1).fit(X, y)


def test_random_and_halving_searches_equal_those_of_scikit_learn():
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401

    X, y = _cancer()
    ranges = {"C": loguniform(0.1, 100), "gamma": loguniform(0.001, 1)}
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
    for name, space, options in (
        ("RandomizedSearchCV", ranges, {"n_iter": 6, "random_state": 0}),
        ("HalvingGridSearchCV", grid, {"random_state": 0}),
        ("HalvingRandomSearchCV", ranges, {"n_candidates": 6, "random_state": 0}),
    ):
        a = getattr(theirs, name)(SVC(), space, **options).fit(X, y)
        b = getattr(ours, name)(SVC(), space, **options).fit(X, y)
        assert b.best_params_ == a.best_params_
        assert np.array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])
        assert set(b.cv_results_["note"]) == {"shared"}


def test_curves_and_scores_equal_those_of_scikit_learn():
    X, y = _cancer()
    model = SVC(gamma=0.03)
    assert np.array_equal(theirs.cross_val_score(model, X, y), ours.cross_val_score(model, X, y))
    a = theirs.cross_validate(model, X, y, return_train_score=True, return_indices=True)
    b = ours.cross_validate(model, X, y, return_train_score=True, return_indices=True)
    assert list(a) == list(b)
    assert np.array_equal(a["train_score"], b["train_score"])
    for k in (1, 2):
        a = theirs.validation_curve(model, X, y, param_name="C", param_range=[0.1, 10.0])
        b = ours.validation_curve(model, X, y, param_name="C", param_range=[0.1, 10.0])
        assert np.array_equal(a[k - 1], b[k - 1])
        a = theirs.learning_curve(model, X, y, train_sizes=[0.3, 1.0])
        b = ours.learning_curve(model, X, y, train_sizes=[0.3, 1.0])
        assert np.array_equal(a[k], b[k])
    fitted = ours.cross_validate(model, X, y, return_estimator=True)["estimator"]
    assert len(fitted[0].support_) > 0
    with pytest.raises(ValueError, match="scoring"):
        ours.cross_val_score(model, X, y, scoring="nothing")


def test_shared_score_is_the_mean_of_a_search():
    X, y = _iris()
    shared = SharedScore(SVC(), X, y, cv=3)
    search = GridSearchCV(SVC(), {"C": [1.0, 20.0], "gamma": [0.1]}, cv=3).fit(X, y)
    found = [shared.score(C=C, gamma=0.1) for C in (1.0, 20.0)]
    np.testing.assert_allclose(found, search.cv_results_["mean_test_score"], atol=0.01)
    assert [score for _, score in shared.history_] == found
    with pytest.raises(ValueError, match="C must be"):
        shared.score(C=-1.0)


# -- limits, interrupts, the journal ------------------------------------------------------------


class _Counting(BaseEstimator):
    """Counts its fits, and interrupts or ends the process at one of them."""

    fits: list = []  # noqa: RUF012 - shared on purpose

    def __init__(self, a=0, stop_at=None, kill_at=None):
        self.a, self.stop_at, self.kill_at = a, stop_at, kill_at

    def fit(self, X, y):
        self.fits.append(self.a)
        if self.stop_at == len(self.fits):
            raise KeyboardInterrupt
        return self

    def score(self, X, y):
        return float(self.a)


def test_an_interrupted_search_keeps_what_it_knows_and_resumes(tmp_path):
    X, y = _iris()
    path = tmp_path / "journal"
    _Counting.fits.clear()
    search = GridSearchCV(
        _Counting(stop_at=8), {"a": [1, 2, 3, 4]}, cv=3, n_jobs=1, resume=path, refit=False
    )
    with pytest.raises(KeyboardInterrupt, match="2 of 4 candidates"):
        search.fit(X, y)
    assert search.cv_results_["status"].tolist() == ["unknown", "unknown", "missing", "missing"]
    assert search.best_params_ == {"a": 2}
    assert search.missing_candidates_ == [{"a": 3}, {"a": 4}]
    known = len(json.loads(path.read_text())["entries"])
    assert known == 7
    search.fit(X, y)
    assert len(_Counting.fits) == 8 + 12 - known
    assert search.best_params_ == {"a": 4}
    assert search.cv_results_["mean_test_score"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert search.missing_candidates_ == []


def test_an_interrupted_search_says_why_it_has_no_best_estimator():
    X, y = _iris()
    _Counting.fits.clear()
    search = GridSearchCV(_Counting(), {"a": [1, 2]}, cv=3, n_jobs=1).fit(X, y)
    assert search.best_estimator_.a == 2
    search.set_params(estimator=_Counting(stop_at=len(_Counting.fits) + 5))
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    for ask in (lambda: search.best_estimator_, lambda: search.score(X, y)):
        with pytest.raises(AttributeError, match=r"ended before it was fitted.*best_params_"):
            ask()
    assert search.best_params_ == {"a": 1}
    search.set_params(estimator=_Counting(stop_at=len(_Counting.fits) + 7))  # the last fit
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert search.cv_results_["mean_test_score"].tolist() == [1.0, 2.0]
    search.set_params(estimator=_Counting(), refit=False).fit(X, y)
    with pytest.raises(AttributeError, match="because refit=False"):
        _ = search.best_estimator_


def test_the_journal_of_another_search_is_refused(tmp_path):
    X, y = _iris()
    path = tmp_path / "journal"
    grid = {"C": [1.0], "gamma": [0.1]}
    first = GridSearchCV(SVC(), grid, cv=3, resume=path).fit(X, y)
    again = GridSearchCV(SVC(), grid, cv=3, resume=path).fit(X, y)
    assert np.array_equal(first.cv_results_["mean_fit_time"], again.cv_results_["mean_fit_time"])
    with pytest.raises(ValueError, match="another search: data differ"):
        GridSearchCV(SVC(), grid, cv=3, resume=path).fit(X + 1.0, y)
    path.write_text("{")
    with pytest.raises(ValueError, match="no journal"):
        GridSearchCV(SVC(), grid, cv=3, resume=path).fit(X, y)


def test_a_search_goes_on_where_its_journal_cannot_be_written(tmp_path):
    X, y = _iris()
    path = tmp_path / "missing" / "journal"
    grid = {"C": [1.0, 10.0], "gamma": [0.1]}
    with pytest.warns(RuntimeWarning, match="journal .* cannot be written") as caught:
        found = GridSearchCV(SVC(), grid, cv=3, resume=path).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    expected = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    for name in ("mean_test_score", "status"):
        assert found.cv_results_[name].tolist() == expected.cv_results_[name].tolist()


_KILLED = """
import os, signal, sys
import numpy as np
from sklearn.datasets import load_iris
from mercer import SVC
from mercer.selection import GridSearchCV
from mercer.selection import journal

journal._PAUSE = 0.0
write = journal.Journal.write
def counted(self, **options):
    write(self, **options)
    if len(self.entries) >= 4 and "kill" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
journal.Journal.write = counted
X, y = load_iris(return_X_y=True)
grid = {"C": [1.0, 2.0], "gamma": [0.01, 0.1]}
search = GridSearchCV(SVC(), grid, cv=3, resume=sys.argv[1]).fit(X, y)
print(search.cv_results_["mean_test_score"].tolist())
"""


def test_a_killed_search_goes_on_where_it_was(tmp_path):
    path = tmp_path / "journal"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _KILLED, str(path)]
    killed = subprocess.run([*command, "kill"], env=environment, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    entries = json.loads(path.read_text())["entries"]
    assert len(entries) == 4
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    X, y = load_iris(return_X_y=True)
    grid = {"C": [1.0, 2.0], "gamma": [0.01, 0.1]}
    whole = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    assert json.loads(ended.stdout) == whole.cv_results_["mean_test_score"].tolist()
    assert all(json.loads(path.read_text())["entries"][k] == v for k, v in entries.items())


def test_ctrl_c_ends_native_solving_and_keeps_what_is_solved(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, 2)), rng.integers(0, 2, 1000)  # many steps
    solve = sharing._native.solve_cost_paths

    def solve_while_someone_presses_keys(*arguments):
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        return solve(*arguments)

    monkeypatch.setattr(sharing._native, "solve_cost_paths", solve_while_someone_presses_keys)
    grid = {"C": np.logspace(-4, 8, 200), "gamma": [0.01]}
    search = GridSearchCV(SVC(), grid, cv=3)
    # A shell ignores Ctrl-C in its background jobs, and their children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt, match="of 200 candidates"):
            search.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(search.missing_candidates_) > 0
    monkeypatch.undo()
    first = GridSearchCV(SVC(gamma=0.01), {"C": [1e-4]}, cv=3).fit(X, y)
    names = [f"split{k}_test_score" for k in range(3)]
    known = [name for name in names if not np.isnan(search.cv_results_[name][0])]
    assert known
    assert all(search.cv_results_[name][0] == first.cv_results_[name][0] for name in known)


class _Slow(_Counting):
    def fit(self, X, y):
        time.sleep(1.1 if self.a > 1 else 0.0)
        return self


def test_beyond_cache_size_candidates_are_finished_one_by_one(monkeypatch):
    X, y = _cancer()
    order, fitted = [], sharing.stored_values.fitted

    def note(machine, *rest):
        order.append((machine.gamma, machine.C))
        return fitted(machine, *rest)

    monkeypatch.setattr(sharing.stored_values, "fitted", note)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    GridSearchCV(SVC(), grid, cv=3, cache_size=0.1, refit=False).fit(X, y)
    assert order == [(g, c) for g in grid["gamma"] for c in grid["C"] for _ in range(3)]


def test_a_time_limit_leaves_the_rest_out():
    X, y = _iris()
    with pytest.raises(TimeoutError, match="before one candidate"):
        GridSearchCV(SVC(), {"C": [1.0]}, n_jobs=1, time_limit=1e-9).fit(X, y)
    search = GridSearchCV(_Slow(), {"a": [1, 2, 3]}, cv=3, n_jobs=1, time_limit=1.0, refit=False)
    with pytest.warns(UserWarning, match="time_limit=1.0 s is over: 2 of 3 candidates"):
        search.fit(X, y)
    assert search.best_params_ == {"a": 1}
    assert search.missing_candidates_ == [{"a": 2}, {"a": 3}]


def test_hopeless_candidates_are_pruned_and_the_best_is_the_same():
    X, y = _cancer()
    grid = {"C": [1e-4, 1.0, 10.0], "gamma": [0.03, 30.0]}
    cv = StratifiedKFold(8, shuffle=True, random_state=0)
    whole = GridSearchCV(SVC(), grid, cv=cv).fit(X, y)
    pruned = GridSearchCV(SVC(), grid, cv=cv, prune=True).fit(X, y)
    assert pruned.best_params_ == whole.best_params_
    status = pruned.cv_results_["status"]
    assert "pruned" in status
    assert set(status) == {"optimal", "pruned"}
    best = whole.cv_results_["mean_test_score"].max()
    assert (whole.cv_results_["mean_test_score"][status == "pruned"] < best - 0.05).all()


def test_the_bar_of_a_pruned_search_ends_at_its_total(capfd):
    X, y = _iris()
    grid = {"C": [1e-4, 1.0], "gamma": [0.1, 30.0]}
    cv = StratifiedKFold(8, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(), grid, cv=cv, prune=True, verbose=1).fit(X, y)
    pruned = sum(np.isnan(search.cv_results_[f"split{k}_test_score"]).sum() for k in range(8))
    last = capfd.readouterr().err.split("\r")[-1]
    assert pruned > 0
    assert f"[{30 * '#'}] 32/32 fits ({pruned} pruned), " in last
    assert "left" not in last


def test_a_time_limit_leaves_candidates_missing_and_prunes_none():
    X, y = _iris()
    search = GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=3, time_limit=1e-9, prune=True)
    with pytest.raises(TimeoutError, match="before one candidate"):
        search.fit(X, y)
    assert set(search.cv_results_["status"]) == {"missing"}


def test_the_progress_bar_tells_the_time_left(capfd):
    X, y = _iris()
    GridSearchCV(SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, cv=3, verbose=1).fit(X, y)
    bar = capfd.readouterr().err
    assert "/12 fits" in bar
    assert "s left" in bar
    assert "12/12 fits" in bar.split("\r")[-1]


def test_a_custom_metric_sees_the_fitted_pipeline():
    X, y = _cancer()

    def steps(model, X, y):
        return float(len(model.named_steps)) + 0.0 * model.score(X, y)

    pipe = make_pipeline(StandardScaler(), SVC())
    found = GridSearchCV(pipe, {"svc__C": [1.0]}, scoring=steps, cv=3).fit(X, y)
    assert found.best_score_ == 2.0
    loss = make_scorer(mean_squared_error, greater_is_better=False)
    X, y = _diabetes()
    pipe = make_pipeline(StandardScaler(), SVR())
    a = theirs.GridSearchCV(pipe, {"svr__C": [1.0, 5.0]}, scoring=loss, cv=3).fit(X, y)
    b = GridSearchCV(pipe, {"svr__C": [1.0, 5.0]}, scoring=loss, cv=3).fit(X, y)
    assert set(b.cv_results_["note"]) == {"shared"}
    np.testing.assert_allclose(
        a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"], atol=2e-3
    )


def test_splits_given_as_masks_share_too():
    X, y = load_iris(return_X_y=True)
    masks = [(np.arange(150) % 3 != k, np.arange(150) % 3 == k) for k in range(3)]
    rows = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in masks]
    ours, same = (GridSearchCV(SVC(), {"C": [1, 10]}, cv=cv).fit(X, y) for cv in (masks, rows))
    assert set(ours.cv_results_["note"]) == {"shared"}
    for k in range(3):
        name = f"split{k}_test_score"
        assert ours.cv_results_[name].tolist() == same.cv_results_[name].tolist()


@pytest.mark.filterwarnings("ignore::mercer.machines.errors.DegenerateFitWarning")
@pytest.mark.parametrize("alone", [False, True])
def test_a_nu_classifier_without_a_margin_is_not_optimal(alone):
    """Its function is 0, and the labels by which it is scored are rounding."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    X[:, 0] += 3.0 * y * (np.arange(60) < 20)
    scoring = (lambda model, X, y: model.score(X, y)) if alone else None
    search = GridSearchCV(NuSVC(kernel="linear"), {"nu": [0.5, 0.8, 1.0]}, cv=3, scoring=scoring)
    search.fit(X, y)
    margins = [
        [
            NuSVC(nu=nu, kernel="linear").fit(X[a], y[a]).rho_
            for a, _ in StratifiedKFold(3).split(X, y)
        ]
        for nu in (0.5, 0.8, 1.0)
    ]
    expected = ["no_margin" if 0.0 in row else "optimal" for row in margins]
    assert set(expected) == {"no_margin", "optimal"}
    assert search.cv_results_["status"].tolist() == expected
    assert ("itself" in search.cv_results_["note"][0]) == alone
