"""Bases of kernels of real vectors: of any pair statistic, with a width gamma, of the distance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.gram.coordinate_statistics import Coordinates
from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.rows import dense_column
from mercer.objects.validation import VECTORS, as_vectors, require_same_columns

from ..base import Kernel
from ..definiteness import PD, PSD, Definiteness
from . import gamma as width


class VectorKernel(Kernel):
    """Base class of the kernels on rows of a dense or sparse matrix.

    A subclass supplies `compile`: the pair statistic it needs and its profile over it.

    Examples
    --------
    >>> from mercer.kernels import Linear, VectorKernel
    >>> class Squared(VectorKernel):
    ...     definiteness = Linear.definiteness
    ...     def compile(self, builder):
    ...         builder.leaf("dot")
    ...         builder.powi(2)
    ...
    >>> Squared()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    _objects = VECTORS

    def validate(self, X: Any, against: Any = None) -> Any:
        X = as_vectors(X, type(self).__name__)
        require_same_columns(X, against, type(self).__name__)
        if self._is_restricted and self.is_bound:
            self.check_domain(X)
        return X


def require_columns(X: Any, n: int, owner: str) -> None:
    """Reject vectors with another number of columns than `n`, which `owner` has."""
    if X.shape[1] != n:
        raise ValueError(
            f"X has {X.shape[1]} features, but {owner} has {n}; both must have the same columns."
        )


class GammaKernel(VectorKernel):
    """Base class of the vector kernels with a width `gamma`, which may be a rule on the data.

    Unless a subclass says otherwise, they are functions like exp(-gamma s).
    """

    gamma: Any

    @property
    def is_bound(self) -> bool:
        """Whether `gamma` is a number."""
        return not isinstance(self.gamma, str)

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite; with gamma = 0 the constant 1, which is semidefinite."""
        return PD if self._has_positive_gamma() else PSD

    def _check(self) -> None:
        width.check_gamma(self.gamma)

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        return self.replace(gamma=width.resolve_gamma(self.gamma, views.X, weight))

    def _width(self) -> float:
        """Return `gamma` as a number, which it is once the kernel is bound."""
        self.require_bound("on pairs of vectors")
        return float(self.gamma)

    def _has_positive_gamma(self) -> bool:
        gamma = self.gamma
        return isinstance(gamma, str) or bool(
            (gamma if type(gamma) is float else np.min(gamma)) > 0
        )


class RadialKernel(VectorKernel):
    """Base class of the kernels k(x, z) = h(||x - z||^2).

    They are invariant under translations and rotations of the data. A subclass supplies
    `compile`: the profile h over the squared distance.

    Examples
    --------
    >>> from mercer.kernels import InverseMultiquadric, Matern, RadialKernel
    >>> issubclass(Matern, RadialKernel), issubclass(InverseMultiquadric, RadialKernel)
    (True, True)
    """

    translation_invariant = True  # a function of the distance


class CoordinateKernel(VectorKernel):
    """Base class of the kernels k(x, z) = prod_i f(x_i, z_i).

    A subclass supplies `coordinate_function`, the native form of f, and `_slopes`, the
    derivatives of f with respect to the parameters.
    """

    def coordinate_function(self) -> Coordinates:
        """Return the function f of one coordinate."""
        raise NotImplementedError(f"{type(self).__name__} defines no coordinate_function.")

    def compile(self, builder: Builder) -> None:
        builder.coordinates(self.coordinate_function())

    def _slopes(self, x: np.ndarray, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return the derivatives of f(x, z) with respect to the parameters."""
        return {}

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        """Return the derivatives of the product, column by column."""
        f = self.coordinate_function()
        value = np.ones((X.shape[0], Z.shape[0]))
        slopes = {name: np.zeros_like(value) for name in self._slopes(np.zeros(1), np.zeros(1))}
        for j in range(X.shape[1]):
            x, z = dense_column(X, j)[:, None], dense_column(Z, j)[None]
            factor, own = f.values(x, z), self._slopes(x, z)
            for name, slope in slopes.items():
                slopes[name] = slope * factor + value * own[name]
            value = value * factor
        return slopes
