"""The certificates of many problems as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

from ..certificate import STATUSES, Certificate
from .statements import bounded


@dataclass(eq=False)
class Certificates(Sequence[Certificate]):
    """Certificates as arrays over problems; a single one is made when it is read.

    All of them are of float64 values of a kernel that is known to be positive semidefinite.
    `ended`: positions in `statuses`. `terms`: what the gaps are relative to. `n_kernel_values` and
    `seconds` are those of all problems together.
    """

    statuses: list[str]
    ended: NDArray[np.int8]
    primal: Array
    dual: Array
    terms: Array
    violation: Array
    rounding: Array
    n_iter: NDArray[np.int32]
    n_kernel_values: int
    seconds: float

    def __len__(self) -> int:
        return len(self.primal)

    @overload
    def __getitem__(self, position: int) -> Certificate: ...
    @overload
    def __getitem__(self, position: slice) -> list[Certificate]: ...
    def __getitem__(self, position: Any) -> Any:
        """Return the certificate of a problem; its time and kernel values are an equal share."""
        if isinstance(position, slice):
            return [self[p] for p in range(*position.indices(len(self)))]
        p = range(len(self))[position]
        primal, dual = float(self.primal[p]), float(self.dual[p])
        return bounded(
            self.statuses[self.ended[p]],
            primal,
            dual,
            size=float(self.terms[p]),
            violation=float(self.violation[p]),
            rounding=min(float(self.rounding[p]), primal - dual),
            n_iter=int(self.n_iter[p]),
            n_kernel_values=self.n_kernel_values // len(self),
            seconds=self.seconds / len(self),
        )

    def combined(self) -> Certificate:
        """Return one certificate for all of them, as `Certificate.combine` does."""
        gap, terms = self.primal - self.dual, self.terms
        relative = np.where(terms > 0.0, gap / np.where(terms > 0.0, terms, 1.0), np.abs(gap))
        return Certificate(
            max((self.statuses[code] for code in np.unique(self.ended)), key=STATUSES.index),
            primal=float(self.primal.sum()),
            dual=float(self.dual.sum()),
            gap=float(gap.sum()),
            relative_gap=float(relative.max()),
            kkt_violation=float(self.violation.max()),
            n_iter=int(self.n_iter.sum()),
            n_kernel_values=int(self.n_kernel_values),
            seconds=float(self.seconds),
            rounding=float(np.minimum(self.rounding, gap).sum()),
            n_problems=len(self),
        )
