"""The Riemannian metric that a kernel induces on its input space.

The image of the input space is a surface in feature space. A small step dx moves the image by ds
with ds^2 = k(x, x) - 2 k(x, z) + k(z, z) = dx' g(x) dx, z = x + dx, where

    g_ij(x) = d^2 k(x, z) / dx_i dz_j   at z = x.

That is the same as the half second derivative of k(x, x) minus the second derivative of k(x, z)
in its first argument. Known cases: I for the linear kernel, 2 gamma I for exp(-gamma |x - z|^2),
q A^(q-1) I + q (q-1) A^(q-2) xx' with A = |x|^2 + c for (<x, z> + c)^q. See C. Burges, "Geometry
and invariance in kernel based methods", 1999; S. Amari, S. Wu, "Improving support vector machine
classifiers by modifying kernel functions", Neural Networks 12, 1999.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.jets import mixed_derivatives
from mercer.gram.program import part_program
from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.objects.arrays import Array
from mercer.objects.parameters import integer
from mercer.objects.rows import dense
from mercer.objects.validation import as_vectors

from .squared_lengths import nonnegative


@kernel_first
def metric_tensor(kernel: Kernel, X: Any) -> Array:
    """Return the metric at every point.

    Parameters
    ----------
    kernel : Kernel
        A kernel on vectors that is a smooth function of dot products, of distances or of single
        columns, or composed of such; bound to data if it depends on them.
    X : array or sparse matrix of shape (n, d)
        The points.

    Returns
    -------
    array of shape (n, d, d)
        The symmetric, positive semidefinite matrices g(x). A kernel with a kink where its
        arguments meet (Laplacian, exponential) has no metric, which is an error.

    Examples
    --------
    >>> from mercer.geometry import metric_tensor
    >>> from mercer.kernels import Polynomial
    >>> metric_tensor(Polynomial(degree=2, gamma=1.0), [[1.0, 2.0]])
    array([[[12.,  4.],
            [ 4., 18.]]])
    """
    X = _points(kernel, X)
    n, d = X.shape
    return _induced(kernel, X, np.broadcast_to(np.eye(d), (n, d, d)))


@kernel_first
def volume_element(kernel: Kernel, X: Any) -> Array:
    """Return the volume element of the metric: how the feature map stretches small volumes.

    Parameters
    ----------
    kernel : Kernel
        A smooth kernel on vectors; see :func:`metric_tensor`.
    X : array or sparse matrix of shape (n, d)
        The points.

    Returns
    -------
    array of shape (n,)
        sqrt(det g(x)).

    Examples
    --------
    >>> from mercer.geometry import volume_element
    >>> from mercer.kernels import RBF
    >>> volume_element(RBF(gamma=2.0), [[0.0, 0.0], [5.0, 1.0]])
    array([4., 4.])
    """
    metric = metric_tensor(kernel, X)
    principal = np.linalg.eigvalsh(metric)
    largest = np.abs(principal).max(axis=1, keepdims=True)
    nonnegative(principal, largest, kernel, "at x_{0} the square of the principal stretch {1}")
    return np.sqrt(np.maximum(np.linalg.det(metric), 0.0))


@kernel_first
def path_length(kernel: Kernel, path: Any, n_nodes: int = 16) -> float:
    """Return the length of the image of a path in feature space.

    The path goes straight from point to point; on every piece the speed sqrt(v' g(x) v) is
    integrated by Gauss-Legendre quadrature. The length is at least the distance of the ends in
    feature space, which is measured along the chord.

    Parameters
    ----------
    kernel : Kernel
        A smooth kernel on vectors; see :func:`metric_tensor`.
    path : array or sparse matrix of shape (m, d)
        At least two points.
    n_nodes : int >= 1, default=16
        Points of the quadrature on every piece.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer.geometry import distance, path_length
    >>> from mercer.kernels import RBF
    >>> round(path_length(RBF(gamma=0.5), [[0.0, 0.0], [3.0, 4.0]]), 9)
    5.0
    >>> distance(RBF(gamma=0.5), [[0.0, 0.0]], [[3.0, 4.0]]).round(6)
    array([[1.414211]])
    """
    integer(n_nodes, "n_nodes", minimum=1)
    points = _points(kernel, path)
    if len(points) < 2:
        raise ValueError(f"a path needs at least two points; got {len(points)}.")
    steps = np.diff(points, axis=0)
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    at = 0.5 * (nodes + 1.0)  # on [0, 1]
    X = (points[:-1, None] + at[:, None] * steps[:, None]).reshape(-1, points.shape[1])
    velocity = np.repeat(steps, n_nodes, axis=0)
    squares = _induced(kernel, X, velocity[:, :, None])[:, 0, 0]
    squares = nonnegative(squares, np.abs(squares).max(), kernel, "the square of the speed")
    speed = np.sqrt(squares).reshape(len(steps), n_nodes)
    return float(0.5 * (speed @ weights).sum())


def _induced(kernel: Kernel, X: Array, directions: Array) -> Array:
    return mixed_derivatives(part_program(kernel), X, directions)


def _points(kernel: Kernel, X: Any) -> Array:
    kernel.require_bound("near a point")
    if kernel.pairwise:
        raise ValueError("a precomputed matrix has no input space; use a kernel on vectors.")
    return dense(kernel.validate(as_vectors(X, type(kernel).__name__)))
