"""Everything public says what it is; `tests/docs` runs the examples."""

import inspect
from functools import cached_property
from types import FunctionType

import pytest

import mercer.kernels


@pytest.mark.parametrize("name", mercer.kernels.__all__)
def test_everything_public_has_an_example_or_is_used_in_one(name):
    thing = getattr(mercer.kernels, name)
    assert thing.__doc__
    if isinstance(thing, type) and issubclass(thing, mercer.kernels.Kernel):
        assert ">>>" in thing.__doc__ or name in ("VectorKernel", "RadialKernel")


@pytest.mark.parametrize("name", mercer.kernels.__all__)
def test_every_method_is_documented_where_it_is_defined_or_in_a_base_class(name):
    thing = getattr(mercer.kernels, name)
    if isinstance(thing, type):
        named = {name: value for name, value in vars(thing).items() if not name.startswith("_")}
        kinds = FunctionType | classmethod | staticmethod | property | cached_property
        methods = [name for name, value in named.items() if isinstance(value, kinds)]
        assert [m for m in methods if not inspect.getdoc(getattr(thing, m))] == []
