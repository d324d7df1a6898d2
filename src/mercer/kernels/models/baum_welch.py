"""Training a hidden Markov model: the EM iteration of Baum and Welch.

Maximise, over initial probabilities p, transitions A and emissions B (each row a distribution),

    sum_s w_s log P(x_s | p, A, B) + c sum of log of all entries that are not structural zeros,

where w are the weights of the sequences and c the pseudocount. One step replaces every row by the
expected numbers of uses of its entries, plus c, divided by their sum; no step lowers the objective
(L. E. Baum, T. Petrie, G. Soules and N. Weiss, Ann. Math. Statist. 41, 1970). The problem is not
concave: the iteration reaches a stationary point, which is all that `Convergence` proves. It begins
at the tables of `starting_tables`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

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
    """Run EM from a start, until a step gains at most `tol` per symbol."""
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


def checked_alphabet(alphabet: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return an alphabet as a tuple of distinct symbols."""
    try:
        symbols = tuple(alphabet)
        distinct = len(set(symbols))
    except TypeError:
        raise TypeError(f"the symbols of alphabet must be hashable; got {alphabet!r}.") from None
    if not symbols or distinct < len(symbols):
        raise ValueError("alphabet must list at least one symbol, each of them once.")
    return symbols


def with_positive_weight(X: Sequence[Any], sample_weight: Any) -> tuple[Sequence[Any], np.ndarray]:
    """Return the sequences of positive weight and their weights."""
    if sample_weight is None:
        return X, np.ones(len(X))
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (len(X),):
        raise ValueError(f"sample_weight must have {len(X)} entries; got shape {weight.shape}.")
    if not (np.isfinite(weight).all() and weight.min() >= 0 and weight.max() > 0):
        raise ValueError("sample_weight must be finite and non-negative, and not all zero.")
    return [x for x, w in zip(X, weight, strict=True) if w > 0], weight[weight > 0]


def starting_tables(
    given: tuple[Any, Any, Any],
    n_states: int,
    frequency: np.ndarray,
    random: np.random.RandomState | None = None,
) -> Tables:
    """Return the tables that are given, and random ones, near `frequency`, for the others."""
    k = int(n_states)
    draw = np.random.RandomState(0) if random is None else random
    emission = frequency * draw.uniform(0.5, 1.5, size=(k, len(frequency)))
    drawn = (
        draw.dirichlet(np.ones(k)),
        draw.dirichlet(np.ones(k), size=k),
        emission / emission.sum(axis=1, keepdims=True),
    )
    return Tables(
        *(
            table if start is None else _distribution(start, table.shape, name)
            for name, start, table in zip(Tables._fields, given, drawn, strict=True)
        )
    )


def _distribution(table: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return a table of the user as probabilities; raises ValueError if it is none."""
    try:
        array = np.array(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers; got {table!r}.") from None
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}.")
    if not (array >= 0).all() or not np.allclose(array.sum(axis=-1), 1.0, rtol=0, atol=1e-8):
        raise ValueError(f"the rows of {name} must be probabilities: non-negative, with sum 1.")
    return array / array.sum(axis=-1, keepdims=True)
