r"""The test of independence by the Hilbert-Schmidt criterion.

Hypothesis: the paired variables x and y are independent. Statistic:

.. math:: \mathrm{HSIC} = n^{-2} \sum_{ij} \tilde K_{ij} \tilde L_{ij},

the squared Hilbert-Schmidt norm of the empirical cross-covariance, from the centred kernel matrices
of x and of y. A. Gretton, K. Fukumizu, C. Teo, L. Song, B. Schoelkopf, A. Smola, "A kernel
statistical test of independence", NIPS 2007.

Since a centred matrix has no row sums, centring one of the two is enough. Permutations reorder the
objects y. The matrices are visited a few rows at a time.

For series, :math:`n^{-2} \sum_{ij} W_i W_j \tilde K_{ij} \tilde L_{ij}` with correlated multipliers
W gives the null distribution (wild bootstrap). The multipliers are centred, since otherwise part of
the statistic itself enters its null distribution and costs power, and divided by the standard
deviation that centring leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.features.seeds import generator
from mercer.gram import Gram
from mercer.objects.arrays import Array
from mercer.objects.parameters import integer, positive
from mercer.objects.validation import count

from .result import PermutationTest, autoregressive, concluded, resolved

_ROWS = 256  # of the centred matrix that are computed at a time
_KEPT_BYTES = 2**28  # of the values between the objects y, which all permutations visit again


def hsic_test(
    X: Any,
    Y: Any,
    kernel: Any = None,
    kernel_y: Any = None,
    *,
    n_permutations: int = 999,
    dependence: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> PermutationTest:
    """Test whether paired variables are independent.

    Parameters
    ----------
    X, Y : objects
        The pairs: as many objects of each, at least four.
    kernel, kernel_y : Kernel, str or callable, optional
        Kernels on the objects of X and of Y, or their names; by default Gaussian kernels whose
        width is the median distance.
    n_permutations : int >= 1, default=999
        Number of permutations. The smallest p-value is 1 / (1 + n_permutations).
    dependence : float > 0, optional
        For two series, whose values are not exchangeable: the time over which values stay
        dependent, shorter than the series. The null distribution is then that of a wild bootstrap;
        it holds for long series.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    PermutationTest
        The statistic, the p-value and the null distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import hsic_test
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(80, 1))
    >>> y = x**2 + 0.3 * rng.normal(size=(80, 1))  # dependent, with correlation near 0
    >>> hsic_test(x, y, n_permutations=199, random_state=0).p_value
    0.005
    """
    number = integer(n_permutations, "n_permutations", minimum=1)
    n = count(X)
    if count(Y) != n or n < 4:
        raise ValueError(
            f"hsic_test needs as many objects of Y as of X, at least four; got {n} and {count(Y)}."
        )
    first = Gram(*resolved(kernel, X, "kernel").bound_to(X), "float64")
    second = Gram(*resolved(kernel_y, Y, "kernel_y").bound_to(Y), "float64")
    rng = generator(random_state)
    centred = _Centred(first, n_jobs)
    if dependence is not None:
        return _bootstrapped(
            centred,
            _Centred(second, n_jobs),
            number,
            positive(dependence, "dependence"),
            rng,
        )
    rows_of = _rows(second, n_jobs)
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(number))]
    values = np.zeros(number + 1)
    for start in range(0, n, _ROWS):
        rows = np.arange(start, min(start + _ROWS, n))
        K = centred.rows(rows)
        for b, order in enumerate(orders):
            values[b] += np.einsum("ij,ij->", K, rows_of(order[rows])[:, order])
    values /= n**2
    return _concluded(float(values[0]), values[1:], first, second)


def _concluded(statistic: float, null: Array, first: Gram, second: Gram) -> PermutationTest:
    scale = float(np.abs(first.diag()).mean() * np.abs(second.diag()).mean())
    return concluded(statistic, null, (first.kernel, second.kernel), scale)


class _Centred:
    """Rows of a kernel matrix that is centred on both sides."""

    def __init__(self, gram: Gram, n_jobs: int | None) -> None:
        self.gram, self.n_jobs = gram, n_jobs
        self.means = gram.matmul(np.full(gram.n, 1.0 / gram.n), n_jobs)
        self.mean = float(self.means.mean())

    def rows(self, rows: NDArray[np.intp]) -> Array:
        tile = np.asarray(self.gram.tile(rows, n_jobs=self.n_jobs), dtype=np.float64)
        return tile - self.means - self.means[rows][:, None] + self.mean


def _rows(gram: Gram, n_jobs: int | None) -> Callable[[NDArray[np.intp]], Array]:
    """Return what gives rows of a kernel matrix, from memory where the matrix is small."""
    if 8 * gram.n**2 <= _KEPT_BYTES:
        kept = gram.tile(n_jobs=n_jobs)
        return lambda rows: kept[rows]
    return lambda rows: gram.tile(rows, n_jobs=n_jobs)


def _bootstrapped(
    first: _Centred,
    second: _Centred,
    number: int,
    length: float,
    rng: np.random.Generator,
) -> PermutationTest:
    n = first.gram.n
    W = autoregressive(n, number, length, rng)
    W -= W.mean(axis=0)
    lags = np.arange(n)
    of_mean = (2.0 * (n - lags) @ np.exp(-lags / length) - n) / n**2  # the mean of exp(-|i-j|/l)
    W /= np.sqrt(1.0 - of_mean)
    statistic, null = 0.0, np.zeros(number)
    for start in range(0, n, _ROWS):
        rows = np.arange(start, min(start + _ROWS, n))
        products = first.rows(rows) * second.rows(rows)
        statistic += float(products.sum())
        null += np.einsum("ij,ij->j", W[rows], products @ W)
    return _concluded(statistic / n**2, null / n**2, first.gram, second.gram)
