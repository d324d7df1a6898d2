"""The centre of mass of a set in feature space, and distances to it.

With shares w_i that sum to 1 the centre is S = sum_i w_i phi(x_i), and

    |phi(z) - S|^2        = k(z, z) - 2 sum_i w_i k(x_i, z) + w'Kw
    sum_i w_i |phi(x_i) - S|^2 = sum_i w_i k(x_i, x_i) - w'Kw,

the mean squared distance, which is the trace of the centred kernel matrix over n when all shares
are equal. No kernel matrix is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram import Gram
from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.objects.arrays import Array
from mercer.objects.validation import count

from .functions import RKHSFunction, cross_gram_product
from .squared_lengths import nonnegative, require_distances, squared_distances

TO_MEAN = "the squared distance of x_{0} to the mean"


def shares(sample_weight: Any, n: int) -> Array:
    """Return weights, 0 included, as shares that sum to 1; equal ones by default."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n} objects; got shape "
            f"{weight.shape}."
        )
    if not np.isfinite(weight).all() or weight.min() < 0.0:
        raise ValueError("sample_weight must be finite and not negative.")
    total = float(weight.sum())
    if total == 0.0:
        raise ValueError("sample_weight is zero for every object; at least one must count.")
    return weight / total


@kernel_first
def centre_of_mass(kernel: Kernel, X: Any, sample_weight: Any = None) -> RKHSFunction:
    """Return the mean of the images of the objects, a point of feature space.

    Parameters
    ----------
    kernel : Kernel
        The kernel, bound to `X` if it has to be.
    X : objects
        The objects.
    sample_weight : array-like of shape (n_X,), optional
        Weights; weight k counts as k copies.

    Returns
    -------
    RKHSFunction
        The centre. It need not be the image of an object.

    Examples
    --------
    >>> from mercer.geometry import centre_of_mass
    >>> from mercer.kernels import Linear
    >>> centre = centre_of_mass(Linear(), [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> round(centre.norm() ** 2, 12)
    2.0
    """
    kernel, X = kernel.bound_to(X)
    return RKHSFunction(kernel, X, shares(sample_weight, count(X)))


@kernel_first
def distance_to_mean(kernel: Kernel, X: Any, Z: Any, sample_weight: Any = None) -> np.ndarray:
    """Return the distance of every object to the mean of others, in feature space.

    The squared distance is k(x, x) - 2 mean_z k(x, z) + mean_zz' k(z, z').

    Parameters
    ----------
    kernel : Kernel
        The kernel, bound to data if it depends on them.
    X : objects
        The objects x.
    Z : objects
        The objects z whose mean is taken.
    sample_weight : array-like of shape (n_Z,), optional
        Weights of the objects z; weight k counts as k copies.

    Returns
    -------
    ndarray of shape (n_X,)

    Examples
    --------
    >>> from mercer.geometry import distance_to_mean
    >>> from mercer.kernels import Linear
    >>> distance_to_mean(Linear(), [[3.0, 5.0]], [[-1.0, 1.0], [1.0, 1.0]])
    array([5.])
    """
    kernel.require_bound("on two sets of objects")
    require_distances(kernel)
    Z = kernel.validate(Z)
    X = kernel.validate(X, Z)
    weight = shares(sample_weight, count(Z))
    to_mean = cross_gram_product(kernel, X, Z, weight)
    own = kernel.diag(X)
    mean2 = float(weight @ Gram(kernel, Z, "float64").matmul(weight))
    return np.sqrt(squared_distances(own, to_mean, mean2, kernel, TO_MEAN))


@kernel_first
def mean_squared_distance(kernel: Kernel, X: Any, sample_weight: Any = None) -> float:
    """Return the mean squared distance of the objects to their centre of mass.

    Parameters
    ----------
    kernel : Kernel
        The kernel, bound to `X` if it has to be.
    X : objects
        The objects; for a precomputed kernel its matrix.
    sample_weight : array-like of shape (n_X,), optional
        Weights; weight k counts as k copies.

    Returns
    -------
    float
        The total variance in feature space; 1 - mean_ij k(x_i, x_j) for a normalised kernel.

    Examples
    --------
    >>> from mercer.geometry import mean_squared_distance
    >>> from mercer.kernels import Linear
    >>> mean_squared_distance(Linear(), [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    2.0
    """
    require_distances(kernel)
    kernel, X = kernel.bound_to(X)
    gram = Gram(kernel, X, "float64")
    weight = shares(sample_weight, gram.n)
    own, means = gram.diag(), gram.matmul(weight)
    spread, size = weight @ (own - means), weight @ (np.abs(own) + np.abs(means))
    return float(nonnegative(spread, size, kernel, "the mean squared distance to the centre"))
