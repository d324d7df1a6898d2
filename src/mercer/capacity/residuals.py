"""Bounds on the probability of a residual larger than theta.

A regression function is trained in the band |y - f| <= theta - gamma and tested in the band
|y - f| <= theta: the loss margin gamma plays the part of the margin of a classifier.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bound import INDEPENDENT, Bound, Condition, bound, state
from .margin_bounds import KEPT, hard_margin_bound
from .soft_margin import slack_terms

__all__ = ["regression_bound", "regression_slacks", "sse_bound"]

BOOK = "Cristianini and Shawe-Taylor"
QUANTITY = "P(|y - f| > theta)"


def regression_slacks(
    values: ArrayLike, y: ArrayLike, theta: float, margin: float
) -> NDArray[np.float64]:
    """Return the slacks max(0, |y_i - f(x_i)| - (theta - gamma)).

    A slack exceeds gamma exactly where the residual exceeds theta. They are the losses of a
    machine with epsilon = theta - gamma.

    Parameters
    ----------
    values : array-like of shape (l,)
        Values of the function at the training points.
    y : array-like of shape (l,)
        Targets.
    theta : float
        Required accuracy.
    margin : float
        Margin gamma by which residuals must stay below theta.

    Returns
    -------
    ndarray
        The slacks max(0, |y_i - f(x_i)| - (theta - gamma)).

    Examples
    --------
    >>> from mercer.capacity import regression_slacks
    >>> regression_slacks([1.0, 2.0], [1.1, 2.5], theta=0.3, margin=0.1).round(3)
    array([0. , 0.3])
    """
    if not 0 < margin <= theta < math.inf:
        raise ValueError(
            f"need 0 < margin <= theta, both finite; got margin={margin!r}, theta={theta!r}."
        )
    residuals = np.abs(np.asarray(y, dtype=float) - np.asarray(values, dtype=float))
    return np.maximum(0.0, residuals - (theta - margin))


@bound(QUANTITY, assumes=[INDEPENDENT])
def regression_bound(
    n_samples: int,
    radius: float,
    margin: float,
    delta: float = 0.05,
    norm: int | None = None,
    w_norm: float = 1.0,
    slack: float = 0.0,
    c: float = 1.0,
    theta: float | None = None,
    largest_residual: float | None = None,
) -> Bound:
    """Return the bound on the probability that a residual exceeds theta.

    Parameters
    ----------
    n_samples, radius, margin, delta
        Number of samples l, radius R, loss margin gamma, probability of failure.
    norm : {None, 1, 2}
        None: all training residuals are at most theta - gamma, ||w|| = 1; the expression of
        `hard_margin_bound`. 2: (c/l) ((||w||^2 R^2 + ||xi||_2^2) log2(l)^2 / gamma^2 +
        log2(1/delta)). 1: with ||xi||_1^2 log2(1/gamma) for the slacks, gamma < 1.
    w_norm : float, default=1
        Norm of the weight vector; it cannot be rescaled here.
    slack : float, default=0
        ||xi||_2 or ||xi||_1, see `regression_slacks`.
    c : float, default=1
        The constant that the theorems for 1 and 2 do not give.
    theta, largest_residual : float, optional
        If given, the hard bound checks largest_residual <= theta - margin.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import regression_bound
    >>> made = regression_bound(1000, radius=1.0, margin=0.5, norm=2, w_norm=2.0, slack=2**0.5)
    >>> round(float(made), 5)
    2.38793
    """
    if norm not in (None, 1, 2):
        raise ValueError(f"norm must be None, 1 or 2; got {norm!r}.")
    if norm is not None:
        made = slack_terms(n_samples, (w_norm * radius) ** 2, margin, slack, delta, norm, c)
        return replace(made, reference=f"{BOOK}, Theorem {'4.28' if norm == 2 else '4.30'}")
    if slack or w_norm != 1:
        raise ValueError("the hard bound is for ||w|| = 1 and no slack; choose norm=1 or norm=2.")
    within = Condition("all training residuals are at most theta - margin")
    if theta is not None and largest_residual is not None:
        if largest_residual > theta - margin + 1e-12 * theta:
            raise ValueError(
                f"a training residual of {largest_residual:g} exceeds theta - margin = "
                f"{theta - margin:g}: the hard bound does not apply; choose norm=1 or norm=2."
            )
        within = Condition.that(within.what, True, f"{largest_residual:g} <= {theta - margin:g}")
    made = hard_margin_bound(n_samples, radius, margin, delta)
    kept = [condition for condition in made.conditions if condition != KEPT]
    return state(made.terms, *kept, within, reference=f"{BOOK}, Theorem 4.26")


@bound(QUANTITY, f"{BOOK}, Corollary 4.29", [INDEPENDENT])
def sse_bound(
    n_samples: int,
    radius: float,
    w_norm: float,
    sse: float,
    theta: float,
    delta: float = 0.05,
    c: float = 1.0,
) -> Bound:
    """Return the bound from the sum of squared errors: the 2-norm bound with gamma = theta.

    (c/l) ((||w||^2 R^2 + SSE) log2(l)^2 / theta^2 + log2(1/delta)). Ridge regression with
    lambda = R^2 minimises it.

    Parameters
    ----------
    n_samples : int
        Number of training samples l.
    radius : float
        Radius R of a ball around the origin that contains the data in feature space.
    w_norm : float
        Norm of the weight vector.
    sse : float
        Sum of the squared residuals.
    theta : float
        Residuals larger than this count as errors.
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
    >>> from mercer.capacity import sse_bound
    >>> round(float(sse_bound(1000, radius=1.0, w_norm=2.0, sse=2.0, theta=0.5)), 5)
    2.38793
    """
    return slack_terms(n_samples, (w_norm * radius) ** 2, theta, math.sqrt(sse), delta, 2, c)
