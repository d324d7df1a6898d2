"""One library for every processor: the paths agree, and MERCER_ISA chooses among them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import show_config
from mercer.gram import Gram
from mercer.kernels import RBF, Laplacian, Polynomial, Sigmoid

CONFIG = show_config("dict")
assert CONFIG is not None
AVAILABLE: list[str] = CONFIG["instruction sets available"]


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


VALUES = """
import sys
import numpy as np, scipy.sparse as sp
from mercer import SVC, show_config
from mercer.gram import Gram
from mercer.kernels import RBF, Laplacian, Polynomial, Sigmoid
rng = np.random.default_rng(0)
dense = rng.normal(size=(300, 21))
zeros = rng.random((300, 90)) * (rng.random((300, 90)) < 0.1)
tiles = {}
for name, kernel in {
    "rbf": RBF(0.05), "laplacian": Laplacian(0.05), "sigmoid": Sigmoid(gamma=0.05, coef0=0.1),
    "polynomial": Polynomial(3, gamma=0.02, coef0=1.0),
}.items():
    for kind, X in (("dense", dense), ("zeros", zeros), ("csr", sp.csr_matrix(zeros))):
        for dtype in ("float32", "float64"):
            tiles[f"{name} {kind} {dtype}"] = Gram(kernel, X, dtype).tile()
# n = 2300: the block solver, float32, two threads.
X = rng.normal(size=(2300, 5))
y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(2300))
model = SVC(gamma=0.2).fit(X, y)
tiles["decision"] = model.decision_function(X)
tiles["status"] = np.array([model.certificate_.status == "optimal"])
np.savez(sys.argv[1], **tiles)
print(show_config("dict")["instruction set"])
"""


def values_with(isa: str, folder: Path) -> dict[str, np.ndarray]:
    path = folder / f"{isa}.npz"
    code = VALUES.replace("sys.argv[1]", repr(str(path)))
    run = python(code, MERCER_ISA=isa)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == isa
    with np.load(path) as file:
        return dict(file)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return values_with("plain", tmp_path_factory.mktemp("plain"))


@pytest.mark.parametrize("isa", [isa for isa in AVAILABLE if isa != "plain"])
def test_every_path_has_the_values_of_the_plain_one(
    isa: str, plain: dict[str, np.ndarray], tmp_path: Path
) -> None:
    values = values_with(isa, tmp_path)
    assert values.keys() == plain.keys()
    for name, tile in values.items():
        if name.endswith("float32"):
            limit = 2e-6 if "polynomial" not in name else 2e-5
        elif name.endswith("float64"):
            limit = 1e-13 if "polynomial" not in name else 1e-11
        else:
            limit = 1e-2  # two solutions within the tolerance of the solver
        assert np.abs(tile.astype(float) - plain[name]).max() <= limit, name
    assert values["status"].all()


def test_plain_values_are_accurate(plain: dict[str, np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 21))
    exact = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2))
    assert np.abs(plain["rbf dense float32"] - exact).max() <= 2e-6
    assert np.abs(plain["rbf dense float64"] - exact).max() <= 1e-14


def test_the_present_path_is_one_that_was_compared() -> None:
    assert "plain" in AVAILABLE
    assert CONFIG is not None
    assert CONFIG["instruction set"] in AVAILABLE
    for kernel in (Laplacian(0.1), Polynomial(2, gamma=1.0), Sigmoid(gamma=0.1, coef0=0.0)):
        assert np.isfinite(Gram(kernel, sp.csr_matrix(np.eye(5)), "float32").tile()).all()


def test_an_unknown_path_is_refused() -> None:
    code = "from mercer import _native; _native.isa()"
    run = python(code, MERCER_ISA="sse9")
    assert run.returncode == 1
    assert "ValueError: MERCER_ISA=sse9: no such instruction set on this processor" in run.stderr
    assert f"which has {', '.join(AVAILABLE)}" in run.stderr
    assert python(code, MERCER_ISA="").returncode == 0


def test_no_flush_to_zero() -> None:
    # A library that was built with fast-math switches denormal numbers off for the whole process.
    RBF(1.0)(np.eye(3))
    assert float(np.float64(5e-324) / np.float64(1.0)) == 5e-324
    assert float(np.float32(1e-45) * np.float32(1.0)) > 0.0
