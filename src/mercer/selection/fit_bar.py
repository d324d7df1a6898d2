"""The progress bar of searches: fits that are done, out of all, with the time left."""

from __future__ import annotations

import math
import sys

from mercer.run import stopwatch

_WIDTH, _PAUSE = 30, 0.2


class FitBar:
    """A progress bar on standard error.

    Parameters
    ----------
    total : int
        Number of fits.
    verbose : int
        Whether it is drawn.
    """

    def __init__(self, total: int, verbose: int) -> None:
        self.total, self.shown, self.estimated = total, bool(verbose), False
        self.done = self.skipped = self.pruned = 0
        self._elapsed, self._drawn = stopwatch(), -math.inf

    def __enter__(self) -> FitBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self.shown and self._drawn >= 0.0:
            self._draw()
            sys.stderr.write("\n")

    def plan(self, rest: int, estimated: bool = False) -> None:
        """Set the number of fits that are left, perhaps an estimate."""
        self.total, self.estimated = self.done + rest, estimated

    def advance(self) -> None:
        """Count a fit."""
        self.done += 1
        if self.shown and self._elapsed() - self._drawn > _PAUSE:
            self._draw()

    def skip(self, by: int = 1, pruned: bool = False) -> None:
        """Count fits that need not be made; they do not enter the time per fit."""
        self.done += by
        self.skipped += by
        self.pruned += by * pruned

    def _draw(self) -> None:
        self._drawn = spent = self._elapsed()
        made, rest = self.done - self.skipped, self.total - self.done
        left = f", about {spent / made * rest:.0f} s left" if made and rest > 0 else ""
        filled = min(_WIDTH * self.done // max(self.total, 1), _WIDTH)
        bar = "#" * filled + "." * (_WIDTH - filled)
        about = "about " * self.estimated
        pruned = f" ({self.pruned} pruned)" if self.pruned else ""
        text = f"[{bar}] {self.done}/{about}{self.total} fits{pruned}, {spent:.0f} s{left}"
        sys.stderr.write(f"\r{text:<79}")
        sys.stderr.flush()
