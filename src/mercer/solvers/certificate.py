"""Optimality certificates: how far from optimal the returned model can be.

For a convex problem with primal value P and dual value D of a feasible pair, the optimum lies in
[D, P]: the gap P - D bounds how suboptimal the model can be, whichever solver produced it. The
values are computed from the returned model, not from the running state of a solver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

GAP_LIMIT = 5e-4
"""The relative gap of a model that is called optimal, where the user asked for no other."""

STATUSES = (
    "optimal",
    "stationary",
    "precision_limit",
    "iteration_limit",
    "time_limit",
    "interrupted",
    "infeasible",
)
"""From best to worst; several problems together have the worst status among them."""

CONVEXITY = ("theorem", "checked", "not ruled out", "refuted")
"""What is known about the convexity of a problem, from best to worst."""

SOLVER_VALUES = "by the solver"
"""Ends a `precision` whose values are those of the running solver: those of an interrupted fit."""


@dataclass(frozen=True)
class Certificate:
    """Primal and dual value of a fitted model, and how they were obtained.

    Attributes
    ----------
    status : str
        One of "optimal" (the tolerance was reached, and the relative gap is at most 5e-4 or
        ``gap_tol``), "stationary" (the tolerance was reached, but the kernel is indefinite, where
        no gap exists), "precision_limit" (float64 is not precise enough to reach the tolerance, or
        to prove it: see ``rounding``), "iteration_limit", "time_limit", "interrupted" and
        "infeasible" (a hard margin that no function attains).
    primal, dual : float
        Value of the primal problem at the model, and of the dual problem at a point next to its
        coefficients that satisfies the constraints exactly: dual <= optimum <= primal. What
        rounding can contribute is added to the primal and subtracted from the dual value. NaN
        where the kernel is indefinite.
    gap : float
        ``primal - dual``, an upper bound on how far the model is from the optimum.
    relative_gap : float
        The gap over the sum of the absolute terms of the primal.
    kkt_violation : float
        The largest violation of the optimality conditions, LIBSVM's max(0, m(a) - M(a)), in the
        units of ``tol``.
    n_iter : int
        Pair updates of the solver.
    n_kernel_values : int
        Kernel values that the solver evaluated.
    seconds : float
        Time spent in the solver.
    precision : str
        Precision of the kernel values behind ``primal``, ``dual`` and ``kkt_violation``. After an
        interrupt these come from the solver instead of the model, which "float32, by the solver"
        says; what it had no time to compute is NaN.
    assumes : str or None
        "psd" where positive semidefiniteness is the user's word and not a theorem, "cpd" where
        it is conditional definiteness, which suffices for a machine with an intercept (and with
        linear functions, for order 2); after ``partial_fit`` of a Gaussian process the
        hyper-parameters, which it keeps; None where the kernel is known to be definite enough or
        nothing is claimed.
    rounding : float
        The part of the gap that rounding can contribute.
    rounding_basis : str
        "estimate" after ``fit``. After ``certify(..., rigorous=True)`` "guaranteed", so that
        dual <= optimum <= primal is a theorem about floating-point numbers, or "estimate: "
        followed by what no bound is known of.
    widened : float
        Hard tubes (SVR with C=inf): the model stays in tubes that are wider by so much, in units of
        the targets. Primal and dual value are those of the problem with these tubes; the dual value
        is a lower bound for the tubes that were asked for as well. 0 for all other problems.
    convexity : str
        Why the gap is a bound. "theorem": the kernel is known to be definite enough; "checked": the
        kernel matrix of the training data was found to be, up to rounding; "not ruled out": part of
        it was; "refuted": it is not, and there is no gap.
    eigenvalue : float or None
        Where convexity was refuted, the smallest eigenvalue of the kernel matrix or an upper bound
        on it. Support vector machines keep the direction as ``negative_curvature_``.
    n_problems : int
        Number of binary or real-valued problems. For several, ``primal``, ``dual``, ``gap``,
        ``rounding``, counts and seconds are sums, ``relative_gap`` and ``kkt_violation`` the
        largest ones, and ``status`` is the worst.

    Examples
    --------
    >>> from mercer.solvers import Certificate
    >>> c = Certificate("optimal", primal=2.0, dual=1.5, gap=0.5, relative_gap=0.25,
    ...                 kkt_violation=1e-4, n_iter=12, n_kernel_values=900, seconds=0.001)
    >>> c.to_dict()["gap"]
    0.5
    """

    status: str
    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    n_iter: int = 0
    n_kernel_values: int = 0
    seconds: float = 0.0
    precision: str = "float64"
    assumes: str | None = None
    rounding: float = 0.0
    convexity: str = "theorem"
    eigenvalue: float | None = None
    rounding_basis: str = "estimate"
    widened: float = 0.0
    n_problems: int = 1

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status must be one of {', '.join(STATUSES)}; got {self.status!r}.")

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.status in ("optimal", "stationary")

    @property
    def guaranteed(self) -> bool:
        """Whether ``rounding`` is a bound and not an estimate."""
        return self.rounding_basis == "guaranteed"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, as plain Python numbers and strings."""
        return asdict(self)

    @classmethod
    def combine(cls, certificates: Sequence[Certificate]) -> Certificate:
        """Return one certificate for several problems that make up one model.

        Values, counts and times are sums; the status is the worst one, violation and relative gap
        are the largest ones, the precision is the lowest one.
        """
        if not certificates:
            raise ValueError("at least one certificate is needed.")
        if len(certificates) == 1:
            return certificates[0]
        assumptions = {c.assumes for c in certificates} - {None}
        return cls(
            status=max((c.status for c in certificates), key=STATUSES.index),
            primal=math.fsum(c.primal for c in certificates),
            dual=math.fsum(c.dual for c in certificates),
            gap=math.fsum(c.gap for c in certificates),
            relative_gap=_largest(c.relative_gap for c in certificates),
            kkt_violation=_largest(c.kkt_violation for c in certificates),
            n_iter=sum(c.n_iter for c in certificates),
            n_kernel_values=sum(c.n_kernel_values for c in certificates),
            seconds=math.fsum(c.seconds for c in certificates),
            precision=min(c.precision for c in certificates),
            assumes=assumptions.pop() if assumptions else None,
            rounding=math.fsum(c.rounding for c in certificates),
            convexity=max((c.convexity for c in certificates), key=CONVEXITY.index),
            eigenvalue=min((c.eigenvalue for c in certificates if c.eigenvalue), default=None),
            rounding_basis=min((c.rounding_basis for c in certificates), key=_certainty),
            widened=max(c.widened for c in certificates),
            n_problems=sum(c.n_problems for c in certificates),
        )

    def _status_in_words(self) -> str:
        """Return the status with what it rests on."""
        if self.convexity == "refuted" and self.eigenvalue is not None:
            return (
                f"{self.status}: the kernel matrix is not positive semidefinite (an eigenvalue is "
                f"at most {self.eigenvalue:.3g}), so no gap bounds the distance from the optimum"
            )
        if self.convexity == "refuted":
            return f"{self.status}: the kernel is indefinite, so the problem is not convex"
        if self.convexity == "not ruled out" and self.status != "stationary":
            return (
                f"{self.status}, provided that the kernel matrix is positive semidefinite: "
                "negative curvature was not ruled out"
            )
        return self.status

    def _gap_in_words(self) -> str:
        """Return the gap, absolute and relative, and what is known of it."""
        if math.isnan(self.gap):
            return "none" + (": the kernel is indefinite" if self.convexity == "refuted" else "")
        largest = "at most " if self.n_problems > 1 else ""
        return (
            f"{self.gap:.3g}  (relative {largest}{self.relative_gap:.3g}, "
            f"{self._rounding_in_words()})"
        )

    def _rounding_in_words(self) -> str:
        """Return the part of rounding in the gap, with what is known about it."""
        reason = self.rounding_basis.partition(": ")[2]
        if self.guaranteed:
            return f"at most {self.rounding:.1g} of it rounding, guaranteed"
        return f"about {self.rounding:.1g} of it rounding" + (
            f"; not guaranteed: {reason}" if reason else ""
        )

    def _tubes_in_words(self) -> str:
        """Return for which tubes the values hold, where these are not the ones asked for."""
        if not self.widened > 0.0:
            return ""
        return f"  (of tubes wider by {self.widened:.1g}, which the model may need)"

    def __str__(self) -> str:
        several = self.n_problems > 1
        largest = "at most " if several else ""  # of several problems the largest one is known
        evaluated = f"{self.n_kernel_values:,} evaluated, " if self.n_kernel_values else ""
        rows = [
            ("status", self._status_in_words()),
            ("primal", f"{self.primal:.10g}{self._tubes_in_words()}"),
            ("dual", f"{self.dual:.10g}"),
            ("gap", self._gap_in_words()),
            ("KKT violation", f"{largest}{self.kkt_violation:.3g}"),
            ("iterations", f"{self.n_iter:,}"),
            ("kernel values", f"{evaluated}checked in {self.precision}"),
            ("seconds", f"{self.seconds:.3g}"),
        ]
        if self.assumes is not None:
            rows.append(("assumes", self.assumes))
        if several:
            rows.append(("problems", f"{self.n_problems:,}: values and counts are sums over them"))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _certainty(basis: str) -> tuple[bool, int]:
    """Return a key of what is known of rounding, least for the basis with the most doubts."""
    return basis == "guaranteed", -len(basis)


def _largest(values: Any) -> float:
    """Return the maximum, NaN if any value is NaN: an unknown is not a small number."""
    values = list(values)
    return math.nan if any(math.isnan(v) for v in values) else max(values)


def significant_figures(certificate: Certificate) -> float:
    """Return -log10 of the relative gap: 3 means a relative gap of one thousandth.

    A. Smola, *Learning with Kernels* (1998), section 4.6, counts -log10(gap / (|P| + 1)), P being
    the primal value. Relative to the terms of P, figures mean the same for small and large values.

    Parameters
    ----------
    certificate : Certificate
        Primal and dual value of a model.

    Returns
    -------
    float
        Infinite where the gap is 0 up to its sign, NaN where no gap exists.

    Examples
    --------
    >>> from mercer.solvers import Certificate, significant_figures
    >>> c = Certificate("optimal", primal=10.0, dual=9.99, gap=0.01, relative_gap=0.001,
    ...                 kkt_violation=1e-4)
    >>> round(significant_figures(c), 6)
    3.0
    """
    if math.isnan(certificate.relative_gap):
        return math.nan
    if certificate.relative_gap <= 0.0:
        return math.inf
    return -math.log10(certificate.relative_gap)
