"""A training sample with the properties that the theory asks about.

The theorems on margins speak of a sample S = ((x_1, y_1), ..., (x_l, y_l)), call it *trivial*
when all labels agree, and bound errors by its radius R = max ||x_i||, taken in feature space:
R = sqrt(max k(x_i, x_i)).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.objects.rows import squared_norms
from mercer.objects.tables import first_of_equal
from mercer.objects.validation import count


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
        n, m = count(self.X), count(self.y)
        if n != m:
            raise ValueError(f"X has {n} objects and y has {m} values; they must agree")

    def __len__(self) -> int:
        return count(self.X)

    @property
    def is_trivial(self) -> bool:
        """Whether all labels are equal (then a constant answers without an error)."""
        y = np.asarray(self.y)
        return bool(len(y) == 0 or (y == y[0]).all())

    @property
    def has_duplicates(self) -> bool:
        """Whether some object occurs twice, with whatever labels."""
        return bool((first_of_equal(self.X) < np.arange(len(self))).any())

    @property
    def has_contradictions(self) -> bool:
        """Whether some object occurs with two different labels (no hard margin exists then)."""
        y = np.asarray(self.y)
        return bool((y[first_of_equal(self.X)] != y).any())

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
            rows = self.X if sparse.issparse(self.X) else np.asarray(self.X, dtype=np.float64)
            squares = squared_norms(rows)
        else:
            squares = kernel.bind(self.X).diag(self.X)
        return float(np.sqrt(np.max(squares)))
