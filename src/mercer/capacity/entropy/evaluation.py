"""Evaluation at the points of a sample, as an operator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import positive

Array = NDArray[np.float64]


def evaluation_operator(K: Any) -> Array:
    """Return the matrix whose unit ball is what functions of norm 1 do at the sample.

    The evaluation operator maps w to (<w, phi(x_1)>, ..., <w, phi(x_m)>). Its image of the unit
    ball is that of K^(1/2), and its norm into l_infinity is the largest row length of K^(1/2),
    sqrt(max k(x_i, x_i)).

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the sample, positive semidefinite.

    Returns
    -------
    ndarray of shape (m, m)
        The symmetric root of K.

    References
    ----------
    Smola 1998, (8.21).

    Examples
    --------
    >>> from mercer.capacity.entropy import evaluation_operator
    >>> evaluation_operator([[4.0, 0.0], [0.0, 1.0]])
    array([[2., 0.],
           [0., 1.]])
    """
    matrix = np.asarray(K, dtype=np.float64)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def volume_lower_bound(K: Any, eps: float, w_norm: float = 1.0) -> float:
    r"""Return a lower bound on ln N(eps) of functions of bounded norm, on a sample.

    The values of the class at the sample are an ellipsoid of volume
    :math:`\Lambda^m \sqrt{\det K} \, \pi^{m/2} / \Gamma(m/2 + 1)`, and a ball of l_infinity has the
    volume :math:`(2 \epsilon)^m`. It tells how far an upper bound can be from the truth.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the sample.
    eps : float > 0
        The radius.
    w_norm : float > 0, default=1.0
        The bound Lambda on the norm of the functions.

    Returns
    -------
    float
        The lower bound, at least 0.

    Examples
    --------
    >>> from mercer.capacity.entropy import volume_lower_bound
    >>> round(volume_lower_bound([[1.0, 0.0], [0.0, 1.0]], 0.1), 3)
    4.364
    """
    matrix = np.asarray(K, dtype=np.float64)
    positive(eps, "eps")
    m = len(matrix)
    sign, logdet = np.linalg.slogdet(matrix)
    if sign <= 0:
        return 0.0
    volume = 0.5 * logdet + m / 2 * math.log(math.pi) - math.lgamma(m / 2 + 1)
    return max(0.0, float(volume) - m * math.log(2.0 * eps) + m * math.log(w_norm))
