"""The examples in the docstrings are run."""

import doctest
import importlib
import pkgutil

import pytest

import mercer.kernels

MODULES = ["mercer.kernels"] + [
    module.name for module in pkgutil.walk_packages(mercer.kernels.__path__, "mercer.kernels.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


@pytest.mark.parametrize("name", mercer.kernels.__all__)
def test_everything_public_has_an_example_or_is_used_in_one(name):
    thing = getattr(mercer.kernels, name)
    assert thing.__doc__
    if isinstance(thing, type) and issubclass(thing, mercer.kernels.Kernel):
        assert ">>>" in thing.__doc__ or name in ("VectorKernel", "RadialKernel")
