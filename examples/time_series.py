"""A time series as a sum of kernels: trend, season and noise, shown separately.

    python examples/time_series.py [picture.png]

A Gaussian process with the covariance trend + season + White is fitted to ten years of monthly
values. Because the covariance is a sum, the observations are a sum as well: the posterior means of
the parts are f_j(x) = sum_i a_i k_j(x_i, x), and that of the noise is level * a_i at sample i. The
level of the noise is optimised with the other parameters.
"""

from __future__ import annotations

import sys

import numpy as np

from mercer import GaussianProcessRegressor
from mercer.expansion import Expansion
from mercer.kernels import RBF, ExpSineSquared, White


def monthly_values(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return ten years in units of a year, and values with trend, season and noise."""
    t = np.arange(120) / 12.0
    season = np.sin(2 * np.pi * t) + 0.4 * np.cos(4 * np.pi * t)
    return t, 0.05 * (t - 3.0) ** 2 + season + 0.15 * rng.normal(size=len(t))


def main() -> None:
    """Fit, print the parts and draw them."""
    t, y = monthly_values(np.random.default_rng(0))
    X = t[:, None]
    season = ExpSineSquared(length_scale=1.0, period=1.0)
    kernel = 4.0 * RBF(0.02) + 1.0 * season + White(0.05)
    bounds = {"left__right__kernel__period": "fixed"}
    model = GaussianProcessRegressor(kernel, bounds=bounds, basis="constant").fit(X, y)
    smooth, white = model.kernel_.left, model.kernel_.right
    print(f"kernel          {model.kernel_!r}")
    print(f"noise           {np.sqrt(white.level):.3f} (standard deviation; drawn with 0.15)")
    print(f"log evidence    {model.log_marginal_likelihood_value_:.2f}")
    print(f"status          {model.certificate_.status}, projected gradient "
          f"{model.certificate_.kkt_violation:.1e}")  # fmt: skip

    future = np.linspace(0.0, 12.0, 600)[:, None]
    intercept = float(model.basis_coef_[0])
    parts = {
        "trend": Expansion(smooth.left, X, model.alpha_, intercept),
        "season": Expansion(smooth.right, X, model.alpha_),
    }
    noise = white.level * model.alpha_  # its posterior mean, at the samples
    values = {name: part(future) for name, part in parts.items()}
    mean, std = model.predict(future, return_std=True)
    explained = sum(part(X) for part in parts.values())
    print(f"parts add up    {np.abs(sum(values.values()) - mean).max():.1e} to the mean, "
          f"{np.abs(explained + noise - y).max():.1e} to the observations")  # fmt: skip
    print(f"two years on    {mean[-1]:.2f} +- {1.96 * std[-1]:.2f}")
    picture = sys.argv[1] if len(sys.argv) > 1 else "time-series.png"
    draw(picture, t, y, future[:, 0], mean, std, values, noise)


def draw(path, t, y, future, mean, std, parts, noise) -> None:
    """Draw forecast, trend, season and noise below each other."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 1, figsize=(7, 8), sharex=True, layout="constrained")
    axes[0].fill_between(future, mean - 1.96 * std, mean + 1.96 * std, color="#56B4E9", alpha=0.3)
    axes[0].plot(future, mean, color="#0072B2")
    axes[0].plot(t, y, ".", color="#222222", ms=4)
    axes[0].set_ylabel("sum")
    for ax, (name, values) in zip(axes[1:], parts.items(), strict=False):
        ax.plot(future, values, color="#D55E00")
        ax.set_ylabel(name)
    axes[3].vlines(t, 0.0, noise, color="#D55E00", lw=1.0)
    axes[3].set_ylabel("noise")
    for ax in axes:
        ax.axvline(10.0, color="#9A9A9A", lw=0.8)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("years")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
