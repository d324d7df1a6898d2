"""The outcome of a permutation test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.kernels import RBF, Kernel, resolve
from mercer.objects.arrays import Array
from mercer.selection import bandwidth

_TIES = 1e-12  # relative difference below which two statistics count as equal
_ULPS = 64.0  # the same in units of the last place of the kernel values that are averaged


@dataclass(frozen=True)
class PermutationTest:
    """The outcome of a test whose null distribution is drawn by permutations.

    Attributes
    ----------
    statistic : float
        The value of the statistic on the data.
    p_value : float
        (1 + number of permuted statistics that are at least as large) / (1 + n_permutations). Where
        objects are exchangeable under the hypothesis, rejecting at p_value <= alpha is wrong with
        probability at most alpha, for any number of objects.
    null : array of shape (n_permutations,)
        The statistics of the permuted data.
    n_permutations : int
        Number of permutations.
    kernels : tuple of Kernel
        The kernels with all parameters resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(30, 1)), 2 + rng.normal(size=(30, 1))
    >>> test = mmd_test(a, b, n_permutations=99, random_state=0)
    >>> test.p_value, test.n_permutations
    (0.01, 99)
    """

    statistic: float
    p_value: float
    null: Array
    n_permutations: int
    kernels: tuple[Any, ...]

    def __str__(self) -> str:
        return (
            f"statistic {self.statistic:.6g}, p-value {self.p_value:.4g} "
            f"({self.n_permutations} permutations)"
        )


def concluded(
    statistic: float, null: Array, kernels: tuple[Any, ...], scale: float
) -> PermutationTest:
    """Return the outcome; a permuted statistic that is equal up to rounding counts as larger.

    `scale`: the mean size of what is averaged, whose rounding a small statistic inherits.
    """
    margin = _TIES * max(abs(statistic), float(np.abs(null).max(initial=0.0)))
    margin = max(margin, _ULPS * float(np.finfo(float).eps) * scale)
    larger = int(np.count_nonzero(null >= statistic - margin))
    return PermutationTest(statistic, (1 + larger) / (1 + len(null)), null, len(null), kernels)


def resolved(kernel: Any, X: Any, name: str) -> Kernel:
    """Return the kernel that a test was given: an object, a name, a function, or None.

    `X`: the rows that give the width of the default, a Gaussian kernel. `name`: of the parameter.
    """
    if kernel is None:
        return RBF(bandwidth(X).gamma)
    kernel = resolve(kernel, "scale", 3, 0.0)
    if kernel.pairwise:
        raise ValueError(
            f"{name} is evaluated on objects; a precomputed matrix has none. Pass FiniteMatrix(K) "
            "with positions as the objects."
        )
    return kernel


def autoregressive(n: int, number: int, length: float, rng: np.random.Generator) -> Array:
    """Return multipliers of the wild bootstrap (n, number): unit variance, correlated over time.

    W_t = exp(-1/length) W_(t-1) + sqrt(1 - exp(-2/length)) e_t with standard normal e_t
    (K. Chwialkowski, D. Sejdinovic, A. Gretton, "A wild bootstrap for degenerate kernel tests",
    NIPS 2014).
    """
    if length >= n:
        raise ValueError(
            f"dependence={length:g} must be smaller than the length of the series, {n}, of which "
            "too few independent parts are left otherwise; use longer series."
        )
    decay = float(np.exp(-1.0 / length))
    noise = rng.standard_normal((n, number))
    noise[1:] *= np.sqrt(1.0 - decay**2)
    for t in range(1, n):
        noise[t] += decay * noise[t - 1]
    return noise
