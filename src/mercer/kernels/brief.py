"""Short printed forms of parameters that hold much."""

from __future__ import annotations


class Brief(str):
    """A text that stands for a parameter where a kernel is printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
