"""Short printed forms of parameters that hold much."""

from __future__ import annotations


class Brief(str):
    """Text printed in place of a long parameter of a kernel."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
