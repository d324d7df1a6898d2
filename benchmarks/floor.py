"""The lower bound: one pass over the n x (support vectors) kernel values.

An exact method must evaluate these values at least once to certify its answer, whatever its
algorithm. The pass is measured as mercer's own product of the kernel values with one vector of
coefficients, in float32, nothing stored; rows are made dense where that fits, because that is the
fastest way through them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.cases import Case, Data
from benchmarks.gaps import DENSE_BYTES
from benchmarks.measure import best


def one_pass(case: Case, data: Data, n_support: int) -> float | None:
    """Seconds of one pass, or None without mercer.

    Which rows play the support vectors makes no difference to the time; the first ones do.
    """
    try:
        from mercer.gram import Prepared
        from mercer.kernels import RBF
    except ImportError:
        return None
    X: Any = data.X
    if sparse.issparse(X) and 4 * X.shape[0] * X.shape[1] < DENSE_BYTES:
        X = X.toarray()
    X = X.astype(np.float32)
    coef = np.linspace(-1.0, 1.0, n_support)
    prepared = Prepared(RBF(case.gamma), X[:n_support], "float32")
    prepared.matmul(X, coef)
    return best(lambda: prepared.matmul(X, coef), seconds=0.5, most=50)
