r"""Kernel expansions with bounded coefficients, from the smoothness of the kernel alone.

If :math:`|k(x, y) - k(x', y)| \le c_L \|x - x'\|`, a cover of the centres is a cover of the
functions :math:`k(x, \cdot)` in the sup norm, and a theorem of Carl, Kyrezi and Pajor passes to
their convex hull: :math:`\epsilon_n(G) \le c\, n^{-1/d}` gives
:math:`\epsilon_{2^n}(\mathrm{co}\, G) \le c\, \varrho(d)\, n^{-1/d}`, with a constant
:math:`\varrho(d)` that the theorem does not specify. What depends on it is marked as relative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.kernels import resolve
from mercer.objects.parameters import integer, positive

from .maurey import maurey_factor
from .sets import compact_entropy

__all__ = [
    "F1_entropy_lipschitz",
    "F1_entropy_sample",
    "base_class_entropy",
    "convex_hull_entropy",
    "kernel_lipschitz",
]


_GRID = 4001


def kernel_lipschitz(kernel: Any, dimension: int = 1) -> float:
    """Return the Lipschitz constant of a radial kernel in one argument, for all others.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel of the distance |x - z|.
    dimension : int >= 1, default=1
        The number of columns.

    Returns
    -------
    float
        The largest slope of the kernel as a function of the distance, by finite differences on two
        nested grids; accurate to about 1e-6.

    References
    ----------
    Smola 1998, (9.8).

    Examples
    --------
    >>> from mercer.capacity.entropy import kernel_lipschitz
    >>> from mercer.kernels import RBF
    >>> round(kernel_lipschitz(RBF(gamma=1.0)), 4)  # sqrt(2 / e)
    0.8578
    """
    k = resolve(kernel)
    k.require_bound("at given distances")
    d = integer(dimension, "dimension", minimum=1)
    if not k.translation_invariant:
        raise ValueError(f"{k!r} is not a function of x - z; bound its slope on your domain.")

    def slopes(r: np.ndarray) -> np.ndarray:
        points = np.zeros((len(r), d))
        points[:, 0] = r
        return np.abs(np.diff(k(points, np.zeros((1, d)))[:, 0])) / np.diff(r)

    coarse = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, _GRID)])
    i = int(np.argmax(slopes(coarse)))
    low, high = coarse[max(i - 2, 0)], coarse[min(i + 3, len(coarse) - 1)]
    return float(slopes(np.linspace(low, high, _GRID)).max())


def base_class_entropy(kernel: Any, half_sides: Any, ln_n: Any) -> Any:
    """Return entropy numbers of the functions k(x, .), x in a box, in the sup norm.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound radial kernel.
    half_sides : array-like of shape (d,)
        Half the sides of the box of centres. Its entropy numbers in l_infinity are multiplied by
        sqrt(d), because the Lipschitz constant is that of the Euclidean distance.
    ln_n : float or array-like
        Natural logarithms of n. The functions with both signs need twice as many balls.

    Returns
    -------
    Any
        Entropy numbers of the functions k(x, .), x in a box, in the sup norm.

    References
    ----------
    Smola 1998, (9.10) to (9.13).

    Examples
    --------
    >>> import math
    >>> from mercer.capacity.entropy import base_class_entropy
    >>> from mercer.kernels import RBF
    >>> round(base_class_entropy(RBF(gamma=1.0), [0.5], math.log(10)), 4)
    0.0429
    """
    sides = np.atleast_1d(np.asarray(half_sides, dtype=np.float64))
    slope = kernel_lipschitz(kernel, len(sides)) * math.sqrt(len(sides))
    return slope * compact_entropy(ln_n, half_sides=sides)


@bound(
    "entropy number of a convex hull", "Carl, Kyrezi and Pajor 1999; Smola 1998, (9.6)",
    trivial=None,
)  # fmt: skip
def convex_hull_entropy(n: int, size: float, dimension: float, rho: float | None = None) -> Bound:
    """Return the bound size rho n^(-1/d) on eps_{2^n} of a convex hull.

    Parameters
    ----------
    n : int >= 1
        The hull is covered by 2^n balls.
    size : float > 0
        The base set satisfies eps_n <= size n^(-1/d).
    dimension : float > 0
        The exponent d.
    rho : float > 0, optional
        The constant of the theorem, which leaves it unspecified. Without it the value is relative.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity.entropy import convex_hull_entropy
    >>> b = convex_hull_entropy(16, size=1.0, dimension=2.0)
    >>> b.value, b.relative
    (0.25, True)
    """
    integer(n, "n", minimum=1)
    d = positive(dimension, "dimension")
    factor = 1.0 if rho is None else positive(rho, "rho")
    value = positive(size, "size") * factor * n ** (-1.0 / d)
    return state({"entropy": value}, relative=rho is None)


@bound("entropy number of the class in the sup norm", "Smola 1998, proposition 9.4", trivial=None)
def F1_entropy_lipschitz(  # noqa: N802
    n: int, kernel: Any, half_sides: Any, w_norm: float = 1.0, rho: float | None = None
) -> Bound:
    r"""Return the bound on eps_{2^n} of expansions with :math:`\sum |\alpha_i| \le \Lambda`.

    .. math:: \epsilon_{2^n} \le \Lambda\, \varrho(d)\, 2^{1/d}\, c_L\, c\, n^{-1/d}

    where the box of centres satisfies :math:`\epsilon_n \le c\, n^{-1/d}`.

    Parameters
    ----------
    n : int >= 1
        The class is covered by 2^n balls.
    kernel : Kernel, str or callable
        A bound radial kernel with k(x, y) <= 1.
    half_sides : array-like of shape (d,)
        Half the sides of the box of centres.
    w_norm : float > 0, default=1.0
        The bound on the sum of the absolute coefficients.
    rho : float > 0, optional
        The unspecified constant.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity.entropy import F1_entropy_lipschitz
    >>> from mercer.kernels import RBF
    >>> F1_entropy_lipschitz(8, RBF(gamma=1.0), [0.5]).relative
    True
    """
    integer(n, "n", minimum=1)
    sides = np.atleast_1d(np.asarray(half_sides, dtype=np.float64))
    d = len(sides)
    k = resolve(kernel)
    # A cube has eps_n = h / floor(n^(1/d)) <= 2 h n^(-1/d) for all n; the box lies in its cube.
    size = 2.0 * float(sides.max()) * math.sqrt(d) * kernel_lipschitz(k, d)
    factor = 1.0 if rho is None else positive(rho, "rho")
    value = positive(w_norm, "w_norm") * factor * size * (2.0 / n) ** (1.0 / d)
    top = float(k.diag(np.zeros((1, d)))[0])
    bounded = Condition.that("k(x, y) <= 1", top <= 1.0 + 1e-12, f"k(x, x) = {top:g}")
    return state({"entropy": value}, bounded, relative=rho is None)


@bound("entropy number of the class on m points", "Smola 1998, proposition 9.5", trivial=None)
def F1_entropy_sample(  # noqa: N802
    n: int, n_samples: int, dimension: int, size: float = 1.0
) -> Bound:
    r"""Return the claimed bound on dyadic entropy numbers of expansions on m points.

    .. math:: e_n \le c \inf_{n_1 + n_2 \le n + 1}
              \bigl(n_1^{-1} \log_2 (1 + m / n_1)\bigr)^{1/2} n_2^{-1/d}

    Printed with the power 1/2 at the wrong factor and n_1 n_2 >= n. The step from the sup norm to m
    points uses Maurey's theorem on a space that is not a Hilbert space, and is not justified: the
    bound says so, and is never certified.

    Parameters
    ----------
    n : int >= 1
        Dyadic index: 2^(n - 1) balls.
    n_samples : int >= 1
        The number of points m.
    dimension : int >= 1
        The dimension d of the centres.
    size : float > 0, default=1.0
        The constant c, which the proposition leaves unspecified.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity.entropy import F1_entropy_sample
    >>> F1_entropy_sample(100, 1000, 2).certified
    False
    """
    integer(n, "n", minimum=1)
    d = integer(dimension, "dimension", minimum=1)
    first = np.arange(1, n + 1)
    values = maurey_factor(first, n_samples) * (n + 1.0 - first) ** (-1.0 / d)
    claim = Condition(
        "Maurey's theorem applies to evaluation on L_infinity", "violated",
        "rate as claimed; the theorem needs a Hilbert space",
    )  # fmt: skip
    return state({"entropy": positive(size, "size") * float(values.min())}, claim,
                 relative=True)  # fmt: skip
