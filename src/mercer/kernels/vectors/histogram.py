"""The intersection of two histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram.program import Builder

from ..definiteness import PSD
from .vector import VectorKernel


class HistogramKernel(VectorKernel):
    """Base class of the kernels on vectors without negative entries, such as histograms."""

    _is_restricted = True

    def check_domain(self, X: Any) -> None:
        """Reject negative entries; see :meth:`Kernel.check_domain`."""
        require_nonnegative(X, type(self).__name__)


def require_nonnegative(X: Any, owner: str) -> None:
    """Reject vectors with negative entries."""
    values = X.data if sp.issparse(X) else X
    if values.size and (least := values.min()) < 0:
        where = ""
        if not sp.issparse(X):
            row, column = np.unravel_index(int(np.argmin(values)), values.shape)
            where = f" (row {row}, column {column})"
        raise ValueError(
            f"{owner} is defined on vectors without negative entries, such as histograms; got "
            f"{least:.6g}{where}. Shift or rescale the columns, or use a kernel on all vectors."
        )


class HistogramIntersection(HistogramKernel):
    r"""The mass that two histograms have in common.

    .. math:: k(x, z) = \sum_i \min(x_i, z_i), \quad x, z \ge 0

    Positive semidefinite: the minimum of two numbers is the integral of the product of the
    indicators of [0, x] and [0, z].

    Notes
    -----
    Use it for histograms of images or of words, as a first kernel without parameters: a bin that is
    huge in one histogram only does no harm. Divide by the mass if the sizes of objects should not
    count. Its functions are sums of functions of single bins. Avoid it where neighbouring bins mean
    nearly the same: a shift by one bin is a complete mismatch; blur the histograms first.

    Examples
    --------
    >>> from mercer.kernels import HistogramIntersection
    >>> HistogramIntersection()([[1.0, 2.0, 0.0]], [[2.0, 1.0, 5.0]])
    array([[2.]])
    """

    definiteness = PSD  # an inner product of indicator functions

    def compile(self, builder: Builder) -> None:
        builder.leaf("minimum")
