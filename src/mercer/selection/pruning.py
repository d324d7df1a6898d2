"""Early pruning: candidates that a few splits show to be hopeless are not evaluated on the rest.

After m >= 3 splits, a candidate is compared with the one of the best mean so far by its
differences d_k = score - best score on the splits they both have. It is pruned if

    mean(d) + t sqrt((1/m + n_test / n_train)) sd(d) < 0,

with t the 99 % quantile of Student's distribution with m - 1 degrees of freedom: the corrected
resampled t test (C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning
52, 2003), one-sided, at level 0.01. The correction allows for the training rows that splits share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Array = NDArray[np.float64]

LEAST = 3
"""Splits before the first candidate may be pruned."""

LEVEL = 0.01


def hopeless(scores: Array, ratio: float) -> NDArray[np.bool_]:
    """Return which candidates are significantly worse than the best one.

    Parameters
    ----------
    scores : array of shape (n_candidates, m)
        Scores on the splits so far, larger is better; NaN where a candidate has none.
    ratio : float
        Test rows per training row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection.pruning import hopeless
    >>> hopeless(np.array([[0.90, 0.92, 0.91], [0.89, 0.93, 0.90], [0.5, 0.53, 0.51]]), 0.25)
    array([False, False,  True])
    """
    whole: NDArray[np.bool_] = np.asarray(np.isfinite(scores).all(axis=1))
    m = scores.shape[1]
    if m < LEAST or not whole.any():
        return np.zeros(len(scores), dtype=bool)
    means = np.where(whole, np.where(whole[:, None], scores, 0.0).mean(axis=1), -np.inf)
    difference = scores - scores[int(means.argmax())]
    with np.errstate(invalid="ignore"):
        spread = difference.std(axis=1, ddof=1) * np.sqrt(1.0 / m + ratio)
        upper = difference.mean(axis=1) + student.ppf(1.0 - LEVEL, m - 1) * spread
        return whole & (upper < 0.0)
