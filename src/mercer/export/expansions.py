"""Kernel expansions as operators: a kernel matrix times coefficients, or weight vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.expansion import Expansion, weight_vectors
from mercer.kernels import Linear

from .kernel_values import Rows, matrix


def expansion_values(rows: Rows, expansion: Expansion) -> str:
    """Return the values of an expansion, one column for each output."""
    g = rows.graph
    coef = expansion.coef if expansion.coef.ndim == 2 else expansion.coef[:, None]
    if expansion.n_terms == 0:
        values = g.filled(0.0, rows.tensor, coef.shape[1])
    elif type(expansion.kernel) is Linear:
        w = weight_vectors(expansion.vectors, coef)
        w = w.toarray() if sp.issparse(w) else w
        values = g.op("MatMul", rows.tensor, np.ascontiguousarray(w.T))
    else:
        values = g.op("MatMul", matrix(rows, expansion.kernel, expansion.vectors), coef)
    values = g.add(values, np.atleast_2d(np.asarray(expansion.intercept, dtype=np.float64)))
    if expansion.poly_coef is None:
        return values
    slopes = expansion.poly_coef if expansion.coef.ndim == 2 else expansion.poly_coef[:, None]
    chosen = expansion.poly_columns
    numbers = rows.tensor if chosen is None else g.columns(rows.tensor, chosen, rows.n_columns)
    return g.add(values, g.op("MatMul", numbers, slopes))


def block_values(rows: Rows, kernel: Any, vectors: Any, coef: Any, sizes: list[int]) -> str:
    """Return the products of blocks of kernel columns with coefficients of their own, side by side.

    `coef`: an array of shape (n_outputs, n_terms); block i is the next ``sizes[i]`` of its columns.
    """
    g = rows.graph
    values = matrix(rows, kernel, vectors)
    filled = [n for n in sizes if n]
    split = g.several(len(filled), "Split", values, np.array(filled), axis=1)
    ends = np.cumsum(sizes)
    found, parts = iter(split), []
    for end, n in zip(ends.tolist(), sizes, strict=True):
        if n:
            block = np.ascontiguousarray(coef[:, end - n : end].T)
            parts.append(g.op("MatMul", next(found), block))
        else:
            parts.append(g.filled(0.0, rows.tensor, len(coef)))
    return g.op("Concat", *parts, axis=1)
