"""Warnings: where they point, and kernels that do not tell the training objects apart."""

import ast
import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    SVDD,
    SVR,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelKMeans,
    KernelPCA,
    KernelRidge,
    NuSVC,
)
from mercer.features import PolygonalPrincipalCurve
from mercer.kernels import RBF, HiddenMarkov, Linear, Polynomial, Spectrum
from mercer.machines import DegenerateFitWarning
from mercer.persistence.classes import estimator_classes
from mercer.selection import GridSearchCV

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
SOURCE = Path(mercer.__file__).parent


@pytest.mark.parametrize(
    ("search", "filter_", "n_warnings"),
    [
        (GridSearchCV, "always", 1),  # of the model that is refitted
        (sklearn.model_selection.GridSearchCV, "always", 7),
        (sklearn.model_selection.GridSearchCV, "ignore", 0),
    ],
)
def test_an_open_intercept_is_a_warning_of_its_own_category(search, filter_, n_warnings):
    X, y = np.array([[0.0], [1.0]] * 6), [0, 1] * 6
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("error")
        warnings.simplefilter(filter_, category=DegenerateFitWarning)
        search(SVC(kernel="linear"), {"C": [0.01, 0.02]}, cv=3).fit(X, y)
    assert sum("intercept is not unique" in str(w.message) for w in found) == n_warnings
    assert len(found) == n_warnings


@pytest.mark.parametrize("name", sorted(estimator_classes()))
def test_warnings_on_feature_names_point_at_the_caller(name):
    rows = np.abs(X[:20]) + 0.1
    model = estimator_classes()[name]()
    if model.get_params().get("kernel") == "precomputed":
        rows = rows @ rows.T
    table = pd.DataFrame(rows, columns=[f"column {j}" for j in range(rows.shape[1])])
    if name == "HiddenMarkov":  # whose sequences have no columns
        return
    method = next(m for m in ("predict", "transform", "score_samples") if hasattr(model, m))
    for fitted, given, message in (
        (table, rows, r"X does not have valid feature names, but \w+ was fitted with .*"),
        (rows, table, r"X has feature names, but \w+ was fitted without .*"),
    ):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            getattr(clone(model).fit(fitted, Y[:20]), method)(given)
        on_names = [w for w in found if "feature names" in str(w.message)]
        assert [(w.filename, w.category) for w in on_names] == [(__file__, UserWarning)]
        assert re.fullmatch(message, str(on_names[0].message))


def test_nan_labels_give_an_error_and_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="Input y contains NaN"):
            SVC().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, np.nan])


def test_the_library_warns_in_one_place():
    """`warn_caller` finds the user's line; a fixed stacklevel is wrong as soon as a call moves."""
    found = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "warnings" in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "warn")
    ]
    assert found == ["objects/callers.py"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: SVC(C=100.0, max_iter=3).fit(X, Y),
        lambda: make_pipeline(StandardScaler(), SVC(C=100.0, max_iter=3)).fit(X, Y),
        lambda: cross_val_score(SVC(C=100.0, max_iter=3), X, Y, cv=2),
        lambda: GridSearchCV(SVC(max_iter=3), {"C": [100.0]}, cv=2).fit(X, Y),
        lambda: SVC(C=100.0, max_iter=3, multiclass="ovr").fit(X, np.arange(60) % 3),
        lambda: SVR(C=100.0, max_iter=3).fit(X, X[:, 0]),
        lambda: KernelRidge(1e-9, kernel="rbf", solver="cg", max_iter=1).fit(X, Y),
        lambda: GaussianProcessRegressor(RBF(1.0)).fit([[0.0], [1.0]], [1.0, 1.0]),
        lambda: KernelPCA(2, kernel="rbf", eigen_solver="krylov", max_iter=1, tol=1e-12).fit(X),
        lambda: KernelKMeans(4, max_iter=1, n_init=1, random_state=0).fit(X),
        lambda: PolygonalPrincipalCurve(max_iter=1).fit(X),
        lambda: HiddenMarkov(3, max_iter=1, random_state=0).fit([list("abcabcaabbcc")]),
        lambda: KernelRidge(kernel=Polynomial(9, 1.0, 0.0)).fit(100.0 * X, Y),
        lambda: SVC(kernel=lambda A, B: -A @ B.T).fit(X, Y),
        lambda: SVC().fit(X, np.reshape(Y, (-1, 1))),
    ],
)
def test_warnings_point_at_the_line_of_the_user(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert found
    assert {w.filename for w in found} == {__file__}
    first = inspect.getsourcelines(call)[1]
    assert {w.lineno for w in found} == {first}


@pytest.mark.parametrize(
    ("fit", "value"),
    [
        (lambda: SVC(kernel=Spectrum(3)).fit(list("abcabc"), [0, 1] * 3), "0"),
        (lambda: SVC(kernel="linear").fit(np.zeros((6, 2)), [0, 1] * 3), "0"),
        (lambda: SVC(kernel="precomputed").fit(np.ones((6, 6)), [0, 1] * 3), "1"),
        (lambda: SVR(kernel=RBF(1e-30)).fit(X, Y), "1"),
        (lambda: KernelRidge(kernel=lambda A, B: np.full((len(A), len(B)), 2.0)).fit(X, Y), "2"),
        (lambda: KernelPCA(kernel=RBF(1e-30)).fit(X), "1"),
        (lambda: SVDD(kernel=0.5 * RBF(1e-30)).fit(X), "0.5"),
    ],
)
def test_a_kernel_that_is_constant_on_the_training_objects(fit, value):
    with pytest.warns(UserWarning, match=rf"is {value} for every pair of the \d+ training obj"):
        fit()


def test_a_kernel_that_differs_on_one_object_alone():
    """The first objects are alike, and so are most pairs."""
    rows = np.zeros((50, 2))
    rows[37] = 1.0
    for kernel in (Linear(), RBF(1.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SVC(kernel=kernel).fit(rows, np.arange(50) == 37)


@pytest.mark.parametrize("seed", range(4))
def test_a_nu_classifier_without_a_margin_says_so(seed):
    """A margin of 0 was 1e-32 where the product of totals and multipliers is fused."""
    random = np.random.default_rng(0)
    for _ in range(seed + 1):
        X, y = random.normal(size=(60, 1)), random.integers(0, 2, 60)
    with pytest.warns(UserWarning, match="rho_ is 0: the reduced convex hulls"):
        model = NuSVC(nu=0.6, kernel="linear").fit(X, y)
    assert model.rho_ == 0.0
    assert np.abs(model.decision_function(X) - model.intercept_).max() < 1e-12


@pytest.mark.parametrize("machine", [GaussianProcessRegressor(), GaussianProcessClassifier()])
def test_equal_rows_under_kernels_of_scikit_learn_are_reported(machine):
    y, rows = np.arange(6) % 2, np.ones((6, 2))
    with pytest.warns(UserWarning, match="all 6 training rows are equal") as said:
        machine.fit(rows, y)
    assert any(w.filename == __file__ for w in said if "are equal" in str(w.message))
    rows[5] = 2.0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        machine.fit(rows, y)
    assert not any("are equal" in str(w.message) for w in said)
