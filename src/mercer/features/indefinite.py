"""Kernel matrices of user kernels that are not positive semidefinite, and so have no features."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.gram import Gram
from mercer.objects.callers import warn_caller
from mercer.solvers.curvature import look_for_negative_curvature

_NATIVE_VALUE, _PYTHON_VALUE = 1e-8, 1e-5
"""Seconds of a kernel value."""


def checked_convexity(gram: Gram, centred: bool, seconds: float) -> tuple[str, float | None]:
    """Return what is known of a kernel matrix, see `Certificate.convexity`, and its eigenvalue.

    Warns where a search of so many seconds finds a negative one; `centred`: of centred features.
    """
    order = gram.kernel.definiteness.order
    if order == 0 or (order == 1 and centred):
        return "theorem", None
    found = look_for_negative_curvature(
        gram,
        np.arange(gram.n),
        sum_zero=centred,
        seconds=seconds,
        value_seconds=_PYTHON_VALUE if gram.in_python else _NATIVE_VALUE,
    )
    if found.negative is None:
        return "checked" if found.complete else "not ruled out", None
    warn_caller(
        f"The kernel matrix of {gram.kernel!r} is not positive semidefinite: it has an eigenvalue "
        f"of at most {found.negative.eigenvalue:.3g}, so that there is no feature space, and what "
        "was found is not known to be optimal. Use a positive semidefinite kernel.",
        ConvergenceWarning,
    )
    return "refuted", found.negative.eigenvalue
