"""Purity at a given efficiency: a metric of searches for a rare kind of event.

The threshold of a classifier is set so that it accepts a given fraction (the efficiency) of the
events of the wanted class; the purity is the fraction of wanted events among all that it accepts.
Where the classes of a sample occur in other proportions than in reality, each counts with its
weight p_j (relative frequency, times the probability to be detected at all):

    purity_i = p_i efficiency_ii / sum_j p_j efficiency_ji

(A. Smola, *Learning with Kernels*, 1998, section 6.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def purity_at_efficiency(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    positive: Any = 1,
    efficiency: float = 0.15,
    frequency: Mapping[Any, float] | None = None,
) -> float:
    """Return the fraction of wanted events among those that a threshold accepts.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    score : array-like of shape (n,)
        Values that are larger for events which look like the wanted class.
    positive : label, default=1
        The wanted class.
    efficiency : float, default=0.15
        Fraction of the wanted events that must be accepted, in (0, 1].
    frequency : dict, default=None
        Frequency of each label among real events; None is that of the sample.

    Returns
    -------
    float
        The purity, between 0 and 1.

    Examples
    --------
    >>> from mercer.selection import purity_at_efficiency
    >>> y, score = [0, 0, 0, 1, 1], [0.1, 0.2, 0.8, 0.7, 0.9]
    >>> purity_at_efficiency(y, score, efficiency=0.5)
    1.0
    >>> round(purity_at_efficiency(y, score, efficiency=1.0), 4)
    0.6667
    """
    labels, values = np.asarray(y_true), np.asarray(score, dtype=np.float64)
    if labels.shape != values.shape or values.ndim != 1:
        raise ValueError(f"y_true and score must be alike; got {labels.shape}, {values.shape}.")
    if not 0.0 < efficiency <= 1.0:
        raise ValueError(f"efficiency must lie in (0, 1]; got {efficiency!r}.")
    wanted = np.sort(values[labels == positive])[::-1]
    if not len(wanted):
        raise ValueError(f"no event has the label {positive!r}.")
    threshold = wanted[int(np.ceil(efficiency * len(wanted) - 1e-9)) - 1]
    accepted = 0.0
    own = 0.0
    for label in np.unique(labels):
        of_class = labels == label
        share = float(np.mean(values[of_class] >= threshold))
        weight = float(of_class.mean()) if frequency is None else _frequency(frequency, label)
        accepted += weight * share
        own += weight * share if label == positive else 0.0
    return own / accepted


def _frequency(frequency: Mapping[Any, float], label: Any) -> float:
    if label not in frequency:
        raise ValueError(
            f"frequency names no label {label!r}; it has {sorted(map(str, frequency))}."
        )
    return float(frequency[label])
