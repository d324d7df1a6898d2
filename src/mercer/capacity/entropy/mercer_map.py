"""Mercer's features of a kernel on a period, as coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import integer

from .periodic import PeriodicSpectrum

Array = NDArray[np.float64]


class MercerMap:
    r"""The features :math:`\Phi(x) = (\sqrt{\lambda_j} \psi_j(x))_j` of a periodic extension.

    Parameters
    ----------
    spectrum : PeriodicSpectrum
        The spectrum, of a radial kernel whose eigenvalues fall with the frequency.
    n_terms : int >= 1
        How many features.

    Attributes
    ----------
    left_out : float
        Bound on the error of every kernel value, C_k^2 times the sum of the other eigenvalues.

    References
    ----------
    Smola 1998, (8.6) and (8.52).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import MercerMap, Spectrum
    >>> from mercer.kernels import RBF
    >>> phi = MercerMap(Spectrum.from_translation_invariant(RBF(gamma=1.0), 8.0), n_terms=25)
    >>> features = phi.transform([[0.0], [1.0]])
    >>> round(float(features[0] @ features[1]), 6), round(float(np.exp(-1.0)), 6)
    (0.367879, 0.367879)
    """

    def __init__(self, spectrum: PeriodicSpectrum, n_terms: int) -> None:
        if not isinstance(spectrum, PeriodicSpectrum):
            raise TypeError(
                "eigenfunctions are known for periodic extensions: pass a spectrum made by "
                "Spectrum.from_translation_invariant."
            )
        if not spectrum.falling:
            raise ValueError(
                "the eigenvalues of this kernel do not fall with the frequency, so its leading "
                "eigenfunctions are not the waves of lowest frequency; use Spectrum.from_kernel."
            )
        self.spectrum = spectrum
        self.n_terms = integer(n_terms, "n_terms", minimum=1)
        self.roots = np.sqrt(spectrum.leading(n_terms))
        if len(self.roots) < n_terms:
            raise ValueError(f"the spectrum lists {len(self.roots)} eigenvalues; got {n_terms=}.")
        rest = spectrum.trace - float((self.roots**2).sum())
        self.left_out = spectrum.C_k**2 * max(rest, spectrum.tail)

    def transform(self, X: Any) -> Array:
        """Return the features of points, one row each.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n,)
            The points.
        """
        return self.spectrum.eigenfunctions(X, self.n_terms) * self.roots
