"""Constant kernels: a warning if the kernel maps all training objects to one point.

Where k(x_i, x_i) and k(x_0, x_i) are one number c for all i, a positive semidefinite kernel maps
all objects to one point of feature space, |phi(x_i) - phi(x_0)|^2 = c - 2 c + c = 0: every model is
a constant, however good its certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.gram import Gram, compile_kernel
from mercer.kernels import Kernel
from mercer.objects.callers import warn_caller

if TYPE_CHECKING:
    from .kernel_estimator import TrainingData

_FEW = 4
"""Objects that are looked at first: on most data they differ."""

_NO_SPREAD = 1e-12
"""Values that differ by less than this share of them are equal."""


def warn_of_constant(kernel: Kernel, data: TrainingData) -> None:
    """Warn of a kernel that is one and the same number for all pairs of training objects."""
    if data.n < 2:
        return
    for leaf in compile_kernel(kernel).leaves:
        if leaf.mapping is not None:  # the fit needs the images of all objects, made once
            data.views.images(leaf.mapping, leaf.columns)
    few = data.take(np.arange(min(data.n, _FEW)))
    if not _alike(_gram(kernel, few).tile()):
        return
    gram = _gram(kernel, data)
    values = np.concatenate([gram.tile([0]).ravel(), gram.diag()])
    if not _alike(values):
        return
    c = float(values[0])
    warn_caller(
        f"{kernel!r} is {c:.6g} for every pair of the {data.n} training objects, so it does not "
        f"tell them apart: every model is a constant, also one that is optimal. {_advice(c)}"
    )


def _gram(kernel: Kernel, data: TrainingData) -> Gram:
    if data.gram is not None:
        return data.gram.in_precision("float64")
    return Gram(kernel, data.views, "float64")


def _alike(values: Any) -> bool:
    values = np.asarray(values)
    low, high = float(values.min()), float(values.max())
    return high - low <= _NO_SPREAD * max(abs(low), abs(high))


def _advice(c: float) -> str:
    if c == 0.0:
        return (
            "The objects share no features: for strings use shorter substrings, such as "
            "Spectrum(1), and Categorical() for names of categories; for numbers check that the "
            "columns are not all 0."
        )
    return (
        "Check that the objects differ; of a kernel of the distance choose another width: a larger "
        "gamma makes it fall off faster."
    )
