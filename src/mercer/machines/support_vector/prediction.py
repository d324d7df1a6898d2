"""Decision values of many pairs of classes, with each kernel value evaluated once."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _native
from mercer.gram import Prepared, Products
from mercer.gram.matrix import native_jobs
from mercer.gram.overflow import refuse_infinite
from mercer.objects.arrays import Array
from mercer.objects.validation import take
from mercer.solvers.centring import centring

from .multiclass import pair_shifts
from .repetition import first_of_each, sums_of_each

_MANY = 200  # classes from which on memory decides: the products of each class are not stored


class PairPredictor:
    """One group of support vectors per class, with one output for each of its pairs.

    The support vectors of a class serve its n_classes - 1 pairs and no other, so a product per
    class costs a fraction of one product with all pairs.
    """

    def __init__(self, machine: Any, blocks: list[slice]) -> None:
        coef, kernel = machine._dense_coef(), machine.kernel_
        vectors = machine.support_ if kernel.pairwise else machine.support_vectors_
        if machine._distinct is not None:
            first = first_of_each(machine._distinct)
            vectors, coef = take(vectors, first), sums_of_each(machine._distinct, coef.T).T
            sizes = [b.stop - b.start for b in blocks]
            ends = np.cumsum(
                np.bincount(np.repeat(np.arange(len(blocks)), sizes)[first], minlength=len(blocks))
            )
            blocks = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        self.intercept, self.n_jobs, k = machine.intercept_, machine.n_jobs, len(blocks)
        # The two classes of a pair cancel: far from the origin only what is centred keeps digits.
        self.moved = centring(kernel, vectors, machine._sums_to_zero)
        if self.moved is not None:
            vectors = self.moved.rows
            self.intercept = self.intercept + pair_shifts(self.moved, coef, blocks, None)
        self.prepared = Prepared(kernel, vectors, machine._precision)
        self.n_classes, self.many = k, k >= _MANY
        if self.many:
            self.ends = np.array([b.stop for b in blocks], dtype=np.int64)
            self.coef, self.by_column = np.ascontiguousarray(coef), np.ascontiguousarray(coef.T)
        else:
            groups = [(b.start, coef[:, b].T) for b in blocks]
            self.products = Products(self.prepared, groups)

    def __call__(self, X: Any) -> Array:
        """Return the values of all pairs on validated objects."""
        return refuse_infinite(self._decide(X, False)[0], self.prepared.kernel)

    def votes(self, X: Any) -> Array:
        """Return how many pairs each class wins on validated objects; no value is stored."""
        counts, finite = self._decide(X, True)
        if not finite:
            self(X)  # raises an error that names the objects
        return counts

    def _decide(self, X: Any, votes: bool) -> tuple[Array, bool]:
        """Return votes or values pair by pair, and whether all values are finite."""
        X = X if self.moved is None else self.moved.move(X)
        if not self.many:
            # n_classes - 1 columns for each class: the pair (i, j) in column j - 1 of i and i of j.
            parts = self.products(X, self.n_jobs)
            return _native.join_parts(parts, self.intercept, self.n_classes, votes)
        return _native.pair_decisions(
            self.prepared.tile(X, self.n_jobs),
            self.ends,
            self.coef,
            self.by_column,
            self.intercept,
            votes,
            native_jobs(self.n_jobs),
        )
