"""Small data sets of the literature, training sets with their properties, and splits.

Everything here is embedded: nothing is downloaded, and a set returned twice is the same set.
"""

from ._families import LeaveFamilyOut, leave_family_out_split
from ._generated import friedman1, noisy_sinc, rings, spirals
from ._gravitation import gravitation, gravitation_invariants
from ._literature import lfd_problem_8_2, lfd_problem_8_13, lfd_toy, xor
from ._training_set import TrainingSet

__all__ = [
    "LeaveFamilyOut",
    "TrainingSet",
    "friedman1",
    "gravitation",
    "gravitation_invariants",
    "leave_family_out_split",
    "lfd_problem_8_2",
    "lfd_problem_8_13",
    "lfd_toy",
    "noisy_sinc",
    "rings",
    "spirals",
    "xor",
]
