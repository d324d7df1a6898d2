"""Products of columns: the explicit features of polynomial kernels.

Of d columns there are C(d + k - 1, k) monomials of degree k and C(d + k, k) of degree at most k.
They are listed by degree and within a degree in the order of their columns (x0 x0, x0 x1, x1 x1),
so those that begin with column i are column i times the tail of the monomials of one degree less
that has no column before i.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from itertools import combinations_with_replacement
from math import comb, sqrt
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer import sklearn_internals
from mercer.kernels.vectors.monomial_features import monomial_name
from mercer.machines.conventions import TransformerMixin
from mercer.machines.estimator import Estimator
from mercer.objects.arrays import Array
from mercer.objects.parameters import (
    declared,
    integer,
    integer_from,
    one_of,
    parameter,
    truth,
)
from mercer.objects.validation import validated

from .base import as_precise

WEIGHTINGS = ("unit", "kernel")
_MOST = 2**31 - 1  # columns


def n_monomials(n_features: int, degree: int, *, lower: bool = False) -> int:
    """Return how many monomials there are.

    Parameters
    ----------
    n_features : int >= 1
        Number of columns n.
    degree : int >= 0
        The degree k.
    lower : bool, default=False
        Whether to count all degrees up to k, with the constant, instead of k alone.

    Returns
    -------
    int
        C(n + k - 1, k), or C(n + k, k) with the lower degrees.

    Examples
    --------
    >>> from mercer.features import n_monomials
    >>> n_monomials(256, 5), n_monomials(256, 5, lower=True)
    (9525431552, 9711475137)
    """
    n = integer(n_features, "n_features", minimum=1)
    k = integer(degree, "degree", minimum=0)
    return comb(n + k, k) if lower else comb(n + k - 1, k)


def monomials(X: Any, degree: int) -> list[tuple[Any, Array]]:
    """Return all monomials up to a degree, with the number of orders of their factors.

    `X` (n, d): rows of float64. Returns for every degree k from 0 on: an array or CSR matrix with
    one column per monomial, and k! / (m_1! m_2! ...) with m_i the power of column i. (x . z)^k is
    the sum of orders * monomial(x) * monomial(z).
    """
    return _sparse_monomials(X, degree) if sp.issparse(X) else _dense_monomials(X, degree)


def _dense_monomials(X: Array, degree: int) -> list[tuple[Array, Array]]:
    n, d = X.shape
    blocks = [(np.ones((n, 1)), np.ones(1))]
    lead = np.zeros(1, dtype=np.intp)  # how often a monomial's first column occurs in it
    for k in range(1, degree + 1):
        values, orders = blocks[-1]
        starts = _starts(d, k - 1)
        new = np.empty((n, n_monomials(d, k)))
        factors, runs, at = [], [], 0
        for i in range(d):
            tail = slice(starts[i], None)
            width = len(orders) - starts[i]
            np.multiply(values[:, tail], X[:, i, None], out=new[:, at : at + width])
            # Of the tail, the monomials before the next start begin with column i themselves.
            run = np.ones(width, dtype=np.intp)
            if k > 1:
                own = starts[i + 1] - starts[i] if i + 1 < d else width
                run[:own] += lead[starts[i] : starts[i] + own]
            factors.append(orders[tail] * k / run)
            runs.append(run)
            at += width
        lead = np.concatenate(runs)
        blocks.append((new, np.concatenate(factors)))
    return blocks


def _sparse_monomials(X: Any, degree: int) -> list[tuple[Any, Array]]:
    X = sp.csr_array(X)
    X.sum_duplicates()
    n, d = X.shape
    first_entry = X.indptr[:-1].astype(np.int64)
    blocks: list[tuple[Any, Array]] = [(sp.csr_array(np.ones((n, 1))), np.ones(1))]
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    entry = np.arange(X.nnz, dtype=np.int64)  # where a monomial's first factor is stored
    column = X.indices.astype(np.int64)
    value = X.data.astype(np.float64)
    for k in range(1, degree + 1):
        if k > 1:
            # Multiply every monomial by the entries of its row up to its own first factor.
            counts = entry - first_entry[row] + 1
            source = np.repeat(np.arange(len(entry)), counts)
            within = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
            row = row[source]
            entry = first_entry[row] + within
            i = X.indices[entry].astype(np.int64)
            starts = np.array(_starts(d, k - 1), dtype=np.int64)
            widths = n_monomials(d, k - 1) - starts
            begin = np.cumsum(widths) - widths
            column = begin[i] + column[source] - starts[i]
            value = value[source] * X.data[entry]
        shape, orders = (n, n_monomials(d, k)), _dense_monomials(np.zeros((0, d)), k)[k][1]
        blocks.append((sp.csr_array((value, (row, column)), shape=shape), orders))
    return blocks


def _starts(d: int, k: int) -> list[int]:
    """Return the position of the first monomial of degree k without a column before i."""
    total = comb(d + k - 1, k)
    return [total - comb(d - i + k - 1, k) for i in range(d)]


@declared
class MonomialFeatures(TransformerMixin, Estimator):
    """Products of columns up to a degree, as they are or weighted like a polynomial kernel.

    Attributes
    ----------
    powers_ : array of int of shape (n_output_features_, n_features_in_)
        The power of every column in every monomial.
    n_output_features_ : int
        Number of monomials.

    Examples
    --------
    >>> from mercer.features import MonomialFeatures
    >>> features = MonomialFeatures(degree=2).fit([[1.0, 2.0]])
    >>> features.get_feature_names_out().tolist()
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    >>> features.transform([[3.0, 5.0]])
    array([[ 3.,  5.,  9., 15., 25.]])
    """

    degree: int = parameter(integer_from(1), default=2)
    """The degree."""
    _: KW_ONLY
    lower: bool = parameter(truth, default=True)
    """Whether to list the lower degrees too."""
    include_bias: bool = parameter(truth, default=False)
    """Whether to list the constant."""
    weighting: str = parameter(one_of(*WEIGHTINGS), default="unit")
    """"unit" gives every monomial the coefficient 1. "kernel" gives the weights with which dot
    products are (x . z + 1)^degree, less the constant 1 if it is left out, and (x . z)^degree
    without the lower degrees. The two span the same functions, but distances and hence margins
    differ."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the columns of the training rows, dense or sparse."""
        self._check_parameters()
        validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        count = sum(n_monomials(self.n_features_in_, k) for k in self._degrees())
        if count > _MOST:
            raise ValueError(
                f"{self.n_features_in_} columns have {count} monomials of this degree, more than "
                "can be listed; use the kernel Polynomial, which does not list them."
            )
        self.n_output_features_ = count
        return self

    def transform(self, X: Any) -> NDArray[Any] | sp.csr_array:
        """Return the monomials of rows, of shape (n_X, n_output_features_).

        They are sparse for sparse rows, and in single precision for rows in single precision.
        """
        check_is_fitted(self)
        X = validated(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        blocks = monomials(X.astype(np.float64, copy=False), int(self.degree))
        chosen = []
        for k in self._degrees():
            values, orders = blocks[k]
            if self.weighting == "kernel":
                share = comb(int(self.degree), k) if self.lower else 1
                values = values * np.sqrt(share * orders)
            chosen.append(values)
        listed = sp.hstack(chosen, format="csr") if sp.issparse(X) else np.hstack(chosen)
        return as_precise(listed, X)

    @property
    def powers_(self) -> NDArray[np.intp]:
        """The power of every column in every monomial."""
        check_is_fitted(self)
        powers = np.zeros((self.n_output_features_, self.n_features_in_), dtype=np.intp)
        for row, factors in zip(powers, self._factors(), strict=True):
            np.add.at(row, list(factors), 1)
        return powers

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the monomials, such as ``x0 x1^2``, of these or the fit's columns."""
        check_is_fitted(self)
        columns = sklearn_internals.check_feature_names_in(self, input_features)
        return np.array([monomial_name(columns, f) for f in self._factors()], dtype=object)

    def _degrees(self) -> list[int]:
        degrees = range(1, int(self.degree) + 1) if self.lower else [int(self.degree)]
        return [0, *degrees] if self.include_bias else list(degrees)

    def _factors(self) -> list[tuple[int, ...]]:
        columns = range(self.n_features_in_)
        return [f for k in self._degrees() for f in combinations_with_replacement(columns, k)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_output_features_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def kernel_blocks(X: Any, coefficients: list[float]) -> Any:
    """Return features whose dot products are sum_k coefficients[k] (x . z)^k."""
    parts = [
        values * (sqrt(a) * np.sqrt(orders))
        for a, (values, orders) in zip(
            coefficients, monomials(X, len(coefficients) - 1), strict=True
        )
    ]
    return sp.hstack(parts, format="csr") if sp.issparse(X) else np.hstack(parts)
