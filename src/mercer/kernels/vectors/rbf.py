"""The Gaussian kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.objects.parameters import integer, real

from ..regularisation import GAUSSIAN
from ..stated_spectrum import stated_transform
from .column_widths import ColumnWidths
from .pair_statistics import squared_distances
from .vector import GammaKernel


class RBF(ColumnWidths, GammaKernel):
    r"""The Gaussian kernel, a radial basis function.

    .. math:: k(x, z) = \exp(-\gamma \, \|x - z\|^2)

    Positive definite for :math:`\gamma > 0`: on distinct vectors every Gram matrix is
    invertible, so any labelling of them can be separated. All feature vectors have norm 1.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float >= 0 or sequence of float > 0, default="scale"
        The inverse squared width; a rule is resolved by `bind`. Large values make every object
        similar to itself only, small ones make all objects similar to each other. A sequence has
        one for each column: exp(-sum_j gamma_j (x_j - z_j)^2).

    Notes
    -----
    Use it as the first kernel on dense columns of a common scale: it fits every smooth function,
    has one parameter and costs a dot product and an exponential. Standardise the columns, start
    from ``gamma="scale"`` or from the median rule of :func:`mercer.selection.bandwidth`, and search
    powers of 4 around it together with C. Avoid it for thousands of sparse columns, where Linear is
    as good; where most columns are noise, which makes all distances similar; and for extrapolation,
    since far from the data only the bias is left.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> RBF(gamma=1.0)([[0.5]], [[1.0]]).round(6)
    array([[0.778801]])
    """

    gamma: float | str | Sequence[float] = "scale"

    spectral_density = stated_transform(fourier_transforms.gaussian, gamma="gamma")
    regularisation = GAUSSIAN
    translation_invariant = True  # a function of the distance
    _foreign_names = dict.fromkeys(
        ("sigma", "length_scale", "width"),
        "RBF takes gamma; for a width sigma use RBF.from_sigma(sigma), gamma = 1 / (2 sigma^2).",
    )

    _width_name = "gamma"
    _width_power = 1.0

    @classmethod
    def from_sigma(cls, sigma: float) -> Self:
        """Return the kernel exp(-norm(x - z)^2 / (2 sigma^2)), for a standard deviation sigma > 0.

        Then gamma = 1 / (2 sigma^2).
        """
        if real(sigma, "sigma", minimum=0) == 0:
            raise ValueError("sigma must be positive; got 0.")
        return cls(gamma=1.0 / (2.0 * sigma * sigma))

    def compile(self, builder: Builder) -> None:
        with self._on_scaled_columns(builder):
            builder.leaf("sqdist")
        builder.affine(-self._common_width, 0.0)
        builder.exp()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        widths = self._widths
        if widths is not None:
            return {"gamma": self._by_widths(X, Z, widths)}
        return {"gamma": -squared_distances(X, Z) * self._values(X, Z)}

    def _slope(self, squares: np.ndarray) -> np.ndarray:
        return -np.exp(-squares)

    def _weighted_slope(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray | None:
        # Of few rows the squared differences themselves cost little and are more accurate.
        if sp.issparse(X) or sp.issparse(Z) or len(X) < 256:
            return None
        H = self._values(X, Z)
        H *= W
        return np.negative(H, out=H)

    def taylor_features(self, x: Any, n_terms: int) -> np.ndarray:
        """Return the first features of the kernel on the real line, `n_terms` for each number `x`.

        From exp(-g (x - z)^2) = exp(-g x^2) exp(-g z^2) sum_k (2 g x z)^k / k!, feature k is exp(-g
        x^2) sqrt((2 g)^k / k!) x^k. Their dot products rise to the kernel with `n_terms`.
        """
        self.require_bound("as explicit features")
        gamma = self._one_width("its features")
        integer(n_terms, "n_terms", minimum=1)
        x = np.asarray(x, dtype=np.float64)
        if x.ndim > 1 and x.size != x.shape[0]:
            raise ValueError(f"taylor_features takes one column of numbers; got shape {x.shape}.")
        x = x.reshape(-1)
        features = np.empty((x.size, n_terms))
        features[:, 0] = np.exp(-gamma * x * x)
        for k in range(1, n_terms):
            features[:, k] = features[:, k - 1] * (math.sqrt(2.0 * gamma / k) * x)
        return features

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Normal, of variance 2 gamma.
        return rng.normal(scale=math.sqrt(2.0 * self._width()), size=(n, d))
