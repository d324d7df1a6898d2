r"""How well a kernel matrix agrees with the labels, or with another kernel matrix.

With the Frobenius product <K, L> = sum_ij K_ij L_ij, the alignment of two matrices is their cosine

    A(K, L) = <K, L> / sqrt(<K, K> <L, L>)

(Cristianini, Shawe-Taylor, Elisseeff and Kandola, On kernel-target alignment, 2002). The centred
alignment is that of HKH and HLH with H = I - 11'/n, which removes the mean in feature space
(Cortes, Mohri and Rostamizadeh, Algorithms for learning kernels based on centered alignment,
2012); it does not change when a constant is added to the kernel.

The target matrix of labels y is YY' with one row of codes per object: -1 and 1 for two classes, the
corners of a regular simplex for several, the numbers themselves for regression. Then
<K, YY'> = trace(Y'KY) needs products only, and the squares are summed over blocks of rows: no
matrix is held.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .values import KernelValues


def alignment(kernel: Any, X: Any = None, y: Any = None, *, other: Any = None) -> float:
    """Return the alignment of a kernel with labels, or with another kernel.

    Parameters
    ----------
    kernel : Kernel, callable or array of shape (n, n)
        The kernel, or its matrix.
    X : objects, optional
        The objects; None for a matrix.
    y : array of shape (n,) or (n, n_outputs), optional
        Labels or targets.
    other : Kernel, callable or array of shape (n, n), optional
        A second kernel on the same objects, or its matrix, instead of `y`.

    Returns
    -------
    float
        Between -1 and 1; 1 for a matrix proportional to the target's.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import alignment
    >>> round(alignment(np.eye(5), y=[1, 1, -1, -1, -1]), 6)
    0.447214
    """
    return _aligned(KernelValues(kernel, X), X, y, other, centred=False)


def centred_alignment(kernel: Any, X: Any = None, y: Any = None, *, other: Any = None) -> float:
    """Return the alignment after centring both matrices in feature space.

    Parameters
    ----------
    kernel : Kernel, callable or array of shape (n, n)
        The kernel, or its matrix.
    X : objects, optional
        The objects; None for a matrix.
    y : array of shape (n,) or (n, n_outputs), optional
        Labels or targets.
    other : Kernel, callable or array of shape (n, n), optional
        A second kernel on the same objects, or its matrix, instead of `y`.

    Returns
    -------
    float
        Between -1 and 1, and not below 0 for positive semidefinite matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import centred_alignment
    >>> round(centred_alignment(np.eye(5), y=[1, 1, -1, -1, -1]), 6)
    0.5
    """
    return _aligned(KernelValues(kernel, X), X, y, other, centred=True)


def target_codes(y: Any, n: int) -> np.ndarray:
    """Return one row of numbers per label, whose dot products make the target matrix.

    Parameters
    ----------
    y : array of shape (n,) or (n, n_outputs)
        Labels, or real targets.
    n : int
        How many there must be.

    Returns
    -------
    ndarray of shape (n, n_codes)
        The codes; of unit length for classes, with equal angles between them.
    """
    from sklearn.utils.multiclass import type_of_target

    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2) or len(y) != n:
        raise ValueError(f"y must have one label per object, {n} in all; got shape {y.shape}.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity.")
    kind = type_of_target(y)
    if kind.startswith("continuous") or (y.ndim == 2 and y.dtype.kind in "fiub"):
        return y.reshape(n, -1).astype(np.float64)
    if y.ndim == 2 or kind == "unknown":
        raise ValueError(f"y must hold labels or numbers, one per object; got {kind!r}.")
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has the one class {classes[0]!r}; at least two are needed.")
    if len(classes) == 2:
        return np.where(index == 1, 1.0, -1.0)[:, None]
    corners = np.eye(len(classes)) - 1.0 / len(classes)
    return corners[index] * sqrt(len(classes) / (len(classes) - 1))


def _aligned(values: KernelValues, X: Any, y: Any, other: Any, *, centred: bool) -> float:
    if (y is None) == (other is None):
        raise TypeError("give labels y or another kernel, one of them.")
    if other is None:
        codes = target_codes(y, values.n)
        if centred:
            codes = codes - codes.mean(axis=0)
        product = float(np.einsum("ij,ij->", codes, values.matmul(codes)))
        square, _, _ = _products(values, None, centred)
        target = float(np.linalg.norm(codes.T @ codes))
    else:
        second = KernelValues(other, X if callable(other) else None)
        if second.n != values.n:
            raise ValueError(
                f"the matrices must be of the same objects; got {values.n} and {second.n}."
            )
        square, product, other_square = _products(values, second, centred)
        target = sqrt(other_square)
    if square <= 0 or target <= 0:
        raise ValueError(
            "one of the two matrices is zero"
            + (" after centring, hence all objects look alike" if centred else "")
            + ", and a zero matrix has no angle with another."
        )
    return product / (sqrt(square) * target)


def _products(
    first: KernelValues, second: KernelValues | None, centred: bool
) -> tuple[float, float, float]:
    """Return <K, K>, <K, L> and <L, L>, of the centred matrices if asked, block by block."""
    matrices = [first] if second is None else [first, second]
    means = [_means(values) if centred else None for values in matrices]
    sums = np.zeros(3)
    for parts in zip(*(values.blocks() for values in matrices), strict=True):
        blocks = []
        for (start, block), mean in zip(parts, means, strict=True):
            if mean is not None:
                # In this order the entries of a nearly constant matrix cancel without loss.
                block = (block - mean) - (mean[start : start + len(block)] - mean.mean())[:, None]
            blocks.append(block)
        sums[0] += np.einsum("ij,ij->", blocks[0], blocks[0])
        if second is not None:
            sums[1] += np.einsum("ij,ij->", blocks[0], blocks[1])
            sums[2] += np.einsum("ij,ij->", blocks[1], blocks[1])
    return float(sums[0]), float(sums[1]), float(sums[2])


def _means(values: KernelValues) -> np.ndarray:
    """Return the mean of every row, which is that of the column: the matrix is symmetric."""
    return np.concatenate([block.mean(axis=1) for _, block in values.blocks()])
