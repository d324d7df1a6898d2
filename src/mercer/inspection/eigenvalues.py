"""The eigenvalues of a kernel matrix, and what they say about its features.

The eigenvalues of K are those of the scatter of the objects in feature space: how many directions
the objects fill, how fast the variance along them decays, and how well conditioned a linear
system with K is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from mercer.objects.parameters import integer

from .definiteness_check import DENSE
from .entry_errors import EntryErrors
from .matrix_source import KernelValues
from .readable import Report

LEADING = 50  # eigenvalues that are computed for many objects


@dataclass(frozen=True, eq=False)
class EigenvalueReport(Report):
    """The spectrum of a kernel matrix.

    Attributes
    ----------
    n : int
        Number of objects.
    eigenvalues : ndarray
        Largest first; all of them, or the leading ones for many objects.
    trace : float
        Their sum, the total squared length in feature space.
    tolerance : float
        Eigenvalues of smaller size count as zero (see :func:`check`).
    rank : int or None
        Eigenvalues larger than `tolerance` in size: the dimension that the objects span in
        feature space. None where only the leading ones are known.
    n_negative : int or None
        Eigenvalues below -`tolerance`; 0 for a kernel.
    condition : float or None
        Largest over smallest size of an eigenvalue; infinity where the rank is less than n.
    effective_rank : float
        trace^2 over the sum of squared eigenvalues: between 1 (all objects alike) and n
        (all orthogonal and of equal length). With negative eigenvalues the sum of the sizes takes
        the place of the trace, and NaN stands where not all of them are known.

    Examples
    --------
    >>> from mercer.inspection import eigenvalue_report
    >>> report = eigenvalue_report([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> report.eigenvalues.round(5)
    array([3.41421, 2.     , 0.58579])
    >>> report.rank, round(report.condition, 4)
    (3, 5.8284)
    """

    n: int
    eigenvalues: np.ndarray
    trace: float
    tolerance: float
    rank: int | None
    n_negative: int | None
    condition: float | None
    effective_rank: float

    @property
    def exhaustive(self) -> bool:
        """Whether all eigenvalues are known."""
        return len(self.eigenvalues) == self.n

    @property
    def _negative(self) -> bool:
        """Whether some eigenvalues are known to be negative, seen or by the trace alone."""
        return bool(self.n_negative) or float(self.eigenvalues.sum()) > self.trace + (
            self.n * self.tolerance
        )

    def leading(self, share: float) -> int | None:
        """Return how many leading eigenvalues make up a share of the trace, between 0 and 1.

        None if the known ones do not suffice, or if some are negative, so that the positive ones
        make up more than the trace.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share must lie between 0 and 1; got {share!r}.")
        if self._negative:
            return None
        reached = np.cumsum(self.eigenvalues) >= share * self.trace - self.tolerance
        return int(np.argmax(reached)) + 1 if reached.any() else None

    def _rows(self) -> list[tuple[str, str]]:
        values = self.eigenvalues
        shown = ", ".join(f"{v:.4g}" for v in values[:5]) + ", ..." * (len(values) > 5)
        shares = [
            f"{100 * share:g}% in {number}"
            for share in (0.9, 0.99, 0.999)
            if (number := self.leading(share)) is not None
        ]
        rows = [
            ("eigenvalues", f"{shown} ({len(values):,} of {self.n:,} computed)"),
            ("trace", f"{self.trace:.6g}" + (f"; {', '.join(shares)}" if shares else "")),
        ]
        if not np.isnan(self.effective_rank):
            rows.append(("effective rank", f"{self.effective_rank:.4g} of {self.n:,}"))
        if self.exhaustive:
            rows += [
                ("rank", f"{self.rank:,} (zero up to {self.tolerance:.2g})"),
                ("negative", f"{self.n_negative:,}"),
                ("condition", f"{self.condition:.3g}"),
            ]
        return rows


def eigenvalue_report(
    kernel: Any, X: Any = None, *, n_values: int | None = None
) -> EigenvalueReport:
    """Return the eigenvalues of a kernel matrix and what follows from them.

    Up to 2,000 objects all eigenvalues are computed. Beyond that, or with `n_values`, only the
    largest, by Lanczos' method from products with the matrix, which is never stored.

    Parameters
    ----------
    kernel : Kernel, str, callable or array of shape (n, n)
        The kernel, or the matrix itself, of which the symmetric part is taken.
    X : objects, optional
        The objects; None for a matrix.
    n_values : int >= 1, optional
        How many of the largest eigenvalues to compute.

    Returns
    -------
    EigenvalueReport
        The report; it prints.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import eigenvalue_report
    >>> from mercer.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> eigenvalue_report(Polynomial(degree=2, gamma=1.0, coef0=1.0), X).rank
    6
    """
    values = KernelValues(kernel, X)
    if n_values is not None:
        integer(n_values, "n_values", minimum=1)
    squares = sum(float(np.einsum("ij,ij->", block, block)) for _, block in values.blocks())
    trace = float(values.diagonal().sum())
    if n_values is None and values.n > DENSE:
        n_values = LEADING
    if n_values is None or n_values >= values.n - 1:
        K = values.full()
        eigenvalues = scipy.linalg.eigvalsh((K + K.T) / 2)[::-1]
        n_values = n_values or values.n
    else:
        eigenvalues, _ = leading(values, 1.0, n_values)
    norm = max(float(block.sum(axis=1).max()) for _, block in EntryErrors(values).blocks())
    rounding = (4.0 + values.n**0.5) * float(np.finfo(np.float64).eps)
    tolerance = norm + rounding * float(np.abs(eigenvalues).max())
    sizes = np.abs(eigenvalues)
    complete = len(eigenvalues) == values.n
    rank = int((sizes > tolerance).sum()) if complete else None
    condition = float(sizes.max() / sizes.min()) if rank == values.n else float("inf")
    return EigenvalueReport(
        n=values.n,
        eigenvalues=eigenvalues[:n_values],
        trace=trace,
        tolerance=tolerance,
        rank=rank,
        n_negative=int((eigenvalues < -tolerance).sum()) if complete else None,
        condition=condition if complete else None,
        effective_rank=_effective_rank(float(sizes.sum()) if complete else trace, squares),
    )


def _effective_rank(total: float, squares: float) -> float:
    """Return total^2 / squares; the square of a sum of sizes is at least the sum of squares."""
    if squares == 0.0:
        return 0.0
    found = total * total / squares
    return found if total > 0.0 and found >= 1.0 - 1e-9 else float("nan")


def leading(
    values: KernelValues, roots: np.ndarray | float, n_terms: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading eigenpairs of R K R, R = diag(roots), by Lanczos' method."""
    operator = scipy.sparse.linalg.LinearOperator(
        (values.n, values.n),
        matvec=lambda v: roots * values.matmul(roots * np.asarray(v).reshape(-1)),
    )
    start = np.random.default_rng(0).standard_normal(values.n)
    found, vectors = scipy.sparse.linalg.eigsh(operator, k=n_terms, which="LA", v0=start)
    order = np.argsort(-found)
    return found[order], vectors[:, order]
