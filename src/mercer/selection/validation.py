"""Cross-validation: scikit-learn's functions on the engine that shares work between fits.

Signatures and results are those of :mod:`sklearn.model_selection`; ``n_jobs=None`` is all cores.
"""

from __future__ import annotations

import functools
from typing import Any

from sklearn.model_selection import _validation

from .borrowed import rebound, validated
from .loop import SharedLoop


def _shared(function: Any) -> Any:
    """Return a function of scikit-learn with its loop over fits replaced."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        loop = SharedLoop(n_jobs=kwargs.get("n_jobs"), verbose=int(kwargs.get("verbose") or 0))
        return rebound(function, **loop.names())(*args, **kwargs)

    run.__module__ = __name__
    run.__doc__ = (
        f"{(function.__doc__ or '').strip().splitlines()[0]}\n\n"
        f"    :func:`sklearn.model_selection.{function.__name__}` with kernel matrices and\n"
        "    solutions shared between the fits of mercer's machines; parameters and results are\n"
        "    the same, and ``n_jobs=None`` is all cores.\n"
    )
    return validated(run, function)


cross_validate = _shared(_validation.cross_validate)
cross_val_predict = _shared(_validation.cross_val_predict)
learning_curve = _shared(_validation.learning_curve)
validation_curve = _shared(_validation.validation_curve)


@functools.wraps(_validation.cross_val_score)
def _cross_val_score(*args: Any, **kwargs: Any) -> Any:
    return rebound(_validation.cross_val_score, cross_validate=cross_validate)(*args, **kwargs)


_cross_val_score.__module__ = __name__
_cross_val_score.__doc__ = (
    "Evaluate a score by cross-validation.\n\n"
    "    :func:`sklearn.model_selection.cross_val_score` with kernel matrices and solutions\n"
    "    shared between the fits of mercer's machines; parameters and results are the same, and\n"
    "    ``n_jobs=None`` is all cores.\n"
)
cross_val_score = validated(_cross_val_score, _validation.cross_val_score)
