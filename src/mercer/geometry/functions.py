"""Functions of a reproducing kernel Hilbert space, which are also the points of feature space.

A finite expansion f = sum_i a_i k(x_i, .) is at the same time the point P = sum_i a_i phi(x_i) of
feature space, and both have the same inner product (N. Aronszajn, "Theory of reproducing
kernels", Trans. AMS 68, 1950)

    <f, g> = sum_ij a_i b_j k(x_i, z_j) = sum_i a_i g(x_i) = sum_j b_j f(z_j),

which depends on the functions alone and not on the expansions they are written in. Evaluation is
the inner product with a section of the kernel, f(z) = <f, k(z, .)>, so |f(z)| <= |f| sqrt(k(z, z)).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from mercer.expansion import Expansion
from mercer.gram import Prepared
from mercer.kernels.base import Kernel
from mercer.objects.arrays import Array
from mercer.objects.parameters import is_number, real
from mercer.objects.tables import stacked
from mercer.objects.validation import stored_alike

from .lengths import norm

_NEGATIVE_SQUARE = 1e-12  # of the sum of absolute terms: what a squared norm may fall below 0 by


class Combination:
    """A combination of sections k(x_i, .), with coefficients that are numbers or vectors.

    The base of functions with one output and with several. Those of one kind and over the same
    kernel are added, subtracted and multiplied by numbers.
    """

    _ndim: ClassVar[int]  # of the coefficients
    _one: ClassVar[str]  # what a centre has, in words

    def __init__(self, kernel: Kernel, X: Any, coef: ArrayLike) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel; got {kernel!r}.")
        if kernel.pairwise:
            raise ValueError(
                "a precomputed matrix holds no objects at which a function could be evaluated; "
                "work with its coefficients instead: the inner product is a @ K @ b."
            )
        kernel.require_bound("as a function")
        coef = np.asarray(coef, dtype=np.float64)
        if coef.ndim != self._ndim:
            raise ValueError(f"coef must be {self._one} per centre; got shape {coef.shape}.")
        if not np.isfinite(coef).all():
            raise ValueError("coef contains NaN or infinity; coefficients must be finite numbers.")
        self._expansion = Expansion(kernel, kernel.validate(X), coef)

    @property
    def kernel(self) -> Kernel:
        """The reproducing kernel."""
        return self._expansion.kernel

    @property
    def centres(self) -> Any:
        """The centres."""
        return self._expansion.vectors

    @property
    def coef(self) -> Array:
        """The coefficients."""
        return self._expansion.coef

    def __call__(self, Z: Any) -> Array:
        """Return the values f(z) of objects, of shape (n_Z,) or (n_Z, n_outputs)."""
        against = self.centres if hasattr(self.centres, "shape") else None
        Z, _ = stored_alike(self.kernel.validate(Z, against), self.centres)
        return self._alike(Z).evaluate(Z)

    def inner(self, other: Self) -> float:
        """Return <f, g> = sum_i <a_i, g(x_i)> for a function g of the same kind and kernel."""
        self._require_same_space(other)
        return float((self.coef * other(self.centres)).sum())

    def norm(self) -> float:
        """Return |f| = sqrt(<f, f>).

        A squared norm below 0, which no positive semidefinite kernel gives, is an error.
        """
        terms = self.coef * self(self.centres)
        return _root(float(terms.sum()), float(np.abs(terms).sum()), self.kernel)

    def distance(self, other: Self) -> float:
        """Return |f - g| for a function g of the same kind and kernel.

        Differences below about 1e-8 of the norms are lost to rounding.
        """
        self._require_same_space(other)
        own, across = self.coef * self(self.centres), self.coef * other(self.centres)
        theirs = other.coef * other(other.centres)
        size = sum(float(np.abs(terms).sum()) for terms in (own, across, across, theirs))
        square = float(own.sum() - 2.0 * across.sum() + theirs.sum())
        return _root(square, size, self.kernel)

    def angle(self, other: Self) -> float:
        """Return the angle to a function g of the same kind and kernel, in radians from 0 to pi.

        NaN if one of the two is zero.
        """
        lengths = self.norm() * other.norm()
        if lengths == 0.0:
            return math.nan
        return math.acos(min(1.0, max(-1.0, self.inner(other) / lengths)))

    def evaluation_bound(self, Z: Any) -> Array:
        """Return |f| sqrt(k(z, z)) for objects z, which the length of no value f(z) exceeds.

        The bound is attained where f is k(z, .) times a constant.
        """
        return self.norm() * norm(self.kernel, Z)

    # -- a vector space ----------------------------------------------------------------------

    def __add__(self, other: Any) -> Self:
        if not isinstance(other, Combination):
            return NotImplemented
        self._require_same_space(other)
        return type(self)(
            self.kernel,
            stacked(self.centres, other.centres),
            np.concatenate([self.coef, other.coef]),
        )

    def __neg__(self) -> Self:
        return -1.0 * self

    def __sub__(self, other: Any) -> Self:
        return self + (-other) if isinstance(other, Combination) else NotImplemented

    def __mul__(self, factor: Any) -> Self:
        if not is_number(factor):
            return NotImplemented
        return type(self)(self.kernel, self.centres, real(factor, "the factor") * self.coef)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Self:
        return self * (1.0 / divisor) if is_number(divisor) else NotImplemented

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.kernel!r}: {len(self.coef)} terms>"

    # -- machinery ---------------------------------------------------------------------------

    def _require_same_space(self, other: Any) -> None:
        if not isinstance(other, type(self)):
            raise TypeError(f"another {type(self).__name__} is needed; got {type(other).__name__}.")
        if self.kernel != other.kernel:
            raise ValueError(
                f"the functions belong to different spaces, of {self.kernel!r} and of "
                f"{other.kernel!r}; only functions of one kernel have an inner product."
            )
        if self.coef.shape[1:] != other.coef.shape[1:]:
            raise ValueError(
                f"the functions have {self.coef.shape[1]} and {other.coef.shape[1]} outputs; only "
                "values of one size have an inner product."
            )

    def _alike(self, Z: Any) -> Expansion:
        """Return the expansion with its centres stored like `Z`, sparse or dense."""
        if sp.issparse(Z) and not sp.issparse(self.centres):
            return Expansion(self.kernel, sp.csr_array(self.centres), self.coef)
        return self._expansion


class RKHSFunction(Combination):
    """A function f = sum_i a_i k(x_i, .), the same thing as the point sum_i a_i phi(x_i).

    Functions over the same kernel are added, subtracted and multiplied by numbers.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, bound to data if it depends on them.
    X : objects
        The centres x_i.
    coef : array-like of shape (n_X,)
        The coefficients a_i.

    Examples
    --------
    The two functions below are the same, so their distance is 0:

    >>> from mercer.geometry import RKHSFunction
    >>> from mercer.kernels import Linear
    >>> f = RKHSFunction(Linear(), [[1.0, 0.0], [0.0, 2.0]], [3.0, 2.0])
    >>> g = RKHSFunction(Linear(), [[3.0, 4.0]], [1.0])
    >>> f([[1.0, 1.0]])
    array([7.])
    >>> f.norm(), f.distance(g), (2 * f - g).norm()
    (5.0, 0.0, 5.0)
    """

    _ndim = 1
    _one = "one number"

    @classmethod
    def from_expansion(cls, expansion: Expansion) -> RKHSFunction:
        """Return the part of a fitted machine that lies in the space.

        `expansion`: a function with one output, such as ``model.expansion_``. Its intercept, and a
        linear function beside it, are left out: they need not belong to the space.
        """
        if expansion.coef.ndim != 1:
            raise ValueError(
                f"the expansion has {expansion.n_outputs} outputs; choose one: expansion[0]."
            )
        return cls(expansion.kernel, expansion.vectors, expansion.coef)


def cross_gram_product(kernel: Kernel, X: Any, Z: Any, V: ArrayLike) -> Array:
    """Return K(X, Z) @ V without the matrix."""
    V = np.asarray(V, dtype=np.float64)
    if kernel.pairwise:
        return Prepared(kernel, np.arange(len(V))).matmul(X, V)
    X, Z = stored_alike(X, Z)
    return Prepared(kernel, Z).matmul(X, V)


def _root(square: float, size: float, kernel: Kernel) -> float:
    if square < -_NEGATIVE_SQUARE * size:
        raise ValueError(
            f"the squared norm is {square:.6g}: {kernel!r} is not positive semidefinite on these "
            "objects, so it has no space of functions with a norm."
        )
    return math.sqrt(max(square, 0.0))
