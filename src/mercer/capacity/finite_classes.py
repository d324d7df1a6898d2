"""Finite classes: bounds by Hoeffding's inequality and the union bound, and learners on them.

The smallest setting in which every principle of the theory can be computed exactly: consistency,
empirical risk, code length, Bayes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.objects.parameters import require_choice

from . import keywords
from .bound import FIXED_CLASS, INDEPENDENT, Bound, Condition, bound, state

__all__ = [
    "BayesFinite",
    "FiniteClassLearner",
    "finite_class_bound",
    "hoeffding_interval",
    "hoeffding_tail",
    "mdl_select",
    "no_free_lunch",
    "symmetrisation_demo",
    "test_set_bound",
]

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
    keywords.check({"delta": delta}, ())
    widths = _widths(ranges)
    scale = math.sqrt(float(np.sum(widths**2)) / 2) / len(widths)
    reach = scale * math.sqrt(math.log(sided / delta))
    return (mean - reach if sided == 2 else -math.inf), mean + reach


def _widths(ranges: ArrayLike) -> np.ndarray:
    widths = np.asarray(ranges, dtype=float).ravel()
    if not widths.size or not np.all(widths > 0) or not np.all(np.isfinite(widths)):
        raise ValueError("ranges must be positive lengths b_i - a_i, one per variable.")
    return widths


Hypothesis = Callable[[Any], Any]


class FiniteClassLearner:
    """Choose the hypothesis with the fewest training errors: a consistent one if there is one.

    Parameters
    ----------
    hypotheses : sequence of callables
        Each takes one object and returns a label. The class is fixed before `fit`.

    Attributes
    ----------
    hypothesis_ : callable
        The first hypothesis with the fewest errors.
    index_, n_errors_ : int
        Its position, and its number of training errors.
    errors_ : ndarray of int
        Errors of every hypothesis.

    Examples
    --------
    >>> from mercer.capacity import FiniteClassLearner
    >>> above = [lambda x, t=t: 1 if x >= t else -1 for t in range(5)]
    >>> learner = FiniteClassLearner(above).fit([0, 1, 2, 4], [-1, -1, 1, 1])
    >>> learner.index_, learner.n_errors_
    (2, 0)
    """

    def __init__(self, hypotheses: Sequence[Hypothesis]) -> None:
        if not hypotheses:
            raise ValueError("a class needs at least one hypothesis.")
        self.hypotheses = list(hypotheses)

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> FiniteClassLearner:
        """Count the errors of every hypothesis on the sample."""
        self.errors_ = _count_errors(self.hypotheses, X, y)
        self.index_ = int(np.argmin(self.errors_))
        self.n_errors_ = int(self.errors_[self.index_])
        self.hypothesis_ = self.hypotheses[self.index_]
        self.n_samples_ = len(y)
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Return the labels that the chosen hypothesis gives."""
        return [self.hypothesis_(x) for x in X]

    def generalization_bound(self, delta: float = 0.05) -> Bound:
        """Return the bound of `finite_class_bound` that fits: consistent, or with errors."""
        share = self.n_errors_ / self.n_samples_
        variant = "cs" if self.n_errors_ == 0 else "sm"
        return finite_class_bound(
            self.n_samples_, len(self.hypotheses), delta, variant=variant, emp_risk=share
        )


def mdl_select(
    hypotheses: Sequence[Hypothesis], code_lengths: ArrayLike, X: Sequence[Any], y: Sequence[Any]
) -> int:
    """Return the position of the hypothesis with the shortest description of the labels.

    Bits of the hypothesis, plus the bits that list its k training errors among l samples:
    L(h) + log2 C(l, k) + log2(l + 1).

    Parameters
    ----------
    hypotheses : sequence of callables
        Functions from an object to a label.
    code_lengths : array-like
        Bits that describe each hypothesis.
    X : sequence
        Objects.
    y : sequence
        Their labels.

    Returns
    -------
    int
        Position of the chosen hypothesis.

    Examples
    --------
    >>> from mercer.capacity import mdl_select
    >>> rules = [lambda x: 1, lambda x: 1 if x > 3 else -1]
    >>> mdl_select(rules, [1.0, 9.0], range(8), [-1, -1, -1, -1, 1, 1, 1, 1])
    0
    """
    lengths = np.asarray(code_lengths, dtype=float)
    if lengths.shape != (len(hypotheses),):
        raise ValueError("code_lengths must give one number of bits per hypothesis.")
    errors = _count_errors(hypotheses, X, y)
    listing = [math.log2(math.comb(len(y), int(k))) + math.log2(len(y) + 1) for k in errors]
    return int(np.argmin(lengths + listing))


class BayesFinite:
    """Posterior probabilities of finitely many hypotheses under label noise.

    Parameters
    ----------
    hypotheses : sequence of callables
        Each takes one object and returns a label, 1 or -1.
    prior : array-like
        Prior probabilities, positive, summing to 1.
    noise : float
        Probability with which a label is flipped, in (0, 1/2).

    Attributes
    ----------
    posterior_ : ndarray
        Posterior probabilities.
    map_ : callable
        The most probable hypothesis.

    Examples
    --------
    >>> from mercer.capacity import BayesFinite
    >>> bayes = BayesFinite([lambda x: 1, lambda x: -1], [0.5, 0.5], noise=0.1)
    >>> p = bayes.fit([0, 1, 2], [1, 1, 1]).posterior_
    >>> round(p[0] / p[1])
    729
    """

    def __init__(self, hypotheses: Sequence[Hypothesis], prior: ArrayLike, noise: float) -> None:
        self.hypotheses = list(hypotheses)
        self.prior = np.asarray(prior, dtype=float)
        if self.prior.shape != (len(self.hypotheses),) or np.any(self.prior <= 0):
            raise ValueError("prior must give one positive probability per hypothesis.")
        if abs(self.prior.sum() - 1) > 1e-9:
            raise ValueError(f"prior must sum to 1; it sums to {self.prior.sum():g}.")
        if not 0 < noise < 0.5:
            raise ValueError(f"noise must lie between 0 and 1/2; got {noise!r}.")
        self.noise = noise

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> BayesFinite:
        """Update the prior by the likelihood of the labels."""
        errors = _count_errors(self.hypotheses, X, y)
        logs = np.log(self.prior) + errors * math.log(self.noise)
        logs += (len(y) - errors) * math.log1p(-self.noise)
        weights = np.exp(logs - logs.max())
        self.posterior_ = weights / weights.sum()
        self.map_ = self.hypotheses[int(np.argmax(self.posterior_))]
        return self

    def predict_average(self, X: Sequence[Any]) -> NDArray[np.float64]:
        """Return the posterior mean of the outputs, which need not belong to the class."""
        outputs = np.array([[h(x) for h in self.hypotheses] for x in X], dtype=float)
        return outputs @ self.posterior_


def no_free_lunch(n_points: int, n_train: int, learner: Callable[..., Any] | None = None) -> float:
    """Return a learner's off-sample error, averaged over all targets on a small domain.

    Without a restriction on the targets it is 1/2 for every learner.

    Parameters
    ----------
    n_points : int
        Points of the domain, 0 to n_points - 1; at most 16.
    n_train : int
        The first `n_train` of them are shown with their labels.
    learner : callable, optional
        ``learner(points, labels)`` returns a function from a point to 1 or -1; by default the
        majority label.

    Returns
    -------
    float
        The average off-sample error.

    Examples
    --------
    >>> from mercer.capacity import no_free_lunch
    >>> no_free_lunch(n_points=4, n_train=2)
    0.5
    """
    if not 0 <= n_train < n_points <= 16:
        raise ValueError("need 0 <= n_train < n_points <= 16: an off-sample point, few targets.")
    rule = _majority if learner is None else learner
    wrong = total = 0
    for target in itertools.product((-1, 1), repeat=n_points):
        decide = rule(list(range(n_train)), list(target[:n_train]))
        wrong += sum(decide(x) != target[x] for x in range(n_train, n_points))
        total += n_points - n_train
    return wrong / total


@dataclass(frozen=True)
class Symmetrisation:
    """Both sides of the double-sample lemma, as frequencies."""

    one_sample: float
    two_samples: float

    @property
    def holds(self) -> bool:
        """Whether the first is at most twice the second."""
        return self.one_sample <= 2 * self.two_samples


def symmetrisation_demo(
    n_samples: int, eps: float, n_trials: int = 2000, seed: int = 0
) -> Symmetrisation:
    """Simulate the double-sample lemma for thresholds on the unit interval.

    P(some consistent h has error > eps) <= 2 P(some h is consistent on the first sample and makes
    more than eps l / 2 errors on a second one), for l > 2 / eps. The target is the threshold 1/2.

    Parameters
    ----------
    n_samples : int
        Size l of each of the two samples.
    eps : float
        The error.
    n_trials : int, default=2000
        Number of simulated pairs of samples.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Symmetrisation
        The two probabilities, and whether the inequality holds.

    Examples
    --------
    >>> from mercer.capacity import symmetrisation_demo
    >>> symmetrisation_demo(n_samples=40, eps=0.1).holds
    True
    """
    if not n_samples > 2 / eps:
        raise ValueError(f"the lemma needs n_samples > 2 / eps = {2 / eps:g}; got {n_samples}.")
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, n_trials, n_samples))
    low = np.where(first < 0.5, first, 0.0).max(axis=1)  # consistent thresholds lie in (low, high]
    high = np.where(first >= 0.5, first, 1.0).min(axis=1)
    far = np.maximum(0.5 - low, high - 0.5) > eps
    below = ((second >= low[:, None]) & (second < 0.5)).sum(axis=1)
    above = ((second >= 0.5) & (second < high[:, None])).sum(axis=1)
    caught = np.maximum(below, above) > eps * n_samples / 2
    return Symmetrisation(float(far.mean()), float(caught.mean()))


def _count_errors(
    hypotheses: Sequence[Hypothesis], X: Sequence[Any], y: Sequence[Any]
) -> NDArray[np.int64]:
    if len(X) != len(y) or not len(y):
        raise ValueError(f"need one label per object and at least one; got {len(X)} and {len(y)}.")
    return np.array([sum(h(x) != t for x, t in zip(X, y, strict=True)) for h in hypotheses])


def _majority(points: list[int], labels: list[int]) -> Callable[[int], int]:
    answer = 1 if sum(labels) >= 0 else -1
    return lambda x: answer
