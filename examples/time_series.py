"""A time series as a sum of kernels: trend, season and noise, shown separately.

    python examples/time_series.py [picture.png]

A Gaussian process with the covariance trend + season is fitted to ten years of monthly values.
Because the covariance is a sum, the posterior mean is a sum as well: f = f_1 + f_2 with
f_j(x) = sum_i a_i k_j(x_i, x). The noise variance is optimised with the kernel.
"""

from __future__ import annotations

import sys

import numpy as np

from mercer import GaussianProcessRegressor
from mercer.expansion import Expansion
from mercer.kernels import RBF, PeriodicGaussian


def monthly_values(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return ten years in units of a year, and values with trend, season and noise."""
    t = np.arange(120) / 12.0
    season = np.sin(2 * np.pi * t) + 0.4 * np.cos(4 * np.pi * t)
    return t, 0.05 * (t - 3.0) ** 2 + season + 0.15 * rng.normal(size=len(t))


def main() -> None:
    """Fit, print the parts and draw them."""
    t, y = monthly_values(np.random.default_rng(0))
    X = t[:, None]
    kernel = 4.0 * RBF(0.02) + 1.0 * PeriodicGaussian(sigma=0.3, period=1.0)
    bounds = {"right__kernel__period": "fixed", "right__kernel__sigma": (0.05, 2.0)}
    model = GaussianProcessRegressor(kernel, noise=0.05, bounds=bounds, basis="constant").fit(X, y)
    print(f"kernel          {model.kernel_!r}")
    print(f"noise           {np.sqrt(model.noise_):.3f} (standard deviation; drawn with 0.15)")
    print(f"log evidence    {model.log_marginal_likelihood_value_:.2f}")
    print(f"status          {model.certificate_.status}, projected gradient "
          f"{model.certificate_.kkt_violation:.1e}")  # fmt: skip

    future = np.linspace(0.0, 12.0, 600)[:, None]
    trend = Expansion(model.kernel_.left, X, model.alpha_, float(model.basis_coef_[0]))(future)
    season = Expansion(model.kernel_.right, X, model.alpha_)(future)
    mean, std = model.predict(future, return_std=True)
    print(f"parts add up    {np.abs(trend + season - mean).max():.1e}")
    print(f"two years on    {mean[-1]:.2f} +- {1.96 * std[-1]:.2f}")
    picture = sys.argv[1] if len(sys.argv) > 1 else "time-series.png"
    draw(picture, t, y, future[:, 0], mean, std, trend, season)


def draw(path, t, y, future, mean, std, trend, season) -> None:
    """Draw forecast, trend and season below each other."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
    axes[0].fill_between(future, mean - 1.96 * std, mean + 1.96 * std, color="#56B4E9", alpha=0.3)
    axes[0].plot(future, mean, color="#0072B2")
    axes[0].plot(t, y, ".", color="#222222", ms=4)
    for ax, values, name in zip(
        axes, (None, trend, season), ("sum", "trend", "season"), strict=True
    ):
        if values is not None:
            ax.plot(future, values, color="#D55E00")
        ax.axvline(10.0, color="#9A9A9A", lw=0.8)
        ax.set_ylabel(name)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("years")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
