"""A kernel that is whatever its function says, for tests of single instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.kernels import VectorKernel


class Written(VectorKernel):
    """A kernel from a function that writes its program."""

    def __init__(self, write: Callable[[Any], object]) -> None:
        self.write = write

    def compile(self, builder: Any) -> None:
        self.write(builder)


def on(statistic: str, *instructions: tuple[Any, ...]) -> Written:
    """Return the kernel that pushes a statistic and runs instructions over it."""

    def write(builder: Any) -> None:
        builder.leaf(statistic)
        for name, *arguments in instructions:
            getattr(builder, name)(*arguments)

    return Written(write)
