"""Initial symbols, weights and probabilities for the training of a hidden Markov model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .forward_backward import Tables


def checked_alphabet(alphabet: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return an alphabet as a tuple of distinct symbols."""
    symbols = tuple(alphabet)
    try:
        distinct = len(set(symbols))
    except TypeError:
        raise TypeError("the symbols of an alphabet must be hashable.") from None
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
    """Return the probabilities that the user gives, and random ones in place of the others.

    `frequency`: how often each symbol occurs; the random emissions of every state are near it.
    `random`: the source of random tables; not needed where all are given.
    """
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
    array = np.array(table, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}.")
    if not (array >= 0).all() or not np.allclose(array.sum(axis=-1), 1.0, rtol=0, atol=1e-8):
        raise ValueError(f"the rows of {name} must be probabilities: non-negative, with sum 1.")
    return array / array.sum(axis=-1, keepdims=True)
