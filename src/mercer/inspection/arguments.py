"""Arguments in the wrong order, refused with a sentence."""

from __future__ import annotations

from typing import Any

from mercer.kernels import Kernel


def require_kernel(kernel: Any, usage: str) -> None:
    """Raise TypeError unless the first argument of the call `usage` is a kernel."""
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"{usage} takes a kernel first; got {type(kernel).__name__}. Wrap a function in a "
            "kernel, FromFunction(f); for a function of the distance use radial_fourier."
        )
