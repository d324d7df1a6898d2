"""Solvers: a problem and a Gram in, a solution and its certificate out."""

from .certificate import Certificate
from .decomposition import solve, solve_many
from .problem import Problem, Settings, Solution

__all__ = ["Certificate", "Problem", "Settings", "Solution", "solve", "solve_many"]
