"""Projection: a conditionally positive definite kernel made positive semidefinite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from mercer.gram.bounded import UNIT, gamma
from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.gram.running_error import ErrorBounds
from mercer.objects.validation import Objects, count, take

from ..base import Kernel
from ..definiteness import PSD
from .operands import nested, require_kernel


class Projected(Kernel):
    r"""A conditionally positive definite kernel, made positive semidefinite.

    .. math:: k'(x, z) = k(x, z) - \sum_i l_i(x) \, k(p_i, z) - \sum_j k(x, p_j) \, l_j(z)
              + \sum_{ij} l_i(x) \, k(p_i, p_j) \, l_j(z)

    where the functions :math:`l_i` reproduce the polynomials of the null space of k from their
    values at the points :math:`p_i`. For a kernel of order 1 there is one point p and l = 1, and k'
    is the inner product of the feature differences from p. The polynomials are lost: a machine with
    a bias restores the constant, and for order 2 ``Projected(k) + s * Linear()`` has the linear
    functions, hardly regularised when s is large.

    With all training vectors as points, k' on them is the matrix of k between the orthogonal
    projections, see :func:`project_gram`.

    Parameters
    ----------
    kernel : Kernel
        The kernel k, conditionally positive definite of order 1 or 2.
    points : objects, optional
        The points; their polynomials must be independent. By default `bind` sets a simplex about
        the (weighted) mean of the vectors, or the first of other objects.

    Notes
    -----
    Use it to give a conditionally positive definite kernel (Multiquadric, NegativeDistance,
    LogDistance, ThinPlate) to a method that needs positive semidefinite ones: one-class machines,
    machines without a bias, kernel PCA. It costs a value of k per point and object, once, and a dot
    product per pair. Avoid it for machines with a bias and a kernel of order 1, which accept the
    kernel directly.

    Examples
    --------
    >>> from mercer.kernels import NegativeDistance, Projected
    >>> k = Projected(NegativeDistance(power=2.0), points=[[0.0, 0.0]])
    >>> k([[1.0, 2.0]], [[3.0, 4.0]])  # twice the dot product
    array([[22.]])
    """

    kernel: Kernel
    points: Any = None

    definiteness = PSD  # k between functionals that vanish on the polynomials
    translation_invariant = False  # no, the points stay where they are

    _from_data = ("points",)

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "Projected")
        claim = self.kernel.definiteness
        if not claim.order:
            reason = (
                "needs no projection" if claim.is_psd else "has no known polynomials to project out"
            )
            raise ValueError(
                f"Projected takes a conditionally positive definite kernel; {self.kernel!r} is "
                f"{claim} and {reason}."
            )

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        points = self.points
        if points is None:
            points = _simplex(views.X, weight, self.kernel.definiteness.order == 2)
        return self.replace(kernel=self.kernel._bound(views, weight, names), points=points)

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of objects")
        self.kernel.compile(builder)
        projection = Projection(self.kernel, self.points)
        if self.kernel.definiteness.order == 1 and count(projection.points) == 1:
            builder.add_diagonal(_Offset(projection))
            return
        # -u.v' - v.u' = [(u - v).(u' - v') - (u + v).(u' + v')] / 2
        for sign in (-1.0, 1.0):
            with builder.through(_Terms(projection, sign)):
                builder.leaf("dot")
            builder.affine(-0.5 * sign, 0.0)
            builder.add()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        inner = self.kernel._gradient(X, Z)
        if not inner:
            return {}
        projection = Projection(self.kernel, self.points)
        P, left = projection.points, projection.weights(X)
        right = left if X is Z else projection.weights(Z)
        own = self.kernel._gradient(X, P)
        other = own if X is Z else self.kernel._gradient(Z, P)
        between = self.kernel._gradient(P, P)
        projected = {}
        for name, matrix in inner.items():
            crossed = left @ np.swapaxes(other[name], -1, -2)
            projected[name] = (
                matrix - crossed - own[name] @ right.T + left @ between[name] @ right.T
            )
        return nested("kernel", projected)


class Projection:
    """The functions that a projection is made of."""

    def __init__(self, kernel: Kernel, given: Any) -> None:
        self.kernel, self.given = kernel, given

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Projection)
            and self.kernel == other.kernel
            and (self.given is other.given or np.array_equal(self.given, other.given))
        )

    def __hash__(self) -> int:
        return hash(self.kernel)

    @cached_property
    def points(self) -> Any:
        """The points, validated."""
        return self.kernel.validate(self.given)

    @cached_property
    def _inverse(self) -> np.ndarray:
        V = self.kernel.null_space(self.points)
        if np.linalg.matrix_rank(V) < V.shape[1]:
            raise ValueError(
                f"the {len(V)} points of Projected do not determine a polynomial with {V.shape[1]} "
                "coefficients; choose more points, not all on a line or plane."
            )
        return np.linalg.pinv(V)

    @cached_property
    def _between(self) -> np.ndarray:
        return self.kernel._values(self.points, self.points)

    def weights(self, X: Any) -> np.ndarray:
        """Return u(x) = (l_1(x), ..., l_Q(x)) for every object."""
        # A sum in fixed order, not a matrix product: the bits of a row must not depend on others.
        return np.einsum("ij,jk->ik", self.kernel.null_space(X), self._inverse)

    def halves(self, X: Any, weights: np.ndarray) -> np.ndarray:
        """Return v(x) = k(x, P) - K_PP u(x) / 2, so that k' = k - u.v' - v.u'."""
        values = self.kernel._values(X, self._alike(X))
        return values - 0.5 * np.einsum("ij,jk->ik", weights, self._between)

    def errors(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return how wrong the entries of u(x) and of v(x) may be, for every object."""
        V, P = self.kernel.null_space(self.points), self.points
        steps, doubt = gamma(V.shape[1] + 4), 8.0 * UNIT * float(np.linalg.cond(V))
        u = np.abs(self.kernel.null_space(X)) @ np.abs(self._inverse)
        exact = V.shape == (1, 1)  # u = 1
        of_u = np.zeros(len(u)) if exact else (steps + doubt) * u.max(axis=1)
        between = np.abs(self._between)
        inner = ErrorBounds(self.kernel, P).rows().max()
        values = self.kernel._values(X, self._alike(X))
        own = ErrorBounds(self.kernel, X, self._alike(X)).rows().max(axis=1)
        sums = 0.5 * (u @ between).max(axis=1)
        carried = 0.5 * (between.sum(axis=0).max() * of_u + u.sum(axis=1) * inner)
        return of_u, own + carried + steps * (np.abs(values).max(axis=1) + sums)

    def _alike(self, X: Any) -> Any:
        return sp.csr_matrix(self.points) if sp.issparse(X) else self.points


@dataclass(frozen=True)
class _Terms:
    """The map x -> s u(x) + sign v(x) / s, with s chosen such that both are of one size."""

    projection: Projection
    sign: float

    @property
    def takes(self) -> Objects:
        return self.projection.kernel.takes

    def __call__(self, X: Any) -> np.ndarray:
        u = self.projection.weights(X)
        scale = self._scale
        return scale * u + (self.sign / scale) * self.projection.halves(X, u)

    def image_error(self, X: Any) -> np.ndarray:
        u, v = self.projection.errors(X)
        weights = self.projection.weights(X)
        sizes = self._scale * np.abs(weights)
        sizes = sizes + np.abs(self.projection.halves(X, weights)) / self._scale
        return self._scale * u + v / self._scale + gamma(4) * sizes.max(axis=1)

    @property
    def _scale(self) -> float:
        return float(np.sqrt(np.abs(self.projection._between).max())) or 1.0


class _Offset(Kernel):
    """Stands for the numbers -v(x) of a projection from one point, as a diagonal."""

    projection: Projection

    def diag(self, X: Any) -> np.ndarray:
        return -self.projection.halves(X, self.projection.weights(X))[:, 0]

    def diag_error(self, X: Any) -> np.ndarray:
        return self.projection.errors(X)[1]


def _simplex(X: Any, weight: np.ndarray | None, linear: bool) -> Any:
    """Return the mean of the vectors, or d + 1 points about it; the first of other objects."""
    if not (sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f")):
        return take(X, slice(0, 1))
    w = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    mean = np.asarray(X.T @ w, dtype=np.float64) / w.sum()
    if not linear:
        return mean[None]
    squares = (X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)).T @ w
    variance = np.asarray(squares, dtype=np.float64) / w.sum() - mean**2
    size = float(np.sqrt(max(variance.mean(), 0.0))) or 1.0
    d = len(mean)
    corners = np.vstack([np.full((1, d), -1.0 / np.sqrt(d)), np.eye(d)])
    return mean + size * corners
