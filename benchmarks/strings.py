"""Kernel matrices of strings, next to what one would write without mercer.

Spectra next to scikit-learn's CountVectorizer with the dot products of its counts; subsequences
next to the recursion in NumPy; both next to kernlab's stringdot, where R and kernlab are installed.
The values are compared before anything is timed. kernlab's `sequence` agrees with the definition;
its `spectrum` counts one substring too many per string, so only its time is taken. Last a fit: SVC
on strings next to scikit-learn's on their counts.

    python -m benchmarks.strings
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.measure import best

Matrix = NDArray[np.float64]
_SECONDS = 2.0
"""Time in which a short computation is repeated."""


@dataclass(frozen=True)
class Comparison:
    """One kernel matrix or fit: seconds of mercer and of a peer, which may be missing."""

    kernel: str
    strings: str
    seconds: float
    peer: str = ""
    peer_seconds: float | None = None
    wanted: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the peer."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds


def dna(n: int, length: int, seed: int = 0) -> list[str]:
    """Return random strings over four letters."""
    letters = np.random.default_rng(seed).choice(list("ACGT"), size=(n, length))
    return ["".join(row) for row in letters]


def vectorized_spectrum(strings: list[str], p: int) -> Matrix:
    """Return the spectrum kernel by way of scikit-learn's counts."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(analyzer="char", ngram_range=(p, p), lowercase=False)
    features = counts.fit_transform(strings)
    return (features @ features.T).toarray()


def numpy_subsequence(rows: list[str], columns: list[str], n: int, decay: float) -> Matrix:
    """Return gap-weighted subsequences of equally long strings by the recursion in NumPy.

    One string against all columns at once; the sum over the positions of a letter is a cumulative
    one, so that the only loops are those over the strings, their letters and the lengths.
    """
    letters = np.array([[ord(c) for c in s] for s in columns])
    powers = decay ** np.arange(1.0, letters.shape[1] + 1)
    out = np.zeros((len(rows), len(columns)))
    for i, s in enumerate(rows):
        prime = [np.ones((len(columns), letters.shape[1] + 1))]
        prime += [np.zeros_like(prime[0]) for _ in range(n - 1)]
        for x in s:
            match = letters == ord(x)
            out[i] += decay**2 * (match * prime[n - 1][:, :-1]).sum(axis=1)
            for p in range(n - 1, 0, -1):
                ends = np.cumsum(match * prime[p - 1][:, :-1] / powers, axis=1) * powers
                prime[p] *= decay
                prime[p][:, 1:] += decay**2 * ends
    return out


KERNLAB = """
suppressPackageStartupMessages(library(kernlab))
strings <- as.list(readLines(file("stdin")))
kernel <- stringdot({arguments}, normalized = FALSE)
cat(system.time(kernelMatrix(kernel, strings))[["elapsed"]])
"""


def kernlab_seconds(strings: list[str], arguments: str) -> float | None:
    """Return the time of kernlab's stringdot on these strings; None without R or kernlab."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    done = subprocess.run(
        [rscript, "-e", KERNLAB.format(arguments=arguments)],
        input="\n".join(strings) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return float(done.stdout) if done.returncode == 0 and done.stdout else None


def compare(quick: bool = False, progress: Callable[[str], None] = lambda line: None) -> list:
    """Return all comparisons; with `quick` on a few strings."""
    from mercer.kernels import Mismatch, Spectrum, Subsequence

    many, some = (200, 60) if quick else (2000, 500)
    long, short = dna(many, 140), dna(some, 100)
    found: list[Comparison] = []

    def add(kernel: Any, X: list[str], peer: str, seconds: float | None, wanted: float) -> None:
        progress(f"{kernel!r}")
        own = best(lambda: kernel(X), _SECONDS, 20)
        size = f"{len(X)} of length {len(X[0])}"
        found.append(Comparison(repr(kernel), size, own, peer, seconds, wanted))

    spectrum, subsequence = Spectrum(p=6), Subsequence(n=4, decay=0.5)
    _require_equal(spectrum(long), vectorized_spectrum(long, 6))
    progress("CountVectorizer")
    seconds = best(lambda: vectorized_spectrum(long, 6), _SECONDS, 5)
    add(spectrum, long, "CountVectorizer", seconds, 10.0)

    # A few rows are enough to know the time of all: each costs the same, and half of the matrix
    # is the mirror image of the other half.
    rows = short[:4]
    _require_equal(subsequence(rows, short), numpy_subsequence(rows, short, 4, 0.5))
    progress("NumPy")
    seconds = best(lambda: numpy_subsequence(rows, short, 4, 0.5), _SECONDS, 3)
    add(subsequence, short, "NumPy", seconds / len(rows) * (some + 1) / 2, 40.0)

    for kernel, X, arguments in (
        (subsequence, dna(100, 100, seed=1), 'type = "sequence", length = 4, lambda = 0.5'),
        (spectrum, dna(300, 140, seed=1), 'type = "spectrum", length = 6'),
    ):
        progress("kernlab")
        seconds_of_r = None if quick else kernlab_seconds(X, arguments)
        if seconds_of_r is not None:
            add(kernel, X, "kernlab", seconds_of_r, 100.0)
    mismatch = Mismatch(k=6, m=1, alphabet="ACGT")
    progress(f"{mismatch!r}")
    own = best(lambda: mismatch(long), 0.0, 1)
    found.append(Comparison(repr(mismatch), f"{many} of length 140", own))
    progress("SVC")
    found.append(compare_fits(2 * many))
    return found


def compare_fits(n: int) -> Comparison:
    """Return the times of SVC on strings of which one class has a motif in 80 of 100."""
    from sklearn import svm
    from sklearn.feature_extraction.text import CountVectorizer

    from mercer import SVC
    from mercer.kernels import Spectrum

    random = np.random.default_rng(2)
    y = random.integers(0, 2, n)
    marked = (y == 1) & (random.random(n) < 0.8)
    strings = [
        s[:60] + "GATTACA" + s[67:] if has else s
        for s, has in zip(dna(n, 140, seed=2), marked, strict=True)
    ]

    def peer() -> Any:
        counts = CountVectorizer(analyzer="char", ngram_range=(6, 6), lowercase=False)
        features = counts.fit_transform(strings).astype(np.float64)
        return svm.SVC(kernel="linear").fit(features, y), features

    machine = SVC(kernel=Spectrum(p=6)).fit(strings, y)
    other, features = peer()
    own_values = machine.decision_function(strings)
    if np.abs(own_values - other.decision_function(features)).max() > 0.05:
        raise ValueError("a machine on strings differs from that of the peer")
    seconds = best(lambda: SVC(kernel=Spectrum(p=6)).fit(strings, y), _SECONDS, 3)
    return Comparison(
        "SVC, Spectrum(p=6)", f"{n} of length 140", seconds, "SVC on counts", best(peer, 0.0, 1)
    )


def text(comparisons: list[Comparison]) -> str:
    """Return the table that is printed."""
    head = ["kernel", "strings", "mercer s", "peer", "peer s", "ratio", "wanted"]
    rows = [
        [
            c.kernel,
            c.strings,
            report.seconds(c.seconds),
            c.peer or "-",
            report.seconds(c.peer_seconds),
            report.ratio(c.ratio),
            "-" if c.ratio is None or c.wanted is None else f"{c.wanted:.0f}",
        ]
        for c in comparisons
    ]
    return report.table("Kernel matrices of strings, and a fit (best run)", head, rows)


def _require_equal(found: Matrix, expected: Matrix) -> None:
    if not np.allclose(found, expected, rtol=1e-10, atol=0):
        raise ValueError("a kernel matrix of strings differs from that of the peer")


if __name__ == "__main__":
    print(report.machine([]).strip())
    print(text(compare()))
