"""A training sample with the properties that the theory asks about.

The theorems on margins speak of a sample S = ((x_1, y_1), ..., (x_l, y_l)), call it *trivial*
when all labels agree, and bound errors by its radius R = max ||x_i||, taken in feature space:
R = sqrt(max k(x_i, x_i)).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class TrainingSet:
    """Objects with their labels or targets.

    Parameters
    ----------
    X : array-like, sparse matrix or sequence of objects, of length n
        The objects.
    y : array-like of length n
        Labels (classification) or targets (regression; several columns are allowed).

    Examples
    --------
    >>> from mercer.data import TrainingSet, lfd_toy
    >>> sample = TrainingSet(*lfd_toy())
    >>> len(sample), sample.is_trivial, sample.has_duplicates
    (4, False, False)
    >>> sample.radius()
    3.0
    """

    X: Any
    y: Any

    def __post_init__(self) -> None:
        n, m = _length(self.X), _length(self.y)
        if n != m:
            raise ValueError(f"X has {n} objects and y has {m} values; they must agree")

    def __len__(self) -> int:
        return _length(self.X)

    @property
    def is_trivial(self) -> bool:
        """Whether all labels are equal (then a constant answers without an error)."""
        y = np.asarray(self.y)
        return bool(len(y) == 0 or (y == y[0]).all())

    @property
    def has_duplicates(self) -> bool:
        """Whether some object occurs twice, with whatever labels."""
        return _n_distinct(self.X) < len(self)

    @property
    def has_contradictions(self) -> bool:
        """Whether some object occurs with two different labels (no hard margin exists then)."""
        labelled = set(zip(_keys(self.X), _keys(self.y), strict=True))
        return len(labelled) > _n_distinct(self.X)

    def radius(self, kernel: Any = None) -> float:
        """Radius of the smallest ball around the origin of feature space that holds all objects.

        Parameters
        ----------
        kernel : Kernel or None, default=None
            Feature space; None is the space of the rows themselves (the linear kernel). A kernel
            with parameters that depend on data is bound to X.

        Returns
        -------
        float
            sqrt(max k(x_i, x_i)).

        Examples
        --------
        >>> from mercer.data import TrainingSet, lfd_toy
        >>> from mercer.kernels import RBF
        >>> TrainingSet(*lfd_toy()).radius(RBF(0.5))
        1.0
        """
        if kernel is None:
            if sparse.issparse(self.X):
                squares = self.X.multiply(self.X).sum(axis=1)
            else:
                squares = (np.asarray(self.X, dtype=np.float64) ** 2).sum(axis=1)
        else:
            squares = kernel.bind(self.X).diag(self.X)
        return float(np.sqrt(np.max(squares)))


def _length(objects: Any) -> int:
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def _keys(objects: Any) -> Sequence[Any]:
    """One hashable key per object; equal objects have equal keys."""
    if sparse.issparse(objects):
        rows = sparse.csr_matrix(objects, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return [
            (rows.indices[a:b].tobytes(), rows.data[a:b].tobytes())
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
    try:
        values = np.asarray(objects)
    except ValueError:  # sequences of different lengths
        return [tuple(item) for item in objects]
    if values.dtype == object:
        return [tuple(item) if isinstance(item, list | np.ndarray) else item for item in objects]
    if np.issubdtype(values.dtype, np.number):
        values = values + values.dtype.type(0)  # -0.0 becomes 0.0: equal numbers, equal bytes
    return [row.tobytes() for row in np.ascontiguousarray(values)]


def _n_distinct(objects: Any) -> int:
    return len(set(_keys(objects)))
