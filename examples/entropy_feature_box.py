"""Figure 8.1 of Smola's thesis, computed: features fill the corners of a box inside an ellipsoid.

The published figure has three sketches. Left: the domain mapped to feature space, a blob inside a
box, the box inside an ellipse; the blob reaches into the corners of the box. Middle and right: two
boxes along the coordinate axes; in the middle the data fill all corners, on the right only two
opposite ones, so that a rotated box would be tighter. The caption says that the situation on the
right never occurs for the mapped domain, though it may for a data set.

Here the features are real: the Gaussian kernel exp(-|x|^2) on a torus of period 6 in two
dimensions, in the coordinates of the waves cos(w0 x_1) and cos(2 w0 x_2). Left: 4,000 points of the
domain, the box with half sides C sqrt(lambda) and the smallest ellipse of its shape. Middle: the
same points with a basis rotated by 45 degrees, whose box is larger. Right: a data set near the
diagonal of the domain, for which that rotated box is smaller.
"""

import math
import sys
from pathlib import Path

import numpy as np

from mercer.capacity.entropy import Spectrum
from mercer.kernels import RBF

PICTURE = Path("entropy-feature-box.png")
PERIOD = 6.0
BLUE, VERMILION, INK = "#0072B2", "#D55E00", "#222222"


def features(X: np.ndarray) -> np.ndarray:
    """Return the features along cos(w0 x_1) and cos(2 w0 x_2)."""
    w0 = 2 * math.pi / PERIOD
    lam = Spectrum.from_translation_invariant(RBF(gamma=1.0), PERIOD, 2).values
    size = math.sqrt(2) / PERIOD  # the waves have unit length in L2 of the torus
    first = math.sqrt(lam[1]) * size * np.cos(w0 * X[:, 0])
    second = math.sqrt(lam[3]) * size * np.cos(2 * w0 * X[:, 1])  # |j|^2 = 4 is the fourth shell
    return np.stack([first, second], axis=1)


def box(points: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the half sides of the box around points in a rotated basis, and its corners."""
    c, s = math.cos(angle), math.sin(angle)
    basis = np.array([[c, -s], [s, c]])
    half = np.abs(points @ basis).max(axis=0)
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1], [1, 1]]) * half @ basis.T
    return half, corners


def main(picture: Path = PICTURE) -> None:
    """Compute, report, draw."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    domain = rng.uniform(-PERIOD / 2, PERIOD / 2, (4000, 2))
    t = rng.uniform(0.0, PERIOD / 2, 300)  # along a line on which both waves rise together
    data = np.stack([t, t / 2 + 0.05 * rng.normal(size=300)], axis=1)
    whole, sample = features(domain), features(data)
    half, _ = box(whole, 0.0)
    scaled = whole / half
    corners = float((np.abs(scaled) > 0.9).all(axis=1).mean())

    figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.2), layout="constrained")
    angle = np.linspace(0.0, 2 * math.pi, 400)
    ellipse = math.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    frames = [
        (scaled, 0.0, f"the domain: {corners:.0%} of it within 10 % of a corner"),
        (scaled, math.pi / 4, "a rotated basis has a larger box"),
        (sample / half, math.pi / 4, "a data set may prefer it"),
    ]
    for ax, (points, turned, title) in zip(axes, frames, strict=True):
        straight, rotated = box(points, 0.0), box(points, turned)
        areas = [4 * float(np.prod(h)) for h in (straight[0], rotated[0])]
        ax.plot(*points.T, ".", color=BLUE, markersize=2, alpha=0.5)
        ax.plot(*straight[1].T, color=INK, label=f"eigenbasis, area {areas[0]:.2f}")
        if turned:
            ax.plot(*rotated[1].T, color=VERMILION, label=f"rotated, area {areas[1]:.2f}")
        else:
            ax.plot(*ellipse.T, color=VERMILION, label="ellipsoid")
        ax.set_title(title, fontsize="medium")
        ax.set_aspect("equal")
        ax.set(xlim=(-2.1, 2.1), ylim=(-2.9, 2.1))
        ax.set_xlabel(r"$\phi_1(x) / C\sqrt{\lambda_1}$")
        ax.set_ylabel(r"$\phi_2(x) / C\sqrt{\lambda_2}$")
        ax.legend(frameon=False, fontsize="small", loc="lower center")
        print(f"{title}: areas {areas[0]:.3f} and {areas[1]:.3f}")
    figure.savefig(picture, dpi=110)
    print(f"half sides {half[0]:.4f}, {half[1]:.4f}; picture: {picture.resolve()}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
