"""The shifted kernel matrix K + N and its border: what ridge and Gaussian processes solve.

`Gram.shifted` returns one of two forms of the same system,

    [[K + N, B], [B', 0]] [a; m] = [y; 0],       N = diag(noise), B an unpenalised basis or none:

`Factorised` by a Cholesky factor of the whole matrix (LAPACK), `Iterative` by conjugate gradients
on tiles. Without a basis the second row is absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.objects.arrays import Array
from mercer.objects.parameters import require_choice

from .available_memory import available_bytes
from .factorised import Factorised, NotDefiniteError
from .iterative import Iterative
from .null_space import Complement

if TYPE_CHECKING:
    from .matrix import Gram

__all__ = [
    "Factorised",
    "Iterative",
    "NotDefiniteError",
    "Shift",
    "choose_solver",
    "require_memory",
    "shifted",
]


SOLVERS = ("auto", "cholesky", "cg")

LARGEST = 12_000
"""Rows up to which "auto" factorises: beyond it n^3 / 3 operations cost more than iterations do."""

_ALWAYS = 16 << 20  # bytes that are allocated without a check of the free memory


@dataclass(frozen=True)
class Shift:
    """The shift of the kernel matrix: noise on the diagonal; complement of the free basis."""

    noise: Array
    complement: Complement


def choose_solver(n: int) -> str:
    """Return "cholesky" where n rows are few enough for time and memory, else "cg"."""
    needed = 8 * n * n
    fits = needed <= _ALWAYS or needed <= available_bytes() // 2
    return "cholesky" if n <= LARGEST and fits else "cg"


def require_memory(n: int, copies: int = 1) -> None:
    """Raise MemoryError where so many n x n matrices in float64 do not fit in the free memory."""
    needed = 8 * n * n * copies
    if needed > _ALWAYS and needed > (free := available_bytes()):
        raise MemoryError(
            f"the kernel matrix of {n} rows and its factors need {needed / 2**30:.1f} GB, and "
            f"{free / 2**30:.1f} GB are free. Use solver='cg', which never builds it and needs "
            "noise, SparseGaussianProcessRegressor, or fewer rows."
        )


def shifted(
    gram: Gram,
    noise: Any,
    basis: Any = None,
    solver: str = "auto",
    *,
    tol: float | None = None,
    max_iter: int | None = None,
    rank: int | None = None,
    refined: bool = True,
) -> Factorised | Iterative:
    """Return the system of a kernel matrix; see :meth:`Gram.shifted`."""
    require_choice(solver, "solver", SOLVERS)
    diagonal = np.asarray(noise, dtype=np.float64)
    if diagonal.ndim > 1 or (diagonal.ndim == 1 and len(diagonal) != gram.n):
        raise ValueError(
            f"noise must be a number or have one entry for each of the {gram.n} objects; got shape "
            f"{diagonal.shape}."
        )
    if not diagonal.ndim:
        diagonal = np.full(gram.n, diagonal)
    smallest, largest = diagonal.min(), diagonal.max()
    if not 0.0 <= smallest <= largest < np.inf:
        raise ValueError("noise must be finite and at least 0.")
    shift = Shift(diagonal, Complement(basis, gram.n))
    if (choose_solver(gram.n) if solver == "auto" else solver) == "cholesky":
        return Factorised(gram, shift, tol=1e-18 if tol is None else tol, refined=refined)
    if not smallest > 0.0:
        raise ValueError("conjugate gradients need a positive noise on every row.")
    return Iterative(gram, shift, tol=1e-12 if tol is None else tol, max_iter=max_iter, rank=rank)
