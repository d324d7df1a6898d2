"""Draw docs/pictures/ridge-and-gaussian-processes.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from mercer import GaussianProcessRegressor, KernelRidgeCV, SparseGaussianProcessRegressor
from mercer.kernels import RBF, White
from mercer.plots import coverage, penalty_path, posterior, relevances

mpl.use("Agg")
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "ridge-and-gaussian-processes.png"
GRID = 40


class Recorded(GaussianProcessRegressor):
    """Keeps the hyper-parameters that the search visits."""

    def _value(self, covariance, *, gradient, rows=None):
        self.__dict__.setdefault("visited", []).append(covariance.theta)
        return super()._value(covariance, gradient=gradient, rows=rows)


def evidence(model, ax):
    """Draw the log evidence over gamma and noise, the scale at its optimum, with the path."""
    names, decade = model.parameter_names_, np.log(10.0)
    i, j = names.index("kernel__gamma"), names.index("noise")
    path = np.array(model.visited)
    low, high = path.min(axis=0) - 1.0, path.max(axis=0) + 1.0
    gammas, noises = (np.linspace(low[k], high[k], GRID) for k in (i, j))
    values = np.empty((GRID, GRID))
    for a, gamma in enumerate(gammas):
        for b, noise in enumerate(noises):
            theta = model.theta_.copy()
            theta[i], theta[j] = gamma, noise
            values[b, a] = model.log_marginal_likelihood(theta)
    levels = np.linspace(values.max() - 30.0, values.max(), 16)
    ax.contourf(gammas / decade, noises / decade, values, levels, cmap="Blues", extend="min")
    ax.plot(path[:, i] / decade, path[:, j] / decade, "o-", color="#D55E00", ms=3, lw=1)
    ax.plot(model.theta_[i] / decade, model.theta_[j] / decade, "*", color="#222222", ms=12)
    ax.set_xlim(gammas[0] / decade, gammas[-1] / decade)
    ax.set_ylim(noises[0] / decade, noises[-1] / decade)
    ax.set_xlabel("log10 gamma")
    ax.set_ylabel("log10 noise variance")


def several(axes, rng):
    """Draw relevances, coverage and the certificate of a sparse process on five columns."""
    X = rng.normal(size=(600, 5))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=600)
    kernel = 1.0 * RBF([0.5] * 5) + White(0.1)
    model = GaussianProcessRegressor(kernel).fit(X[:200], y[:200])
    names = ["x1", "x2", "noise 1", "noise 2", "noise 3"]
    relevances(model, names=names, ax=axes[0]).set_title("relevance of each column")
    coverage(model, X[200:], y[200:], ax=axes[1]).set_title("coverage on 400 new samples")
    numbers = np.arange(8, 27, 2)
    ends, titsias = [], []
    for m in numbers:
        sparse = SparseGaussianProcessRegressor(model.kernel_, int(m), optimizer=None)
        sparse.fit(X[:200], y[:200])
        ends.append((sparse.certificate_.dual, sparse.certificate_.primal))
        titsias.append(sparse.lower_bound_)
    low, high = np.transpose(ends)
    ax = axes[2]
    ax.fill_between(numbers, low, high, color="#56B4E9", alpha=0.4, lw=0, label="certificate")
    ax.plot(numbers, titsias, color="#D55E00", marker="o", ms=3, label="Titsias' bound")
    exact = model.log_marginal_likelihood_value_
    ax.axhline(exact, color="#222222", lw=1, label="log evidence")
    ax.set_ylim(exact - 150.0, exact + 100.0)
    ax.set_xlabel("inducing points")
    ax.set_xticks(numbers[::3])
    ax.legend(frameon=False, loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("sparse process: interval of the log evidence")


def main() -> None:
    """Fit, draw and write."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, 25))
    x = x[(x < 4) | (x > 6)]
    X, y = x[:, None], np.sin(x) + 0.1 * rng.normal(size=len(x))
    model = Recorded(1.0 * RBF(2.0), noise=0.3).fit(X, y)
    figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
    axes = axes.ravel()
    posterior(model, ax=axes[0]).set_title("posterior band and samples")
    evidence(model, axes[1])
    axes[1].set_title("log evidence and the path of the search")
    penalty_path(KernelRidgeCV(kernel=RBF(0.5)).fit(X, y), ax=axes[2])
    axes[2].set_title("leave-one-out curve")
    several(axes[3:], rng)
    figure.savefig(PICTURE, dpi=80)


if __name__ == "__main__":
    main()
