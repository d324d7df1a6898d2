"""Growth functions, and bounds from the VC dimension: with and without training errors.

The growth function counts the labellings that a class realises on m points. Sauer's lemma bounds it
by the sum of binomials up to the VC dimension; for some classes it is known exactly. Counts are
Python integers, so nothing overflows.

Logarithms are base 2 in the bounds of Cristianini and Shawe-Taylor, whose proofs invert
2^(-eps l / 2), and natural in all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from mercer.objects.parameters import require_choice

from .bound import FIXED_CLASS, INDEPENDENT, Bound, Condition, bound, state
from .finite_classes import CONSISTENT
from .uniform import UNIFORM_BOUNDS, UniformBound, enough_samples

__all__ = [
    "annealed_entropy",
    "growth_function",
    "sauer",
    "vc_bound",
    "vc_confidence",
    "vc_entropy",
    "vc_lower_bound",
]

BOOK = "Cristianini and Shawe-Taylor"
HONAVAR = "Vapnik (1995); Honavar, VC risk bound"


@bound("error", assumes=[INDEPENDENT, FIXED_CLASS])
def vc_bound(
    n_samples: int,
    vc_dim: float,
    delta: float = 0.05,
    n_errors: int | None = None,
    variant: str = "cs",
) -> Bound:
    """Return the VC bound on the error of a binary classifier.

    Parameters
    ----------
    n_samples, vc_dim, delta
        Number of samples l, VC dimension d, probability of failure.
    n_errors : int, optional
        Training errors k. None: the hypothesis is known to be consistent, which gives a better
        bound than ``n_errors=0``.
    variant : {"cs", "ho", "sm", "vc71", "dgl"}, default="cs"
        - "cs": (2/l) (d log2(2el/d) + log2(2/delta)) without training errors,
          2k/l + (4/l) (d log2(2el/d) + log2(4/delta)) with k of them;
        - "ho": k/l + sqrt((d (ln(2l/d) + 1) + ln(4/delta)) / l);
        - "sm", "vc71", "dgl": k/l + the deviation of three uniform bounds with Sauer's sum, see
          `overall_bound`. "sm" mixes the other two and is implied by "vc71".

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import vc_bound
    >>> [round(float(vc_bound(n_samples=1000, vc_dim=d)), 5) for d in (1, 10, 100)]
    [0.03546, 0.19237, 1.16357]
    """
    require_choice(variant, "variant", ("cs", "ho", "sm", "vc71", "dgl"))
    if variant == "ho":
        made = _confidence(n_samples, vc_dim, delta)
    elif variant == "cs":
        made = _with_base_two(n_samples, vc_dim, delta, n_errors)
    else:
        made = _by_template(n_samples, vc_dim, delta, UNIFORM_BOUNDS[variant])
    if variant != "cs" and n_errors is not None:
        made = replace(made, terms={"training error": n_errors / n_samples} | dict(made.terms))
    consistent = [CONSISTENT] if n_errors is None else []
    return state(made.terms, *made.conditions, *consistent, reference=made.reference)


@bound("risk minus empirical risk", assumes=[INDEPENDENT, FIXED_CLASS])
def vc_confidence(vc_dim: float, n_samples: int, delta: float = 0.05) -> Bound:
    """Return the VC confidence sqrt((d (ln(2l/d) + 1) + ln(4/delta)) / l).

    Parameters
    ----------
    vc_dim : float
        VC dimension d of the class.
    n_samples : int
        Number of training samples l.
    delta : float, default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import vc_confidence
    >>> round(float(vc_confidence(vc_dim=3, n_samples=100)), 6)
    0.447003
    """
    return _confidence(n_samples, vc_dim, delta)


@bound("error", f"{BOOK}, Theorem 4.3", side="lower")
def vc_lower_bound(
    n_samples: int, vc_dim: float, delta: float = 0.05, variant: str = "proved"
) -> Bound:
    """Return the error that any learner makes on some distribution, with probability delta.

    max((d - 1) / (32 l), 1 - delta^(1/l)). The text prints (1/l) ln(1/delta) as the second term,
    which is larger and false for small samples: it exceeds 1 for l = 1, delta = 0.05.

    Parameters
    ----------
    n_samples, vc_dim, delta
        Number of samples l, VC dimension d, probability with which the error is attained.
    variant : {"proved", "printed"}, default="proved"
        "printed" returns the value of the text and marks its condition as violated.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Notes
    -----
    First term: a rare part of d - 1 points with mass 8 eps, eps = (d - 1) / (32 l). By Markov's
    inequality half of them stay unseen with probability 1/2, and random labels make half of those
    wrong with probability 1/2; so it holds for every delta <= 1/4, while the mass is at most 1.
    Second term: one point of mass eps stays unseen with probability (1 - eps)^l = delta.

    Examples
    --------
    >>> from mercer.capacity import vc_lower_bound
    >>> round(float(vc_lower_bound(n_samples=1000, vc_dim=1001)), 5)
    0.03125
    """
    require_choice(variant, "variant", ("proved", "printed"))
    printed = math.log(1 / delta) / n_samples
    rare = 1 - delta ** (1 / n_samples) if variant == "proved" else printed
    spread = max(0.0, (vc_dim - 1) / (32 * n_samples))
    conditions = [Condition.that("vc_dim >= 2", vc_dim >= 2, f"{vc_dim:g}")]
    if spread > rare:
        conditions += [
            Condition.that("delta <= 1/4", delta <= 0.25, f"{delta:g}"),
            Condition.that("the rare points have mass <= 1", 8 * spread <= 1, f"{8 * spread:.3g}"),
        ]
    elif variant == "printed":
        attained = f"only {1 - delta ** (1 / n_samples):.4g} is"
        conditions.append(Condition("(1/l) ln(1/delta) is attained", "violated", attained))
    return state({"dimension": spread, "rare point": rare}, *conditions, value=max(spread, rare))


def long_enough(n_samples: int, value: float) -> Condition:
    """Return the condition l > 2 / eps of the double-sample argument."""
    holds = value > 0 and n_samples > 2 / value
    evidence = f"{n_samples} > {2 / value:.4g}" if value > 0 else "value is 0"
    return Condition.that("n_samples > 2 / value", holds, evidence)


def _fits(vc_dim: float, n_samples: int) -> Condition:
    return Condition.that("vc_dim <= n_samples", vc_dim <= n_samples, f"{vc_dim:g} <= {n_samples}")


def _capacity(vc_dim: float, n_points: int) -> float:
    """Return ln (e m / d)^d, 0 for d = 0, and m ln 2 for d > m, where all labellings may occur."""
    if vc_dim == 0 or math.isinf(vc_dim):
        return float(vc_dim)
    if vc_dim > n_points:
        return n_points * math.log(2)
    return vc_dim * (1 + math.log(n_points / vc_dim))


def _with_base_two(n_samples: int, vc_dim: float, delta: float, n_errors: int | None) -> Bound:
    """Return the bound of Theorem 4.1 without training errors, of Theorem 4.6 with them."""
    factor = 2 if n_errors is None else 4
    bits = _capacity(vc_dim, 2 * n_samples) / math.log(2)
    terms = {} if n_errors is None else {"training error": 2 * n_errors / n_samples}
    terms["complexity"] = factor * bits / n_samples
    terms["confidence"] = factor * math.log2(factor / delta) / n_samples
    conditions = [_fits(vc_dim, n_samples)]
    if n_errors is None:
        conditions.append(long_enough(n_samples, sum(terms.values())))
    theorem = "4.1" if n_errors is None else "4.6"
    return state(terms, *conditions, reference=f"{BOOK}, Theorem {theorem}")


def _confidence(n_samples: int, vc_dim: float, delta: float) -> Bound:
    inside = (_capacity(vc_dim, 2 * n_samples) + math.log(4 / delta)) / n_samples
    deviation = math.sqrt(max(inside, 0.0))
    return state({"deviation": deviation}, _fits(vc_dim, n_samples), reference=HONAVAR)


def _by_template(n_samples: int, vc_dim: float, delta: float, template: UniformBound) -> Bound:
    points = template.ghost * n_samples
    ln_n = math.inf if math.isinf(vc_dim) else sauer(points, math.floor(vc_dim), log=True)
    eps = template.deviation(n_samples, ln_n, delta)
    conditions = enough_samples(template, n_samples, eps)
    return state({"deviation": eps}, *conditions, reference=template.reference)


def sauer(n_points: int, vc_dim: int, form: str = "sum", log: bool = False) -> float:
    r"""Return Sauer's bound on the number of labellings of `n_points` points.

    .. math:: \sum_{i \le d} \binom{m}{i} \le 2 m^d / d! \le (e m / d)^d

    Parameters
    ----------
    n_points : int
        Number of points m, at least 1.
    vc_dim : int
        VC dimension d.
    form : {"sum", "power", "exp"}, default="sum"
        Which member of the chain. The last two need ``1 <= vc_dim <= n_points``; the sum is
        2^m for m <= d.
    log : bool, default=False
        Whether to return the natural logarithm.

    Returns
    -------
    float
        Sauer's bound on the number of labellings of `n_points` points.

    Examples
    --------
    >>> from mercer.capacity import sauer
    >>> sauer(5, 3), sauer(3, 3)
    (26, 8)
    """
    if n_points < 1 or vc_dim < 0:
        raise ValueError(f"need n_points >= 1 and vc_dim >= 0; got {n_points} and {vc_dim}.")
    require_choice(form, "form", ("sum", "power", "exp"))
    if form == "sum":
        count = _binomials_up_to(n_points, vc_dim)
        return math.log(count) if log else count
    if not 1 <= vc_dim <= n_points:
        raise ValueError(
            f"form={form!r} needs 1 <= vc_dim <= n_points; got vc_dim={vc_dim}, "
            f"n_points={n_points}. Use form='sum'."
        )
    if form == "power":
        value = math.log(2) + vc_dim * math.log(n_points) - math.lgamma(vc_dim + 1)
    else:
        value = vc_dim * (1 + math.log(n_points / vc_dim))
    return value if log else math.exp(value)


def _binomials_up_to(n: int, d: int) -> int:
    if d >= n:
        return 2**n
    total = term = 1
    for i in range(d):
        term = term * (n - i) // (i + 1)
        total += term
    return total


def _halfspaces(m: int, d: int) -> int:
    return 2 * _binomials_up_to(m - 1, d)


EXACT: dict[str, Callable[[int, int], int]] = {
    "thresholds": lambda m, d: m + 1,  # x >= t
    "signed thresholds": lambda m, d: 2 * m,  # x >= t or x < t
    "intervals": lambda m, d: m * (m + 1) // 2 + 1,
    "halfspaces": _halfspaces,
    "homogeneous halfspaces": lambda m, d: _halfspaces(m, d - 1),
    "convex sets": lambda m, d: 2**m,  # points on a circle
}


def growth_function(cls: str | ArrayLike, n_points: int | None = None, n_features: int = 1) -> int:
    """Return the largest number of labellings of m points, where it is known exactly.

    Parameters
    ----------
    cls : str or array-like
        "thresholds" (x >= t), "signed thresholds", "intervals" on the line; "halfspaces",
        "homogeneous halfspaces" (without offset; Cover's count, attained by every set in general
        position) and "convex sets" in `n_features` dimensions. Or the numbers of labellings of
        sampled sets: the largest of them, which is a lower estimate unless all sets are among them.
    n_points : int
        Number of points m.
    n_features : int, default=1
        Dimension of the space.

    Returns
    -------
    int
        The growth function at m.

    Examples
    --------
    >>> from mercer.capacity import growth_function
    >>> [growth_function("halfspaces", m, 2) for m in (3, 4, 5, 6)]
    [8, 14, 22, 32]
    """
    if not isinstance(cls, str):
        _log_counts(cls)  # checks them
        return int(np.max(cls))
    require_choice(cls, "cls", EXACT)
    if n_points is None or n_points < 1 or n_features < 1:
        raise ValueError("n_points and n_features must be at least 1.")
    return EXACT[cls](n_points, n_features)


def vc_entropy(counts: ArrayLike) -> float:
    r"""Return the VC entropy E[ln N], from the numbers of labellings of sampled sets.

    .. math:: E[\ln N] \le \ln E[N] \le \ln \sup N

    The first inequality is Jensen's; a text that prints it the other way round is wrong. Uniform
    bounds need the annealed entropy or the growth function: the VC entropy is too small.

    Parameters
    ----------
    counts : array-like
        Numbers of labellings (or covering numbers), one per sampled set, equally likely.

    Returns
    -------
    float
        The mean of their natural logarithms.

    Examples
    --------
    >>> from mercer.capacity import annealed_entropy, vc_entropy
    >>> round(vc_entropy([1, 100]), 3), round(annealed_entropy([1, 100]), 3)
    (2.303, 3.922)
    """
    return float(_log_counts(counts).mean())


def annealed_entropy(counts: ArrayLike) -> float:
    """Return the annealed entropy ln E[N], from the numbers of labellings of sampled sets.

    It lies between `vc_entropy` and the logarithm of the growth function, and uniform bounds hold
    with it.

    Parameters
    ----------
    counts : array-like
        Numbers of labellings (or covering numbers), one per sampled set, equally likely.

    Returns
    -------
    float
        The natural logarithm of their mean.

    Examples
    --------
    >>> from mercer.capacity import annealed_entropy
    >>> round(annealed_entropy([1, 100]), 3)
    3.922
    """
    logs = _log_counts(counts)
    return float(logsumexp(logs)) - math.log(len(logs))


def _log_counts(counts: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(counts, dtype=float).ravel()
    if not values.size or not np.all(values >= 1):
        raise ValueError("counts must be a non-empty list of numbers of at least 1.")
    return np.log(values)
