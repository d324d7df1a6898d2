"""Integrals over the half line of a smooth function times an oscillating one.

The line is cut where the oscillating factor changes sign. Each piece is integrated by Gauss'
rule, halved until two estimates agree, and the partial sums, which alternate around the limit, are
accelerated by Wynn's epsilon algorithm (Wynn 1956). A tail that decays like a power, or does not
decay absolutely at all, costs no more than one that decays exponentially.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_DEPTH = 40  # halvings of a piece
_MOST = 1 << 13  # pieces that are open at a time
_EPS = float(np.finfo(np.float64).eps)


def integrate_panels(
    f: Callable[[np.ndarray], np.ndarray],
    edges: np.ndarray,
    tolerance: float,
    noise: float = 32 * _EPS,
) -> np.ndarray:
    """Return the integrals of a function between successive edges.

    Parameters
    ----------
    f : callable
        Vectorised: an array of points to an array of values of the same shape.
    edges : ndarray of shape (m + 1,)
        Rising.
    tolerance : float
        Absolute error allowed in each integral.
    noise : float, optional
        Relative error of the values of `f`, beyond which no two estimates agree.

    Returns
    -------
    ndarray of shape (m,)
        The integrals.
    """
    left, right = edges[:-1], edges[1:]
    owner = np.arange(len(left))
    totals = np.zeros(len(left))
    estimate, _ = _gauss(f, left, right)
    for _depth in range(_DEPTH):
        middle = (left + right) / 2
        halves, sizes = _gauss(f, np.concatenate([left, middle]), np.concatenate([middle, right]))
        first, second = np.split(halves, 2)
        refined = first + second
        allowed = np.maximum(tolerance, noise * sum(np.split(sizes, 2)))
        settled = np.abs(refined - estimate) <= allowed
        np.add.at(totals, owner[settled], refined[settled])
        open_ = ~settled
        if not open_.any():
            return totals
        if open_.sum() > _MOST:  # noise, which no refinement settles
            np.add.at(totals, owner[open_], refined[open_])
            return totals
        left, right = (
            np.concatenate([left[open_], middle[open_]]),
            np.concatenate([middle[open_], right[open_]]),
        )
        estimate = np.concatenate([first[open_], second[open_]])
        owner = np.concatenate([owner[open_], owner[open_]])
        tolerance *= 0.5**0.5
    np.add.at(totals, owner, estimate)
    return totals


def _gauss(
    f: Callable[[np.ndarray], np.ndarray], left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the integrals of a function and of its absolute value."""
    half = (right - left) / 2
    points = (left + half)[:, None] + half[:, None] * _NODES
    values = f(points.ravel()).reshape(points.shape)
    return (values @ _WEIGHTS) * half, (np.abs(values) @ _WEIGHTS) * half


def accelerate(sums: np.ndarray) -> tuple[float, float]:
    """Return the limit of a sequence by Wynn's epsilon algorithm, and an estimate of its error.

    Parameters
    ----------
    sums : ndarray of shape (m,)
        Partial sums, m >= 3.

    Returns
    -------
    limit, error : float
        The limit, and its distance from the estimate that leaves out the last sum.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection.oscillating import accelerate
    >>> terms = (-1.0) ** np.arange(20) / (1 + np.arange(20))
    >>> limit, error = accelerate(np.cumsum(terms))
    >>> round(limit, 12)  # log 2
    0.69314718056
    """
    last = float(sums[-1])
    best, error = last, abs(last - float(sums[-2]))
    previous = np.zeros(len(sums) + 1)
    current = sums.astype(np.float64)
    scale = np.abs(sums).max()
    for column in range(1, len(sums)):
        difference = np.diff(current)
        if np.any(np.abs(difference) <= 1e-300 + 1e-17 * scale * (column % 2)):
            break
        previous, current = current, previous[1 : len(current)] + 1.0 / difference
        if column % 2 or len(current) < 2:
            continue  # the odd columns are no estimates
        spread = abs(float(current[-1] - current[-2]))
        if spread < error:
            best, error = float(current[-1]), spread
    return best, error
