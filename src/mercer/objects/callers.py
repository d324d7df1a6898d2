"""Warnings that point at the line of the user, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

_ON_THE_WAY = {"mercer", "sklearn", "joblib", "contextlib", "functools"}
"""Packages whose frames lie between the user and a warning: this one, and what calls it."""


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line outside the library that led to it.

    That is the line of the user who called a method, also by way of a pipeline or a search of
    scikit-learn.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _root(frame.f_globals) in _ON_THE_WAY:
        frame = frame.f_back
        level += 1
    outside = _root(frame.f_globals) not in _ON_THE_WAY
    warnings.warn(message, category, stacklevel=level if outside else 2)


def in_cross_validation() -> bool:
    """Return whether a candidate of a search or a fold of scikit-learn's is being fitted.

    scikit-learn tells the fit of a candidate nothing of this, and filters for warnings do not reach
    the processes in which it may run; the stack does.
    """
    frame = sys._getframe(1).f_back
    while frame is not None:
        name = frame.f_code.co_name, frame.f_globals.get("__name__")
        if name == ("_fit_and_score", "sklearn.model_selection._validation"):
            return True
        frame = frame.f_back
    return False


def _root(variables: dict[str, object]) -> str:
    return str(variables.get("__name__", "")).partition(".")[0]
