"""A shifted kernel matrix that is never built: conjugate gradients on tiles.

The preconditioner is LL' + N with a pivoted Cholesky factor L of K of low rank (J. Gardner et al.,
"GPyTorch: blackbox matrix-matrix Gaussian process inference with GPU acceleration", NeurIPS 2018);
its inverse is applied by the formula of Woodbury. The bounds of
:mod:`mercer.numerics.conjugate_gradients` stop the iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.numerics.conjugate_gradients import Iterate, conjugate_gradients
from mercer.numerics.pivoted_cholesky import NegativeResidualError, chooser, pivoted_cholesky

if TYPE_CHECKING:
    from .matrix import Gram
    from .shifted import Shift

Array = NDArray[np.float64]

_RANK = 400  # of the preconditioner; its storage is that of so many columns
_NOISE = 1e-13  # residual diagonals below this share of the largest are rounding
_STEPS = 2_000


class Iterative:
    """Solutions of a shifted kernel matrix by preconditioned conjugate gradients.

    Attributes
    ----------
    solver : str
        "cg".
    precision : str
        Of the kernel values: "float64".
    n_iter : int
        Steps of the last solution.
    rank : int
        Rank of the preconditioner.
    last : Iterate
        The last solution with its bounds.
    """

    solver = "cg"
    precision = "float64"

    def __init__(
        self, gram: Gram, shift: Shift, *, tol: float, max_iter: int | None, rank: int | None
    ) -> None:
        self.gram, self.shift = gram.in_precision("float64"), shift
        self._tol = tol
        self._max_iter = _STEPS if max_iter is None else max_iter
        self.n_iter = 0
        self.last: Iterate | None = None
        self._precondition, self.rank = self._preconditioner(_RANK if rank is None else rank)

    def _preconditioner(self, rank: int) -> tuple[Callable[[Array], Array], int]:
        """Return V -> (LL' + N)^-1 V and the rank of L."""
        gram, scale = self.gram, 1.0 / self.shift.noise[:, None]
        if rank == 0:
            return (lambda V: scale * V), 0
        diagonal = gram.diag()
        try:
            transposed, _, _ = pivoted_cholesky(
                lambda i: gram.tile([i])[0],
                diagonal,
                chooser("largest", diagonal, tol=1e-12),
                min(rank, gram.n),
                _NOISE,
            )
        except NegativeResidualError:  # conditionally definite, or not definite at all
            return (lambda V: scale * V), 0
        L = transposed.T
        scaled = scale * L
        inner = scipy.linalg.cho_factor(
            np.eye(L.shape[1]) + L.T @ scaled, lower=True, overwrite_a=True, check_finite=False
        )

        def apply(V: Array) -> Array:
            small = scipy.linalg.cho_solve(inner, scaled.T @ V, check_finite=False)
            return scale * V - scaled @ small

        return apply, L.shape[1]

    def multiply(self, V: Array) -> Array:
        """Return (K + N) V in float64, on tiles."""
        return self.gram.matmul(V) + self.shift.noise.reshape(-1, *[1] * (V.ndim - 1)) * V

    def solve(self, Y: Array, stop: Callable[[Iterate], bool] | None = None) -> tuple[Array, Array]:
        """Return the coefficients a and those of the basis, for one or several columns.

        Parameters
        ----------
        Y : array of shape (n,) or (n, m)
            Right-hand sides.
        stop : callable, optional
            Called after each step; returns whether to stop.
        """
        Y = np.asarray(Y, dtype=np.float64)
        columns = Y if Y.ndim == 2 else Y[:, None]
        over = self.shift.complement
        state = conjugate_gradients(
            lambda V: over.project(self.multiply(over.project(V))),
            self.shift.noise,
            over.project(columns),
            lambda V: over.project(self._precondition(V)),
            tol=self._tol,
            max_iter=self._max_iter,
            stop=stop,
        )
        self.last, self.n_iter = state, state.n_iter
        A = over.project(state.solution)
        M = (
            over.coefficients(columns - self.multiply(A))
            if over.size
            else np.zeros((0, A.shape[1]))
        )
        return (A, M) if Y.ndim == 2 else (A[:, 0], M[:, 0])
