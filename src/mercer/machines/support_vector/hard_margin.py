"""The hard margin of a training set, and the C from which the soft margin equals it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from mercer.objects.validation import take

from .svc import SVC


def training_set_margin(X: ArrayLike, y: ArrayLike) -> float:
    """Return the largest geometric margin that any hyperplane has on the data of two classes.

    Raises :class:`mercer.machines.NotSeparableError` where no hyperplane separates them.
    """
    return float(SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y).margin_)


def hard_margin_threshold(
    model: SVC, X: ArrayLike | None = None, y: ArrayLike | None = None, tol: float = 1e-6
) -> float:
    """Return the smallest C from which on the soft margin gives a fitted hard-margin machine.

    A hard-margin solution stays optimal for every box at least as large as its largest multiplier.
    Multipliers need not be unique (a singular kernel matrix, duplicate points), so the threshold is
    the smallest of the largest multipliers over all solutions, a linear program over the points on
    the margin: those with a functional margin within `tol` of 1. Without the training data only the
    support vectors can share the multipliers, which gives an upper bound where multipliers are not
    unique.
    """
    if len(model.classes_) != 2 or np.isfinite(model.C):
        raise ValueError("the threshold is defined for a hard-margin machine (C=inf), two classes.")
    if X is None or y is None:
        points = model.support_vectors_
        sign = np.sign(model.expansion_.coef)
    else:
        sign = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
        X = np.asarray(X) if isinstance(X, list) else X
        on_margin = np.flatnonzero(np.abs(sign * model.decision_function(X) - 1.0) <= tol)
        points, sign = take(X, on_margin), sign[on_margin]
    # Two solutions are the same function; both lie in the span of these points, so they agree
    # everywhere when they agree on them.
    K = model.kernel_(points) * sign
    f0 = model.decision_function(points) - model.intercept_[0]
    n = len(sign)
    balance = np.append(sign, 0.0)[None]
    result = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.hstack([np.eye(n), -np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.vstack([np.hstack([K, np.zeros((n, 1))]), balance]),
        b_eq=np.append(f0, 0.0),
        bounds=(0.0, None),
    )
    if not result.success:
        return float(np.abs(model.expansion_.coef).max())
    return float(result.x[-1])
