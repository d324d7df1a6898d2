"""Version, instruction set, threads and libraries of this installation."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from mercer import _native
from mercer._version import __version__

__all__ = ["show_config"]


def show_config(mode: str = "print") -> dict[str, Any] | None:
    """Report versions, instruction sets and threads.

    The instruction set is the widest of the processor unless the environment variable MERCER_ISA
    names another of those available; ``wide`` and ``plain`` run on every processor and are slower.

    Parameters
    ----------
    mode : {"print", "dict"}, default="print"
        Whether to print the report or to return it.

    Returns
    -------
    dict or None
        The report, for ``mode="dict"``.

    Examples
    --------
    >>> import mercer
    >>> configuration = mercer.show_config(mode="dict")
    >>> configuration["mercer"] == mercer.__version__
    True
    """
    if mode not in ("print", "dict"):
        raise ValueError(f"mode must be 'print' or 'dict'; got {mode!r}.")
    report: dict[str, Any] = {
        "mercer": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "instruction set": _native.isa(),
        "chosen as": _native.isa_reason(),
        "instruction sets available": list(_native.available_isas()),
        "threads": _native.get_num_threads(),
        "cores": _native.usable_cpus(),
    }
    report |= {package: version(package) for package in ("numpy", "scipy", "scikit-learn")}
    if mode == "dict":
        return report
    width = max(len(name) for name in report)
    for name, value in report.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        print(f"{name:<{width}}  {shown}")  # noqa: T201 - this is what it is for
    return None
