"""Regularisers: penalties on the coefficients of an expansion, with their conjugates.

A problem whose ``omega`` is one of them minimises Omega(w) + sum_j c_j l(y_j, z_j) over
z = A w + B m with A the kernel matrix as a design: any symmetric kernel will do, and w are the
coefficients of f = sum_i w_i k(x_i, .). Value and conjugate give the certificate: with phi_j the
conjugate of the j-th loss, -Omega*(A'beta) - sum_j phi_j(beta_j) is a lower bound on the optimum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh

_UNIT = 2.0**-53


class Regulariser(ABC):
    """A convex penalty Omega(w) >= 0 with Omega(0) = 0.

    An optional method ``prox(w, t)``, the minimiser of t Omega(u) + |u - w|^2 / 2, serves proximal
    gradient methods.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import L1, L2
    >>> [omega.value(np.array([3.0, -4.0])) for omega in (L1(2.0), L2(2.0))]
    [14.0, 25.0]
    """

    @abstractmethod
    def value(self, w: Any) -> float:
        """Return Omega(w)."""

    @abstractmethod
    def conjugate(self, v: Any, error: Any = 0.0) -> float:
        """Return the supremum of u'w - Omega(w) over w and all u within `error` of `v`."""

    @abstractmethod
    def violation(self, w: Any, v: Any) -> float:
        """Return by how much an entry of `v` is outside of the subdifferential of Omega at `w`."""

    def rounding(self, w: Any) -> float:
        """Return a bound on the rounding error of :meth:`value`, a sum of terms >= 0."""
        return _UNIT * (len(w) + 8.0) * self.value(w)

    def reach(self, v: Any, error: Any = 0.0) -> float:
        """Return the largest t <= 1 for which t u has a finite conjugate, for all u near `v`."""
        return 1.0


class L1(Regulariser):
    """Omega(w) = lam sum_i |w_i|: few coefficients (basis pursuit, the Lasso).

    Parameters
    ----------
    lam : float, default=1.0
        Weight of the penalty, positive.

    Examples
    --------
    >>> from mercer.losses import L1
    >>> L1(2.0).conjugate([1.0, -2.0]), L1(2.0).conjugate([1.0, -2.1]), L1(2.0).reach([4.0])
    (0.0, inf, 0.5)
    """

    def __init__(self, lam: float = 1.0) -> None:
        self.lam = _positive(lam)

    def value(self, w: Any) -> float:
        """Return Omega(w)."""
        return self.lam * float(np.abs(w).sum())

    def conjugate(self, v: Any, error: Any = 0.0) -> float:
        """Return 0 where no entry exceeds `lam`, infinity elsewhere."""
        return 0.0 if _largest(v, error) <= self.lam else np.inf

    def violation(self, w: Any, v: Any) -> float:
        """Return the largest distance of v_i from lam sign(w_i), or from [-lam, lam] at 0."""
        w, v = np.asarray(w), np.asarray(v)
        off = np.where(w == 0.0, np.abs(v) - self.lam, np.abs(v - self.lam * np.sign(w)))
        return float(off.max(initial=0.0))

    def reach(self, v: Any, error: Any = 0.0) -> float:
        """Return lam over the largest entry, at most 1."""
        return self.lam / max(_largest(v, error), self.lam)

    def prox(self, w: Any, t: float) -> Any:
        """Return the minimiser of t Omega(u) + |u - w|^2 / 2: soft thresholding."""
        return np.sign(w) * np.maximum(np.abs(w) - t * self.lam, 0.0)


class L2(Regulariser):
    """Omega(w) = lam / 2 sum_i w_i^2: weight decay.

    Parameters
    ----------
    lam : float, default=1.0
        Weight of the penalty, positive.

    Examples
    --------
    >>> from mercer.losses import L2
    >>> L2(2.0).conjugate([3.0, 4.0]), L2(2.0).violation([1.5, 2.0], [3.0, 4.0])
    (6.25, 0.0)
    """

    def __init__(self, lam: float = 1.0) -> None:
        self.lam = _positive(lam)

    def value(self, w: Any) -> float:
        """Return Omega(w)."""
        return 0.5 * self.lam * float(np.square(w).sum())

    def conjugate(self, v: Any, error: Any = 0.0) -> float:
        """Return |v|^2 / (2 lam)."""
        return 0.5 * float(np.square(np.abs(v) + error).sum()) / self.lam

    def violation(self, w: Any, v: Any) -> float:
        """Return the largest entry of lam w - v."""
        return float(np.abs(self.lam * np.asarray(w) - v).max(initial=0.0))

    def prox(self, w: Any, t: float) -> Any:
        """Return the minimiser of t Omega(u) + |u - w|^2 / 2."""
        return np.asarray(w) / (1.0 + t * self.lam)


class Quadratic(Regulariser):
    """Omega(w) = 1/2 w' M w, with M = K the norm of f.

    Parameters
    ----------
    matrix : array of shape (n, n)
        M, symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Quadratic
    >>> omega = Quadratic(np.diag([2.0, 8.0]))
    >>> omega.value([1, 1]), round(omega.conjugate([2, 8]), 9), omega.violation([1, 1], [2, 8])
    (5.0, 5.0, 0.0)
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)
        try:
            self._factor = cho_factor(self.matrix, lower=True)
        except (LinAlgError, ValueError) as error:
            raise ValueError("matrix must be symmetric and positive definite.") from error
        values = eigvalsh(self.matrix)
        # Less than the smallest eigenvalue, of which rounding leaves n units of the largest.
        self._smallest = max(float(values[0] - _UNIT * (len(values) + 8.0) * values[-1]), 0.0)

    def value(self, w: Any) -> float:
        """Return Omega(w)."""
        return 0.5 * float(np.asarray(w) @ self.matrix @ w)

    def conjugate(self, v: Any, error: Any = 0.0) -> float:
        """Return a bound on v' M^-1 v / 2, infinity where rounding hides the smallest eigenvalue.

        For every w, v' M^-1 v = 2 v'w - w'Mw + r' M^-1 r with the residual r = v - M w, so that
        rounding of w costs no more than |r|^2 over the smallest eigenvalue; so does an error of v.
        """
        v = np.asarray(v, dtype=np.float64)
        w = cho_solve(self._factor, v)
        roundings = _UNIT * (len(v) + 8.0)
        sizes = np.abs(v) + np.abs(self.matrix) @ np.abs(w)
        square = 2.0 * (float(v @ w) - self.value(w)) + 2.0 * roundings * float(sizes @ np.abs(w))
        off = np.abs(v - self.matrix @ w) + roundings * sizes
        more = np.array([np.linalg.norm(off), np.linalg.norm(np.broadcast_to(error, v.shape))])
        with np.errstate(divide="ignore", invalid="ignore"):
            of_w, of_v = np.where(more > 0.0, more / np.sqrt(self._smallest), 0.0)
        return 0.5 * float(np.sqrt(max(square, 0.0) + of_w**2) + of_v) ** 2

    def rounding(self, w: Any) -> float:
        """Return a bound on the rounding error of :meth:`value`."""
        w = np.abs(w)
        return _UNIT * (len(w) + 8.0) * float(w @ np.abs(self.matrix) @ w)

    def violation(self, w: Any, v: Any) -> float:
        """Return the largest entry of M w - v."""
        return float(np.abs(self.matrix @ w - v).max(initial=0.0))


def _positive(lam: Any) -> float:
    if not 0.0 < float(lam) < np.inf:
        raise ValueError(f"lam must be positive and finite; got {lam!r}.")
    return float(lam)


def _largest(v: Any, error: Any) -> float:
    return float((np.abs(v) + error).max(initial=0.0))
