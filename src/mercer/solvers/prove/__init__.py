"""Certificates: the only package that makes them, one module per kind of statement."""

from .eigenvalue_bounds import eigenvalues_at_most
from .statements import bounded, local

__all__ = ["bounded", "eigenvalues_at_most", "local"]
