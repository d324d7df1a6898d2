"""Impossible values are refused by fit, with the name of the parameter or of the column."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

from mercer.machines import ParameterError
from mercer.persistence.classes import estimator_classes

X = np.abs(np.random.default_rng(0).normal(size=(12, 2))) + 0.1
SEQUENCES = ["abab", "bba", "aab"]
IGNORED = {  # parameters of scikit-learn's that have no effect here, or none with these kernels
    "bounds",
    "copy_X",
    "copy_X_train",
    "iterated_power",
    "kernel_params",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(estimator_classes()))
def test_every_parameter_is_checked(name):
    kind = estimator_classes()[name]
    for parameter in kind().get_params(deep=False).keys() - IGNORED:
        model = kind()
        y = np.arange(12) % 2 if is_classifier(model) else X[:, 0]
        rows = X @ X.T if model.get_params().get("kernel") == "precomputed" else X
        rows = SEQUENCES if name == "HiddenMarkov" else rows
        model.set_params(**{parameter: Ellipsis})
        named = re.escape(parameter.removesuffix("_y"))  # kernel_y is a kernel
        with pytest.raises((ValueError, TypeError), match=named):
            model.fit(rows, y)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_jobs", 0),
        ("n_jobs", 1.5),
        ("verbose", -1),
        ("verbose", "much"),
        ("random_state", -1),
        ("random_state", "seed"),
        ("random_state", 0.5),
        ("n_restarts_optimizer", -1),
        ("max_iter", 1.5),
        ("tol", -1.0),
        ("tol", np.nan),
    ],
)
def test_parameters_of_many_estimators_are_checked_in_all_of_them(parameter, value):
    having = [kind for kind in estimator_classes().values() if parameter in kind().get_params()]
    assert having
    for kind in having:
        model = kind(**{parameter: value})
        y = np.arange(12) % 2 if is_classifier(model) else X[:, 0]
        with pytest.raises((ParameterError, ValueError), match=f"{parameter}.* must be"):
            model.fit(SEQUENCES if kind.__name__ == "HiddenMarkov" else X, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(estimator_classes().keys() - {"HiddenMarkov"}))
def test_missing_values_are_refused_with_their_columns(name):
    rows = np.abs(np.random.default_rng(0).normal(size=(12, 3))) + 0.1
    frame = pd.DataFrame(rows, columns=["u", "v", "w"])
    y, missing = np.arange(12) % 2, frame.mask(frame == frame.iloc[3, 1])
    model = estimator_classes()[name]()
    with pytest.raises(ValueError, match=r"NaN\. Column 'v' \(1 row\)"):
        model.fit(missing, y)
    if name not in ("KernelCenterer", "RelevantColumns"):  # a matrix; a method of scikit-learn's
        model.fit(frame, y)
        asked = next(a for a in ("predict", "transform", "score_samples") if hasattr(model, a))
        with pytest.raises(ValueError, match=r"NaN\. Column 'v' \(1 row\)"):
            getattr(model, asked)(missing)
