"""Bounds for functions that do not separate the data: margins of points with slack.

A point with slack xi_i gets a coordinate of its own, in which the function is given xi_i y_i: in
the enlarged space every training point has the target margin, and elsewhere nothing changes. The
price is the norm of the slacks. A target margin that is chosen after the data were seen costs a
share of the confidence (`best_target_margin`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.objects.parameters import require_choice

from . import keywords
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
from .margin_bounds import within
from .vc import long_enough

__all__ = [
    "SlackEmbedding",
    "best_target_margin",
    "slack_embedding",
    "soft_margin_bound",
    "soft_margin_cover_bound",
]

BOOK = "Cristianini and Shawe-Taylor"
NO_ATOMS = Condition("no misclassified training point has positive probability by itself")

FIXED_SLACK = Condition(
    "the bound on the norm of the slacks was fixed before the samples were seen"
)


@dataclass(frozen=True)
class SlackEmbedding:
    """A function on the enlarged space in which all training points have the target margin.

    Attributes
    ----------
    slack : ndarray
        xi_i = max(0, gamma - y_i f(x_i)).
    coefficients : ndarray
        Values xi_i y_i of the added part at the training points; it is 0 everywhere else.
    margins : ndarray
        Margins of the enlarged function, at least gamma.

    Examples
    --------
    >>> from mercer.capacity import slack_embedding
    >>> made = slack_embedding([0.5, -2.0], [1, -1], margin=1.0)
    >>> made.slack.tolist(), made.margins.tolist()
    ([0.5, 0.0], [1.0, 2.0])
    """

    slack: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    margins: NDArray[np.float64]

    def norm(self, p: float = 2) -> float:
        """Return the l_p norm of the slacks, which the bounds take as `slack`."""
        return float(np.linalg.norm(self.slack, p))


def slack_embedding(values: ArrayLike, y: ArrayLike, margin: float) -> SlackEmbedding:
    """Return the slack variables of a function, and its extension to the enlarged space.

    Parameters
    ----------
    values : array-like
        Values f(x_i) at the training points, geometric (||w|| = 1), the points being distinct.
    y : array-like
        Labels, 1 or -1.
    margin : float
        The target margin gamma.

    Returns
    -------
    SlackEmbedding
        Slacks, coefficients of the added part, and margins.

    Examples
    --------
    >>> from mercer.capacity import slack_embedding
    >>> made = slack_embedding([2.0, 0.5, 0.5], [1, 1, -1], margin=1.0)
    >>> made.slack.tolist(), made.margins.tolist(), made.norm(1)
    ([0.0, 0.5, 1.5], [2.0, 1.0, 1.0], 2.0)
    """
    f, labels = np.asarray(values, dtype=float), np.asarray(y, dtype=float)
    if f.shape != labels.shape or not np.all(np.abs(labels) == 1):
        raise ValueError("need one label, 1 or -1, for every value.")
    keywords.check({"margin": margin}, ())
    slack = np.maximum(0.0, margin - labels * f)
    return SlackEmbedding(slack, slack * labels, labels * f + slack)


@bound("error", f"{BOOK}, Theorem 4.21", [INDEPENDENT, FIXED_CLASS, FIXED_SCALE, NO_ATOMS])
def soft_margin_cover_bound(
    n_samples: int,
    ln_n: Any,
    ln_n_slack: Any,
    delta: float = 0.05,
    margin: float | None = None,
) -> Bound:
    """Return the general soft-margin bound from covers of the functions and of the slacks.

    (2/l) (log2 N(F, 2l, gamma/4) + log2 N(L, 2l, gamma/4) + log2(2/delta)). Both covers are numbers
    or functions ``ln_n(eps, n_points)``, which need `margin`.

    Parameters
    ----------
    n_samples : int
        Number of training samples l.
    ln_n : float or callable
        ln N of the functions.
    ln_n_slack : float or callable
        ln N of the class of slack functions.
    delta : float, default=0.05
        Probability with which the bound may fail.
    margin : float, optional
        Target margin; needed where a cover is a function.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import soft_margin_cover_bound
    >>> round(float(soft_margin_cover_bound(1000, ln_n=20.0, ln_n_slack=10.0)), 5)
    0.09721
    """
    if margin is None and (callable(ln_n) or callable(ln_n_slack)):
        raise ValueError("a cover is a function of the scale: say at which margin.")
    eps, points = (margin or 0.0) / 4, 2 * n_samples
    scale = 2 / (n_samples * math.log(2))
    terms = {
        "complexity": scale * ln_of(ln_n, eps, points),
        "slack": scale * ln_of(ln_n_slack, eps, points),
        "confidence": 2 * math.log2(2 / delta) / n_samples,
    }
    return state(terms, long_enough(n_samples, sum(terms.values())))


@bound("error", assumes=[INDEPENDENT])
def soft_margin_bound(
    n_samples: int,
    radius: float,
    margin: float,
    slack: float,
    delta: float = 0.05,
    norm: int = 2,
    c: float = 1.0,
    explicit: bool = False,
    variant: str = "cs",
) -> Bound:
    """Return the soft-margin bound from a norm of the slack variables.

    Parameters
    ----------
    n_samples, radius, margin, delta
        Number of samples l, radius R, target margin gamma, probability of failure.
    slack : float
        Norm of the slacks: ||xi||_2 for ``norm=2``, ||xi||_1 for ``norm=1`` (not squared).
    norm : {1, 2}, default=2
        2: (c/l) ((R^2 + ||xi||_2^2) log2(l)^2 / gamma^2 + log2(1/delta)).
        1: the same with ||xi||_1^2 log2(1/gamma) for the slacks; gamma must be smaller than 1.
    c : float, default=1
        The constant that the theorem does not give.
    explicit : bool, default=False
        ``norm=2`` with all constants: (2/l) (2 + T(R) + T(B) + log2(2/delta)), T(r) =
        d log2(32 e l r / (d gamma)) log2(512 l r^2 / gamma^2), d = 256 r^2 / gamma^2, for a bound
        B = `slack` on the norm that was fixed in advance.
    variant : {"cs", "ho"}, default="cs"
        "ho": (c/l) ((R + ||xi||_2) / gamma)^2, logarithms omitted.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import soft_margin_bound
    >>> round(float(soft_margin_bound(1000, radius=1.0, margin=0.5, slack=2**0.5)), 5)
    1.19612
    """
    if norm not in (1, 2):
        raise ValueError(f"norm must be 1 or 2; got {norm!r}.")
    require_choice(variant, "variant", ("cs", "ho"))
    if variant == "ho":
        rate = c / n_samples * ((radius + slack) / margin) ** 2
        return state({"margin": rate}, relative=True, reference="Honavar, soft margin")
    if explicit:
        return _explicit(n_samples, radius, margin, slack, delta, norm)
    made = slack_terms(n_samples, radius**2, margin, slack, delta, norm, c)
    return replace(made, reference=f"{BOOK}, Theorem {'4.22' if norm == 2 else '4.24'}")


def slack_terms(
    n_samples: int, size: float, margin: float, slack: float, delta: float, norm: int, c: float
) -> Bound:
    """Return (c/l) ((size + slack^2 [log2 1/gamma]) log2(l)^2 / gamma^2 + log2(1/delta))."""
    if norm == 1 and margin >= 1:
        raise ValueError(
            f"the 1-norm bound needs a margin smaller than 1, where log(1/gamma) is positive; got "
            f"{margin:g}. Rescale the data so that the radius is 1."
        )
    weight = math.log2(1 / margin) if norm == 1 else 1.0
    scale = c / n_samples * math.log2(n_samples) ** 2 / margin**2
    terms = {
        "margin": scale * size,
        "slack": scale * weight * slack**2,
        "confidence": c / n_samples * math.log2(1 / delta),
    }
    return state(terms, NO_OFFSET, FIXED_SCALE, IN_BALL, NO_ATOMS, relative=True)


def _explicit(
    n_samples: int, radius: float, margin: float, slack: float, delta: float, norm: int
) -> Bound:
    if norm != 2:
        raise ValueError("constants are known for norm=2 only.")
    terms, fits = {}, []
    for part, name, r in (("margin", "radius", radius), ("slack", "slack", slack)):
        dimension = 256 * (r / margin) ** 2  # of linear functions of radius r at gamma / 16
        terms[part] = 2 / n_samples * fat_bits(dimension, 2 * n_samples, 8 * r / margin)
        what = f"256 r^2 / gamma^2 <= 2 n_samples for r = {name}"
        evidence = f"{dimension:.4g} <= {2 * n_samples}"
        fits.append(Condition.that(what, dimension <= 2 * n_samples, evidence))
    terms["confidence"] = 2 / n_samples * (2 + math.log2(2 / delta))
    return state(
        terms,
        *fits,
        *(NO_OFFSET, FIXED_SCALE, FIXED_SLACK, IN_BALL, NO_ATOMS),
        reference=f"{BOOK}, Theorem 4.21 with Lemma 4.13 and Theorem 4.16",
    )


def best_target_margin(
    margins: ArrayLike,
    radius: float,
    delta: float = 0.05,
    norm: int = 2,
    c: float = 1.0,
    explicit: bool = False,
) -> Bound:
    """Return the smallest soft-margin bound over the target margins gamma_i = R 2^-i.

    The grid is fixed in advance and gamma_i has the share delta 2^-(i+1) of the confidence, so the
    result holds although the target is chosen after the data were seen.

    Parameters
    ----------
    margins : array-like
        Geometric margins y_i f(x_i), ||w|| = 1.
    radius, delta, norm, c
        As for `soft_margin_bound`.
    explicit : bool, default=False
        Use the bound with all constants. The norm of the slacks is then rounded up to the grid 0,
        gamma_i, 2 gamma_i, 4 gamma_i, ..., whose j-th member has the share 2^-(j+1): the smallest
        of a nested sequence of classes of slacks that contains the observed ones. The result
        assumes nothing that was read off the data.

    Returns
    -------
    Bound
        Its inputs hold the chosen `margin` and the `slack` at it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import best_target_margin
    >>> best_target_margin(np.linspace(-0.1, 0.9, 1000), radius=1.0).inputs["margin"]
    0.25
    """
    values = within(margins, radius)
    found = []
    for i in range(60):
        target = radius * 2.0**-i
        if norm == 1 and target >= 1:
            continue
        slack = slack_embedding(values, np.ones(len(values)), target).norm(norm)
        share = delta * 2.0 ** -(i + 1)
        if explicit:
            j = 0 if not slack else 1 + max(0, math.ceil(math.log2(slack / target) - 1e-12))
            slack = 0.0 if not slack else target * 2.0 ** (j - 1)
            share *= 2.0 ** -(j + 1)
        made = soft_margin_bound(len(values), radius, target, slack, share, norm, c, explicit)
        found.append(made)
        if not slack:
            break  # a smaller target only increases the bound
    best = min(found, key=lambda made: (bool(made.violated), made.value))
    chose = Condition.that("target margin and slacks are on grids fixed in advance", True)
    kept = tuple(made for made in best.conditions if made not in (FIXED_SCALE, FIXED_SLACK))
    return replace(best, name="best_target_margin", delta=delta, conditions=(chose, *kept))
