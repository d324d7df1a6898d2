"""Machines and transformers that iterate: time limits, listeners and Ctrl-C mean the same for all.

After the first report someone stops the fit; what was found so far is the model.
"""

import signal
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import run
from mercer.kernels import RBF

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(550, 4))
FEW = X[:60]
Y = np.sin(FEW[:, 0]) + 0.1 * RNG.normal(size=60)

FITS = {
    "KernelRidge, cg": (
        mercer.KernelRidge(1e-6, kernel="rbf", solver="cg", tol=1e-12),
        X,
        X[:, 0] ** 2,
    ),
    "KernelRidge, Widrow-Hoff": (
        mercer.KernelRidge(0.01, kernel="rbf", solver="widrow_hoff", fit_intercept=False),
        FEW,
        Y,
    ),
    "GaussianProcessRegressor": (mercer.GaussianProcessRegressor(RBF(1.0), noise=0.1), FEW, Y),
    "GaussianProcessRegressor, cg": (
        mercer.GaussianProcessRegressor(RBF(1.0), noise=0.1, solver="cg", random_state=0),
        FEW,
        Y,
    ),
    "SparseGaussianProcessRegressor": (
        mercer.SparseGaussianProcessRegressor(RBF(1.0), noise=0.1, n_inducing=8, random_state=0),
        FEW,
        Y,
    ),
    "GaussianProcessClassifier": (
        mercer.GaussianProcessClassifier(RBF(1.0)),
        FEW,
        np.digitize(Y, [-0.5, 0.5]),
    ),
    "KernelPCA": (mercer.KernelPCA(5, kernel="rbf", gamma=2.0, tol=1e-9, random_state=0), X, None),
    "KernelSpectralClustering": (
        mercer.KernelSpectralClustering(3, gamma=1.0, tol=1e-9, random_state=0),
        X,
        None,
    ),
    "KernelFeatureAnalysis, scanned": (mercer.KernelFeatureAnalysis(3), FEW, None),
    "KernelFeatureAnalysis, searched": (
        mercer.KernelFeatureAnalysis(
            2, constraint="l2", contrast="kurtosis", n_basis=3, n_restarts=3, random_state=0
        ),
        FEW,
        None,
    ),
    "KernelKMeans": (mercer.KernelKMeans(4, n_init=2, random_state=0), X, None),
    "RegularizedPrincipalManifold": (
        mercer.RegularizedPrincipalManifold(1, n_nodes=8, n_restarts=2, random_state=0),
        FEW,
        None,
    ),
    "PolygonalPrincipalCurve": (mercer.PolygonalPrincipalCurve(5), FEW, None),
    "PrincipalCurve": (mercer.PrincipalCurve(tol=1e-12), FEW, None),
}


class Clock:
    """A clock that stands still until someone moves it."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


def holds_a_model(model: Any, rows: Any) -> bool:
    method = model.transform if hasattr(model, "transform") else model.predict
    return bool(np.isfinite(method(rows[:3])).all())


@pytest.mark.parametrize("name", FITS)
def test_a_time_limit_returns_what_was_found(name: str, monkeypatch: Any) -> None:
    model, rows, y = FITS[name]
    model, clock = clone(model).set_params(time_limit=5.0), Clock()
    monkeypatch.setattr(run, "time", clock)

    def late(report: run.Report) -> None:
        clock.now = 6.0

    model.set_callbacks(late)
    model.fit(rows, y)
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.seconds >= 0.0
    assert holds_a_model(model, rows)


@pytest.mark.parametrize("name", FITS)
def test_ctrl_c_keeps_what_was_found_and_is_raised(name: str) -> None:
    model, rows, y = FITS[name]
    model = clone(model).set_callbacks(lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, y)
    assert model.certificate_.status == "interrupted"
    assert holds_a_model(model, rows)


@pytest.mark.parametrize("name", FITS)
def test_a_listener_ends_a_fit_without_an_exception(name: str) -> None:
    model, rows, y = FITS[name]
    seen: list[run.Report] = []
    model = clone(model).set_callbacks(lambda report: seen.append(report) or True)
    model.fit(rows, y)
    assert model.certificate_.status == "interrupted"
    assert seen[0].iteration >= 1
    assert holds_a_model(model, rows)
