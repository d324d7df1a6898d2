"""Choosing among bounds after the data were seen: luckiness, and PAC-Bayes.

A luckiness function measures on the data how well they suit the class: a large margin, few support
vectors. Preferring one is a prior belief; using several costs a share of the confidence each.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .bound import INDEPENDENT, Bound, Condition, bound, state
from .margin_bounds import hard_margin_bound, stratified
from .sample_compression import compression_bound
from .vc import vc_bound

__all__ = ["LUCKINESS", "Luckiness", "best_bound", "luckiest", "pac_bayes_bound"]


@dataclass(frozen=True)
class Luckiness:
    """A measure of luck: which quantities it reads, and the bound that they give.

    Attributes
    ----------
    needs : tuple of str
        Names of the quantities that the bound reads.
    bound : callable
        Function of these quantities that returns a `Bound`.

    Examples
    --------
    >>> from mercer.capacity import LUCKINESS
    >>> LUCKINESS["margin"].needs
    ('n_samples', 'radius', 'margin')
    """

    needs: tuple[str, ...]
    bound: Callable[..., Bound]


LUCKINESS: dict[str, Luckiness] = {
    "margin": Luckiness(
        ("n_samples", "radius", "margin"), lambda **given: stratified(hard_margin_bound(**given))
    ),
    "support vectors": Luckiness(
        ("n_samples", "n_sv"), lambda **given: compression_bound(base=math.e, **given)
    ),
    "dimension": Luckiness(("n_samples", "vc_dim"), vc_bound),
}
"""Measures of luck by name; add your own."""


def best_bound(*bounds: Bound, shares: Any = None) -> Bound:
    """Return the smallest of several bounds, with the confidence shared among them.

    Each is evaluated again with its share of the confidence (the same for all by default), so the
    smallest one may be quoted although it was chosen after the data were seen.

    Parameters
    ----------
    *bounds : Bound
        Bounds on one quantity, all with the same delta.
    shares : sequence of float, optional
        Positive numbers that sum to at most 1, one per bound, fixed before the data were seen.

    Returns
    -------
    Bound
        The smallest of the bounds, with its share of delta.

    Examples
    --------
    >>> from mercer.capacity import best_bound, compression_bound, vc_bound
    >>> made = best_bound(vc_bound(1000, vc_dim=200), compression_bound(20, 1000))
    >>> made.name, round(float(made), 4), made.delta
    ('best of 2: compression_bound', 0.1602, 0.05)
    """
    if not bounds:
        raise ValueError("best_bound needs at least one bound.")
    delta = bounds[0].delta
    if delta is None or any(b.delta != delta for b in bounds):
        raise ValueError("the bounds must all have the same delta.")
    quantities = {"error" if b.quantity == "risk" else b.quantity for b in bounds}
    if len(quantities) > 1 or any(b.side == "lower" for b in bounds):
        raise ValueError(f"upper bounds on one quantity are wanted; got {sorted(quantities)}.")
    parts = [1 / len(bounds)] * len(bounds) if shares is None else list(shares)
    if len(parts) != len(bounds) or min(parts) <= 0 or sum(parts) > 1 + 1e-12:
        raise ValueError("shares must be positive, one per bound, and sum to at most 1.")
    candidates = [b.at(delta=delta * part) for b, part in zip(bounds, parts, strict=True)]
    best = min(candidates, key=lambda b: (not b.certified, b.value))
    evidence = f"{len(bounds)} bounds, delta = {best.delta:g} for this one"
    shared = Condition.that("the confidence is shared among the candidates", True, evidence)
    return dataclasses.replace(
        best,
        name=f"best of {len(bounds)}: {best.name}",
        delta=delta,
        conditions=(shared, *best.conditions),
    )


def luckiest(delta: float = 0.05, **measured: Any) -> Bound:
    """Return the best of all registered bounds for which the quantities were measured.

    Parameters
    ----------
    delta : float, default=0.05
        Probability of failure, shared among the bounds.
    **measured
        Measured quantities by their common names: n_samples, radius, margin, n_sv, vc_dim.

    Returns
    -------
    Bound
        The smallest of the bounds, with its share of delta.

    Examples
    --------
    >>> from mercer.capacity import luckiest
    >>> luckiest(n_samples=1000, n_sv=20, radius=1.0, margin=0.1).name
    'best of 2: compression_bound'
    """
    usable = [rule for rule in LUCKINESS.values() if set(rule.needs) <= set(measured)]
    if not usable:
        wanted = "; ".join(", ".join(rule.needs) for rule in LUCKINESS.values())
        raise ValueError(f"no bound applies to {', '.join(measured) or 'nothing'}; give {wanted}.")
    made = [
        rule.bound(delta=delta, **{name: measured[name] for name in rule.needs}) for rule in usable
    ]
    return best_bound(*made)


@bound(
    "risk of the randomised classifier",
    "McAllester (1999); Maurer (2004)",
    assumes=[
        INDEPENDENT,
        Condition("the prior was fixed before the samples were seen"),
        Condition("the loss lies in [0, 1]"),
    ],
)
def pac_bayes_bound(n_samples: int, emp_risk: float, kl: float, delta: float = 0.05) -> Bound:
    """Return the PAC-Bayes bound for a classifier drawn from a posterior.

    emp_risk + sqrt((KL + ln(2 sqrt(l) / delta)) / (2 l)), with KL the divergence of the posterior
    from a prior that was fixed in advance. For a prior over a finite class and a posterior on one
    hypothesis, KL = ln(1 / prior).

    Parameters
    ----------
    n_samples : int
        Number of training samples l.
    emp_risk : float
        Expected training error of a classifier drawn from the posterior.
    kl : float
        Divergence of the posterior from the prior, in nats.
    delta : float, default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import pac_bayes_bound
    >>> round(float(pac_bayes_bound(n_samples=1000, emp_risk=0.1, kl=5.0)), 4)
    0.1779
    """
    inside = (kl + math.log(2 * math.sqrt(n_samples) / delta)) / (2 * n_samples)
    return state(
        {"training error": emp_risk, "deviation": math.sqrt(inside)},
        Condition.that("n_samples >= 8", n_samples >= 8, str(n_samples)),
    )
