"""Structural risk minimisation: choose the class whose bound is smallest, and pay for choosing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.objects.parameters import require_choice

from .bound import FIXED_CLASS, INDEPENDENT, Bound, Condition, bound, state
from .vc import vc_bound

__all__ = ["SRM", "Choice", "constrained", "srm_bound", "srm_penalty", "structure"]

STRUCTURES: dict[str, tuple[str, str]] = {
    "fixed classes": ("satisfied", "nested or not, they were listed before the data"),
    "norm balls": ("satisfied", "||w|| <= Lambda_i for a list of Lambda_i fixed in advance"),
    "soft-order constraints": ("satisfied", "{w: w'Gw <= C} is nested in C"),
    "expansion in training points": (
        "satisfied",
        "by the representer theorem the class is a ball of the feature space, whatever the points",
    ),
    "penalty parameter": (
        "violated",
        "for a fixed lambda the norm depends on the data; solve the constrained problem instead",
    ),
    "observed radius": (
        "violated",
        "the ball around the mapped data is known only after them; bound the kernel's diagonal",
    ),
    "observed margin": ("violated", "use stratified(), which pays for reading the margin off"),
    "relevance determination": (
        "violated",
        "widths per input adapted to the data: no bound is known for this family",
    ),
}


def structure(kind: str) -> Condition:
    """Return whether a family of classes may be used for structural risk minimisation.

    Parameters
    ----------
    kind : str
        "fixed classes", "norm balls", "soft-order constraints", "expansion in training points"
        (may be used); "penalty parameter", "observed radius", "observed margin",
        "relevance determination" (may not, being chosen by the data).

    Returns
    -------
    Condition
        Satisfied where the family may be used, else violated, with the reason.

    Examples
    --------
    >>> from mercer.capacity import structure
    >>> structure("penalty parameter").state
    'violated'
    """
    require_choice(kind, "kind", STRUCTURES)
    state_of, why = STRUCTURES[kind]
    return Condition("the structure was fixed before the data were seen", state_of, why)


@bound("risk minus empirical risk", "Learning From Data, Problem 8.15", [INDEPENDENT, FIXED_CLASS])
def srm_penalty(n_samples: int, vc_dim: float, delta: float = 0.05, prior: float = 1.0) -> Bound:
    """Return the penalty sqrt((8/N) ln(4 ((2N)^d + 1) / (p delta))) of a class with prior p.

    The priors p of all classes sum to at most 1. A cumulative probability in their place, as the
    text could be read, tends to 1 and would make the search free.

    Parameters
    ----------
    n_samples : int
        Number of training samples l.
    vc_dim : float
        VC dimension d of the class.
    delta : float, default=0.05
        Probability with which the bound may fail.
    prior : float, default=1
        Share of delta that this class received before the data were seen.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import srm_penalty
    >>> round(float(srm_penalty(n_samples=1000, vc_dim=3)), 6)
    0.466345
    """
    if math.isinf(vc_dim):
        ln_growth = math.inf
    else:
        power = vc_dim * math.log(2 * n_samples)
        ln_growth = power + math.log1p(math.exp(-power))
    inside = 8 / n_samples * (math.log(4 / (prior * delta)) + ln_growth)
    return state({"deviation": math.sqrt(inside)})


@bound("risk")
def srm_bound(
    n_samples: int,
    vc_dim: float,
    n_errors: int,
    delta: float = 0.05,
    prior: float = 1.0,
    penalty: str = "cs",
    kind: str = "fixed classes",
) -> Bound:
    """Return the bound of one class of a structure, which has the share `prior` of the confidence.

    Parameters
    ----------
    n_samples, vc_dim, n_errors, delta
        Number of samples, VC dimension of the class, training errors of its best function,
        probability of failure of the whole structure.
    prior : float
        Share of this class.
    penalty : {"cs", "ho", "lfd"}, default="cs"
        `vc_bound` with errors, the VC confidence, or `srm_penalty`.
    kind : str, default="fixed classes"
        Where the classes come from, see `structure`.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import srm_bound
    >>> round(float(srm_bound(2000, vc_dim=5, n_errors=20, prior=0.2)), 5)
    0.14815
    """
    require_choice(penalty, "penalty", ("cs", "ho", "lfd"))
    if penalty == "lfd":
        made = srm_penalty(n_samples, vc_dim, delta, prior)
        made = replace(made, terms={"training error": n_errors / n_samples, **made.terms})
    else:
        made = vc_bound(n_samples, vc_dim, delta * prior, n_errors, variant=penalty)
    return state(made.terms, *made.conditions, structure(kind), reference=made.reference)


@dataclass(frozen=True)
class Choice:
    """The class that structural risk minimisation chooses.

    Attributes
    ----------
    index : int
        Position of the class.
    bound : Bound
        Its bound, which holds with the delta of the whole structure.
    path : tuple of Bound
        The bounds of all classes.

    Examples
    --------
    >>> from mercer.capacity import SRM
    >>> choice = SRM([2, 3, 5]).select(n_errors=[120, 60, 20], n_samples=2000)
    >>> choice.index, len(choice.path)
    (2, 3)
    """

    index: int
    bound: Bound
    path: tuple[Bound, ...]


class SRM:
    """Structural risk minimisation over classes with known VC dimensions.

    Parameters
    ----------
    vc_dims : sequence of float
        VC dimensions of the classes.
    delta : float, default=0.05
        Probability of failure of the whole choice.
    priors : array-like, optional
        Shares of the confidence, summing to at most 1; equal by default.
    penalty : {"cs", "ho", "lfd"}, default="cs"
        See `srm_bound`.
    nested : bool, default=True
        Whether the classes contain each other: the dimensions then increase and the training
        errors decrease, which is checked.
    kind : str, default="fixed classes"
        Where the classes come from, see `structure`.
    classes : sequence, optional
        The classes, in any form that `fit_fn` takes; by default their VC dimensions.
    fit_fn : callable, optional
        ``fit_fn(cls, X, y)`` returns the function of a class with the fewest training errors, as
        an estimator with ``predict`` or as a function of X. Needed by `fit`.

    Attributes
    ----------
    path_ : array of shape (n_classes, 3)
        Empirical risk, confidence term and their sum, for each class; after `fit`.
    choice_ : Choice
        The class chosen, with its bound.
    best_ : object
        What `fit_fn` returned for it.

    Examples
    --------
    >>> from mercer.capacity import SRM
    >>> choice = SRM([2, 3, 5, 9, 17]).select(n_errors=[120, 60, 20, 15, 14], n_samples=2000)
    >>> choice.index, round(float(choice.bound), 5)
    (2, 0.14815)
    """

    path_: NDArray[np.float64]
    choice_: Choice
    best_: Any

    def __init__(
        self,
        vc_dims: Sequence[float],
        delta: float = 0.05,
        priors: ArrayLike | None = None,
        penalty: str = "cs",
        nested: bool = True,
        kind: str = "fixed classes",
        *,
        classes: Sequence[Any] | None = None,
        fit_fn: Callable[[Any, Any, Any], Any] | None = None,
    ) -> None:
        if not len(vc_dims):
            raise ValueError("a structure needs at least one class.")
        shares = np.full(len(vc_dims), 1 / len(vc_dims)) if priors is None else np.asarray(priors)
        if shares.shape != (len(vc_dims),) or np.any(shares <= 0) or shares.sum() > 1 + 1e-12:
            raise ValueError(
                "priors must be positive, one per class, and sum to at most 1: they are the "
                "probabilities of single classes, not cumulative ones."
            )
        if nested and np.any(np.diff(np.asarray(vc_dims, dtype=float)) < 0):
            raise ValueError("nested classes have VC dimensions that do not decrease.")
        self.vc_dims, self.delta, self.priors = list(vc_dims), delta, shares
        if classes is not None and len(classes) != len(vc_dims):
            raise ValueError(f"need a VC dimension for each of the {len(classes)} classes.")
        self.penalty, self.nested, self.kind = penalty, nested, kind
        self.classes, self.fit_fn = self.vc_dims if classes is None else list(classes), fit_fn

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit every class by `fit_fn` and choose the one with the smallest bound.

        Parameters
        ----------
        X : array-like or objects
            Training objects.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : SRM
            With `path_`, `choice_` and `best_`.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.capacity import SRM
        >>> def fit_fn(k, x, y):  # constant on k intervals
        ...     def cell(x):
        ...         return np.minimum((x * k).astype(int), k - 1)
        ...
        ...     labels = np.where(np.bincount(cell(x), weights=y, minlength=k) >= 0, 1, -1)
        ...     return lambda x: labels[cell(x)]
        >>> x = np.linspace(0, 1, 500)
        >>> search = SRM([1, 2, 4], fit_fn=fit_fn).fit(x, np.where(x > 0.5, 1, -1))
        >>> search.choice_.index, search.best_(np.array([0.2, 0.9]))
        (1, array([-1,  1]))
        """
        if self.fit_fn is None:
            raise ValueError("fit needs fit_fn; to choose by training errors alone, use select.")
        labels = np.asarray(y)
        fitted = [self.fit_fn(cls, X, y) for cls in self.classes]
        predicted = [
            model.predict(X) if hasattr(model, "predict") else model(X) for model in fitted
        ]
        errors = [int(np.count_nonzero(np.asarray(values) != labels)) for values in predicted]
        self.choice_ = self.select(errors, len(labels))
        risk = np.array(errors) / len(labels)
        total = np.array([b.value for b in self.choice_.path])
        self.path_ = np.column_stack([risk, total - risk, total])
        self.best_ = fitted[self.choice_.index]
        return self

    def select(self, n_errors: Sequence[int], n_samples: int) -> Choice:
        """Return the class with the smallest bound, given the training errors of each."""
        if len(n_errors) != len(self.vc_dims):
            raise ValueError(f"need the errors of {len(self.vc_dims)} classes.")
        if self.nested and np.any(np.diff(n_errors) > 0):
            raise ValueError(
                "the training errors increase along nested classes: the minimiser of some class "
                "was not found, or the classes are not nested (nested=False)."
            )
        path = tuple(
            srm_bound(n_samples, d, int(k), self.delta, float(p), self.penalty, self.kind)
            for d, k, p in zip(self.vc_dims, n_errors, self.priors, strict=True)
        )
        index = int(np.argmin([b.value for b in path]))
        return Choice(index, path[index], path)


def constrained(
    fit: Callable[[float], Any],
    size: Callable[[Any], float],
    limit: float,
    low: float = 1e-8,
    high: float = 1e8,
    tol: float = 1e-10,
) -> tuple[float, Any]:
    """Return the penalised fit that solves the constrained problem: minimise the loss, size <= L.

    The class {size <= L} is fixed in advance while a penalty lambda is not, so bounds apply to
    the constrained problem. Both have the same solutions for matching lambda, found by bisection.

    Parameters
    ----------
    fit : callable
        ``fit(lam)`` returns the minimiser of loss + lam * size^2.
    size : callable
        Its norm, non-increasing in lam.
    limit : float
        L, the largest size allowed.
    low, high, tol : float
        Range of lam and relative tolerance.

    Returns
    -------
    lam : float
        The matching penalty; `low` if the constraint is not active.
    model
        The fit at it, with size at most `limit`.

    Examples
    --------
    >>> from mercer.capacity import constrained
    >>> lam, w = constrained(lambda lam: 2 / (1 + lam), abs, limit=0.5)  # minimise (w - 2)^2
    >>> round(lam, 6), round(w, 6)
    (3.0, 0.5)
    """
    if not limit > 0:
        raise ValueError(f"limit must be positive; got {limit!r}.")
    model = fit(low)
    if size(model) <= limit:
        return low, model
    if size(fit(high)) > limit:
        raise ValueError(f"even lam = {high:g} gives a size above {limit:g}; increase high.")
    while high / low > 1 + tol:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if size(fit(middle)) > limit else (low, middle)
    return high, fit(high)
