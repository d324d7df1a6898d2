"""Conditional positive definiteness: null spaces, projections, and a test of profiles.

A kernel is conditionally positive definite of order p when sum_ij c_i c_j k(x_i, x_j) >= 0 for all
c with sum_i c_i q(x_i) = 0 for every polynomial q of degree below p. For a radial kernel
k(x, z) = h(||x - z||^2) on vectors of every dimension, this is so if and only if h is completely
monotonic of order p: (-1)^n h^(n)(t) >= 0 for all n >= p and t > 0 (Schoenberg, Micchelli).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from mercer.numerics.symmetric_matrices import projected_matrix
from mercer.objects.parameters import integer
from mercer.objects.rows import dense
from mercer.objects.validation import count

from .first_argument import kernel_first


def polynomial_basis(X: Any, order: int) -> np.ndarray:
    """Return a basis of the polynomials of degree below an order, evaluated at vectors.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Vectors; any objects where the order is below 2.
    order : {0, 1, 2}
        0: no polynomials; 1: the constant; 2: the constant and the coordinates.

    Returns
    -------
    ndarray of shape (n_samples, n_polynomials)
        One column for each polynomial.

    Examples
    --------
    >>> from mercer.kernels import polynomial_basis
    >>> polynomial_basis([[2.0, 3.0]], order=2)
    array([[1., 2., 3.]])
    """
    if integer(order, "order", minimum=0) > 2:
        raise ValueError(
            f"polynomials of degree below {order} in d variables are C(d + {order - 1}, d) "
            "constraints, too many to be practical; use a kernel of order 2 or less."
        )
    n = len(X) if isinstance(X, list) else count(X)
    if order < 2:
        return np.ones((n, order))
    return np.hstack([np.ones((n, 1)), dense(X)])


def project_gram(K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return a kernel matrix without its part in the span of some columns.

    (1 - P) K (1 - P) with P the orthogonal projection onto the columns of V. With one constant
    column this centres the features. For coefficients c with V'c = 0 the quadratic form is that
    of K; for a conditionally positive definite kernel and the matching polynomials the result is
    positive semidefinite.

    Parameters
    ----------
    K : array of shape (n, n)
        A symmetric matrix.
    V : array of shape (n, n_columns)
        Columns to be removed, such as :meth:`Kernel.null_space` returns; they may be dependent.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import project_gram
    >>> project_gram(np.array([[0.0, -1.0], [-1.0, 0.0]]), np.ones((2, 1)))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    return projected_matrix(np.asarray(K, dtype=np.float64), orthonormal(V))


def orthonormal(V: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span of the columns, by a QR with pivoting."""
    V = np.asarray(V, dtype=np.float64)
    Q, R, _ = qr(V, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    rank = int(np.count_nonzero(size > max(V.shape) * np.finfo(float).eps * size.max(initial=0.0)))
    return Q[:, :rank]


@kernel_first
def seminorm2(kernel: Any, X: Any, coef: Any) -> float:
    """Return the squared seminorm c'Kc of the expansion sum_i c_i k(x_i, .).

    For a conditionally positive definite kernel it is one, and not negative, only if the
    coefficients are orthogonal to the polynomials of the null space, which is checked. The
    polynomials themselves have the seminorm 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel, positive semidefinite or conditionally so.
    X : objects
        The objects x_i.
    coef : array of shape (n_X,)
        The coefficients c.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer.kernels import NegativeDistance, seminorm2
    >>> seminorm2(NegativeDistance(), [[0.0], [3.0]], [1.0, -1.0])
    6.0
    """
    kernel = kernel.bind(X)
    c = np.asarray(coef, dtype=np.float64)
    V = kernel.null_space(X)
    if V.shape[1]:
        left = np.abs(V.T @ c)
        allowed = 1e-9 * (np.abs(V).T @ np.abs(c))
        if np.any(left > allowed):
            what = "sum to zero" if int(np.argmax(left - allowed)) == 0 else "balance the vectors"
            raise ValueError(
                f"{kernel!r} is {kernel.definiteness}: the coefficients must {what}, but "
                f"sum_i c_i q(x_i) = {float(left.max()):.6g} for a polynomial q of its null space."
            )
    return float(c @ kernel(X) @ c)


class Monotonicity(NamedTuple):
    """Result of a test of complete monotonicity.

    Attributes
    ----------
    holds : bool
        Whether no sign was wrong. True is evidence, False is proof.
    degree : int or None
        The number of the difference whose sign is wrong.
    at : float or None
        Where.
    value : float or None
        (-1)^n times the difference there, which should not be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import completely_monotonic
    >>> completely_monotonic(lambda x: np.exp(-x)).holds, completely_monotonic(np.cos).holds
    (True, False)
    """

    holds: bool
    degree: int | None = None
    at: float | None = None
    value: float | None = None


def completely_monotonic(
    profile: Callable[[np.ndarray], Any], order: int = 0, *, end: float = 10.0, highest: int = 8
) -> Monotonicity:
    """Test whether a profile is completely monotonic of an order.

    (-1)^n h^(n) >= 0 on t > 0 for all n >= order means that the n-th forward differences of h,
    of any step, have the sign (-1)^n. They are computed up to the degree `highest` on grids of
    several steps, and only what exceeds their rounding error counts.

    Parameters
    ----------
    profile : callable
        h, vectorised, where k(x, z) = h(||x - z||^2).
    order : int >= 0, default=0
        The order p. With 0 the kernel is positive semidefinite in every dimension; with 1 or 2 it
        is conditionally so.
    end : float > 0, default=10.0
        The differences are taken on [0, end].
    highest : int >= 1, default=8
        The highest difference.

    Returns
    -------
    Monotonicity
        The verdict, with a witness where it is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import completely_monotonic
    >>> completely_monotonic(lambda t: np.exp(-t)).holds
    True
    >>> completely_monotonic(lambda t: -np.sqrt(t + 1)).holds
    False
    >>> completely_monotonic(lambda t: -np.sqrt(t + 1), order=1).holds
    True
    """
    integer(order, "order", minimum=0)
    integer(highest, "highest", minimum=1)
    eps = np.finfo(float).eps
    for n_steps in (16, 64, 256):
        t = np.linspace(0.0, end, n_steps + 1)
        values = np.asarray(profile(t), dtype=np.float64)
        if not np.isfinite(values[1:]).all():
            raise ValueError("the profile must be finite for t > 0.")
        if not np.isfinite(values[0]):
            t, values = t[1:], values[1:]
        largest = np.abs(values).max()
        for n in range(max(highest, order) + 1):
            if n >= order:
                # A difference is a sum of values whose coefficients add up to 2^n.
                rounding = 4.0 * 2.0**n * eps * largest
                differences = (-1.0) ** n * np.diff(values, n)
                i = int(np.argmin(differences))
                if differences[i] < -rounding:
                    return Monotonicity(False, n, float(t[i]), float(differences[i]))
    return Monotonicity(True)
