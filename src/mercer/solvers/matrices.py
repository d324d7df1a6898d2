"""The classifiers as matrices of a quadratic program, for use with another QP solver.

    minimise  1/2 u'Qu + p'u   subject to  A u >= c

The machines of this library never build these matrices, whose size is that of the data set
squared; they are here for small sets, for teaching and for comparison with general solvers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mercer.objects.arrays import Array

__all__ = [
    "QuadraticProgram",
    "hard_margin_lagrangian",
    "hard_margin_primal_matrices",
    "svm_dual_matrices",
]


class QuadraticProgram(NamedTuple):
    """Minimise 1/2 u'Qu + p'u subject to A u >= c.

    Attributes
    ----------
    Q : ndarray of shape (m, m)
        Quadratic part.
    p : ndarray of shape (m,)
        Linear part.
    A : ndarray of shape (k, m)
        Coefficients of the inequalities.
    c : ndarray of shape (k,)
        Their right-hand sides.

    Examples
    --------
    >>> from mercer.solvers import svm_dual_matrices
    >>> program = svm_dual_matrices([[4, 0], [0, 9]], [1, -1])
    >>> program.Q.tolist(), program.p.tolist()
    ([[4.0, -0.0], [-0.0, 9.0]], [-1.0, -1.0])
    """

    Q: Array
    p: Array
    A: Array
    c: Array


def hard_margin_primal_matrices(X: ArrayLike, y: ArrayLike) -> QuadraticProgram:
    """Return the hard margin in the variables u = (b, w).

    Minimise 1/2 |w|^2 subject to y_n (<w, x_n> + b) >= 1. Q is singular, since b costs nothing.

    Parameters
    ----------
    X, y : array-like of shape (n, d) and (n,)
        Points, and their labels -1 or +1.

    Returns
    -------
    QuadraticProgram

    Examples
    --------
    >>> from mercer.solvers import hard_margin_primal_matrices
    >>> hard_margin_primal_matrices([[2, 0], [0, 3]], [1, -1]).A.tolist()
    [[1.0, 2.0, 0.0], [-1.0, -0.0, -3.0]]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n, d = X.shape
    Q = np.eye(d + 1)
    Q[0, 0] = 0.0
    return QuadraticProgram(
        Q, np.zeros(d + 1), y[:, None] * np.column_stack([np.ones(n), X]), np.ones(n)
    )


def svm_dual_matrices(K: ArrayLike, y: ArrayLike, C: float | None = None) -> QuadraticProgram:
    """Return the dual of the classifier in the multipliers u = alpha.

    Minimise 1/2 sum_mn y_m y_n alpha_m alpha_n K_mn - sum_n alpha_n subject to
    sum_n y_n alpha_n = 0, written as two inequalities, and 0 <= alpha_n [<= C].

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix.
    y : array-like of shape (n,)
        Labels -1 or +1.
    C : float, default=None
        Upper bound of the multipliers; None is the hard margin.

    Returns
    -------
    QuadraticProgram

    Examples
    --------
    >>> from mercer.solvers import svm_dual_matrices
    >>> svm_dual_matrices([[4, 0], [0, 9]], [1, -1]).A.tolist()
    [[1.0, -1.0], [-1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    K, y = np.asarray(K, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = len(y)
    A, c = np.vstack([y, -y, np.eye(n)]), np.zeros(n + 2)
    if C is not None:
        A, c = np.vstack([A, -np.eye(n)]), np.append(c, np.full(n, -float(C)))
    return QuadraticProgram(np.outer(y, y) * K, -np.ones(n), A, c)


def hard_margin_lagrangian(
    w: ArrayLike, b: float, alpha: ArrayLike, X: ArrayLike, y: ArrayLike
) -> float:
    """Return 1/2 |w|^2 + sum_n alpha_n (1 - y_n (<w, x_n> + b)).

    The hard margin is its saddle point: a minimum over (w, b), a maximum over alpha >= 0. Where
    sum_n alpha_n y_n = 0 it does not depend on b.

    Parameters
    ----------
    w, b : array-like of shape (d,) and float
        Normal vector of the hyperplane, and its offset.
    alpha : array-like of shape (n,)
        Multipliers of the constraints.
    X, y : array-like of shape (n, d) and (n,)
        Points, and their labels -1 or +1.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer.solvers import hard_margin_lagrangian
    >>> hard_margin_lagrangian([1.0], 0.0, [0.5, 0.5], [[-1], [1]], [-1, 1])
    0.5
    """
    w, alpha = np.asarray(w, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return float(0.5 * w @ w + alpha @ (1.0 - y * (X @ w + b)))
