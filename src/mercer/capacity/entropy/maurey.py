r"""Entropy numbers of operators from a Hilbert space into l_infinity on m points.

Maurey's theorem, in Carl's form: for S from a Hilbert space into :math:`\ell_\infty^m`,

.. math:: \epsilon_n(S) \le c \, \|S\| \sqrt{\frac{1}{L} \log_2\Bigl(1 + \frac{m}{L}\Bigr)}, \quad
          L = \log_2 n + 1 .

The constant c <= 103 is proved; 1.86, that of the identity of l_2, is conjectured. For few balls
the norm of S is smaller, for L of the order of m the count of cubes, N <= ceil(\|S\| / eps)^m.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer.capacity.bound import Bound, Condition, bound, state

from .inputs import Array

__all__ = ["maurey_bound"]


PROVED, CONJECTURED = 103.0, 1.86


def maurey_factor(log2_n: Any, n_points: float) -> Array:
    """Return sqrt(log2(1 + m / L) / L) for arrays of L = log2 n; infinite at L = 0."""
    L = np.asarray(log2_n, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.sqrt(np.log2(1.0 + n_points / L) / L)


def cubes_factor(ln_n: Any, n_points: float) -> Array:
    """Return the entropy numbers of the unit cube in m dimensions, 1 / floor(n^(1/m))."""
    side = np.exp(np.minimum(np.asarray(ln_n, dtype=np.float64) / n_points, 700.0))
    return 1.0 / np.floor(side * (1.0 + 1e-12))


def constant_condition(c: float) -> Condition:
    """Return the condition on the constant of the theorem: proved or conjectured."""
    what = f"Maurey's theorem holds with c = {c:g}"
    if c >= PROVED:
        return Condition(what, "satisfied", "c <= 103 is proved")
    return Condition(what, "unknown", "proved for 103; 1.86 is conjectured")


@bound("entropy number of an evaluation operator", "Smola 1998, theorem 8.4", trivial=None)
def maurey_bound(ln_n: float, n_samples: int, norm: float = 1.0, c: float = PROVED) -> Bound:
    """Return the bound of Maurey and Carl on the entropy numbers into l_infinity on m points.

    Parameters
    ----------
    ln_n : float >= 0
        Natural logarithm of n.
    n_samples : int >= 1
        The number of points m.
    norm : float > 0, default=1.0
        The norm of the operator: the largest length of an evaluated point.
    c : float > 0, default=103
        The constant. 1.86 is believed to hold and is not proved.

    Returns
    -------
    Bound
        The smallest of the norm, Maurey's bound and the count of cubes.

    Examples
    --------
    >>> import math
    >>> from mercer.capacity.entropy import maurey_bound
    >>> round(maurey_bound(99 * math.log(2), 1000, c=1.0).value, 3)
    0.186
    >>> maurey_bound(1.0, 1000).value  # the norm
    1.0
    """
    if not norm > 0:
        raise ValueError(f"norm must be positive; got {norm!r}.")
    regimes = {
        "norm": 1.0,
        "Maurey": c * float(maurey_factor(ln_n / math.log(2.0) + 1.0, n_samples)),
        "cubes": float(cubes_factor(ln_n, n_samples)),
    }
    best = min(regimes, key=lambda name: regimes[name])
    used = (constant_condition(c),) if best == "Maurey" else ()
    return state({best: norm * regimes[best]}, *used)
