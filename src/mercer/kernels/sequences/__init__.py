"""Kernels on strings and other sequences of tokens."""

from .mismatch import Mismatch
from .sequence_kernel import SequenceKernel
from .spectrum import BlendedSpectrum, Spectrum
from .subsequence import Subsequence
from .substring import Substring
from .weighted_degree import WeightedDegree

__all__ = [
    "BlendedSpectrum",
    "Mismatch",
    "SequenceKernel",
    "Spectrum",
    "Subsequence",
    "Substring",
    "WeightedDegree",
]
