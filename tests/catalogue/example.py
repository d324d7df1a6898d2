"""A kernel with the objects it takes."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.kernels.base import Kernel


@dataclass(frozen=True)
class Example:
    """A kernel with the kind of objects it takes.

    Attributes
    ----------
    kernel : Kernel
        The kernel, with parameters that are typical and inside their range.
    objects : str
        The name of a sampler.
    """

    kernel: Kernel
    objects: str = "vectors"

    def __str__(self) -> str:
        return f"{self.kernel!r} on {self.objects}"
