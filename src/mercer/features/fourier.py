"""Random Fourier features of translation-invariant kernels."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import Kernel
from mercer.kernels.resolve import KernelLike
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.objects.parameters import declared, integer_from, parameter, real, seed
from mercer.objects.rows import dense

from .base import KernelFeatures
from .drawn_frequencies import draw_frequencies
from .seeds import generator


@declared
class RandomFourierFeatures(KernelFeatures, NamedKernelEstimator):
    r"""Cosines and sines of random frequencies, whose dot products estimate a kernel.

    With frequencies :math:`w` from the spectrum of the kernel (see
    :func:`mercer.features.draw_frequencies`), :math:`k(x - z) = k(0) \, E \cos(w \cdot (x - z))`
    is estimated without bias by the features :math:`\sqrt{2 k(0) / n} \, (\cos w_j \cdot x,
    \sin w_j \cdot x)`, n in all. For n odd, the last frequency has the one feature
    :math:`\cos(w \cdot x + b)` with a random phase.

    A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS 2007; that pairs
    of cosine and sine have less variance than random phases: D. Sutherland, J. Schneider, "On the
    error of random Fourier features", UAI 2015.

    Attributes
    ----------
    frequencies_ : array of shape (ceil(n_components / 2), n_features_in_)
        The frequencies.
    phase_ : float or None
        Phase of the last feature where `n_components` is odd.
    mass_ : float
        k(0).
    n_components_ : int
        Number of features.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import RandomFourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> features = RandomFourierFeatures(gamma=0.5, n_components=2000, random_state=0).fit(X)
    >>> features.transform(X).shape
    (300, 2000)
    >>> round(features.pointwise_bound(0.05), 3), bool(features.approximation_error(X).max < 0.15)
    (0.086, True)
    """

    kernel: KernelLike = parameter(default="rbf", kind="str or Kernel")
    """A translation-invariant kernel with a method ``sample_spectrum``, as all with a name that
    have a spectrum, periodic ones included; or sums, products, powers, power series and selections
    of columns of such."""
    _: KW_ONLY
    n_components: int = parameter(integer_from(1), default=100)
    """Number of features."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the frequencies."""

    def _check(self) -> None:
        kernel = self._resolved_kernel()
        if not kernel.requires_vectors or kernel.pairwise:
            raise ValueError(
                f"random Fourier features need a translation-invariant kernel on vectors; got "
                f"{kernel!r}. Nystrom and IncompleteCholeskyFeatures take any kernel."
            )

    def _choose(self, kernel: Kernel, X: Any) -> None:
        n = int(self.n_components)
        rng = generator(self.random_state)
        self.frequencies_, self.mass_ = draw_frequencies(kernel, (n + 1) // 2, X.shape[1], rng)
        self.phase_ = float(rng.uniform(0.0, 2.0 * np.pi)) if n % 2 else None
        self.n_components_ = n

    def _features(self, X: Any) -> np.ndarray:
        """Return cosines, then sines, then the feature with a phase if there is one."""
        angles = dense(X @ self.frequencies_.T)
        n, pairs = self.n_components_, self.n_components_ // 2
        features = np.empty((len(angles), n))
        np.cos(angles[:, :pairs], out=features[:, :pairs])
        np.sin(angles[:, :pairs], out=features[:, pairs : 2 * pairs])
        if self.phase_ is not None:
            features[:, -1] = np.cos(angles[:, -1] + self.phase_)
        features *= math.sqrt(2.0 * self.mass_ / n)
        return features

    def pointwise_bound(self, delta: float = 0.05) -> float:
        """Return an error |k(x, z) - f(x) . f(z)| exceeded with probability at most ``delta``.

        The probability is over the draw of the frequencies. By Hoeffding's inequality: the estimate
        is a sum of independent terms, each in an interval of length 4 k(0) / n_components. The
        bound holds for a pair chosen before the draw, not for all pairs at once; for those, measure
        with `approximation_error`.
        """
        check_is_fitted(self)
        if not 0.0 < real(delta, "delta") < 1.0:
            raise ValueError(f"delta must be a probability between 0 and 1; got {delta}.")
        terms = len(self.frequencies_)
        length = 4.0 * self.mass_ / self.n_components_
        return length * math.sqrt(0.5 * terms * math.log(2.0 / delta))
