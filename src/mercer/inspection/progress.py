"""A progress bar for searches, shown only on request."""

from __future__ import annotations

from typing import Any, Self


class Bar:
    """Progress of a known number of steps: a bar where rich is installed, lines otherwise."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total = name, total
        self._progress: Any = None

    def __enter__(self) -> Self:
        try:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        except ImportError:
            return self
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}  {task.fields[note]}"),
            TimeElapsedColumn(),
        )
        self._progress.start()
        self._task = self._progress.add_task(self.name, total=self.total, note="")
        return self

    def report(self, done: int, note: str) -> None:
        """Show how many steps are done, with a note."""
        if self._progress is None:
            print(f"[{self.name}] {done}/{self.total}  {note}")  # noqa: T201 - asked for
        else:
            self._progress.update(self._task, completed=done, note=note)

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
