"""Maps of objects to vectors, for kernels that are evaluated on the images.

A map is applied once to a whole set of objects; row i of the result depends on object i only, so
that a kernel value depends on its two objects alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.objects.validation import Objects


@dataclass(frozen=True)
class FeaturesOf:
    """The features of a kernel as a map; equal kernels are one map."""

    kernel: Any  # has the method ``features(X)`` of validated objects

    @property
    def takes(self) -> Objects:
        """The objects of the kernel."""
        return self.kernel.takes

    def __call__(self, X: Any) -> Any:
        """Return the features of validated objects."""
        return self.kernel.features(X)


@dataclass(frozen=True)
class ValidFor:
    """The check that images are what the kernel on them takes, as a map."""

    kernel: Any  # the kernel on the images

    @property
    def takes(self) -> Objects:
        """The objects of the kernel."""
        return self.kernel.takes

    def __call__(self, X: Any) -> Any:
        """Return the images as the kernel takes them."""
        return self.kernel.validate(X)


def log_polar(X: Any) -> np.ndarray:
    """Return points of the plane by the logarithm of their radius and their angle.

    Rotating a point about the origin adds to the angle, scaling it adds to the logarithm: a
    translation-invariant kernel of these coordinates, periodic in the second one, is invariant
    under rotations and scalings of both its arguments.

    Parameters
    ----------
    X : array of shape (n_samples, 2)
        Points other than the origin.

    Returns
    -------
    ndarray of shape (n_samples, 2)
        Columns ln(r) and the angle in [-pi, pi].

    Examples
    --------
    >>> from mercer.kernels import RBF, FromFeatureMap, Periodized, log_polar
    >>> chart = RBF(1.0).on_columns(0) * Periodized(RBF(1.0)).on_columns(1)
    >>> k = FromFeatureMap(log_polar, kernel=chart.bind([[0.0, 0.0]]))
    >>> bool(abs(k([[1.0, 0.0]], [[1.0, 1.0]]) - k([[0.0, 2.0]], [[-2.0, 2.0]])) < 1e-12)
    True
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"log_polar takes points of the plane, two columns; got shape {X.shape}.")
    radius = np.hypot(X[:, 0], X[:, 1])
    if not (radius > 0).all():
        raise ValueError(f"log_polar is not defined at the origin, point {int(radius.argmin())}.")
    return np.column_stack([np.log(radius), np.arctan2(X[:, 1], X[:, 0])])
