"""Lengths, angles and distances in feature space, from kernel values alone.

With phi the feature map of k: norm(x)^2 = k(x, x), cos(x, z) = k(x, z) / (norm(x) norm(z)) and
distance(x, z)^2 = k(x, x) - 2 k(x, z) + k(z, z).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .algebra import normalize
from .base import Kernel
from .diagonal import check_nonnegative
from .objects import count, take

_ROWS = 512  # rows of the kernel matrix held at a time


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
    >>> from mercer.kernels import Linear, norm
    >>> norm(Linear(), [[3.0, 4.0]])
    array([5.])
    """
    squares = kernel.diag(X)
    check_nonnegative(squares, kernel)
    return np.sqrt(squares)


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
        k(x, z) / sqrt(k(x, x) k(z, z)), 0 where one of the objects has length 0.

    Examples
    --------
    >>> from mercer.kernels import Linear, cosine
    >>> cosine(Linear(), [[1.0, 0.0]], [[3.0, 4.0]])
    array([[0.6]])
    """
    return normalize(kernel)(X, Z)


def distance(kernel: Kernel, X: Any, Z: Any = None) -> np.ndarray:
    """Return the distances between objects in feature space.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : objects
        The objects x.
    Z : objects, optional
        The objects z, by default those of `X`.

    Returns
    -------
    ndarray of shape (n_X, n_Z)
        sqrt(k(x, x) - 2 k(x, z) + k(z, z)), with rounding below 0 taken as 0.

    Examples
    --------
    >>> from mercer.kernels import Linear, distance
    >>> distance(Linear(), [[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """
    if Z is None:
        kernel = kernel.bind(X)
    values = kernel(X, Z)
    own = kernel.diag(X)
    other = own if Z is None else kernel.diag(Z)
    squares = own[:, None] - 2.0 * values + other
    if Z is None:
        np.fill_diagonal(squares, 0.0)
    return np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)


def distance_to_mean(kernel: Kernel, X: Any, Z: Any) -> np.ndarray:
    """Return the distance of every object to the mean of others, in feature space.

    The squared distance is k(x, x) - 2 mean_z k(x, z) + mean_zz' k(z, z'). A few hundred rows
    of the matrices exist at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel, bound to data if it depends on them.
    X : objects
        The objects x.
    Z : objects
        The objects z whose mean is taken.

    Returns
    -------
    ndarray of shape (n_X,)
        The distances.

    Examples
    --------
    >>> from mercer.kernels import Linear, distance_to_mean
    >>> distance_to_mean(Linear(), [[3.0, 5.0]], [[-1.0, 1.0], [1.0, 1.0]])
    array([5.])
    """
    kernel._require_bound("on two sets of objects")
    Z = kernel.validate(Z)
    X = kernel.validate(X, Z)
    to_mean = _row_means(kernel, X, Z)
    squares = kernel.diag(X) - 2.0 * to_mean + _row_means(kernel, Z, Z).mean()
    return np.sqrt(np.maximum(squares, 0.0))


def _row_means(kernel: Kernel, X: Any, Z: Any) -> np.ndarray:
    blocks = range(0, count(X), _ROWS)
    return np.concatenate([kernel(take(X, slice(i, i + _ROWS)), Z).mean(axis=1) for i in blocks])
