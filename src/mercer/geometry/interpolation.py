"""The smoothest function through given values: interpolation of least norm.

Among all functions of the space with f(x_i) = y_i the one of least norm is f = sum_i a_i k(x_i, .)
with Ka = y. If the values are those of a function t of the space, it is the projection of t on
the span of the k(x_i, .), so |f - t|^2 = |t|^2 - y'a (N. Cristianini and J. Shawe-Taylor, *An
Introduction to Support Vector Machines* (2000), example 3.11).

A conditionally positive definite kernel has a seminorm, which does not see polynomials of degree
below its order, and the function of least seminorm is f = sum_i c_i k(x_i, .) + sum_j b_j p_j with

    K c + V b = y,   V'c = 0,   V_ij = p_j(x_i),

which has one solution where no polynomial but 0 vanishes at all x_i (C. Micchelli, "Interpolation
of scattered data: distance matrices and conditionally positive definite functions", Constructive
Approximation 2, 1986). Values of a polynomial are answered with that polynomial, c = 0. With
V = QR and Z an orthonormal basis of the c with V'c = 0, both from one orthogonal decomposition,
c = Zu with the positive definite system Z'KZ u = Z'y, and Rb = Q'(y - Kc).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from mercer.expansion import Expansion
from mercer.kernels import OnColumns
from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.objects.arrays import Array
from mercer.objects.validation import count

from .cholesky import ZERO_RESIDUAL, pivoted_cholesky
from .functions import RKHSFunction

_EPS = float(np.finfo(float).eps)


@kernel_first
def interpolate(
    kernel: Kernel, X: Any, y: ArrayLike, tol: float = 1e-6
) -> RKHSFunction | Expansion:
    """Return the function of least norm that takes given values at given objects.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, or a conditionally positive definite one such as
        ``ThinPlate()``; bound to `X` if it has to be.
    X : objects
        The objects x_i. Dependent ones are allowed where their values agree with the others. With
        a kernel of order 2 they must not all lie on a line, in d dimensions on a hyperplane.
    y : array-like of shape (n_X,)
        The values y_i.
    tol : float > 0, default=1e-6
        How far from its value the function may be, relative to the largest |y_i|. No function
        of the space may come that near (equal objects with different values, more values than
        features); that is an error.

    Returns
    -------
    RKHSFunction or Expansion
        The function, an expansion over the independent ones among the objects. With a
        conditionally positive definite kernel it is an expansion with a constant (``intercept``)
        and, for order 2, a linear function (``poly_coef``) beside it; these cost nothing, and
        ``norm2()`` is the squared seminorm.

    Examples
    --------
    >>> from mercer.geometry import interpolate
    >>> from mercer.kernels import RBF, ThinPlate
    >>> f = interpolate(RBF(gamma=1.0), [[0.0], [1.0], [2.0]], [1.0, 0.0, 1.0])
    >>> f([[0.0], [1.0], [2.0]]).round(9) + 0.0
    array([1., 0., 1.])

    A plane is a plane everywhere:

    >>> corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> f = interpolate(ThinPlate(), corners, [1.0, 2.0, 3.0, 4.0])
    >>> f([[10.0, 20.0]]).round(9)
    array([51.])
    """
    kernel, X = kernel.bound_to(X)
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (count(X),):
        raise ValueError(
            f"y must have one value for each of the {count(X)} objects; got shape {y.shape}."
        )
    if not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity; values must be finite numbers.")
    f = _with_polynomials(kernel, X, y) if kernel.definiteness.order else _alone(kernel, X, y)
    reached = f(X)
    missed = np.abs(reached - y)
    worst = int(missed.argmax())
    if missed[worst] > tol * np.abs(y).max():
        raise ValueError(
            f"no function of the space of {kernel!r} was found that takes these values: at object "
            f"{worst} the value is {y[worst]:.6g}, but the function has {reached[worst]:.6g}. "
            "Either the values contradict each other, or the kernel is so wide that rounding "
            "decides; remove contradictions, narrow the kernel or fit with regularisation."
        )
    return f


def _alone(kernel: Kernel, X: Any, y: Array) -> RKHSFunction:
    """Return the interpolating function of the space of a positive semidefinite kernel."""
    found = pivoted_cholesky(kernel, X, tol=0.0)
    inner = scipy.linalg.solve_triangular(found.triangle, y[found.pivots], lower=True)
    coef = scipy.linalg.solve_triangular(found.triangle, inner, lower=True, trans="T")
    return RKHSFunction(kernel, found.landmarks, coef)


def _with_polynomials(kernel: Kernel, X: Any, y: Array) -> Expansion:
    """Return the interpolating function of least seminorm, with its polynomial."""
    coordinates, columns = _coordinates(kernel, X)
    # About their middle and in units of their extent, columns far from 0 lose no digits.
    middle = coordinates.mean(axis=0)
    centred = coordinates - middle
    extent = np.abs(centred).max(axis=0, initial=0.0)
    _require_unisolvent(kernel, coordinates, centred, extent)
    m = 1 + coordinates.shape[1]
    Q, R = scipy.linalg.qr(np.hstack([np.ones((len(y), 1)), centred / extent]))
    free = Q[:, m:].T @ y
    if np.linalg.norm(free) <= len(y) * _EPS * np.linalg.norm(y):
        free[:] = 0.0  # the values are those of a polynomial
    K = kernel._values(X, X)
    coef = Q[:, m:] @ _solve(Q[:, m:].T @ K @ Q[:, m:], free)
    polynomial = scipy.linalg.solve_triangular(R[:m], Q[:, :m].T @ (y - K @ coef))
    slopes = polynomial[1:] / extent
    intercept = polynomial[0] - slopes @ middle
    if kernel.definiteness.order != 2:
        return Expansion(kernel, X, coef, intercept)
    return Expansion(kernel, X, coef, intercept, poly_coef=slopes, poly_columns=columns)


def _coordinates(kernel: Kernel, X: Any) -> tuple[Array, list[int]]:
    """Return the rows of the linear functions beside a kernel, and the columns they use."""
    if kernel.definiteness.order == 1:
        return np.empty((count(X), 0)), []
    if not (sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind == "f")):
        raise ValueError(
            f"{kernel!r} is {kernel.definiteness}: it needs an unpenalised linear term in all "
            "columns, so all must be numbers. Pass the columns of its part of order 2 alone."
        )
    columns, inner = list(range(X.shape[1])), kernel
    while isinstance(inner, OnColumns):
        columns, inner = [columns[i] for i in inner.columns], inner.kernel
    return kernel.null_space(X)[:, 1:], columns


def _require_unisolvent(kernel: Kernel, coordinates: Array, centred: Array, extent: Array) -> None:
    """Reject objects at which a linear function other than 0 vanishes."""
    n, d = coordinates.shape
    rounding = 4.0 * _EPS * np.abs(coordinates).max(axis=0, initial=0.0)
    rank = 0
    if d and np.all(extent > rounding):
        sizes = scipy.linalg.svdvals(centred / extent)
        noise = max(n, d) * max(_EPS, float((rounding / extent).max()))
        rank = int(np.count_nonzero(sizes > noise * sizes[0]))
    if rank == d:
        return
    constant = np.flatnonzero(extent <= rounding)
    if n <= d:
        why = f"a linear function of {d} columns has {d + 1} coefficients"
    elif len(constant):
        why = f"column {constant[0]} of them is constant"
    else:
        why = "all lie on a " + {2: "line", 3: "plane"}.get(d, "hyperplane")
    raise ValueError(
        f"the {n} objects do not determine the unpenalised linear term of {kernel!r}: {why}. Add "
        "objects, leave dependent columns out with on_columns, or use a kernel without such a "
        "term, such as Multiquadric()."
    )


def _solve(A: Array, values: Array) -> Array:
    """Solve Au = values for a positive semidefinite A; what depends on the rest gets 0."""
    if not values.any():
        return np.zeros_like(values)
    tol = ZERO_RESIDUAL * float(np.diagonal(A).max())
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(A, tol=tol, lower=1)
    order, L = pivots[:rank] - 1, factor[:rank, :rank]
    u = np.zeros_like(values)
    u[order] = scipy.linalg.cho_solve((L, True), values[order])
    return u
