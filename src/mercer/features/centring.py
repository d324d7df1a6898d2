"""Kernel matrices of data moved to their centre of mass in feature space.

With shares w_i that sum to 1 and S = sum_i w_i phi(x_i),

    <phi(x) - S, phi(z) - S> = k(x, z) - sum_j w_j k(x, x_j) - sum_i w_i k(x_i, z) + w'Kw.

For the training matrix and equal shares this is K - 1K - K1 + 1K1 with 1 = (1/n) in every entry
(B. Schoelkopf, A. Smola, K.-R. Mueller, "Nonlinear component analysis as a kernel eigenvalue
problem", Neural Computation 10, 1998). It needs the n training means and their mean, which cost
one product with K; the matrix itself is centred a tile at a time, or never built.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.geometry.means import TO_MEAN, shares
from mercer.geometry.squared_lengths import require_distances, squared_distances
from mercer.gram import Gram, Prepared
from mercer.machines.conventions import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from mercer.machines.kernel_estimator import KernelEstimator
from mercer.objects.arrays import Array
from mercer.objects.parameters import declared, parameter
from mercer.objects.validation import count, stored_alike, take

_TILE_ROWS = 256


@declared
class KernelCenterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Move data to their centre of mass in feature space, through kernel values.

    With the default kernel it takes kernel matrices, as scikit-learn's class of the same name
    does, and weights as well. With a kernel it takes objects and evaluates that kernel; `tiles`
    and `matmul` then never hold more than a few rows of the matrix.

    Attributes
    ----------
    K_fit_rows_ : array of shape (n_samples,)
        The weighted mean of k(x, x_i) over the training objects x.
    K_fit_all_ : float
        The weighted mean of all training values, the squared length of the centre.
    weight_ : array of shape (n_samples,)
        The shares of the objects, which sum to 1.
    kernel_ : Kernel
        The kernel with all parameters resolved.
    X_fit_ : objects or None
        The training objects; None for kernel matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import KernelCenterer
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 3.0]])
    >>> KernelCenterer().fit_transform(Linear()(X))
    array([[ 2.,  0., -2.],
           [ 0.,  2., -2.],
           [-2., -2.,  4.]])
    >>> centred = KernelCenterer(kernel=Linear()).fit(X)
    >>> centred.matmul(np.array([1.0, 0.0, 0.0]))
    array([ 2.,  0., -2.])
    """

    _sparse_means_sparse = False

    kernel: Any = parameter(default="precomputed", kind="str, Kernel or callable")
    """"precomputed" for matrices; otherwise what the machines accept as ``kernel``."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the means of the training values.

        Parameters
        ----------
        X : array of shape (n_samples, n_samples), or objects
            The training matrix, or the training objects of `kernel`.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; weight k counts as k copies, weight 0 as none.

        Returns
        -------
        self : KernelCenterer
            The fitted transformer.
        """
        self._check_parameters()
        data = self._enter(X)[0]
        X = data.X
        self.weight_ = shares(sample_weight, count(X))
        names = getattr(self, "feature_names_in_", None)
        self.kernel_ = self._resolved_kernel().bound_to_valid(data.views, self.weight_, names)
        self.K_fit_rows_ = Gram(self.kernel_, data.views, "float64").matmul(self.weight_)
        self.K_fit_all_ = float(self.weight_ @ self.K_fit_rows_)
        self.X_fit_ = None if self.kernel_.pairwise else X
        return self

    def transform(self, X: Any, copy: bool = True) -> Array:
        """Return the centred values between objects and the training objects.

        Parameters
        ----------
        X : array of shape (n_X, n_samples), or objects
            Kernel values against all training objects, or objects.
        copy : bool, default=True
            Whether a kernel matrix that is given is left as it is. Without a copy a float64
            matrix is centred in place, row block by row block.

        Returns
        -------
        array of shape (n_X, n_samples)
            The centred matrix.
        """
        X = self._objects(X)
        if not self.kernel_.pairwise:
            return np.concatenate([tile for _, tile in self._tiles(X, _TILE_ROWS)])
        K = np.array(X, dtype=np.float64) if copy else X.astype(np.float64, copy=False)
        for start in range(0, len(K), _TILE_ROWS):
            self._centre(K[start : start + _TILE_ROWS])
        return K

    def tiles(self, X: Any, rows: int = _TILE_ROWS) -> Iterator[tuple[int, Array]]:
        """Yield the centred matrix of `transform`, at most `rows` at a time.

        Pairs of the position of a tile's first row and the centred values (rows, n_samples).
        """
        self._require_fit()
        if rows < 1:
            raise ValueError(f"a tile needs at least one row; got rows={rows}.")
        yield from self._tiles(self._objects(X), rows)

    def matmul(self, V: ArrayLike) -> Array:
        """Return the centred training matrix times vectors (n_samples,) or (n_samples, m).

        Needs a kernel: a centrer of matrices does not keep its matrix.
        """
        self._require_fit()
        if self.X_fit_ is None:
            raise ValueError(
                "matmul needs the training objects, and a centrer of precomputed matrices keeps "
                "none; use fit_transform(K) @ V, or give the kernel."
            )
        V = np.asarray(V, dtype=np.float64)
        product = Gram(self.kernel_, self.X_fit_, "float64").matmul(V)
        sums = V.sum(axis=0)
        rows = self.K_fit_rows_
        product -= rows @ V
        product -= rows * sums if V.ndim == 1 else np.outer(rows, sums)
        product += self.K_fit_all_ * sums
        return product

    def diag(self, X: Any) -> Array:
        """Return the squared distances of objects to the centre, the diagonal of their matrix."""
        self._require_fit()
        if self.X_fit_ is None:
            raise ValueError(
                "a precomputed matrix of new objects does not hold k(x, x); give the kernel."
            )
        require_distances(self.kernel_)
        X = self._objects(X)
        A, B = stored_alike(X, self.X_fit_)
        means = Prepared(self.kernel_, B).matmul(A, self.weight_)
        squares = self.kernel_.diag(X), means, self.K_fit_all_
        return squared_distances(*squares, self.kernel_, TO_MEAN)

    def _tiles(self, X: Any, rows: int) -> Iterator[tuple[int, Array]]:
        if self.X_fit_ is None:
            prepared = Prepared(self.kernel_, np.arange(len(self.weight_)))
        else:
            X, Z = stored_alike(X, self.X_fit_)
            prepared = Prepared(self.kernel_, Z)
        for first in range(0, count(X), rows):
            tile = prepared.tile(take(X, slice(first, first + rows)))
            self._centre(tile)
            yield first, tile

    def _centre(self, tile: Array) -> None:
        """Centre the rows of a tile in place."""
        # Not tile @ weight: a value must not depend, in its last bits, on the size of the tile.
        means = (tile * self.weight_).sum(axis=1)
        tile -= self.K_fit_rows_
        tile -= (means - self.K_fit_all_)[:, None]

    @property
    def _n_features_out(self) -> int:
        return len(self.K_fit_rows_)
