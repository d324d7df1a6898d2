"""What a kernel value costs: statistics, profiles and compositions next to a plain Gaussian tile.

Three tables:

- every kind of kernel as a multiple of a Gaussian of the same rows, with the largest multiple that
  the library allows itself;
- compositions next to the sum of their distinct pair statistics and profiles;
- whole matrices next to scikit-learn's function of the same kernel.

The first two are times of one thread for the product of the kernel matrix with a vector, where
nothing is stored, so that they are those of the tiles alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np

ROWS = 2000
COLUMNS = (10, 50, 200)
ROUNDS = 5


@dataclass(frozen=True)
class Cost:
    """A time, the time it is compared with, and the largest ratio allowed.

    ``limit`` None: no limit is set, the number is for information.
    """

    name: str
    dtype: str
    columns: int
    seconds: float
    reference: float
    limit: float | None

    @property
    def ratio(self) -> float:
        return self.seconds / self.reference

    @property
    def kept(self) -> bool:
        return self.limit is None or self.ratio <= self.limit


def kinds() -> dict[str, tuple[Any, float | None]]:
    """Kernels by name, with the multiple of a Gaussian tile that each may cost."""
    from mercer import kernels as k

    return {
        "Laplacian (L1)": (k.Laplacian(1.0), 4.0),
        "HistogramIntersection (minimum)": (k.HistogramIntersection(), 4.0),
        "ChiSquare": (k.ChiSquare(1.0), 10.0),
        "AdditiveChiSquare": (k.AdditiveChiSquare(), 10.0),
        **{
            f"ANOVA, linear, order {order}": (k.ANOVA(order, k.Linear()), 4.0 * order)
            for order in (1, 2, 3, 5)
        },
        **{
            f"ANOVA, minimum, order {order}": (
                k.ANOVA(order, k.HistogramIntersection()),
                4.0 * order,
            )
            for order in (1, 2, 3)
        },
        # An exponential per column and pair, where the Gaussian takes one per pair.
        **{
            f"ANOVA, Gaussian, order {order}": (k.ANOVA(order), 4.0 * order)
            for order in (1, 2, 3, 5)
        },
        "Exponential": (k.Exponential(1.0), None),
        "Matern, nu = 5/2": (k.Matern(2.5), None),
        "Matern, nu = 1.2 (table)": (k.Matern(1.2), None),
        "RationalQuadratic": (k.RationalQuadratic(0.7), None),
        "Spline": (k.Spline(), None),
        "BSpline, order 3": (k.BSpline(3), None),
        "Dirichlet, order 3": (k.Dirichlet(3), None),
        "PeriodicGaussian, narrow": (k.PeriodicGaussian(0.3), None),
        "PeriodicGaussian, wide": (k.PeriodicGaussian(2.0), None),
        "3-norm": (k.DistanceKernel(3.0), None),
    }


def compositions() -> dict[str, tuple[Any, Sequence[Any], Sequence[Any]]]:
    """Composed kernels with their parts, and with the statistics that the parts count too often.

    A part costs its statistic and its profile. Statistics that several parts share, or that only
    carry a profile (the polynomial of a dot product stands for the polynomial alone), are taken
    off again.
    """
    from mercer import kernels as k

    rbf, wide, laplacian, linear = k.RBF(2.0), k.RBF(0.1), k.Laplacian(0.5), k.Linear()
    cubic, square = k.Polynomial(3, gamma=0.5, coef0=1.0), statistic("sqdist")
    series = [1.0, 0.5, 0.25, 0.125]
    return {
        "Gaussian + Gaussian": (rbf + wide, [rbf, wide], [square]),
        "Gaussian * polynomial": (rbf * cubic, [rbf, cubic], []),
        "2 Gaussian + Laplacian + polynomial ** 2": (
            2.0 * rbf + laplacian + cubic**2,
            [2.0 * rbf, laplacian, cubic**2],
            [],
        ),
        "polynomial of a Gaussian": (
            k.polynomial(rbf, series),
            [rbf, k.polynomial(linear, series)],
            [linear],
        ),
        "normalised polynomial + Gaussian": (
            k.normalize(cubic) + rbf,
            [k.normalize(cubic), rbf],
            [],
        ),
        "three widths and a root": (
            rbf + wide + k.RBF(0.5) + k.Exponential(1.0),
            [rbf, wide, k.RBF(0.5), k.Exponential(1.0)],
            [square] * 3,
        ),
    }


def statistic(name: str) -> Any:
    """Return the kernel that is a pair statistic by itself."""
    from mercer.kernels import VectorKernel

    class Statistic(VectorKernel):
        def __init__(self, leaf: str) -> None:
            self.leaf = leaf

        def compile(self, builder: Any) -> None:
            builder.leaf(self.leaf)

    return Statistic(name)


def histograms(n: int, d: int) -> np.ndarray:
    """Return random histograms, which every kernel takes."""
    return np.random.default_rng(0).dirichlet(np.ones(d), size=n)


def product_times(
    kernels: Sequence[Any], X: np.ndarray, dtype: str, rounds: int = ROUNDS
) -> list[float]:
    """Processor seconds of a product with one vector, in one thread; kernels take turns."""
    from mercer.gram import Gram

    grams = [Gram(kernel, X, dtype) for kernel in kernels]
    ones = np.ones(len(X))
    best = [float("inf")] * len(grams)
    for _ in range(rounds):
        for i, gram in enumerate(grams):
            start = process_time()
            gram.matmul(ones, n_jobs=1)
            best[i] = min(best[i], process_time() - start)
    return best


def tile_costs(n: int = ROWS, columns: Sequence[int] = COLUMNS, rounds: int = ROUNDS) -> list[Cost]:
    """Every kind of kernel as a multiple of a Gaussian."""
    from mercer.kernels import RBF

    found = []
    for d in columns:
        X = histograms(n, d)
        for dtype in ("float32", "float64"):
            named = kinds()
            plain, *times = product_times(
                [RBF(1.0), *(k for k, _ in named.values())], X, dtype, rounds
            )
            found += [
                Cost(name, dtype, d, seconds, plain, limit)
                for (name, (_, limit)), seconds in zip(named.items(), times, strict=True)
            ]
    return found


def composition_costs(
    n: int = ROWS, columns: Sequence[int] = COLUMNS, rounds: int = ROUNDS
) -> list[Cost]:
    """Compositions as a multiple of the sum of their distinct statistics and profiles."""
    found = []
    for d in columns:
        X = histograms(n, d)
        for dtype in ("float32", "float64"):
            for name, (whole, parts, shared) in compositions().items():
                times = product_times([whole, *parts, *shared], X, dtype, rounds)
                once, again = times[1 : 1 + len(parts)], times[1 + len(parts) :]
                found.append(Cost(name, dtype, d, times[0], sum(once) - sum(again), 1.2))
    return found


def peer_costs(n: int = ROWS, columns: Sequence[int] = COLUMNS, rounds: int = 3) -> list[Cost]:
    """Whole float64 matrices as a share of the time of scikit-learn's function."""
    from sklearn.metrics import pairwise

    from mercer import kernels as k

    pairs: dict[str, tuple[Any, Callable[[np.ndarray], np.ndarray]]] = {
        "laplacian_kernel": (
            k.Laplacian(0.1),
            lambda X: pairwise.laplacian_kernel(X, gamma=0.1),
        ),
        "chi2_kernel": (k.ChiSquare(0.1), lambda X: pairwise.chi2_kernel(X, gamma=0.1)),
        "polynomial_kernel": (
            k.Polynomial(3, gamma=0.1, coef0=1.0),
            lambda X: pairwise.polynomial_kernel(X, degree=3, gamma=0.1, coef0=1.0),
        ),
        "cosine_similarity": (k.normalize(k.Linear()), pairwise.cosine_similarity),
    }
    found = []
    for d in columns:
        X = histograms(n, d)
        for name, (kernel, function) in pairs.items():
            ours = theirs = float("inf")
            for _ in range(rounds):
                start = perf_counter()
                kernel(X)
                middle = perf_counter()
                function(X)
                ours, theirs = min(ours, middle - start), min(theirs, perf_counter() - middle)
            found.append(Cost(name, "float64", d, ours, theirs, 1.0))
    return found


def table(title: str, costs: Sequence[Cost]) -> str:
    """Return the ratios as text: one line per kernel, one column per precision and width."""
    places = sorted({(c.columns, c.dtype) for c in costs})
    cells = {(c.name, c.columns, c.dtype): c for c in costs}
    names = list(dict.fromkeys(c.name for c in costs))
    width = max(map(len, names))
    head = "  ".join(f"{d:>4} {dtype[-2:]}" for d, dtype in places)
    lines = [title, f"{'columns, bits':{width}}  {head}   at most"]
    for name in names:
        row = [cells[name, *place] for place in places]
        shown = "  ".join(f"{c.ratio:6.2f}{' ' if c.kept else '!'}" for c in row)
        limit = "" if row[0].limit is None else f"{row[0].limit:g}"
        lines.append(f"{name:{width}}  {shown}  {limit}")
    return "\n".join(lines)


def report(quick: bool = False) -> str:
    """Measure everything and return the three tables."""
    n, columns, rounds = (600, (10, 50), 3) if quick else (ROWS, COLUMNS, ROUNDS)
    return "\n\n".join(
        [
            table("time as a multiple of RBF's", tile_costs(n, columns, rounds)),
            table(
                "compositions as a multiple of their distinct statistics and profiles",
                composition_costs(n, columns, rounds),
            ),
            table("whole matrix as a share of scikit-learn's time", peer_costs(n, columns)),
        ]
    )
