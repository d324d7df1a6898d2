"""Largest eigenvalues of a symmetric matrix that is known by its products: block Krylov.

Problem: the k algebraically largest (or absolutely largest) eigenpairs of a symmetric A.

Method: Rayleigh-Ritz on the block Krylov space span{V, AV, A^2 V, ...} of a random block V, with
full reorthogonalisation and thick restarts (G. Golub, R. Underwood, "The block Lanczos method for
computing eigenvalues", 1977; K. Wu, H. Simon, "Thick-restart Lanczos method for large symmetric
eigenvalue problems", SIAM J. Matrix Anal. Appl. 22, 2000; a random block also finds multiple
eigenvalues, C. Musco, C. Musco, "Randomized block Krylov methods", NIPS 2015). All products are
taken of blocks, and the space may be found with cheap products, in single precision, and then
finished with exact ones.

Returned are Ritz pairs with their residual norms: each Ritz value is within its residual norm of an
eigenvalue, and the j-th Ritz value is at most the j-th largest eigenvalue.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]
Products = Callable[[Array], Array]

_SINGLE = 1e-5  # residual, relative to the largest eigenvalue, that float32 products surely reach
_EXTRA = 10  # vectors of a block beyond those that are wanted, so that the last ones converge fast
_BLOCKS = 8  # of a space before it is restarted
_STALLED = 6  # products without progress after which the rest is rounding


class StopIterationRequest(Exception):  # noqa: N818 - a request of the caller, not an error
    """Raised by a product to end the iteration; its argument is the status."""


@dataclass(frozen=True)
class RitzPairs:
    """Approximate eigenpairs.

    Attributes
    ----------
    values : array of shape (r,)
        Ritz values, the wanted ones first.
    vectors : array of shape (n, r)
        Orthonormal Ritz vectors.
    residuals : array of shape (n, r)
        A v - value v.
    status : str
        "optimal" where the residuals of the wanted pairs reached the tolerance; otherwise why the
        iteration ended.
    n_products : int
        Number of blocks that were multiplied.
    exact : bool
        Whether values and residuals come from the exact products.
    """

    values: Array
    vectors: Array
    residuals: Array
    status: str
    n_products: int
    exact: bool

    @property
    def residual_norms(self) -> Array:
        """Euclidean lengths of the residuals."""
        return np.linalg.norm(self.residuals, axis=0)


def largest_eigenpairs(
    exact: Products,
    n: int,
    k: int,
    *,
    cheap: Products | None = None,
    tol: float = 1e-5,
    max_products: int = 1000,
    by_size: bool = False,
    rng: np.random.Generator,
) -> RitzPairs | None:
    """Return Ritz pairs of the largest eigenvalues of a symmetric matrix.

    `exact`, `cheap`: functions that return A @ V; they may raise StopIterationRequest or
    KeyboardInterrupt, which ends the iteration with the pairs found so far, or None where there are
    none. `n`, `k`: size of the matrix, number of wanted pairs. `tol`: residual norm that is
    accepted, relative to the largest absolute Ritz value; 0: as small as rounding allows.
    `by_size`: whether the absolutely largest eigenvalues are wanted. At least `k` pairs are
    returned, in order; those beyond describe the space that was searched.
    """
    width = min(n, k + _EXTRA)
    nothing = np.empty((n, 0))
    start = _orthonormal_to(nothing, rng.standard_normal((n, width)))
    found: RitzPairs | None = None
    if cheap is not None:
        space = _Space(cheap, k, max(tol, _SINGLE), by_size)
        found = space.search(start, max_products)
        if found is None or found.status not in ("optimal", "precision_limit"):
            return found
        start = _orthonormal_to(nothing, found.vectors[:, : 2 * width])
    done = 0 if found is None else found.n_products
    space = _Space(exact, k, tol, by_size)
    finished = space.search(start, max(max_products - done, 1))
    if finished is None:
        if found is None:
            return None
        return replace(found, status=space.stopped)
    return replace(finished, n_products=finished.n_products + done, exact=True)


class _Space:
    """A space that grows by products of its newest block."""

    def __init__(self, products: Products, k: int, tol: float, by_size: bool) -> None:
        self.products, self.k, self.tol, self.by_size = products, k, tol, by_size
        self.stopped = "optimal"

    def search(self, block: Array, max_products: int) -> RitzPairs | None:
        """Return the pairs after convergence or at a limit; None if no product was finished."""
        n, width = block.shape
        most = min(n, _BLOCKS * width)
        Q, AQ, T = np.empty((n, 0)), np.empty((n, 0)), np.empty((0, 0))
        best, since = math.inf, 0
        for count in range(1, max_products + 1):
            try:
                image = self.products(block)
            except StopIterationRequest as request:
                return self._ended(Q, AQ, T, count - 1, str(request))
            except KeyboardInterrupt:
                return self._ended(Q, AQ, T, count - 1, "interrupted")
            corner = block.T @ image
            side = Q.T @ image
            T = np.block([[T, side], [side.T, 0.5 * (corner + corner.T)]])
            Q, AQ = np.hstack([Q, block]), np.hstack([AQ, image])
            pairs = self._ritz(Q, AQ, T, self.k)
            size = float(np.abs(pairs.values).max(initial=0.0))
            worst = float(pairs.residual_norms.max(initial=0.0))
            floor = 4.0 * np.finfo(float).eps * math.sqrt(n) * size
            if worst <= max(self.tol * size, floor) or Q.shape[1] >= n:
                return self._ended(Q, AQ, T, count, "optimal")
            best, since = (worst, 0) if worst < 0.9 * best else (best, since + 1)
            if since >= _STALLED and Q.shape[1] + width > most:
                return self._ended(Q, AQ, T, count, "precision_limit")
            block = _orthonormal_to(Q, image[:, :width])
            if block.shape[1] == 0:  # the space is invariant
                return self._ended(Q, AQ, T, count, "optimal")
            if Q.shape[1] + block.shape[1] > most:
                kept = self._ritz(Q, AQ, T, self.k + width)
                Q, T = kept.vectors, np.diag(kept.values)
                AQ = kept.residuals + Q * kept.values
        return self._ended(Q, AQ, T, max_products, "iteration_limit")

    def _ended(
        self, Q: Array, AQ: Array, T: Array, n_products: int, status: str
    ) -> RitzPairs | None:
        self.stopped = status
        if Q.shape[1] == 0:
            return None
        return replace(self._ritz(Q, AQ, T, Q.shape[1]), status=status, n_products=n_products)

    def _ritz(self, Q: Array, AQ: Array, T: Array, number: int) -> RitzPairs:
        """Return the first Ritz pairs of the space."""
        values, rotation = scipy.linalg.eigh(T)
        order = np.argsort(-np.abs(values) if self.by_size else -values, kind="stable")[:number]
        values, rotation = values[order], rotation[:, order]
        vectors = Q @ rotation
        residuals = AQ @ rotation - vectors * values
        return RitzPairs(values, vectors, residuals, "optimal", 0, False)


def _orthonormal_to(Q: Array, block: Array) -> Array:
    """Return an orthonormal basis of a block's part that is orthogonal to Q.

    Each pass removes Q and makes the columns orthonormal by the eigenvectors of their dot products,
    which costs matrix products only; the second pass repairs what rounding left in the first.
    """
    size = float(np.linalg.norm(block, axis=0).max(initial=0.0))
    for smallest in (1e-12 * size, 0.5):
        block = block - Q @ (Q.T @ block)
        squares, rotation = scipy.linalg.eigh(block.T @ block)
        kept = squares > smallest**2
        block = block @ (rotation[:, kept] / np.sqrt(squares[kept]))
        block = block[:, max(0, block.shape[1] - (len(Q) - Q.shape[1])) :]
    return block
