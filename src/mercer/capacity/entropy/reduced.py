r"""Reduced sets: an expansion with fewer kernel functions, by greedy approximation.

Problem: given f = sum_i alpha_i k(x_i, .), find at most n of its centres and coefficients with a
small error in the norm of the RKHS. Jones' algorithm (Jones 1992) builds up
:math:`f_{t+1} = (1 - a) f_t + a g`, where g runs over the functions :math:`\pm c\, k(x_i, .)`,
:math:`c = \sum_i |\alpha_i|`, and a is optimal: its error after t steps is at most
:math:`\sqrt{(c^2 R^2 - \|f\|^2) / t}`. Then terms are eliminated one by one, the one whose loss is
least first, the coefficients of the others being refitted (a projection), until n are left. Finding
the best n is a hard problem; that a greedy algorithm attains the rate of the theorem on convex
hulls is not known. The certificate is the error itself, beside what the theorem promises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.linalg

from mercer.expansion import Expansion
from mercer.geometry import RKHSFunction
from mercer.objects.parameters import integer, truth
from mercer.objects.validation import take

from .hulls import barron_bound, makovoz_bound
from .inputs import Array
from .operators import entropy_number

__all__ = ["ReducedSet", "ReductionCertificate"]


@dataclass(frozen=True)
class ReductionCertificate:
    """Error of the returned function, and the bound of the theorem.

    Attributes
    ----------
    error : float
        Distance of the reduced function from the original, in the RKHS norm; an upper bound, with
        what rounding can contribute (about 1e-7 of the size of the coefficients).
    relative_error : float
        The error over the norm of the original.
    largest_deviation : float
        A bound on the difference of the two functions at any object, error times the largest
        sqrt(k(x, x)) among the centres.
    promised : float
        The error at which as many terms are known to exist (`makovoz_bound`).
    barron : float
        The same without the cover of the centres.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import ReducedSet
    >>> from mercer.expansion import Expansion
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> made = ReducedSet(4).fit(Expansion(RBF(1.0), X, np.ones(20)))
    >>> made.certificate_.relative_error < 0.01
    True
    """

    error: float
    relative_error: float
    largest_deviation: float
    promised: float
    barron: float

    @property
    def attains_promise(self) -> bool:
        """Whether the error is at most what the theorem promises for this many terms."""
        return self.error <= self.promised


class ReducedSet:
    """A smaller expansion of a function of an RKHS.

    Parameters
    ----------
    n_terms : int >= 1
        How many kernel functions to keep.
    n_steps : int >= 1, optional
        Steps of Jones' algorithm; by default 8 times `n_terms`.
    truncate : bool, default=True
        Whether to collect more terms, eliminate, and refit the coefficients; the terms of the first
        `n_terms` steps, refitted, are kept where they are better. Without it, `n_terms` steps are
        made and their convex coefficients are kept.

    Attributes
    ----------
    function_ : RKHSFunction
        The reduced function.
    support_ : ndarray of int
        Which centres of the original it uses.
    errors_ : ndarray
        Errors of Jones' steps, in the RKHS norm.
    certificate_ : ReductionCertificate
        The error and the promise.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import ReducedSet
    >>> from mercer.geometry import RKHSFunction
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> f = RKHSFunction(RBF(gamma=1.0), X, np.full(50, 0.02))
    >>> reduced = ReducedSet(n_terms=5).fit(f)
    >>> len(reduced.support_), reduced.certificate_.relative_error < 1e-3
    (5, True)
    """

    def __init__(self, n_terms: int, n_steps: int | None = None, truncate: bool = True) -> None:
        self.n_terms = n_terms
        self.n_steps = n_steps
        self.truncate = truncate

    def fit(self, function: Any) -> Self:
        """Reduce a function.

        Parameters
        ----------
        function : RKHSFunction or Expansion
            The function; the intercept of an expansion is left alone.
        """
        n = integer(self.n_terms, "n_terms", minimum=1)
        truncate = truth(self.truncate, "truncate")
        steps = 8 * n if self.n_steps is None else integer(self.n_steps, "n_steps", minimum=1)
        f = RKHSFunction.from_expansion(function) if isinstance(function, Expansion) else function
        if not isinstance(f, RKHSFunction):
            raise TypeError(f"an RKHSFunction or an Expansion is needed; got {type(f).__name__}.")
        K = np.asarray(f.kernel(f.centres), dtype=np.float64)
        target = np.asarray(f.coef, dtype=np.float64)
        coef, self.errors_ = _jones(K, target, n)
        if truncate:
            more, self.errors_ = _jones(K, target, max(steps, n))
            choices = [_eliminated(K, target, found, n) for found in (coef, more)]
            coef = min(choices, key=lambda found: _error(K, target - found))
        self.support_ = np.flatnonzero(coef)
        centres = take(f.centres, self.support_)
        self.function_ = RKHSFunction(f.kernel, centres, coef[self.support_])
        self.certificate_ = _certified(K, target, coef, len(self.support_))
        return self


def _jones(K: Array, target: Array, steps: int) -> tuple[Array, Array]:
    """Return the coefficients after some steps, and the error after each."""
    c = float(np.abs(target).sum())
    wanted = K @ target
    norm2, own = float(target @ wanted), np.diagonal(K)
    coef, values, errors = np.zeros(len(K)), np.zeros(len(K)), np.empty(steps)
    inner, square = 0.0, 0.0  # <f, f_t> and |f_t|^2
    for t in range(steps):
        # With r = f - f_t and h = g - f_t, the best step a = <r, h> / |h|^2 leaves
        # |r|^2 - <r, h>^2 / |h|^2, for g = s c k(x_i, .), s = 1 and -1.
        best: tuple[float, int, float, float] = (-math.inf, 0, 1.0, 0.0)
        for sign in (1.0, -1.0):
            along = sign * c * (wanted - values) - (inner - square)
            length = c * c * own - 2.0 * sign * c * values + square
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(length > 0, np.clip(along / length, 0.0, 1.0), 0.0)
            gain = 2.0 * step * along - step**2 * length
            i = int(np.argmax(gain))
            best = max(best, (float(gain[i]), i, sign, float(step[i])))
        _, i, sign, a = best
        coef *= 1.0 - a
        coef[i] += a * sign * c
        values = (1.0 - a) * values + a * sign * c * K[i]
        inner, square = float(coef @ wanted), float(coef @ values)
        errors[t] = math.sqrt(max(0.0, norm2 - 2.0 * inner + square))
    return coef, errors


def _eliminated(K: Array, target: Array, coef: Array, n: int) -> Array:
    """Return the projection on n of the chosen functions, the least important ones dropped."""
    chosen = list(np.flatnonzero(coef))
    wanted = K @ target
    while True:
        inverse = scipy.linalg.pinvh(K[np.ix_(chosen, chosen)])
        weights = inverse @ wanted[chosen]
        if len(chosen) <= n:
            break
        # Dropping function i from a projection costs weights_i^2 / inverse_ii.
        diagonal = np.maximum(np.diagonal(inverse), np.finfo(np.float64).tiny)
        chosen.pop(int(np.argmin(weights**2 / diagonal)))
    result = np.zeros(len(K))
    result[chosen] = weights
    return result


def _error(K: Array, rest: Array) -> float:
    """Return an upper bound on the norm of an expansion, with what rounding can contribute."""
    size = float(np.abs(rest) @ np.abs(K) @ np.abs(rest))
    rounding = 2.0 * len(K) * np.finfo(np.float64).eps * size
    return math.sqrt(max(0.0, float(rest @ K @ rest)) + rounding)


def _certified(K: Array, target: Array, coef: Array, n: int) -> ReductionCertificate:
    error = _error(K, target - coef)
    norm = math.sqrt(max(0.0, float(target @ K @ target)))
    own, c = np.diagonal(K), float(np.abs(target).sum())
    longest = math.sqrt(float(own.max()))
    squares = np.maximum(own[:, None] + own - 2.0 * K, 0.0)
    # The functions with both signs are covered by twice as many balls.
    distances = np.sqrt(squares)

    def entropy(k: Array) -> Array:
        halves = np.maximum(np.floor(np.asarray(k) / 2.0), 0.0).astype(int)
        radii = [entropy_number(distances, h, distances=True).upper if h else longest
                 for h in np.minimum(halves, len(K))]  # fmt: skip
        return np.array(radii)

    return ReductionCertificate(
        error=error,
        relative_error=error / norm if norm > 0 else 0.0,
        largest_deviation=error * longest,
        promised=c * float(makovoz_bound(n, entropy, radius=longest)),
        barron=c * float(barron_bound(n, radius=longest)),
    )
