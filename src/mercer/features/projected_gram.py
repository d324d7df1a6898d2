r"""The kernel matrix of weighted data without some functions, as an operator.

With weights w, D = diag(w) and an orthonormal basis B of :math:`D^{1/2} S`, where the columns of S
are functions at the objects (the constant, for centring),

.. math:: A = (1 - BB') D^{1/2} K D^{1/2} (1 - BB')

is the Gram matrix of :math:`\sqrt{w_i} (\phi(x_i) - \hat\phi(x_i))`, the features minus their
weighted regression on S. Weight k has the same non-zero eigenvalues as k copies of an object.
Without weights and with the constant, A is the centred kernel matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels.conditional import orthonormal
from mercer.numerics.block_krylov import RitzPairs, largest_eigenpairs
from mercer.objects.arrays import Array
from mercer.run import Run
from mercer.solvers.rounding import value_sizes

Single = NDArray[np.float32]

_VALUES = 5e7  # kernel values between two looks at the clock and at pending signals
_KEPT_BYTES = 2**30  # of single precision values that are kept rather than computed again
_CHEAP_BYTES = 2**28  # the same, of rows of few numbers, whose values cost little
_CHEAP_COLUMNS = 64
DENSE_UP_TO = 500  # objects for which the whole spectrum costs less than an iteration
FEW = 0.15  # of the components; more of them come from the whole spectrum
_SAMPLE = 200  # objects whose columns give the start of an iteration
_FEWER = 100  # the same where values are kept, so that a product costs as little as a good start
_RANDOM = 0.05  # length of the random part of a start


class ProjectedGram:
    """Products and entries of A.

    `gram`: the kernel matrix. `weight`: weights of the objects, or None. `functions` (n, q): the
    functions S. `run`: is asked before every part of a product whether to stop; default: no limit.
    """

    def __init__(
        self,
        gram: Gram,
        weight: Array | None,
        functions: Array,
        n_jobs: int | None = None,
        run: Run | None = None,
    ) -> None:
        self.n = gram.n
        self._run = Run() if run is None else run
        self.root = None if weight is None else np.sqrt(weight)
        self.basis = orthonormal(self._rooted(functions)) if functions.shape[1] else functions
        self._gram = gram.in_precision("float64")
        self._kept: list[tuple[int, Single]] | None = None  # first row, values up to the diagonal
        self._image: Array | None = None  # of the basis, before functions are removed
        self._rough: Single | None = None  # the same in single precision
        self._n_jobs = n_jobs

    @cached_property
    def _coarse(self) -> Gram:
        """The kernel matrix in single precision where that suffices."""
        return Gram(self._gram.kernel, self._gram.views, "auto")

    def exact(self, V: Array) -> Array:
        """Return A @ V from values in double precision."""
        if self._image is None:
            product, self._image = self._with_basis(V, self._gram)
            return product
        return self._without(self._weighted(self._without(V), self._gram))

    def cheap(self, V: Single) -> Single:
        """Return A @ V from values in single precision."""
        if self._rough is None:
            product, self._rough = self._with_basis(V, self._coarse)
            return product
        return self._without(self._weighted(self._without(V), self._coarse))

    def _with_basis(self, V: NDArray[Any], gram: Gram) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return A @ V and the image of the basis, which the trace and the regression need."""
        both = np.hstack([self._without(V), self.basis.astype(V.dtype, copy=False)])
        both = self._weighted(both, gram)
        return self._without(both[:, : V.shape[1]]), both[:, V.shape[1] :]

    @property
    def has_cheap_products(self) -> bool:
        """Whether products in single precision suffice for a start and save anything."""
        if self._gram.linear or self._gram.kernel.pairwise:
            return False
        return self._coarse.dtype == "float32"

    def leading(self, k: int, rng: np.random.Generator, tol: float) -> RitzPairs:
        """Return the largest eigenvalues and their vectors: all wanted ones or what a limit left.

        Directly for few objects or many eigenvalues, otherwise by the iteration. Raises
        TimeoutError or KeyboardInterrupt where nothing was found before.
        """
        if self.n <= DENSE_UP_TO or k > FEW * self.n:
            k = min(k, self.n)
            values, vectors = scipy.linalg.eigh(
                self.dense(), subset_by_index=(self.n - k, self.n - 1), overwrite_a=True
            )
            values, vectors = values[::-1], vectors[:, ::-1]
            return RitzPairs(values, vectors, np.zeros_like(vectors), "optimal", 0, True)
        return self.iterated(k, rng, tol)

    def iterated(
        self,
        k: int,
        rng: np.random.Generator,
        tol: float,
        max_products: int = 1000,
        by_size: bool = False,
    ) -> RitzPairs:
        """Return Ritz pairs by the iteration on products; raises as `leading`."""
        found = largest_eigenpairs(
            self.exact,
            self.n,
            k,
            cheap=self.cheap if self.has_cheap_products else None,
            start=lambda width: self.start(width, rng),
            trace=None if by_size else self.rough_trace,
            tol=tol,
            by_size=by_size,
            rng=rng,
            run=self._run.branch(steps=max_products),
        )
        if found is None:
            self._run.raise_interrupt()
            raise TimeoutError(
                "time_limit ended before the first product with the kernel matrix, so there are no "
                "components; use a larger time_limit."
            )
        if self._image is None and self._rough is not None:  # at a limit; another product is late
            self._image = self._rough.astype(np.float64)
        return found

    def start(self, width: int, rng: np.random.Generator) -> Array:
        """Return vectors near the span of the first eigenvectors.

        They are the first left singular vectors of some columns of A, as far as these serve, with a
        random part, so that no eigenvector is orthogonal to all of them.
        """
        if self.has_cheap_products:
            self._keep()  # before the first call of BLAS, whose threads then wait actively
        random = rng.standard_normal((self.n, width)) / np.sqrt(self.n)
        sample = _SAMPLE if self._kept is None else _FEWER
        if self.n < 5 * sample or 2 * width > sample:
            return random
        chosen = rng.choice(self.n, sample, replace=False)
        gram = self._coarse if self.has_cheap_products else self._gram
        columns = gram.tile(chosen, n_jobs=self._n_jobs).T
        if self.root is not None:
            columns = self._rooted(columns) * self.root[chosen].astype(columns.dtype)
        columns = self._without(columns)
        squares, rotation = np.linalg.eigh((columns.T @ columns).astype(np.float64))
        squares, rotation = squares[-width:], rotation[:, -width:]
        useful = squares > 1e-6 * squares[-1]
        rotation = rotation[:, useful] / np.sqrt(squares[useful])
        random *= _RANDOM
        random[:, : rotation.shape[1]] += columns @ rotation.astype(columns.dtype)
        return random

    def _keep(self) -> None:
        """Store the lower triangle in single precision where that is worth its memory."""
        if self._kept is not None or not self._worth_keeping(self._coarse):
            return
        kept = []
        step = max(1, min(self.n // 4, int(_VALUES) // self.n))
        for first in range(0, self.n, step):
            self._run.check()
            last = min(first + step, self.n)
            tile = self._coarse.tile(np.arange(first, last), np.arange(last), n_jobs=self._n_jobs)
            kept.append((first, np.asarray(tile, dtype=np.float32)))
        self._kept = kept

    def _product_of_kept(self, kept: list[tuple[int, Single]], V: Single) -> Single:
        V = np.ascontiguousarray(V)
        product = np.zeros_like(V)
        for first, tile in kept:
            last = first + len(tile)
            product[first:last] += tile @ V[:last]
            if first:
                product[:first] += tile[:, :first].T @ V[first:last]
        return product

    @property
    def scale(self) -> float:
        """Weighted sum of r_i^2 with |k(x_i, x_j)| <= r_i r_j: the trace of definite kernels."""
        squares = np.square(value_sizes(self._gram))
        return float(squares.sum() if self.root is None else squares @ self.root**2)

    def trace(self) -> float:
        """Return the sum of the eigenvalues, which costs one product unless there was one."""
        return self._trace(self.image_of_basis()) if self.basis.shape[1] else self._trace(None)

    def rough_trace(self) -> float:
        """Return the trace from values in single precision, where these are at hand."""
        return self.trace() if self._rough is None else self._trace(self._rough)

    def _trace(self, image: NDArray[np.floating] | None) -> float:
        diagonal = self._gram.diag()
        total = float(diagonal.sum() if self.root is None else diagonal @ self.root**2)
        return total if image is None else total - float(np.einsum("ij,ij->", self.basis, image))

    def image_of_basis(self) -> Array:
        """Return the product of the weighted kernel matrix with the basis of the functions."""
        if self._image is None:
            # Not a product that looks at the clock: this one is needed at a limit too.
            product = self._gram.matmul(self._rooted(self.basis), self._n_jobs)
            self._image = self._rooted(product)
        return self._image

    def dense(self) -> Array:
        """Return A itself."""
        M = np.empty((self.n, self.n))
        for rows in self._chunks():
            M[rows] = self._gram.tile(rows, n_jobs=self._n_jobs)
        if self.root is not None:
            M *= self.root[:, None]
            M *= self.root
        if self.basis.shape[1]:
            MB = M @ self.basis
            half = MB - 0.5 * self.basis @ (self.basis.T @ MB)
            M -= half @ self.basis.T
            M -= self.basis @ half.T
        return 0.5 * (M + M.T)

    def _weighted(self, V: NDArray[Any], gram: Gram) -> NDArray[Any]:
        return self._rooted(self._plain(self._rooted(V), gram))

    def _plain(self, V: NDArray[Any], gram: Gram) -> NDArray[Any]:
        if gram is not self._gram:
            self._keep()
            if self._kept is not None:
                self._run.check()
                return self._product_of_kept(self._kept, V)
        chunks = list(self._chunks())
        if gram.linear or len(chunks) == 1:
            self._run.check()
            return gram.matmul(V, self._n_jobs).astype(V.dtype, copy=False)
        product = np.empty_like(V)
        for rows in chunks:
            self._run.check()
            product[rows] = gram.matmul(V, self._n_jobs, rows=rows)
        return product

    def _chunks(self) -> Iterator[NDArray[np.intp]]:
        step = max(1, int(_VALUES) // self.n)
        for first in range(0, self.n, step):
            yield np.arange(first, min(first + step, self.n))

    def _worth_keeping(self, gram: Gram) -> bool:
        size = 2 * self.n**2  # of the lower triangle
        if gram.dtype != "float32" or size > _KEPT_BYTES:
            return False
        X = gram.X
        rows_of_numbers = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
        cheap = not gram.in_python and rows_of_numbers and X.shape[1] <= _CHEAP_COLUMNS
        return not cheap or size <= _CHEAP_BYTES

    def _without(self, V: NDArray[Any]) -> NDArray[Any]:
        if not self.basis.shape[1]:
            return V
        basis = self.basis.astype(V.dtype, copy=False)
        return V - basis @ (basis.T @ V)

    def _rooted(self, V: NDArray[Any]) -> NDArray[Any]:
        if self.root is None:
            return V
        root = self.root.astype(V.dtype, copy=False)
        return V * (root if V.ndim == 1 else root[:, None])
