"""Features from a kernel matrix alone: any positive semidefinite matrix is a Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from mercer.numerics.symmetric_matrices import oriented
from mercer.objects.parameters import integer

from .definiteness_check import check
from .matrix_source import KernelValues


def embed(kernel: Any, X: Any = None, *, n_components: int | None = None) -> np.ndarray:
    """Return vectors whose dot products are the kernel values of the objects.

    With K = V diag(w) V', object i becomes (sqrt(w_t) V_it)_t (Cristianini and Shawe-Taylor 2000,
    proposition 3.5). The vectors are determined up to a rotation; each column is given the sign
    that makes its largest entry positive.

    Parameters
    ----------
    kernel : Kernel, str, callable or array of shape (n, n)
        The kernel, or its matrix, which must be symmetric and positive semidefinite.
    X : objects, optional
        The objects; None for a matrix.
    n_components : int >= 1, optional
        Number of leading columns to keep, the best approximation of that rank; by default those of
        eigenvalues larger than the tolerance of :func:`check`.

    Returns
    -------
    ndarray of shape (n, n_components)
        The vectors, columns by falling eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import embed
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> features = embed(K)
    >>> bool(np.abs(features @ features.T - K).max() < 1e-14)
    True
    """
    verdict = check(kernel, X)
    if not verdict.symmetric:
        raise ValueError(f"the values are not symmetric, so no features give them:\n{verdict}")
    if verdict.witness is not None:
        raise ValueError(
            "the matrix is not positive semidefinite, so no features give it; a combination of "
            f"the objects would have a negative squared length:\n{verdict}"
        )
    K = KernelValues(kernel, X).full()
    eigenvalues, vectors = scipy.linalg.eigh((K + K.T) / 2)
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    if n_components is None:
        kept = max(1, int((eigenvalues > verdict.tolerance).sum()))
    else:
        kept = min(integer(n_components, "n_components", minimum=1), len(K))
    return oriented(vectors[:, :kept]) * np.sqrt(np.maximum(eigenvalues[:kept], 0.0))
