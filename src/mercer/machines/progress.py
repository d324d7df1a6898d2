"""Progress callbacks: a progress bar, the user's functions, scikit-learn's callbacks.

The solver reports at intervals (see `mercer.solvers`); each report is passed to all listeners, any
of which stops the solver by returning True.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import log
from typing import Any, Self

from mercer import sklearn_internals
from mercer.run import Listener, Report, Run

from .conventions import CallbackSupportMixin


class CallbackSupport(CallbackSupportMixin):
    """Lets an estimator be watched while it is fitted."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks that receive the progress of a fit; without arguments all are removed.

        A plain function is called with each :class:`mercer.run.Report` of the solver and stops the
        fit by returning True. A callback of ``sklearn.callback`` (1.9 or later) sees every report
        as a task of the fit.
        """
        plain = [c for c in callbacks if not hasattr(c, "on_fit_task_end")]
        others = [c for c in callbacks if hasattr(c, "on_fit_task_end")]
        if not all(callable(c) for c in plain):
            raise TypeError("callbacks must be functions or scikit-learn callbacks.")
        if plain:
            self._listeners = plain
        else:
            self.__dict__.pop("_listeners", None)
        if hasattr(super(), "set_callbacks"):
            super().set_callbacks(*others)
        elif others:
            raise TypeError("scikit-learn callbacks need scikit-learn 1.9 or later.")
        return self


def is_watched(machine: Any) -> bool:
    """Return whether a fit of the machine reports its progress to anything."""
    return "_listeners" in machine.__dict__ or _attached(machine) or bool(machine.verbose)


def _attached(machine: Any) -> bool:
    """Return whether callbacks of scikit-learn see a fit: its own, or those of a search."""
    own = machine.__dict__
    around = getattr(own.get("_parent_callback_ctx"), "_callbacks", ())
    supported = sklearn_internals.callback_management_context is not None
    return supported and ("_skl_callbacks" in own or bool(around))


@contextmanager
def running(machine: Any, n_tasks: int = 1, max_iter: int | None = None) -> Iterator[Run]:
    """Yield the :class:`Run` of a fit: the time limit of the machine, and all who listen to it.

    `n_tasks`: number of problems that the progress bar announces. `max_iter`: limit of the steps.
    """
    with listening(machine, n_tasks) as listeners:
        yield Run(getattr(machine, "time_limit", None), max_iter, listeners)


@contextmanager
def watched(machine: Any, n_tasks: int) -> Iterator[Broadcast | None]:
    """Yield the function that the solver reports to, or None where nobody listens."""
    with listening(machine, n_tasks) as listeners:
        yield Broadcast(listeners) if listeners else None


@contextmanager
def listening(machine: Any, n_tasks: int) -> Iterator[list[Listener]]:
    """Yield everyone who listens to a fit: the progress bar, functions, callbacks."""
    listeners: list[Listener] = list(machine.__dict__.get("_listeners", ()))
    bar = _bar(machine, n_tasks) if getattr(machine, "verbose", False) else None
    if bar is not None:
        listeners.append(bar.report)
    try:
        if _attached(machine):
            with sklearn_internals.callback_management_context(machine):
                context = machine._init_callback_context(max_subtasks=None)
                context.call_on_fit_task_begin(estimator=machine)
                yield [*listeners, _as_subtasks(machine, context)]
                context.call_on_fit_task_end(estimator=machine)
        else:
            yield listeners
    finally:
        if bar is not None:
            bar.close()


class Broadcast:
    """Hands each report of the solver to everyone who listens; one of them may stop it."""

    def __init__(self, listeners: list[Listener]) -> None:
        self.listeners, self.stopped = listeners, False

    def __call__(self, *numbers: Any) -> bool:
        """Return whether the solver shall stop; all callbacks are called in any case."""
        state = Report(*numbers)
        answers = [bool(listener(state)) for listener in self.listeners]
        self.stopped = self.stopped or any(answers)
        return self.stopped


def _as_subtasks(machine: Any, context: Any) -> Listener:
    def report(state: Any) -> bool:
        task = context.subcontext(task_name="solver report")
        task.call_on_fit_task_begin(estimator=machine)
        return bool(task.call_on_fit_task_end(estimator=machine))

    return report


class _Lines:
    """Progress as lines of text, for want of a better display."""

    def __init__(self, name: str) -> None:
        self.name = name

    def report(self, state: Any) -> None:
        print(  # noqa: T201 - asked for by verbose
            f"[{self.name}] {state.iteration:>9,} updates  violation {state.violation:.3g}  "
            f"objective {state.objective:.6g}  active {state.active:,}"
        )

    def close(self) -> None:
        pass


class _Bar:
    """Progress on the logarithmic scale of the violation, from where it starts down to tol."""

    def __init__(self, name: str, tol: float) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.tol, self.first = tol, 0.0
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("violation {task.fields[violation]:.2g}, {task.fields[updates]:,} updates"),
            TimeElapsedColumn(),
            transient=False,
        )
        self.progress.start()
        self.task = self.progress.add_task(name, total=1.0, violation=float("nan"), updates=0)

    def report(self, state: Any) -> None:
        violation = max(float(state.violation), self.tol)
        self.first = max(self.first, violation)
        span = log(self.first / self.tol) if self.first > self.tol else 1.0
        done = 1.0 - log(violation / self.tol) / span
        self.progress.update(
            self.task, completed=done, violation=violation, updates=int(state.iteration)
        )

    def close(self) -> None:
        self.progress.stop()


def _bar(machine: Any, n_tasks: int) -> _Lines | _Bar:
    name = type(machine).__name__ + (f" ({n_tasks} problems)" if n_tasks > 1 else "")
    if int(machine.verbose) > 1 or not hasattr(machine, "tol"):
        return _Lines(name)
    try:
        return _Bar(name, float(machine.tol))
    except ImportError:
        return _Lines(name)
