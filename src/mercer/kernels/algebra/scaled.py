"""A positive multiple of a kernel."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from mercer.gram.kernel_diagonal import diagonal
from mercer.gram.mapped_objects import views_of
from mercer.gram.program import Builder
from mercer.objects.parameters import real, show
from mercer.objects.validation import count
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel, Wanted, inside
from ..definiteness import PSD, Definiteness
from .operands import nested, require_kernel, wanted_inside


class Scaled(Kernel):
    r"""A non-negative multiple of a kernel, written ``scale * kernel``.

    .. math:: k'(x, z) = s \, k(x, z), \quad s \ge 0

    As definite as the kernel; with s = 0 positive semidefinite.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    scale : float >= 0, default=1.0
        The factor s.

    Notes
    -----
    Use it to weigh the parts of a sum, and to bring values near 1. For one kernel alone it does
    what C does: 2 * k with C is k with 2 C. The values have a derivative by the factor. Avoid it
    with negative factors, which raise ValueError.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (0.5 * Linear())([[1.0, 2.0]], [[3.0, 4.0]])
    array([[5.5]])
    """

    kernel: Kernel
    scale: float = 1.0

    _binds_tighter_than = 1

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "Scaled")
        if real(self.scale, "the factor of a kernel") < 0:
            raise ValueError(
                f"a kernel times a negative number is not positive semidefinite; got the factor "
                f"{show(self.scale)}. Use a factor >= 0."
            )

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel."""
        return self.kernel.definiteness if self.scale > 0 else PSD

    def compile(self, builder: Builder) -> None:
        self.kernel.compile(builder)
        builder.affine(float(self.scale), 0.0)

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the features times sqrt(scale); see :meth:`Kernel.map_features`."""
        return self.kernel.map_features(X, vocabulary) * sqrt(self.scale)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return self.kernel.feature_names(columns, vocabulary)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        inner = nested("kernel", self.kernel._gradient(X, Z), float(self.scale))
        return {"scale": self.kernel._values(X, Z)} | inner

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        inner = self.kernel.contract(X, Z, W, wanted_inside(wanted, "kernel"))
        found = nested("kernel", inner, float(self.scale))
        if wanted is None or "scale" in wanted:
            found["scale"] = np.einsum("ij,ij->", self.kernel._values(X, Z), W)
        return found

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        inner = nested("kernel", self.kernel.diagonal_gradient(X), float(self.scale))
        return {"scale": diagonal(self.kernel, views_of(X))} | inner

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        return float(self.scale) * self.kernel.contract_rows(X, Z, W)

    def _normalized_form(self) -> Kernel | None:
        from .normalized import Normalized  # which may hold a multiple

        if not (self.scale > 0 and self.kernel._has_norms):
            return None
        return Normalized(self.kernel) if self.kernel._normalizes_without_norms else None

    def _normalized_gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray] | None:
        slopes = super()._normalized_gradient(X, Z)
        return None if slopes is None else {"scale": np.zeros((count(X), count(Z)))} | slopes

    def __repr__(self) -> str:
        # Level 2 keeps 2 * (k1 * k2) apart from (2 * k1) * k2, whose parameters differ.
        return f"{show(self.scale)} * {inside(self.kernel, 2)}"
