"""A vector kernel over features that are computed from objects of another kind."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder, Mapping

from .algebra.operands import require_kernel
from .base import Kernel
from .definiteness import Definiteness, on_subset_of_columns
from .mapping import FeaturesOf
from .vectors import Linear


class FeatureKernel(Kernel):
    r"""Base of the kernels that look at their objects through a map to vectors.

    .. math:: k(x, z) = k_0(\phi(x), \phi(z))

    A subclass gives the map, `features`, and has the kernel :math:`k_0` among its parameters as
    ``kernel``; None means the dot product. As definite as :math:`k_0`, except that
    different objects may have the same features, which loses strictness.
    """

    kernel: Kernel | None

    def features(self, X: Any) -> np.ndarray:
        """Return the vectors of validated objects; one row depends on one object only."""
        raise NotImplementedError(f"{type(self).__name__} does not define its features.")

    def _check(self) -> None:
        if self.kernel is None:
            return
        name = type(self).__name__
        require_kernel(self.kernel, "kernel", name)
        takes = self.kernel.takes
        if takes.pairwise or takes.structured or takes.columns:
            raise ValueError(
                f"the kernel of {name} must be a kernel on whole vectors; {self.kernel!r} is "
                f"defined on {takes.domain}."
            )

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel on vectors, without strictness."""
        return on_subset_of_columns(self._vector_kernel.definiteness)

    @property
    def is_bound(self) -> bool:
        """Whether the kernel on vectors is bound."""
        return self._vector_kernel.is_bound

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        ready = self._ready(views, weight)
        if ready.kernel is None or ready.kernel.is_bound:
            return ready

        features = views.images(ready._map)
        return ready.replace(kernel=ready.kernel._bound(Views(features), weight, None))

    def _ready(self, views: Views, weight: np.ndarray | None) -> Self:
        """Return a copy whose features depend on no more data."""
        return self.replace()

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of objects")
        with builder.through(self._map):
            self._vector_kernel.compile(builder)

    @property
    def _map(self) -> Mapping:
        """The map, which does not depend on the kernel on vectors."""
        return FeaturesOf(self.replace(kernel=None))

    def feature_map(self, X: Any) -> Any:
        """Return the features of the kernel on vectors; see :meth:`Kernel.feature_map`."""
        self.require_bound("as explicit features")
        return self._vector_kernel.feature_map(self.features(self.validate(X)))

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        if self.kernel is None:
            return {}
        A = self.features(X)
        B = A if X is Z else self.features(Z)
        slopes = self.kernel._gradient(A, B)
        return {f"kernel__{name}": matrix for name, matrix in slopes.items()}

    @property
    def _vector_kernel(self) -> Kernel:
        return Linear() if self.kernel is None else self.kernel

    def inner_kernels(self) -> list[Kernel]:
        return []  # the kernel on vectors does not take the same objects
