"""Everything public says what it is; `tests/docs` runs the examples."""

import pytest

import mercer.kernels


@pytest.mark.parametrize("name", mercer.kernels.__all__)
def test_everything_public_has_an_example_or_is_used_in_one(name):
    thing = getattr(mercer.kernels, name)
    assert thing.__doc__
    if isinstance(thing, type) and issubclass(thing, mercer.kernels.Kernel):
        assert ">>>" in thing.__doc__ or name in ("VectorKernel", "RadialKernel")
