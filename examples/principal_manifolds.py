"""Principal curves and surfaces: regularisation, closed curves, a surface, and the comparisons.

Smola 1998, section 5.3: an open curve for several constants lambda, a closed curve by a periodic
kernel, a surface in three dimensions, the polygonal line of bounded length beside the curve whose
speed is penalised, and the losses that resist scattered outliers.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import PolygonalPrincipalCurve, RegularizedPrincipalManifold
from mercer.kernels import NegativeDistance

COLOURS = ("#0072B2", "#D55E00", "#009E73")


def wave(rng):
    """Return a noisy wave."""
    t = rng.uniform(0.0, np.pi, 150)
    return np.stack([t - np.pi / 2, np.sin(2.0 * t)], axis=1) + 0.1 * rng.normal(size=(150, 2))


def draw_curves(ax, X):
    """Draw open curves for three constants."""
    ax.plot(*X.T, ".", color="0.7", ms=4)
    for lam, colour in zip((0.1, 10.0, 100.0), COLOURS, strict=True):
        curve = RegularizedPrincipalManifold(1, lam).fit(X)
        ax.plot(*curve.inverse_transform(np.linspace(0, 1, 200)[:, None]).T, color=colour,
                label=f"$\\lambda$ = {lam:g}")  # fmt: skip
    ax.legend(fontsize=8)
    ax.set_title("curves: less freedom with larger $\\lambda$", fontsize=9)


def draw_closed(ax, rng):
    """Draw a closed curve."""
    angle = rng.uniform(0.0, 2.0 * np.pi, 150)
    radius = 1.0 + 0.25 * np.cos(3.0 * angle)
    X = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X += 0.07 * rng.normal(size=X.shape)
    curve = RegularizedPrincipalManifold(1, 0.01, domain="periodic", gamma=2.0).fit(X)
    ax.plot(*X.T, ".", color="0.7", ms=4)
    ax.plot(*curve.inverse_transform(np.linspace(0, 2 * np.pi, 300)[:, None]).T, color=COLOURS[0])
    ax.set_aspect("equal")
    ax.set_title("closed curve: a periodic kernel", fontsize=9)


def draw_lengths(ax, X):
    """Draw a curve with penalised speed and the polygonal line of the same length."""
    curve = RegularizedPrincipalManifold(1, 3.0, kernel=0.5 * NegativeDistance(), n_nodes=30).fit(X)
    line = PolygonalPrincipalCurve(30, curve.curve_length()).fit(X)
    ax.plot(*X.T, ".", color="0.7", ms=4)
    ax.plot(
        *curve.inverse_transform(curve.nodes_).T, color=COLOURS[0], lw=3, label="penalised speed"
    )
    ax.plot(*line.knots_.T, "--", color=COLOURS[1], label=f"length at most {line.length_:.2f}")
    ax.legend(fontsize=8)
    ax.set_title("penalty on the speed = bound on the length", fontsize=9)


def draw_outliers(ax, X, rng):
    """Draw curves of three losses through points with scattered outliers."""
    outliers = rng.uniform([-1.6, -3.0], [1.6, 3.0], (20, 2))
    bad = np.vstack([X, outliers])
    ax.plot(*X.T, ".", color="0.7", ms=4)
    ax.plot(*outliers.T, "x", color="0.4", ms=5)
    grid = np.linspace(0.0, 1.0, 200)[:, None]
    losses = (
        ("squared", {}, 1.0),
        ("huber", {"threshold": 0.1}, 1.0),
        ("epsilon_insensitive", {"threshold": 0.05}, 2.0),
    )
    for (loss, options, lam), colour in zip(losses, COLOURS, strict=True):
        curve = RegularizedPrincipalManifold(1, lam, loss=loss, **options).fit(bad)
        ax.plot(*curve.inverse_transform(grid).T, color=colour, label=loss.replace("_", "-"))
    ax.legend(fontsize=8)
    ax.set_title("scattered outliers: robust losses", fontsize=9)


def draw_surface(ax, rng):
    """Draw a surface through points in three dimensions."""
    u = rng.uniform(-1.0, 1.0, (500, 2))
    X = np.c_[u, 0.6 * np.sin(2.5 * u[:, 0]) * np.cos(2.0 * u[:, 1])]
    X += 0.05 * rng.normal(size=X.shape)
    surface = RegularizedPrincipalManifold(2, 0.05, n_nodes=8, tol=1e-4).fit(X)
    axis = np.linspace(0.0, 1.0, 25)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    points = surface.inverse_transform(grid).reshape(25, 25, 3)
    ax.plot_wireframe(*np.moveaxis(points, -1, 0), color=COLOURS[0], lw=0.6)
    ax.scatter(*X.T, s=4, color="0.6")
    ax.view_init(30, -60)
    ax.set_title(f"surface, error {surface.quantization_error(X):.4f} (noise 0.0025)", fontsize=9)


def draw():
    """Return the figure."""
    rng = np.random.default_rng(0)
    X = wave(rng)
    fig = plt.figure(figsize=(13.0, 7.5), layout="constrained")
    draw_curves(fig.add_subplot(2, 3, 1), X)
    draw_closed(fig.add_subplot(2, 3, 2), rng)
    draw_lengths(fig.add_subplot(2, 3, 4), X)
    draw_surface(fig.add_subplot(2, 3, 5, projection="3d"), rng)
    draw_outliers(fig.add_subplot(2, 3, 3), X, np.random.default_rng(1))
    return fig


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    path = folder / "principal-manifolds.png"
    draw().savefig(path, dpi=90)
    return path


if __name__ == "__main__":
    print(main())
