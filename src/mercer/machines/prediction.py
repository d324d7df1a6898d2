"""Decision values of many pairs of classes, with each kernel value evaluated once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Prepared, Products
from mercer.gram.overflow import refuse_infinite

from .multiclass import pairs

Array = NDArray[np.float64]


class PairPredictor:
    """One group of support vectors per class, with one output for each of its pairs.

    The support vectors of a class serve its n_classes - 1 pairs and no other, so a product per
    class costs a fraction of one product with all pairs.

    Parameters
    ----------
    machine : KernelClassifier
        A fitted machine of one task per pair.
    blocks : list of slice
        The support vectors of each class.
    """

    def __init__(self, machine: Any, blocks: list[slice]) -> None:
        coef = machine.dual_coef_
        coef = coef.toarray() if sp.issparse(coef) else coef
        kernel = machine.kernel_
        vectors = machine.support_ if kernel.pairwise else machine.support_vectors_
        self.intercept, self.n_jobs, k = machine.intercept_, machine.n_jobs, len(blocks)
        self.products = Products(
            Prepared(kernel, vectors, machine._precision),
            [(b.start, coef[:, b].T) for b in blocks],
        )
        # Columns of the result: n_classes - 1 for each class.
        both = [(i * (k - 1) + j - 1, j * (k - 1) + i) for i, j in pairs(k)]
        self.first, self.second = (np.array(column) for column in zip(*both, strict=True))

    def __call__(self, X: Any) -> Array:
        """Return the values of all pairs on validated objects.

        Parameters
        ----------
        X : objects
            Validated objects.
        """
        parts = self.products(X, self.n_jobs)
        values = parts[:, self.first]
        values += parts[:, self.second]
        values += self.intercept
        return refuse_infinite(values, self.products.prepared.kernel)
