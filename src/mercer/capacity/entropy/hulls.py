r"""Convex hulls of kernel functions: how few terms approximate an expansion.

An element of the convex hull of G is approximated by n elements of G at the rate 1 / sqrt(n)
(Barron 1993): draw them. When G is covered by k small balls, draw within the balls: with
ceil((n - k) w_j) draws in the cell of weight w_j, the error is at most

.. math:: \min_{0 \le k < n} \epsilon_k(G) / \sqrt{n - k}, \qquad \epsilon_0(G) := \sup_g \|g\| ,

which at k = n / 2 is :math:`\sqrt 2\, \epsilon_{n/2}(G) / \sqrt n`. The form that Smola's thesis
quotes from Makovoz (1996), :math:`2 \epsilon_n(G) / \sqrt n`, is false: for 24 orthonormal elements
and a cluster of radius 0.01 that carries half of the weight, 25 terms leave an error of 0.0050,
while it promises 0.0040.

The smoothness of the kernel gives a cover of G in the sup norm: if
:math:`|k(x, y) - k(x', y)| \le c_L \|x - x'\|`, a cover of the centres is a cover of the functions
:math:`k(x, \cdot)`, and a theorem of Carl, Kyrezi and Pajor passes to their convex hull:
:math:`\epsilon_n(G) \le c\, n^{-1/d}` gives :math:`\epsilon_{2^n}(\mathrm{co}\, G) \le
c\, \varrho(d)\, n^{-1/d}`, with a constant :math:`\varrho(d)` that the theorem does not specify.
What depends on it is marked as relative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.kernels import resolve
from mercer.objects.parameters import integer, positive

from .inputs import Array
from .operators import compact_entropy, maurey_factor
from .scaling import as_spectrum, eps_of

__all__ = [
    "ConvexHullClass",
    "F1_entropy_lipschitz",
    "F1_entropy_sample",
    "barron_bound",
    "base_class_entropy",
    "convex_hull_entropy",
    "feature_curve_entropy",
    "kernel_lipschitz",
    "makovoz_bound",
    "terms_needed",
]


Entropy = Callable[[Array], Any]
_MOST_BALLS = 200_000  # up to so many numbers of balls are tried one by one


@bound("approximation error", "Makovoz 1996, corrected; Smola 1998, theorem 9.1", trivial=None)
def makovoz_bound(
    n_terms: int, entropy: Entropy, radius: float = 1.0, printed: bool = False
) -> Bound:
    """Return a bound on the error of n terms for an element of a convex hull.

    Parameters
    ----------
    n_terms : int >= 1
        The number of terms n.
    entropy : callable
        ``entropy(k)``: entropy numbers of G for an array of counts k >= 1, or upper bounds.
    radius : float > 0, default=1.0
        The largest norm of an element of G.
    printed : bool, default=False
        Whether to evaluate 2 eps_n(G) / sqrt(n). It is wrong, and the bound is marked as such.

    Returns
    -------
    Bound
        The error, in the norm of the Hilbert space.

    Examples
    --------
    >>> from mercer.capacity.entropy import barron_bound, makovoz_bound
    >>> segment = lambda k: 0.5 / k
    >>> round(makovoz_bound(100, segment).value, 6), barron_bound(100).value
    (0.001299, 0.1)
    """
    n = integer(n_terms, "n_terms", minimum=1)
    R = positive(radius, "radius")
    if printed:
        wrong = Condition(
            "2 eps_n(G) / sqrt(n) bounds the error", "violated", "0.0050 > 0.0040 at n = 25"
        )
        return state({"error": 2.0 * float(np.asarray(entropy(np.array([n])))[0]) / n**0.5}, wrong)
    k = _counts(n - 1)
    radii = np.minimum(R, np.asarray(entropy(k), dtype=np.float64)) if len(k) else np.zeros(0)
    stratified = radii / np.sqrt(n - k)
    return state({"error": float(min([R / math.sqrt(n), *stratified]))})


@bound("approximation error", "Barron 1993; Smola 1998, theorem 9.1", trivial=None)
def barron_bound(n_terms: int, radius: float = 1.0) -> Bound:
    """Return radius / sqrt(n), the error of n terms for an element of a convex hull.

    Parameters
    ----------
    n_terms : int >= 1
        The number of terms n.
    radius : float > 0, default=1.0
        The largest norm of an element.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity.entropy import barron_bound
    >>> barron_bound(25, radius=2.0).value
    0.4
    """
    n = integer(n_terms, "n_terms", minimum=1)
    return state({"error": positive(radius, "radius") / math.sqrt(n)})


def terms_needed(
    eps: float, coef_l1: float, spectrum: Any = None, *, entropy: Entropy | None = None,
    radius: float | None = None,
) -> int:  # fmt: skip
    r"""Return how many kernel functions suffice for a precision in the RKHS norm.

    An expansion with :math:`\sum_i |\alpha_i| = c` lies in c times the convex hull of the functions
    :math:`\pm k(x, \cdot)`, which lie in the ellipsoid of the scaling operator. Stratified sampling
    over k balls needs :math:`k + (c\, \epsilon_k / \epsilon)^2` terms; k = 0 is Barron's count.

    Parameters
    ----------
    eps : float > 0
        The precision.
    coef_l1 : float > 0
        The sum c of the absolute coefficients.
    spectrum : Spectrum or array-like, optional
        Eigenvalues of the kernel, for entropy numbers of the scaling operator.
    entropy : callable, optional
        Entropy numbers of the functions themselves, of arrays of counts, such as
        `feature_curve_entropy` gives.
    radius : float > 0, optional
        The largest length sqrt(k(x, x)); by default that of the spectrum.

    Returns
    -------
    int
        The number of terms; never more than Barron's.

    References
    ----------
    Smola 1998, section 9.1.2, with the count of the corrected theorem.

    Examples
    --------
    >>> from mercer.capacity.entropy import terms_needed
    >>> terms_needed(0.01, 1.0, radius=1.0, entropy=lambda k: 1.0 / k)
    41
    >>> terms_needed(0.01, 1.0, radius=1.0)
    10000
    """
    precision, c = positive(eps, "eps"), positive(coef_l1, "coef_l1")
    known = None if spectrum is None else as_spectrum(spectrum)
    if radius is None:
        if known is None:
            raise ValueError("give the radius sqrt(max k(x, x)), or a spectrum, which knows one.")
        radius = known.radius
    if known is not None and entropy is None:

        def entropy(k: Array) -> Any:
            return eps_of(known, np.log(k))

    barron = (c * positive(radius, "radius") / precision) ** 2
    best = math.ceil(barron * (1.0 - 1e-12))
    if entropy is not None and best > 1:
        k = _counts(min(best, 10**15))
        radii = np.minimum(radius, np.asarray(entropy(k), dtype=np.float64))
        best = min(best, int(np.ceil((k + (c * radii / precision) ** 2) * (1 - 1e-12)).min()))
    return max(best, 1)


def _counts(most: int) -> Array:
    """Return 1, 2, ..., most, thinned out where they are many."""
    if most <= _MOST_BALLS:
        return np.arange(1.0, most + 1.0)
    return np.unique(np.round(np.geomspace(1.0, most, _MOST_BALLS)))


def feature_curve_entropy(kernel: Any, domain: tuple[float, float], n: Any) -> Any:
    r"""Return upper bounds on the entropy numbers of the curve of features over an interval.

    In the metric :math:`d_k^2(x, y) = k(x, x) + k(y, y) - 2 k(x, y)`; the interval is cut into n
    equal parts, whose midpoints are the centres. For one-dimensional curves this is far smaller
    than the entropy numbers of the ellipsoid around them: of order n^(-1/2) for exp(-|x - y|),
    where eps_n(A) falls with ln n only. (The thesis assigns the rate n^(-alpha/2) to eps_n(A),
    which confuses it with dyadic entropy numbers.)

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel on the line.
    domain : tuple (low, high)
        The interval.
    n : int or array-like of int
        Numbers of balls.

    Returns
    -------
    float or ndarray
        The bounds: the largest distance from a centre to an end of its part, or to one of 8 points
        between. For kernels of x - y that decrease with the distance they are exact for centres on
        the curve.

    References
    ----------
    Smola 1998, section 9.1.2.

    Examples
    --------
    >>> from mercer.capacity.entropy import feature_curve_entropy
    >>> from mercer.kernels import Exponential
    >>> round(feature_curve_entropy(Exponential(gamma=1.0), (0.0, 1.0), 10), 4)
    0.3123
    """
    k = resolve(kernel)
    low, high = float(domain[0]), float(domain[1])
    if not low < high:
        raise ValueError(f"domain must be an interval (low, high), low < high; got {domain!r}.")
    counts = np.atleast_1d(np.asarray(n))
    if not (counts >= 1).all():
        raise ValueError(f"n must be numbers of balls, at least 1; got {n!r}.")
    if k.translation_invariant:  # looks the same in every part
        offsets = (high - low) / (2.0 * counts[:, None]) * np.linspace(0.0, 1.0, 9)
        values = k(offsets.reshape(-1, 1), [[0.0]]).reshape(offsets.shape)
        results = np.sqrt(np.maximum(2.0 * (k.diag([[0.0]])[0] - values), 0.0)).max(axis=1)
        return results if np.ndim(n) else float(results[0])
    results = np.empty(len(counts))
    for i, count in enumerate(counts):
        parts = int(count)
        used = min(parts, 4096)
        centres = low + (high - low) * (np.arange(used) + 0.5) / parts
        offsets = (high - low) / (2.0 * parts) * np.linspace(-1.0, 1.0, 17)
        around = (centres[:, None] + offsets).reshape(-1, 1)
        own, other = k.diag(centres[:, None]), k.diag(around).reshape(used, -1)
        cross = np.array([k(c[None, None], a[:, None])[0] for c, a in
                          zip(centres, around.reshape(used, -1), strict=True)])  # fmt: skip
        squares = own[:, None] + other - 2.0 * cross
        results[i] = math.sqrt(max(0.0, float(squares.max())))
    return results if np.ndim(n) else float(results[0])


class ConvexHullClass:
    """The convex hull of points of feature space, or the hull of at most n of them.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Inner products of the points.
    n_terms : int >= 1, optional
        How many points a combination may use; all by default.

    References
    ----------
    Smola 1998, (9.3).

    Examples
    --------
    >>> from mercer.capacity.entropy import ConvexHullClass
    >>> hull = ConvexHullClass([[1.0, 0.0], [0.0, 1.0]])
    >>> hull.contains([0.3, 0.7]), hull.contains([0.3, 0.3]), round(hull.diameter, 4)
    (True, False, 1.4142)
    """

    def __init__(self, K: Any, n_terms: int | None = None) -> None:
        self.K = np.asarray(K, dtype=np.float64)
        if self.K.ndim != 2 or self.K.shape[0] != self.K.shape[1]:
            raise ValueError(f"inner products form a square matrix; got shape {self.K.shape}.")
        self.n_terms = len(self.K) if n_terms is None else integer(n_terms, "n_terms", minimum=1)

    def contains(self, weights: Any) -> bool:
        """Return whether weights are a convex combination of at most n points."""
        w = np.asarray(weights, dtype=np.float64)
        convex = (w >= 0).all() and abs(w.sum() - 1.0) <= 1e-12 * len(w)
        return bool(convex and np.count_nonzero(w) <= self.n_terms)

    def distance(self, left: Any, right: Any) -> float:
        """Return the distance of two combinations."""
        d = np.asarray(left, dtype=np.float64) - np.asarray(right, dtype=np.float64)
        return math.sqrt(max(0.0, float(d @ self.K @ d)))

    @property
    def diameter(self) -> float:
        """The largest distance, that of two of the points."""
        own = np.diagonal(self.K)
        return math.sqrt(max(0.0, float((own[:, None] + own - 2.0 * self.K).max())))


_GRID = 4001  # distances per grid: the largest slope of a smooth profile to about 1e-6


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
