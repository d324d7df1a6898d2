"""Norms and columns of rows, dense or compressed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def canonical_rows(X: Any) -> Any:
    """Return a sparse matrix as CSR whose entries are stored once each, itself where it is so."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def dense(X: Any) -> np.ndarray:
    """Return rows as a dense array of float64."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def dense_column(X: Any, j: int) -> np.ndarray:
    """Return column `j` as a dense array of float64."""
    column = X[:, [j]].toarray().reshape(-1) if sp.issparse(X) else X[:, j]
    return np.asarray(column, dtype=np.float64)


def squared_norms(X: Any) -> np.ndarray:
    """Return the squared Euclidean norm of every row, in float64 without a copy of `X`."""
    if sp.issparse(X):
        X = canonical_rows(X)
        values = X.data.astype(np.float64, copy=False)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        norms = np.bincount(rows, weights=values * values, minlength=X.shape[0])
        return norms.astype(np.float64, copy=False)  # integers when there is no entry at all
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def narrowed(features: Any) -> Any:
    """Return sparse rows, which share their values, with 32-bit indices where these suffice."""
    if getattr(features, "format", None) != "csr" or features.indices.dtype == np.int32:
        return features
    if max(features.nnz, *features.shape) > np.iinfo(np.int32).max:
        return features
    indices, start = features.indices.astype(np.int32), features.indptr.astype(np.int32)
    return type(features)((features.data, indices, start), shape=features.shape)
