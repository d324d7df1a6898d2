r"""Alignment of a kernel matrix with the labels, or with another kernel matrix.

With the Frobenius product <K, L> = sum_ij K_ij L_ij, the alignment of two matrices is their cosine

    A(K, L) = <K, L> / sqrt(<K, K> <L, L>)

(Cristianini, Shawe-Taylor, Elisseeff and Kandola, On kernel-target alignment, 2002). The centred
alignment is that of HKH and HLH with H = I - 11'/n, which removes the mean in feature space
(Cortes, Mohri and Rostamizadeh, Algorithms for learning kernels based on centered alignment,
2012); it does not change when a constant is added to the kernel.

The target matrix of labels y is YY' with one row of codes per object; see
:mod:`mercer.inspection.targets`. Then <K, YY'> = trace(Y'KY) needs products only, and the squares
are summed over blocks of rows: no matrix is held.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .matrix_source import KernelValues
from .targets import target_codes

# What centring leaves of a matrix counts as rounding below this share of the squares.
CENTRED_TO_ZERO = 1e-28


def alignment(
    kernel: Any, X: Any = None, y: Any = None, *, other: Any = None, task: str = "auto"
) -> float:
    """Return the alignment of a kernel with labels, or with another kernel.

    Parameters
    ----------
    kernel : Kernel, str, callable or array of shape (n, n)
        The kernel, or its matrix.
    X : objects, optional
        The objects; None for a matrix.
    y : array of shape (n,) or (n, n_outputs), optional
        Labels or targets.
    other : Kernel, callable or array of shape (n, n), optional
        A second kernel on the same objects, or its matrix, instead of `y`.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether `y` are labels or numbers. "auto" takes whole numbers for labels, unless there are
        more different ones than 20 or a fifth of the objects.

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
    found = cosine(kernel, X, y, other=other, task=task)
    if found is None:
        raise ValueError(
            "one of the two matrices is zero, and a zero matrix has no angle with another."
        )
    return found


def centred_alignment(
    kernel: Any, X: Any = None, y: Any = None, *, other: Any = None, task: str = "auto"
) -> float:
    """Return the alignment after centring both matrices in feature space.

    Parameters
    ----------
    kernel, X, y, other, task : Kernel or array, objects, array, Kernel or array, str
        As for :func:`alignment`.

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
    found = cosine(kernel, X, y, other=other, task=task, centred=True)
    if found is None:
        raise ValueError(
            "one of the two matrices is zero after centring, hence all objects look alike, and a "
            "zero matrix has no angle with another."
        )
    return found


def cosine(
    kernel: Any,
    X: Any = None,
    y: Any = None,
    *,
    other: Any = None,
    task: str = "auto",
    centred: bool = False,
) -> float | None:
    """Return an alignment, None where a matrix is zero up to rounding."""
    if (y is None) == (other is None):
        raise TypeError("give labels y or another kernel, one of them.")
    values = KernelValues(kernel, X)
    if other is None:
        codes = target_codes(y, values.n, task)
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
    if square == 0 or target == 0:
        return None
    return product / (sqrt(square) * target)


def _products(
    first: KernelValues, second: KernelValues | None, centred: bool
) -> tuple[float, float, float]:
    """Return <K, K>, <K, L>, <L, L>, centred if asked; 0 where centring leaves rounding alone."""
    matrices = [first] if second is None else [first, second]
    means = [
        np.concatenate([block.mean(axis=1) for _, block in values.blocks()]) if centred else None
        for values in matrices
    ]
    sums, whole = np.zeros(3), np.zeros(2)
    for parts in zip(*(values.blocks() for values in matrices), strict=True):
        blocks = []
        for k, ((start, block), mean) in enumerate(zip(parts, means, strict=True)):
            whole[k] += np.einsum("ij,ij->", block, block)
            blocks.append(block if mean is None else centred_rows(block, start, mean))
        sums[0] += np.einsum("ij,ij->", blocks[0], blocks[0])
        if second is not None:
            sums[1] += np.einsum("ij,ij->", blocks[0], blocks[1])
            sums[2] += np.einsum("ij,ij->", blocks[1], blocks[1])
    sums[[0, 2]] *= sums[[0, 2]] > CENTRED_TO_ZERO * whole
    return float(sums[0]), float(sums[1]), float(sums[2])


def centred_rows(block: np.ndarray, start: int, means: np.ndarray) -> np.ndarray:
    """Return rows of a symmetric matrix after centring, given the means of all its rows."""
    # In this order the entries of a nearly constant matrix cancel without loss.
    return (block - means) - (means[start : start + len(block)] - means.mean())[:, None]
