"""Training a hidden Markov model: the EM iteration of Baum and Welch.

Maximise, over initial probabilities p, transitions A and emissions B (each row a distribution),

    sum_s w_s log P(x_s | p, A, B) + c sum of log of all entries that are not structural zeros,

where w are the weights of the sequences and c the pseudocount. One step replaces every row by the
expected numbers of uses of its entries, plus c, divided by their sum; no step lowers the objective
(L. E. Baum, T. Petrie, G. Soules and N. Weiss, Ann. Math. Statist. 41, 1970). The problem is not
concave: the iteration reaches a stationary point, which is all that `Convergence` proves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .forward_backward import Encoded, Tables, gradients

_BLOCK = 1 << 22  # entries of the gradients that are held at a time


@dataclass(frozen=True)
class Convergence:
    """Convergence of a model that was trained by EM."""

    # {"stationary", "iteration_limit"}: whether the last step gained less than the tolerance
    status: str
    # weighted log-likelihood of the training sequences under the returned model
    log_likelihood: float
    # the objective before every step and at the end: log-likelihood plus, with a pseudocount, the
    # logarithm of its prior
    trace: tuple[float, ...]
    # largest gain per symbol that the gradient at the returned model promises for any feasible
    # direction, sum over rows of max_j g_j - sum_j theta_j g_j; 0 at a stationary point
    stationarity: float

    @property
    def n_iter(self) -> int:
        """Number of EM steps."""
        return len(self.trace) - 1

    @property
    def monotone(self) -> bool:
        """Whether no step lowered the objective by more than rounding."""
        return all(
            after >= before - 1e-10 * max(1.0, abs(before))
            for before, after in zip(self.trace, self.trace[1:], strict=False)
        )


def train(
    tables: Tables,
    data: Encoded,
    weight: np.ndarray,
    *,
    pseudocount: float,
    max_iter: int,
    tol: float,
) -> tuple[Tables, Convergence]:
    """Run EM from a start.

    `pseudocount`: what is added to every expected count, except at structural zeros. `tol`: steps
    end when one gains at most this much per symbol.
    """
    free = Tables(*(table > 0 for table in tables))
    n_symbols = float(weight @ np.diff(data.start))
    trace: list[float] = []
    while True:
        value, summed = _expectation(tables, data, weight)
        trace.append(value + _log_prior(tables, free, pseudocount))
        if len(trace) > 1 and trace[-1] - trace[-2] <= tol * n_symbols:
            status = "stationary"
            break
        if len(trace) > max_iter:
            status = "iteration_limit"
            break
        tables = Tables(
            *(
                _normalised(theta * g + pseudocount * f, theta)
                for theta, g, f in zip(tables, summed, free, strict=True)
            )
        )
    gains = [_promised(theta, g, pseudocount) for theta, g in zip(tables, summed, strict=True)]
    return tables, Convergence(status, value, tuple(trace), math.fsum(gains) / n_symbols)


def _expectation(tables: Tables, data: Encoded, weight: np.ndarray) -> tuple[float, Tables]:
    """Return the weighted log-likelihood and its gradient, from blocks of sequences."""
    width = sum(table.size for table in tables)
    step = max(1, _BLOCK // width)
    value, summed = 0.0, np.zeros(width)
    for first in range(0, data.n, step):
        block = slice(first, min(first + step, data.n))
        log_probability, gradient = gradients(tables, data.part(block.start, block.stop))
        if not np.isfinite(log_probability).all():
            i = first + int(np.argmin(log_probability))
            raise ValueError(
                f"sequence {i} has probability 0 under the starting values, so no step of EM is "
                "defined; start with probabilities that allow it."
            )
        value += float(weight[block] @ log_probability)
        summed += weight[block] @ gradient
    return value, tables.split(summed)


def _normalised(counts: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return rows divided by their sum; the row before where nothing was counted."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), before)


def _log_prior(tables: Tables, free: Tables, pseudocount: float) -> float:
    """Return pseudocount times the sum of the logarithms of the free entries."""
    if pseudocount == 0:  # an entry may then have become 0
        return 0.0
    logarithms = (np.log(table[f]).sum() for table, f in zip(tables, free, strict=True))
    return pseudocount * math.fsum(logarithms)


def _promised(theta: np.ndarray, g: np.ndarray, pseudocount: float) -> float:
    """Return the first-order gain of moving every row to its best vertex (the Frank-Wolfe gap)."""
    positive = theta > 0
    g = g + np.divide(pseudocount, theta, where=positive, out=np.zeros_like(theta))
    best = np.where(positive, g, -np.inf).max(axis=-1)
    return float((best - (theta * g).sum(axis=-1)).sum())
