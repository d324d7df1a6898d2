"""The periodic Gaussian kernel."""

from __future__ import annotations

from math import exp, pi, sqrt

import numpy as np

from mercer.gram.coordinate_statistics import WRAPPED, Coordinates, theta
from mercer.numerics.random_frequencies import from_series
from mercer.objects.parameters import one_of, parameter, positive, show

from ..definiteness import PSD
from ..regularisation import (
    PERIODIC_GAUSSIAN,
    PERIODIC_GAUSSIAN_UNIT,
    PERIODIC_GAUSSIAN_WRAPPED,
    Regularisation,
)
from ..stated_spectrum import DrawsFrequencies, stated_series
from .vector import CoordinateKernel

_OPERATORS = {
    "series": PERIODIC_GAUSSIAN,
    "unit": PERIODIC_GAUSSIAN_UNIT,
    "wrapped": PERIODIC_GAUSSIAN_WRAPPED,
}
_FORMS = tuple(_OPERATORS)
_REACH = 9.0  # exp(-_REACH^2 / 2) is below the rounding of 1


class PeriodicGaussian(DrawsFrequencies, CoordinateKernel):
    r"""The Gaussian on a circle, multiplied over the columns.

    With :math:`u_i = 2 \pi (x_i - z_i) / T` and :math:`s = 2 \pi \sigma / T`, a factor is

    .. math::

        g(u) &= \sum_{n \ge 1} e^{-n^2 s^2 / 2} \cos n u && \text{form="series"} \\
        h(u) &= \frac{g(u) - g(\pi)}{g(0) - g(\pi)} && \text{form="unit"} \\
        w(u) &= \sum_{m \in \mathbb{Z}} e^{-(x_i - z_i + m T)^2 / (2 \sigma^2)}
              = \frac{s}{\sqrt{2 \pi}} (1 + 2 g(u)) && \text{form="wrapped"}

    The series penalises derivatives as the Gaussian on the line does; it has no constant part,
    which the bias of a machine supplies. "unit" lifts it by :math:`-g(\pi) > 0` and divides by
    :math:`g(0) - g(\pi) = 2 \sum_{n \ge 1} e^{-(2 n - 1)^2 s^2 / 2}`, so that its values fill [0,
    1]. (The factor is sometimes printed as half that sum instead of its inverse.) "wrapped" is the
    Gaussian summed over all periods, which the theta series equals. All are positive semidefinite;
    two vectors that differ by periods are one to them.

    Parameters
    ----------
    sigma : float > 0, default=1.0
        The width, in the units of the data.
    period : float > 0, default=2 pi
        The period T.
    form : {"series", "unit", "wrapped"}, default="series"
        Which of the three functions a factor is.

    Notes
    -----
    Use it for angles, hours of the day, days of the year: columns whose ends meet. Give the period
    in the units of the data, and sigma a tenth to a third of it. Multiply by an RBF of the same
    column where the pattern drifts, add one where there is a trend. Take form="unit" or "wrapped"
    for machines without a bias. A value costs a short series per column, several times an RBF, so
    give it the periodic columns only. Avoid it where the period is known roughly only: after many
    periods the phase is lost.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import PeriodicGaussian
    >>> PeriodicGaussian(sigma=1.0)([[0.0]], [[0.0], [np.pi]]).round(6)
    array([[ 0.753314, -0.481973]])
    """

    sigma: float = parameter(positive, default=1.0)
    period: float = parameter(positive, default=2 * pi)
    form: str = parameter(one_of(*_FORMS), default="series")

    fourier_coefficients = stated_series(lambda kernel: kernel.coefficients())
    definiteness = PSD  # no coefficient of a wave is negative
    translation_invariant = True  # a function of x - z

    def _check(self) -> None:
        if self.form == "series" and self.sigma > 4 * self.period:
            raise ValueError(
                f"sigma = {show(self.sigma)} is so large for the period {show(self.period)} that "
                "every wave of the series is damped away; use a smaller sigma."
            )

    @property
    def regularisation(self) -> Regularisation:
        """The regularisation operator; see :func:`mercer.inspection.regularisation`."""
        return _OPERATORS[self.form]

    def coefficients(self) -> np.ndarray:
        """Return the Fourier coefficients of a factor, by rising frequency from 0.

        They are a_0, a_1, ... of sum_n a_n cos(2 pi n (x - z) / period), as far as they count in
        float64.
        """
        return self._coefficients()[0]

    def _coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the Fourier coefficients and their derivatives with respect to sigma."""
        turn = 2 * pi / float(self.period)
        s = turn * float(self.sigma)
        n = np.arange(2 + int(_REACH / s))
        if self.form == "unit":
            # Relative to the first wave, which may be tiny.
            rates = np.maximum(n, 1) ** 2 - 1.0
            waves = np.exp(-0.5 * rates * s**2)
            slopes = -rates * s * waves
            signs = np.where(n % 2 == 1, 1.0, -1.0)
            waves[0], slopes[0] = (signs * waves)[1:].sum(), (signs * slopes)[1:].sum()
            total, slope = 2 * waves[1::2].sum(), 2 * slopes[1::2].sum()
            return waves / total, turn * (slopes / total - waves * slope / total**2)
        waves = np.exp(-0.5 * (n * s) ** 2)
        slopes = -(n**2) * s * waves
        if self.form == "series":
            waves[0] = 0.0
            return waves, turn * slopes
        waves[1:], slopes[1:] = 2 * waves[1:], 2 * slopes[1:]
        return s * waves / sqrt(2 * pi), turn * (waves + s * slopes) / sqrt(2 * pi)

    def coordinate_function(self) -> Coordinates:
        """Return a factor."""
        sigma, period = float(self.sigma), float(self.period)
        if sigma > WRAPPED * period:
            constant, first = self.coefficients()[:2]
        else:  # of a narrow Gaussian the series is long, and its sums are known
            s = 2 * pi * sigma / period
            slope, constant = self._wrapped_form()[:2]
            constant += slope * s / sqrt(2 * pi)
            first = 2 * slope * s / sqrt(2 * pi) * exp(-0.5 * s * s)
        return theta(sigma, period, float(first), float(constant))

    def _wrapped_form(self) -> tuple[float, float, float, float]:
        """Return A and B, a factor being A w + B, and their derivatives with respect to sigma."""
        if self.form == "wrapped":
            return 1.0, 0.0, 0.0, 0.0
        sigma, period = float(self.sigma), float(self.period)
        if self.form == "series":
            slope = sqrt(2 * pi) / (4 * pi * sigma / period)
            return slope, -0.5, -slope / sigma, 0.0
        ends, by_sigma, _ = self._wrapped(np.array([0.0, 0.5 * period]))
        slope = 1.0 / (ends[0] - ends[1])
        turn = -(slope**2) * (by_sigma[0] - by_sigma[1])
        return slope, -ends[1] * slope, turn, -by_sigma[1] * slope - ends[1] * turn

    def _wrapped(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return w at a difference, for a narrow Gaussian, and its derivatives by sigma and t."""
        sigma, period = float(self.sigma), float(self.period)
        t = t - period * np.round(t / period)
        value, by_sigma, by_t = np.zeros_like(t), np.zeros_like(t), np.zeros_like(t)
        for m in range(-2, 3):
            r = (t + m * period) / sigma
            bump = np.exp(-0.5 * r * r)
            value += bump
            by_sigma += bump * r * r / sigma
            by_t -= bump * r / sigma
        return value, by_sigma, by_t

    def _slopes(self, x: np.ndarray, z: np.ndarray) -> dict[str, np.ndarray]:
        sigma, period = float(self.sigma), float(self.period)
        if sigma > WRAPPED * period:
            u = 2 * pi / period * (x - z)
            by_sigma, moved = np.zeros_like(u), np.zeros_like(u)
            for n, (a, slope) in enumerate(zip(*self._coefficients(), strict=True)):
                by_sigma += slope * np.cos(n * u)
                moved -= n * u * a * np.sin(n * u)
        else:
            w, w_sigma, w_t = self._wrapped(x - z)
            a, _, a_sigma, b_sigma = self._wrapped_form()
            by_sigma = a_sigma * w + a * w_sigma + b_sigma
            moved = a * w_t * (x - z)
        # The values are functions of (x - z) / period and sigma / period.
        return {"sigma": by_sigma, "period": -(moved + sigma * by_sigma) / period}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return from_series(self.coefficients(), float(self.period), n, d, rng)
