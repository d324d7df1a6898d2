"""The answer of `check`: what a kernel matrix is, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.kernels import Definiteness

from .pair_conditions import Asymmetry, NegativeMinor
from .readable import Report
from .witness import Witness


@dataclass(frozen=True, eq=False)
class Verdict(Report):
    """Definiteness of a kernel matrix on given objects.

    A verdict of failure is about the kernel: one matrix with a witness disproves it. A verdict
    of success is about these objects alone.

    Attributes
    ----------
    n : int
        Number of objects.
    definiteness : Definiteness
        Definiteness of the matrix: "positive definite", "positive semidefinite" (the smallest
        eigenvalue is zero up to `tolerance`), "conditionally positive definite" (the form is
        non-negative for all c with sum_i c_i = 0), "conditionally positive definite of order 2"
        (for all c that are also orthogonal to the linear functions of the objects), "indefinite",
        or "unknown" where float64 cannot decide: the smallest eigenvalue is negative beyond
        ordinary rounding, but not beyond the errors of the values. For a matrix that is not
        symmetric it speaks of (K + K') / 2, which has the same quadratic form.
    smallest_eigenvalue, largest_eigenvalue : float
        Of the symmetric part.
    smallest_on_sum_zero, smallest_on_linear : float or None
        Smallest eigenvalue on the vectors of sum zero, and on those that are also orthogonal to
        the linear functions; None where it was not needed, or where there are no such vectors.
    tolerance : float
        Eigenvalues of smaller size count as zero: the norm of the errors of the entries, by which
        they can move an eigenvalue at most, plus the error of the decomposition.
    entry_error : float
        The largest error of an entry.
    error_source : {"bounded", "assumed", "given"}
        Whether the errors of the entries were bounded (kernels of the library), assumed (matrices
        and kernels of the user's own) or given by the user.
    symmetric : bool
        Whether k(x, z) and k(z, x) differ by no more than twice their errors.
    asymmetry : Asymmetry or None
        The pair of objects that differs most, if some pair does.
    cauchy_schwarz : bool
        Whether k(x, z)^2 <= k(x, x) k(z, z) for all pairs, up to the errors.
    worst_pair : NegativeMinor or None
        The pair that breaks the inequality most.
    witness : Witness or None
        A vector with c'Kc < 0, for a matrix that is not positive semidefinite.
    conditional_witness : Witness or None
        One whose entries sum to zero, for a matrix that is not conditionally definite of order 1.
    claim : Definiteness or None
        The definiteness that the kernel states.
    exhaustive : bool
        Whether all eigenvalues were computed. False for many objects: then a positive verdict
        says only that Lanczos' method found no negative direction.

    Examples
    --------
    >>> from mercer.inspection import check
    >>> from mercer.kernels import Sigmoid
    >>> verdict = check(Sigmoid(gamma=1.0, coef0=-1.0), [[0.5], [1.0]])
    >>> verdict.is_psd, verdict.worst_pair.i
    (False, 0)
    """

    n: int
    definiteness: Definiteness
    smallest_eigenvalue: float
    largest_eigenvalue: float
    smallest_on_sum_zero: float | None
    smallest_on_linear: float | None
    tolerance: float
    entry_error: float
    error_source: str
    symmetric: bool
    asymmetry: Asymmetry | None
    cauchy_schwarz: bool
    worst_pair: NegativeMinor | None
    witness: Witness | None
    conditional_witness: Witness | None
    claim: Definiteness | None
    exhaustive: bool

    @property
    def is_psd(self) -> bool:
        """Whether the matrix is symmetric and positive semidefinite: a Gram matrix."""
        return self.symmetric and self.definiteness.is_psd

    @property
    def conditional_order(self) -> int | None:
        """The degree below which polynomials are excluded: 0, 1, 2; None if indefinite."""
        return self.definiteness.order

    @property
    def contradicts_claim(self) -> bool:
        """Whether the matrix disproves what the kernel says of itself."""
        if self.claim is None or self.claim.order is None:
            return False
        disproved = (
            self.witness is not None,
            self.conditional_witness is not None,
            self.conditional_order is None and self.smallest_on_linear is not None,
        )
        return not self.symmetric or disproved[self.claim.order]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, and the order, as plain Python objects."""
        return super().to_dict() | {"conditional_order": self.conditional_order}

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("definiteness", self._definiteness_in_words()),
            ("symmetric", self._symmetry_in_words()),
            ("Cauchy-Schwarz", self._pairs_in_words()),
            (
                "eigenvalues",
                f"{self.smallest_eigenvalue:.6g} to {self.largest_eigenvalue:.6g}, zero up to "
                f"{self.tolerance:.2g}",
            ),
        ]
        if self.smallest_on_sum_zero is not None:
            rows.append(("with sum zero", f"smallest {self.smallest_on_sum_zero:.6g}"))
        if self.smallest_on_linear is not None:
            rows.append(("beyond linear", f"smallest {self.smallest_on_linear:.6g}"))
        for name, witness in (
            ("witness", self.witness),
            ("sum-zero witness", self.conditional_witness),
        ):
            if witness is not None:
                rows.append((name, self._witness_in_words(witness)))
        if self.claim is not None:
            disproved = ", which this matrix disproves" if self.contradicts_claim else ""
            rows.append(("the kernel says", f"{self.claim}{disproved}"))
        return rows

    def _definiteness_in_words(self) -> str:
        if self.definiteness is Definiteness.UNKNOWN:
            return (
                f"cannot be decided in float64 on {self.n:,} objects: values may be wrong by "
                f"{self.entry_error:.2g} ({self.error_source})"
            )
        text = str(self.definiteness)
        if self.definiteness is Definiteness.CONDITIONALLY_POSITIVE_DEFINITE:
            text += " of order 1"
        text += f" on {self.n:,} object{'s' * (self.n != 1)}"
        if not self.symmetric:
            text += " (symmetric part)"
        if not self.exhaustive and self.definiteness.is_psd:
            text += ", as far as Lanczos' method sees"
        return text

    def _symmetry_in_words(self) -> str:
        if self.symmetric or self.asymmetry is None:
            return "yes"
        a = self.asymmetry
        return f"no: k(x{a.i}, x{a.j}) = {a.value:.6g} but k(x{a.j}, x{a.i}) = {a.mirrored:.6g}"

    def _pairs_in_words(self) -> str:
        pair = self.worst_pair
        if pair is None:
            return "holds for every pair"
        if pair.i == pair.j:
            return f"broken: k(x{pair.i}, x{pair.i}) = {pair.value:.6g} is negative"
        return (
            f"broken: |k(x{pair.i}, x{pair.j})| = {abs(pair.value):.6g} exceeds {pair.limit:.6g}, "
            f"minor {pair.minor:.6g}"
        )

    def _witness_in_words(self, witness: Witness) -> str:
        return (
            f"c'Kc = {witness.value:.6g} with {len(witness.support)} entries of c, by "
            f"{witness.proof}; negative for any errors of the entries up to "
            f"{witness.entry_error:.2g} ({self.error_source})"
        )
