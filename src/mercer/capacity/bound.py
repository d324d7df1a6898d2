"""Bounds: a number, the probability with which it may fail, and its conditions.

A function that computes a bound is written as a formula: it takes keywords of the common
vocabulary, and returns ``state(terms, *conditions)`` with the conditions that it checks. The
decorator `bound` names the quantity, the reference and the conditions that are assumed, checks the
arguments and keeps them, so that every bound can be evaluated again at another sample size:
learning curves and sample complexity are the same formula, read along or across.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import keywords

__all__ = ["Bound", "Condition"]

P = ParamSpec("P")
STATES = ("satisfied", "violated", "unknown")


@dataclass(frozen=True)
class Condition:
    """A condition of a theorem and whether it holds.

    Attributes
    ----------
    what : str
        The condition, in words or as a formula.
    state : {"satisfied", "violated", "unknown"}
        "unknown" is for what no computation on the sample can decide: a bound assumes it.
    evidence : str
        The numbers or the argument by which the state is known.

    Examples
    --------
    >>> from mercer.capacity import Condition
    >>> print(Condition.that("vc_dim <= n_samples", 3 <= 100, "3 <= 100"))
    satisfied: vc_dim <= n_samples (3 <= 100)
    """

    what: str
    state: str = "unknown"
    evidence: str = ""

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise ValueError(f"state must be one of {', '.join(STATES)}; got {self.state!r}.")

    @classmethod
    def that(cls, what: str, holds: bool, evidence: str = "") -> Condition:
        """Return a condition that has been checked."""
        return cls(what, "satisfied" if holds else "violated", evidence)

    def __str__(self) -> str:
        name = "assumes" if self.state == "unknown" else self.state
        return f"{name}: {self.what}" + (f" ({self.evidence})" if self.evidence else "")


INDEPENDENT = Condition("the samples are drawn independently from one distribution")
FIXED_CLASS = Condition("the class of functions was fixed before the samples were seen")
FIXED_SCALE = Condition("the margin (or scale) was fixed before the samples were seen")
IN_BALL = Condition("all data lie in a ball of this radius around the origin of feature space")
NO_OFFSET = Condition("the function is linear in feature space, without an offset b")


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound, with everything needed to judge it.

    Bounds compare with each other and with numbers by their value; ``float(bound)`` is the value.

    Attributes
    ----------
    value : float
        The bound. Values that say nothing are kept as computed, see `vacuous`.
    delta : float or None
        Probability with which the bound may fail; None for statements without probability.
    terms : dict of str to float
        Contributions to the value, by name; they sum to it unless the formula takes a root.
    conditions : tuple of Condition
        Conditions of the theorem, with the state of each.
    quantity : str
        The bounded quantity, e.g. "error" or "ln covering number".
    side : {"upper", "lower"}
        From which side.
    name : str
        Name of the function that computed it.
    inputs : dict
        Arguments of that function.
    reference : str
        Reference of the theorem.
    relative : bool
        True when the theorem leaves a constant unspecified: the value then ranks models but is no
        guarantee.
    trivial : float or None
        Value from which on the bound says nothing; 1 for an error or a probability.

    Examples
    --------
    >>> from mercer.capacity import vc_bound
    >>> b = vc_bound(n_samples=1000, vc_dim=3, delta=0.05)
    >>> print(b)
    vc_bound: error <= 0.07558 with probability at least 0.95
      terms: complexity 0.06494 (86 %), confidence 0.01064 (14 %)
      satisfied: vc_dim <= n_samples (3 <= 1000)
      satisfied: n_samples > 2 / value (1000 > 26.46)
      assumes: the samples are drawn independently from one distribution
      assumes: the class of functions was fixed before the samples were seen
      assumes: the hypothesis makes no training error
      n_samples=1000, vc_dim=3, delta=0.05, variant='cs'
      Cristianini and Shawe-Taylor, Theorem 4.1
    >>> b.dominant, b.certified, b.vacuous
    ('complexity', True, False)
    >>> b.sample_complexity(0.1)
    729
    >>> b.learning_curve([100, 1000, 10_000]).round(4)
    array([0.5565, 0.0756, 0.0096])
    """

    value: float
    terms: Mapping[str, float] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    delta: float | None = None
    quantity: str = "error"
    side: str = "upper"
    name: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    reference: str = ""
    relative: bool = False
    trivial: float | None = 1.0
    _function: Callable[..., Bound] | None = field(default=None, repr=False)
    _known: tuple[Condition, ...] = field(default=(), repr=False)  # what callers added or decided

    @property
    def certified(self) -> bool:
        """Whether every condition that can be checked is satisfied, and no constant is missing."""
        return not self.relative and not self.violated

    @property
    def violated(self) -> tuple[Condition, ...]:
        """The conditions that do not hold."""
        return tuple(c for c in self.conditions if c.state == "violated")

    @property
    def assumes(self) -> tuple[str, ...]:
        """Conditions that the samples cannot decide and the theorem assumes."""
        return tuple(c.what for c in self.conditions if c.state == "unknown")

    @property
    def data_dependent(self) -> bool:
        """Whether it reads a margin, slacks, support vectors or the like beside training errors."""
        return any(self.inputs.get(name) is not None for name in keywords.MEASURED)

    @property
    def vacuous(self) -> bool:
        """Whether the value says nothing: an error of at most 1, or of at least 0."""
        if math.isnan(self.value):
            return True
        if self.side == "lower":
            return self.value <= 0
        return self.trivial is not None and self.value >= self.trivial

    @property
    def dominant(self) -> str:
        """Name of the largest term."""
        return max(self.terms, key=lambda name: self.terms[name]) if self.terms else ""

    def at(self, **changes: Any) -> Bound:
        """Return the bound of the same formula with other inputs.

        Conditions that a caller decided or added are kept.
        """
        return self._formula(**changes).knowing(*self._known)

    def _formula(self, **changes: Any) -> Bound:
        if self._function is None:
            raise ValueError("this bound was not made by a formula: it has no other inputs.")
        return self._function(**{**self.inputs, **changes})

    def knowing(self, *conditions: Condition) -> Bound:
        """Return the bound with conditions that a caller checked or adds, the checked ones first.

        Parameters
        ----------
        *conditions : Condition
            Each takes the place of the one about the same thing, where there is one.
        """
        if not conditions:
            return self
        together = {c.what: c for c in (*conditions, *self.conditions)}
        together |= {c.what: c for c in conditions}
        ordered, known = _checked_first(*together.values()), (*self._known, *conditions)
        return dataclasses.replace(self, conditions=ordered, _known=known)

    def decide(self, what: str, holds: bool, evidence: str = "") -> Bound:
        """Return the bound with an assumed condition decided, for a caller who can check it.

        Parameters
        ----------
        what : str
            Words of one assumed condition, such as "training error".
        holds : bool
            Whether it holds.
        evidence : str
            How this is known.

        Examples
        --------
        >>> from mercer.capacity import vc_bound
        >>> made = vc_bound(n_samples=1000, vc_dim=3)
        >>> print(made.decide("training error", True, "0 of 1000").conditions[-1])
        satisfied: the hypothesis makes no training error (0 of 1000)
        """
        found = [c for c in self.conditions if what in c.what and c.state == "unknown"]
        if len(found) != 1:
            raise ValueError(
                f"{what!r} names {len(found)} assumed conditions of {self.name}, not 1."
            )
        decided = Condition.that(found[0].what, holds, evidence)
        kept = tuple(decided if c is found[0] else c for c in self.conditions)
        return dataclasses.replace(self, conditions=kept, _known=(*self._known, decided))

    def learning_curve(self, n_samples: ArrayLike) -> NDArray[np.float64]:
        """Return the values at other numbers of samples, all other inputs unchanged."""
        self._needs_samples()
        return np.array([self._formula(n_samples=int(n)).value for n in np.atleast_1d(n_samples)])

    def sample_complexity(self, value: float | None = None, limit: int = 10**15) -> int:
        """Return the number of samples from which on the bound is at most `value`.

        Parameters
        ----------
        value : float, optional
            The value to reach. Without one: the number of samples at which the bound stops being
            vacuous.
        limit : int, default=10**15
            Raises ValueError if more samples would be needed.

        Notes
        -----
        Doubling, then bisection, on "the value is small enough and no condition is violated".
        Bounds with a logarithm of the number of samples rise before they fall, so a power of two
        counts as the end of the search only if the next three pass as well.
        """
        self._needs_samples()
        if self.side == "lower":
            raise ValueError("sample complexity follows from upper bounds; this is a lower one.")
        target = self.trivial if value is None else value
        if target is None:
            raise ValueError(f"{self.name} is never vacuous; say which value to reach.")
        if not target > 0:
            raise ValueError(f"value must be positive; got {value!r}.")

        def reached(n: int) -> bool:
            try:
                there = self._formula(n_samples=n)
            except ValueError:  # fewer samples than errors, support vectors, ...
                return False
            small = there.value < target if value is None else there.value <= target
            return small and not there.violated

        power = passed = 1
        while True:
            if not reached(power):
                passed = 2 * power
                if passed > limit:
                    raise ValueError(
                        f"{self.name} does not reach {target:g} with {limit:g} samples."
                    )
            elif power >= 8 * passed:
                break
            power *= 2
        low, high = passed // 2, passed
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high

    def to_dict(self) -> dict[str, Any]:
        """Return the bound in plain parts, ready for JSON."""
        return {
            "name": self.name,
            "quantity": self.quantity,
            "side": self.side,
            "value": float(self.value),
            "delta": self.delta,
            "vacuous": self.vacuous,
            "certified": self.certified,
            "relative": self.relative,
            "data_dependent": self.data_dependent,
            "terms": {name: float(value) for name, value in self.terms.items()},
            "dominant": self.dominant,
            "conditions": [dataclasses.asdict(c) for c in self.conditions],
            "assumes": list(self.assumes),
            "inputs": {name: _plain(value) for name, value in self.inputs.items()},
            "reference": self.reference,
        }

    def _needs_samples(self) -> None:
        if "n_samples" not in self.inputs:
            raise ValueError(f"{self.name or 'this bound'} does not depend on n_samples.")

    def __float__(self) -> float:
        return float(self.value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Bound):
            return self.to_dict() == other.to_dict()
        return self.value == other

    __hash__ = None  # type: ignore[assignment]  # inputs may hold arrays

    def __lt__(self, other: Any) -> bool:
        return float(self) < float(other)

    def __le__(self, other: Any) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: Any) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: Any) -> bool:
        return float(self) >= float(other)

    def __str__(self) -> str:
        relation = "<=" if self.side == "upper" else ">="
        likely = "" if self.delta is None else f" with probability at least {1 - self.delta:g}"
        if self.side == "lower" and self.delta is not None:
            likely = f" with probability at least {self.delta:g}"
        remarks = [
            remark
            for remark, says in (
                ("says nothing", self.vacuous),
                ("a condition is violated", bool(self.violated)),
                ("up to an unspecified constant", self.relative),
            )
            if says
        ]
        remark = f" [{'; '.join(remarks)}]" if remarks else ""
        lines = [f"{self.name}: {self.quantity} {relation} {self.value:.4g}{likely}{remark}"]
        if len(self.terms) > 1:
            total = sum(self.terms.values()) or 1.0
            if math.isinf(total):
                parts = (f"{n} {v:.4g}" for n, v in self.terms.items())
            else:
                parts = (f"{n} {v:.4g} ({100 * v / total:.0f} %)" for n, v in self.terms.items())
            lines.append("  terms: " + ", ".join(parts))
        lines += [f"  {condition}" for condition in self.conditions]
        given = (f"{n}={_short(v)}" for n, v in self.inputs.items() if v is not None)
        lines += [line for line in ("  " + ", ".join(given), "  " + self.reference) if line.strip()]
        return "\n".join(lines)


def state(
    terms: Mapping[str, float], *conditions: Condition, value: float | None = None, **more: Any
) -> Bound:
    """Return the bound whose value is the sum of its terms, unless another value is given."""
    total = float(sum(terms.values())) if value is None else float(value)
    return Bound(total, dict(terms), tuple(conditions), **more)


def bound(
    quantity: str, reference: str = "", assumes: Iterable[Condition] = (), **more: Any
) -> Callable[[Callable[P, Bound]], Callable[P, Bound]]:
    """Decorate a formula, or a method that is one: check its arguments, and keep them.

    An argument may be a bound itself, on a dimension for example: its value is inserted and its
    conditions are inherited.

    Parameters
    ----------
    quantity : str
        What is bounded.
    reference : str
        Reference of the theorem.
    assumes : sequence of Condition
        Conditions that the theorem always has; the formula adds those that it checks.
    **more
        Other fields of `Bound`, such as ``side="lower"``, ``trivial=None`` or ``relative=True``.
        Fields that the formula sets itself take precedence, and so do single inputs.

    Examples
    --------
    >>> from mercer.capacity.bound import INDEPENDENT, bound, state
    >>> @bound("deviation", "Hoeffding (1963)", assumes=[INDEPENDENT])
    ... def single(n_samples, delta=0.05):
    ...     return state({"confidence": (math.log(1 / delta) / (2 * n_samples)) ** 0.5})
    >>> round(single(n_samples=100).value, 4)
    0.1224
    """
    declared = {"quantity": quantity, "reference": reference, **more}

    def decorate(formula: Callable[P, Bound]) -> Callable[P, Bound]:
        signature = inspect.signature(formula)
        optional = {n for n, p in signature.parameters.items() if p.default is None}

        @functools.wraps(formula)
        def evaluate(*args: P.args, **kwargs: P.kwargs) -> Bound:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            inherited: list[Condition] = []
            for keyword, argument in given.arguments.items():
                if isinstance(argument, Bound):  # a bound on a dimension, put into another formula
                    given.arguments[keyword] = argument.value
                    inherited += argument.conditions
            inputs = dict(given.arguments)
            owner = inputs.pop("self", None)
            keywords.check(inputs, optional)
            result = formula(*given.args, **given.kwargs)
            name = formula.__name__
            return dataclasses.replace(
                result,
                conditions=_checked_first(*assumes, *result.conditions, *inherited),
                name=name if owner is None else f"{type(owner).__name__}.{name}",
                inputs=inputs | dict(result.inputs),
                delta=inputs.get("delta"),
                _function=evaluate if owner is None else getattr(owner, name),
                **{n: v for n, v in declared.items() if getattr(result, n) == getattr(_PLAIN, n)},
            )

        return evaluate

    return decorate


_PLAIN = Bound(math.nan)  # has the default of every field


def ln_of(ln_n: Any, eps: float, n_points: int) -> float:
    """Return ln N(eps) on `n_points` points: a number, or a function ln_n(eps, n_points)."""
    return float(ln_n(eps, n_points)) if callable(ln_n) else float(ln_n)


def _checked_first(*conditions: Condition) -> tuple[Condition, ...]:
    """Return conditions without repetition, the assumed ones last."""
    return tuple(sorted(dict.fromkeys(conditions), key=lambda c: c.state == "unknown"))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if isinstance(value, str | int | float | type(None)) else repr(value)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray | list | tuple):
        array = np.asarray(value)
        return f"<array of {array.size}>" if array.size > 6 else str(array.tolist())
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return f"{value:g}" if isinstance(value, float) else repr(value)
