"""Kernels on structured objects: strings, sets, documents, sequences, time series, graphs."""

from .boolean import Boolean
from .convolution import Convolution
from .delay import Delayed, DelayEmbedding
from .documents import TfIdf, mutual_information
from .fisher import Fisher
from .graphs import Diffusion
from .hidden_markov import HiddenMarkov
from .marginalized import Marginalized
from .multisets import Multiset
from .sets import Jaccard, SetIntersection, SetPower

__all__ = [
    "Boolean",
    "Convolution",
    "DelayEmbedding",
    "Delayed",
    "Diffusion",
    "Fisher",
    "HiddenMarkov",
    "Jaccard",
    "Marginalized",
    "Multiset",
    "SetIntersection",
    "SetPower",
    "TfIdf",
    "mutual_information",
]
