"""Direct solvers of ridge regression: Cholesky, LU and the eigendecomposition.

The eigendecomposition is that of K' = P S^1/2 K S^1/2 P + mu QQ', with the weights S, the
projection P = I - QQ' onto the complement of the weighted basis and any mu > 0, so that one of them
serves every alpha:

    a = S^1/2 U (Lambda + alpha)^-1 U' S^1/2 y.

With alpha = 0 eigenvalues at the level of rounding are left out (pseudo-inverse): the solution of
smallest norm among those of least squared error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram.null_space import Complement
from mercer.gram.shifted import Factorised, NotDefiniteError, require_memory
from mercer.numerics.blas import product

from .problem import RidgeProblem, RidgeSolution
from .proof import convexity_of

Array = NDArray[np.float64]

_OF_SPECTRUM = 3  # matrices of an eigendecomposition: K, its vectors, the workspace
_REFINED = 1e-11  # relative duality gap to which the solution of a float32 factor is refined


def by_cholesky(problem: RidgeProblem) -> RidgeSolution:
    """Solve by a Cholesky factor of K + N."""
    system = problem.gram.shifted(problem.noise, problem.basis, "cholesky", tol=_REFINED)
    assert isinstance(system, Factorised)
    coef, basis_coef = system.solve(problem.Y)
    values = None
    if system.residual is not None:
        values = problem.Y - system.residual - problem.noise[:, None] * coef
    return RidgeSolution(coef, basis_coef, "cholesky", system.n_iter, values=values)


def by_lu(problem: RidgeProblem) -> RidgeSolution:
    """Solve the bordered system by LU, which also takes matrices that are not definite."""
    Y, n = problem.Y, problem.gram.n
    B = np.zeros((n, 0)) if problem.basis is None else problem.basis
    p = B.shape[1]
    whole = np.zeros((n + p, n + p), order="F")
    whole[:n, :n] = problem.gram.tile()
    whole[np.arange(n), np.arange(n)] += problem.noise
    whole[:n, n:], whole[n:, :n] = B, B.T
    right = np.concatenate([Y, np.zeros((p, Y.shape[1]))])
    factors = scipy.linalg.lu_factor(whole, overwrite_a=True, check_finite=False)
    solution = scipy.linalg.lu_solve(factors, right, check_finite=False)
    if not np.isfinite(solution).all():
        raise NotDefiniteError(
            "the shifted kernel matrix is singular in float64. Increase alpha, or use "
            "solver='eigh'."
        )
    definite = problem.gram.kernel.definiteness.is_psd
    return RidgeSolution(solution[:n], solution[n:], "lu", definite=definite)


class Spectrum:
    """The eigendecomposition behind the solutions of all alphas.

    Parameters
    ----------
    problem : RidgeProblem
        Its alpha is not looked at.

    Attributes
    ----------
    values, vectors : array
        Eigenvalues of K', ascending, and the eigenvectors U as columns.
    target : array of shape (n, m)
        U'P S^1/2 y.
    of_basis : float
        The eigenvalue of the directions inside the basis, which have a target of 0. It is of the
        size of the others: what these directions add to an inverse is then subtracted without a
        loss of digits, however small alpha is.
    """

    def __init__(self, problem: RidgeProblem) -> None:
        require_memory(problem.gram.n, _OF_SPECTRUM)
        self.problem = problem
        self.root = np.sqrt(problem.weight)
        n = problem.gram.n
        basis = None if problem.basis is None else self.root[:, None] * problem.basis
        self.complement = Complement(basis, n)
        K = problem.gram.tile()
        if problem.gram.kernel.pairwise:
            K = np.array(K)
        if not (self.root == 1.0).all():
            K *= self.root[:, None]
            K *= self.root
        self.complement.compress(K, 0.0)
        self.of_basis = 1.0
        if self.complement.size:
            self.of_basis = float(np.sqrt(np.einsum("ij,ij->", K, K) / n)) or 1.0
            Q = self.complement.Q
            K += product(self.of_basis * Q, Q.T)
        # The transposed view is in the order of LAPACK, and the matrix is symmetric.
        self.values, self.vectors = scipy.linalg.eigh(
            K.T, overwrite_a=True, check_finite=False, driver="evd"
        )
        targets = self.complement.project(self.root[:, None] * problem.Y)
        self.target = product(self.vectors.T, targets)

    @property
    def rounding(self) -> float:
        """Largest value that rounding can give an eigenvalue 0."""
        scale = float(np.abs(self.values).max(initial=0.0))
        return len(self.values) * np.finfo(float).eps * scale

    def filtered(self, alpha: float) -> Array:
        """Return 1 / (lambda + alpha), and 0 for the eigenvalues that alpha = 0 leaves out."""
        values = np.maximum(self.values, 0.0) if self._definite else self.values
        if alpha > 0.0:
            return 1.0 / (values + alpha)
        kept = values > self.rounding
        return np.divide(1.0, values, out=np.zeros_like(values), where=kept)

    @property
    def _definite(self) -> bool:
        proved = convexity_of(self.problem.gram.kernel, self.complement.size > 0) == "theorem"
        return proved or bool(self.values[0] >= -10.0 * self.rounding)

    def solution(self, alpha: float, targets: Any = slice(None)) -> RidgeSolution:
        """Return the coefficients for one alpha, of some of the targets."""
        filtered = self.filtered(alpha)[:, None] * self.target[:, targets]
        coef = self.root[:, None] * self.complement.project(product(self.vectors, filtered))
        basis_coef = np.zeros((0, coef.shape[1]))
        if self.complement.size:
            p = self.problem
            remainder = p.Y[:, targets] - p.gram.matmul(coef) - (alpha / p.weight)[:, None] * coef
            basis_coef = self.complement.coefficients(self.root[:, None] * remainder)
        definite = alpha > 0.0 and self.values[0] > -alpha
        return RidgeSolution(coef, basis_coef, "eigh", definite=definite or self._definite)

    def projected_target(self) -> Array:
        """Return the values that the solution of alpha = 0 takes, without its basis part."""
        kept = (self.values > self.rounding)[:, None]
        return product(self.vectors, np.where(kept, self.target, 0.0)) / self.root[:, None]
