"""Early stops: an honest status, the best model so far, and a warning that names the cause."""

import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.gram import Gram
from mercer.machines.support_vector.fitting import _Limits
from mercer.machines.support_vector.proving import Check, certificates
from mercer.solvers.problem import Solution
from mercer.solvers.prove.convex import Proof
from mercer.solvers.prove.primal_dual import Values
from tests.machines.data_sets import MACHINES, classes, data_for, regression, scores


@pytest.mark.parametrize("machine", MACHINES)
def test_iteration_limit(machine):
    X, y = data_for(machine, n=200)
    model = machine(max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"terminated early \(max_iter=3\)"):
        model.fit(X, y)
    assert model.fit_status_ == 1
    assert np.all(np.asarray(model.n_iter_) <= 3)
    proof = model.certificate_
    assert proof.status == "iteration_limit"
    assert proof.kkt_violation > 1e-3
    # Feasible, hence with a true gap, and a model that predicts.
    assert proof.gap >= -1e-9
    assert np.isfinite(scores(model, X)).all()


def test_time_limit():
    X, y = classes(1500, flip=0.5)
    model = SVC(C=1e6, gamma=1e-3, tol=1e-8, time_limit=0.3)
    begin = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit=0.3"):
        model.fit(X, y)
    assert time.perf_counter() - begin < 5.0
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.gap >= 0.0


@pytest.mark.parametrize(
    "machine",
    [SVC(C=10.0), SVR(C=10.0), NuSVC(nu=0.3), NuSVR(), OneClassSVM(nu=0.3), SVC(probability=True)],
    ids=repr,
)
def test_a_time_limit_never_ends_a_fit_with_nothing(machine):
    X, y = classes(2500, flip=0.3)
    with pytest.warns(ConvergenceWarning, match="time_limit=1e-09"):
        machine.set_params(time_limit=1e-9).fit(X, y)
    assert machine.certificate_.status == "time_limit"
    assert np.isfinite(machine.certificate_.gap)
    assert len(machine.support_) >= 2
    assert np.ptp(scores(machine, X)) > 0.0


def test_a_long_preparation_leaves_the_rest_of_the_time_to_the_solver():
    _, run = _Limits(time.perf_counter() - 6.0).of(SVC(time_limit=10.0))
    assert 3.0 < run.seconds_left < 4.0
    _, run = _Limits(time.perf_counter() - 0.1).of(SVC(time_limit=10.0))
    assert 9.5 < run.seconds_left < 9.85  # as long again is kept for what follows the solver


@pytest.mark.parametrize("machine", [SVC(C=1e6, multiclass="ovr"), NuSVC(nu=0.3)], ids=repr)
def test_time_limit_is_one_for_all_problems(machine):
    X, y = classes(1200, 8, flip=0.5)
    machine.set_params(gamma=1e-3, tol=1e-10, time_limit=0.2, dtype="float64")
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, y)
    assert time.perf_counter() - begin < 2.5
    assert machine.certificate_.status in ("time_limit", "optimal")


def test_time_limit_holds_for_the_machines_behind_probabilities():
    X, y = classes(1500, flip=0.5)
    model = SVC(C=1e6, gamma=1e-3, tol=1e-8, time_limit=0.5, probability=True, random_state=0)
    begin = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit=0.5"):
        model.fit(X, y)
    assert time.perf_counter() - begin < 5.0
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_limit_that_leaves_no_time_for_the_proof_leaves_the_gap_infinite():
    X, y = classes(200)
    model = SVC(gamma=0.5, dtype="float64").fit(X, y)
    solution = Solution(
        np.zeros(2),
        np.full(2, np.nan),
        np.zeros(1),
        np.zeros((1, 2)),
        "time_limit",
        *[np.nan] * 3,
        0,
        0,
        0.0,
        "float64",
    )
    values = Values(np.nan, np.nan, np.nan, np.nan)
    proof = Proof(values, np.nan, np.zeros(2), np.zeros(2, dtype=bool), (0.0, 0.0))
    found = certificates(Gram(model.kernel_, X), Check([proof], "float64"), [solution])[0]
    assert found.gap == found.relative_gap == found.primal == -found.dual == np.inf
    assert not found.converged


@pytest.mark.parametrize(
    ("change", "params", "words"),
    [
        (lambda X, y: (X * [1, 1, 1, 1, 1e4], y), {}, "columns have different scales"),
        (lambda X, y: (np.vstack([X, X]), np.append(y, 1 - y)), {}, "duplicates of rows"),
        (lambda X, y: (X, y), {"C": 1e7}, "C is large"),
        (lambda X, y: (X, y), {}, "limit is too small"),
    ],
)
def test_warning_names_the_likely_cause(change, params, words):
    X, y = change(*classes(150))
    with pytest.warns(ConvergenceWarning, match=words):
        SVC(max_iter=2, **params).fit(X, y)


def test_gap_tolerance_replaces_the_violation():
    X, y = classes(300, flip=0.3)
    coarse = SVC(gap_tol=0.1, tol=1e-12).fit(X, y)
    fine = SVC(gap_tol=1e-6, tol=1.0).fit(X, y)
    assert coarse.certificate_.relative_gap <= 0.1
    assert fine.certificate_.relative_gap <= 1e-6
    assert coarse.certificate_.n_iter <= fine.certificate_.n_iter
    assert coarse.certificate_.status == fine.certificate_.status == "optimal"


@pytest.mark.parametrize(
    "model", [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(), SVC(penalty_norm=2)], ids=repr
)
def test_warm_start_begins_at_the_previous_solution(model):
    X, y = data_for(model, n=300)
    cold = model.fit(X, y)
    first, n_cold = scores(cold, X), np.sum(cold.n_iter_)
    again = model.set_params(warm_start=True).fit(X, y)
    assert np.sum(again.n_iter_) < 0.3 * n_cold + 5
    np.testing.assert_allclose(scores(again, X), first, atol=2e-3)
    # Another constant: the previous point is moved into the new bounds.
    changed = {"C": 0.5} if hasattr(model, "C") else {"nu": 0.25}
    moved = model.set_params(**changed).fit(X, y)
    fresh = type(model)(**{**model.get_params(), "warm_start": False}).fit(X, y)
    np.testing.assert_allclose(scores(moved, X), scores(fresh, X), atol=5e-3)
    # Other data: starts afresh instead of failing.
    model.fit(X[:100], y[:100])


def test_warm_start_of_several_classes():
    X, y = classes(200, 4)
    model = SVC(warm_start=True).fit(X, y)
    cold = model.n_iter_.sum()
    assert model.fit(X, y).n_iter_.sum() < 0.3 * cold + 5
    model.fit(X, y % 3)
    model.fit(X, y % 2)


def test_functions_are_told_how_the_fit_proceeds_and_may_stop_it():
    X, y = classes(1500, flip=0.4)
    reports = []
    model = SVC(C=100.0, gamma=0.05)
    model.set_callbacks(reports.append).fit(X, y)
    assert len(reports) > 0
    assert reports[-1].iteration >= reports[0].iteration
    assert {"violation", "objective", "gap", "active", "cache_hits"} <= set(reports[0]._fields)
    # A stop that was asked for leaves a model with an honest status, and raises nothing.
    model.set_callbacks(lambda report: True).fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.gap >= 0.0
    model.set_callbacks()
    assert model.fit(X, y).certificate_.status == "optimal"
    with pytest.raises(TypeError):
        model.set_callbacks("often")


def test_callbacks_of_scikit_learn():
    pytest.importorskip("sklearn.callback")

    class Counting:
        def __init__(self):
            self.calls = []

        def setup(self, estimator, context):
            self.calls.append("setup")

        def teardown(self, estimator, context):
            self.calls.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.calls.append("begin")

        def on_fit_task_end(self, estimator, context):
            self.calls.append("end")

    X, y = regression(1200)
    callback = Counting()
    SVR(C=100.0).set_callbacks(callback).fit(X, y)
    assert callback.calls[:2] == ["setup", "begin"]
    assert callback.calls[-2:] == ["end", "teardown"]
    assert callback.calls.count("begin") == callback.calls.count("end")


@pytest.mark.parametrize("verbose", [1, 2])
def test_progress_is_shown_when_asked_for(verbose, capsys):
    X, y = classes(1500, flip=0.4)
    SVC(C=100.0, gamma=0.05).fit(X, y)
    assert capsys.readouterr().out == ""
    SVC(C=100.0, gamma=0.05, verbose=verbose).fit(X, y)
    assert "SVC" in capsys.readouterr().out


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_an_interrupt_keeps_the_model():
    result = run(
        """
        import os, signal, threading, time
        import numpy as np
        from mercer import SVC
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(3000, 5)), rng.integers(0, 2, 3000)
        model = SVC(C=1e6, gamma=1e-2, tol=1e-9)
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.perf_counter()
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            waited = time.perf_counter() - begin - 1.0
            print(model.certificate_.status, model.predict(X).shape, waited < 2.0)
        """
    )
    assert result.stdout.split() == ["interrupted", "(3000,)", "True"], result.stderr


def test_too_little_memory_is_an_error_and_not_a_crash():
    result = run(
        """
        import resource
        import numpy as np
        from mercer import SVC
        X = np.random.default_rng(0).normal(size=(20000, 200))
        y = X[:, 0] > 0
        model = SVC(cache_size=100, n_jobs=1).fit(X[:100], y[:100])
        before = model.predict(X[:5])
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 12_000_000, used + 12_000_000))
        try:
            model.fit(X, y)
        except MemoryError as error:
            print("cache_size" in str(error), (model.predict(X[:5]) == before).all())
        """
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["True", "True"], result.stderr
