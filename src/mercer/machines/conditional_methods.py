"""Conditional methods: available for some parameters only, with an error that states the reason.

scikit-learn's ``available_if`` hides the reason behind "This 'SVC' has no attribute ..."; here the
error of the condition is the error that the user reads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


class _Offered:
    """A method with a condition that is checked when the method is looked up."""

    def __init__(self, method: Callable[..., Any], condition: Callable[[Any], Any]) -> None:
        self.method, self.condition = method, condition
        functools.update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, machine: Any, owner: type | None = None) -> Any:
        if machine is None:
            return self.method
        self.condition(machine)
        return self.method.__get__(machine, owner)


def offered_if(condition: Callable[[Any], Any]) -> Callable[[Method], Method]:
    """Return a decorator of methods that do not exist where `condition` raises AttributeError."""
    return lambda method: _Offered(method, condition)  # type: ignore[return-value]
