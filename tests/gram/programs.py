"""A kernel that is whatever its function says, for tests of single instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.kernels import VectorKernel
from mercer.objects.validation import VECTORS


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


class Map:
    """A map of vectors, which counts how often it is called."""

    takes = VECTORS

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, X: Any) -> Any:
        self.calls += 1
        return self.function(X)
