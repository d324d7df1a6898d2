r"""Criteria of a kernel that need no validation data, with their gradients by the kernel matrix.

For two classes, in the space of K~ = K + I / (2 C), in which the 2-norm soft margin is a hard one:

    radius/margin   R^2 |w|^2,  a bound on n times the leave-one-out error;
    span            sum_i psi(alpha_i S_i^2 - 1),  psi(x) = 1 / (1 + exp(-5 x)): a smooth count of
                    the rows that the machine trained without them gets wrong;

with R the radius of the smallest ball, alpha the multipliers, and S_i the distance of row i from
the span of the other support vectors, smoothed by eta / alpha_j on the diagonal so that it does not
jump when a support vector appears (O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee, "Choosing
multiple parameters for support vector machines", *Machine Learning* 46, 2002). For any target:

    alignment       1 - the centred alignment of K with the target matrix (C. Cortes, M. Mohri, A.
                    Rostamizadeh, JMLR 13, 2012).

The gradient of each by a parameter is sum_ij W_ij dK_ij / dtheta with a matrix W that follows from
the solution alone: multipliers and radius are optimal, or enter through the linear system that
they solve.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.special import expit

from mercer.geometry.ball import solve_ball
from mercer.gram import Gram
from mercer.inspection.targets import target_codes
from mercer.kernels import Kernel
from mercer.machines import SVC

Array = NDArray[np.float64]

_STEEPNESS = 5.0  # of the sigmoid that counts errors, as in the paper
_TOL = 1e-8  # of machines and balls, whose errors enter the gradient
_SUPPORT = 1e-9  # multipliers below this share of the largest one are none


class Value(NamedTuple):
    """A criterion at one kernel: its value and its derivatives by K and by the ridge 1 / (2 C)."""

    value: float
    weights: Array
    by_ridge: float


class Criterion(Protocol):
    """Base of the criteria that a search over kernel parameters minimises."""

    needs_cost: bool

    def __call__(self, kernel: Kernel, X: Any, y: Any, C: float) -> Value:
        """Return the criterion of a bound kernel on checked objects."""
        ...


class RadiusMargin:
    """R^2 |w|^2 of the 2-norm soft margin."""

    needs_cost = True

    def __call__(self, kernel: Kernel, X: Any, y: Any, C: float) -> Value:
        """Return R^2 |w|^2 and its derivatives."""
        ridge = 0.5 / C
        beta, _, _ = _machine(kernel, X, y, C)
        K = Gram(kernel, X, dtype="float64").tile()
        norm2 = float(beta @ (K @ beta)) + ridge * float(beta @ beta)
        ball = solve_ball(kernel, X, ridge, 1e-9, None)
        b = ball.coef
        # The dual value at the centre: its error is of second order in that of the centre.
        radius2 = float(b @ np.diagonal(K)) + ridge - float(b @ (K @ b)) - ridge * float(b @ b)
        W = norm2 * (np.diag(b) - np.outer(b, b)) - radius2 * np.outer(beta, beta)
        return Value(radius2 * norm2, W, float(np.trace(W)))


class Span:
    """A smooth count of the leave-one-out errors that the span rule predicts.

    Parameters
    ----------
    eta : float, default=1e-3
        Smoothing, relative to the mean of k(x, x).
    """

    needs_cost = True

    def __init__(self, eta: float = 1e-3) -> None:
        self.eta = eta

    def __call__(self, kernel: Kernel, X: Any, y: Any, C: float) -> Value:
        """Return the count and its derivatives."""
        beta, signs, _ = _machine(kernel, X, y, C)
        K = Gram(kernel, X, dtype="float64").tile()
        n = len(beta)
        rows = np.flatnonzero(np.abs(beta) > _SUPPORT * np.abs(beta).max())
        alpha, sign, b = np.abs(beta[rows]), signs[rows], beta[rows]
        m = len(rows)
        eta = self.eta * float(np.mean(np.diagonal(K)))
        border = np.zeros((m + 1, m + 1))
        border[:m, :m] = K[np.ix_(rows, rows)] + 0.5 / C * np.eye(m)
        border[:m, m] = border[m, :m] = 1.0
        Q = scipy.linalg.inv(border)[:m, :m]
        smooth = border.copy()
        smooth[np.arange(m), np.arange(m)] += eta / alpha
        P = scipy.linalg.inv(smooth)[:m, :m]
        pivot = np.diagonal(P)
        span2 = 1.0 / pivot - eta / alpha
        count = expit(_STEEPNESS * (alpha * span2 - 1.0))
        slope = _STEEPNESS * count * (1.0 - count)
        value = float(count.sum()) + (n - m) * float(expit(-_STEEPNESS))
        by_span = slope * alpha / pivot**2
        # alpha acts directly, and through the smoothing.
        by_shift = (P**2) @ by_span - slope * alpha
        by_alpha = slope * span2 - by_shift * eta / alpha**2
        through = Q @ (sign * by_alpha)
        inner = (P * by_span) @ P - 0.5 * (np.outer(through, b) + np.outer(b, through))
        # The smoothing is in units of the mean of k(x, x).
        W = np.eye(n) * (self.eta / n * float(np.sum(by_shift / alpha)))
        W[np.ix_(rows, rows)] += inner
        return Value(value, W, float(np.trace(inner)))


class Alignment:
    """1 minus the centred alignment with the target."""

    needs_cost = False

    def __call__(self, kernel: Kernel, X: Any, y: Any, C: float) -> Value:
        """Return 1 minus the alignment, and its derivatives."""
        K = np.asarray(Gram(kernel, X, dtype="float64").tile())
        codes = target_codes(y, len(K))
        codes = codes - codes.mean(axis=0)
        target = codes @ codes.T
        centred = K - K.mean(axis=0) - (K.mean(axis=1) - K.mean())[:, None]
        size, other = float(np.linalg.norm(centred)), float(np.linalg.norm(target))
        if size <= 1e-14 * float(np.linalg.norm(K)) or other == 0.0:
            return Value(1.0, np.zeros_like(K), 0.0)
        product = float(np.sum(centred * target))
        aligned = product / (size * other)
        W = aligned * centred / size**2 - target / (size * other)
        return Value(1.0 - aligned, W, float(np.trace(W)))


CRITERIA: dict[str, Criterion] = {
    "radius_margin": RadiusMargin(),
    "span": Span(),
    "alignment": Alignment(),
}


def _machine(kernel: Kernel, X: Any, y: Any, C: float) -> tuple[Array, Array, float]:
    """Return signed multipliers, labels and intercept of the 2-norm soft margin."""
    machine = SVC(kernel=kernel, C=C, penalty_norm=2, tol=_TOL, dtype="float64")
    machine.fit(X, y)
    if len(machine.classes_) != 2:
        raise ValueError(
            f"this criterion is defined for two classes; got {len(machine.classes_)}. Use "
            "criterion='alignment', or pairs of classes."
        )
    signs = np.where(np.asarray(y) == machine.classes_[1], 1.0, -1.0)
    alpha = np.asarray(machine.alpha_, dtype=np.float64)
    if not math.isfinite(float(alpha.sum())):
        raise FloatingPointError("the multipliers are not finite.")
    return alpha * signs, signs, float(machine.intercept_[0])
