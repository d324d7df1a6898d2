"""How a kernel states its Fourier transform and its regularisation operator: one line each.

    class RBF(GammaKernel):
        spectral_density = stated_transform("gaussian", gamma="gamma")
        regularisation = stated_operator("GAUSSIAN")

The closed forms stand in :mod:`mercer.inspection.densities` and
:mod:`mercer.inspection.coefficients`, the operators in :mod:`mercer.inspection.wording`; they are
imported when someone asks, since inspection builds on kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mercer.inspection import Regularisation


def stated_transform(form: str, **parameters: str) -> Callable[..., np.ndarray]:
    """Return a method ``spectral_density`` that evaluates a closed form.

    Parameters
    ----------
    form : str
        Name of a function of `mercer.inspection.densities`.
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
            The dimension d, where `omega` holds numbers; 1 by default.

        Returns
        -------
        ndarray of shape (n,)
            The transform, in the convention of :func:`mercer.inspection.fourier_transform`.
        """
        from mercer.inspection import densities

        self._require_bound("in the frequency domain")
        values = {name: getattr(self, attribute) for name, attribute in parameters.items()}
        return getattr(densities, form)(omega, dimension, **values)

    return spectral_density


def stated_series(form: str, **parameters: str) -> Callable[..., np.ndarray]:
    """Return a method ``fourier_coefficients`` of a periodic kernel that evaluates a closed form.

    Parameters
    ----------
    form : str
        Name of a function of `mercer.inspection.coefficients`.
    **parameters : str
        For each parameter of the function, the attribute of the kernel that holds it.

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
        from mercer.inspection import coefficients

        self._require_bound("in the frequency domain")
        values = {name: getattr(self, attribute) for name, attribute in parameters.items()}
        return getattr(coefficients, form)(n_terms, **values)

    return fourier_coefficients


def stated_operator(name: str) -> property:
    """Return a property ``regularisation`` that describes the operator of a kernel.

    Parameters
    ----------
    name : str
        Name of a constant of `mercer.inspection.wording`.

    Returns
    -------
    property
        The property.
    """

    def regularisation(self: Any) -> Regularisation:
        """Return the regularisation operator; see :func:`mercer.inspection.regularisation`."""
        from mercer.inspection import wording

        return getattr(wording, name)

    return property(regularisation)
