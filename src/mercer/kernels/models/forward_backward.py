"""Forward and backward passes of a hidden Markov model over encoded sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sp

from mercer import _native


class Tables(NamedTuple):
    """The probabilities of a model: what EM changes."""

    initial: np.ndarray
    transition: np.ndarray
    emission: np.ndarray

    def split(self, flat: np.ndarray) -> Tables:
        """Return numbers that stand for all entries, one vector per object, table by table."""
        k, symbols = self.emission.shape
        shape = flat.shape[:-1]
        return Tables(
            flat[..., :k],
            flat[..., k : k + k * k].reshape(*shape, k, k),
            flat[..., k + k * k :].reshape(*shape, k, symbols),
        )


class Encoded(NamedTuple):
    """Sequences as integers, one after the other; sequence s is start[s] to start[s + 1]."""

    symbols: np.ndarray
    start: np.ndarray

    @property
    def n(self) -> int:
        """Number of sequences."""
        return len(self.start) - 1

    @classmethod
    def of(cls, X: Sequence[Any], alphabet: Sequence[Hashable]) -> Encoded:
        """Return checked sequences as positions in an alphabet."""
        position = {symbol: i for i, symbol in enumerate(alphabet)}
        codes: list[int] = []
        start = [0]
        for i, x in enumerate(X):
            try:
                codes.extend([position[symbol] for symbol in x])
            except KeyError as unknown:
                raise ValueError(
                    f"sequence {i} contains the symbol {unknown.args[0]!r}, which the model does "
                    "not know; give all symbols as alphabet (and a pseudocount) before it is "
                    "fitted."
                ) from None
            start.append(len(codes))
        return cls(np.array(codes, dtype=np.int32), np.array(start, dtype=np.int64))

    def part(self, first: int, last: int) -> Encoded:
        """Return the sequences from `first` up to `last`, without it."""
        start = self.start[first : last + 1]
        return Encoded(self.symbols[start[0] : start[-1]], start - start[0])


def gradients(tables: Tables, data: Encoded) -> tuple[np.ndarray, np.ndarray]:
    """Return log P(x), -inf where impossible, and its derivatives by all entries of the tables."""
    return _native.hidden_markov_gradients(data.symbols, data.start, *_native_form(tables))


def possible_gradients(tables: Tables, data: Encoded) -> np.ndarray:
    """Return the derivatives of log P(x) for sequences none of which is impossible."""
    log_probability, gradient = gradients(tables, data)
    if not np.isfinite(log_probability).all():
        _refuse_impossible(int(np.argmin(log_probability)))
    return gradient


def passes(tables: Tables, data: Encoded, s: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the forward and backward vectors, whose product is P(h_t | x), and the scales c_t."""
    log_probability, forward, backward, scale = _native.hidden_markov_passes(
        data.part(s, s + 1).symbols, *_native_form(tables)
    )
    if not np.isfinite(log_probability):
        _refuse_impossible(s)
    return forward, backward, scale


def neighbour_counts(tables: Tables, data: Encoded, s: int) -> sp.csr_array:
    """Return expected counts of (state, symbol) at two neighbouring times of sequence `s`.

    Returns an array of shape (1, (n_states * n_symbols): P(h_t = i, h_{t+1} = j | x) = forward_t(i)
    A_ij B_j(x_{t+1}) backward_{t+1}(j) / c_{t+1}, summed over the times t of every pair of
    neighbouring symbols.
    """
    x = data.part(s, s + 1).symbols
    k, symbols = tables.emission.shape
    shape = (1, (k * symbols) ** 2)
    if len(x) < 2:
        return sp.csr_array(shape)
    forward, backward, scale = passes(tables, data, s)
    ahead = tables.emission.T[x[1:]] * backward[1:] / scale[1:, None]
    both = forward[:-1, :, None] * tables.transition * ahead[:, None, :]
    now = np.arange(k) * symbols + x[:-1, None].astype(np.int64)
    after = np.arange(k) * symbols + x[1:, None].astype(np.int64)
    columns, place = np.unique(
        now[:, :, None] * (k * symbols) + after[:, None, :], return_inverse=True
    )
    values = np.bincount(place.ravel(), weights=both.ravel(), minlength=len(columns))
    return sp.csr_array((values, columns, [0, len(columns)]), shape=shape)


def _native_form(tables: Tables) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the tables as the native passes read them, with the emissions transposed."""
    return (
        np.ascontiguousarray(tables.initial),
        np.ascontiguousarray(tables.transition),
        np.ascontiguousarray(tables.emission.T),
    )


def _refuse_impossible(s: int) -> NoReturn:
    raise ValueError(
        f"sequence {s} has probability 0 under the model, so no hidden path explains it; fit the "
        "model with a pseudocount > 0."
    )
