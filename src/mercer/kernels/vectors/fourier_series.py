"""A periodic kernel from its Fourier coefficients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import pi
from typing import Any, Self

import numpy as np

from mercer.gram.coordinate_statistics import cosines
from mercer.gram.program import Builder
from mercer.numerics.random_frequencies import from_series
from mercer.objects.parameters import integer, nonnegative_coefficients, positive
from mercer.objects.rows import dense_column

from ..definiteness import PSD
from ..stated_spectrum import DrawsFrequencies, stated_series
from .vector import VectorKernel


class FourierSeries(DrawsFrequencies, VectorKernel):
    r"""A series of cosines of the difference, multiplied over the columns.

    .. math:: k(x, z) = \prod_i \sum_{n \ge 0} a_n \cos\left(\frac{2 \pi n}{T}
              (x_i - z_i)\right), \quad a_n \ge 0

    Positive semidefinite: its features in one dimension are :math:`\sqrt{a_n} \cos` and
    :math:`\sqrt{a_n} \sin` of the frequencies, so the coefficients are a filter. A frequency with
    :math:`a_n = 0` cannot occur in a function, a small coefficient damps it. A negative coefficient
    raises ValueError.

    Parameters
    ----------
    coefficients : sequence of float >= 0
        The coefficients a_0, a_1, ..., not all 0.
    period : float > 0, default=2 pi
        The period T.

    Notes
    -----
    Use it where it is known which frequencies the target has and how strong they are: tides,
    rotating machines, seasons with overtones. The coefficients are the variances of the waves. With
    many rows, its explicit features and a linear machine are cheaper. Avoid it where the period is
    unknown: :func:`mercer.selection.estimate_power_spectrum` finds it.

    Examples
    --------
    >>> from mercer.kernels import FourierSeries
    >>> FourierSeries([1.0, 0.5])([[0.0]], [[3.141592653589793]])
    array([[0.5]])
    """

    coefficients: Sequence[float]
    period: float = 2 * pi

    fourier_coefficients = stated_series(lambda kernel: kernel.coefficients)
    definiteness = PSD  # no coefficient is negative
    translation_invariant = True  # a function of x - z

    def _check(self) -> None:
        positive(self.period, "period")
        nonnegative_coefficients(self.coefficients, "a Fourier series", "frequency")
        if not any(a > 0 for a in self.coefficients):
            raise ValueError("at least one Fourier coefficient must be positive.")

    @classmethod
    def from_function(
        cls, function: Callable[[np.ndarray], Any], n_terms: int, period: float = 2 * pi
    ) -> Self:
        """Return the series of an even periodic function k(x - z), which is vectorised.

        `n_terms`: the number of coefficients a_0, ..., which the function must be well described
        by. A coefficient that is negative beyond rounding raises ValueError.
        """
        integer(n_terms, "n_terms", minimum=1)
        n = max(64, 8 * n_terms)
        values = np.asarray(function(positive(period, "period") * np.arange(n) / n), dtype=float)
        a = np.fft.rfft(values).real[:n_terms] / n
        a[1:] *= 2.0
        a[np.abs(a) < 1e-13 * np.abs(values).max()] = 0.0
        return cls(a.tolist(), period)

    def compile(self, builder: Builder) -> None:
        builder.coordinates(cosines(self.coefficients, float(self.period)))

    def feature_map(self, X: Any) -> np.ndarray:
        """Return the cosines and sines of all frequencies; see :meth:`Kernel.feature_map`.

        For one column sqrt(a_0), then sqrt(a_n) cos and sqrt(a_n) sin by rising frequency; for
        several columns all products.
        """
        from ..algebra.operands import outer

        X = self.validate(X)
        return reduce(outer, [self._features(dense_column(X, j)) for j in range(X.shape[1])])

    def _features(self, x: np.ndarray) -> np.ndarray:
        roots = np.sqrt(np.asarray(self.coefficients, dtype=np.float64))
        angle = 2 * pi / float(self.period) * x[:, None] * np.arange(1, len(roots))
        waves = np.stack([np.cos(angle), np.sin(angle)], axis=2) * roots[1:, None]
        return np.hstack([np.full((len(x), 1), roots[0]), waves.reshape(len(x), -1)])

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        a = np.asarray(self.coefficients, dtype=np.float64)
        frequency = 2 * pi / float(self.period) * np.arange(len(a))[:, None, None]
        value, by_coefficient, by_period = np.ones(()), np.zeros(()), np.zeros(())
        for j in range(X.shape[1]):
            angle = frequency * (dense_column(X, j)[:, None] - dense_column(Z, j))
            waves = np.cos(angle)
            factor = np.tensordot(a, waves, axes=1)
            turned = np.tensordot(a, angle * np.sin(angle), axes=1) / float(self.period)
            by_coefficient = by_coefficient * factor + value * waves
            by_period = by_period * factor + value * turned
            value = value * factor
        return {"coefficients": by_coefficient, "period": by_period}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return from_series(self.coefficients, float(self.period), n, d, rng)
