"""The representer theorem: where the minimiser of a regularised risk can be looked for.

Let H be the space of a kernel and phi_1..phi_m functions that the regulariser leaves free. If the
matrix phi_v(x_i) has rank m, every minimiser of

    sum_i c(x_i, y_i, f(x_i)) + lambda |h|^2   over   f = h + sum_v b_v phi_v,  h in H

has h = sum_i a_i k(x_i, .): what h has outside the span of these leaves all f(x_i) as they are and
only adds to the norm. The cost c may be any function (G. Kimeldorf, G. Wahba, "Some results on
Tchebycheffian spline functions", 1971; A. Smola, *Learning with Kernels*, thesis, 1998, theorem
3.14). Without full rank the b_v are not determined by the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg

from mercer.objects.arrays import Array


def basis_matrix(functions: Sequence[Callable[[Any], Any]], X: Any, tol: float = 1e-10) -> Array:
    """Return the values of unregularised functions at the data, if the data determine them.

    Parameters
    ----------
    functions : sequence of callable
        ``functions[v](X)`` returns the values phi_v(x_i).
    X : objects
        The data.
    tol : float, default=1e-10
        A function whose values are within this share of their length of a combination of the
        other functions' values is dependent on them.

    Returns
    -------
    array of shape (n_X, n_functions)
        The matrix phi_v(x_i), of full column rank. A lower rank is an error that names a
        dependent function.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.geometry import basis_matrix
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> basis_matrix([np.ones_like, lambda x: x], x)
    array([[1., 0.],
           [1., 1.],
           [1., 3.]])
    """
    if not functions:
        raise ValueError("functions is empty; name at least one function.")
    columns = [np.asarray(f(X), dtype=np.float64).reshape(-1) for f in functions]
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise ValueError(f"every function must return one value per object; got {lengths} values.")
    matrix = np.column_stack(columns)
    if not np.isfinite(matrix).all():
        raise ValueError("a function returned NaN or infinity; values must be finite numbers.")
    n, m = matrix.shape
    norms = np.linalg.norm(matrix, axis=0)
    if np.any(norms == 0.0):
        raise ValueError(_dependent(int(np.flatnonzero(norms == 0.0)[0]), n))
    _, R, order = scipy.linalg.qr(matrix / norms, mode="economic", pivoting=True)
    heights = np.abs(np.diagonal(R))
    if n < m or heights[-1] <= tol:
        first = int(np.flatnonzero(heights <= tol)[0]) if np.any(heights <= tol) else n
        raise ValueError(_dependent(int(order[first]), n))
    return matrix


def _dependent(position: int, n: int) -> str:
    return (
        f"function {position} is a combination of the others on these {n} objects, so its "
        "coefficient is not determined by the data; leave it out or add objects."
    )
