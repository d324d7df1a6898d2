"""Conditions of a theorem, and whether they hold."""

from __future__ import annotations

from dataclasses import dataclass

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
