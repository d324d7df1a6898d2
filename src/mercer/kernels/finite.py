"""A kernel on a finite set of items, as its matrix."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from mercer.numerics.symmetric_matrices import refuse_negative_direction, symmetric_matrix
from mercer.objects.parameters import show
from mercer.objects.validation import Objects, as_objects

from .base import Kernel
from .definiteness import PSD


class FiniteMatrix(Kernel):
    r"""A kernel on finitely many items, given by all of its values.

    .. math:: k(a_i, a_j) = K_{ij}

    Every symmetric positive semidefinite matrix is a kernel on a finite set: with the eigenvalues
    and eigenvectors of :math:`K = V \Lambda V^\top`, item i has the features
    :math:`(\sqrt{\lambda_t} \, v_{ti})_t`. Any other matrix raises ValueError with a vector v for
    which v'Kv < 0. Unlike :class:`Precomputed` the kernel belongs to the items and not to a data
    set: objects may repeat, and new ones need no new matrix.

    Parameters
    ----------
    matrix : array of shape (n_items, n_items)
        The values K.
    items : sequence of hashable, optional
        The items a_0, a_1, ...; by default the numbers 0, 1, ...

    Notes
    -----
    Use it for categories whose similarity is known: amino acids by a substitution matrix, parts by
    experts, words by a thesaurus. Objects are the categories themselves and may repeat. The matrix
    is checked once, in the cube of the number of items, so keep to a few thousand. Avoid it for
    categories that are simply different; that is Categorical.

    Examples
    --------
    >>> from mercer.kernels import FiniteMatrix
    >>> k = FiniteMatrix([[1.0, 0.8], [0.8, 1.0]], items=["car", "truck"])
    >>> k(["car", "truck", "car"], ["truck"])
    array([[0.8],
           [1. ],
           [0.8]])
    """

    matrix: Any
    items: Sequence[Hashable] | None = None

    definiteness = PSD  # which was checked

    def _check(self) -> None:
        K = symmetric_matrix(self.matrix, "the matrix of FiniteMatrix")
        refuse_negative_direction(K, "the matrix of FiniteMatrix", "v'Kv")
        if self.items is None:
            return
        if len(self.items) != len(K):
            raise ValueError(
                f"the matrix of FiniteMatrix has {len(K)} rows for {len(self.items)} items; it "
                "needs one for each."
            )
        if len(set(self.items)) < len(self.items):
            twice = next(item for item in self.items if list(self.items).count(item) > 1)
            raise ValueError(f"the item {show(twice)} occurs twice; every item has one row.")

    @property
    def takes(self) -> Objects:
        """The items."""
        return Objects(f"the {len(self.matrix)} items of a finite set")

    def validate(self, X: Any, against: Any = None) -> Any:
        """Return `X`, items or a column of their numbers, as a list or as an array of int64."""
        X = as_objects(X, type(self).__name__)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if self.items is not None:
            X = X.tolist() if isinstance(X, np.ndarray) else list(X)
            self._positions(X)
            return X
        numbers = np.asarray(X)
        n = len(self.matrix)
        if numbers.ndim != 1 or numbers.dtype.kind not in "biuf" or np.any(numbers % 1 != 0):
            raise ValueError(
                f"FiniteMatrix without items takes the numbers 0 to {n - 1} of its rows; got "
                f"{show(X[:5] if len(X) > 5 else X)}."
            )
        if numbers.min() < 0 or numbers.max() >= n:
            raise ValueError(
                f"FiniteMatrix has the items 0 to {n - 1}; got "
                f"{show(numbers.min() if numbers.min() < 0 else numbers.max())}."
            )
        return numbers.astype(np.int64)

    def tile(self, A: Any, B: Any) -> np.ndarray:
        K = np.asarray(self.matrix, dtype=np.float64)
        return K[np.ix_(self._positions(A), self._positions(B))]

    def tile_diagonal(self, A: Any) -> np.ndarray:
        return np.diagonal(np.asarray(self.matrix, dtype=np.float64))[self._positions(A)]

    def feature_map(self, X: Any) -> np.ndarray:
        """Return the features of the items; see :meth:`Kernel.feature_map`."""
        values, vectors = np.linalg.eigh(np.asarray(self.matrix, dtype=np.float64))
        return (vectors * np.sqrt(np.maximum(values, 0.0)))[self._positions(self.validate(X))]

    def _positions(self, X: Any) -> np.ndarray:
        if self.items is None:
            return np.asarray(X, dtype=np.int64)
        numbers = {item: i for i, item in enumerate(self.items)}
        try:
            return np.array([numbers[item] for item in X], dtype=np.int64)
        except KeyError as error:
            raise ValueError(
                f"{show(error.args[0])} is not among the {len(numbers)} items of FiniteMatrix."
            ) from None
        except TypeError:
            raise TypeError("the items of FiniteMatrix must be hashable.") from None
