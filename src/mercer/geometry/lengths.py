"""Lengths, angles and distances in feature space, from kernel values alone.

With phi the feature map of k: norm(x)^2 = k(x, x), cos(x, z) = k(x, z) / (norm(x) norm(z)) and
distance(x, z)^2 = k(x, x) - 2 k(x, z) + k(z, z).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.kernel_diagonal import check_nonnegative
from mercer.kernels.algebra import normalize
from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first

from .squared_lengths import require_distances, require_lengths, rounding_of, squared_distances


@kernel_first
def norm(kernel: Kernel, X: Any) -> np.ndarray:
    """Return the length of every object in feature space.

    Parameters
    ----------
    kernel : Kernel
        The kernel; its diagonal must not be negative.
    X : objects
        The objects.

    Returns
    -------
    ndarray of shape (n_X,)
        sqrt(k(x, x)).

    Examples
    --------
    >>> from mercer.geometry import norm
    >>> from mercer.kernels import Linear
    >>> norm(Linear(), [[3.0, 4.0]])
    array([5.])
    """
    squares = kernel.diag(X)
    check_nonnegative(squares, kernel)
    require_lengths(kernel, "length of objects")
    return np.sqrt(squares)


@kernel_first
def cosine(kernel: Kernel, X: Any, Z: Any = None) -> np.ndarray:
    """Return the cosines of the angles between objects in feature space.

    Parameters
    ----------
    kernel : Kernel
        The kernel; its diagonal must not be negative.
    X : objects
        The objects x.
    Z : objects, optional
        The objects z, by default those of `X`.

    Returns
    -------
    ndarray of shape (n_X, n_Z)
        k(x, z) / sqrt(k(x, x) k(z, z)), 0 where one of the objects has length 0. A value beyond
        -1 and 1, which no positive semidefinite kernel gives, is an error.

    Examples
    --------
    >>> from mercer.geometry import cosine
    >>> from mercer.kernels import Linear
    >>> cosine(Linear(), [[1.0, 0.0]], [[3.0, 4.0]])
    array([[0.6]])
    """
    require_lengths(kernel, "angle between objects")
    if Z is None:
        kernel = kernel.bind(X)
    cosines = normalize(kernel)(X, Z)
    worst = np.unravel_index(int(np.abs(cosines).argmax()), cosines.shape)
    if abs(cosines[worst]) > 1.0 + rounding_of(kernel):
        i, j = (int(i) for i in worst)
        raise ValueError(
            f"k(x, z) is {cosines[worst]:.6g} times sqrt(k(x, x) k(z, z)) for x_{i} and z_{j}, "
            f"and no cosine: {kernel!r} is not positive semidefinite on these objects."
        )
    return cosines


@kernel_first
def angle(kernel: Kernel, X: Any, Z: Any = None) -> np.ndarray:
    """Return the angles between objects in feature space, in radians.

    Parameters
    ----------
    kernel, X, Z : Kernel, objects, objects
        As for :func:`cosine`.

    Returns
    -------
    ndarray of shape (n_X, n_Z)
        Angles from 0 to pi, NaN where one of the objects has length 0 and so no direction. An
        angle comes from its cosine, so angles below about 1e-8 are not told from 0.

    Examples
    --------
    >>> from mercer.geometry import angle
    >>> from mercer.kernels import Linear
    >>> angle(Linear(), [[1.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]]).round(6)
    array([[0.785398, 1.570796]])
    """
    if Z is None:
        kernel = kernel.bind(X)
    angles = np.arccos(np.clip(cosine(kernel, X, Z), -1.0, 1.0))
    own = kernel.diag(X)
    if Z is None:
        np.fill_diagonal(angles, 0.0)
    other = own if Z is None else kernel.diag(Z)
    angles[own == 0.0] = np.nan
    angles[:, other == 0.0] = np.nan
    return angles


@kernel_first
def distance(kernel: Kernel, X: Any, Z: Any = None) -> np.ndarray:
    """Return the distances between objects in feature space.

    Parameters
    ----------
    kernel : Kernel
        The kernel: positive semidefinite or conditionally so.
    X : objects
        The objects x.
    Z : objects, optional
        The objects z, by default those of `X`.

    Returns
    -------
    ndarray of shape (n_X, n_Z)
        sqrt(k(x, x) - 2 k(x, z) + k(z, z)), with rounding below 0 taken as 0. A square that is
        clearly negative, which no such kernel gives, is an error.

    Examples
    --------
    >>> from mercer.geometry import distance
    >>> from mercer.kernels import Linear
    >>> distance(Linear(), [[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """
    require_distances(kernel)
    if Z is None:
        kernel = kernel.bind(X)
    values = kernel(X, Z)
    own = kernel.diag(X)
    other = own if Z is None else kernel.diag(Z)
    what = "the squared distance of x_{0} and z_{1}"
    squares = squared_distances(own[:, None], values, other, kernel, what)
    if Z is None:
        np.fill_diagonal(squares, 0.0)
    return np.sqrt(squares, out=squares)
