"""Solvers: a problem and a Gram in, a solution and its certificate out."""

from .base import Solver
from .certificate import Certificate, significant_figures
from .ladder import choose, solve, solve_jobs
from .matrices import (
    QuadraticProgram,
    hard_margin_lagrangian,
    hard_margin_primal_matrices,
    svm_dual_matrices,
)
from .operator import Design, Operator
from .problem import DualProblem, Job, Problem, Settings, Solution
from .prove.convex import certificate

__all__ = [
    "Certificate",
    "Design",
    "DualProblem",
    "Job",
    "Operator",
    "Problem",
    "QuadraticProgram",
    "Settings",
    "Solution",
    "Solver",
    "certificate",
    "choose",
    "hard_margin_lagrangian",
    "hard_margin_primal_matrices",
    "significant_figures",
    "solve",
    "solve_jobs",
    "svm_dual_matrices",
]
