"""Missing values: a category of their own for Categorical, nothing to kernels on other columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import SVC, SVR, KernelRidge, OneClassSVM
from mercer.capacity import generalization_report, leave_one_out
from mercer.kernels import RBF, Categorical

rng = np.random.default_rng(0)
N = 30
NAMES = rng.choice(["a", "b", "missing"], N)
NUMBERS = rng.normal(size=N)
Y = ((NAMES == "missing") ^ (NUMBERS > 0.3)).astype(int)
PLAIN = pd.DataFrame({"c": NAMES, "x": NUMBERS})  # with a name for the missing ones
OPTIONAL = [None if name == "missing" else name for name in NAMES]
NONE = PLAIN.assign(c=pd.Series(OPTIONAL, dtype=object))
CODES = PLAIN.assign(c=[{"a": 1.0, "b": 2.0}.get(name, np.nan) for name in NAMES])
SUM = Categorical().on_columns(["c"]) + RBF(1.0).on_columns(["x"])
REVERSED = RBF(1.0).on_columns(["x"]) + Categorical().on_columns(["c"])
FRAMES = {
    "None": NONE,
    "string": NONE.assign(c=NONE.c.astype("string")),
    "category": NONE.assign(c=NONE.c.astype("category")),
    "codes": CODES,
    "nullable codes": CODES.assign(c=CODES.c.astype("Float64")),
    "polars": pl.DataFrame({"c": OPTIONAL, "x": NUMBERS}),
    "polars codes": pl.DataFrame({"c": CODES.c.to_list(), "x": NUMBERS}),
}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@every_frame
@pytest.mark.parametrize("kernel", [SUM, REVERSED], ids=["first", "last"])
def test_missing_values_are_a_category_of_machines_and_their_certificates(frame, kernel):
    expected = SVC(kernel=kernel).fit(PLAIN, Y)
    model = SVC(kernel=kernel).fit(frame, Y)
    np.testing.assert_allclose(
        model.decision_function(frame), expected.decision_function(PLAIN), atol=1e-9
    )
    assert model.certify(frame, Y).status == "optimal"
    with pytest.raises(ValueError, match="not at their places"):
        model.certify(frame[::-1], Y)
    row = int(np.flatnonzero(NAMES == "missing")[0])
    np.testing.assert_allclose(
        model.decision_function(frame[row : row + 1]),
        expected.decision_function(PLAIN[row : row + 1]),
        atol=1e-9,
    )
    batch = pd.DataFrame({"c": [np.nan], "x": [NUMBERS[row]]})  # a column of floats
    if isinstance(frame, pd.DataFrame):
        assert model.decision_function(batch) == model.decision_function(frame[row : row + 1])


def test_leave_one_out_and_reports_of_tables_with_missing_values():
    expected, model = (SVC(kernel=SUM).fit(X, Y) for X in (PLAIN, NONE))
    assert leave_one_out(model, NONE, Y).error == leave_one_out(expected, PLAIN, Y).error
    assert generalization_report(model, NONE, Y).n_samples == N


@pytest.mark.parametrize("machine", [SVC, SVR, KernelRidge, OneClassSVM])
def test_names_of_columns_of_numbers_reach_every_part(machine):
    flags = pd.DataFrame({"flag": NAMES == "a", "x": NUMBERS})
    kernel = Categorical().on_columns(["flag"]) + RBF(0.1).on_columns(["x"])
    placed = Categorical().on_columns([0]) + RBF(0.1).on_columns([1])
    found = machine(kernel=kernel).fit(flags, Y)
    expected = machine(kernel=placed).fit(flags.to_numpy(dtype=float), Y)
    np.testing.assert_allclose(
        found.predict(flags), expected.predict(flags.to_numpy(dtype=float)), atol=1e-9
    )
    assert found.feature_names_in_.tolist() == ["flag", "x"]
    with pytest.raises(ValueError, match="feature names"):
        found.predict(flags[["x", "flag"]])


@pytest.mark.parametrize("form", ["frame", "polars", "array"])
def test_only_columns_that_a_kernel_uses_are_checked(form):
    rows = CODES.assign(c=np.where(NAMES == "a", np.inf, CODES.c))
    X = {"frame": rows, "polars": pl.from_pandas(rows), "array": rows.to_numpy()}[form]
    expected = SVC(kernel=RBF(1.0)).fit(rows[["x"]], Y).decision_function(rows[["x"]])
    model = SVC(kernel=RBF(1.0).on_columns([1])).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    assert model.certify(X, Y).status == "optimal"
    column = "0" if form == "array" else "'c'"
    for kernel in (RBF(1.0), RBF(1.0).on_columns([0]), 2 * RBF(1.0).on_columns([1, 0])):
        with pytest.raises(ValueError, match=f"Column {column}"):
            SVC(kernel=kernel).fit(X, Y)
    used = rows.assign(x=np.where(NAMES == "b", np.nan, NUMBERS))
    with pytest.raises(ValueError, match=r"NaN\. Column"):
        model.predict(used.to_numpy() if form == "array" else used)
