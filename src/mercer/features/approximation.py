"""The approximation error of explicit features: K - FF' on a set of objects.

For the matrix E = K - FF' of errors on n objects: the largest |E_ij|, the Frobenius norm
sqrt(sum E_ij^2) and the spectral norm, the largest |eigenvalue|. The first two come from tiles of
rows, the last from Lanczos iterations with products K v - F (F'v); E itself is never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from mercer.gram import Gram
from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.objects.parameters import integer
from mercer.objects.rows import dense
from mercer.objects.validation import count, take

from .seeds import generator

_TILE_ROWS = 256
_LANCZOS_TOL = 1e-6
_FEW = 50  # below this Lanczos has too little room, and E is small enough to be stored


@dataclass(frozen=True)
class ApproximationError:
    """The error of features on a set of objects.

    Attributes
    ----------
    max : float
        The largest |k(x, z) - f(x) . f(z)|.
    frobenius : float
        The root of the sum of squared errors over all pairs.
    relative_frobenius : float
        The same over the Frobenius norm of the kernel matrix.
    spectral : float
        The largest |eigenvalue| of the matrix of errors.
    n_objects : int
        How many objects there were.
    n_used : int
        On how many of them the errors were measured.
    how : str
        How the numbers were computed.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import Nystrom, approximation_error
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> features = Nystrom(kernel=RBF(1.0), n_components=5, random_state=0).fit(X)
    >>> error = approximation_error(RBF(1.0), X, features.transform)
    >>> error.max < 0.01, error.n_objects
    (True, 30)
    """

    max: float
    frobenius: float
    relative_frobenius: float
    spectral: float
    n_objects: int
    n_used: int
    how: str

    @property
    def exact(self) -> bool:
        """Whether all pairs of objects were measured, and not a sample."""
        return self.n_used == self.n_objects

    def __str__(self) -> str:
        return (
            f"largest error      {self.max:.6g}\n"
            f"Frobenius norm     {self.frobenius:.6g} ({self.relative_frobenius:.3g} relative)\n"
            f"spectral norm      {self.spectral:.6g}\n"
            f"measured           {self.how}"
        )


@kernel_first
def approximation_error(
    kernel: Kernel,
    X: Any,
    features: Callable[[Any], Any],
    *,
    n_sample: int | None = 2000,
    random_state: Any = 0,
) -> ApproximationError:
    """Return how far dot products of features are from a kernel.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    X : objects
        Objects.
    features : callable
        ``features(X)`` returns an array or sparse matrix of features, one row per object.
    n_sample : int or None, default=2000
        Number of objects, drawn at random, on which the error is measured; None: all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the draw.

    Returns
    -------
    ApproximationError
        The errors and how they were computed.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import approximation_error
    >>> from mercer.kernels import Polynomial
    >>> kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    >>> X = np.linspace(-1, 1, 40).reshape(20, 2)
    >>> error = approximation_error(kernel, X, kernel.feature_map)
    >>> error.exact, error.how, bool(error.max < 1e-12)
    (True, 'on all pairs of 20 objects', True)
    """
    X = kernel.validate(X)
    n = count(X)
    if n_sample is not None and integer(n_sample, "n_sample", minimum=1) < n:
        X = take(X, np.sort(generator(random_state).choice(n, n_sample, replace=False)))
    used = count(X)
    F = features(X)
    F = sp.csr_array(F) if sp.issparse(F) else np.asarray(F, dtype=np.float64)
    gram = Gram(kernel, X, "float64")
    largest, squares, total = _by_tiles(gram, F)
    how = f"on all pairs of {used} objects"
    if used < n:
        how += f" drawn from {n}"
    return ApproximationError(
        max=largest,
        frobenius=float(np.sqrt(squares)),
        relative_frobenius=float(np.sqrt(squares / total)) if total > 0 else 0.0,
        spectral=_spectral(gram, F),
        n_objects=n,
        n_used=used,
        how=how,
    )


def _by_tiles(gram: Gram, F: Any) -> tuple[float, float, float]:
    """Return the largest error and the sums of squared errors and of squared kernel values."""
    largest = squares = total = 0.0
    for first in range(0, gram.n, _TILE_ROWS):
        rows = np.arange(first, min(first + _TILE_ROWS, gram.n))
        K = gram.tile(rows)
        total += float((K * K).sum())
        E = K - dense(F[rows] @ F.T)
        largest = max(largest, float(np.abs(E).max()))
        squares += float((E * E).sum())
    return largest, squares, total


def _spectral(gram: Gram, F: Any) -> float:
    if gram.n <= _FEW:
        E = gram.tile() - dense(F @ F.T)
        return float(np.abs(np.linalg.eigvalsh(0.5 * (E + E.T))).max())
    operator = LinearOperator(
        (gram.n, gram.n),
        matvec=lambda v: gram.matmul(v.ravel()) - F @ (F.T @ v.ravel()),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).normal(size=gram.n)  # the same answer every time
    value = eigsh(operator, k=1, which="LM", v0=start, tol=_LANCZOS_TOL, return_eigenvectors=False)
    return float(np.abs(value[0]))
