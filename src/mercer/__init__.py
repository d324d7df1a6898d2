"""mercer: kernel machines at native speed, and every answer comes with a proof.

>>> from mercer import SVC
>>> model = SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1])
>>> model.certificate_.status
'optimal'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer._version import __version__

if TYPE_CHECKING:
    from mercer.configuration import show_config
    from mercer.expansion import Expansion
    from mercer.machines import (
        SVC,
        SVR,
        NotSeparableError,
        NuSVC,
        NuSVR,
        OneClassSVM,
        virtual_support_vectors,
    )
    from mercer.persistence import load, save
    from mercer.solvers import Certificate

# The names of the flat door, and the modules behind them, which are imported when first used.
_DOOR = {
    "Certificate": "mercer.solvers",
    "Expansion": "mercer.expansion",
    "NotSeparableError": "mercer.machines",
    "NuSVC": "mercer.machines",
    "NuSVR": "mercer.machines",
    "OneClassSVM": "mercer.machines",
    "SVC": "mercer.machines",
    "SVR": "mercer.machines",
    "load": "mercer.persistence",
    "save": "mercer.persistence",
    "show_config": "mercer.configuration",
    "virtual_support_vectors": "mercer.machines",
}

__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "Expansion",
    "NotSeparableError",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "__version__",
    "load",
    "save",
    "show_config",
    "virtual_support_vectors",
]


def __getattr__(name: str) -> Any:
    if name not in _DOOR:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    value = getattr(import_module(_DOOR[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
