"""Random numbers of tests: the same ones in whatever order the tests are run."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def _states(request):
    """The generators of a module, and their states after its import."""
    held = vars(request.module).values()
    generators = [value for value in held if isinstance(value, np.random.Generator)]
    return [(generator, generator.bit_generator.state) for generator in generators]


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(_states):
    """Restart these generators: workers steal tests from each other."""
    for generator, state in _states:
        generator.bit_generator.state = state
