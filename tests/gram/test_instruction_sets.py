"""One library for every processor: each path has the values of the formulas, at every size.

What depends on the width of a path is the number of rows: panels, blocks of queries, slots of the
solver and remainders. So the values are computed for row counts around each of these boundaries, in
a process of their own per path, where memory that is written beyond a buffer ends the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
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

# Query rows of a dense block (6, 12), vectors (2 to 16), panels (4 to 32), a block of sparse
# queries and slots of the solver (32), the columns of a chunk (256).
COUNTS = [1, 2, 5, 6, 7, 8, 9, 13, 16, 17, 31, 32, 33, 64, 65, 257]
LARGEST = max(COUNTS)


def rows(columns: int) -> np.ndarray:
    """Rows of numbers >= 0, half of which are 0."""
    rng = np.random.default_rng(columns)
    return rng.random((LARGEST, columns)) * (rng.random((LARGEST, columns)) < 0.5)


def quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0
    ).sum(axis=-1)


# One kernel per pair statistic, and its definition on x[..., columns] and z[..., columns].
DEFINITIONS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "dot": ("Polynomial(2, gamma=0.1, coef0=1.0)", lambda x, z: (0.1 * (x * z).sum(-1) + 1) ** 2),
    "sqdist": ("RBF(0.1)", lambda x, z: np.exp(-0.1 * ((x - z) ** 2).sum(-1))),
    "l1": ("Laplacian(0.1)", lambda x, z: np.exp(-0.1 * np.abs(x - z).sum(-1))),
    "minimum": ("HistogramIntersection()", lambda x, z: np.minimum(x, z).sum(-1)),
    "harmonic": ("AdditiveChiSquare()", lambda x, z: quotient(2 * x * z, x + z)),
    "chi": ("ChiSquare(0.1)", lambda x, z: np.exp(-0.1 * quotient((x - z) ** 2, x + z))),
    "coordinates": ("ANOVA(2, RBF(0.5))", lambda x, z: anova(np.exp(-0.5 * (x - z) ** 2))),
}


def anova(f: np.ndarray) -> np.ndarray:
    """Sum of all products of two of the numbers."""
    return (f.sum(-1) ** 2 - (f**2).sum(-1)) / 2


@cache
def defined(statistic: str, columns: int) -> np.ndarray:
    X = rows(columns)
    return DEFINITIONS[statistic][1](X[:, None], X[None])


COLUMNS = (5, 260)  # sums in one run, and in several that are added in double precision

VALUES = """
import sys
import numpy as np, scipy.sparse as sp
from mercer import NuSVR, SVC, SVR, OneClassSVM, show_config
from mercer.gram import Gram
from mercer.kernels import *
sys.path.insert(0, FOLDER)
from test_instruction_sets import COLUMNS, COUNTS, DEFINITIONS, LARGEST, rows

found = {}
for columns in COLUMNS:
    X = rows(columns)
    for name, (kernel, _) in DEFINITIONS.items():
        k = eval(kernel)
        for kind, data in (("dense", X), ("sparse", sp.csr_matrix(X))):
            for dtype in ("float32", "float64"):
                whole = Gram(k, data, dtype).tile()
                centred = kind == "dense" and dtype == "float32"  # by the mean of the rows given
                limit = 4e-6 * abs(whole).max() if centred else 0.0
                found[f"{name} {columns} {kind} {dtype}"] = whole
                for n in COUNTS:
                    # A value depends on its two rows alone, so it keeps its bits.
                    part = Gram(k, data[:n], dtype).tile()
                    assert abs(part - whole[:n, :n]).max() <= limit, (name, kind, dtype, n)
# Fits: as many rows as slots and a few more or less, and the solver for large problems.
X, rng = rows(5), np.random.default_rng(1)
y = np.where(X[:, 0] + 0.3 * rng.standard_normal(LARGEST) > 0.3, 1, -1)
y[:2] = 1, -1
for n in (2, 31, 32, 33, 64, 65, 257):
    for kind, data in (("dense", X), ("sparse", sp.csr_matrix(X))):
        for dtype in ("float32", "float64"):
            for machine, target in ((SVC(kernel=RBF(1.0), dtype=dtype, tol=1e-6), y),
                                    (SVR(kernel=RBF(1.0), dtype=dtype, tol=1e-6), X[:, 1]),
                                    (NuSVR(kernel=RBF(1.0), dtype=dtype, tol=1e-6), X[:, 1])):
                if n == 2 and isinstance(machine, NuSVR):
                    continue
                model = machine.fit(data[:n], target[:n])
                name = f"{type(machine).__name__} {kind} {dtype} {n}"
                found["fit " + name] = model.decision_function(data[:n]) if hasattr(
                    model, "decision_function") else model.predict(data[:n])
X = rng.normal(size=(2300, 5))
for kind, data in (("dense", X), ("sparse", sp.csr_matrix(X * (rng.random(X.shape) < 0.5)))):
    model = SVC(gamma=0.2).fit(data, np.sign(X[:, 0] + 0.5 * rng.standard_normal(2300)))
    found["large " + kind] = model.decision_function(data)
    assert model.certificate_.status == "optimal"
np.savez(sys.argv[1], **found)
print(show_config("dict")["instruction set"])
"""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def values_with(isa: str, folder: Path) -> dict[str, np.ndarray]:
    path = folder / f"{isa}.npz"
    here = repr(str(Path(__file__).parent))
    run = python(
        VALUES.replace("sys.argv[1]", repr(str(path))).replace("FOLDER", here), MERCER_ISA=isa
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == isa
    with np.load(path) as file:
        return dict(file)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return values_with("plain", tmp_path_factory.mktemp("plain"))


@pytest.mark.parametrize("isa", AVAILABLE)
def test_every_path_has_the_values_of_the_definitions(
    isa: str, plain: dict[str, np.ndarray], tmp_path: Path
) -> None:
    values = plain if isa == "plain" else values_with(isa, tmp_path)
    assert values.keys() == plain.keys()
    for name, found in values.items():
        if name.startswith(("fit", "large")):
            # Two solutions within the tolerance of the solver.
            limit = 1e-2 if name.startswith("large") else 1e-3
            assert np.abs(found - plain[name]).max() <= limit, name
            continue
        statistic, columns, _, dtype = name.split()
        exact = defined(statistic, int(columns))
        error = np.abs(found.astype(float) - exact).max() / np.abs(exact).max()
        assert error <= (4e-6 if dtype == "float32" else 1e-14), name


def test_the_present_path_is_one_that_was_compared() -> None:
    assert AVAILABLE[:2] == ["wide", "plain"]
    assert CONFIG is not None
    assert CONFIG["instruction set"] in AVAILABLE
    for kernel in (Laplacian(0.1), Polynomial(2, gamma=1.0), Sigmoid(gamma=0.1, coef0=0.0)):
        assert np.isfinite(Gram(kernel, sp.csr_matrix(np.eye(5)), "float32").tile()).all()


def test_the_configuration_says_why_a_path_was_taken() -> None:
    code = (
        'from mercer import show_config as s; c = s("dict"); print(*[c[k] for k in list(c)[3:5]])'
    )
    widest = python(code, MERCER_ISA="").stdout.strip()
    assert widest == f"{AVAILABLE[-1]} the widest this processor has"
    assert widest.split()[0] != "wide"  # which is for tests
    assert python(code, MERCER_ISA="wide").stdout.strip() == "wide set by MERCER_ISA"


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
