"""Tests of hypotheses about distributions, on any objects that a kernel compares.

>>> import numpy as np
>>> from mercer.hypotheses import mmd_test
>>> rng = np.random.default_rng(0)
>>> result = mmd_test(rng.normal(size=(60, 1)), rng.normal(1.0, 1.0, size=(60, 1)), random_state=0)
>>> result.p_value < 0.05
True
"""

from .independence import hsic_test
from .result import PermutationTest
from .two_samples import mmd_test

__all__ = ["PermutationTest", "hsic_test", "mmd_test"]
