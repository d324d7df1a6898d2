"""The bias and variance experiment: simulated numbers against exact integrals."""

import importlib.util
from pathlib import Path

import pytest


@pytest.mark.spec("LFD-66")
def test_bias_and_variance_of_both_learners():
    pytest.importorskip("matplotlib")
    path = Path(__file__).parents[2] / "examples" / "capacity_bias_variance.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {k: module.bias_variance(a) for k, a in module.thresholds(100_000).items()}
    for name, exact in module.EXACT.items():
        assert found[name] == pytest.approx(exact, rel=0.03)
        # The answers differ from the target on |a| / 2 of the square, at the price of 4.
        assert found[name][2] + found[name][3] == pytest.approx(2 * found[name][1], rel=1e-2)
    margin, other = found["maximal margin"], found["random separator"]
    assert all(a < b for a, b in zip(margin, other, strict=True))
