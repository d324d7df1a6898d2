"""Argument order: functions of a kernel and objects raise an error if the two are swapped."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .base import Kernel

F = TypeVar("F", bound=Callable[..., Any])


def kernel_first(function: F) -> F:
    """Return a function that raises TypeError unless its first argument is a kernel."""
    name, parameters = function.__name__, inspect.signature(function).parameters
    needed = [p for p, one in parameters.items() if one.default is inspect.Parameter.empty]
    usage = f"{name}({', '.join(needed)})"

    @functools.wraps(function)
    def checked(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(kernel, Kernel):
            raise TypeError(
                f"{name} takes a kernel of mercer.kernels first, as in {usage}; got "
                f"{type(kernel).__name__}."
            )
        return function(kernel, *args, **kwargs)

    return cast(F, checked)
