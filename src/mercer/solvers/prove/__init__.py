"""Certificates: the only package that makes them, one module per kind of statement."""

from .statements import bounded, local

__all__ = ["bounded", "local"]
