"""Largest eigenvalues of a symmetric matrix that is known by its products: block Krylov.

Problem: the k algebraically largest (or absolutely largest) eigenpairs of a symmetric A.

Method: Rayleigh-Ritz on the block Krylov space span{V, AV, A^2 V, ...} of a random block V, with
full reorthogonalisation and thick restarts (G. Golub, R. Underwood, "The block Lanczos method for
computing eigenvalues", 1977; K. Wu, H. Simon, "Thick-restart Lanczos method for large symmetric
eigenvalue problems", SIAM J. Matrix Anal. Appl. 22, 2000; a random block also finds multiple
eigenvalues, C. Musco, C. Musco, "Randomized block Krylov methods", NIPS 2015). All products are
taken of blocks. The space may be found in single precision with cheap products; a Rayleigh-Ritz
step with exact products in double precision, and more of them where it does not suffice, then gives
the values and the residuals that are returned.

Returned are Ritz pairs with their residual norms: each Ritz value is within its residual norm of an
eigenvalue, and the j-th Ritz value is at most the j-th largest eigenvalue.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.run import Run

Vectors = NDArray[np.floating]
Products = Callable[[Any], Any]

_SINGLE = 1e-5  # residual, relative to the largest eigenvalue, that float32 products surely reach
_EXTRA = 4  # vectors of a block beyond those that are wanted, so that the last ones converge fast
_BLOCKS = 12  # of a space before it is restarted
_STALLED = 6  # products without progress after which the rest is rounding
_BELOW = 0.8  # what the trace leaves, relative to the last wanted value, that gives narrow bounds


@dataclass(frozen=True)
class RitzPairs:
    """Approximate eigenpairs.

    `values` (r,): Ritz values, the wanted ones first. `vectors` (n, r): orthonormal Ritz vectors.
    `residuals` (n, r): A v - value v. `status`: "optimal" where the residuals of the wanted pairs
    reached the tolerance; otherwise why the iteration ended. `n_products`: number of blocks that
    were multiplied. `exact`: whether values and residuals come from the exact products.
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
    start: Callable[[int], Array] | None = None,
    trace: Callable[[], float] | None = None,
    tol: float = 1e-5,
    by_size: bool = False,
    rng: np.random.Generator,
    run: Run,
) -> RitzPairs | None:
    """Return Ritz pairs of the largest eigenvalues of a symmetric matrix.

    `exact`, `cheap`: functions that return A @ V, of blocks in float64 and in float32, and may ask
    the run whether to stop. `n`, `k`: size of the matrix, number of wanted pairs.
    `start`: function that returns a block of so many vectors to start with; default: random ones.
    `trace`: function that returns the trace of a positive semidefinite matrix, roughly; then as
    many pairs are finished with exact products as narrow bounds need, where the space has so many.
    `tol`: residual norm that is accepted, relative to the largest absolute Ritz value; 0: as small
    as rounding allows. `by_size`: whether the absolutely largest eigenvalues are wanted. `run`:
    its steps are products; reported are the largest relative residual and the sum of the wanted
    values. Where it stops the iteration, the pairs found so far are returned, or None where there
    are none. At least `k` pairs are returned, in order; those beyond describe the space that was
    searched.
    """
    width = min(n, k + _EXTRA)
    with run.until_stopped():
        first = rng.standard_normal((n, width)) if start is None else start(width)
    if run.status is not None:
        return None
    block = _orthonormal(first)
    found: RitzPairs | None = None
    if cheap is not None:
        space = _Space(cheap, k, max(tol, _SINGLE), by_size, np.float32, run)
        found = space.search(block, 2 * width)
        if found is None or found.status not in ("optimal", "precision_limit"):
            return found
        number = _number_to_finish(found.values, k, trace)
        block = _orthonormal(found.vectors[:, :number])
    done = 0 if found is None else found.n_products
    space = _Space(exact, k, tol, by_size, np.float64, run.branch(after=done))
    finished = space.search(block)
    if finished is None:
        if found is None:
            return None
        return replace(found, status=space.stopped)
    return replace(finished, n_products=finished.n_products + done, exact=True)


def _number_to_finish(values: Array, k: int, trace: Callable[[], float] | None) -> int:
    """Return how many Ritz vectors of a space are worth exact products."""
    fewest = min(len(values), k + _EXTRA)
    if trace is None:
        return fewest
    left = trace() - np.cumsum(values)
    enough = np.flatnonzero(left <= _BELOW * values[min(k, len(values)) - 1])
    return max(fewest, int(enough[0]) + 1) if enough.size else fewest


class _Space:
    """A space that grows by products of its newest block, in one precision.

    Q, the basis so far, and N, the next block, satisfy A Q = Q T + N R L', where L' takes the last
    block of Q. So the residual of the Ritz pair (t, Q u) of T is N R L'u, of length |R L'u|, which
    tells convergence without vectors of length n. Exact products are kept, and the residuals that
    are returned are computed from them.
    """

    def __init__(
        self,
        products: Products,
        k: int,
        tol: float,
        by_size: bool,
        dtype: type,
        run: Run,
    ) -> None:
        self.products, self.k, self.tol, self.by_size = products, k, tol, by_size
        self.dtype, self.run = dtype, run
        self.stopped = "optimal"

    def search(self, block: Vectors, number: int | None = None) -> RitzPairs | None:
        """Return the pairs after convergence or at a limit; None if no product was finished.

        `number`: how many pairs are returned at most; default: all of the space.
        """
        n, width = block.shape
        most = min(n, _BLOCKS * width)
        self._number = most if number is None else number
        self._basis = np.empty((n, most), dtype=self.dtype, order="F")
        keeps_images = self.dtype is np.float64
        self._images = np.empty_like(self._basis) if keeps_images else None
        self._next: Vectors = np.empty((n, 0), dtype=self.dtype)
        self._T = np.zeros((most, most))
        self._size = 0
        best, since, count = math.inf, 0, 0
        while True:
            count += 1
            block = block.astype(self.dtype, order="F", copy=False)
            with self.run.until_stopped():
                self._append(block, self.products(block))
            if self.run.status is not None:
                return self._ended(count - 1, self.run.status)
            values, rotation = self._rotation()
            size = float(np.abs(values[: self.k]).max(initial=0.0))
            worst = float(self._residual_norms(rotation[:, : self.k]).max(initial=0.0))
            total = float(values[: self.k].sum())
            ended = self.run.stop(count, worst / max(size, 1e-300), objective=total)
            floor = 4.0 * np.finfo(np.float64).eps * math.sqrt(n) * size
            if len(values) >= self.k and worst <= max(self.tol * size, floor):
                return self._ended(count, "optimal")
            if self._next.shape[1] == 0:  # the space is invariant, or the whole space
                return self._ended(count, "optimal")
            if ended is not None:
                return self._ended(count, ended)
            best, since = (worst, 0) if worst < 0.9 * best else (best, since + 1)
            full = self._size + self._next.shape[1] > most
            if since >= _STALLED and full:
                return self._ended(count, "precision_limit")
            if full:
                self._restart(values, rotation, self.k + width)
            block = self._next

    def _append(self, block: Vectors, image: Vectors) -> None:
        """Take a block and its image into the space, and find the next block.

        The space stays as it was where Ctrl-C ends this.
        """
        old, new = self._size, self._size + block.shape[1]
        self._basis[:, old:new] = block
        if self._images is not None:
            self._images[:, old:new] = image
        basis = self._basis[:, :new]
        side = basis.T @ image
        self._T[:new, old:new] = side
        self._T[old:new, :old] = side[:old].T
        following = _orthonormal(image - basis @ side, basis)
        coupling = following.T @ image
        self._size, self._last, self._next, self._coupling = new, old, following, coupling

    def _rotation(self) -> tuple[Array, Array]:
        """Return the Ritz values and the coefficients of the Ritz vectors in the basis."""
        T = self._T[: self._size, : self._size]
        values, rotation = np.linalg.eigh(0.5 * (T + T.T))
        order = np.argsort(-np.abs(values) if self.by_size else -values, kind="stable")
        return values[order], rotation[:, order]

    def _residual_norms(self, rotation: Array) -> Array:
        return np.linalg.norm(self._coupling @ rotation[self._last :], axis=0)

    def _restart(self, values: Array, rotation: Array, number: int) -> None:
        """Replace the space by its first Ritz vectors."""
        rotation = rotation[:, :number].astype(self.dtype)
        m, r = len(rotation), rotation.shape[1]
        self._basis[:, :r] = self._basis[:, :m] @ rotation
        if self._images is not None:
            self._images[:, :r] = self._images[:, :m] @ rotation
        self._T[:] = 0.0
        self._T[:r, :r] = np.diag(values[:r])
        self._coupling = self._coupling @ rotation[self._last :]
        self._size, self._last = r, 0

    def _ended(self, n_products: int, status: str) -> RitzPairs | None:
        self.stopped = status
        m = self._size
        if m == 0:
            return None
        values, rotation = self._rotation()
        values, rotation = values[: self._number], rotation[:, : self._number]
        vectors = np.asarray(self._basis[:, :m] @ rotation.astype(self.dtype), dtype=np.float64)
        if self._images is None:
            residuals = self._next @ (self._coupling @ rotation[self._last :])
        else:
            residuals = self._images[:, :m] @ rotation - vectors * values
        return RitzPairs(values, vectors, residuals, status, n_products, False)


def _orthonormal(block: Vectors, Q: Vectors | None = None) -> Vectors:
    """Return an orthonormal basis of a block, orthogonal to Q.

    Each pass makes the columns orthonormal by the eigenvectors of their dot products, which costs
    matrix products only; the second repairs what rounding left in the first. Q, orthonormal, was
    removed from the block before; what rounding left of it is removed between the passes.
    """
    size = float(np.linalg.norm(block, axis=0).max(initial=0.0))
    negligible = 1e-12 if block.dtype == np.float64 else 1e-6
    block = _rotated(block, negligible * size)
    if Q is None:
        return _rotated(block, 0.5)
    block = _rotated(block - Q @ (Q.T @ block), 0.5)
    return block[:, max(0, block.shape[1] - (len(Q) - Q.shape[1])) :]


def _rotated(block: Vectors, smallest: float) -> Vectors:
    """Return a basis that is orthonormal up to rounding, without directions of small length."""
    squares, rotation = np.linalg.eigh((block.T @ block).astype(np.float64))
    kept = squares > smallest**2
    return np.asarray(block @ (rotation[:, kept] / np.sqrt(squares[kept])).astype(block.dtype))
