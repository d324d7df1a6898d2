"""Statements of a kernel about its Fourier transform, in one line each.

    class RBF(GammaKernel):
        spectral_density = stated_transform(fourier_transforms.gaussian, gamma="gamma")
        regularisation = GAUSSIAN

The closed forms are in :mod:`mercer.numerics.fourier_transforms`, the regularisation operators in
:mod:`mercer.kernels.regularisation`. A periodic kernel states the coefficients of its series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer.numerics.frequencies import as_frequencies
from mercer.objects.parameters import integer


def stated_transform(
    form: Callable[..., np.ndarray], **parameters: str
) -> Callable[..., np.ndarray]:
    """Return a method ``spectral_density`` that evaluates a closed form.

    For each parameter of the function `form`, `parameters` names the attribute that holds it.
    """

    def spectral_density(self: Any, omega: Any, dimension: int | None = None) -> np.ndarray:
        """Return the Fourier transform of the kernel as a function of x - z.

        Parameters
        ----------
        omega : float or array of shape (n,) or (n, d)
            Frequencies; a number w means (w, 0, ..., 0).
        dimension : int, optional
            The dimension d, where `omega` holds numbers; by default that of the kernel, or 1.

        Returns
        -------
        ndarray of shape (n,)
            The transform, in the convention of :func:`mercer.inspection.fourier_transform`.
        """
        self.require_bound("in the frequency domain")
        own = getattr(self, "dimension", None)
        if dimension is None and np.ndim(omega) < 2:
            dimension = own
        w = as_frequencies(omega, dimension)
        if own is not None and w.shape[1] != own:
            raise ValueError(
                f"{self!r} is a kernel on {own} columns, but its transform is asked for in "
                f"{w.shape[1]} dimensions; pass dimension={own}."
            )
        values = {name: getattr(self, attribute) for name, attribute in parameters.items()}
        if any(np.ndim(value) for value in values.values()):
            raise ValueError(
                f"the Fourier transform of {self!r} is stated for one width that all columns share."
            )
        return form(w, **values)

    return spectral_density


def stated_series(coefficients: Callable[[Any], Sequence[float]]) -> Callable[..., np.ndarray]:
    """Return a method ``fourier_coefficients`` of a periodic kernel with the attribute `period`.

    `coefficients` is a function of the kernel that returns a_0, a_1, ..., as far as they are not 0.
    """

    def fourier_coefficients(self: Any, n_terms: int) -> np.ndarray:
        """Return the coefficients of the kernel on the line as a series of cosines.

        Parameters
        ----------
        n_terms : int >= 1
            How many to return.

        Returns
        -------
        ndarray of shape (n_terms,)
            a_0, a_1, ...; see :func:`mercer.inspection.fourier_coefficients`.
        """
        integer(n_terms, "n_terms", minimum=1)
        own = np.asarray(coefficients(self), dtype=np.float64)[:n_terms]
        return np.pad(own, (0, n_terms - len(own)))

    return fourier_coefficients


class DrawsFrequencies:
    """Base of the kernels whose spectrum can be drawn from; a subclass supplies `_frequencies`."""

    def sample_spectrum(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n frequencies w of d coordinates with k(x, z) = E cos(w . (x - z)), as rows."""
        return self._frequencies(n, d, rng)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        raise ValueError(
            f"{self!r} has no spectrum to draw from: {type(self).__name__} has no method "
            "_frequencies(n, d, rng). Nystrom takes any kernel."
        )
