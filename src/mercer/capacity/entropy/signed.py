r"""Symmetric kernels that need not be positive: signed spectra, for linear programming machines.

With :math:`k(x, y) = \sum_j \lambda_j \phi_j(x) \phi_j(y)` and eigenvalues of both signs, an
expansion is still linear in features: :math:`f(x) = \sum_i \alpha_i k(x_i, x) = \langle w, \Phi(x)
\rangle` with

.. math:: \Phi_j(x) = \sqrt{|\lambda_j|}\, \phi_j(x), \qquad
          w_j = \operatorname{sign}(\lambda_j) \sqrt{|\lambda_j|} \sum_i \alpha_i \phi_j(x_i) .
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.capacity.bound import Condition

from .spectra import Spectrum

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SignedSpectrum(Spectrum):
    """The absolute eigenvalues of a symmetric kernel, with the signs of a Gram matrix.

    Attributes
    ----------
    signs : ndarray, optional
        Signs of the eigenvalues, by falling absolute value.
    vectors : ndarray, optional
        Eigenvectors of the Gram matrix, one column per eigenvalue.
    values : ndarray
        Absolute eigenvalues, largest first.
    multiplicities : array-like of int, optional
        How often each of them occurs; by default once.
    C_k : float, default=1
        Bound on the absolute value of all eigenfunctions.
    tail : float, default=0
        Bound on the sum of the eigenvalues that are not listed.
    conditions : tuple of Condition
        Conditions under which this is the spectrum.

    Examples
    --------
    >>> from mercer.capacity.entropy import SignedSpectrum
    >>> s = SignedSpectrum.of([2.0, -3.0])
    >>> s.values, s.signs
    (array([3., 2.]), array([-1.,  1.]))
    """

    signs: Any = None
    vectors: Any = None

    @classmethod
    def of(cls, eigenvalues: Any, *, C_k: float = 1.0, tail: float = 0.0) -> SignedSpectrum:
        """Return the spectrum of a list of eigenvalues of both signs.

        Parameters
        ----------
        eigenvalues : array-like
            The eigenvalues, in any order, repeated by multiplicity.
        C_k, tail
            As for `Spectrum`; the tail is a sum of absolute values.
        """
        values = np.asarray(eigenvalues, dtype=np.float64)
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[values[order] != 0]
        return cls(np.abs(values[order]), None, C_k, tail, signs=np.sign(values[order]))

    @classmethod
    def from_gram(cls, K: Any) -> SignedSpectrum:  # type: ignore[override]
        """Return the spectrum of a symmetric Gram matrix, as an estimate for its kernel.

        Parameters
        ----------
        K : array-like of shape (n, n)
            A symmetric matrix, positive or not.
        """
        matrix = np.asarray(K, dtype=np.float64)
        n = len(matrix)
        values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2)
        order = np.argsort(-np.abs(values))
        rounding = n * np.finfo(np.float64).eps * np.abs(values).max()
        order = order[np.abs(values[order]) > rounding]
        largest = float(np.abs(vectors[:, order]).max()) * math.sqrt(n)
        return cls(
            np.abs(values[order]) / n,
            None,
            largest,
            n * rounding,
            (Condition("the eigenvalues are those of the integral operator", "unknown", f"n={n}"),),
            signs=np.sign(values[order]),
            vectors=vectors[:, order],
        )

    def features(self) -> Array:
        """Return the features of the objects of the Gram matrix, one row each."""
        if self.vectors is None:
            raise ValueError("features are those of a Gram matrix: use SignedSpectrum.from_gram.")
        n = len(self.vectors)
        return np.asarray(self.vectors * np.sqrt(self.values * n))

    def weights(self, coef: Any) -> Array:
        """Return the weight vector of the expansion with these coefficients."""
        return self.signs * (np.asarray(coef, dtype=np.float64) @ self.features())
