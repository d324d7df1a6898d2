"""Bias and variance of the separator of maximal margin against a random one.

Points of [-1, 1]^2 with the target sign(x2), hypotheses sign(x2 - a), three training points in
each half (Learning From Data, e-Chapter 8, Problem 8.5). The maximal margin puts a in the middle
of the gap; the random learner anywhere in it. With outputs -1 and +1 and squared error, at height
x with P(x) the probability that the answer is +1, the mean answer is 2 P - 1, the variance
4 P (1 - P) and the squared bias (2 P - 1 - sign x)^2; both are averaged over x.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

# Exact integrals: variance of a, mean of |a|, bias, variance of the answers.
EXACT = {
    "maximal margin": (3 / 160, 3 / 28, 0.0603846, 0.1539011),
    "random separator": (11 / 240, 0.157745, 0.081399, 0.234090),
}


def thresholds(n_sets, seed=0):
    """Return the thresholds a of both learners on many data sets."""
    rng = np.random.default_rng(seed)
    above = rng.random((n_sets, 3)).min(axis=1)
    below = -rng.random((n_sets, 3)).min(axis=1)
    return {
        "maximal margin": (above + below) / 2,
        "random separator": below + (above - below) * rng.random(n_sets),
    }


def bias_variance(a, n_heights=2000):
    """Return variance of a, mean |a|, bias and variance of the answers sign(x2 - a)."""
    middle = np.linspace(-1, 1, n_heights + 1)
    x = (middle[1:] + middle[:-1]) / 2
    positive = np.searchsorted(np.sort(a), x) / len(a)  # P(a < x)
    bias = np.mean((2 * positive - 1 - np.sign(x)) ** 2)
    variance = np.mean(4 * positive * (1 - positive))
    return float(np.var(a)), float(np.abs(a).mean()), float(bias), float(variance)


def main(folder: Path = Path(), n_sets: int = 1_000_000) -> Path:
    """Write the picture and return its path."""
    ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
    print(f"{'learner':18}{'var a':>10}{'mean |a|':>10}{'bias':>10}{'variance':>10}")
    for name, a in thresholds(n_sets).items():
        for label, numbers in ((name, bias_variance(a)), ("  exact", EXACT[name])):
            print(f"{label:18}" + "".join(f"{value:10.5f}" for value in numbers))
        ax.hist(a, bins=np.linspace(-1, 1, 101), density=True, histtype="step", label=name)
    ax.set(xlabel="threshold a (target: 0)", ylabel="density")
    ax.legend()
    path = folder / "capacity-bias-variance.png"
    ax.figure.savefig(path, dpi=110)
    return path


if __name__ == "__main__":
    print(main())
