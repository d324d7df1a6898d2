r"""Entropy numbers of operators, as objects that can be scaled, composed and inverted.

The n-th entropy number of an operator T is the smallest radius at which n balls cover the image of
the unit ball. It is the norm for n = 1, falls with n (to 0 exactly if T is compact), and is the
functional inverse of the covering number: eps_n(T) <= eps implies N(eps) <= n. Every object here
returns *upper bounds* on the entropy numbers through `eps(ln_n)`; ln n instead of n, because the
counts that matter have thousands of digits. Any of them can be passed where a bound of uniform
convergence asks for the logarithm of a covering number.

The evaluation of functions at the points of a sample is such an operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.objects.parameters import integer, positive

from .diagonal import diagonal_entropy
from .inputs import Array, log_counts, number

__all__ = [
    "DiagonalOperator",
    "OperatorEntropy",
    "compose",
    "evaluation_operator",
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
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
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
