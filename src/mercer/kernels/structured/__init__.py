"""Kernels on structured objects: strings, sets, documents, sequences, time series, graphs."""

from .boolean import Boolean
from .convolution import Convolution
from .delay import Delayed, DelayEmbedding
from .documents import TfIdf, mutual_information
from .fisher import Fisher
from .global_alignment import GlobalAlignment
from .grammar import Grammar
from .graphs import Diffusion
from .hidden_markov import HiddenMarkov
from .marginalized import Marginalized
from .mismatch import Mismatch
from .multisets import Multiset
from .pair_hmm import PairHMM
from .sequences import SequenceKernel
from .sets import Jaccard, SetIntersection, SetPower
from .spectrum import BlendedSpectrum, Spectrum
from .subsequence import Subsequence
from .substring import Substring
from .weighted_degree import WeightedDegree

__all__ = [
    "BlendedSpectrum",
    "Boolean",
    "Convolution",
    "DelayEmbedding",
    "Delayed",
    "Diffusion",
    "Fisher",
    "GlobalAlignment",
    "Grammar",
    "HiddenMarkov",
    "Jaccard",
    "Marginalized",
    "Mismatch",
    "Multiset",
    "PairHMM",
    "SequenceKernel",
    "SetIntersection",
    "SetPower",
    "Spectrum",
    "Subsequence",
    "Substring",
    "TfIdf",
    "WeightedDegree",
    "mutual_information",
]
