"""Ridge and Gaussian processes beside scikit-learn's, alternating in one run.

python -m benchmarks.ridge [--quick] [ridge] [leave_one_out] [processes] [classes] [few_rows]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

ROUNDS = 3


@dataclass(frozen=True)
class Comparison:
    """Seconds of both, the best of some rounds, and how far the answers are apart."""

    name: str
    ours: float
    theirs: float
    note: str

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def points(n: int, columns: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def best_of(rounds: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Any:
    """Return the shortest times and the last results; the order alternates."""
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    results = {}
    for k in range(rounds):
        order = [("ours", ours), ("theirs", theirs)]
        for name, run in order if k % 2 == 0 else reversed(order):
            begin = perf_counter()
            results[name] = run()
            times[name].append(perf_counter() - begin)
    return min(times["ours"]), min(times["theirs"]), results["ours"], results["theirs"]


def ridge(quick: bool) -> list[Comparison]:
    """Kernel ridge regression, easy and hard."""
    from sklearn.kernel_ridge import KernelRidge as Peer

    from mercer import KernelRidge

    n = 1_500 if quick else 5_000
    X, y = points(n)
    found = []
    for gamma, alpha in ((0.05, 0.3), (0.05, 1e-3), (0.5, 1e-3)):
        settings = {"alpha": alpha, "kernel": "rbf", "gamma": gamma}
        ours, theirs, a, b = best_of(
            1 if quick else ROUNDS,
            lambda s=settings: KernelRidge(**s).fit(X, y),
            lambda s=settings: Peer(**s).fit(X, y),
        )
        apart = np.abs(a.predict(X[:500]) - b.predict(X[:500])).max()
        note = f"predictions {apart:.0e} apart, relative gap {a.certificate_.relative_gap:.0e}"
        found.append(Comparison(f"ridge {n} gamma={gamma} alpha={alpha}", ours, theirs, note))
    return found


def leave_one_out(quick: bool) -> list[Comparison]:
    """20 alphas by leave-one-out errors, and by a grid search with 5 folds."""
    import scipy.linalg
    from sklearn.kernel_ridge import KernelRidge as Peer
    from sklearn.model_selection import GridSearchCV

    from mercer import KernelRidgeCV
    from mercer.kernels import RBF

    n = 600 if quick else 5_000
    X, y = points(n)
    alphas = np.logspace(-4, 2, 20)
    ours, theirs, a, _ = best_of(
        1,
        lambda: KernelRidgeCV(alphas, kernel=RBF(0.05)).fit(X, y),
        lambda: GridSearchCV(Peer(kernel="rbf", gamma=0.05), {"alpha": alphas}, cv=5).fit(X, y),
    )
    K = RBF(0.05)(X)
    begin = perf_counter()
    scipy.linalg.eigh(K)
    one = perf_counter() - begin
    note = f"{ours / one:.2f} times one scipy.linalg.eigh, alpha {a.alpha_:.2g}"
    return [Comparison(f"20 alphas, {n} rows", ours, theirs, note)]


def processes(quick: bool) -> list[Comparison]:
    """A Gaussian process whose hyper-parameters are optimised."""
    import sklearn.gaussian_process as peer
    from sklearn.gaussian_process import kernels as sk

    from mercer import GaussianProcessRegressor
    from mercer.kernels import RBF, White

    n = 200 if quick else 1_000
    X, y = points(n, 10)
    found = []
    for name, gamma, length_scale in (
        ("one length scale", 0.5, 1.0),
        ("one per column", [0.5] * 10, [1.0] * 10),
    ):
        kernel = 1.0 * RBF(gamma) + White(0.1)
        theirs_kernel = sk.ConstantKernel(1.0) * sk.RBF(length_scale) + sk.WhiteKernel(0.1)
        ours, theirs, a, b = best_of(
            1 if quick else ROUNDS,
            lambda k=kernel: GaussianProcessRegressor(k).fit(X, y),
            lambda k=theirs_kernel: peer.GaussianProcessRegressor(k).fit(X, y),
        )
        difference = a.log_marginal_likelihood_value_ - b.log_marginal_likelihood_value_
        note = f"log evidence {difference:+.1e} against theirs, {a.certificate_.n_iter} evaluations"
        found.append(Comparison(f"process {n}, {name}", ours, theirs, note))
    new = points(1_000 if quick else 10_000, 10)[0]
    ours, theirs, mean, other = best_of(
        1 if quick else ROUNDS,
        lambda: a.predict(new, return_std=True),
        lambda: b.predict(new, return_std=True),
    )
    apart = max(np.abs(p - q).max() for p, q in zip(mean, other, strict=True))
    note = f"means and deviations {apart:.0e} apart (of two optima)"
    found.append(Comparison(f"process, {len(new)} predictions", ours, theirs, note))
    return found


def fits(rounds: int, ours: Any, theirs: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Return the times of both estimators and the fitted estimators."""
    return best_of(rounds, lambda: ours.fit(X, y), lambda: theirs.fit(X, y))


def classes(quick: bool) -> list[Comparison]:
    """Classification by a Gaussian process whose hyper-parameters are optimised."""
    import sklearn.gaussian_process as peer
    from sklearn.gaussian_process import kernels as sk

    from mercer import GaussianProcessClassifier
    from mercer.kernels import RBF

    model = GaussianProcessClassifier(1.0 * RBF([0.5] * 4))
    other = peer.GaussianProcessClassifier(1.0 * sk.RBF([1.0] * 4))
    found = []
    for n in (100,) if quick else (100, 300, 1_000):
        X, y = points(n, 4)
        labels = y + np.random.default_rng(1).normal(size=n) > 0.0
        rounds = 1 if quick or n == 1_000 else ROUNDS
        ours, theirs, a, b = fits(rounds, model, other, X, labels)
        difference = a.log_marginal_likelihood_value_ - b.log_marginal_likelihood_value_
        note = f"log evidence {difference:+.1e} against theirs"
        found.append(Comparison(f"classifier {n}, one per column", ours, theirs, note))
    return found


def few_rows(quick: bool) -> list[Comparison]:
    """Fits of a few dozen rows, where the time is that of the interpreter."""
    import sklearn.gaussian_process as peer
    from sklearn.gaussian_process import kernels as sk
    from sklearn.kernel_ridge import KernelRidge as PeerRidge

    from mercer import GaussianProcessRegressor, KernelRidge
    from mercer.kernels import RBF, White

    settings = {"alpha": 0.1, "kernel": "rbf", "gamma": 0.5}
    models: dict[str, tuple[Any, Any]] = {"ridge": (KernelRidge(**settings), PeerRidge(**settings))}
    for name, gamma, width in (("one scale", 0.5, 1.0), ("per column", [0.5] * 4, [1.0] * 4)):
        models[f"process, {name}"] = (
            GaussianProcessRegressor(1.0 * RBF(gamma) + White(0.1)),
            peer.GaussianProcessRegressor(1.0 * sk.RBF(width) + sk.WhiteKernel(0.1)),
        )
    found = []
    for n in (10, 20, 50, 100):
        for name, (model, other) in models.items():
            ours, theirs, _, _ = fits(3 if quick else 20, model, other, *points(n, 4))
            found.append(Comparison(f"{n} rows, {name}", ours, theirs, ""))
    return found


SECTIONS = {
    "ridge": ridge,
    "leave_one_out": leave_one_out,
    "processes": processes,
    "classes": classes,
    "few_rows": few_rows,
}


def compare(quick: bool, sections: Iterable[str] = SECTIONS) -> list[Comparison]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [comparison for name in sections for comparison in SECTIONS[name](quick)]


def text(found: list[Comparison]) -> str:
    lines = [
        "Ridge and Gaussian processes, seconds of a fit",
        f"{'case':<36}{'mercer':>9}{'sklearn':>9}{'ratio':>7}",
    ]
    lines += [f"{c.name:<36}{c.ours:>9.4f}{c.theirs:>9.4f}{c.ratio:>7.2f}  {c.note}" for c in found]
    ratios = [c.ratio for c in found if "alpha=" in c.name]
    if ratios:
        lines.append(
            f"ridge: {min(ratios):.2f} times as fast at least, {np.mean(ratios):.2f} in the mean"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if name != "--quick"]
    print(text(compare("--quick" in sys.argv, chosen or SECTIONS)))
