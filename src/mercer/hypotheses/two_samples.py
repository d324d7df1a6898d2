r"""The two-sample test by the maximum mean discrepancy.

Hypothesis: two samples come from one distribution. Statistic: the squared distance of their means
in feature space,

.. math:: \mathrm{MMD}^2 = E k(x, x') + E k(y, y') - 2 E k(x, y),

estimated with all pairs ("biased"), without the pairs of an object with itself ("unbiased"), or
with disjoint pairs, in linear time ("linear"). A. Gretton, K. Borgwardt, M. Rasch, B. Schoelkopf,
A. Smola, "A kernel two-sample test", JMLR 13, 2012.

A permutation is a column u of zeros and ones over the pooled objects, and its statistic follows
from u'Ku, 1'Ku and the diagonal: one product of the pooled kernel matrix, which is not stored, with
many columns. The linear statistic is a sum of terms that change their sign when an x and a y are
exchanged, so random signs are its permutations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.features.seeds import generator
from mercer.gram import Gram
from mercer.objects.arrays import Array
from mercer.objects.parameters import integer, positive, require_choice
from mercer.objects.tables import is_frame, stacked
from mercer.objects.validation import count

from .result import PermutationTest, autoregressive, concluded, resolved

STATISTICS = ("unbiased", "biased", "linear")

_COLUMNS = 128  # permutations that are multiplied at once


def mmd_test(
    X: Any,
    Y: Any,
    kernel: Any = None,
    *,
    statistic: str = "unbiased",
    n_permutations: int = 999,
    dependence: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> PermutationTest:
    """Test whether two samples come from one distribution.

    Parameters
    ----------
    X, Y : objects
        The samples, at least two objects each. Two data frames must have the same columns in the
        same order.
    kernel : Kernel, str or callable, optional
        A kernel on the objects, or its name; by default a Gaussian kernel whose width is the median
        distance of the pooled rows.
    statistic : {"unbiased", "biased", "linear"}, default="unbiased"
        The estimate of the squared distance. "linear" uses disjoint pairs of the first
        min(n_X, n_Y) objects, in linear time, and has less power.
    n_permutations : int >= 1, default=999
        Number of permutations. The smallest p-value is 1 / (1 + n_permutations).
    dependence : float > 0, optional
        For two series of equal length, which are not exchangeable: the time over which values stay
        dependent. The null distribution is then that of a wild bootstrap with multipliers of this
        correlation length, for the biased statistic; it holds for long series.
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
    >>> from mercer import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(80, 2)), 2.0 * rng.normal(size=(50, 2))
    >>> mmd_test(X, Y, n_permutations=199, random_state=0).p_value
    0.005
    """
    require_choice(statistic, "statistic", STATISTICS)
    number = integer(n_permutations, "n_permutations", minimum=1)
    n, m = count(X), count(Y)
    if min(n, m) < 2:
        raise ValueError(f"each sample needs at least two objects; got {n} and {m}.")
    pooled = _pooled(X, Y)
    kernel, pooled = resolved(kernel, pooled, "kernel").bound_to(pooled)
    gram = Gram(kernel, pooled, "float64")
    rng = generator(random_state)
    if dependence is not None:
        return _bootstrapped(gram, n, m, number, positive(dependence, "dependence"), rng, n_jobs)
    scale = float(np.abs(gram.diag()).mean())
    if statistic == "linear":
        terms = _disjoint(gram, n, min(n, m) // 2)
        signs = rng.choice([-1.0, 1.0], size=(number, len(terms)))
        return concluded(float(terms.mean()), signs @ terms / len(terms), (kernel,), scale)
    members = np.zeros((n + m, number + 1))
    members[:n, 0] = 1.0
    for b in range(1, number + 1):
        members[rng.permutation(n + m)[:n], b] = 1.0
    values = _quadratic(gram, members, n, m, statistic == "unbiased", n_jobs)
    return concluded(float(values[0]), values[1:], (kernel,), scale)


def _quadratic(
    gram: Gram, members: Array, n: int, m: int, unbiased: bool, n_jobs: int | None
) -> Array:
    """Return the statistics of columns that mark the objects of the first sample."""
    diagonal = gram.diag()
    sums = gram.matmul(np.ones(gram.n), n_jobs)  # sum_j k(x_i, x_j)
    total = float(sums.sum())
    values = np.empty(members.shape[1])
    for first in range(0, members.shape[1], _COLUMNS):
        u = members[:, first : first + _COLUMNS]
        within = np.einsum("ij,ij->j", u, gram.matmul(u, n_jobs))
        across = sums @ u - within
        others = total - within - 2.0 * across
        if unbiased:
            own = diagonal @ u
            left = (within - own) / (n * (n - 1))
            right = (others - (diagonal.sum() - own)) / (m * (m - 1))
        else:
            left, right = within / n**2, others / m**2
        values[first : first + _COLUMNS] = left + right - 2.0 * across / (n * m)
    return values


def _disjoint(gram: Gram, n: int, pairs: int) -> Array:
    """Return k(x, x') + k(y, y') - k(x, y') - k(x', y) over disjoint pairs of objects."""
    terms = np.empty(pairs)
    for i in range(pairs):
        a, b, c, d = 2 * i, 2 * i + 1, n + 2 * i, n + 2 * i + 1
        K = gram.tile([a, c], [b, d])
        terms[i] = K[0, 0] + K[1, 1] - K[0, 1] - K[1, 0]
    return terms


def _bootstrapped(
    gram: Gram,
    n: int,
    m: int,
    number: int,
    length: float,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> PermutationTest:
    if n != m:
        raise ValueError(f"dependence needs two series of equal length; got {n} and {m}.")
    # Not centred, which would make the null distribution narrower than that of the statistic: its
    # terms have mean 0 under the hypothesis.
    multipliers = autoregressive(n, number, length, rng)
    V = np.vstack([multipliers, -multipliers]) / n
    null = np.concatenate(
        [
            np.einsum("ij,ij->j", part, gram.matmul(part, n_jobs))
            for part in np.array_split(V, max(1, number // _COLUMNS), axis=1)
        ]
    )
    v = np.concatenate([np.ones(n), -np.ones(n)]) / n
    scale = float(np.abs(gram.diag()).mean())
    return concluded(float(v @ gram.matmul(v, n_jobs)), null, (gram.kernel,), scale)


def _pooled(X: Any, Y: Any) -> Any:
    """Return the objects of both samples, which must have the same columns; frames as a frame."""
    if is_frame(X) and is_frame(Y) and list(X.columns) != list(Y.columns):
        raise ValueError(
            f"X and Y must have the same columns in the same order; X has {list(X.columns)}, Y has "
            f"{list(Y.columns)}. Select and order them: Y[list(X.columns)]."
        )
    widths = [part.shape[1] for part in (X, Y) if len(getattr(part, "shape", ())) == 2]
    if len(set(widths)) > 1:
        raise ValueError(
            f"X and Y must have the same columns; X has {widths[0]}, Y has {widths[1]}."
        )
    return stacked(X, Y)
