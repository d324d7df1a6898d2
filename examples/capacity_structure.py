"""Structural risk minimisation: training error falls, the penalty rises, the sum has a minimum.

Smola, Figure 7.5, and Honavar's slide on structural risk minimisation. The published figure is a
sketch of nested sets under two curves. Ours is computed: polynomials of degree 1 to 12 on a noisy
threshold of degree 2, with training error, VC confidence and true error, and the class that is
chosen.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer.capacity import SRM

DEGREES = list(range(1, 13))
N_SAMPLES = 4000
NOISE = 0.05


def sample(rng, n):
    """Return points and labels, the sign of x^2 - 0.3 with five per cent of the labels flipped."""
    x = rng.uniform(-1, 1, size=n)
    return x, np.where(x**2 > 0.3, 1, -1) * np.where(rng.random(n) < NOISE, -1, 1)


def fit(x, y, degree):
    """Return a polynomial classifier: least squares, shifted to make the fewest errors."""
    c = np.polyfit(x, y, degree)
    f = np.polyval(c, x)
    shifts = np.quantile(f, np.linspace(0, 1, 201))
    best = min(shifts, key=lambda t: np.sum(np.where(f > t, 1, -1) != y))
    return lambda z: np.where(np.polyval(c, z) > best, 1, -1)


def draw():
    """Return the figure and the choice."""
    rng = np.random.default_rng(0)
    x, y = sample(rng, N_SAMPLES)
    x_test, y_test = sample(rng, 50_000)
    models = [fit(x, y, degree) for degree in DEGREES]
    errors = np.minimum.accumulate([int(np.sum(m(x) != y)) for m in models])
    choice = SRM([d + 1 for d in DEGREES], penalty="ho").select(errors.tolist(), N_SAMPLES)
    fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    ax.plot(DEGREES, errors / N_SAMPLES, "o-", label="training error")
    ax.plot(DEGREES, [b.terms["deviation"] for b in choice.path], "s-", label="VC confidence")
    ax.plot(DEGREES, [b.value for b in choice.path], "^-", label="bound")
    ax.plot(DEGREES, [np.mean(m(x_test) != y_test) for m in models], "k:", label="true error")
    ax.axvline(DEGREES[choice.index], color="0.6", lw=0.8)
    ax.set(xlabel="degree of the polynomial", ylabel="error", ylim=(0, None))
    ax.legend(fontsize="small")
    return fig, choice


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    fig, choice = draw()
    path = folder / "capacity-structure.png"
    fig.savefig(path, dpi=110)
    print(f"chosen: degree {DEGREES[choice.index]}, risk <= {choice.bound.value:.3f}")
    return path


if __name__ == "__main__":
    print(main())
