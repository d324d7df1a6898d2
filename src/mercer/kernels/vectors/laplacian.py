"""The Laplacian kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.objects.rows import dense_column

from ..base import Wanted
from ..regularisation import LAPLACIAN
from ..stated_spectrum import stated_transform
from .column_widths import ColumnWidths
from .pair_statistics import l1_distances
from .vector import GammaKernel, VectorKernel


class Laplacian(ColumnWidths, GammaKernel):
    r"""The exponential of the L1 distance.

    .. math:: k(x, z) = \exp(-\gamma \, \|x - z\|_1)

    Positive definite for :math:`\gamma > 0`. It falls off slower than the Gaussian and has a
    kink at x = z, so outliers matter less and functions are rougher.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float >= 0 or sequence of float > 0, default="scale"
        The inverse width; a rule is resolved by `bind`. A sequence has one for each column:
        exp(-sum_j gamma_j abs(x_j - z_j)).

    Notes
    -----
    Use it where the target has kinks or jumps along the columns, and where single entries may be
    outliers: a difference counts as it is, not squared. Take gamma near 1 over the median L1
    distance; a value costs about as much as one of RBF. Avoid it for smooth targets, for which it
    needs more data than Matern or RBF. Where rotations of the data should not matter, take
    Exponential.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> Laplacian(gamma=1.0)([[0.0, 0.0]], [[1.0, -1.0]]).round(6)
    array([[0.135335]])
    """

    gamma: float | str | Sequence[float] = "scale"

    spectral_density = stated_transform(fourier_transforms.laplacian, gamma="gamma")
    regularisation = LAPLACIAN
    translation_invariant = True  # a function of the distance

    _width_name = "gamma"
    _width_power = 2.0  # of the factor of a column; its differences are not squared

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Cauchy, of scale gamma.
        return self._width() * rng.standard_cauchy(size=(n, d))

    def compile(self, builder: Builder) -> None:
        with self._on_scaled_columns(builder):
            builder.leaf("l1")
        builder.affine(-self._common_width, 0.0)
        builder.exp()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        values = self._values(X, Z)
        widths = self._widths
        if widths is None:
            return {"gamma": -l1_distances(X, Z) * values}
        return {"gamma": np.stack([-values * _differences(X, Z, j) for j in range(len(widths))])}

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        widths = self._widths
        if widths is None:
            return VectorKernel.contract(self, X, Z, W, wanted)
        H = -W * self._values(X, Z)
        sums = [np.einsum("ij,ij->", H, _differences(X, Z, j)) for j in range(len(widths))]
        return {"gamma": np.array(sums)}

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        widths = self._widths
        H = -W * self._values(X, Z)
        sums = [
            np.einsum("ij,ij->i", H, np.sign(X[:, j, None] - Z[:, j])) for j in range(X.shape[1])
        ]
        return np.column_stack(sums) * (self._common_width if widths is None else widths)


def _differences(X: Any, Z: Any, j: int) -> np.ndarray:
    """Return abs(x_j - z_j) for all pairs."""
    return np.abs(dense_column(X, j)[:, None] - dense_column(Z, j))
