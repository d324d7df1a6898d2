"""Kernel expansions as operators: a kernel matrix times coefficients, or weight vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.expansion import Expansion, weight_vectors
from mercer.kernels import Linear
from mercer.objects.callers import warn_caller
from mercer.objects.validation import count, take

from .kernel_values import Rows, matrix

_AGREEMENT = 1e-5  # of a graph with its model
_ROUNDINGS = 8.0  # of a kernel value, each half a unit in the last place
_SAMPLE = 64  # vectors at which terms are compared with their sum


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
        _warn_of_cancellation(expansion.kernel, expansion.vectors, coef, expansion.evaluate)
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
    _warn_of_cancellation(kernel, vectors, coef.T)
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


def _warn_of_cancellation(kernel: Any, vectors: Any, coef: Any, evaluate: Any = None) -> None:
    """Warn where terms cancel so far that two orders of summation differ in digits that count.

    `evaluate`: the sums of the terms, of size 1 where it is not given.
    """
    if kernel.pairwise:
        return
    few = take(vectors, np.arange(0, count(vectors), max(1, count(vectors) // _SAMPLE)))
    size = 1.0 if evaluate is None else max(1.0, float(np.median(np.abs(evaluate(few)))))
    terms = float((np.abs(kernel(few, vectors)) @ np.abs(coef)).max())
    difference = _ROUNDINGS * np.finfo(np.float64).eps * terms / size
    if difference > _AGREEMENT:
        warn_caller(
            f"The terms of this model reach {terms:.0e} and cancel: by rounding alone the graph "
            f"differs from the model, by up to about {difference:.0e} of its values. Centre and "
            "scale the columns, for instance by StandardScaler in a pipeline."
        )
