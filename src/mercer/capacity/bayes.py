"""Bayesian statements for Gaussian noise: marginal likelihood, posterior mean and variance.

The targets are y = t + noise with t drawn from a Gaussian process of covariance K. Because the
posterior is Gaussian and the class linear, the most probable function and the posterior average
are the same.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

__all__ = ["gaussian_posterior", "log_marginal_likelihood", "map_weights"]

Array = NDArray[np.float64]


def log_marginal_likelihood(K: ArrayLike, y: ArrayLike, noise: float) -> float:
    """Return ln P(y | X), the density of N(0, K + noise I) at the targets.

    Parameters
    ----------
    K : array-like of shape (l, l)
        Prior covariance of the true targets.
    y : array-like of shape (l,)
        Noisy targets.
    noise : float
        Variance of the noise.

    Returns
    -------
    float
        Ln P(y | X), the density of N(0, K + noise I) at the targets.

    Examples
    --------
    >>> from mercer.capacity import log_marginal_likelihood
    >>> round(log_marginal_likelihood([[1.0]], [0.0], noise=1.0), 6)
    -1.265512
    """
    factor, targets = _factor(K, noise), np.asarray(y, dtype=float)
    ln_det = 2 * float(np.sum(np.log(np.diag(factor[0]))))
    quadratic = float(targets @ cho_solve(factor, targets))
    return -0.5 * (quadratic + ln_det + len(targets) * math.log(2 * math.pi))


def gaussian_posterior(
    K: ArrayLike, k: ArrayLike, prior_variance: ArrayLike, y: ArrayLike, noise: float
) -> tuple[Array, Array]:
    """Return mean and variance of the true targets at new points, given the noisy ones.

    mean = k'(K + noise I)^-1 y, variance = K(x, x) - k'(K + noise I)^-1 k. The mean is kernel
    ridge regression with lambda = noise.

    Parameters
    ----------
    K : array-like of shape (l, l)
        Covariance of the training points.
    k : array-like of shape (n, l)
        Covariance of the new points with the training points.
    prior_variance : array-like of shape (n,)
        K(x, x) at the new points.
    y, noise
        Noisy targets and the variance of their noise.

    Returns
    -------
    tuple of ndarray
        Mean and variance at the new points.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import gaussian_posterior
    >>> mean, variance = gaussian_posterior([[1.0]], [[0.5]], [1.0], [2.0], noise=1.0)
    >>> mean.round(9).tolist(), variance.round(9).tolist()
    ([0.5], [0.875])
    """
    factor, cross = _factor(K, noise), np.atleast_2d(np.asarray(k, dtype=float))
    mean = cross @ cho_solve(factor, np.asarray(y, dtype=float))
    reduction = np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T))
    return mean, np.asarray(prior_variance, dtype=float) - reduction


def map_weights(features: ArrayLike, y: ArrayLike, noise: float) -> Array:
    """Return the most probable weights of a linear model with prior N(0, I) and Gaussian noise.

    Parameters
    ----------
    features : array-like of shape (l, d)
        Features of the training points.
    y : array-like of shape (l,)
        Noisy targets.
    noise : float
        Variance of the noise.

    Returns
    -------
    ndarray of shape (d,)
        The weights.

    Examples
    --------
    >>> from mercer.capacity import map_weights
    >>> map_weights([[1.0], [1.0]], [1.0, 3.0], noise=2.0).tolist()
    [1.0]
    """
    Phi = np.asarray(features, dtype=float)
    factor = _factor(Phi.T @ Phi, noise)
    return np.asarray(cho_solve(factor, Phi.T @ np.asarray(y, dtype=float)))


def _factor(K: ArrayLike, noise: float) -> tuple[Array, bool]:
    if not noise > 0:
        raise ValueError(f"noise, a variance, must be positive; got {noise!r}.")
    covariance = np.asarray(K, dtype=float)
    return cho_factor(covariance + noise * np.eye(len(covariance)), lower=True)
