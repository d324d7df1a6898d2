"""A kernel that is worth a try, and why."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.kernels import Kernel


@dataclass(frozen=True)
class Candidate:
    """A kernel to be tried.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    reason : str
        Why it is worth a try.
    family : str
        Kernels of one family differ in a width or a degree; the best of them is suggested.
    """

    kernel: Kernel
    reason: str
    family: str = ""
