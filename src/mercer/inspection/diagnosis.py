"""Diagnosis of a kernel matrix: near-diagonal, nearly constant, or with the classes as blocks.

Near-diagonal: every object is similar to itself only, as with a Gaussian kernel that is too narrow
or with too many irrelevant features; nothing can be learned from others. Class blocks: objects of
one class are similar to each other and not to those of other classes (Honavar, Kernel Machines).
The opposite failure is a nearly constant matrix: all objects are similar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .alignments import centred_rows, cosine
from .matrix_source import KernelValues
from .readable import Report
from .targets import is_classification

# A matrix is called near-diagonal when the diagonal holds this share of the sum of squares, and
# nearly constant when centring leaves no more than this share of it.
DIAGONAL = 0.9
CONSTANT = 0.01
# A class block stands out when the mean similarity inside the classes exceeds the mean between
# them by this share of the mean diagonal entry and the centred alignment is at least this.
CONTRAST = 0.1
ALIGNED = 0.2


@dataclass(frozen=True)
class Diagnosis(Report):
    """Structure of a kernel matrix on some data.

    Attributes
    ----------
    n : int
        Number of objects.
    kind : {"near-diagonal", "nearly constant", "class blocks", "no class structure", "structured"}
        The finding; "structured" is said without labels.
    off_diagonal_ratio : float
        Mean absolute value off the diagonal over the mean diagonal value; 0 for a diagonal matrix.
    diagonal_share : float
        Share of the diagonal in the sum of the squares of all values; 1 for a diagonal matrix.
    centred_share : float
        Share of that sum that is left after centring in feature space; 0 for a constant matrix.
    within, between : float or None
        Mean value of two different objects of one class, and of two classes; None without
        classes.
    alignment, centred_alignment : float or None
        With the labels; None without them, or where every object looks alike.
    advice : str
        Advice: what to try next.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import diagnose
    >>> from mercer.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> diagnose(RBF(gamma=1e4), X).kind
    'near-diagonal'
    """

    n: int
    kind: str
    off_diagonal_ratio: float
    diagonal_share: float
    centred_share: float
    within: float | None
    between: float | None
    alignment: float | None
    centred_alignment: float | None
    advice: str

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("finding", f"{self.kind} ({self.n:,} objects)"),
            ("off the diagonal", f"{self.off_diagonal_ratio:.4g} of the diagonal on average"),
            ("diagonal", f"{self.diagonal_share:.1%} of the squares"),
            ("after centring", f"{self.centred_share:.1%} of the squares"),
        ]
        if self.within is not None:
            rows.append(("classes", f"{self.within:.4g} within, {self.between:.4g} between"))
        if self.alignment is not None:
            centred = "none" if self.centred_alignment is None else f"{self.centred_alignment:.4g}"
            rows.append(("alignment", f"{self.alignment:.4g}, centred {centred}"))
        rows.append(("advice", self.advice))
        return rows


def diagnose(kernel: Any, X: Any = None, y: Any = None) -> Diagnosis:
    """Return whether a kernel matrix is near-diagonal, constant, or shows the classes.

    The matrix is read in blocks of rows and never held.

    Parameters
    ----------
    kernel : Kernel, str, callable or array of shape (n, n)
        The kernel, or its matrix.
    X : objects, optional
        The objects; None for a matrix.
    y : array of shape (n,), optional
        Labels, or real targets, which have an alignment but no blocks.

    Returns
    -------
    Diagnosis
        The findings; they print, and :func:`mercer.plots.gram` draws them.

    Examples
    --------
    >>> from mercer.inspection import diagnose
    >>> K = [[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]]
    >>> print(diagnose(K, y=[1, 1, -1, -1, -1]))
    finding           class blocks (5 objects)
    off the diagonal  0.2778 of the diagonal on average
    diagonal          55.9% of the squares
    after centring    43.2% of the squares
    classes           2.5 within, 0 between
    alignment         0.6996, centred 0.9432
    advice            the classes show in the matrix; tune the width around this value
    """
    values = KernelValues(kernel, X)
    matrix = kernel if X is None else values.kernel
    diagonal = values.diagonal()
    squares = absolute = 0.0
    means = np.empty(values.n)
    for start, block in values.blocks():
        squares += float(np.einsum("ij,ij->", block, block))
        absolute += float(np.abs(block).sum())
        means[start : start + len(block)] = block.mean(axis=1)
    if squares == 0:
        raise ValueError("all kernel values are zero; there is nothing to diagnose.")
    centred = 0.0
    for start, block in values.blocks():
        left = centred_rows(block, start, means)
        centred += float(np.einsum("ij,ij->", left, left))
    n = values.n
    pairs = n * (n - 1)
    scale = float(np.abs(diagonal).mean())
    ratio = (absolute - float(np.abs(diagonal).sum())) / pairs if pairs else 0.0
    within, between = (None, None) if y is None else _class_means(values, y, diagonal)
    shares = float(diagonal @ diagonal) / squares, centred / squares
    plain = middle = None
    if y is not None:
        plain, middle = cosine(matrix, X, y), cosine(matrix, X, y, centred=True)
    kind = _kind(*shares, within, between, middle, scale, y)
    return Diagnosis(
        n=n,
        kind=kind,
        off_diagonal_ratio=ratio / scale if scale else float("inf"),
        diagonal_share=shares[0],
        centred_share=shares[1],
        within=within,
        between=between,
        alignment=plain,
        centred_alignment=middle,
        advice=_ADVICE[kind],
    )


_ADVICE = {
    "near-diagonal": (
        "each object is similar to itself only: widen the kernel (smaller gamma), drop irrelevant "
        "features, or lower the degree"
    ),
    "nearly constant": (
        "all objects look alike: narrow the kernel (larger gamma), scale the features, or take out "
        "a constant"
    ),
    "class blocks": "the classes show in the matrix; tune the width around this value",
    "no class structure": (
        "the similarities do not follow the labels: try a low-degree polynomial and a Gaussian of "
        "median width, other features, or a kernel made for these objects"
    ),
    "structured": "neither diagonal nor constant; pass labels y to see whether they show",
}


def _kind(
    diagonal_share: float,
    centred_share: float,
    within: float | None,
    between: float | None,
    middle: float | None,
    scale: float,
    y: Any,
) -> str:
    if diagonal_share > DIAGONAL:
        return "near-diagonal"
    if centred_share < CONSTANT:
        return "nearly constant"
    if y is None:
        return "structured"
    aligned = middle is not None and middle >= ALIGNED
    if within is None or between is None:  # real targets, or classes of one object each
        return "structured" if aligned else "no class structure"
    blocks = within - between >= CONTRAST * scale
    return "class blocks" if blocks and aligned else "no class structure"


def _class_means(
    values: KernelValues, y: Any, diagonal: np.ndarray
) -> tuple[float | None, float | None]:
    """Return the mean value of two different objects of one class, and of two classes."""
    y = np.asarray(y)
    if y.ndim != 1 or not is_classification(y):
        return None, None
    if len(y) != values.n:
        raise ValueError(f"y must have one label per object, {values.n} in all; got {len(y)}.")
    classes, index = np.unique(y, return_inverse=True)
    members = np.eye(len(classes))[index]
    sums = members.T @ values.matmul(members)
    sizes = members.sum(axis=0)
    same = float(np.trace(sums) - diagonal.sum())
    same_pairs = float((sizes * (sizes - 1)).sum())
    other_pairs = values.n * (values.n - 1) - same_pairs
    return (
        same / same_pairs if same_pairs else None,
        float(sums.sum() - np.trace(sums)) / other_pairs if other_pairs else None,
    )
