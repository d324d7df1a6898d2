"""Pictures of Gaussian processes and of the choice of a penalty."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from mercer import GaussianProcessRegressor, KernelRidgeCV
from mercer.kernels import RBF
from mercer.plots import coverage, penalty_path, posterior, relevances

mpl.use("Agg")

X = np.linspace(0.0, 6.0, 12)[:, None]
Y = np.sin(X[:, 0])


def test_the_band_contains_the_mean_and_the_data_are_drawn_in_their_units():
    model = GaussianProcessRegressor(RBF(0.5), alpha=0.01, optimizer=None, normalize_y=True)
    ax = posterior(model.fit(X, 100.0 + Y), n_samples=2)
    lines = ax.get_lines()
    assert len(lines) == 4  # two samples, the mean, the data
    np.testing.assert_allclose(lines[-1].get_ydata(), 100.0 + Y)
    with pytest.raises(ValueError, match="one target"):
        posterior(GaussianProcessRegressor(RBF(0.5), optimizer=None).fit(X, np.c_[Y, Y]))


def test_the_chosen_alpha_is_the_lowest_point_of_the_curve():
    model = KernelRidgeCV([1e-3, 1e-1, 10.0], kernel=RBF(0.5)).fit(X, Y)
    ax = penalty_path(model)
    curve, chosen = ax.get_lines()[:2]
    assert chosen.get_ydata()[0] == min(curve.get_ydata())
    assert chosen.get_xdata()[0] == model.alpha_


def test_coverage_counts_the_targets_inside_and_exposes_intervals_that_are_too_narrow():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(0.0, 6.0, size=(240, 1))
    targets = np.sin(inputs[:, 0]) + 0.3 * rng.normal(size=240)
    shares = {}
    for noise in (0.09, 0.0009):
        model = GaussianProcessRegressor(RBF(0.5), noise=noise, optimizer=None)
        ax = coverage(model.fit(inputs[:40], targets[:40]), inputs[40:], targets[40:])
        line = ax.get_lines()[-1]
        at = int(np.argmin(np.abs(line.get_xdata() - 0.95)))
        mean, std = model.predict(inputs[40:], return_std=True)
        shares[noise] = line.get_ydata()[at]
        inside = np.abs(targets[40:] - mean) <= 1.959964 * np.sqrt(std**2 + 1e-10)
        assert shares[noise] == pytest.approx(inside.mean())
    assert shares[0.09] > 0.9
    assert shares[0.0009] < 0.5


def test_relevances_are_reciprocal_length_scales():
    ax = relevances(2.0 * RBF([0.5, 0.02]) + 1.0)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([1.0, 0.2])
    theirs = relevances(sk.ConstantKernel() * sk.RBF([1.0, 5.0]), names=["a", "b"])
    assert [bar.get_width() for bar in theirs.patches] == pytest.approx([1.0, 0.2])
    with pytest.raises(ValueError, match="no width for each column"):
        relevances(RBF(0.5))
    with pytest.raises(ValueError, match="2 columns"):
        relevances(RBF([0.5, 1.0]), names=["a"])
