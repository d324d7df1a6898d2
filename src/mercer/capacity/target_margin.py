"""The target margin of a soft-margin bound, chosen after the data were seen and paid for."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike

from .bound import FIXED_SCALE, Bound, Condition
from .soft_margin import FIXED_SLACK, slack_embedding, soft_margin_bound

__all__ = ["best_target_margin"]


def best_target_margin(
    margins: ArrayLike,
    radius: float,
    delta: float = 0.05,
    norm: int = 2,
    c: float = 1.0,
    explicit: bool = False,
) -> Bound:
    """Return the smallest soft-margin bound over the target margins gamma_i = R 2^-i.

    The grid is fixed in advance and gamma_i has the share delta 2^-(i+1) of the confidence, so the
    result holds although the target is chosen after the data were seen.

    Parameters
    ----------
    margins : array-like
        Geometric margins y_i f(x_i), ||w|| = 1.
    radius, delta, norm, c
        As for `soft_margin_bound`.
    explicit : bool, default=False
        Use the bound with all constants. The norm of the slacks is then rounded up to the grid 0,
        gamma_i, 2 gamma_i, 4 gamma_i, ..., whose j-th member has the share 2^-(j+1): the smallest
        of a nested sequence of classes of slacks that contains the observed ones. The result
        assumes nothing that was read off the data.

    Returns
    -------
    Bound
        Its inputs hold the chosen `margin` and the `slack` at it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import best_target_margin
    >>> best_target_margin(np.linspace(-0.1, 0.9, 1000), radius=1.0).inputs["margin"]
    0.25
    """
    values = np.asarray(margins, dtype=float)
    if values.max() > radius * (1 + 1e-9):
        raise ValueError(
            f"radius {radius:g} is smaller than the data: a margin of {values.max():g} needs a "
            "point at least as long."
        )
    found = []
    for i in range(60):
        target = radius * 2.0**-i
        if norm == 1 and target >= 1:
            continue
        slack = slack_embedding(values, np.ones(len(values)), target).norm(norm)
        share = delta * 2.0 ** -(i + 1)
        if explicit:
            j = 0 if not slack else 1 + max(0, math.ceil(math.log2(slack / target) - 1e-12))
            slack = 0.0 if not slack else target * 2.0 ** (j - 1)
            share *= 2.0 ** -(j + 1)
        made = soft_margin_bound(len(values), radius, target, slack, share, norm, c, explicit)
        found.append(made)
        if not slack:
            break  # a smaller target only increases the bound
    best = min(found, key=lambda made: (bool(made.violated), made.value))
    chose = Condition.that("target margin and slacks are on grids fixed in advance", True)
    kept = tuple(made for made in best.conditions if made not in (FIXED_SCALE, FIXED_SLACK))
    return dataclasses.replace(
        best, name="best_target_margin", delta=delta, conditions=(chose, *kept)
    )
