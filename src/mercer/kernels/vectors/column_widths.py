"""One width for each column: automatic relevance determination.

A kernel that is a function of s = sum_j w_j (x_j - z_j)^2 may have a separate width for every
column; a column whose weight w_j falls to 0 is ignored. The statistic is computed on columns that
are multiplied by sqrt(w_j), natively. With h' the derivative of the profile by s,

    sum_ik W_ik dk(x_i, z_k) / dw_j = sum_ik H_ik (x_ij - z_kj)^2,     H = W h',
                                    = r'x_j^2 + c'z_j^2 - 2 x_j'H z_j,

with the row sums r and the column sums c of H: one matrix product for all columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.numerics.blas import column_sums, product, row_sums
from mercer.objects.arrays import Array
from mercer.objects.parameters import positive, positive_with_square
from mercer.objects.rows import dense_column
from mercer.objects.validation import VECTORS, count

from ..base import Wanted
from ..stated_spectrum import DrawsFrequencies
from .pair_statistics import squared_distances
from .vector import VectorKernel, require_columns


def is_per_column(width: Any) -> bool:
    """Return whether a width is a sequence of numbers, one for each column."""
    if isinstance(width, list | tuple):
        return not (width and isinstance(width[0], list | tuple | np.ndarray))
    return isinstance(width, np.ndarray) and width.ndim == 1


def check_width(width: Any, name: str) -> None:
    """Reject a width, whose square is used, or a sequence of widths, not finite and above 0."""
    if not is_per_column(width):
        positive_with_square(width, name)
        return
    if len(width) == 0:
        raise ValueError(f"{name} is empty; give one number for each column.")
    for j, value in enumerate(width):
        positive(value, f"{name}[{j}]")


def scaled_columns(X: Any, factors: Array) -> Any:
    """Return rows whose columns are multiplied by a number each."""
    if sp.issparse(X):
        return sp.csr_array(X).multiply(factors).tocsr()
    return np.asarray(X, dtype=np.float64) * factors


@dataclass(frozen=True)
class ScaledColumns:
    """The map that multiplies every column by a number of its own."""

    factors: tuple[float, ...]

    takes = VECTORS

    def __call__(self, X: Any) -> Any:
        """Return the scaled rows."""
        return scaled_columns(X, np.array(self.factors))


class ColumnWidths(DrawsFrequencies, VectorKernel):
    """Base class of kernels of a distance whose width may be one number for each column.

    A subclass names the parameter (`_width_name`), states its power in the weight w_j of the
    squared difference (`_width_power`), and supplies `_slope`, the derivative of the profile.
    """

    takes = VECTORS  # there is no kernel inside, whose objects they could be
    _width_name: ClassVar[str]
    _width_power: ClassVar[float]

    @property
    def _widths(self) -> Array | None:
        """The widths as an array; None for one that all columns share."""
        value = getattr(self, self._width_name)
        return np.asarray(value, dtype=np.float64) if is_per_column(value) else None

    @property
    def _common_width(self) -> float:
        """The width that all columns share; 1 where they are scaled by widths of their own."""
        self.require_bound("on pairs of vectors")
        value = getattr(self, self._width_name)
        return 1.0 if is_per_column(value) else float(value)

    def _one_width(self, purpose: str) -> float:
        """Return the width, or refuse a purpose that needs one for all columns."""
        value = getattr(self, self._width_name)
        if is_per_column(value):
            raise ValueError(
                f"{self!r} has a {self._width_name} for each column, and {purpose} needs one for "
                "all of them."
            )
        return float(value)

    @contextmanager
    def _on_scaled_columns(self, builder: Builder) -> Iterator[None]:
        """Let leaves look at columns that are divided by their widths, where they have their own.

        Then the width of the profile is 1.
        """
        widths = self._widths
        if widths is None:
            yield
            return
        factors = tuple(float(f) for f in self._column_factors(widths))
        with builder.through(ScaledColumns(factors)):
            yield

    def _check(self) -> None:
        width = getattr(self, self._width_name)
        if is_per_column(width):
            check_width(width, self._width_name)
        else:
            super()._check()

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        widths = self._widths
        if widths is None:
            return super()._bound(views, weight, names)
        self._check_all()
        return self.replace(**{self._width_name: widths.tolist()})

    def sample_spectrum(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies w with k(x, z) = E cos(w . (x - z)); see the base class."""
        widths = self._widths
        if widths is None:
            return super().sample_spectrum(n, d, rng)
        unit = self.replace(**{self._width_name: 1.0})
        return unit._frequencies(n, d, rng) * self._column_factors(widths)

    def _column_factors(self, widths: Array) -> Array:
        return widths ** (0.5 * self._width_power)

    @property
    def _is_restricted(self) -> bool:
        return self._widths is not None or super()._is_restricted

    def check_domain(self, X: Any) -> None:
        """Reject vectors without one column per width; see the base class."""
        widths = self._widths
        if widths is not None:
            require_columns(X, len(widths), f"the {self._width_name} of {type(self).__name__}")

    # -- derivatives by the widths ------------------------------------------------------------

    def _slope(self, squares: Array) -> Array:
        """Return the derivative of the profile by s, where the width is 1; 0 where it has none."""
        raise NotImplementedError

    def _squares(self, X: Any, Z: Any) -> Array:
        """Return s for all pairs: squared distances in units of the width or widths."""
        widths = self._widths
        if widths is None:
            return squared_distances(X, Z) * self._common_width**self._width_power
        factors = self._column_factors(widths)
        A = scaled_columns(X, factors)
        return squared_distances(A, A if X is Z else scaled_columns(Z, factors))

    def _other_slopes(self, squares: Array) -> dict[str, Array]:
        """Return the derivatives by parameters other than the width, as functions of s."""
        return {}

    def _gradient(self, X: Any, Z: Any) -> dict[str, Array]:
        squares, widths, p = self._squares(X, Z), self._widths, self._width_power
        if widths is not None:
            by_width = self._by_widths(X, Z, widths)
        else:
            by_width = p * squares * self._slope(squares) / self._common_width
        return self._other_slopes(squares) | {self._width_name: by_width}

    def _by_widths(self, X: Any, Z: Any, widths: Array) -> Array:
        """Return the derivatives by the widths, of shape (n_columns, n_X, n_Z)."""
        slope = self._slope(self._squares(X, Z))
        p = self._width_power
        return np.stack(
            [
                p * w ** (p - 1.0) * slope * (dense_column(X, j)[:, None] - dense_column(Z, j)) ** 2
                for j, w in enumerate(widths)
            ]
        )

    def diagonal_gradient(self, X: Any) -> dict[str, Array]:
        widths, n = self._widths, count(X)  # k(x, x) = 1 for all widths
        of_width = np.zeros(n if widths is None else (len(widths), n))
        others = self._other_slopes(np.zeros((1, 1))).items()
        found = {name: np.broadcast_to(slope[0], (n,)) for name, slope in others}
        return found | {self._width_name: of_width}

    def contract_rows(self, X: Any, Z: Any, W: Array) -> Array:
        widths, p = self._widths, self._width_power
        weights = self._common_width**p if widths is None else widths**p
        H = W * self._slope(self._squares(X, Z))
        A, B = (np.asarray(rows, dtype=np.float64) for rows in (X, Z))
        middle = B.mean(axis=0)
        differences = H.sum(axis=1)[:, None] * (A - middle) - product(H, B - middle)
        return 2.0 * weights * differences

    def contract(self, X: Any, Z: Any, W: Array, wanted: Wanted = None) -> dict[str, Any]:
        widths = self._widths
        if wanted is None:
            wanted = frozenset(self.parameter_names)
        plain = sp.issparse(X) if widths is not None else self._common_width == 0
        if not wanted or plain:
            return super().contract(X, Z, W, wanted)
        found: dict[str, Any] = {}
        H = self._weighted_slope(X, Z, W) if wanted == {self._width_name} else None
        if H is None:
            squares = self._squares(X, Z)
            others = self._other_slopes(squares).items()
            found = {name: np.einsum("ij,ij->", slope, W) for name, slope in others}
            if self._width_name not in wanted:
                return found
            H = self._slope(squares)
            H *= W
            if widths is None:
                total = self._width_power * np.einsum("ij,ij->", H, squares)
                return found | {self._width_name: total / self._common_width}
        if X is Z:
            np.einsum("ii->i", H)[:] = 0.0  # the difference is 0: its terms would leave rounding
        A = np.asarray(X, dtype=np.float64)
        middle = A.sum(axis=0) / len(A)  # differences do not change, and fewer digits cancel
        A = A - middle
        B = A if X is Z else np.asarray(Z, dtype=np.float64) - middle
        if X is Z:
            sums = np.einsum("i,ij->j", row_sums(H) + column_sums(H), A * A)
        else:
            sums = np.einsum("i,ij->j", row_sums(H), A * A)
            sums += np.einsum("i,ij->j", column_sums(H), B * B)
        sums -= 2.0 * np.einsum("ij,ij->j", A, product(H, B))
        p = self._width_power
        if widths is None:
            return {self._width_name: p * self._common_width ** (p - 1.0) * float(sums.sum())}
        return found | {self._width_name: p * widths ** (p - 1.0) * sums}

    def _weighted_slope(self, X: Any, Z: Any, W: Array) -> Array | None:
        """Return W times the derivative of the profile by s, where that is a native matrix."""
        return None
