"""Radii of data in feature space, along kernel principal components, and their validity."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.capacity.bound import Condition

from .inputs import nonincreasing

Array = NDArray[np.float64]

SOURCES = {
    "transductive": Condition(
        "no object but those of the matrix will be evaluated", "unknown", "training and test data"
    ),
    "unlabelled": Condition(
        "later objects lie in the ellipsoid", "unknown",
        "with probability 1 - eta, from unlabelled data of the same distribution",
    ),
    "domain": Condition(
        "the objects drawn from the domain reach its extremes", "unknown", "Monte Carlo"
    ),
    "training": Condition(
        "later objects lie in the ellipsoid of the training sample", "unknown",
        "needs covering numbers of 2 m points from m (Shawe-Taylor and Williamson 1999)",
    ),
}  # fmt: skip


def n_crit(radii: Any) -> Array:
    r"""Return the logarithms of the numbers n_j at which each radius is used to the full.

    :math:`n_j = \lceil r_1 \cdots r_j / r_j^j \rceil` balls bring the entropy number of the scaling
    operator with j radii to :math:`6 \rho\, r_j`. Only r_j and the product are needed.

    Parameters
    ----------
    radii : array-like of shape (n_radii,)
        Radii, nonincreasing, > 0.

    Returns
    -------
    ndarray of shape (n_radii,)
        ln n_j, nondecreasing.

    Notes
    -----
    The brackets of (8.44) are lost in print. They must be the ceiling: with the floor, the
    geometric mean exceeds r_j.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import n_crit
    >>> np.exp(n_crit([1.0, 0.5, 0.5])).round(6)
    array([1., 2., 2.])
    """
    r = nonincreasing(radii, "radii")
    if not r[-1] > 0:
        raise ValueError("radii must be > 0; leave out directions without extent.")
    logs = np.log(r)
    raw = np.maximum(np.cumsum(logs) - np.arange(1, len(r) + 1) * logs, 0.0)
    # Where n is large, the ceiling does not change its logarithm.
    small = raw < 30.0
    raw[small] = np.log(np.ceil(np.exp(raw[small]) * (1.0 - 1e-12)))
    return raw


def radii_from_gram(K: Any, centre: bool = False) -> Array:
    r"""Return the largest projections on kernel principal components.

    .. math:: r_i = \sqrt{\lambda_i} \max_j |\alpha_{ij}| \le \sqrt{\lambda_i}

    with the eigenvalues and unit eigenvectors of the kernel matrix.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix.
    centre : bool, default=False
        Whether to subtract the mean in feature space first, as kernel PCA does; the bounds of this
        package are about balls around the origin and do not.

    Returns
    -------
    ndarray
        Radii, sorted. They are half sides of a box around the features, not radii of an ellipsoid.

    References
    ----------
    Smola 1998, section 8.4.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import radii_from_gram
    >>> radii_from_gram([[4.0, 0.0], [0.0, 1.0]])
    array([2., 1.])
    """
    matrix = np.asarray(K, dtype=np.float64)
    if centre:
        mean = matrix.mean(axis=0)
        matrix = matrix - mean - mean[:, None] + mean.mean()
    projections, _ = projections_of(matrix)
    return np.sort(np.abs(projections).max(axis=0))[::-1]


def projections_of(K: Any) -> tuple[Array, Array]:
    """Return the projections of the features on the principal components, and squared lengths."""
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"a Gram matrix is square; got shape {matrix.shape}.")
    values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2)
    kept = values > len(matrix) * np.finfo(np.float64).eps * values[-1]
    return (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1], np.diagonal(matrix).copy()
