"""Symmetry k(x, z) = k(z, x) of values that come from Python functions, checked.

The native statistics are symmetric by their formulas. A user-defined function may be asymmetric,
which a solver does not notice: it reads rows where a product reads columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .matrix import Gram

ASYMMETRY = 1e-5
"""Relative to the largest value: the noise of values computed in float32, whatever their type."""

_SAMPLE = 64  # objects a side of the block that is looked at before anything is computed
_BLOCK = 64  # columns at a time where whole columns are searched


def refuse_asymmetric_sample(gram: Gram, positions: np.ndarray | None = None) -> None:
    """Reject a kernel whose values among some of the objects depend on their order.

    All objects are looked at where they are few, else a sample; kernels without Python are not
    evaluated at all.

    Parameters
    ----------
    gram : Gram
        The kernel matrix.
    positions : array of int, optional
        The names of the objects in the error, by default their positions.

    Returns
    -------
    None
        Raises ValueError where two values differ.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram, refuse_asymmetric_sample
    >>> from mercer.kernels import FromFunction
    >>> kernel = FromFunction(lambda A, B: np.subtract.outer(A[:, 0], 2 * B[:, 0]))
    >>> gram = Gram(kernel, np.array([[1.0], [2.0]]))
    >>> try:
    ...     refuse_asymmetric_sample(gram)
    ... except ValueError as error:
    ...     print("symmetric" in str(error))
    ...
    True
    """
    if not gram.in_python or gram.n == 0:
        return
    rows = np.unique(np.linspace(0, gram.n - 1, min(_SAMPLE, gram.n)).astype(np.int64))
    values = gram.take(rows).tile()
    _compare(gram, values, values.T, rows, rows, positions)


def refuse_asymmetry(gram: Gram, columns: Any, positions: np.ndarray | None = None) -> None:
    """Reject a kernel whose values against some columns of the matrix differ from the rows.

    Every value is evaluated twice, once in each order.

    Parameters
    ----------
    gram, positions : Gram, array of int
        As for :func:`refuse_asymmetric_sample`.
    columns : array of int
        The objects that are compared with all.

    Returns
    -------
    None
        Raises ValueError where two values differ.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram, refuse_asymmetry
    >>> from mercer.kernels import FromFunction
    >>> kernel = FromFunction(lambda A, B: np.subtract.outer(A[:, 0], 2 * B[:, 0]))
    >>> gram = Gram(kernel, np.array([[1.0], [2.0]]))
    >>> try:
    ...     refuse_asymmetry(gram, np.array([0]))
    ... except ValueError as error:
    ...     print("symmetric" in str(error))
    ...
    True
    """
    if not gram.in_python:
        return
    everything = np.arange(gram.n)
    for first in np.array_split(np.asarray(columns), max(1, -(-len(columns) // _BLOCK))):
        if len(first):
            across = gram.tile(first)
            down = gram.matmul(np.eye(len(first)), cols=first).T
            _compare(gram, across, down, first, everything, positions)


def _compare(
    gram: Gram,
    values: np.ndarray,
    mirrored: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    positions: np.ndarray | None,
) -> None:
    difference = np.abs(values - mirrored)
    largest = max(float(np.abs(values).max()), float(np.abs(mirrored).max()))
    if difference.max() <= ASYMMETRY * largest:
        return
    a, b = np.unravel_index(difference.argmax(), difference.shape)
    i, j = int(rows[a]), int(columns[b])
    if positions is not None:
        i, j = int(positions[i]), int(positions[j])
    raise ValueError(
        f"a kernel must be symmetric; k(x_{i}, x_{j}) = {values[a, b]:.6g} but k(x_{j}, x_{i}) = "
        f"{mirrored[a, b]:.6g} for the objects {i} and {j} under {gram.kernel!r}. A function f "
        "that is meant to be symmetric can be made so: lambda A, B: (f(A, B) + f(B, A).T) / 2."
    )
