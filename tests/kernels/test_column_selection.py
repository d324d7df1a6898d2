"""Columns by name: repeated names, slices of names, and dates among the numbers."""

import datetime

import numpy as np
import pytest

from mercer import SVC
from mercer.kernels import RBF, Linear, Spectrum, TfIdf

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame(np.arange(20.0).reshape(4, 5) % 7, columns=list("abcde"))
DAYS = pd.date_range("2020-01-01", periods=4)


def repeated(**others):
    return pd.concat([FRAME[["a", "b"]], FRAME[["c"]].set_axis(["a"], axis=1)], axis=1).assign(
        **others
    )


@pytest.mark.parametrize("others", [{}, {"text": ["u", "v", "w", "x"]}])
def test_a_name_that_two_columns_have_is_refused(others):
    frame = repeated(**others)
    message = "2 columns are named 'a', at the positions 0, 2; select columns by position"
    for ask in (
        lambda: Linear().on_columns(["a"])(frame),
        lambda: RBF().on_columns(["b", "a"]).bind(frame),
        lambda: Linear().on_columns(slice("a", "b"))(frame),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    with pytest.raises(ValueError, match=message if others else "unique column names.*\n.*'a' 2"):
        SVC(kernel=RBF().on_columns("a")).fit(frame, [0, 1, 0, 1])
    exact = FRAME[["c"]] @ FRAME[["c"]].T
    np.testing.assert_allclose(Linear().on_columns([2])(frame), exact)
    np.testing.assert_allclose(Linear().on_columns(["b"])(frame), FRAME[["b"]] @ FRAME[["b"]].T)


def test_vectors_need_no_names():
    frame = repeated()
    np.testing.assert_allclose(Linear()(frame), frame.to_numpy() @ frame.to_numpy().T)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (slice("b", "d"), "bcd"),
        (slice("b", None), "bcde"),
        (slice(None, "b"), "ab"),
        (slice("a", "e", 2), "ace"),
        (slice(1, "c"), "bc"),
        (slice("b", -1), "bcd"),
        (slice(1, 3), "bc"),
    ],
    ids=repr,
)
def test_a_slice_of_names_includes_both_ends(columns, names):
    bound = RBF().on_columns(columns).bind(FRAME)
    assert bound.columns == ["abcde".index(name) for name in names]
    assert bound.kernel == RBF().bind(FRAME[list(names)])
    expected = RBF()(FRAME[list(names)])
    np.testing.assert_allclose(RBF().on_columns(columns)(FRAME), expected)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (slice("a", "z"), ValueError, "unknown column 'z'; the data have a, b, c, d, e"),
        (slice("d", "b"), ValueError, "selects none of the 5 columns"),
        (slice(1.5, 3), TypeError, r"ends of a slice must be positions \(int\) or names .* 1\.5"),
        (slice(0, True), TypeError, "ends of a slice"),
        (slice("a", "b", 0), TypeError, "step of a slice must be an int that is not 0"),
        (slice("a", "b", "c"), TypeError, "step of a slice"),
    ],
    ids=repr,
)
def test_slices_that_make_no_sense(columns, error, message):
    with pytest.raises(error, match=message):
        RBF(1.0).on_columns(columns).bind(FRAME)


def test_a_slice_of_names_needs_names():
    with pytest.raises(ValueError, match="'a' is a name, but the data have no column names"):
        RBF().on_columns(slice("a", "b")).bind(FRAME.to_numpy())


# -- dates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        DAYS.tz_localize("UTC"),
        DAYS - DAYS[0],
        DAYS.to_period("D"),
        [datetime.date(2020, 1, day) for day in range(1, 5)],
        [datetime.timedelta(hours=h) for h in range(4)],
    ],
    ids=["dates", "zone", "durations", "periods", "objects", "differences"],
)
def test_dates_are_no_numbers(values):
    frame = pd.DataFrame({"when": values, "x": [1.0, 2.0, 3.0, 4.0], "s": list("abcd")})
    message = "column 'when' holds dates or times. Turn them into numbers of a unit"
    for ask in (
        lambda: RBF(1.0)(frame[["when"]]),
        lambda: RBF(1.0)(frame[["x", "when"]]),
        lambda: Linear().on_columns(["when"])(frame),
        lambda: (Linear().on_columns(["x", "when"]) + Spectrum(1).on_columns("s"))(frame),
        lambda: SVC(kernel="rbf").fit(frame[["x", "when"]], [0, 1, 0, 1]),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    assert RBF(1.0).on_columns(["x"])(frame).shape == (4, 4)  # the others do not matter


def test_dates_in_arrays_and_polars():
    pl = pytest.importorskip("polars")
    dates = DAYS.to_numpy()[:, None]
    mixed = np.array([[DAYS[0], 1.0], [DAYS[1], 2.0]], dtype=object)
    frame = pl.DataFrame({"when": list(DAYS.to_pydatetime()), "x": [1.0, 2.0, 3.0, 4.0]})
    for X in (dates, dates - dates[0], mixed, frame):
        with pytest.raises(ValueError, match="dates or times"):
            RBF(1.0)(X)
    with pytest.raises(ValueError, match="dates or times"):
        Linear().on_columns(["when"])(frame)
    days = (dates - dates[0]) / np.timedelta64(1, "D")
    assert Linear()(days)[1].tolist() == [0, 1, 2, 3]


def test_columns_of_columns_that_do_not_exist_are_refused_when_they_are_chosen():
    with pytest.raises(ValueError, match="column 1 does not exist"):
        Linear().on_columns([0, 1]).on_columns([1])
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(
        Linear().on_columns([-1]).on_columns([0, 2])(X), np.outer(X[:, 2], X[:, 2])
    )


@pytest.mark.parametrize("kernel", [TfIdf(), Spectrum(2), TfIdf() + Spectrum(2)], ids=repr)
def test_errors_of_a_column_of_objects_name_it(kernel):
    table = pd.DataFrame({"age": [1.0, 2.0], "note": ["sun rain", "wind"]})
    gaps = table.assign(note=["sun rain", None])
    machine = SVC(kernel=kernel.on_columns("note") + RBF(1.0).on_columns(["age"]))
    with pytest.raises((TypeError, ValueError), match=r"column 'note': .*object 1"):
        machine.fit(gaps, [0, 1])
    with pytest.raises((TypeError, ValueError), match=r"column 'note': .*object 1"):
        machine.fit(table, [0, 1]).predict(gaps)
