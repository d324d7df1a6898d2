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
    """Return the integrals of a vectorised function, of relative error `noise`, between edges."""
    totals, _ = integrate_each(
        lambda x, panel: f(x.ravel()).reshape(x.shape), edges[:-1], edges[1:], tolerance, noise
    )
    return totals


def integrate_each(
    f: Callable[[np.ndarray, np.ndarray], np.ndarray],
    left: np.ndarray,
    right: np.ndarray,
    tolerance: float,
    noise: float | np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the integrals of a family of functions, each over its own panel.

    `f`: ``f(x, panel)`` takes points of shape (k, nodes) and the positions, of shape (k, 1), of the
    panels in which they lie, and returns the values of the functions of those panels. `noise`:
    relative error of the values of each function, beyond which no two estimates agree. Returns the
    integrals, and by how much estimates of them differed where no refinement settled them; 0 where
    one did.
    """
    owner = np.arange(len(left))
    noise = np.broadcast_to(noise, len(left))
    totals, doubts = np.zeros((2, len(left)))
    most = max(_MOST, 64 * len(left))
    estimate, _ = _gauss(f, left, right, owner)
    for depth in range(_DEPTH):
        middle = (left + right) / 2
        halves, sizes = _gauss(
            f,
            np.concatenate([left, middle]),
            np.concatenate([middle, right]),
            np.concatenate([owner, owner]),
        )
        first, second = np.split(halves, 2)
        refined = first + second
        allowed = np.maximum(tolerance, noise[owner] * sum(np.split(sizes, 2)))
        change = np.abs(refined - estimate)
        open_ = change > allowed
        if depth == _DEPTH - 1 or open_.sum() > most:  # noise, which no refinement settles
            np.add.at(doubts, owner[open_], change[open_])
            open_ = np.zeros_like(open_)
        np.add.at(totals, owner[~open_], refined[~open_])
        if not open_.any():
            break
        left, right = (
            np.concatenate([left[open_], middle[open_]]),
            np.concatenate([middle[open_], right[open_]]),
        )
        estimate = np.concatenate([first[open_], second[open_]])
        owner = np.concatenate([owner[open_], owner[open_]])
        tolerance *= 0.5**0.5
    return totals, doubts


def _gauss(
    f: Callable[[np.ndarray, np.ndarray], np.ndarray],
    left: np.ndarray,
    right: np.ndarray,
    owner: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the integrals of functions and of their absolute values."""
    half = (right - left) / 2
    values = f((left + half)[:, None] + half[:, None] * _NODES, owner[:, None])
    return (values @ _WEIGHTS) * half, (np.abs(values) @ _WEIGHTS) * half


def accelerate(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return limits of sequences by Wynn's epsilon algorithm, and estimates of their errors.

    `sums` (..., m): partial sums along the last axis, m >= 3. Returns the limits, and their
    distances from the estimates that leave out the last sum.
    """
    current = np.asarray(sums, dtype=np.float64)
    best = current[..., -1].copy()
    previous = np.zeros((*current.shape[:-1], current.shape[-1] + 1))
    negligible = 1e-17 * np.abs(current).max(axis=-1)
    active = np.ones(best.shape, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # in settled sequences
        error = np.abs(best - current[..., -2])
        for column in range(1, current.shape[-1]):
            difference = np.diff(current)
            active &= np.abs(difference).min(axis=-1) > 1e-300 + negligible * (column % 2)
            if not active.any():
                break
            previous, current = current, previous[..., 1 : current.shape[-1]] + 1.0 / difference
            if column % 2 or current.shape[-1] < 2:
                continue  # the odd columns are no estimates
            spread = np.abs(current[..., -1] - current[..., -2])
            better = active & (spread < error)
            best = np.where(better, current[..., -1], best)
            error = np.where(better, spread, error)
    return best, error
