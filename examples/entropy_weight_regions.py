"""Figure 9.1 of Smola's thesis, computed: where the weight vectors of two machines lie.

The published figure has two sketches of feature space. Left, support vector machines: the data in a
flat ellipse, the weight vector in a ball. Right, linear programming machines: the same ellipse, and
the weight vector in the convex hull of the data and their negatives, inside a scaled copy of it.

Here both are real: the Gaussian kernel exp(-|x|^2) on a torus of period 6 in two dimensions, along
the waves cos(w0 x_1) and cos(2 w0 x_2). Left: features, and weight vectors of random expansions of
norm 1. Right: weight vectors of the same expansions scaled to sum |alpha_i| = 1, which lie in the
hull of the features and their negatives.
"""

import math
import sys
from pathlib import Path

import numpy as np
from entropy_feature_box import PERIOD, features

from mercer.capacity.entropy import LPClass, Spectrum, SVClass
from mercer.kernels import RBF, Periodized

PICTURE = Path("entropy-weight-regions.png")
BLUE, VERMILION, INK = "#0072B2", "#D55E00", "#222222"


def main(picture: Path = PICTURE) -> None:
    """Compute, report, draw."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    kernel = Periodized(RBF(gamma=1.0), period=PERIOD, dimension=2)
    data = features(rng.uniform(-PERIOD / 2, PERIOD / 2, (1500, 2)))
    half = np.abs(data).max(axis=0)
    sv, lp = [], []
    for _ in range(400):
        n = int(rng.integers(1, 60))
        X = rng.uniform(-PERIOD / 2, PERIOD / 2, (n, 2))
        # coefficients between noise and a combination of the two waves that are drawn
        alpha = features(X) / half @ rng.normal(size=2) + rng.exponential() * rng.normal(size=n)
        w = alpha @ features(X)
        sv.append(w / math.sqrt(alpha @ kernel(X) @ alpha))
        lp.append(w / np.abs(alpha).sum())
    angle = np.linspace(0.0, 2 * math.pi, 400)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ellipse = math.sqrt(2) * half * circle

    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
    regions = (("support vector machine", sv, circle), ("linear programming machine", lp, ellipse))
    for ax, (title, weights, region) in zip(axes, regions, strict=True):
        ax.plot(*data.T, ".", color=BLUE, markersize=2, alpha=0.4, label="features of the data")
        ax.plot(*np.array(weights).T, ".", color=VERMILION, markersize=3, label="weight vectors")
        ax.plot(*ellipse.T, color=BLUE, linewidth=1)
        ax.plot(*region.T, color=VERMILION, linewidth=1.5, linestyle="--", label="their region")
        ax.set(title=title, xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal")
        ax.set(xticks=[-1, -0.5, 0, 0.5, 1], yticks=[-1, -0.5, 0, 0.5, 1])
        ax.set_xlabel(r"along $\phi_1$")
        ax.set_ylabel(r"along $\phi_2$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(picture, dpi=110)

    spectrum = Spectrum.from_translation_invariant(RBF(gamma=1.0), PERIOD, 2)
    print("ln N(eps) of the two classes, Lambda = 1")
    for eps in (0.5, 0.1, 0.01):
        values = [float(c(spectrum).log_covering(eps)) for c in (SVClass, LPClass)]
        print(
            f"  eps {eps:<5} support vectors {values[0]:8.1f}   linear programming {values[1]:8.1f}"
        )
    print(f"picture: {picture.resolve()}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
