"""Fits on stored kernel values, of machines that have no native path along their constants.

nu machines, one-class machines, ridge machines and machines on kernels or kernel matrices of the
user's are fitted by their own solvers. What the fits of a search share is the kernel matrix on all
rows: each is the fit of a machine with the same parameters whose kernel is a part of the stored
matrix. Support vector machines that differ in nu or C are fitted in ascending order, each from the
solution before it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Definiteness, Kernel, Precomputed
from mercer.machines.ridge.base import RidgeMachine
from mercer.machines.support_vector.base import KernelMachine
from mercer.machines.support_vector.fitting import fit_on
from mercer.machines.support_vector.proving import assumption

Array = NDArray[np.float64]

CONSTANTS = ("C", "lam", "nu", "alpha", "epsilon")
"""Parameters along which a machine starts from the solution of another."""

OF_KERNELS = ("kernel", "gamma", "degree", "coef0", "kernel_params")
"""Parameters that make up the kernel of a machine."""


class StoredValues(Precomputed):
    """The values of another kernel, of the same definiteness."""

    def __init__(self, of: Kernel) -> None:
        self.of = of

    @property
    def definiteness(self) -> Definiteness:
        """Definiteness of the other kernel, as far as it is proved."""
        return Definiteness.UNKNOWN if assumption(self.of) else self.of.definiteness

    def __repr__(self) -> str:
        return repr(self.of)  # in warnings

    def inner_kernels(self) -> list[Kernel]:
        """Return no kernel: the other one takes other objects."""
        return []


def refusal(machine: Any) -> str | None:
    """Return None where a machine can be fitted on stored values, else the reason why not."""
    if not isinstance(machine, KernelMachine | RidgeMachine):
        return f"{type(machine).__name__} does not share kernel matrices"
    machine._check_parameters()
    if machine._resolved_kernel().definiteness.order:
        return "the kernel is only conditionally positive definite"
    return None


def fits(
    machines: list[Any], kernel: Kernel, K: Array, y: Any, sample_weight: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the positions of machines and what was fitted in their place, or the error.

    `machines`: which differ in `CONSTANTS`. `kernel`: theirs, bound. `K`: its values on the
    training rows. `y`, `sample_weight`: targets and weights of these rows, or None.
    """
    own = inspect.signature(type(machines[0]).__init__).parameters
    start: Any = None
    for k in sorted(range(len(machines)), key=lambda k: _constants(machines[k])):
        found = object.__new__(type(machines[k]))
        found.__dict__.update(machines[k].get_params(deep=False))
        found.__dict__.update({n: own[n].default for n in OF_KERNELS if n in own})
        found.kernel = StoredValues(kernel)
        try:
            if isinstance(found, KernelMachine):
                found._check_parameters()
                data, stored = found._enter(K, y, sample_weight)
                start = fitted(found, data, found._gram(data, stored), start)
            else:
                found.fit(K, y, sample_weight)
        except Exception as error:  # which a plain fit raises again, where it can be reported
            yield k, error
        else:
            yield k, found


def fitted(machine: Any, data: Any, gram: Any, start: Any, settings: Any = None) -> Any:
    """Return a machine fitted from the solution of another; its certificate says how it ended.

    A stationary point of a problem that is not convex depends on the start: it is the one that a
    fit by itself finds.
    """
    fit_on(machine, data, gram, start, settings, quiet=True)
    if start is not None and machine.certificate_.status == "stationary":
        fit_on(machine, data, gram, None, settings, quiet=True)
    if machine.certificate_.status == "interrupted":
        raise KeyboardInterrupt
    return machine


class CannotShareError(Exception):
    """A fit that has to be made by itself, with the reason."""


def _constants(machine: Any) -> list[float]:
    values = (getattr(machine, name, None) for name in CONSTANTS)
    return [float(v) if isinstance(v, int | float) else 0.0 for v in values]
