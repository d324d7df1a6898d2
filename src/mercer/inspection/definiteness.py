"""`check`: whether a matrix is a Gram matrix and, if not, which vector proves it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels import Definiteness, Kernel
from mercer.kernels.definiteness import CPD, CPD2, INDEFINITE, PD, PSD
from mercer.numerics.smallest_eigenvalue import (
    Extreme,
    complement,
    dense_extreme,
    lanczos_extreme,
    polynomial_basis,
)
from mercer.objects.parameters import real

from .matrix_source import KernelValues
from .pairs import scan_pairs
from .verdict import Verdict
from .witness import Witness, prove

# Up to this many objects the whole matrix is decomposed: about two seconds and 100 MB.
DENSE = 2000
# Errors of a kernel value, in units of the machine epsilon times the largest value. The kernels
# of the library stay below 8 on data of a few hundred columns.
ULPS = 16
# Entries of a Ritz vector that a witness for many objects is made of.
SUPPORT = 400


def check(kernel: Any, X: Any = None, *, value_error: float | None = None) -> Verdict:
    r"""Return what a kernel matrix is: positive definite, conditionally so, or neither.

    A symmetric function is a kernel if and only if every one of its matrices is positive
    semidefinite, so one failure disproves it and comes with a witness, while success says nothing
    about other objects; :func:`falsify` looks for those. If the matrix fails, it is also examined
    on the vectors of sum zero (conditionally positive definite of order 1) and, for vectors, on
    those that are orthogonal to all linear functions (order 2).

    An eigenvalue counts as zero when it is smaller than n e + 4 u :math:`\lambda_{max}`, with u the
    machine epsilon and e the error of a kernel value: a symmetric matrix of errors up to e has
    norm n e at most and moves no eigenvalue further (Weyl), and the decomposition of the matrix is
    that of one nearby.

    Parameters
    ----------
    kernel : Kernel, str, callable or array of shape (n, n)
        The kernel; a function of two collections of objects; or a matrix, symmetric or not.
    X : objects, optional
        The objects; None for a matrix.
    value_error : float >= 0, optional
        Error of a kernel value relative to the largest absolute value. By default 16 units in the
        last place of the type of the values (float64 for kernels, that of the array for matrices),
        or more where a kernel that is evaluated approximately says so by an attribute
        ``value_error``.

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
    if value_error is None:
        relative = max(ULPS * values.eps, _stated_error(values.kernel))
    else:
        relative = real(value_error, "value_error", minimum=0)
    scan = scan_pairs(values, relative)
    error = relative * scan.largest
    matrix = _Symmetric(values, error)
    whole = matrix.extreme()
    tolerance = matrix.tolerance(whole)
    pair = None if scan.worst is None else np.unique([scan.worst.i, scan.worst.j])
    witness = _witness(matrix, whole, tolerance, pair, 0)
    conditional_witness = first = second = None
    if witness is not None:
        found, first, second, conditional_witness = _conditionally(matrix, tolerance, pair)
    else:
        found = PD if whole.smallest > tolerance and matrix.exhaustive else PSD
    differs = scan.asymmetry is not None and (
        abs(scan.asymmetry.value - scan.asymmetry.mirrored) > 2 * error
    )
    return Verdict(
        n=values.n,
        definiteness=found,
        smallest_eigenvalue=whole.smallest,
        largest_eigenvalue=whole.largest,
        smallest_on_sum_zero=first,
        smallest_on_linear=second,
        tolerance=tolerance,
        entry_error=error,
        symmetric=not differs,
        asymmetry=scan.asymmetry,
        cauchy_schwarz=scan.worst is None,
        worst_pair=scan.worst,
        witness=witness,
        conditional_witness=conditional_witness,
        claim=values.claim,
        exhaustive=matrix.exhaustive,
    )


def _stated_error(kernel: Kernel | None) -> float:
    """Return the largest error that a kernel or one of its parts states of its values."""
    if kernel is None:
        return 0.0
    own = float(getattr(kernel, "value_error", 0.0))
    return max([own, *map(_stated_error, kernel._parts())])


def _witness(
    matrix: _Symmetric, extreme: Extreme, tolerance: float, pair: np.ndarray | None, order: int
) -> Witness | None:
    """Return a witness from the smallest eigenvalue or, failing that, from the worst pair.

    Two objects of small length may fail by less than rounding can do among all of them.
    """
    found = matrix.prove(extreme, order) if extreme.smallest < -tolerance else None
    if found is None and pair is not None and len(pair) > order:
        found = matrix.prove_on(pair, order)
    return found


def _conditionally(
    matrix: _Symmetric, tolerance: float, pair: np.ndarray | None
) -> tuple[Definiteness, float | None, float | None, Witness | None]:
    """Return what holds on the subspaces, for a matrix that is not positive semidefinite."""
    constant = polynomial_basis(matrix.n)
    if matrix.n == 1:
        return CPD, None, None, None  # no vector but 0 sums to zero
    first = matrix.extreme(constant)
    witness = _witness(matrix, first, tolerance, pair, 1)
    if witness is None:
        return CPD, first.smallest, None, None
    X = matrix.values.vectors()
    if X is not None:
        linear = polynomial_basis(matrix.n, X)
        if linear.shape[1] < matrix.n:
            second = matrix.extreme(linear)
            found = CPD2 if second.smallest >= -tolerance else INDEFINITE
            return found, first.smallest, second.smallest, witness
    return INDEFINITE, first.smallest, None, witness


class _Symmetric:
    """The symmetric part of a matrix: decomposed if small, through products if large."""

    def __init__(self, values: KernelValues, error: float) -> None:
        self.values, self.n, self.error = values, values.n, error
        self.exhaustive = values.n <= DENSE
        if self.exhaustive:
            K = values.full()
            self.K = (K + K.T) / 2

    def extreme(self, null_space: np.ndarray | None = None) -> Extreme:
        """Return the extreme eigenvalues on the vectors orthogonal to some columns."""
        if not self.exhaustive:
            return lanczos_extreme(self.values.matmul, self.n, null_space)
        return dense_extreme(self.K, None if null_space is None else complement(null_space))

    def tolerance(self, extreme: Extreme) -> float:
        """Return the size below which an eigenvalue may be an artefact of rounding."""
        norm = max(abs(extreme.smallest), abs(extreme.largest))
        return self.n * self.error + 4 * float(np.finfo(np.float64).eps) * norm

    def prove(self, extreme: Extreme, order: int) -> Witness | None:
        """Return the vector of the smallest eigenvalue as a witness, if it is one."""
        if self.exhaustive:
            return prove(self.K, extreme.attained(), self.error, order)
        # A principal submatrix suffices: that of the objects that matter most.
        return self.prove_on(np.sort(np.argsort(-np.abs(extreme.attained()))[:SUPPORT]), order)

    def prove_on(self, chosen: np.ndarray, order: int) -> Witness | None:
        """Return a witness made of some of the objects, if there is one."""
        K = self.values.rows(chosen)[:, chosen]
        K = (K + K.T) / 2
        basis = complement(polynomial_basis(len(chosen))) if order else None
        found = prove(K, dense_extreme(K, basis).attained(), self.error, order)
        if found is None:
            return None
        vector = np.zeros(self.n)
        vector[chosen] = found.vector
        return Witness(
            vector, found.value, found.upper_bound, found.entry_error, found.proof, order
        )
