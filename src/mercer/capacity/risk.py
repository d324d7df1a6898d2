"""Risks and estimates of them on data: errors with costs, cross-validation with its spread.

An estimate is not a bound: its expectation is right, but on one data set it may lie far from the
error of the function that was fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Estimate", "cross_validation_estimate", "empirical_risk"]


def empirical_risk(
    y: ArrayLike, predicted: ArrayLike, false_positive: float = 1.0, false_negative: float = 1.0
) -> float:
    """Return the mean cost of the predictions, labels being 1 and -1.

    With costs 1 it is the share of errors, (1/2l) sum |y_i - h(x_i)|.

    Parameters
    ----------
    y, predicted : array-like
        Labels and predicted labels.
    false_positive, false_negative : float
        Cost of predicting 1 for -1, and of predicting -1 for 1.

    Returns
    -------
    float
        The mean cost.

    Examples
    --------
    >>> from mercer.capacity import empirical_risk
    >>> empirical_risk([1, 1, -1, -1], [1, -1, 1, 1], false_positive=2.0)
    1.25
    """
    labels, answers = np.asarray(y, dtype=float), np.asarray(predicted, dtype=float)
    if labels.shape != answers.shape or not labels.size:
        raise ValueError("need one prediction per label and at least one.")
    if not np.all(np.abs(np.append(labels, answers)) == 1):
        raise ValueError("labels and predictions must be 1 or -1.")
    if false_positive < 0 or false_negative < 0:
        raise ValueError("costs must not be negative.")
    wrong_up, wrong_down = answers > labels, answers < labels
    return float(np.mean(false_positive * wrong_up + false_negative * wrong_down))


@dataclass(frozen=True)
class Estimate:
    """Errors on the folds of a cross-validation, with their mean and spread.

    Attributes
    ----------
    folds : ndarray
        Error on each fold.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.capacity import cross_validation_estimate
    >>> from mercer.data import rings
    >>> X, y = rings(60, random_state=0)
    >>> estimate = cross_validation_estimate(lambda X, y: SVC().fit(X, y).predict, X, y)
    >>> len(estimate.folds)
    5
    """

    folds: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean of the errors."""
        return float(self.folds.mean())

    @property
    def spread(self) -> float:
        """Standard deviation of the errors of single folds."""
        return float(self.folds.std(ddof=1))


def cross_validation_estimate(
    fit: Callable[[Any, Any], Callable[[Any], Any]],
    X: ArrayLike,
    y: ArrayLike,
    n_folds: int = 5,
    seed: int = 0,
) -> Estimate:
    """Return the errors of k-fold cross-validation.

    Parameters
    ----------
    fit : callable
        ``fit(X, y)`` returns a function that predicts labels.
    X, y : array-like
        Data.
    n_folds : int, default=5
        From 2 to the number of samples, which is leave-one-out.
    seed : int, default=0
        The samples are shuffled.

    Returns
    -------
    Estimate
        The errors of k-fold cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import cross_validation_estimate
    >>> majority = lambda X, y: (lambda Z: np.full(len(Z), 1 if np.sum(y) >= 0 else -1))
    >>> cross_validation_estimate(majority, np.zeros((10, 1)), [1] * 9 + [-1]).mean
    0.1
    """
    points, labels = np.asarray(X), np.asarray(y)
    if not 2 <= n_folds <= len(labels):
        raise ValueError(f"n_folds must lie between 2 and {len(labels)}; got {n_folds}.")
    order = np.random.default_rng(seed).permutation(len(labels))
    errors = []
    for held_out in np.array_split(order, n_folds):
        rest = np.setdiff1d(order, held_out)
        predict = fit(points[rest], labels[rest])
        errors.append(float(np.mean(np.asarray(predict(points[held_out])) != labels[held_out])))
    return Estimate(np.array(errors))
