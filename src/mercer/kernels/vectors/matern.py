"""The Matern kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gamma, inf, isinf, sqrt
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, kv

from mercer.gram.bounded import TINY
from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.numerics.profile_table import Table
from mercer.objects.parameters import is_number, positive, show

from ..definiteness import PD
from ..regularisation import GAUSSIAN, MATERN, Regularisation
from ..stated_spectrum import stated_transform
from .column_widths import ColumnWidths, check_width
from .vector import RadialKernel

_SMALLEST, _LARGEST = 0.1, 30.0  # smoothness that a table can tell from noise and from a Gaussian
_ERRORS = {"float32": 1e-8, "float64": 1e-13}  # of the table
_FAR = -1e4  # exp of it is 0
_ACCURACY = 1e-11  # of the Bessel function it is made from
_CHUNK = 1 << 12  # pairs whose integrals are evaluated at a time
# Polynomials in u of the closed forms, by rising power.
_CLOSED = {
    0.5: (1.0,),
    1.5: (1.0, 1.0),
    2.5: (1.0, 1.0, 1.0 / 3.0),
    3.5: (1.0, 1.0, 2.0 / 5.0, 1.0 / 15.0),
}


class Matern(ColumnWidths, RadialKernel):
    r"""The Matern kernel, whose functions are differentiable ceil(nu) - 1 times.

    .. math:: k(x, z) = \frac{2^{1-\nu}}{\Gamma(\nu)} \, u^{\nu} K_{\nu}(u), \quad
              u = \sqrt{2 \nu} \, \|x - z\| / l

    with the modified Bessel function :math:`K_\nu`. Positive definite; its spectrum in d
    dimensions is proportional to :math:`(2 \nu / l^2 + \omega^2)^{-\nu - d/2}`. For
    :math:`\nu = p + 1/2` it is a polynomial of degree p times an exponential: 1/2 gives
    :math:`e^{-u}`, 3/2 gives :math:`(1 + u) e^{-u}`, 5/2 gives
    :math:`(1 + u + u^2 / 3) e^{-u}`. In the limit of large :math:`\nu` it is the Gaussian kernel
    with :math:`\gamma = 1 / (2 l^2)`.

    Parameters
    ----------
    nu : float in [0.1, 30] or inf, default=1.5
        The smoothness. 1/2, 3/2, 5/2, 7/2 and inf have closed forms; other values are evaluated
        through a table of the profile, with an error of at most 1e-13.
    length_scale : float > 0 or sequence of float > 0, default=1.0
        The width l. A sequence has one for each column, by which the columns are divided.

    Notes
    -----
    Use it for regression where the roughness of the target is known or is to be chosen: 3/2 and 5/2
    suit most measured quantities better than the analytic functions of RBF. Take `length_scale`
    near the distance over which the target changes; the median distance is a start. The closed
    forms cost an exponential, other `nu` a table. For finite `nu`, values below the smallest normal
    number, 2.2e-308, are 0. Avoid it to estimate `nu` from few or noisy data: compare 1/2, 3/2, 5/2
    and inf, no finer.

    Examples
    --------
    >>> from mercer.kernels import Matern
    >>> Matern(nu=0.5)([[0.0]], [[1.0]]).round(6)
    array([[0.367879]])
    """

    nu: float = 1.5
    length_scale: float | Sequence[float] = 1.0

    spectral_density = stated_transform(
        fourier_transforms.matern, nu="nu", length_scale="length_scale"
    )
    definiteness = PD  # a mixture of Gaussians
    # Data tell a smoothness from another one at best roughly, and closed forms cost less.
    _default_bounds: ClassVar[dict[str, Any]] = {"nu": "fixed"}

    _width_name = "length_scale"
    _width_power = -2.0

    def _check(self) -> None:
        check_width(self.length_scale, "length_scale")
        if is_number(self.nu) and isinf(self.nu) and self.nu > 0:
            return
        if not _SMALLEST <= positive(self.nu, "nu") <= _LARGEST:
            raise ValueError(
                f"nu must lie in [{_SMALLEST:g}, {_LARGEST:g}] or be inf; got {show(self.nu)}. "
                "Larger values are hardly told from the Gaussian, nu=inf; smaller ones from noise."
            )

    @property
    def regularisation(self) -> Regularisation:
        """The regularisation operator; see :func:`mercer.inspection.regularisation`."""
        return GAUSSIAN if self.nu == inf else MATERN

    def compile(self, builder: Builder) -> None:
        with self._on_scaled_columns(builder):
            self._compile(builder, float(self.nu), self._common_width)

    @staticmethod
    def _compile(builder: Builder, nu: float, scale: float) -> None:
        builder.leaf("sqdist")
        if nu == inf:
            builder.affine(-0.5 / scale**2, 0.0)
            builder.exp()
        elif nu in _CLOSED:
            builder.sqrt()
            builder.affine(-sqrt(2.0 * nu) / scale, 0.0)
            builder.exp()
            builder.affine(1.0, -TINY)  # the smallest value of exp: 0 far away
            if nu > 0.5:
                builder.leaf("sqdist")
                builder.sqrt()
                builder.affine(-sqrt(2.0 * nu) / scale, 0.0)
                builder.at_least(_FAR)  # where the exponential is 0, and a power might be infinite
                builder.polynomial([(-1) ** n * c for n, c in enumerate(_CLOSED[nu])])
                builder.mul()
        else:
            builder.affine(1.0 / scale**2, 0.0)
            if nu < 0.5:
                builder.power(nu)
            builder.table(_profile(nu))

    def _other_slopes(self, squares: np.ndarray) -> dict[str, np.ndarray]:
        nu = float(self.nu)
        return {} if nu == inf else {"nu": _nu_slope(nu, np.sqrt(2.0 * nu * squares))}

    def _slope(self, squares: np.ndarray) -> np.ndarray:
        nu = float(self.nu)
        if nu == inf:
            return -0.5 * np.exp(-0.5 * squares)
        # (u^nu K_nu)' = -u^nu K_(nu - 1), and du / ds = nu / u
        u = np.sqrt(2.0 * nu * squares)
        slope = -nu * _bessel(nu, nu - 1.0, u)
        return np.divide(slope, u, out=np.zeros_like(u), where=u > 0)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Student's t of 2 nu, or normal.
        nu = float(self.nu)
        normal = rng.normal(scale=1.0 / self._common_width, size=(n, d))
        if nu == inf:
            return normal
        return np.sqrt(nu / rng.standard_gamma(nu, size=(n, 1))) * normal


@lru_cache(maxsize=64)
def _profile(nu: float) -> Table:
    """Return the profile as a table in (distance / l)^2, up to where it is below 1e-16.

    Near 0 a rough profile is 1 - c (distance / l)^(2 nu). For nu < 1/2 it is tabulated in that
    power: even the smallest floating-point square would be far from the origin.
    """

    def profile(squares: np.ndarray) -> np.ndarray:
        return matern_profile(nu, np.sqrt(2.0 * nu * squares))

    u = np.linspace(1.0, 200.0, 400)
    end = float(u[matern_profile(nu, u) < 1e-16][0]) ** 2 / (2.0 * nu)
    if nu < 0.5:
        return Table.fit(
            lambda power: profile(power ** (1.0 / nu)), end**nu, errors=_ERRORS, accuracy=_ACCURACY
        )
    slope = -0.5 * nu / (nu - 1.0) if nu > 1.0 else -inf
    return Table.fit(profile, end, errors=_ERRORS, slope_at_zero=slope, accuracy=_ACCURACY)


def matern_profile(nu: float, u: np.ndarray) -> np.ndarray:
    """Return 2^(1 - nu) u^nu K_nu(u) / Gamma(nu), which is 1 at u = 0."""
    u = np.asarray(u, dtype=np.float64)
    if nu < 10.0:
        return np.where(u > 0, _bessel(nu, nu, np.where(u > 0, u, 1.0)), 1.0)
    # K_nu overflows at small arguments, where the ascending series has few terms.
    quarter = 0.25 * u * u
    small = quarter < 0.05 * nu
    term = series = np.ones_like(u)
    for k in range(1, 9):
        term = term * quarter / (k * (k - nu))
        series = series + term
    return np.where(small, series, _bessel(nu, nu, np.where(small, nu, u)))


def _bessel(nu: float, order: float, u: np.ndarray) -> np.ndarray:
    """Return 2 (u / 2)^nu K_order(u) / Gamma(nu), 0 in the limit u = 0 of order < nu."""
    with np.errstate(invalid="ignore", over="ignore"):
        values = (2.0 / gamma(nu)) * (0.5 * u) ** nu * kv(order, u)
    return np.where(np.isfinite(values), values, 0.0)


def _nu_slope(nu: float, u: np.ndarray) -> np.ndarray:
    """Return the derivative of the profile with respect to nu at fixed u / sqrt(nu), 0 at u = 0."""
    slope = np.zeros(u.size)
    apart = np.flatnonzero(u)
    for i in range(0, len(apart), _CHUNK):
        part = apart[i : i + _CHUNK]
        slope[part] = _nu_slope_apart(nu, u.reshape(-1)[part])
    return slope.reshape(u.shape)


def _nu_slope_apart(nu: float, u: np.ndarray) -> np.ndarray:
    """Return the derivative of the profile with respect to nu, for u > 0.

    The derivative of K_nu with respect to the order is the integral of t sinh(nu t) exp(-u cosh t)
    over t > 0, for which the trapezoidal rule converges exponentially.
    """
    last = np.log1p(2.0 * (100.0 + 40.0 * nu) / u)
    t = last[:, None] * np.linspace(0.0, 1.0, 256)
    exponent = nu * np.log(0.5 * u)[:, None] - u[:, None] * np.cosh(t)
    integrand = 0.5 * t * (np.exp(exponent + nu * t) - np.exp(exponent - nu * t))
    order = integrand.sum(axis=1) * (t[:, 1] - t[:, 0]) * (2.0 / gamma(nu))
    along = -0.5 * u / nu * _bessel(nu, nu - 1.0, u)
    return order + along + matern_profile(nu, u) * (np.log(0.5 * u) - digamma(nu))
