"""Bounds from the whole distribution of margins, and the order of the margin bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bound import IN_BALL, INDEPENDENT, NO_OFFSET, Bound, bound, state

__all__ = [
    "best_percentile",
    "hinge_mistake_bound",
    "margin_distribution",
    "margin_rate",
    "n_margin_errors",
    "percentile_bound",
]

BOOK = "Cristianini and Shawe-Taylor"


def margin_distribution(
    f: Callable[[Any], Any], X: Any, y: ArrayLike, w_norm: float = 1.0
) -> NDArray[np.float64]:
    """Return the geometric margins y_i f(x_i) / ||w||, in increasing order.

    Parameters
    ----------
    f : callable
        Real-valued function of many objects, such as ``model.decision_function``.
    X, y
        Objects and their labels, 1 or -1.
    w_norm : float, default=1
        Norm of the weight vector; sqrt(a'Ka) for a kernel expansion with coefficients a.

    Returns
    -------
    ndarray of shape (l,)
        The margins, smallest first.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import margin_distribution
    >>> margin_distribution(lambda X: 2 * X, np.array([1.0, -3.0]), [1, -1], w_norm=2)
    array([1., 3.])
    """
    if not w_norm > 0:
        raise ValueError(f"w_norm must be positive; got {w_norm!r}.")
    labels = np.asarray(y, dtype=float)
    if not np.all(np.abs(labels) == 1):
        raise ValueError("y must be labels 1 and -1.")
    return np.sort(labels * np.asarray(f(X), dtype=float).ravel() / w_norm)


def n_margin_errors(margins: ArrayLike, margin: float) -> int:
    """Return the number of points whose margin is smaller than `margin`.

    Parameters
    ----------
    margins : array-like of shape (l,)
        Geometric margins of the training points.
    margin : float
        The target margin.

    Returns
    -------
    int
        The number of points whose margin is smaller than `margin`.

    Examples
    --------
    >>> from mercer.capacity import n_margin_errors
    >>> n_margin_errors([-0.1, 0.2, 0.5], 0.5)
    2
    """
    return int(np.sum(np.asarray(margins, dtype=float) < margin))


@bound("error", f"{BOOK}, Theorem 4.19", [INDEPENDENT, NO_OFFSET, IN_BALL], relative=True)
def percentile_bound(
    n_samples: int,
    radius: float,
    margin: float,
    rank: int,
    delta: float = 0.05,
    c: float = 1.0,
) -> Bound:
    """Return the margin percentile bound k/l + sqrt((c/l) (R^2 log2(l)^2 / M^2 + log2(1/delta))).

    Parameters
    ----------
    n_samples, radius, delta
        Number of samples l, radius R, probability of failure.
    margin : float
        M, the k-th smallest margin, positive.
    rank : int
        k, from 1 to l - 1.
    c : float, default=1
        The constant that the theorem does not give.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import percentile_bound
    >>> round(float(percentile_bound(10**5, radius=1.0, margin=0.5, rank=100)), 6)
    0.106254
    """
    if not 1 <= rank < n_samples:
        raise ValueError(f"rank must lie between 1 and n_samples - 1; got {rank}.")
    inside = (radius / margin) ** 2 * math.log2(n_samples) ** 2 + math.log2(1 / delta)
    deviation = math.sqrt(c / n_samples * inside)
    return state({"margin errors": rank / n_samples, "deviation": deviation})


def best_percentile(
    margins: ArrayLike, radius: float, delta: float = 0.05, c: float = 1.0
) -> Bound:
    """Return the smallest percentile bound over all ranks with a positive margin.

    The theorem holds for all ranks at once, so nothing is paid for the choice; but which rank is
    best depends on the unknown constant c.

    Parameters
    ----------
    margins : array-like of shape (l,)
        Geometric margins of the training points.
    radius : float
        Radius R of a ball around the origin that contains the data in feature space.
    delta : float, default=0.05
        Probability with which the bound may fail.
    c : float, default=1
        The constant that the theorem leaves unspecified.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import best_percentile
    >>> best_percentile(np.linspace(-0.1, 1.0, 2000), radius=1.0, c=0.01).inputs["rank"]
    481
    """
    ordered = np.sort(np.asarray(margins, dtype=float))
    if ordered[-1] > radius * (1 + 1e-9):
        raise ValueError(
            f"radius {radius:g} is smaller than the data: a margin of {ordered[-1]:g} needs a "
            "point at least as long."
        )
    n = len(ordered)
    ranks = np.flatnonzero(ordered[: n - 1] > 0)
    if not len(ranks):
        raise ValueError("no point has a positive margin: the bound says nothing.")
    inside = (radius / ordered[ranks]) ** 2 * math.log2(n) ** 2 + math.log2(1 / delta)
    best = int(ranks[np.argmin((ranks + 1) / n + np.sqrt(c / n * inside))])
    return percentile_bound(n, radius, float(ordered[best]), best + 1, delta, c)


@bound("error", "Honavar, error orders", [INDEPENDENT], relative=True)
def margin_rate(n_samples: int, radius: float, margin: float, c: float = 1.0) -> Bound:
    """Return the order (c/l) (R / gamma)^2 of the error of a separating hyperplane.

    Parameters
    ----------
    n_samples : int
        Number of training samples l.
    radius : float
        Radius R of a ball around the origin that contains the data in feature space.
    margin : float
        Geometric margin gamma.
    c : float, default=1
        The constant that the theorem leaves unspecified.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import margin_rate
    >>> round(float(margin_rate(n_samples=4, radius=3.0, margin=0.5**0.5)), 9)
    4.5
    """
    return state({"margin": c / n_samples * (radius / margin) ** 2})


@bound(
    "mistakes of a perceptron",
    "Novikoff; Gentile and Warmuth (1999)",
    [IN_BALL, NO_OFFSET],
    trivial=None,
)
def hinge_mistake_bound(radius: float, margin: float, slack: float = 0.0) -> Bound:
    r"""Return the bound on the mistakes of a perceptron in one pass, by any linear function.

    With s the sum of the slacks max(0, gamma - y_i <u, x_i>) of a unit vector u,

    .. math:: \sqrt M \le \frac{R}{2 \gamma} + \sqrt{\frac{R^2}{4 \gamma^2} + \frac{s}{\gamma}} .

    Without slacks it is Novikoff's R^2 / gamma^2. No distribution is assumed: after M mistakes
    <w, u> is at least gamma M - s, and the length of w at most R sqrt(M).

    Parameters
    ----------
    radius : float
        Radius R of a ball around the origin that contains the data in feature space.
    margin : float
        Target margin gamma of the unit vector u.
    slack : float, default=0
        Sum s of the slacks, their 1-norm.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import hinge_mistake_bound
    >>> float(hinge_mistake_bound(radius=3.0, margin=1.0))
    9.0
    """
    half = radius / (2 * margin)
    root = half + math.sqrt(half**2 + slack / margin)
    separable = (2 * half) ** 2
    return state({"margin": separable, "slack": root**2 - separable})
