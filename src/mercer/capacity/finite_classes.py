"""Bounds for one hypothesis and for finitely many: Hoeffding's inequality and the union bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.objects.parameters import require_choice

from . import vocabulary
from .bound import FIXED_CLASS, INDEPENDENT, Bound, Condition, bound, state

__all__ = ["finite_class_bound", "hoeffding_interval", "hoeffding_tail", "test_set_bound"]

CONSISTENT = Condition("the hypothesis makes no training error")
FIXED_FUNCTION = Condition("the classifier was fixed before these samples were seen")


@bound("error", assumes=[INDEPENDENT, FIXED_CLASS])
def finite_class_bound(
    n_samples: int,
    n_hypotheses: float,
    delta: float = 0.05,
    variant: str = "cs",
    emp_risk: float = 0.0,
    prior: float = 1.0,
) -> Bound:
    """Return the bound for a class with finitely many hypotheses.

    Parameters
    ----------
    n_samples, n_hypotheses, delta
        Number of samples l, size of the class |H|, probability of failure.
    variant : {"cs", "sm", "lfd"}, default="cs"
        "cs": error <= ln(|H| / delta) / l for a hypothesis without training errors.
        "sm" and "lfd": risk <= emp_risk + sqrt(ln(2 |H| / delta) / (2 l)) for every hypothesis,
        from Hoeffding's inequality, both sides.
    emp_risk : float, default=0
        Training error of the hypothesis; the "cs" variant needs 0.
    prior : float, default=1
        Probability that was given to this class, among several, before the data were seen: the
        bound then holds with `delta` replaced by ``delta * prior``. Priors sum to at most 1.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import finite_class_bound
    >>> round(float(finite_class_bound(n_samples=1000, n_hypotheses=4, delta=0.05)), 6)
    0.004382
    """
    require_choice(variant, "variant", ("cs", "sm", "lfd"))
    share = delta * prior
    if variant == "cs":
        return state(
            {
                "complexity": math.log(n_hypotheses) / n_samples,
                "confidence": math.log(1 / share) / n_samples,
            },
            Condition.that(CONSISTENT.what, emp_risk == 0, "emp_risk"),
            reference="Cristianini and Shawe-Taylor, section 4.2",
        )
    deviation = math.sqrt(math.log(2 * n_hypotheses / share) / (2 * n_samples))
    return state(
        {"training error": emp_risk, "deviation": deviation},
        reference="Smola, section 7.2; Learning From Data, Problem 8.18",
    )


@bound("error", "Hoeffding (1963); Smola, (7.19)", [INDEPENDENT, FIXED_FUNCTION])
def test_set_bound(n_errors: int, n_samples: int, delta: float = 0.05) -> Bound:  # noqa: PT028
    """Return the bound on the error of one classifier from its errors on held-out samples.

    error <= k / m + sqrt(ln(1 / delta) / (2 m)), for a classifier that these samples did not
    help to choose.

    Parameters
    ----------
    n_errors : int
        Errors k on the held-out samples.
    n_samples : int
        Number m of held-out samples.
    delta : float, default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import test_set_bound
    >>> round(float(test_set_bound(n_errors=10, n_samples=200)), 4)
    0.1365
    """
    deviation = math.sqrt(math.log(1 / delta) / (2 * n_samples))
    return state({"test error": n_errors / n_samples, "deviation": deviation})


test_set_bound.__test__ = False  # type: ignore[attr-defined]  # not a test for pytest


@bound("probability", "Hoeffding (1963); Smola, (7.17)")
def hoeffding_tail(eps: float, ranges: ArrayLike | Any) -> Bound:
    """Return Hoeffding's bound on P(mean - expected mean >= eps).

    exp(-2 m^2 eps^2 / sum (b_i - a_i)^2), for independent variables with values in [a_i, b_i].

    Parameters
    ----------
    eps : float
        The deviation of the mean.
    ranges : array-like
        The lengths b_i - a_i, one per variable.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import hoeffding_tail
    >>> round(float(hoeffding_tail(eps=0.1, ranges=np.ones(50))), 4)
    0.3679
    """
    widths = _widths(ranges)
    exponent = 2 * len(widths) ** 2 * eps**2 / float(np.sum(widths**2))
    return state({"tail": math.exp(-exponent)}, Condition("the variables are independent"))


def hoeffding_interval(
    mean: float, ranges: ArrayLike, delta: float = 0.05, sided: int = 2
) -> tuple[float, float]:
    """Return an interval that contains the expected mean with probability at least 1 - delta.

    Parameters
    ----------
    mean : float
        Mean of the observed variables.
    ranges : array-like
        The lengths b_i - a_i of their ranges.
    delta : float, default=0.05
        Probability of failure.
    sided : {1, 2}, default=2
        1 gives the interval from minus infinity to the upper limit.

    Returns
    -------
    tuple of float
        Lower and upper limit.

    Examples
    --------
    >>> from mercer.capacity import hoeffding_interval
    >>> low, high = hoeffding_interval(0.4, [1.0] * 100, delta=0.05)
    >>> round(low, 4), round(high, 4)
    (0.2642, 0.5358)
    """
    if sided not in (1, 2):
        raise ValueError(f"sided must be 1 or 2; got {sided!r}.")
    vocabulary.check({"delta": delta}, ())
    widths = _widths(ranges)
    scale = math.sqrt(float(np.sum(widths**2)) / 2) / len(widths)
    reach = scale * math.sqrt(math.log(sided / delta))
    return (mean - reach if sided == 2 else -math.inf), mean + reach


def _widths(ranges: ArrayLike) -> np.ndarray:
    widths = np.asarray(ranges, dtype=float).ravel()
    if not widths.size or not np.all(widths > 0) or not np.all(np.isfinite(widths)):
        raise ValueError("ranges must be positive lengths b_i - a_i, one per variable.")
    return widths
