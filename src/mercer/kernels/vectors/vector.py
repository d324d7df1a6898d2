"""Kernels of real vectors: functions of one pair statistic, with or without a width gamma."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.gram.mapped_objects import Views
from mercer.objects.validation import VECTORS, as_vectors

from ..base import Kernel
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
        if against is not None and X.shape[1] != against.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} compares it with "
                f"vectors of {against.shape[1]} features; both sets must have the same columns."
            )
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
    """Base class of the vector kernels with a width `gamma`, which may be a rule on the data."""

    gamma: Any

    @property
    def is_bound(self) -> bool:
        """Whether `gamma` is a number."""
        return not isinstance(self.gamma, str)

    def _check(self) -> None:
        width.check_gamma(self.gamma)

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        return self._with(gamma=width.resolve_gamma(self.gamma, views.X, weight))

    def _width(self) -> float:
        """Return `gamma` as a number, which it is once the kernel is bound."""
        self._require_bound("on pairs of vectors")
        return float(self.gamma)

    def _has_positive_gamma(self) -> bool:
        return isinstance(self.gamma, str) or bool(np.min(self.gamma) > 0)
