"""Columns of a table that a kernel depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .algebra.on_columns import OnColumns
from .algebra.projected import Projected
from .base import Kernel
from .constant import Constant
from .function import FromFeatureMap


def columns_seen(kernel: Kernel) -> list[int] | None:
    """Return the columns that a bound kernel looks at, rising; None: it takes whole objects."""
    return _union(kernel, lambda part: True)


def linear_columns(kernel: Kernel) -> list[int] | None:
    """Return the columns whose linear functions a kernel of order 2 needs as unpenalised terms.

    A kernel that is conditionally positive definite of order 2 on some columns is so for
    coefficients that are orthogonal to constants and to the linear functions of these columns, and
    a sum for those that are orthogonal to what any of its terms needs. The columns rise; there are
    none for kernels of lower order, and None means all columns.
    """
    return _union(kernel, lambda part: part.definiteness.order == 2)


def mapped_order_two(kernel: Kernel) -> Kernel | None:
    """Return a part that is of order 2 on the images of a map, None where there is none.

    Linear functions of images are not linear functions of the objects.
    """
    if isinstance(kernel, FromFeatureMap):
        inner = kernel.kernel
        return kernel if inner is not None and inner.definiteness.order == 2 else None
    for part in kernel.inner_kernels():
        found = mapped_order_two(part)
        if found is not None:
            return found
    return None


def _union(kernel: Kernel, counts: Callable[[Kernel], bool]) -> list[int] | None:
    """Return the columns of all parts that count."""
    if not counts(kernel) or isinstance(kernel, Constant):
        return []
    if isinstance(kernel, OnColumns):
        listed: Any = kernel.columns
        inner = _union(kernel.kernel, counts)
        chosen = listed if inner is None else [listed[i] for i in inner]
        return sorted({int(column) for column in chosen})
    parts = kernel.inner_kernels()
    if not parts or _looks_beyond(kernel):
        return None
    found: set[int] = set()
    for part in parts:
        columns = _union(part, counts)
        if columns is None:
            return None
        found.update(columns)
    return sorted(found)


def _looks_beyond(kernel: Kernel) -> bool:
    """Return whether a kernel looks at more of its objects than its parts do.

    Its parts may be kernels of images or of pieces; and what a projection removes from a sum are
    the linear functions of all columns.
    """
    if isinstance(kernel, Projected):
        return kernel.kernel.definiteness.order == 2 and not isinstance(kernel.kernel, OnColumns)
    if kernel.definiteness.order == 2:
        return False
    return not kernel.takes.columns
