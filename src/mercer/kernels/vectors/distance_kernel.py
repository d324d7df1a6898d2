"""The exponential of a distance: p-norms, chi-square, or the user's own."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log2
from typing import Any, ClassVar

import numpy as np

from mercer.gram.coordinate_statistics import power
from mercer.gram.program import Builder
from mercer.numerics.random_frequencies import stable
from mercer.objects.parameters import is_number, positive, show
from mercer.objects.rows import dense_column
from mercer.objects.validation import VECTORS, Objects, as_objects, count

from ..base import Kernel
from ..definiteness import PD, UNKNOWN, Definiteness
from ..function import checked
from ..stated_spectrum import DrawsFrequencies
from .exponential import Exponential
from .histogram import require_nonnegative
from .laplacian import Laplacian
from .rbf import RBF
from .vector import VectorKernel

_NORMS = {"l1": 1.0, "l2": 2.0, "linf": inf}
_NAMES = (*_NORMS, "sqeuclidean", "chi2")


class DistanceKernel(DrawsFrequencies, VectorKernel):
    r"""The exponential of a distance.

    .. math:: k(x, z) = \exp(-d(x, z) / s)

    Positive definite for the p-norms with :math:`1 \le p \le 2`, for the squared Euclidean
    distance, and for the chi-square distance :math:`\sum_i (x_i - z_i)^2 / (x_i + z_i)` of vectors
    without negative entries, which is ChiSquare. For p > 2 (in three dimensions or more it is not
    positive definite, by a theorem of Koldobsky) and for a user's distance nothing is claimed.

    Parameters
    ----------
    distance : str, float >= 1 or callable, default="l2"
        "l1", "l2", "linf" or a number p for a p-norm; "sqeuclidean"; "chi2", in which a bin that
        is empty in both counts 0; or ``distance(A, B)``, which returns the matrix of distances of
        two collections of any objects.
    scale : float > 0, default=1.0
        The scale s.

    Notes
    -----
    Use it to make a kernel of a distance that fits the data, your own included: an edit distance, a
    distance on a tree, Canberra. Take `scale` near the median distance. For "l1", "l2" and
    "sqeuclidean" the kernels Laplacian, Exponential and RBF are the same functions with rules for
    the width. A distance of your own runs in Python, once per tile. Avoid it without a test: many
    distances do not give a positive semidefinite kernel, which :func:`mercer.inspection.check`
    tests on the data.

    Examples
    --------
    >>> from mercer.kernels import DistanceKernel
    >>> DistanceKernel("chi2", scale=2.0)([[1.0, 0.0]], [[0.0, 1.0]]).round(6)
    array([[0.367879]])
    """

    distance: str | float | Callable[[Any, Any], Any] = "l2"
    scale: float = 1.0

    _fixed = ("distance",)

    def _check(self) -> None:
        positive(self.scale, "scale")
        if callable(self.distance) or self.distance in _NAMES:
            return
        if isinstance(self.distance, str) or not is_number(self.distance):
            names = ", ".join(map(repr, _NAMES))
            raise ValueError(
                f"distance must be one of {names}, a number p >= 1 or a function of two "
                f"collections; got {show(self.distance)}."
            )
        if not self.distance >= 1:
            raise ValueError(f"a p-norm needs p >= 1; got {show(self.distance)}.")

    @property
    def power(self) -> float | None:
        """The p of a p-norm, None for other distances."""
        if isinstance(self.distance, str):
            return _NORMS.get(self.distance)
        return None if callable(self.distance) else float(self.distance)

    @property
    def same_as(self) -> Kernel | None:
        """The named kernel that is the same function, None if there is none."""
        if self.distance == "sqeuclidean":
            return RBF(1.0 / float(self.scale))
        named = {1.0: Laplacian, 2.0: Exponential}.get(self.power or inf)
        return None if named is None else named(1.0 / float(self.scale))

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite where the distance embeds in L1 or L2, else unknown."""
        if self.distance in ("chi2", "sqeuclidean"):
            return PD
        return PD if self.power is not None and self.power <= 2 else UNKNOWN

    @property
    def takes(self) -> Objects:
        """Vectors, or whatever the user's distance accepts."""
        if callable(self.distance):
            return Objects("any objects its distance accepts", accepts_sparse=True)
        return VECTORS

    @property
    def translation_invariant(self) -> bool:
        """Whether k(x + a, z + a) = k(x, z): for norms."""
        return self.power is not None or self.distance == "sqeuclidean"

    @property
    def _is_restricted(self) -> bool:
        return self.distance == "chi2"

    def check_domain(self, X: Any) -> None:
        """Reject negative entries for the chi-square distance; see the base class."""
        if self.distance == "chi2":
            require_nonnegative(X, "the chi-square distance")

    def validate(self, X: Any, against: Any = None) -> Any:
        if callable(self.distance):
            return as_objects(X, type(self).__name__)
        return super().validate(X, against)

    def compile(self, builder: Builder) -> None:
        if callable(self.distance):
            builder.python(_Distance(self.distance))
        elif self.power == inf:
            builder.coordinates(power(1.0), "maximum")
        elif self.power == 1:
            builder.leaf("l1")
        elif self.power is None or self.power == 2:
            builder.leaf("chi" if self.distance == "chi2" else "sqdist")
            if self.power == 2:
                builder.sqrt()
        elif self._powers_overflow():
            builder.python(_Norm(self.power))
        else:
            builder.coordinates(power(self.power), "anova", 1)
            builder.power(1.0 / self.power)
        builder.affine(-1.0 / float(self.scale), 0.0)
        builder.exp()

    def _powers_overflow(self) -> bool:
        """Whether powers of differences that matter may leave the range of numbers.

        Those between 2^-56 and 2^10 times the scale do: exp(-t) is 1 before and 0 after.
        """
        return float(self.power or 0.0) * (56.0 + abs(log2(float(self.scale)))) > 1000.0

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        values = self._values(X, Z)
        logarithms = np.log(values, out=np.zeros_like(values), where=values > 0)
        return {"scale": -values * logarithms / float(self.scale)}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        if self.distance == "sqeuclidean":
            return rng.normal(scale=(2.0 / float(self.scale)) ** 0.5, size=(n, d))
        if self.power is None or self.power > 2:
            raise ValueError(
                f"{self!r} has no spectrum to draw from: the distances that give one are the "
                "p-norms with p <= 2 and 'sqeuclidean'."
            )
        return stable(self.power, n, d, rng) / float(self.scale)


class _Norm(Kernel):
    """Distances by a p-norm of large p, scaled by the largest difference of two vectors."""

    power: float

    _objects = VECTORS

    def tile(self, A: Any, B: Any) -> np.ndarray:
        largest = np.zeros((count(A), count(B)))
        for j in range(A.shape[1]):
            np.maximum(largest, self._differences(A, B, j), out=largest)
        scale = np.where(largest > 0, largest, 1.0)
        sums = np.zeros_like(largest)
        for j in range(A.shape[1]):
            sums += (self._differences(A, B, j) / scale) ** self.power
        return largest * np.maximum(sums, 1.0) ** (1.0 / self.power)

    @staticmethod
    def _differences(A: Any, B: Any, j: int) -> np.ndarray:
        return np.abs(dense_column(A, j)[:, None] - dense_column(B, j))


class _Distance(Kernel):
    """A matrix of distances from a Python function."""

    function: Callable[[Any, Any], Any]

    _given: ClassVar[bool] = True

    def tile(self, A: Any, B: Any) -> np.ndarray:
        distances = checked(self.function(A, B), (count(A), count(B)), self.function)
        if distances.min(initial=0.0) < 0.0:
            raise ValueError(f"{show(self.function)} returned a negative number, no distance.")
        return distances
