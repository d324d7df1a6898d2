r"""Entropy numbers of sets, and of operators as objects that can be scaled and composed.

The n-th entropy number of an operator T is the smallest radius at which n balls cover the image of
the unit ball. It is the norm for n = 1, falls with n (to 0 exactly if T is compact), and is the
functional inverse of the covering number: eps_n(T) <= eps implies N(eps) <= n. Every object here
returns *upper bounds* on the entropy numbers through `eps(ln_n)`; ln n instead of n, because the
counts that matter have thousands of digits. Any of them can be passed where a bound of uniform
convergence asks for the logarithm of a covering number.

Evaluation at m points is an operator into l_infinity. Maurey's theorem, in Carl's form, is for
such operators S from a Hilbert space:

.. math:: \epsilon_n(S) \le c \, \|S\| \sqrt{\frac{1}{L} \log_2\Bigl(1 + \frac{m}{L}\Bigr)},
          \quad L = \log_2 n + 1 .

The constant c <= 103 is proved; 1.86, that of the identity of l_2, is conjectured. For few balls
the norm of S is smaller, for L of the order of m the count of cubes, N <= ceil(\|S\| / eps)^m.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import integer, positive

from .diagonal import diagonal_entropy
from .inputs import Array, eigen, log_counts, number

__all__ = [
    "DiagonalOperator",
    "OperatorEntropy",
    "SetEntropy",
    "box_entropy",
    "compact_entropy",
    "compose",
    "entropy_number",
    "evaluation_operator",
    "log_covering",
    "maurey_bound",
    "operator_norm",
    "volume_lower_bound",
]


_LARGEST_POWER = 50  # of 2: no ln n beyond 1e15 is looked at
_SECTIONS = 11  # 16^-11 of a doubling is left


class OperatorEntropy:
    """Upper bounds on the entropy numbers of an operator, from a function of ln n.

    Parameters
    ----------
    eps : callable
        ``eps(ln_n)``, nonincreasing, for an array of natural logarithms.
    norm : float, optional
        The norm of the operator; no entropy number exceeds it. By default ``eps(0)``.

    Examples
    --------
    The identity of a space of 3 dimensions needs at most (1 + 2 / eps)^3 balls:

    >>> import numpy as np
    >>> from mercer.capacity.entropy import OperatorEntropy
    >>> eps = lambda ln_n: 2.0 / np.expm1(np.maximum(ln_n, 1e-9) / 3)
    >>> identity = OperatorEntropy(eps, norm=1.0)
    >>> identity.eps(0.0), round(identity.eps(np.log(1000.0)), 4)
    (1.0, 0.2222)
    >>> round(float(np.exp((2 * identity).log_covering(4.0 / 9.0))), 6)
    1000.0
    """

    def __init__(self, eps: Callable[[Array], Any], norm: float | None = None) -> None:
        self._eps = eps
        self.norm = float(np.asarray(eps(np.zeros(1))).item()) if norm is None else float(norm)

    def eps(self, ln_n: Any) -> Any:
        """Return upper bounds on the entropy numbers, at most the norm.

        Parameters
        ----------
        ln_n : float or array-like
            Natural logarithms of n >= 1.

        Returns
        -------
        float or ndarray
            The bounds.
        """
        exponents = log_counts(ln_n)
        values = np.asarray(self._eps(exponents.reshape(-1)), dtype=np.float64)
        return number(np.minimum(values, self.norm).reshape(exponents.shape))

    def dyadic(self, n: Any) -> Any:
        """Return the dyadic entropy numbers e_n = eps_{2^(n-1)}, n = 1, 2, ..."""
        steps = np.asarray(n, dtype=np.float64)
        if (steps < 1).any():
            raise ValueError(f"dyadic entropy numbers are counted from n = 1; got {n!r}.")
        return self.eps((steps - 1.0) * math.log(2.0))

    def from_dyadic(self, n: int) -> float:
        """Return the bound e_{floor(log2 n) + 1} on eps_n by dyadic entropy numbers alone."""
        return float(self.dyadic(integer(n, "n", minimum=1).bit_length()))

    def log_covering(self, eps: Any) -> Any:
        """Return upper bounds on the logarithms of covering numbers.

        Parameters
        ----------
        eps : float or array-like
            Radii > 0.

        Returns
        -------
        float or ndarray
            The smallest ln n with eps(ln n) <= eps; infinite where there is none below 1e15.
        """
        return number(invert(self.eps, eps))

    def __mul__(self, factor: Any) -> OperatorEntropy:
        size = abs(float(factor))
        return OperatorEntropy(lambda ln_n: size * np.asarray(self.eps(ln_n)), size * self.norm)

    __rmul__ = __mul__


class DiagonalOperator(OperatorEntropy):
    """The operator diag(sigma_1, sigma_2, ...) on any l_p.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        The diagonal, nonincreasing, >= 0.
    multiplicities : array-like, optional
        How often each value occurs.

    Examples
    --------
    >>> from mercer.capacity.entropy import DiagonalOperator
    >>> DiagonalOperator([3.0, 1.0]).norm
    3.0
    """

    def __init__(self, values: Any, multiplicities: Any = None) -> None:
        super().__init__(
            lambda ln_n: diagonal_entropy(values, ln_n, multiplicities).upper,
            norm=float(np.max(np.asarray(values, dtype=np.float64))),
        )


def compose(outer: OperatorEntropy, inner: OperatorEntropy, n_splits: int = 65) -> OperatorEntropy:
    r"""Return the entropy numbers of a product of operators.

    .. math:: \epsilon_{n t}(R S) \le \epsilon_n(R) \, \epsilon_t(S)

    with the best split of ln n; the ends of the split are :math:`\epsilon_n(R) \|S\|` and
    :math:`\|R\| \epsilon_n(S)`.

    Parameters
    ----------
    outer, inner : OperatorEntropy
        The operators R and S.
    n_splits : int >= 2, default=65
        How many splits of ln n are tried; each gives a valid bound.

    Returns
    -------
    OperatorEntropy
        The product.

    References
    ----------
    Smola 1998, lemma 8.5.

    Examples
    --------
    >>> from mercer.capacity.entropy import DiagonalOperator, compose
    >>> product = compose(DiagonalOperator([2.0, 1.0]), DiagonalOperator([3.0, 0.1]))
    >>> product.norm
    6.0
    """
    shares = np.linspace(0.0, 1.0, integer(n_splits, "n_splits", minimum=2))

    def eps(ln_n: Array) -> Array:
        split = shares[:, None] * ln_n
        return np.min(np.asarray(outer.eps(split)) * np.asarray(inner.eps(ln_n - split)), axis=0)

    return OperatorEntropy(eps, outer.norm * inner.norm)


def invert(function: Callable[[Array], Any], eps: Any, sections: int = _SECTIONS) -> Array:
    """Return where a nonincreasing function of ln n falls to given radii, from the safe side.

    Parameters
    ----------
    function : callable
        The function, of arrays.
    eps : float or array-like
        Radii > 0.
    sections : int, default=11
        How often the last doubling is divided by 16.

    Returns
    -------
    ndarray
        The smallest ln n >= 0, to a relative accuracy of 16^-sections and rounded up; infinite
        where the function does not fall so far.
    """
    radii = np.asarray(eps, dtype=np.float64)
    if not (radii > 0).all():
        raise ValueError(f"eps must be radii > 0; got {eps!r}.")
    flat = radii.reshape(-1)
    with np.errstate(over="ignore"):
        # A ladder of doublings, then sections of 16 parts, all radii at once.
        ladder = np.append(0.0, 2.0 ** np.arange(_LARGEST_POWER))
        reached = np.asarray(function(ladder)) <= flat[:, None]
        first = np.argmax(reached, axis=1)
        low, high = ladder[np.maximum(first - 1, 0)], ladder[first]
        for _ in range(sections):
            inside = low[:, None] + np.outer(high - low, np.arange(1, 17) / 16.0)
            inside[:, -1] = high  # which is known to suffice
            below = np.asarray(function(inside.reshape(-1))).reshape(inside.shape) <= flat[:, None]
            below[:, -1] = True
            place = np.argmax(below, axis=1)
            rows = np.arange(len(flat))
            low = np.where(place > 0, inside[rows, place - 1], low)
            high = inside[rows, place]
    return np.where(reached.any(axis=1), high, np.inf).reshape(radii.shape)


def operator_norm(matrix: Any) -> float:
    """Return the norm sup |T x| over the unit ball of the domain, for Euclidean norms.

    The thesis prints the supremum over the unit ball of the range, which means nothing.

    Parameters
    ----------
    matrix : array-like of shape (n, m)
        The operator T.

    Returns
    -------
    float
        The largest singular value.

    Examples
    --------
    >>> from mercer.capacity.entropy import operator_norm
    >>> operator_norm([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    3.0
    """
    return float(np.linalg.norm(np.asarray(matrix, dtype=np.float64), 2))


def evaluation_operator(K: Any) -> Array:
    """Return the matrix whose unit ball is what functions of norm 1 do at the sample.

    The evaluation operator maps w to (<w, phi(x_1)>, ..., <w, phi(x_m)>). Its image of the unit
    ball is that of K^(1/2), and its norm into l_infinity is the largest row length of K^(1/2),
    sqrt(max k(x_i, x_i)).

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the sample, positive semidefinite.

    Returns
    -------
    ndarray of shape (m, m)
        The symmetric root of K.

    References
    ----------
    Smola 1998, (8.21).

    Examples
    --------
    >>> from mercer.capacity.entropy import evaluation_operator
    >>> evaluation_operator([[4.0, 0.0], [0.0, 1.0]])
    array([[2., 0.],
           [0., 1.]])
    """
    matrix = np.asarray(K, dtype=np.float64)
    values, vectors = eigen(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def volume_lower_bound(K: Any, eps: float, w_norm: float = 1.0) -> float:
    r"""Return a lower bound on ln N(eps) of functions of bounded norm, on a sample.

    The values of the class at the sample are an ellipsoid of volume
    :math:`\Lambda^m \sqrt{\det K} \, \pi^{m/2} / \Gamma(m/2 + 1)`, and a ball of l_infinity has the
    volume :math:`(2 \epsilon)^m`. It tells how far an upper bound can be from the truth.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the sample.
    eps : float > 0
        The radius.
    w_norm : float > 0, default=1.0
        The bound Lambda on the norm of the functions.

    Returns
    -------
    float
        The lower bound, at least 0.

    Examples
    --------
    >>> from mercer.capacity.entropy import volume_lower_bound
    >>> round(volume_lower_bound([[1.0, 0.0], [0.0, 1.0]], 0.1), 3)
    4.364
    """
    matrix = np.asarray(K, dtype=np.float64)
    positive(eps, "eps")
    m = len(matrix)
    sign, logdet = np.linalg.slogdet(matrix)
    if sign <= 0:
        return 0.0
    volume = 0.5 * logdet + m / 2 * math.log(math.pi) - math.lgamma(m / 2 + 1)
    return max(0.0, float(volume) - m * math.log(2.0 * eps) + m * math.log(w_norm))


class SetEntropy(NamedTuple):
    """A bracket of the entropy number of a finite set.

    Attributes
    ----------
    lower, upper : float
        No n balls of a radius below `lower` cover the set; n balls of radius `upper` do.
    centres : ndarray of int
        Points whose balls of radius `upper` cover the set.

    Examples
    --------
    >>> from mercer.capacity import entropy_number
    >>> made = entropy_number([[0.0], [0.1], [1.0], [1.2]], 2)
    >>> round(made.lower, 3), round(made.upper, 3), made.centres.tolist()
    (0.1, 0.2, [0, 3])
    """

    lower: float
    upper: float
    centres: NDArray[np.intp]


def entropy_number(points: Any, n: int, *, distances: bool = False) -> SetEntropy:
    """Return a bracket of the smallest radius at which n balls cover a finite set.

    Farthest-point traversal (Gonzalez 1985): the next centre is the point farthest from all
    centres. When n are chosen, the farthest point is at the distance r, so n balls of radius r
    suffice; and n + 1 points are at least r apart, so that two of them share a ball, whose radius
    is r / 2 or more.

    Parameters
    ----------
    points : array-like of shape (m, d) or (m,)
        The set; with ``distances=True`` its matrix of distances, in any metric.
    n : int >= 1
        The number of balls.
    distances : bool, default=False
        Whether `points` is a matrix of distances.

    Returns
    -------
    SetEntropy
        Lower and upper bound, a factor of 2 apart, and the centres.

    References
    ----------
    Smola 1998, (8.2).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import entropy_number
    >>> bracket = entropy_number(np.linspace(0.0, 1.0, 1001), 4)  # exactly 1/8
    >>> bracket.lower <= 1 / 8 <= bracket.upper
    True
    """
    integer(n, "n", minimum=1)
    X = np.asarray(points, dtype=np.float64)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or len(X) == 0 or not np.isfinite(X).all():
        raise ValueError(f"points must be a table of finite numbers; got shape {X.shape}.")
    if distances and X.shape[0] != X.shape[1]:
        raise ValueError(f"a matrix of distances is square; got shape {X.shape}.")

    def from_point(i: int) -> Array:
        return X[i] if distances else np.sqrt(((X - X[i]) ** 2).sum(axis=1))

    centres = [0]
    nearest = from_point(0).copy()
    while len(centres) < min(n, len(X)):
        centres.append(int(np.argmax(nearest)))
        np.minimum(nearest, from_point(centres[-1]), out=nearest)
    upper = float(nearest.max())
    return SetEntropy(upper / 2.0, upper, np.array(centres))


def box_entropy(half_sides: Any, ln_n: Any) -> Any:
    r"""Return the entropy numbers of a box in l_infinity, exactly.

    A ball of l_infinity is a cube, and :math:`N(\epsilon) = \prod_i \lceil s_i / \epsilon \rceil`
    cubes are necessary and sufficient for half sides s_i. The box is the image of the unit ball of
    l_infinity under diag(s), which makes these the exact entropy numbers of that operator.

    Parameters
    ----------
    half_sides : array-like of shape (d,)
        Half the lengths of the sides, > 0.
    ln_n : float or array-like
        Natural logarithms of n.

    Returns
    -------
    float or ndarray
        The entropy numbers, to a relative accuracy of 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import box_entropy
    >>> round(box_entropy([1.0, 0.5, 0.25, 0.125], np.log(8)), 9)
    0.25
    """
    sides = np.asarray(half_sides, dtype=np.float64)
    if sides.ndim != 1 or len(sides) == 0 or not (sides > 0).all():
        raise ValueError("half_sides must be a list of lengths > 0.")
    exponents = log_counts(ln_n)

    def log_cover(eps: Array) -> Array:
        counts = np.ceil(sides[:, None] / eps * (1.0 - 1e-13))
        return np.log(np.maximum(counts, 1.0)).sum(axis=0)

    flat = exponents.reshape(-1) + 1e-12
    low, high = np.full(len(flat), 0.0), np.full(len(flat), float(sides.max()))
    for _ in range(200):
        middle = 0.5 * (low + high)
        fits = log_cover(middle) <= flat
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return number(high.reshape(exponents.shape))


def compact_entropy(
    ln_n: Any, *, half_sides: Any = None, radius: float | None = None, dimension: int | None = None
) -> Any:
    r"""Return upper bounds on the entropy numbers of a compact set in finite dimension.

    Parameters
    ----------
    ln_n : float or array-like
        Natural logarithms of n.
    half_sides : array-like, optional
        A box, in the metric of l_infinity: exact, see `box_entropy`.
    radius, dimension : float and int, optional
        A ball of a norm on R^d, in that norm: :math:`N(\epsilon) \le (1 + 2 R / \epsilon)^d`, so
        that :math:`\epsilon_n \le 2 R / (n^{1/d} - 1)`, and never more than R.

    Returns
    -------
    float or ndarray
        The bounds, which fall like n^(-1/d).

    References
    ----------
    Smola 1998, proposition 9.3, whose constant is made explicit here.

    Examples
    --------
    >>> import math
    >>> from mercer.capacity.entropy import compact_entropy
    >>> round(compact_entropy(math.log(100), half_sides=[0.5, 0.5]), 9)
    0.05
    >>> round(compact_entropy(math.log(9), radius=1.0, dimension=1), 3)
    0.25
    """
    if (half_sides is None) == (radius is None):
        raise ValueError("give either half_sides, for a box, or radius and dimension, for a ball.")
    if half_sides is not None:
        return box_entropy(half_sides, ln_n)
    d = integer(dimension, "dimension", minimum=1)
    R = positive(radius, "radius")
    exponents = log_counts(ln_n)
    with np.errstate(divide="ignore", over="ignore"):
        return number(np.minimum(R, 2.0 * R / np.expm1(exponents / d)))


def log_covering(entropy: Any, eps: Any) -> Any:
    """Return logarithms of covering numbers from entropy numbers, the functional inverse.

    Parameters
    ----------
    entropy : callable
        ``entropy(ln_n)``, nonincreasing, for arrays.
    eps : float or array-like
        Radii > 0.

    Returns
    -------
    float or ndarray
        The smallest ln n with entropy(ln n) <= eps; infinite where there is none.

    References
    ----------
    Smola 1998, (8.30).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import log_covering
    >>> round(float(np.exp(log_covering(lambda ln_n: 0.5 * np.exp(-ln_n), 0.05))), 6)
    10.0
    """
    return number(invert(entropy, eps))


def dyadic(entropy: Any, n: int) -> float:
    """Return the dyadic entropy number e_n = eps_{2^(n-1)} of a set.

    Parameters
    ----------
    entropy : callable
        ``entropy(ln_n)``.
    n : int >= 1
        The index.
    """
    return float(entropy((integer(n, "n", minimum=1) - 1) * math.log(2.0)))


PROVED = 103.0  # the constant of Maurey's theorem


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
