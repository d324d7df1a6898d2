"""Bounds on the error of a machine, with the conditions under which they hold."""

from .compression import compression_bound, loo_bound

__all__ = ["compression_bound", "loo_bound"]
