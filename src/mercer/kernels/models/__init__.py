"""Kernels from generative models: hidden Markov models, pair HMMs, stochastic grammars."""

from .fisher import Fisher
from .grammar import Grammar
from .hidden_markov import HiddenMarkov
from .marginalized import Marginalized
from .pair_hmm import PairHMM

__all__ = ["Fisher", "Grammar", "HiddenMarkov", "Marginalized", "PairHMM"]
