"""Operands of composed kernels: their checks, and products of their features."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel, Wanted


def require_kernel(value: Any, name: str, owner: str) -> None:
    """Reject an operand that is not a kernel."""
    if isinstance(value, Kernel):
        return
    if isinstance(value, type) and issubclass(value, Kernel):
        hint = f"Create one: {value.__name__}()."
    elif callable(value):
        hint = "Wrap a Python function: FromFunction(f)."
    else:
        hint = "Kernels are made by the classes of mercer.kernels."
    raise TypeError(f"{name} of {owner} must be a kernel; got {value!r}. {hint}")


class OfTwoKernels(Kernel):
    """Base of the kernels made of two on the same objects."""

    left: Kernel
    right: Kernel

    def _check(self) -> None:
        for name in ("left", "right"):
            require_kernel(getattr(self, name), name, type(self).__name__)
        self.left.takes.join(self.right.takes)

    def _features_of_both(self, X: Any, vocabulary: Vocabulary) -> list[Any]:
        left = self.left.map_features(X, vocabulary.part("left"))
        return [left, self.right.map_features(X, vocabulary.part("right"))]

    def _names_of_both(self, columns: Columns, vocabulary: Vocabulary) -> list[Names]:
        left = self.left.feature_names(columns, vocabulary.part("left"))
        return [left, self.right.feature_names(columns, vocabulary.part("right"))]


def nested(name: str, gradient: dict[str, np.ndarray], factor: Any = 1.0) -> dict[str, np.ndarray]:
    """Return the derivatives of the operand `name`, by the chain rule those of the whole."""
    return {f"{name}__{key}": factor * matrix for key, matrix in gradient.items()}


def wanted_inside(wanted: Wanted, name: str) -> Wanted:
    """Return the names of the wanted parameters that belong to an operand, as it names them."""
    if wanted is None:
        return None
    prefix = f"{name}__"
    return frozenset(w.removeprefix(prefix) for w in wanted if w.startswith(prefix))


def diagonal_gradients(
    kernel: Kernel, X: Any, Z: Any, inner: dict[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the derivatives of k(x, x) and k(z, z) by the names in `inner`, 0 if missing."""
    own = kernel.diagonal_gradient(X)
    other = own if X is Z else kernel.diagonal_gradient(Z)
    zeros = [
        {name: np.zeros(np.delete(matrix.shape, axis)) for name, matrix in inner.items()}
        for axis in (-1, -2)
    ]
    return zeros[0] | own, zeros[1] | other


def concatenated(blocks: list[Any]) -> Any:
    """Return feature blocks side by side, sparse if one of them is."""
    if any(sp.issparse(block) for block in blocks):
        return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))
    return np.hstack(blocks)


def outer(left: Any, right: Any) -> Any:
    """Return all products of a left with a right feature of an object, sparse if a factor is."""
    if not (sp.issparse(left) or sp.issparse(right)):
        left, right = np.asarray(left), np.asarray(right)
        return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
    left, right = sp.csr_array(left), sp.csr_array(right)
    n_left, n_right = np.diff(left.indptr), np.diff(right.indptr).astype(np.int64)
    per_row = n_left * n_right
    # Every entry of a row of `left` meets all entries of the same row of `right`, in order.
    row = np.repeat(np.arange(left.shape[0]), n_left)
    a = np.repeat(np.arange(left.nnz), n_right[row])
    begin = np.repeat(right.indptr[row], n_right[row])
    first = np.repeat(np.cumsum(n_right[row]) - n_right[row], n_right[row])
    b = begin + np.arange(len(a)) - first
    column = left.indices[a].astype(np.int64) * right.shape[1] + right.indices[b]
    start = np.concatenate([[0], np.cumsum(per_row)])
    shape = (left.shape[0], left.shape[1] * right.shape[1])
    return sp.csr_array((left.data[a] * right.data[b], column, start), shape=shape)


def product_names(factors: list[list[str] | None]) -> list[str] | None:
    """Return the names of the features of `outer`; None if a factor has none."""
    if any(names is None for names in factors):
        return None
    chosen = product(*(names for names in factors if names is not None))
    return [" ".join(name for name in names if name != "1") or "1" for names in chosen]
