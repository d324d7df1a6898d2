"""`check`: whether a matrix is a Gram matrix and, if not, which vector proves it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer.kernels import Definiteness
from mercer.kernels.definiteness import CPD, CPD2, INDEFINITE, PD, PSD, UNKNOWN
from mercer.numerics.smallest_eigenvalue import (
    Extreme,
    complement,
    dense_extreme,
    lanczos_extreme,
    orthonormal_polynomials,
)
from mercer.objects.parameters import real

from .entry_errors import EntryErrors
from .matrix_source import KernelValues
from .pair_conditions import scan_pairs
from .verdict import Verdict
from .witness import Witness, prove

# Up to this many objects the whole matrix is decomposed: about two seconds and 100 MB.
DENSE = 2000
# Entries of a Ritz vector that a witness for many objects is made of.
SUPPORT = 400


def check(kernel: Any, X: Any = None, *, value_error: float | None = None) -> Verdict:
    r"""Return the definiteness of a kernel matrix: positive, conditionally positive, or neither.

    A symmetric function is a kernel if and only if every one of its matrices is positive
    semidefinite, so one failure disproves it and comes with a witness, while success says nothing
    about other objects; :func:`falsify` looks for those. If the matrix fails, it is also examined
    on the vectors of sum zero (conditionally positive definite of order 1) and, for vectors, on
    those that are orthogonal to all linear functions (order 2).

    The errors of the kernel values are part of the answer. Those of the library's kernels are
    bounded by following their computation (`mercer.gram.running_error`); those of a matrix and of a
    kernel of the user's own are unknown, and assumed to be 16 units in the last place of the
    largest value. A matrix of errors moves no eigenvalue further than its norm (Weyl), which is at
    most its largest row sum; with the error of the decomposition, :math:`(4 + \sqrt n) u
    \lambda_{max}`, this is the `tolerance` up to which an eigenvalue counts as zero. A matrix with
    a smallest eigenvalue that is negative beyond ordinary rounding, while the errors of its values
    are too large for a proof, gets the verdict "unknown": its definiteness cannot be decided in
    float64.

    Parameters
    ----------
    kernel : Kernel, str, callable or array of shape (n, n)
        The kernel; a function of two collections of objects; or a matrix, symmetric or not.
    X : objects, optional
        The objects; None for a matrix.
    value_error : float >= 0, optional
        Error of a kernel value relative to the largest absolute value. By default the errors are
        bounded for the library's kernels, and assumed to be 16 units in the last place of the type
        of the values for others (float64 for kernels, that of the array for matrices); or more
        where a kernel that is evaluated approximately says so by an attribute ``value_error``.

    Returns
    -------
    Verdict
        The answer; it prints as a short report and has a `witness` where the matrix fails.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import check
    >>> from mercer.kernels import RBF
    >>> check(RBF(gamma=0.5), np.arange(4.0)[:, None]).definiteness
    <Definiteness.POSITIVE_DEFINITE: 'positive definite'>

    Symmetry and the inequality of Cauchy and Schwarz do not suffice:

    >>> verdict = check([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    >>> verdict.symmetric, verdict.cauchy_schwarz, verdict.is_psd
    (True, True, False)
    >>> round(verdict.witness.value, 5)
    -0.41421
    """
    values = KernelValues(kernel, X)
    if value_error is not None:
        value_error = real(value_error, "value_error", minimum=0)
    errors = EntryErrors(values, value_error)
    scan = scan_pairs(values, errors)
    matrix = _Symmetric(values, errors)
    whole = matrix.extreme()
    tolerance = scan.error_norm + matrix.rounding(whole)
    pair = None if scan.worst is None else np.unique([scan.worst.i, scan.worst.j])
    witness = _witness(matrix, whole, tolerance, pair, 0)
    conditional_witness = first = second = None
    if witness is not None:
        found, first, second, conditional_witness = _conditionally(matrix, tolerance, pair)
    elif whole.smallest < -values.n * errors.ordinary - matrix.rounding(whole):
        found = UNKNOWN
    else:
        found = PD if whole.smallest > tolerance and matrix.exhaustive else PSD
    return Verdict(
        n=values.n,
        definiteness=found,
        smallest_eigenvalue=whole.smallest,
        largest_eigenvalue=whole.largest,
        smallest_on_sum_zero=first,
        smallest_on_linear=second,
        tolerance=tolerance,
        entry_error=scan.largest_error,
        error_source=errors.source,
        symmetric=scan.symmetric,
        asymmetry=scan.asymmetry,
        cauchy_schwarz=scan.worst is None,
        worst_pair=scan.worst,
        witness=witness,
        conditional_witness=conditional_witness,
        claim=values.claim,
        exhaustive=matrix.exhaustive,
    )


def _witness(
    matrix: _Symmetric, extreme: Extreme, tolerance: float, pair: np.ndarray | None, order: int
) -> Witness | None:
    """Return a witness from the smallest eigenvalue or, where rounding hides it, the worst pair."""
    found = matrix.prove(extreme, order) if extreme.smallest < -tolerance else None
    if found is None and pair is not None and len(pair) > order:
        found = matrix.prove_on(pair, order)
    return found


def _conditionally(
    matrix: _Symmetric, tolerance: float, pair: np.ndarray | None
) -> tuple[Definiteness, float | None, float | None, Witness | None]:
    """Return the conditional definiteness of a matrix that is not positive semidefinite."""
    constant = orthonormal_polynomials(matrix.n)
    if matrix.n == 1:
        return CPD, None, None, None  # no vector but 0 sums to zero
    first = matrix.extreme(constant)
    witness = _witness(matrix, first, tolerance, pair, 1)
    if witness is None:
        return CPD, first.smallest, None, None
    X = matrix.values.vectors()
    if X is not None:
        linear = orthonormal_polynomials(matrix.n, X)
        if linear.shape[1] < matrix.n:
            second = matrix.extreme(linear)
            found = CPD2 if second.smallest >= -tolerance else INDEFINITE
            return found, first.smallest, second.smallest, witness
    return INDEFINITE, first.smallest, None, witness


class _Symmetric:
    """The symmetric part of a matrix: decomposed if small, through products if large."""

    def __init__(self, values: KernelValues, errors: EntryErrors) -> None:
        self.values, self.n, self.errors = values, values.n, errors
        self.exhaustive = values.n <= DENSE
        if self.exhaustive:
            K = values.full()
            self.K = (K + K.T) / 2

    def extreme(self, null_space: np.ndarray | None = None) -> Extreme:
        """Return the extreme eigenvalues on the vectors orthogonal to some columns."""
        if not self.exhaustive:
            return lanczos_extreme(self.values.matmul, self.n, null_space)
        return dense_extreme(self.K, None if null_space is None else complement(null_space))

    def rounding(self, extreme: Extreme) -> float:
        """Return the error of an eigenvalue by the decomposition."""
        norm = max(abs(extreme.smallest), abs(extreme.largest))
        return (4.0 + self.n**0.5) * float(np.finfo(np.float64).eps) * norm

    def prove(self, extreme: Extreme, order: int) -> Witness | None:
        """Return the vector of the smallest eigenvalue as a witness, if it is one."""
        if self.exhaustive:
            return prove(self.K, extreme.attained(), self.errors.full(), order)
        # A principal submatrix suffices: that of the objects that matter most.
        return self.prove_on(np.sort(np.argsort(-np.abs(extreme.attained()))[:SUPPORT]), order)

    def prove_on(self, chosen: np.ndarray, order: int) -> Witness | None:
        """Return a witness made of some of the objects, if there is one."""
        K = self.values.rows(chosen)[:, chosen]
        K, errors = (K + K.T) / 2, self.errors.rows(chosen)[:, chosen]
        basis = complement(orthonormal_polynomials(len(chosen))) if order else None
        found = prove(K, dense_extreme(K, basis).attained(), errors, order)
        if found is None:
            return None
        vector = np.zeros(self.n)
        vector[chosen] = found.vector
        return replace(found, vector=vector)
