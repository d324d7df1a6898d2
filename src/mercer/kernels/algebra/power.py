"""A power of a kernel."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import integer, show
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel, inside
from ..definiteness import UNKNOWN, Definiteness
from .operands import nested, outer, product_names, require_kernel


class Power(Kernel):
    r"""A natural power of a kernel, written ``kernel ** exponent``.

    .. math:: k'(x, z) = k(x, z)^n, \quad n = 1, 2, \ldots

    Positive (semi)definite if the kernel is, being a product of kernels.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    exponent : int >= 1, default=2
        The power n. A fractional power of a kernel need not be one.

    Notes
    -----
    Use it to count products of n features of a kernel, with a small n: ``(Linear() + 1) ** 2`` has
    all pairs of columns, ``normalize(k) ** 2`` sharpens a similarity. It costs a multiplication.
    Avoid it on values much above 1, which explode; normalise first. A power of an RBF is an RBF
    with n times the gamma, and gains nothing.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() ** 2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    kernel: Kernel
    exponent: int = 2

    _binds_tighter_than = 2
    grows_with = ("exponent",)

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "Power")
        try:
            integer(self.exponent, "exponent", minimum=1)
        except ValueError:
            raise ValueError(
                "only natural powers of a kernel are certain to be positive semidefinite; got "
                f"the exponent {show(self.exponent)}. Use an integer of at least 1."
            ) from None

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel if it is positive (semi)definite, else unknown."""
        claim = self.kernel.definiteness
        return claim if claim.is_psd or self.exponent == 1 else UNKNOWN

    def compile(self, builder: Builder) -> None:
        self.kernel.compile(builder)
        if self.exponent > 1:
            builder.powi(int(self.exponent))

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return all ordered products of n features; see :meth:`Kernel.map_features`."""
        return reduce(outer, [self.kernel.map_features(X, vocabulary)] * self.exponent)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return product_names([self.kernel.feature_names(columns, vocabulary)] * self.exponent)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        inner = self.kernel._gradient(X, Z)
        if not inner:
            return {}
        n = int(self.exponent)
        return nested("kernel", inner, n * self.kernel._values(X, Z) ** (n - 1))

    def _normalized_form(self) -> Kernel | None:
        from .normalized import Normalized  # which may hold a power

        psd = self.kernel.definiteness.is_psd  # so that k(x, x) >= 0
        return Normalized(self.kernel) ** int(self.exponent) if psd else None

    def _by_own_parameters(self, slopes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        # Power(Normalized(k)) and Power(k) differ by one level of names.
        return {name.removeprefix("kernel__"): slope for name, slope in slopes.items()}

    def __repr__(self) -> str:
        return f"{inside(self.kernel, 3)} ** {show(self.exponent)}"
