"""The penalty of ridge machines, checked: one number, or one for each target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import ParameterError, show

Array = NDArray[np.float64]


def penalties(alpha: Any, n_targets: int) -> Array:
    """Return an alpha >= 0 for each target.

    `alpha`: the parameter. `n_targets`: number of targets.
    """
    try:
        values = np.asarray(alpha, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.full((0, 0), np.nan)
    if isinstance(alpha, bool | str) or values.ndim > 1:
        raise ParameterError(
            f"alpha must be a number >= 0, or one for each target; got {show(alpha)}."
        )
    if values.ndim == 1 and len(values) not in (1, n_targets):
        raise ParameterError(
            f"Number of targets and number of penalties do not correspond: {n_targets} targets, "
            f"{len(values)} values of alpha."
        )
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise ParameterError(f"alpha must be finite and at least 0; got {show(alpha)}.")
    return np.broadcast_to(values, (n_targets,)).astype(np.float64)
