"""Scale of polynomial kernels: a warning if values are too large or too small for a fit.

A power of gamma x . z + c is of moderate size only while gamma x . z + c is near 1: degree 15 turns
10 into 1e15 and 0.1 into 1e-15, and the dual problem becomes ill-conditioned. Y. Abu-Mostafa, M.
Magdon-Ismail and H.-T. Lin, *Learning From Data*, e-chapter 8, advise degrees up to 10 and data
scaled to moderate size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.objects.callers import warn_caller
from mercer.objects.rows import squared_norms

HIGHEST_DEGREE = 10  # above it one column of larger scale decides all values
LARGEST_VALUE = 1e8  # whose rounding in float64 is about 1e-8


class KernelScaleWarning(UserWarning):
    """The values of a kernel are of extreme size on the data.

    Examples
    --------
    >>> import warnings
    >>> from mercer import SVC
    >>> from mercer.kernels import Polynomial
    >>> from mercer.selection import KernelScaleWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = SVC(kernel=Polynomial(20, gamma=1.0)).fit([[100.0], [200.0]], [0, 1])
    ...
    >>> any(issubclass(warning.category, KernelScaleWarning) for warning in caught)
    True
    """


def polynomial_scale(degree: int, gamma: float, coef0: float, X: Any) -> tuple[float, str]:
    """Return the largest k(x, x), a bound of all values, and what is wrong with it, if anything."""
    with np.errstate(over="ignore"):
        base = gamma * float(squared_norms(X).max()) + coef0
        largest = float(np.abs(np.float64(base)) ** degree)
    if largest > LARGEST_VALUE:
        problem = f"its values reach {largest:.3g} on these data"
    elif 0.0 < largest < 1.0 / LARGEST_VALUE:
        problem = f"its values are no larger than {largest:.3g} on these data"
    elif degree > HIGHEST_DEGREE:
        problem = f"degree {degree} is above {HIGHEST_DEGREE}"
    else:
        problem = ""
    return largest, problem


def warn_of_scale(kernel: Any, X: Any) -> None:
    """Warn of a bound polynomial kernel whose values are of extreme size on the vectors `X`."""
    if not (sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.size)):
        return
    _, problem = polynomial_scale(int(kernel.degree), float(kernel.gamma), float(kernel.coef0), X)
    if problem:
        warn_caller(
            f"{kernel!r}: {problem}, so the problem is ill-conditioned. Scale the columns, lower "
            "gamma so that gamma x . x + coef0 is near 1, or use a lower degree.",
            KernelScaleWarning,
        )
