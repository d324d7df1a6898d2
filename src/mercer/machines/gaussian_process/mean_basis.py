"""Functions of the prior mean whose coefficients are not penalised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import ParameterError
from mercer.objects.rows import dense
from mercer.objects.validation import count

Array = NDArray[np.float64]


def mean_basis(basis: str | Callable[[Any], Any] | None, X: Any) -> Array | None:
    """Return the values of the basis at objects, of shape (n, p).

    `basis`: the parameter of the estimator. `X`: validated objects.
    """
    if basis is None:
        return None
    if isinstance(basis, str):
        ones = np.ones((count(X), 1))
        if basis == "constant":
            return ones
        if basis != "linear":
            raise ParameterError(
                f"basis must be None, 'constant', 'linear' or a function of X; got {basis!r}."
            )
        if getattr(X, "ndim", 0) != 2:
            raise ParameterError("basis='linear' needs rows of numbers.")
        rows = dense(X)
        return np.hstack([ones, rows])
    if not callable(basis):
        raise ParameterError(
            f"basis must be None, 'constant', 'linear' or a function of X; got {basis!r}."
        )
    values = np.asarray(basis(X), dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != count(X):
        raise ValueError(
            f"the basis function must return one row for each of the {count(X)} objects; got shape "
            f"{values.shape}."
        )
    return values
