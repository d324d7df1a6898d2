r"""The kernel matrix of weighted data without some functions, as an operator.

With weights w, D = diag(w) and an orthonormal basis B of :math:`D^{1/2} S`, where the columns of S
are functions at the objects (the constant, for centring),

.. math:: A = (1 - BB') D^{1/2} K D^{1/2} (1 - BB')

is the Gram matrix of :math:`\sqrt{w_i} (\phi(x_i) - \hat\phi(x_i))`, the features minus their
weighted regression on S. Weight k has the same non-zero eigenvalues as k copies of an object.
Without weights and with the constant, A is the centred kernel matrix.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels.conditional import orthonormal
from mercer.numerics.block_krylov import StopIterationRequest

Array = NDArray[np.float64]

_VALUES = 5e7  # kernel values between two looks at the clock and at pending signals
_KEPT_BYTES = 2**30  # of single precision values that are kept rather than computed again
_CHEAP_BYTES = 2**28  # the same, of rows of few numbers, whose values cost little
_CHEAP_COLUMNS = 64


class ProjectedGram:
    """Products and entries of A.

    `gram`: the kernel matrix. `weight`: weights of the objects, or None. `functions` (n, q): the
    functions S. `time_limit`: seconds after which a product raises StopIterationRequest.
    """

    def __init__(
        self,
        gram: Gram,
        weight: Array | None,
        functions: Array,
        n_jobs: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.n = gram.n
        self.root = None if weight is None else np.sqrt(weight)
        self.basis = orthonormal(self._rooted(functions)) if functions.shape[1] else functions
        self._gram = gram.in_precision("float64")
        self._coarse: Gram | None = None
        self._kept: NDArray[np.float32] | None = None
        self._n_jobs = n_jobs
        self._deadline = None if time_limit is None else time.monotonic() + time_limit

    def exact(self, V: Array) -> Array:
        """Return A @ V from values in double precision."""
        return self._product(V, self._gram)

    def cheap(self, V: Array) -> Array:
        """Return A @ V from values in single precision, where these suffice."""
        if self._coarse is None:
            self._coarse = Gram(self._gram.kernel, self._gram.views, "auto")
            if self._worth_keeping(self._coarse):
                kept = np.empty((self.n, self.n), dtype=np.float32)
                for rows in self._chunks():
                    kept[rows] = self._coarse.tile(rows, n_jobs=self._n_jobs)
                self._kept = kept
        return self._product(V, self._coarse, self._kept)

    @property
    def has_cheap_products(self) -> bool:
        """Whether products in single precision save anything."""
        return not self._gram.linear and not self._gram.kernel.pairwise

    @property
    def scale(self) -> float:
        """The sum of the absolute diagonal before functions are removed."""
        diagonal = np.abs(self._gram.diag())
        return float(diagonal.sum() if self.root is None else diagonal @ self.root**2)

    def trace(self) -> float:
        """Return the sum of the eigenvalues, which costs one product."""
        diagonal = self._gram.diag()
        total = float(diagonal.sum() if self.root is None else diagonal @ self.root**2)
        if self.basis.shape[1] == 0:
            return total
        image = self._rooted(self._gram.matmul(self._rooted(self.basis), self._n_jobs))
        return total - float(np.einsum("ij,ij->", self.basis, image))

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

    def kernel_product(self, V: Array) -> Array:
        """Return K @ V, the plain kernel matrix."""
        return self._gram.matmul(V, self._n_jobs)

    def _product(self, V: Array, gram: Gram, kept: NDArray[np.float32] | None = None) -> Array:
        V = self._rooted(self._without(V))
        return self._without(self._rooted(self._plain(V, gram, kept)))

    def _plain(self, V: Array, gram: Gram, kept: NDArray[np.float32] | None) -> Array:
        if kept is not None:
            self._look()
            return np.asarray(kept @ V.astype(np.float32), dtype=np.float64)
        if gram.linear:
            self._look()
            return gram.matmul(V, self._n_jobs)
        product = np.empty_like(V)
        chunks = list(self._chunks())
        if len(chunks) == 1:
            self._look()
            return gram.matmul(V, self._n_jobs)
        for rows in chunks:
            self._look()
            product[rows] = gram.matmul(V, self._n_jobs, rows=rows)
        return product

    def _look(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise StopIterationRequest("time_limit")

    def _chunks(self) -> Iterator[NDArray[np.intp]]:
        step = max(1, int(_VALUES) // self.n)
        for first in range(0, self.n, step):
            yield np.arange(first, min(first + step, self.n))

    def _worth_keeping(self, gram: Gram) -> bool:
        size = 4 * self.n**2
        if gram.dtype != "float32" or size > _KEPT_BYTES:
            return False
        X = gram.X
        rows_of_numbers = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
        cheap = not gram.in_python and rows_of_numbers and X.shape[1] <= _CHEAP_COLUMNS
        return not cheap or size <= _CHEAP_BYTES

    def _without(self, V: Array) -> Array:
        return V - self.basis @ (self.basis.T @ V) if self.basis.shape[1] else V

    def _rooted(self, V: Array) -> Array:
        if self.root is None:
            return V
        return V * (self.root if V.ndim == 1 else self.root[:, None])
