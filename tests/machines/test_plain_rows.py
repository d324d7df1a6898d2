"""Rows to predict that need no look by scikit-learn's validation: lists, integers, frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import SVC, GaussianProcessRegressor
from mercer.machines import input_validation
from mercer.machines.gaussian_process import process

X = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 0.0], [4.0, 1.0]])
Y = [0, 1, 0, 1]


@pytest.fixture
def no_validation(monkeypatch):
    """Let nothing reach scikit-learn's validation after the fit."""

    def refuse(*args, **kwargs):
        raise AssertionError("scikit-learn validates")

    def switch():
        monkeypatch.setattr(input_validation, "validated", refuse)
        monkeypatch.setattr(process, "validated", refuse)

    return switch


@pytest.mark.parametrize("machine", [SVC(), GaussianProcessRegressor(alpha=0.1)])
@pytest.mark.parametrize("form", [np.ndarray.tolist, np.int64, np.float32, np.uint8, np.float16])
def test_lists_and_integers_take_the_short_path(machine, form, no_validation):
    model = machine.fit(X, Y)
    expected = model.predict(X)
    no_validation()
    np.testing.assert_array_equal(model.predict(form(X)), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_the_columns_of_the_fit_take_the_short_path(frame, no_validation):
    columns = dict(zip("ab", X.T, strict=True))
    model = SVC().fit(frame(columns), Y)
    expected = SVC().fit(X, Y).decision_function(X)
    no_validation()
    np.testing.assert_array_equal(model.decision_function(frame(columns)), expected)
    np.testing.assert_array_equal(
        model.decision_function(frame({n: c.astype(int) for n, c in columns.items()})), expected
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_other_rows_are_refused_as_ever(frame):
    columns = dict(zip("ab", X.T, strict=True))
    model = SVC().fit(frame(columns), Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame({"a": X[:, 0], "c": X[:, 1]}))
    with pytest.raises(ValueError, match="in the same order"):
        model.predict(frame({"b": X[:, 1], "a": X[:, 0]}))
    with pytest.raises(ValueError, match="'b' \\(1 row\\)"):
        model.predict(frame({"a": [1.0], "b": [None if frame is pl.DataFrame else np.nan]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X.tolist())
    with pytest.raises(ValueError, match="3 features"):
        SVC().fit(X.tolist(), Y).predict([[1, 2, 3]])
    with pytest.raises(ValueError, match="inhomogeneous"):
        SVC().fit(X.tolist(), Y).predict([[1, 2], [3]])
