r"""Regularised principal manifolds: how well the quantisation error generalises.

A manifold gamma maps parameters b to points; its quantisation error is the expected squared
distance of a point to it, :math:`R_q[\gamma] = E \min_b \|x - \gamma(b)\|^2`, estimated by the mean
over m points. With all points in a ball of radius r, errors lie in [0, 4 r^2], and Hoeffding's
inequality with a cover of the class in the sup norm gives

.. math:: P\{\sup_\gamma |R_{emp} - R_q| > \eta\} \le 2\, N(\epsilon / 8r)\,
          e^{-m (\eta - \epsilon)^2 / (8 r^4)} .

Proposition 9.9 of Smola's thesis prints 2 r^2 for 8 r^4 here, and N(eps / 4r) with 8 r^2 for
N(eps / 8r) with 32 r^4 in its second part. These are not invariant under a change of scale, and too
small: one manifold -1 and points +-1 with probability 1/2 have a deviation above 0.4 in 100 points
with probability 0.035, where the printed bound tends to 6.7e-4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special

from mercer.capacity.bound import FIXED_CLASS, INDEPENDENT, Bound, Condition, bound, ln_of, state
from mercer.objects.parameters import integer, positive, require_choice

__all__ = [
    "expected_excess",
    "kegl_log_cover",
    "manifold_distance",
    "quantization_bound",
    "quantization_error",
    "smaller_cover",
]


_IN_BALL = Condition("all points, also later ones, lie in the ball of radius r")


def quantization_error(manifold: Any, X: Any) -> float:
    """Return the mean squared distance of points to a manifold.

    Parameters
    ----------
    manifold : array-like of shape (n_nodes, d)
        Points of the manifold, a fine grid of its parameters.
    X : array-like of shape (m, d)
        The points.

    Returns
    -------
    float
        The mean squared distance of points to a manifold.

    References
    ----------
    Smola 1998, (5.19).

    Examples
    --------
    >>> from mercer.capacity.entropy import quantization_error
    >>> quantization_error([[0.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]])
    1.0
    """
    nodes, points = (np.atleast_2d(np.asarray(a, dtype=np.float64)) for a in (manifold, X))
    squares = ((points[:, None, :] - nodes[None, :, :]) ** 2).sum(axis=2)
    return float(squares.min(axis=1).mean())


def manifold_distance(left: Any, right: Any) -> float:
    r"""Return the largest distance of two manifolds at equal parameters.

    Their quantisation errors differ by at most 4 r times this distance.

    Parameters
    ----------
    left, right : array-like of shape (n_nodes, d)
        Points at the same parameters.

    Returns
    -------
    float
        The largest distance of two manifolds at equal parameters.

    References
    ----------
    Smola 1998, (9.34).

    Examples
    --------
    >>> from mercer.capacity.entropy import manifold_distance
    >>> manifold_distance([[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5], [1.0, 0.0]])
    0.5
    """
    a, b = (np.atleast_2d(np.asarray(m, dtype=np.float64)) for m in (left, right))
    if a.shape != b.shape:
        raise ValueError(f"manifolds need the same parameters; got shapes {a.shape}, {b.shape}.")
    return float(np.sqrt(((a - b) ** 2).sum(axis=1)).max())


def _constants(variant: str, r: float, kind: str) -> tuple[float, float]:
    """Return the scale of the cover over eps and the constant c2 of exp(-m (eta - eps)^2 / c2)."""
    require_choice(variant, "variant", ("safe", "thesis"))
    if variant == "thesis":
        return (1 / (8 * r), 2 * r**2) if kind == "uniform" else (1 / (4 * r), 8 * r**2)
    return (1 / (8 * r), 8 * r**4) if kind == "uniform" else (1 / (8 * r), 32 * r**4)


def _conditions(variant: str) -> tuple[Condition, ...]:
    wrong = Condition(
        "the exponent has the range 4 r^2 of the errors", "violated", "printed with r^2"
    )
    common = (INDEPENDENT, FIXED_CLASS, _IN_BALL)
    return (*common, wrong) if variant == "thesis" else common


@bound("probability", "Smola 1998, proposition 9.9, with Hoeffding's constants")
def quantization_bound(
    eta: float,
    n_samples: int,
    ln_n: Any,
    radius: float,
    kind: str = "uniform",
    variant: str = "safe",
) -> Bound:
    """Return the probability that quantisation errors deviate by more than eta.

    Parameters
    ----------
    eta : float > 0
        The deviation.
    n_samples : int >= 1
        The number of points m.
    ln_n : float or callable
        ln N of the class in the sup norm, a number or a function ``ln_n(eps, n_points)``, such as
        ``MultiOutputClass(...).log_covering``. The scale eps in (0, eta / 2) is optimised.
    radius : float > 0
        Radius r of a ball that contains all points.
    kind : {"uniform", "excess"}, default="uniform"
        "uniform": the largest difference of empirical and expected error in the class. "excess":
        how much worse than the best of the class the empirical minimiser is.
    variant : {"safe", "thesis"}, default="safe"
        "thesis" evaluates the printed constants, which are too small.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity.entropy import quantization_bound
    >>> round(quantization_bound(0.4, 100, 0.0, radius=1.0).value, 3)  # the truth is 0.035
    0.271
    """
    size, r = positive(eta, "eta"), positive(radius, "radius")
    require_choice(kind, "kind", ("uniform", "excess"))
    scale, c2 = _constants(variant, r, kind)

    def logarithm(eps: float) -> float:
        cover = ln_of(ln_n, scale * eps, n_samples)
        if kind == "excess":
            cover = float(np.logaddexp(cover, 0.0))
        return math.log(2.0) + cover - n_samples * (size - eps) ** 2 / c2

    best = min(logarithm(float(e)) for e in size * np.geomspace(1e-9, 0.4999, 200))
    return state({"tail": math.exp(min(best, 700.0))}, *_conditions(variant))


@bound("expected excess quantisation error", "Smola 1998, (9.58)", trivial=None)
def expected_excess(n_samples: int, ln_n: Any, radius: float, variant: str = "safe") -> Bound:
    r"""Return how much worse than the best manifold the empirical minimiser is on average.

    .. math:: E(R_q[\gamma_{emp}] - R_q[\gamma^*]) \le \min_\epsilon \;
              \sqrt{c_2 L / m} + \epsilon + \sqrt{c_2 / (m L)}, \quad L = \ln(N(\epsilon / s) + 1)

    with c_2 = 32 r^4 and s = 8 r (printed: 8 r^2 and 4 r).

    Parameters
    ----------
    n_samples : int >= 1
        The number of points m.
    ln_n : float or callable
        ln N of the class in the sup norm, a number or a function ``ln_n(eps, n_points)``.
    radius : float > 0
        Radius r of a ball that contains all points.
    variant : {"safe", "thesis"}, default="safe"
        "thesis" evaluates the printed constants, which are too small.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity.entropy import expected_excess
    >>> b = expected_excess(10_000, lambda eps, n: 1.0 / eps, radius=1.0)
    >>> round(b.value, 4), b.dominant
    (0.5656, 'covering')
    """
    r = positive(radius, "radius")
    scale, c2 = _constants(variant, r, "excess")

    def parts(eps: float) -> tuple[float, float, float]:
        L = float(np.logaddexp(ln_of(ln_n, scale * eps, n_samples), 0.0))
        return math.sqrt(c2 * L / n_samples), eps, math.sqrt(c2 / (n_samples * L))

    grid = 4.0 * r**2 * np.geomspace(1e-9, 1.0, 120)
    totals = [sum(parts(float(e))) for e in grid]
    i = int(np.argmin(totals))
    found = scipy.optimize.minimize_scalar(
        lambda t: sum(parts(math.exp(t))),
        bounds=(math.log(grid[max(i - 1, 0)]), math.log(grid[min(i + 1, len(grid) - 1)])),
        method="bounded",
    )
    best = math.exp(found.x) if found.fun <= totals[i] else float(grid[i])
    covering, scale_term, rest = parts(best)
    return state(
        {"covering": covering, "scale": scale_term, "confidence": rest}, *_conditions(variant)
    )


def kegl_log_cover(eps: float, length: float, radius: float, n_nodes: int, dimension: int) -> float:
    r"""Return the bound of Kegl et al. on ln N of polygonal curves of bounded length.

    .. math:: N \le 2^{2 L r / \epsilon} S_d^{M+1} (4 r^2 \sqrt d / \epsilon + \sqrt d)^d
              (2 r L \sqrt d / (M \epsilon) + 3 \sqrt d)^{M d}

    Parameters
    ----------
    eps : float > 0
        The largest difference of the distances of a point to two curves.
    length : float > 0
        The length L of the curves.
    radius : float > 0
        The curves lie in a ball of radius r.
    n_nodes : int >= 1
        The number M of nodes.
    dimension : int >= 1
        The dimension d of the space; S_d is the volume of its unit ball.

    Returns
    -------
    float
        The bound of Kegl et al. on ln N of polygonal curves of bounded length.

    References
    ----------
    Kegl, Krzyzak, Linder and Zeger 1999; Smola 1998, lemma 9.10.

    Examples
    --------
    >>> from mercer.capacity.entropy import kegl_log_cover
    >>> round(kegl_log_cover(0.1, length=1.0, radius=1.0, n_nodes=10, dimension=2), 1)
    73.7
    """
    e, L, r = (positive(v, n) for v, n in ((eps, "eps"), (length, "length"), (radius, "radius")))
    M = integer(n_nodes, "n_nodes", minimum=1)
    d = integer(dimension, "dimension", minimum=1)
    ln_ball = d / 2 * math.log(math.pi) - float(scipy.special.gammaln(d / 2 + 1))
    root = math.sqrt(d)
    return (
        2.0 * L * r / e * math.log(2.0)
        + (M + 1) * ln_ball
        + d * math.log(4.0 * r**2 * root / e + root)
        + M * d * math.log(2.0 * r * L * root / (M * e) + 3.0 * root)
    )


def smaller_cover(*covers: Callable[[float, int], Any]) -> Callable[[float, int], float]:
    """Return the smallest of several bounds on ln N, as a function of scale and points.

    Parameters
    ----------
    *covers : callable
        Functions ``ln_n(eps, n_points)``.

    Returns
    -------
    Callable[[float, int], float]
        The smallest of several bounds on ln N, as a function of scale and points.

    Examples
    --------
    >>> from mercer.capacity.entropy import smaller_cover
    >>> smaller_cover(lambda eps, n: 1 / eps, lambda eps, n: 5.0)(0.1, 100)
    5.0
    """
    return lambda eps, n_points: min(float(cover(eps, n_points)) for cover in covers)
