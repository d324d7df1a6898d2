"""Random numbers from any kind of seed."""

from __future__ import annotations

from typing import Any

import numpy as np


def generator(random_state: Any) -> np.random.Generator:
    """Return a source of random numbers for any of scikit-learn's and NumPy's kinds of seed."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)
