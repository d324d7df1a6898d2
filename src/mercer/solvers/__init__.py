"""Solvers: a problem and a Gram in, a solution and its certificate out."""

from .certificate import Certificate
from .decomposition import solve, solve_many
from .figures import significant_figures
from .matrices import (
    QuadraticProgram,
    hard_margin_lagrangian,
    hard_margin_primal_matrices,
    svm_dual_matrices,
)
from .problem import Problem, Settings, Solution

__all__ = [
    "Certificate",
    "Problem",
    "QuadraticProgram",
    "Settings",
    "Solution",
    "hard_margin_lagrangian",
    "hard_margin_primal_matrices",
    "significant_figures",
    "solve",
    "solve_many",
    "svm_dual_matrices",
]
