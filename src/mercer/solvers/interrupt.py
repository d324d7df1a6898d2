"""Interrupts (Ctrl-C): a fit ends soon, and keeps the best point that was found.

Native solvers check for signals and return their best point with the status "interrupted". An
interrupt of Python code, between two runs, is caught here and nowhere else in a fit; the caller
ends with the results so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from .problem import Settings, Solution


def interrupted(action: Callable[[], Any]) -> bool:
    """Run an action that keeps what it finds, and return whether a Ctrl-C ended it."""
    try:
        action()
    except KeyboardInterrupt:
        return True
    return False


def in_turn(
    run: Callable[[Any, Settings], list[Solution]], parts: Iterable[Any], settings: Settings
) -> list[Solution]:
    """Return the solutions of runs that share a time limit; after an interrupt none begins."""
    solutions: list[Solution] = []
    for part in parts:
        if solutions:
            settings = settings.after(0, solutions[-1].seconds)
        if solutions and solutions[-1].status == "interrupted":
            settings = replace(settings, max_iter=0)
        found: list[Solution] = []

        def go_on(part: Any = part, found: Any = found, settings: Settings = settings) -> None:
            found += run(part, settings)

        if not solutions:
            go_on()
        elif interrupted(go_on):
            solutions[-1].status = "interrupted"
            found = run(part, replace(settings, max_iter=0))
        solutions += found
    return solutions
