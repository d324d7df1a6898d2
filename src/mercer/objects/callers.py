"""Warnings that point at the line of the user, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

# Packages whose frames lie between the user and a warning: this one, and what calls it.
_ON_THE_WAY = {"mercer", "sklearn", "joblib", "contextlib", "functools"}


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


def _root(variables: dict[str, object]) -> str:
    return str(variables.get("__name__", "")).partition(".")[0]
