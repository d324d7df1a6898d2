"""Bounds that need only the number of support vectors.

A hard-margin machine can be rebuilt from its support vectors alone, so they are a compressed
form of the training set; and leaving out a point that is not one changes nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.objects.parameters import require_choice

from .bound import INDEPENDENT, Bound, Condition, bound, state

__all__ = ["CompressionScheme", "compression_bound", "loo_bound", "optimal_compression_prior"]

BOOK = "Cristianini and Shawe-Taylor"
REBUILT = Condition("the support vectors alone give back the same function")
CONSISTENT = Condition("the machine makes no training error")


@bound("error", f"{BOOK}, Theorem 4.25", [INDEPENDENT, REBUILT, CONSISTENT])
def compression_bound(
    n_sv: int,
    n_samples: int,
    delta: float = 0.05,
    base: float = 2,
    exact_binomial: bool = False,
    prior: Mapping[int, float] | float | None = None,
) -> Bound:
    """Return the sample-compression bound on the error of a consistent machine.

    With d support vectors among l points drawn independently from one distribution, the error of
    a machine that makes no training error exceeds

        (d log(e l / d) + log(l / delta)) / (l - d)

    with probability at most `delta`. For no support vector the first term is 0.

    Parameters
    ----------
    n_sv : int
        Number of support vectors d, fewer than `n_samples`.
    n_samples : int
        Number of training points l.
    delta : float, default=0.05
        Probability with which the bound may fail, in (0, 1).
    base : float, default=2
        Base of the logarithms. 2 is the form printed in the literature; its proof gives natural
        logarithms, the tightest form that holds: ``base=math.e``.
    exact_binomial : bool, default=False
        Whether to use the binomial coefficient of l over d instead of its bound (e l / d)^d.
    prior : float or mapping, optional
        Share of `delta` given to d support vectors before the data were seen, or a mapping from
        d to it; the shares sum to at most 1. Uniform by default: 1 / l.

    Returns
    -------
    Bound
        Values of 1 or more say nothing.

    Examples
    --------
    >>> from mercer.capacity import compression_bound
    >>> round(float(compression_bound(50, 1000, delta=0.05)), 5)
    0.31844
    """
    _check_counts(n_sv, n_samples)
    if n_sv == n_samples:
        raise ValueError("the bound needs at least one point that is not a support vector.")
    share = 1 / n_samples if prior is None else _share(prior, n_sv)
    scale = math.log(base) * (n_samples - n_sv)
    if exact_binomial:
        size = math.log(math.comb(n_samples, n_sv))
    else:
        size = n_sv * math.log(math.e * n_samples / n_sv) if n_sv else 0.0
    terms = {"complexity": size / scale, "confidence": math.log(1 / (delta * share)) / scale}
    too_large = [] if base <= math.e else [Condition("base <= e", "violated", f"base={base:g}")]
    return state(terms, *too_large)


def optimal_compression_prior(p: ArrayLike, n_samples: int) -> NDArray[np.float64]:
    """Return the shares of delta that minimise the expected compression bound.

    If d = 1, 2, ... support vectors are expected with probabilities p_d, the shares are
    proportional to p_d / (n_samples - d). The shares p_d themselves can be worse than uniform.

    Parameters
    ----------
    p : array-like
        Probabilities of 1, 2, ... support vectors, fewer than `n_samples` of them.
    n_samples : int
        Number of training points.

    Returns
    -------
    ndarray
        The shares, one for each number of support vectors.

    Examples
    --------
    >>> from mercer.capacity import optimal_compression_prior
    >>> optimal_compression_prior([0.5, 0.3, 0.2], n_samples=4).round(6)
    array([0.322581, 0.290323, 0.387097])
    """
    expected = np.asarray(p, dtype=float)
    if expected.ndim != 1 or len(expected) >= n_samples:
        raise ValueError(f"p must list probabilities for 1 to at most {n_samples - 1} vectors.")
    if np.any(expected < 0) or abs(expected.sum() - 1) > 1e-9:
        raise ValueError("p must be probabilities that sum to 1.")
    shares = expected / (n_samples - np.arange(1, len(expected) + 1))
    return shares / shares.sum()


@bound("leave-one-out error", f"{BOOK}, Remark 6.9", [REBUILT, CONSISTENT])
def loo_bound(n_sv: int, n_samples: int) -> Bound:
    """Return the number of support vectors over the number of points.

    It bounds the leave-one-out error: a point that is not a support vector is classified
    correctly by the machine trained without it. In expectation over training sets it therefore
    bounds the error of machines trained on one point fewer; for a single training set it is an
    estimate of high variance.

    Parameters
    ----------
    n_sv : int
        Number of support vectors.
    n_samples : int
        Number of training points.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import loo_bound
    >>> float(loo_bound(n_sv=5, n_samples=50))
    0.1
    """
    _check_counts(n_sv, n_samples)
    return state({"support vectors": n_sv / n_samples})


class CompressionScheme:
    """A rule that makes a classifier of a few points, from which all labels can be recovered.

    Parameters
    ----------
    rule : callable
        ``rule(X, y)`` returns a function that predicts labels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import CompressionScheme
    >>> def midpoint(X, y):
    ...     middle = (X[y > 0].min(initial=9) + X[y < 0].max(initial=-9)) / 2
    ...     return lambda Z: np.where(Z[:, 0] >= middle, 1, -1)
    >>> X, y = np.arange(6.0)[:, None], np.array([-1, -1, -1, 1, 1, 1])
    >>> CompressionScheme(midpoint).compress(X, y).tolist()
    [0, 5]
    """

    def __init__(self, rule: Callable[[Any, Any], Callable[[Any], Any]]) -> None:
        self.rule = rule

    def reproduces(self, X: ArrayLike, y: ArrayLike, indices: ArrayLike) -> bool:
        """Return whether the classifier of these points labels all points correctly."""
        points, labels = np.asarray(X), np.asarray(y)
        chosen = np.asarray(indices, dtype=int)
        return bool(np.all(np.asarray(self.rule(points[chosen], labels[chosen])(points)) == labels))

    def compress(
        self, X: ArrayLike, y: ArrayLike, method: str = "exact", start: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Return indices of points from which the labels of all are recovered.

        Parameters
        ----------
        X, y : array-like
            Data that the rule classifies without error.
        method : {"exact", "greedy", "support_vectors"}, default="exact"
            "exact": a smallest set, by trying all, for at most 16 points. "greedy": points are
            dropped one by one while the labels can be recovered. "support_vectors": `start`,
            checked.
        start : array-like, optional
            Indices to begin with, such as ``model.support_``; all points by default.
        """
        require_choice(method, "method", ("exact", "greedy", "support_vectors"))
        n = len(np.asarray(y))
        candidates = np.arange(n) if start is None else np.asarray(start, dtype=np.int64)
        if method == "exact":
            if n > 16:
                raise ValueError(f"{n} points have too many subsets; use method='greedy'.")
            for size in range(1, n + 1):
                for subset in itertools.combinations(candidates, size):
                    if self.reproduces(X, y, subset):
                        return np.array(subset, dtype=np.int64)
            raise ValueError("no subset recovers all labels: the rule is not consistent.")
        if not self.reproduces(X, y, candidates):
            raise ValueError("these points do not recover all labels: no compression set.")
        if method == "greedy":
            for i in list(candidates):
                fewer = candidates[candidates != i]
                if len(fewer) and self.reproduces(X, y, fewer):
                    candidates = fewer
        return candidates

    def generalization_bound(self, n_kept: int, n_samples: int, delta: float = 0.05) -> Bound:
        """Return the compression bound with natural logarithms, the form that is proved."""
        return compression_bound(n_kept, n_samples, delta, base=math.e)


def _share(prior: Mapping[int, float] | float, n_sv: int) -> float:
    if isinstance(prior, Mapping):
        if sum(prior.values()) > 1 + 1e-12:
            raise ValueError("the shares of a prior must sum to at most 1.")
        share = prior.get(n_sv, 0.0)
    else:
        share = prior
    if not 0 < share <= 1:
        raise ValueError(f"the prior must give {n_sv} support vectors a share in (0, 1].")
    return float(share)


def _check_counts(n_sv: int, n_samples: int) -> None:
    if not 0 <= n_sv <= n_samples or n_samples < 1:
        raise ValueError(
            "need 0 <= n_sv <= n_samples and at least one sample; "
            f"got n_sv={n_sv}, n_samples={n_samples}."
        )
