"""Hyper-parameters of a kernel: its continuous parameters as one vector of logarithms.

A parameter is continuous if the constructor annotates it as a float and `Kernel.gradient` has a
derivative for it. Scales and widths are positive, so they are optimised on a logarithmic scale: a
step in theta is a factor. Bounds are stated for the kernel as a whole or for its parts; those of
the whole take precedence.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.objects.parameters import is_number

if TYPE_CHECKING:
    from .base import Kernel

DEFAULT_BOUNDS = (1e-5, 1e5)  # those of scikit-learn
GAMMA_BOUNDS = (5e-11, 5e9)
"""gamma = 1 / (2 length_scale^2) of the default bounds on a length scale."""

Path = tuple[tuple[str, "Kernel"], ...]


@dataclass(frozen=True)
class Hyperparameter:
    """One entry of theta: a value, not its logarithm, with its bounds.

    `name`: as in `get_params`. `position`: in the sequence that the parameter is, or None.
    """

    name: str
    position: int | None
    value: float
    low: float
    high: float

    @property
    def label(self) -> str:
        """The name, with the position in brackets."""
        return self.name if self.position is None else f"{self.name}[{self.position}]"

    @property
    def unit(self) -> float:
        """By how much a search moves while the logarithm of the value moves by 1.

        gamma moves as its length scale (2 gamma)^-1/2 does: searches in gamma and in length scales
        then take the same path.
        """
        return 0.5 if _own(self.name) == "gamma" else 1.0


def hyperparameters(kernel: Kernel, bounds: Any = None) -> tuple[list[Hyperparameter], list[str]]:
    """Return the entries of theta, and the names of continuous parameters that stay as they are.

    `kernel`: a bound kernel. `bounds`: take precedence over those stated on the kernel; see
    `Kernel.with_bounds`. Parameters that are fixed by bounds are in neither list; in the second are
    those without a derivative and those that are not positive.
    """
    check_bounds(kernel, bounds)
    free: list[Hyperparameter] = []
    fixed: list[str] = []
    for name, value, path in _continuous(kernel):
        stated = _stated(name, path, bounds)
        if isinstance(stated, str):
            continue
        values = [value] if is_number(value) else list(value)
        if not (_states_derivatives(path) and all(v > 0.0 for v in values)):
            fixed.append(name)
            continue
        low, high = stated
        positions = [None] if is_number(value) else range(len(values))
        free += [
            Hyperparameter(name, i, float(v), low, high)
            for i, v in zip(positions, values, strict=True)
        ]
    return free, fixed


def with_theta(kernel: Kernel, entries: list[Hyperparameter], theta: Any) -> Kernel:
    """Return a bound kernel with other values of some entries of its theta."""
    return replaced(kernel, changes_of(entries, theta))


def changes_of(entries: list[Hyperparameter], theta: Any) -> dict[str, Any]:
    """Return the parameters, by name, that other values of some entries of theta change."""
    values = np.exp(np.asarray(theta, dtype=np.float64))
    if values.shape != (len(entries),):
        raise ValueError(
            f"theta must hold {len(entries)} numbers, one for each of "
            f"{', '.join(entry.label for entry in entries) or 'no parameters'}; got shape "
            f"{values.shape}."
        )
    changes: dict[str, Any] = {}
    for entry, value in zip(entries, values.tolist(), strict=True):
        if entry.position is None:
            changes[entry.name] = value
        else:  # all positions of a sequence, in order
            changes.setdefault(entry.name, []).append(value)
    return changes


def replaced(part: Any, changes: dict[str, Any]) -> Any:
    """Return a kernel, or a sequence of them, with other values of some parameters by name.

    Parts that do not change are shared with the original.
    """
    own: dict[str, Any] = {}
    inside: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        name, _, rest = key.partition("__")
        if rest:
            inside.setdefault(name, {})[rest] = value
        else:
            own[name] = value
    if isinstance(part, list | tuple):
        entries = enumerate(part)
        return type(part)(
            replaced(e, inside[n]) if (n := str(i)) in inside else e for i, e in entries
        )
    changed = {name: replaced(getattr(part, name), inner) for name, inner in inside.items()}
    if not own and vars(part).keys() <= {"_bounds", *part.parameter_names}:
        return part.replace(**changed)  # nothing in it was derived from the parts or can be refused
    made = type(part)(**part.get_params(deep=False) | own | changed)
    if part._bounds is not None:
        made._bounds = part._bounds
    return made


def check_bounds(kernel: Kernel, bounds: Any) -> None:
    """Reject bounds that are not in order, or that name no continuous parameter of the kernel."""
    if bounds is None or (isinstance(bounds, str) and bounds == "fixed"):
        return
    if not isinstance(bounds, dict):
        raise ValueError(f"bounds must be None, 'fixed' or a dict; got {bounds!r}.")
    names = [name for name, _, _ in _continuous(kernel, unbound=True)]
    for name, pair in bounds.items():
        if name not in names and not any(n.startswith(f"{name}__") for n in names):
            raise ValueError(
                f"bounds names {name!r}, which is no continuous parameter of {kernel!r}; it has "
                f"{', '.join(map(repr, names)) or 'none'}."
            )
        checked_pair(name, pair)


def checked_pair(name: str, pair: Any) -> tuple[float, float] | str:
    """Return bounds of one parameter if they are two positive numbers in order, or "fixed"."""
    if isinstance(pair, str):
        if pair != "fixed":
            raise ValueError(f"bounds[{name!r}] must be (low, high) or 'fixed'; got {pair!r}.")
        return pair
    try:
        low, high = (float(v) for v in pair)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not 0.0 < low <= high < np.inf:
        raise ValueError(f"bounds[{name!r}] must be 0 < low <= high; got {pair!r}.")
    return low, high


def _stated(name: str, path: Path, bounds: Any) -> tuple[float, float] | str:
    """Return the bounds of a parameter: those stated furthest outside, or the default."""
    places = [(name, bounds)]
    places += [(name.removeprefix(prefix), part._bounds) for prefix, part in path]
    for relative, stated in places:
        if isinstance(stated, str):
            return stated
        outer = relative  # the parameter itself, or a part that holds it
        while stated and outer:
            if outer in stated:
                return checked_pair(outer, stated[outer])
            outer = outer.rpartition("__")[0]
    own = _own(name)
    default = GAMMA_BOUNDS if own == "gamma" else DEFAULT_BOUNDS
    return path[-1][1]._default_bounds.get(own, default)


def _own(name: str) -> str:
    """Return the name of a parameter without those of the kernels that it is inside of."""
    return name.rpartition("__")[2]


def _continuous(
    kernel: Kernel, prefix: str = "", path: Path = (), *, unbound: bool = False
) -> Iterator[tuple[str, Any, Path]]:
    """Go through the continuous parameters: name, value, and the kernels they are inside of.

    `unbound`: whether to list those that are a rule on the data as well.
    """
    from .base import Kernel

    path = (*path, (prefix, kernel))
    floats = _annotated(type(kernel))  # type: ignore[arg-type]  # a class, which is hashable
    for name in kernel.parameter_names:
        value = getattr(kernel, name)
        if isinstance(value, Kernel):
            yield from _continuous(value, f"{prefix}{name}__", path, unbound=unbound)
        elif isinstance(value, list | tuple) and any(isinstance(v, Kernel) for v in value):
            for i, part in enumerate(value):
                if isinstance(part, Kernel):
                    inner = f"{prefix}{name}__{i}__"
                    yield from _continuous(part, inner, path, unbound=unbound)
        elif (
            name in floats
            and name not in kernel._fixed
            and (_numbers(value) or (unbound and isinstance(value, str)))
        ):
            yield prefix + name, value, path


def _numbers(value: Any) -> bool:
    """Return whether a value is a finite number or a sequence of such."""
    if is_number(value):
        return bool(np.isfinite(value))
    if not isinstance(value, list | tuple | np.ndarray) or not len(value) or np.ndim(value) != 1:
        return False
    return all(is_number(v) and np.isfinite(v) for v in value)


@cache
def _annotated(cls: type) -> frozenset[str]:
    """Return the names of the constructor's parameters that may be floats."""
    parameters = inspect.signature(cls).parameters.values()
    return frozenset(p.name for p in parameters if "float" in str(p.annotation))


def _states_derivatives(path: Path) -> bool:
    """Return whether all kernels that a parameter is inside of state their derivatives."""
    from .base import Kernel

    return all(type(part)._gradient is not Kernel._gradient for _, part in path)
