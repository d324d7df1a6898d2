"""The journal of a search: what is known of each fit, in a file that survives a crash.

The file is whole at any moment. If it cannot be written (no folder, no permission, a full disk), a
warning says so once and the search goes on. Its head identifies the data, the estimator and the
metrics; a journal of another search raises ValueError. An entry belongs to the parameters of a
candidate and to the rows of a split.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib

from mercer.objects.callers import warn_caller
from mercer.persistence.whole_file import write_whole
from mercer.run import stopwatch

_FORMAT = 1

_PAUSE = 1.0
"""Seconds between two writes, at least."""


class Journal:
    """Results of fits by parameters and split.

    Parameters
    ----------
    path : path
        The file; it need not exist.
    head : dict
        What identifies the search, as plain values.
    """

    def __init__(self, path: Any, head: dict[str, Any]) -> None:
        self.path = Path(path)
        self.head = {"format": _FORMAT, **head}
        self.entries: dict[str, dict[str, Any]] = {}
        self._since_written = stopwatch()
        self._dirty = self._warned = False
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            head, entries = found["head"], found["entries"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"resume: {self.path} is no journal of a search; name a new file."
            ) from error
        differing = sorted(k for k in self.head if head.get(k) != self.head[k])
        if differing:
            raise ValueError(
                f"resume: {self.path} is the journal of another search: {', '.join(differing)} "
                "differ. Name a new file, or delete this one."
            )
        self.entries = entries

    def get(self, parameters: Any, split: str) -> dict[str, Any] | None:
        """Return the result of a fit, None where it is not known."""
        return self.entries.get(_key(parameters, split))

    def put(self, parameters: Any, split: str, result: dict[str, Any]) -> None:
        """Take note of a result; it is on disk after the next :meth:`write`."""
        self.entries[_key(parameters, split)] = result
        self._dirty = True

    def write(self, *, now: bool = True) -> None:
        """Write the file.

        Parameters
        ----------
        now : bool, default=True
            Whether to write even if the last time was a moment ago.
        """
        if not self._dirty or (not now and self._since_written() < _PAUSE):
            return
        text = json.dumps({"head": self.head, "entries": self.entries})
        self._since_written = stopwatch()
        try:
            write_whole(self.path, text.encode())
        except OSError as error:
            first, self._warned = not self._warned, True
            if first:
                warn_caller(
                    f"resume: the journal {self.path} cannot be written ({error}). The search goes "
                    "on; what it finds is lost if it is killed.",
                    RuntimeWarning,
                )
        else:
            self._dirty = False


def split_key(train: Any, test: Any) -> str:
    """Return what identifies a split."""
    return str(joblib.hash([train, test]))


def _key(parameters: Any, split: str) -> str:
    return f"{joblib.hash(parameters)}-{split}"
