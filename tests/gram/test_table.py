"""Profiles as piecewise polynomials: the error that is promised is the error there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import kv

from mercer.gram import Gram, Table, evaluate
from tests.gram.programs import on

Array = np.ndarray[Any, np.dtype[np.float64]]


def rough(x: Array) -> Array:
    """The Matern profile of order 0.4, whose slope at 0 is infinite."""
    r = np.sqrt(np.maximum(x, 1e-300))
    return np.where(x > 0, r**0.4 * kv(0.4, r) / (2**-0.6 * 2.218159543757688), 1.0)


FUNCTIONS: dict[str, tuple[Callable[[Array], Array], float, str]] = {
    "rough": (rough, 1500.0, "octaves"),
    "oscillating": (lambda x: np.sinc(np.sqrt(x)), 900.0, "root"),
    "smooth": (lambda x: np.exp(-0.1 * x), 400.0, "even"),
    "growing": (lambda x: np.log1p(x), 1e4, "octaves"),
}


def arguments(end: float) -> Array:
    rng = np.random.default_rng(0)
    return np.concatenate([[0.0], end * rng.random(2000) ** 4, 10.0 ** rng.uniform(-12, 0, 500)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_stay_below_the_bounds(name: str) -> None:
    function, end, grid = FUNCTIONS[name]
    table = Table.fit(function, end, grid=grid, beyond=float(function(np.full(1, end))[0]))
    x = arguments(end)
    exact = function(x)
    scale = np.abs(exact).max()
    assert np.abs(table(x) - exact).max() <= 1e-13 * scale
    rows = np.sqrt(x)[:, None]
    kernel = on("sqdist", ("table", table))
    for dtype, error in (("float64", 1e-13), ("float32", 3e-7)):
        # Against the origin: the squared distance is the argument itself.
        values = evaluate(kernel, np.zeros((1, 1)), rows, dtype=dtype)[0]
        at = (rows.astype(dtype) ** 2)[:, 0].astype(float)
        assert np.abs(values - function(at)).max() <= error * scale
    assert table(0.0) == function(np.zeros(1))[0]


def test_the_native_values_are_those_of_the_table() -> None:
    table = Table.fit(rough, 100.0, beyond=0.25)
    x = np.array([0.0, 1e-200, 1e-40, 0.3, 1.0, 99.9, 150.0, 1e6])
    values = evaluate(on("sqdist", ("table", table)), np.zeros((1, 1)), np.sqrt(x)[:, None])[0]
    np.testing.assert_allclose(values, table(np.sqrt(x) ** 2), rtol=1e-14)
    assert values[-1] == 0.25
    assert Gram(on("sqdist", ("table", table)), np.ones((3, 1))).diag().tolist() == [1.0] * 3


def test_a_piecewise_polynomial_is_exact() -> None:
    # The triangle 1 - r on [0, 1) and (r - 1)^2 on [1, 2), in r = sqrt(x).
    table = Table.exact([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], 4.0, grid="root", beyond=7.0)
    r = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 1.75, 2.0, 3.0])
    expected = [1.0, 0.75, 0.5, 0.0, 0.25, 0.5625, 7.0, 7.0]
    np.testing.assert_array_equal(table(r**2), expected)
    kernel = on("sqdist", ("table", table))
    for dtype in ("float32", "float64"):
        values = evaluate(kernel, np.zeros((1, 1)), r[:, None], dtype=dtype)[0]
        np.testing.assert_array_equal(values, expected)


def test_what_cannot_be_tabulated_is_refused() -> None:
    with pytest.raises(ValueError, match="keeps the error below"):
        Table.fit(lambda x: np.abs(np.sin(300 * x)), 10.0, grid="even")
    with pytest.raises(ValueError, match="finite"):
        Table.fit(lambda x: 1 / x, 10.0)
    with pytest.raises(ValueError, match="grid must be one of"):
        Table.fit(np.exp, 1.0, grid="logarithmic")
    with pytest.raises(ValueError, match="positive number"):
        Table.fit(np.exp, -1.0)
    with pytest.raises(ValueError, match="equal length"):
        Table.exact([[1.0]], 1.0, grid="octaves")
