"""One run of a computation: its clock, its limits, its progress reports and Ctrl-C.

Every fit, search and solver asks its :class:`Run` when to stop. Nothing else in the package reads a
clock or catches ``KeyboardInterrupt``, so that all limits mean the same and a computation that is
stopped keeps the best result so far:

    run = Run(time_limit=10.0, listeners=[print])
    with run.until_stopped():
        for n_iter in count(1):
            step()
            if run.stop(n_iter, violation):
                break
    status = run.status or "iteration_limit"
    run.raise_interrupt()

A part of a computation gets a branch: the same clock, listeners and stop, with a share of the time
or a smaller number of steps. Native solvers take the limits as numbers (`Run.native`), check for
signals themselves and return "interrupted", of which `Run.note` takes note.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

Listener = Callable[["Report"], Any]

_SHORTEST = 1e-3
"""Seconds that a native solver is given when no time is left: 0 means no limit to it."""


class Report(NamedTuple):
    """One report on the progress of a computation.

    `iteration`: steps so far: pair updates, iterations, or products with the kernel matrix.
    `violation`, `objective`, `gap`: violation of the optimality conditions, dual objective and
    relative gap; NaN if unknown. `active`: variables that are not set aside. `cache_hits`,
    `cache_misses`: kernel rows that were found in the cache, and that were not.
    """

    iteration: int
    violation: float = math.nan
    objective: float = math.nan
    gap: float = math.nan
    active: int = 0
    cache_hits: int = 0
    cache_misses: int = 0


class Stopped(Exception):  # noqa: N818 - the end of a run, not an error
    """Raised by `Run.check` where the run must stop; caught by `Run.until_stopped`."""


@dataclass(frozen=True)
class Target:
    """What makes a point good enough: its violation and its relative gap are at most these.

    A value that is not known (NaN) meets only an infinite bound.
    """

    violation: float = math.inf
    gap: float = math.inf

    def met(self, violation: float, gap: float) -> bool:
        """Return whether a point with this violation and relative gap is good enough."""
        if math.inf == self.violation == self.gap:
            return False  # nothing was asked for
        return all(
            limit == math.inf or value <= limit
            for value, limit in ((violation, self.violation), (gap, self.gap))
        )


@dataclass
class _Watch:
    """What all branches of a run share: when it began, who listens, and why it stopped."""

    listeners: Sequence[Listener]
    began: float
    asked: bool = False
    by_keyboard: bool = False


class Run:
    """The limits, listeners and state of one computation; see the head of this module.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from now.
    max_iter : int, optional
        Steps; None or a negative number: no limit.
    listeners : sequence of callables, default=()
        Each is called with every :class:`Report`, and stops the run by returning True.
    target : Target, optional
        What makes `stop` return "optimal".

    Attributes
    ----------
    status : str or None
        Why the run stopped: "optimal", "iteration_limit", "time_limit" or "interrupted".

    Examples
    --------
    >>> from mercer.run import Run, Target
    >>> run = Run(max_iter=100, target=Target(violation=1e-3))
    >>> run.stop(1, violation=0.5), run.stop(2, violation=1e-4), run.status
    (None, 'optimal', 'optimal')
    """

    def __init__(
        self,
        time_limit: float | None = None,
        max_iter: int | None = None,
        listeners: Sequence[Listener] = (),
        target: Target | None = None,
    ) -> None:
        if time_limit is not None and not float(time_limit) >= 0.0:
            raise ValueError(f"time_limit must be a number >= 0; got {time_limit!r}.")
        self._watch = _Watch(listeners, time.perf_counter())
        self._deadline = math.inf if time_limit is None else self._watch.began + float(time_limit)
        self._first = 0
        self.max_iter = None if max_iter is None or max_iter < 0 else int(max_iter)
        self.target = Target() if target is None else target
        self.status: str | None = None

    # -- the clock --------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Seconds since the run began; branches have the clock of the whole run."""
        return time.perf_counter() - self._watch.began

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit, infinite without one, at least 0."""
        if self._deadline == math.inf:
            return math.inf
        return max(self._deadline - time.perf_counter(), 0.0)

    @property
    def limited(self) -> bool:
        """Whether the run has a time limit."""
        return self._deadline < math.inf

    # -- stopping ---------------------------------------------------------------------------

    @property
    def watched(self) -> bool:
        """Whether anyone listens, so that a report is worth computing."""
        return bool(self._watch.listeners)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C came or a listener asked for the end, in this branch or in another."""
        return self._watch.by_keyboard or self._watch.asked

    @property
    def over(self) -> bool:
        """Whether the time is up or the run was interrupted."""
        return self.interrupted or (self.limited and time.perf_counter() >= self._deadline)

    @property
    def by_keyboard(self) -> bool:
        """Whether Ctrl-C came."""
        return self._watch.by_keyboard

    def report(self, *numbers: Any, **named: Any) -> bool:
        """Pass a :class:`Report` to all listeners; return whether the run was interrupted.

        Ctrl-C while they are called ends the run as a listener does, with `by_keyboard` set.
        """
        if self._watch.listeners:
            state = Report(*numbers, **named)
            state = state._replace(iteration=self._first + state.iteration)
            with self.until_stopped():
                answers = [bool(listener(state)) for listener in self._watch.listeners]
                self._watch.asked = self._watch.asked or any(answers)
        return self.interrupted

    def stop(
        self,
        n_iter: int = 0,
        violation: float = math.nan,
        gap: float = math.nan,
        objective: float = math.nan,
        **more: int,
    ) -> str | None:
        """Report a step and return why the run must stop after it, None to go on.

        `n_iter`: steps of this branch so far. `more`: further fields of the :class:`Report`.
        """
        self.report(n_iter, violation, objective, gap, **more)
        if self.interrupted:
            self.status = "interrupted"
        elif self.target.met(violation, gap):
            self.status = "optimal"
        elif self.max_iter is not None and n_iter >= self.max_iter:
            self.status = "iteration_limit"
        elif self.over:
            self.status = "time_limit"
        return self.status

    def check(self) -> None:
        """Raise `Stopped` if the time is up or the run was interrupted."""
        if self.over:
            self.status = "interrupted" if self.interrupted else "time_limit"
            raise Stopped(self.status)

    @contextmanager
    def until_stopped(self) -> Iterator[Run]:
        """End the block at Ctrl-C, or where `check` says so; `status` is the reason.

        A check of any branch, or of the whole run, ends the innermost block around it.
        """
        try:
            yield self
        except Stopped as reason:
            self.status = str(reason)
        except KeyboardInterrupt:
            self.interrupt()

    def keep(self, action: Callable[[], Any]) -> bool:
        """Run an action to its end although Ctrl-C may come; return whether it came.

        The action must bear being begun again, as reading results that exist already does.
        """
        try:
            action()
        except KeyboardInterrupt:
            self.interrupt()
            action()
            return True
        return False

    def interrupt(self) -> None:
        """Take note of Ctrl-C."""
        self._watch.by_keyboard = True
        self.status = "interrupted"

    def note(self, status: str) -> None:
        """Take note of how native code ended: by Ctrl-C, where no listener asked for the end."""
        if status == "interrupted" and not self._watch.asked:
            self.interrupt()

    def raise_interrupt(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C ended the run; the caller has kept what it found."""
        if self._watch.by_keyboard:
            raise KeyboardInterrupt

    # -- parts ------------------------------------------------------------------------------

    def branch(
        self,
        *,
        share: float = 1.0,
        after: int = 0,
        steps: int | None = None,
        target: Target | None = None,
    ) -> Run:
        """Return the run of a part of the computation.

        Parameters
        ----------
        share : float, default=1.0
            Part of the time left that it may take.
        after : int, default=0
            Steps done before it: they count against `max_iter`, and its reports go on from there.
        steps : int, optional
            Steps it may take, if fewer are left it takes those.
        target : Target, optional
            What is good enough for this part; default: what is for the whole.

        Returns
        -------
        Run
            Shares clock, listeners and interrupts with this run; has a status of its own.
        """
        part = Run.__new__(Run)
        part._watch = self._watch
        part._deadline = self._deadline
        if share < 1.0 and self._deadline < math.inf:
            part._deadline = time.perf_counter() + share * self.seconds_left
        part._first = self._first + after
        left = None if self.max_iter is None else max(self.max_iter - after, 0)
        part.max_iter = left if steps is None else steps if left is None else min(steps, left)
        part.target = self.target if target is None else target
        part.status = None
        return part

    def native(self) -> tuple[float, Callable[..., bool] | None]:
        """Return the seconds left (0: no limit) and the callback, as native solvers take them.

        The callback takes the fields of a :class:`Report` and returns whether to stop.
        """
        seconds = 0.0 if self._deadline == math.inf else max(self.seconds_left, _SHORTEST)
        return seconds, self.report if self._watch.listeners else None


def stopwatch() -> Callable[[], float]:
    """Return a function that returns the seconds since this call.

    Examples
    --------
    >>> from mercer.run import stopwatch
    >>> elapsed = stopwatch()
    >>> elapsed() >= 0.0
    True
    """
    began = time.perf_counter()
    return lambda: time.perf_counter() - began
