"""Nodes and weights of quadrature rules on intervals and boxes."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from mercer.objects.parameters import is_number

from .samplers import Box

RULES = ("gauss", "midpoint", "periodic")


def quadrature(domain: tuple[Any, ...], n: int, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes and weights of a rule on an interval, or of its product on a box.

    On a box of dimension d there are the nearest k^d to `n`, and 2^d nodes at least. The weights
    sum to the volume.
    """
    if len(domain) == 2 and all(is_number(end) for end in domain):
        return _interval(float(domain[0]), float(domain[1]), n, rule)
    try:
        box = Box(*domain)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "an interval is a pair (low, high) of finite numbers, and a box a pair of opposite "
            f"corners with low < high in every coordinate; got {domain!r}."
        ) from error
    side = max(2, round(n ** (1 / len(box.low))))
    axes = [_interval(a, b, side, rule) for a, b in zip(box.low, box.high, strict=True)]
    grids = np.meshgrid(*(nodes[:, 0] for nodes, _ in axes), indexing="ij")
    return np.stack(grids, axis=-1).reshape(-1, len(axes)), reduce(
        np.kron, [mass for _, mass in axes]
    )


def _interval(low: float, high: float, n: int, rule: str) -> tuple[np.ndarray, np.ndarray]:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"an interval needs finite ends, low < high; got ({low:g}, {high:g}).")
    if rule == "gauss":
        x, w = np.polynomial.legendre.leggauss(n)
        nodes, mass = (low + high) / 2 + (high - low) / 2 * x, (high - low) / 2 * w
    elif rule in ("midpoint", "periodic"):
        shift = 0.5 if rule == "midpoint" else 0.0
        nodes = low + (high - low) * (np.arange(n) + shift) / n
        mass = np.full(n, (high - low) / n)
    else:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}.")
    return nodes[:, None], mass
