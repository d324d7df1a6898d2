"""Ctrl-C: heard within half a second, and the best model so far is kept."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.losses import EpsilonInsensitive
from mercer.machines.support_vector import proving
from mercer.solvers import decomposition, ladder
from mercer.solvers.prove.primal_dual import hard_margin_values, hard_tube_values

PROGRAM = """
import os, signal, threading, time, warnings
import numpy as np
import scipy.sparse as sp
from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import RBF, FromFunction
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)

def noise(n):
    return rng.normal(size=(n, 6)), rng.integers(0, 2, n)

sent = []

def press():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

def report(model, X, y, after=0.4):
    sent.clear()
    timer = threading.Timer(after, press)
    timer.start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        reaction = time.perf_counter() - sent[0]
    else:
        print("finished - -")
        return
    finally:
        timer.cancel()
    if not hasattr(model, "certificate_"):
        print("lost - -")
        return
    model.predict(X[:5])
    proof = model.certificate_
    print(proof.status, reaction, float(proof.n_iter > 0 and np.isfinite(proof.gap)))

"""

NATIVE = """
X, y = noise(6000)
report(SVC(kernel=RBF(0.3), C=1e7, tol=1e-6), X, y)
report(SVC(kernel=RBF(0.05), C=1e9, tol=1e-9), X[:900], y[:900])
target = rng.normal(size=5000)
report(SVR(kernel=RBF(0.3), C=1e7, tol=1e-6), X[:5000], target)
report(NuSVR(kernel=RBF(0.3), C=1e6, nu=0.3, tol=1e-6), X[:5000], target)
"""

# Problems run side by side, largest first; the one that takes long may be that of any thread. Of
# the three classes the two that lie on each other make the hard pair.
SIDE_BY_SIDE = """
for sizes in ((1000, 950, 900), (900, 1000, 950), (950, 900, 1000), (1000, 900, 950)):
    parts = [rng.normal(size=(n, 6)) for n in sizes]
    parts[1] += 50
    X, y = np.vstack(parts), np.repeat([0, 1, 2], sizes)
    report(SVC(kernel=RBF(0.05), C=1e9, tol=1e-9, n_jobs=2, time_limit=3), X, y)
"""

# The signal arrives while the user's function runs, after two thousand rows and whatever time they
# take; the timer only ends a fit that did not hear it.
PYTHON = """
X, y = noise(3000)
values = 0
def f(A, B):
    global values
    values += len(A) * len(B)
    if values > 2000 * len(X) and not sent:
        press()
    return np.exp(-0.3 * ((A[:, None] - B) ** 2).sum(axis=2))
report(SVC(kernel=FromFunction(f), C=1e7, tol=1e-6), X, y, 30)
"""

# Runs of the solver that are over before it has looked for signals, one after another: an interrupt
# comes with the end of a run or between two.
BETWEEN_RUNS = """
from mercer.solvers import decomposition, ladder
ladder._PATIENCE, ladder._PATIENCE_PER_ROW = 20, 0
run = decomposition._run
X, y = noise(900)
for k in range(1, 21):
    armed = threading.Timer(0.01 * k, press)
    def counted(*arguments):
        if not armed.is_alive() and not sent:
            armed.start()
        return run(*arguments)
    decomposition._run = counted
    report(SVC(kernel=RBF(0.05), C=1e9, tol=1e-9), X, y, 30)
"""

# Rows are long here, and one step of the solver takes a second.
WIDE = """
X, y = rng.normal(size=(6000, 784)).astype(np.float32), rng.integers(0, 6, 6000)
report(SVC(kernel=RBF(0.001), C=10.0), X, y > 2)
report(SVC(kernel=RBF(0.001), C=10.0, dtype="float64"), X, y > 2)
report(SVC(kernel=RBF(0.001), C=10.0), X, y, 0.2)
n, d = 20_000, 1_000_000
entries = rng.random(100 * n), (np.repeat(np.arange(n), 100), rng.integers(0, d, 100 * n))
X = sp.csr_matrix(entries, shape=(n, d))
report(SVC(kernel=RBF(0.01), C=10.0), X, rng.integers(0, 2, n), 0.6)
"""


def run(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("code", "fits"),
    [(NATIVE, 4), (SIDE_BY_SIDE, 4), (PYTHON, 1), (BETWEEN_RUNS, 20)],
    ids=["native", "side by side", "Python", "between runs"],
)
def test_an_interrupt_keeps_the_model(code: str, fits: int) -> None:
    lines = run(code)
    assert len(lines) == fits
    for line in lines:
        status, reaction, usable = line.split()
        assert status == "interrupted"
        assert float(usable) == 1
        assert float(reaction) < 0.5


def test_wide_data_do_not_keep_the_user_waiting() -> None:
    lines = run(WIDE)
    assert len(lines) == 4
    for line in lines:
        status, reaction, _ = line.split()
        assert status == "interrupted"
        assert float(reaction) < 0.5


@pytest.mark.parametrize("gamma", [0.05, 1.0], ids=["in features", "in pairs"])
def test_values_that_an_interrupt_leaves_unknown_are_those_before(
    gamma: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt may end a run before it knows the values of the point it started from."""
    native, runs = decomposition._run, []

    def cut_short(*arguments: Any) -> Any:
        found = native(*arguments)
        runs.append(found[0].status)
        if len(runs) > (2 if gamma < 1.0 else 1):
            found[0].status, found[0].values = "interrupted", np.full_like(found[0].values, np.nan)
        return found

    monkeypatch.setattr(decomposition, "_run", cut_short)
    monkeypatch.setattr(ladder, "_PATIENCE", 200)
    monkeypatch.setattr(ladder, "_PATIENCE_PER_ROW", 0)
    rng = np.random.default_rng(0)
    machine = SVC(gamma=gamma, C=1e6, tol=1e-9, solver="decomposition")
    with pytest.raises(KeyboardInterrupt):
        machine.fit(rng.normal(size=(300, 4)), rng.integers(0, 2, 300))
    assert machine.certificate_.status == "interrupted"
    assert np.isfinite(machine.certificate_.gap)
    assert machine.certificate_.n_iter >= 200


@pytest.mark.parametrize(
    ("module", "place"), [(decomposition, "_solution"), (ladder, "_unfinished")]
)
def test_an_interrupt_just_after_a_run_keeps_the_model(
    module: Any, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, raised = getattr(module, place), []

    def once(*arguments: Any) -> Any:
        if not raised:
            raised.append(place)
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(module, place, once)
    rng = np.random.default_rng(0)
    machine = SVC(solver="decomposition")
    with pytest.raises(KeyboardInterrupt):
        machine.fit(rng.normal(size=(300, 4)), np.arange(300) % 3)
    assert raised
    assert machine.certificate_.status == "interrupted"
    assert np.isfinite(machine.certificate_.gap)


# ------------------------------------------------------------------ the proof


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


MACHINES = [
    SVC(C=3.0, solver="decomposition"),
    SVC(penalty_norm=2, solver="decomposition"),
    SVC(C=np.inf, gamma=20.0),
    SVC(C=np.inf, gamma=20.0, fit_intercept=False),
    SVC(multiclass="ovr"),
    NuSVC(nu=0.4),
    NuSVC(nu=0.4, fit_intercept=False),
    SVR(C=3.0),
    SVR(C=3.0, fit_intercept=False),
    NuSVR(C=3.0),
    NuSVR(C=3.0, fit_intercept=False),
    OneClassSVM(nu=0.3),
]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_an_interrupted_proof_keeps_the_model(
    machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + rng.normal(size=90) if "SVR" in str(machine) else rng.integers(0, 3, 90)
    target = None if isinstance(machine, OneClassSVM) else y
    whole = machine.fit(X, target).certificate_
    coef, intercept = machine.dual_coef_, machine.intercept_
    with monkeypatch.context() as patch:
        patch.setattr(proving, "_proofs", interrupt)
        with pytest.raises(KeyboardInterrupt, match="holds the best model so far"):
            machine.fit(X, target)
    assert np.array_equal(machine.dual_coef_, coef)
    assert np.array_equal(machine.intercept_, intercept)
    proof = machine.certificate_
    assert proof.status == "interrupted"
    assert proof.precision == "float64, by the solver"
    assert "checked in float64, by the solver" in str(proof)
    # The same numbers as from the model itself.
    assert proof.primal == pytest.approx(whole.primal, rel=1e-8)
    assert proof.dual == pytest.approx(whole.dual, rel=1e-8)
    assert proof.kkt_violation == pytest.approx(whole.kkt_violation, abs=1e-8)
    assert machine.certify(X, target).precision == "float64"
    machine.fit(X, target)
    assert machine.certificate_.status == whole.status


def test_an_interrupt_while_the_model_is_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 3)), rng.integers(0, 2, 1200)
    monkeypatch.setattr(proving, "checking_precision", lambda *_: "float64")
    monkeypatch.setattr(proving, "_refinable", lambda fitting, _: not fitting.interrupted)
    monkeypatch.setattr(proving, "solve_tasks", interrupt)
    model = SVC()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.precision == "float32, by the solver"
    assert model.certificate_.relative_gap < 0.01
    assert model.score(X, y) > 0.5


UNKNOWN = """
X, y = rng.normal(size=(6000, 784)).astype(np.float32), rng.integers(0, 5, 6000)
model = NuSVC(kernel=RBF(0.001), nu=0.2)
report(model, X, y, 0.2)
print(np.isnan([c.gap for c in model.certificates_]).any(), "unknown" in model.point_status_)
proof = model.certify(X[:], y)
print(proof.status, np.isfinite(proof.gap))
"""


def test_what_an_interrupt_left_out_is_unknown_and_can_be_asked_for() -> None:
    first, unknown, proof = run(UNKNOWN)
    assert first.startswith("interrupted")
    assert unknown == "True True"
    assert proof == "interrupted True"


# ------------------------------------------------------------------ afterwards

LATER = """
X, y = noise(6000)
old = SVC(kernel=RBF(0.3)).fit(X, y)
coefficients = old.dual_coef_.copy()
model = SVC(kernel=RBF(0.3), C=1e7, tol=1e-6, warm_start=True)
report(model, X, y)
first = model.certificate_.dual
report(model, X, y)  # goes on where it was
print(model.certificate_.dual > first, np.array_equal(old.dual_coef_, coefficients))
signal.signal(signal.SIGINT, signal.default_int_handler)
print(SVC(kernel=RBF(0.3)).fit(X, y).certificate_.status)
"""


def test_life_goes_on_after_an_interrupt() -> None:
    first, second, went_on, status = run(LATER)
    assert first.startswith("interrupted")
    assert second.startswith("interrupted")
    assert went_on == "True True"
    assert status == "optimal"


HANDLER = """
import signal
X, y = noise(6000)
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))  # a handler that does not raise
model = SVC(kernel=RBF(0.3), C=1e7, tol=1e-6, time_limit=1.0)
threading.Timer(0.3, press).start()
model.fit(X, y)
print(len(seen), model.certificate_.status)
"""


def test_a_signal_handler_of_the_user_decides() -> None:
    assert run(HANDLER) == ["1 time_limit"]


def test_values_of_hard_constraints_that_an_interrupt_leaves_unknown_are_nan() -> None:
    y, beta, unknown = np.array([1.0, -1.0]), np.array([0.5, -0.5]), np.full(2, np.nan)
    starts = np.zeros(1, dtype=np.intp)
    (margin,) = hard_margin_values(y, beta, unknown, unknown, starts)
    tube = hard_tube_values(EpsilonInsensitive(0.1), y, beta, unknown, unknown)
    for found in (margin, tube):
        assert np.isnan([found.primal, found.dual]).all()
