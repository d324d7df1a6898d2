"""Samplers of candidate counterexamples: random points of a box, its meshes, given objects.

A sampler is a function ``sampler(rng, n)`` that returns n objects. A pair of bounds and a
collection of objects are turned into one here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mercer.objects.validation import count, take

Sampler = Callable[[np.random.Generator, int], Any]


class Box:
    """Points of a box, uniformly at random, or on a regular mesh of a random part of it."""

    def __init__(self, low: Any, high: Any) -> None:
        low, high = np.broadcast_arrays(
            np.atleast_1d(np.asarray(low, dtype=np.float64)), np.asarray(high, dtype=np.float64)
        )
        if low.ndim != 1 or not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ValueError("the corners of a box must be finite numbers or vectors of them.")
        if not (low < high).all():
            raise ValueError(
                f"a box needs low < high in every coordinate; got {low.tolist()} and "
                f"{high.tolist()}."
            )
        self.low, self.high = low, high

    def __call__(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return n random points; see the module."""
        return rng.uniform(self.low, self.high, size=(n, len(self.low)))

    def mesh(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return about n points of a regular mesh of the box or of a random box inside it."""
        d = len(self.low)
        side = max(2, int(np.floor(n ** (1 / d) + 1e-9)))
        if side**d > max(n, 4):
            return self(rng, n)  # not even two points a side
        share = 1.0 if rng.random() < 0.5 else float(rng.uniform(0.05, 1.0))
        width = share * (self.high - self.low)
        start = self.low + rng.random(d) * (self.high - self.low - width)
        axes = [np.linspace(a, a + w, side) for a, w in zip(start, width, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)


def _drawn(objects: Any, rng: np.random.Generator, n: int) -> Any:
    """Return n of the objects, drawn without replacement; all of them if there are fewer."""
    total = count(objects)
    return take(objects, np.sort(rng.choice(total, size=min(n, total), replace=False)))


def as_sampler(source: Any) -> Sampler:
    """Return a sampler: a function f(rng, n), a box (low, high), or objects to draw from."""
    if callable(source):
        _require_two_arguments(source)
        return source
    if isinstance(source, tuple) and len(source) == 2 and _is_numeric(source):
        return Box(*source)
    if hasattr(source, "shape") or isinstance(source, list):
        if count(source) < 1:
            raise ValueError("there are no objects to draw from.")
        return partial(_drawn, source)
    raise TypeError(
        "sampler must be a function f(rng, n) that returns n objects, a pair (low, high) of "
        f"corners of a box, or a list or array of objects; got {type(source).__name__}."
    )


def _require_two_arguments(sampler: Callable[..., Any]) -> None:
    """Reject a function that cannot be called with a generator and a number."""
    try:
        signature = inspect.signature(sampler)
    except (TypeError, ValueError):  # not known of some functions written in C
        return
    try:
        signature.bind(None, 1)
    except TypeError:
        raise TypeError(
            "sampler must be a function f(rng, n) that returns n objects, drawn with the NumPy "
            f"generator rng; got one with the arguments {signature}."
        ) from None


def _is_numeric(pair: tuple[Any, Any]) -> bool:
    try:
        return all(np.asarray(end).dtype.kind in "fiu" for end in pair)
    except ValueError:  # ragged
        return False
