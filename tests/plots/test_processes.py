"""Pictures of Gaussian processes and of the choice of a penalty."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from mercer import GaussianProcessRegressor, KernelRidgeCV
from mercer.kernels import RBF
from mercer.plots import penalty_path, posterior

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
