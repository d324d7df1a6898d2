"""Bounds that need only the number of support vectors.

A hard-margin machine can be rebuilt from its support vectors alone, so they are a compressed
form of the training set; and leaving out a point that is not one changes nothing.
"""

from __future__ import annotations

import math

__all__ = ["compression_bound", "loo_bound"]


def compression_bound(n_sv: int, n_samples: int, delta: float = 0.05, base: float = 2) -> float:
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

    Returns
    -------
    float
        The bound; values of 1 or more say nothing.

    Examples
    --------
    >>> from mercer.capacity import compression_bound
    >>> round(compression_bound(50, 1000, delta=0.05), 5)
    0.31844
    """
    _check_counts(n_sv, n_samples)
    if n_sv == n_samples:
        raise ValueError("the bound needs at least one point that is not a support vector.")
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must lie between 0 and 1; got {delta!r}.")
    if not base > 1.0:
        raise ValueError(f"base must be larger than 1; got {base!r}.")
    size = n_sv * math.log(math.e * n_samples / n_sv) if n_sv else 0.0
    return (size + math.log(n_samples / delta)) / math.log(base) / (n_samples - n_sv)


def loo_bound(n_sv: int, n_samples: int) -> float:
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
    """
    _check_counts(n_sv, n_samples)
    return n_sv / n_samples


def _check_counts(n_sv: int, n_samples: int) -> None:
    if not 0 <= n_sv <= n_samples or n_samples < 1:
        raise ValueError(
            "need 0 <= n_sv <= n_samples and at least one sample; "
            f"got n_sv={n_sv}, n_samples={n_samples}."
        )
