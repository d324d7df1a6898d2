"""Cross-validation: scikit-learn's functions on the engine that shares work between fits.

Signatures and results are those of :mod:`sklearn.model_selection`; ``n_jobs=None`` is all cores.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from sklearn.model_selection import _validation

from .borrowed import rebound, validated
from .loop import SharedLoop

# An example of each function, on the first two classes of the iris data.
_EXAMPLES = {
    "cross_validate": (
        "sorted(cross_validate(SVC(), X, y, cv=3))",
        "['fit_time', 'score_time', 'test_score']",
    ),
    "cross_val_score": ("cross_val_score(SVC(), X, y, cv=3)", "array([1., 1., 1.])"),
    "cross_val_predict": ("cross_val_predict(SVC(), X, y, cv=3).shape", "(100,)"),
    "learning_curve": ("learning_curve(SVC(), X, y, cv=3, shuffle=True)[0].shape", "(5,)"),
    "validation_curve": (
        'validation_curve(SVC(), X, y, param_name="C", param_range=[1, 10], cv=3)[1].shape',
        "(2, 3)",
    ),
}


def _described(function: Any) -> str:
    """Return the docstring of a function of scikit-learn that runs on the shared engine."""
    name = function.__name__
    call, result = _EXAMPLES[name]
    summary = (function.__doc__ or "").strip().splitlines()[0]
    return f"""{summary}

    :func:`sklearn.model_selection.{name}` with kernel matrices and solutions shared between the
    fits of mercer's machines.

    Parameters
    ----------
    {", ".join(inspect.signature(function).parameters)} : object
        As for the function of scikit-learn; ``n_jobs=None`` is all cores.

    Returns
    -------
    object
        What the function of scikit-learn returns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import {name}
    >>> X, y = (part[:100] for part in load_iris(return_X_y=True))
    >>> {call}
    {result}
    """


def _shared(function: Any) -> Any:
    """Return a function of scikit-learn with its loop over fits replaced."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        loop = SharedLoop(n_jobs=kwargs.get("n_jobs"), verbose=int(kwargs.get("verbose") or 0))
        return rebound(function, **loop.names())(*args, **kwargs)

    run.__module__ = __name__
    run.__doc__ = _described(function)
    return validated(run, function)


cross_validate = _shared(_validation.cross_validate)
cross_val_predict = _shared(_validation.cross_val_predict)
learning_curve = _shared(_validation.learning_curve)
validation_curve = _shared(_validation.validation_curve)


@functools.wraps(_validation.cross_val_score)
def _cross_val_score(*args: Any, **kwargs: Any) -> Any:
    return rebound(_validation.cross_val_score, cross_validate=cross_validate)(*args, **kwargs)


_cross_val_score.__module__ = __name__
_cross_val_score.__doc__ = _described(_validation.cross_val_score)
cross_val_score = validated(_cross_val_score, _validation.cross_val_score)
