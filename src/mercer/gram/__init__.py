"""Kernel matrices that are never built: tiles, products and prepared objects."""

from mercer.threads import register_pool

from .matrix import Gram, Prepared, Products, evaluate
from .program import Builder, Program, compile_kernel
from .symmetry import refuse_asymmetric_sample, refuse_asymmetry
from .table import Table

__all__ = [
    "Builder",
    "Gram",
    "Prepared",
    "Products",
    "Program",
    "Table",
    "compile_kernel",
    "evaluate",
    "refuse_asymmetric_sample",
    "refuse_asymmetry",
]

register_pool()
