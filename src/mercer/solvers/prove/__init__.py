"""Certificates: the only package that makes them, one module per kind of statement."""

from .certificates import Certificates
from .eigenvalue_bounds import eigenvalues_at_most
from .statements import bounded, local

__all__ = ["Certificates", "bounded", "eigenvalues_at_most", "local"]
