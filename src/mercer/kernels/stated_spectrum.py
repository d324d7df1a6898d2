"""How a kernel states its Fourier transform and its regularisation operator: one line each.

    class RBF(GammaKernel):
        spectral_density = stated_transform("gaussian", gamma="gamma")
        regularisation = stated_operator("GAUSSIAN")

The closed forms stand in :mod:`mercer.numerics.fourier_transforms`, the operators in
:mod:`mercer.kernels.regularisation`. A periodic kernel states the coefficients of its series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.objects.parameters import integer

if TYPE_CHECKING:
    from mercer.inspection import Regularisation


def stated_transform(form: str, **parameters: str) -> Callable[..., np.ndarray]:
    """Return a method ``spectral_density`` that evaluates a closed form.

    Parameters
    ----------
    form : str
        Name of a function of `mercer.numerics.fourier_transforms`.
    **parameters : str
        For each parameter of the function, the attribute of the kernel that holds it.

    Returns
    -------
    callable
        The method.
    """

    def spectral_density(self: Any, omega: Any, dimension: int | None = None) -> np.ndarray:
        """Return the Fourier transform of the kernel as a function of x - z.

        Parameters
        ----------
        omega : float or array of shape (n,) or (n, d)
            Frequencies; numbers stand for (omega, 0, ..., 0).
        dimension : int, optional
            The dimension d, where `omega` holds numbers; by default that of the kernel, or 1.

        Returns
        -------
        ndarray of shape (n,)
            The transform, in the convention of :func:`mercer.inspection.fourier_transform`.
        """
        from mercer.numerics import fourier_transforms as densities
        from mercer.numerics.frequencies import as_frequencies

        self._require_bound("in the frequency domain")
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
        return getattr(densities, form)(w, **values)

    return spectral_density


def stated_series(coefficients: Callable[[Any], Sequence[float]]) -> Callable[..., np.ndarray]:
    """Return a method ``fourier_coefficients`` of a periodic kernel with the attribute `period`.

    Parameters
    ----------
    coefficients : callable
        A function of the kernel that returns a_0, a_1, ..., as far as they are not 0.

    Returns
    -------
    callable
        The method.
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


def stated_operator(name: str | Callable[[Any], str]) -> property:
    """Return a property ``regularisation`` that describes the operator of a kernel.

    Parameters
    ----------
    name : str or callable
        Name of a constant of `mercer.kernels.regularisation`, or a function of the kernel that
        returns it.

    Returns
    -------
    property
        The property.
    """

    def regularisation(self: Any) -> Regularisation:
        """Return the regularisation operator; see :func:`mercer.inspection.regularisation`."""
        from . import regularisation as wording

        return getattr(wording, name(self) if callable(name) else name)

    return property(regularisation)


class DrawsFrequencies:
    """Base class of the kernels whose spectrum is a distribution that can be drawn from.

    A subclass supplies `_frequencies`.
    """

    def sample_spectrum(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies w with k(x, z) = E cos(w . (x - z)).

        Parameters
        ----------
        n : int
            How many frequencies.
        d : int
            Number of coordinates.
        rng : Generator
            Source of random numbers.

        Returns
        -------
        ndarray of shape (n, d)
            The frequencies.
        """
        return self._frequencies(n, d, rng)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError
