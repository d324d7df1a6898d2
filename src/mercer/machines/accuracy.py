"""Bounds on the error of kernel values in double precision, relative to (k(x, x) k(z, z))^1/2.

With u = 2^-53 and d columns, a dot product is wrong by d u |x| |z| at most, whatever cancels in it.
For (gamma <x, z> + c)^p that is p (d + few) u (gamma |x| |z| + c)^p, and by Cauchy and Schwarz the
last factor is at most (k(x, x) k(z, z))^1/2. For exp(-t) with t >= 0 wrong by (d + few) u t, the
value is wrong by (d + few) u t exp(-t), and t exp(-t) <= 1/e; squared distances of sparse rows come
from norms and are wrong by a multiple of the largest one instead.

A matrix or a function that the user supplies is taken as it is: its numbers are the kernel.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mercer.gram import Gram
from mercer.kernels import RBF, FromFunction, Laplacian, Linear, Polynomial, Precomputed
from mercer.solvers.rounding import UNIT

_FEW = 16
"""Roundings of a short expression and of the exponential function."""

_OTHER = 256
"""Roundings that are taken for enough where no bound is known."""


def kernel_error(gram: Gram) -> tuple[int, float]:
    """Return the number of columns and a bound on the relative error of a kernel value.

    Parameters
    ----------
    gram : Gram
        A kernel matrix in float64.
    """
    kernel, X = gram.kernel, gram.X
    columns = int(X.shape[1]) if hasattr(X, "shape") and X.ndim == 2 else 0
    if isinstance(kernel, Precomputed | FromFunction):
        return 0, 0.0
    roundings = columns + _FEW
    if type(kernel) is Linear:
        return columns, roundings * UNIT
    if type(kernel) is Polynomial:
        return columns, int(kernel.degree) * roundings * UNIT
    if type(kernel) in (RBF, Laplacian) and not sp.issparse(X):
        return columns, roundings * UNIT
    if type(kernel) is RBF:
        largest = float(np.max(X.multiply(X).sum(axis=1), initial=0.0))
        return columns, roundings * UNIT * (1.0 + 4.0 * float(np.max(kernel.gamma)) * largest)
    return columns, (columns + _OTHER) * UNIT
