"""Kernel matrices that are never built: tiles, products and prepared objects."""

from mercer.numerics.profile_table import Table
from mercer.threads import register_pool

from .matrix import Gram, Prepared, Products, evaluate
from .program import Builder, Program, compile_kernel
from .symmetry_check import refuse_asymmetric_sample, refuse_asymmetry

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
