"""Bounds from the margin of a separating function: covers, fat-shattering, percentiles, orders.

All are for functions <w, x> of unit norm on a ball of radius R around the origin. Logarithms are
base 2. A margin that is read off the data must be paid for: see `stratified`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.objects.parameters import require_choice

from .bound import (
    FIXED_CLASS,
    FIXED_SCALE,
    IN_BALL,
    INDEPENDENT,
    NO_OFFSET,
    Bound,
    Condition,
    bound,
    ln_of,
    state,
)
from .covers import fat_bits
from .dimensions import effective_vc_dimension
from .shattering import signs_of
from .vc import long_enough

__all__ = [
    "best_percentile",
    "covering_margin_bound",
    "fat_margin_bound",
    "hard_margin_bound",
    "hinge_mistake_bound",
    "margin_distribution",
    "margin_rate",
    "n_margin_errors",
    "percentile_bound",
    "stratified",
]

BOOK = "Cristianini and Shawe-Taylor"
KEPT = Condition("all training points have at least this margin")


@bound("error", f"{BOOK}, Theorem 4.9", [INDEPENDENT, FIXED_CLASS, FIXED_SCALE, KEPT])
def covering_margin_bound(
    n_samples: int, ln_n: Any, delta: float = 0.05, margin: float | None = None, variant: str = "cs"
) -> Bound:
    """Return the margin bound (2/l) (log2 N(F, 2l, gamma/2) + log2(2/delta)).

    Parameters
    ----------
    n_samples, delta
        Number of samples l, probability of failure.
    ln_n : float or callable
        ln N on 2l points at half the margin, or a function ``ln_n(eps, n_points)``, which then
        needs `margin`.
    margin : float, optional
        gamma, fixed in advance.
    variant : {"cs", "sm"}, default="cs"
        "sm" takes the cover at gamma instead of gamma / 2, as the thesis sketches; the proof of
        the double sample needs the half.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import covering_margin_bound
    >>> round(float(covering_margin_bound(n_samples=1000, ln_n=20.0)), 5)
    0.06835
    """
    require_choice(variant, "variant", ("cs", "sm"))
    if callable(ln_n) and margin is None:
        raise ValueError("ln_n is a function of the scale: say at which margin.")
    eps = (margin or 0.0) / (2 if variant == "cs" else 1)
    bits = ln_of(ln_n, eps, 2 * n_samples) / math.log(2)
    terms = {
        "complexity": 2 * bits / n_samples,
        "confidence": 2 * math.log2(2 / delta) / n_samples,
    }
    conditions = [long_enough(n_samples, sum(terms.values()))]
    if variant == "sm":
        proof = "a proof with the cover at gamma"
        conditions.append(Condition(proof, "violated", "it needs gamma / 2"))
    return state(terms, *conditions)


@bound("error", f"{BOOK}, Corollary 4.14", [INDEPENDENT, FIXED_SCALE, KEPT])
def fat_margin_bound(
    n_samples: int, radius: float, margin: float, fat_dim: float, delta: float = 0.05
) -> Bound:
    """Return the margin bound of a class with values in [-R, R] from its fat dimension.

    (2/l) (d log2(16 e l R / (d gamma)) log2(128 l R^2 / gamma^2) + log2(4/delta)), with d the
    fat-shattering dimension at gamma / 8.

    Parameters
    ----------
    n_samples : int
        Number of training samples l.
    radius : float
        Radius R of a ball around the origin that contains the data in feature space.
    margin : float
        Geometric margin gamma.
    fat_dim : float
        Fat-shattering dimension of the class at the scale named above.
    delta : float, default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import fat_margin_bound
    >>> round(float(fat_margin_bound(10**6, radius=1.0, margin=0.5, fat_dim=256)), 6)
    0.27219
    """
    bits = fat_bits(fat_dim, 2 * n_samples, 4 * radius / margin)
    terms = {
        "complexity": 2 * bits / n_samples,
        "confidence": 2 * math.log2(4 / delta) / n_samples,
    }
    return state(
        terms,
        Condition.that("fat_dim < n_samples", fat_dim < n_samples, f"{fat_dim:.6g} < {n_samples}"),
        long_enough(n_samples, sum(terms.values())),
    )


@bound("error", f"{BOOK}, Theorem 4.18")
def hard_margin_bound(
    n_samples: int, radius: float, margin: float, delta: float = 0.05, offset: float | None = None
) -> Bound:
    """Return the bound of a hard-margin machine: `fat_margin_bound` with d = 64 R^2 / gamma^2.

    Parameters
    ----------
    n_samples, radius, margin, delta
        Number of samples l, radius R, geometric margin gamma, probability of failure.
    offset : float, optional
        The offset b of <w, x> + b with ||w|| = 1, |b| <= R. The theorem is for functions without
        one; with it, R^2 / gamma^2 grows by the factor 2 (1 + b^2 / R^2).

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Notes
    -----
    Vacuous for normal sample sizes: with R = 1 it falls below 1 at 42 442 samples for a margin of
    1, at 222 015 for 0.5 and at about nine million for 0.1.

    Examples
    --------
    >>> from mercer.capacity import hard_margin_bound
    >>> hard_margin_bound(n_samples=1000, radius=1.0, margin=1.0).sample_complexity()
    42442
    """
    if margin > radius:
        raise ValueError(
            f"margin {margin:g} exceeds radius {radius:g}: a function of unit norm has no value "
            "larger than the radius of the data. Measure the radius of all data."
        )
    conditions = []
    if offset is not None:
        what = "the offset is at most the radius"
        conditions.append(Condition.that(what, abs(offset) <= radius, f"|b| = {abs(offset):g}"))
        margin /= math.sqrt(1 + (offset / radius) ** 2)
        radius *= math.sqrt(2)
    d: Any = effective_vc_dimension(radius, margin)
    made = fat_margin_bound(n_samples, radius, margin, d, delta)
    kept = [c for c in made.conditions if c is not NO_OFFSET or offset is None]
    return state(made.terms, *kept, *conditions)


def stratified(made: Bound) -> Bound:
    """Return a bound that holds for a margin chosen after the data were seen.

    The grid gamma_i = R 2^-i, i = 0, 1, ... is fixed in advance and gamma_i gets the confidence
    delta 2^-(i+1); the largest gamma_i that does not exceed the observed margin is used.

    Parameters
    ----------
    made : Bound
        A bound with inputs `radius`, `margin` and `delta`, such as `hard_margin_bound`.

    Returns
    -------
    Bound
        The bound at the margin of the grid.

    Examples
    --------
    >>> from mercer.capacity import hard_margin_bound, stratified
    >>> made = stratified(hard_margin_bound(10**6, radius=1.0, margin=0.3))
    >>> round(float(made), 5)
    1.10064
    """
    if made.inputs.get("offset") is not None:
        return _stratified_with_offset(made)
    missing = {"radius", "margin", "delta"} - set(made.inputs)
    if missing or made.delta is None:
        raise ValueError(f"{made.name} has no {', '.join(sorted(missing))}: nothing to stratify.")
    radius, margin = made.inputs["radius"], made.inputs["margin"]
    i = max(0, math.ceil(math.log2(radius / margin) - 1e-12))
    chosen = radius * 2.0**-i
    inner = made.at(margin=chosen, delta=made.delta * 2.0 ** -(i + 1))
    chose = Condition.that("the margin is on a grid fixed in advance", True, f"{chosen:g}, i = {i}")
    return dataclasses.replace(
        inner,
        name=f"stratified {made.name}",
        delta=made.delta,
        inputs=made.inputs,
        conditions=(chose, *(c for c in inner.conditions if c != FIXED_SCALE)),
        _function=functools.partial(_stratified_at, made),
    )


def _stratified_at(made: Bound, **inputs: Any) -> Bound:
    """Return the stratified bound with other inputs."""
    return stratified(made.at(**inputs))


def _stratified_with_offset(made: Bound) -> Bound:
    """Stratify the margin of the homogeneous function in the enlarged space, not that of w alone.

    The offset is read off the data as well, so a grid for the margin of w would not be fixed.
    """
    radius, offset = made.inputs["radius"], made.inputs["offset"]
    inner = stratified(
        made.at(
            radius=math.sqrt(2) * radius,
            margin=made.inputs["margin"] / math.sqrt(1 + (offset / radius) ** 2),
            offset=None,
        )
    )
    small = next(c for c in made.conditions if "offset" in c.what)
    return dataclasses.replace(
        inner,
        inputs=made.inputs,
        conditions=(small, *(c for c in inner.conditions if c != NO_OFFSET)),
        _function=functools.partial(_stratified_at, made),
    )


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
    return np.sort(signs_of(y) * np.asarray(f(X), dtype=float).ravel() / w_norm)


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
    ordered = np.sort(within(margins, radius))
    n = len(ordered)
    ranks = np.flatnonzero(ordered[: n - 1] > 0)
    if not len(ranks):
        raise ValueError("no point has a positive margin: the bound says nothing.")
    inside = (radius / ordered[ranks]) ** 2 * math.log2(n) ** 2 + math.log2(1 / delta)
    best = int(ranks[np.argmin((ranks + 1) / n + np.sqrt(c / n * inside))])
    return percentile_bound(n, radius, float(ordered[best]), best + 1, delta, c)


def within(margins: ArrayLike, radius: float) -> NDArray[np.float64]:
    """Return margins as numbers; raise ValueError if one exceeds the radius of the data."""
    values = np.asarray(margins, dtype=float)
    if values.max() > radius * (1 + 1e-9):
        raise ValueError(
            f"radius {radius:g} is smaller than the data: a margin of {values.max():g} needs a "
            "point at least as long."
        )
    return values


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
