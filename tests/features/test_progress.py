"""Progress reports of the iterations without labels, and listeners that end them."""

import math

import numpy as np
import pytest

from mercer import (
    KernelFeatureAnalysis,
    KernelKMeans,
    KernelPCA,
    KernelSpectralClustering,
    PolygonalPrincipalCurve,
    RegularizedPrincipalManifold,
)

X = np.random.default_rng(0).normal(size=(600, 4))

MODELS = [
    KernelPCA(5, kernel="rbf", gamma=2.0, tol=1e-9, random_state=0),
    KernelSpectralClustering(3, gamma=1.0, tol=1e-9, random_state=0),
    KernelFeatureAnalysis(3),
    KernelFeatureAnalysis(3, constraint="l2", gamma=2.0, random_state=0),
    KernelFeatureAnalysis(
        2, constraint="l2", contrast="kurtosis", n_basis=3, n_restarts=3, random_state=0
    ),
    KernelKMeans(4, n_init=2, random_state=0),
    RegularizedPrincipalManifold(1, n_nodes=8),
    PolygonalPrincipalCurve(5),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_progress_is_printed_and_a_listener_ends_the_fit(model, capsys):
    model.fit(X)
    assert capsys.readouterr().out == ""
    whole = model.certificate_.status
    model.set_params(verbose=2).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(line.startswith(f"[{type(model).__name__}]") for line in lines)
    seen = []
    model.set_params(verbose=False).set_callbacks(lambda report: seen.append(report) or True).fit(X)
    assert model.certificate_.status == "interrupted" != whole
    assert math.isfinite(seen[0].objective)
    assert seen[0].iteration >= 1
    method = model.transform if hasattr(model, "transform") else model.predict
    assert np.isfinite(method(X[:3])).all()


def test_residuals_of_reports_fall_to_the_tolerance():
    seen = []
    model = KernelPCA(5, kernel="rbf", gamma=2.0, tol=1e-9, random_state=0)
    model.set_callbacks(seen.append).fit(X)
    assert [report.iteration for report in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].violation <= 1e-9 < seen[0].violation
    assert seen[-1].objective == pytest.approx(model.eigenvalues_.sum())
