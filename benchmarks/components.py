"""Kernel principal components beside scikit-learn's, alternating in one run.

python -m benchmarks.components [--quick]

20 normal columns scaled from 1 to 0.3 under a Gaussian kernel of three widths, whose spectra fall
fast, slowly and hardly at all, and 20 components by scikit-learn's solver "arpack"; then 50,000
points, whose kernel matrix neither of the two could hold.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from benchmarks.ridge import Comparison, best_of

GAMMAS = (0.001, 0.02, 0.3)
COMPONENTS = 20
ROUNDS = 5
MANY = 50_000


def points(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 20)) * np.linspace(1.0, 0.3, 20)


def compare(quick: bool) -> list[Comparison]:
    """Both on the same points; the note says how far the eigenvalues are apart."""
    from sklearn.decomposition import KernelPCA as Peer

    from mercer import KernelPCA

    X = points(1_500 if quick else 5_000)
    found = []
    for gamma in GAMMAS:
        settings = {"n_components": COMPONENTS, "kernel": "rbf", "gamma": gamma, "random_state": 0}
        ours, theirs, a, b = best_of(
            1 if quick else ROUNDS,
            lambda s=settings: KernelPCA(**s).fit(X),
            lambda s=settings: Peer(eigen_solver="arpack", **s).fit(X),
        )
        apart = np.abs(a.eigenvalues_ - b.eigenvalues_).max() / b.eigenvalues_[0]
        note = (
            f"eigenvalues {apart:.0e} of the largest apart, "
            f"residual {a.certificate_.kkt_violation:.0e}, {a.certificate_.n_iter} products"
        )
        found.append(Comparison(f"{len(X)} points, gamma={gamma}", ours, theirs, note))
    return found


def without_matrix(n: int = MANY) -> str:
    """Time and peak memory of a fit whose kernel matrix is never held."""
    import resource
    from time import perf_counter

    from mercer import KernelPCA

    X = points(n)
    begin = perf_counter()
    pca = KernelPCA(COMPONENTS, kernel="rbf", gamma=0.02, random_state=0).fit(X)
    seconds = perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    certificate = pca.certificate_
    return (
        f"{n} points, gamma=0.02, no matrix: {seconds:.1f} s, {certificate.n_iter} products, "
        f"residual {certificate.kkt_violation:.0e}, peak of the process {peak:.0f} MB"
    )


def text(found: list[Comparison]) -> str:
    lines = [
        f"Kernel PCA, seconds of a fit of {COMPONENTS} components (scikit-learn: arpack)",
        f"{'case':<36}{'mercer':>9}{'sklearn':>9}{'ratio':>7}",
    ]
    lines += [f"{c.name:<36}{c.ours:>9.3f}{c.theirs:>9.3f}{c.ratio:>7.2f}  {c.note}" for c in found]
    lines.append(f"{'mean of the ratios':<54}{np.mean([c.ratio for c in found]):>7.2f}")
    return "\n".join(lines)


def report(quick: bool) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = text(compare(quick))
        return lines if quick else f"{lines}\n{without_matrix()}"


if __name__ == "__main__":
    print(report("--quick" in sys.argv))
