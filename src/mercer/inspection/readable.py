"""Results that are read by name, and printed as a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np


class Readable:
    """Base of the dataclasses that hold a result."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, as plain Python objects where they have such a form."""
        return {name: _plain(value) for name, value in self.__dict__.items()}


class Report(Readable):
    """Base of the results that print as rows of a name and a text."""

    def _rows(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, Readable):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value) if isinstance(value, StrEnum) else value
