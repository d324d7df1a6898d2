"""Small data sets of the literature and a training set that knows its own properties.

Everything here is embedded: nothing is downloaded, and a set returned twice is the same set.
"""

from ._generated import friedman1, noisy_sinc, rings, spirals
from ._gravitation import gravitation, gravitation_invariants
from ._literature import lfd_problem_8_2, lfd_problem_8_13, lfd_toy, xor
from ._training_set import TrainingSet

__all__ = [
    "TrainingSet",
    "friedman1",
    "gravitation",
    "gravitation_invariants",
    "lfd_problem_8_2",
    "lfd_problem_8_13",
    "lfd_toy",
    "noisy_sinc",
    "rings",
    "spirals",
    "xor",
]
