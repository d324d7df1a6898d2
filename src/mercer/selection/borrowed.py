"""scikit-learn's own functions, with their loop over fits replaced.

The searches and the functions of cross-validation in scikit-learn end in one line,
``parallel(delayed(_fit_and_score)(...) for ...)``. Here the same code runs with names of its module
bound to other objects: `Parallel` to a loop that sees all fits before it begins, so that it can
share work between them. Signatures, defaults, validation and the form of the results are
scikit-learn's by construction, in every version.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from sklearn.utils._param_validation import validate_params


def plain_delayed(function: Callable[..., Any]) -> Callable[..., tuple[Any, Any, Any]]:
    """Return a function that notes a call instead of making it."""
    return lambda *args, **kwargs: (function, args, kwargs)


def rebound(function: Any, **names: Any) -> Any:
    """Return a function of scikit-learn that finds other objects under some global names.

    Parameters
    ----------
    function : callable
        A function without closure, perhaps behind decorators, which are removed.
    **names : objects
        What the global names stand for.
    """
    raw = inspect.unwrap(function)
    missing = [name for name in names if name not in raw.__globals__]
    if missing or raw.__code__.co_freevars:
        raise RuntimeError(
            f"{raw.__qualname__} of this version of scikit-learn does not use {missing}; mercer "
            "needs scikit-learn 1.6 or later. Please report the version."
        )
    scope = {**raw.__globals__, **names}
    copy = FunctionType(raw.__code__, scope, raw.__name__, raw.__defaults__, None)
    copy.__kwdefaults__ = raw.__kwdefaults__
    return copy


def validated(function: Any, like: Any) -> Any:
    """Return a function whose parameters are checked as those of another are."""
    constraints = getattr(like, "_skl_parameter_constraints", None)
    if constraints is None:
        return function
    return validate_params(constraints, prefer_skip_nested_validation=False)(function)
