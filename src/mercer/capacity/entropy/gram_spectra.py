"""Spectra from kernel values: quadrature on a domain, Gram matrices of a sample.

Estimates, except for a Gram matrix of all objects that will ever be evaluated; the conditions of
the spectrum say which.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.capacity.bound import Condition
from mercer.kernels import resolve
from mercer.objects.parameters import integer, positive

from .spectra import Spectrum

Array = NDArray[np.float64]


def nystrom_spectrum(
    kernel: Any, domain: Any, *, n_nodes: int = 400, volume: float | None = None
) -> Spectrum:
    r"""Return estimates of the eigenvalues of a kernel on a domain, by quadrature.

    The eigenvalues of the Gram matrix of n nodes, times the volume over n, converge to those of
    the integral operator; likewise the eigenvectors to the eigenfunctions.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The kernel.
    domain : tuple (low, high) or objects
        An interval or a box by two opposite corners, with midpoints as nodes; or a sample of
        objects from the uniform distribution on the domain.
    n_nodes : int >= 2, default=400
        Nodes, about so many on a box.
    volume : float > 0, optional
        Mass of the domain; for a sample 1 by default, which gives the spectrum for the
        distribution that the objects are drawn from.

    Returns
    -------
    Spectrum
        Estimates. Neither the eigenvalues nor C_k, the largest value of an eigenfunction at a node,
        are proved to be upper bounds; the conditions say so.

    References
    ----------
    Smola 1998, section 8.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import nystrom_spectrum
    >>> brownian = lambda A, B: np.minimum(A, B.T)
    >>> nystrom_spectrum(brownian, (0.0, 1.0)).values[:2].round(4)  # 1 / ((j - 1/2)^2 pi^2)
    array([0.4053, 0.045 ])
    """
    kernel = resolve(kernel)
    if isinstance(domain, tuple):
        nodes, mass = _midpoints(domain, integer(n_nodes, "n_nodes", minimum=2))
        volume = mass if volume is None else volume
    else:
        nodes = domain
    K = np.asarray(kernel.bind(nodes)(nodes), dtype=np.float64)
    return spectrum_from_gram(K, volume=1.0 if volume is None else volume)


def spectrum_from_gram(K: Any, *, volume: float = 1.0, data: str = "sample") -> Spectrum:
    """Return the spectrum of a Gram matrix as an estimate of that of the integral operator.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix of a sample.
    volume : float > 0, default=1.0
        Mass of the measure that the sample stands for.
    data : {"sample", "transductive"}, default="sample"
        "sample": the objects are a sample, and a bound on later objects is an estimate.
        "transductive": the matrix holds all objects that will ever be evaluated, training and
        test, so that its features are the features: the box is exact.

    Returns
    -------
    Spectrum
        Eigenvalues volume / n times those of K; C_k is the largest value of an eigenvector, scaled
        like an eigenfunction.

    References
    ----------
    Smola 1998, (8.13) and section 8.4.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import spectrum_from_gram
    >>> spectrum_from_gram([[1.0, 0.0], [0.0, 1.0]]).values
    array([0.5, 0.5])
    """
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"a Gram matrix is square; got shape {matrix.shape}.")
    if data not in ("sample", "transductive"):
        raise ValueError(f'data must be "sample" or "transductive"; got {data!r}.')
    n = len(matrix)
    values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    rounding = n * np.finfo(np.float64).eps * max(abs(values[0]), abs(values[-1]))
    if values[-1] < -10 * rounding:
        raise ValueError(
            f"the matrix has the eigenvalue {values[-1]:.3g}: the kernel is not positive "
            "semidefinite on these objects. For linear programming machines use SignedSpectrum."
        )
    kept = values > rounding
    scale = positive(volume, "volume")
    largest = float(np.abs(vectors[:, kept]).max()) * math.sqrt(n / scale)
    # Entries of unit vectors are at most 1, but those of the directions left out may exceed C_k.
    left_out = float(np.abs(values[~kept]).sum() + n * rounding) * scale / n
    return Spectrum(
        values[kept] * scale / n,
        C_k=largest,
        tail=left_out * (n / scale) / largest**2,
        conditions=_gram_conditions(data, n),
    )


def _gram_conditions(data: str, n: int) -> tuple[Condition, ...]:
    if data == "transductive":
        return (
            Condition(
                "the matrix holds all objects that will be evaluated",
                "unknown",
                "training and test objects together",
            ),
        )
    return (
        Condition("the eigenvalues are those of the integral operator", "unknown", f"{n} objects"),
        Condition("no eigenfunction exceeds C_k anywhere", "unknown", f"largest of {n} values"),
    )


def _midpoints(domain: Sequence[Any], n: int) -> tuple[Array, float]:
    low, high = (np.atleast_1d(np.asarray(end, dtype=np.float64)) for end in domain)
    if low.shape != high.shape or low.ndim != 1 or not (low < high).all():
        raise ValueError(
            "a domain is an interval (low, high) or a box by two opposite corners, low < high in "
            f"every coordinate; got {domain!r}."
        )
    side = max(2, round(n ** (1 / len(low))))
    axes = [a + (b - a) * (np.arange(side) + 0.5) / side for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))
    return grid, float(np.prod(high - low))


def uncentred_covariance_spectrum(K: Any) -> Array:
    r"""Return the eigenvalues of the uncentred covariance of a sample in feature space.

    They are those of K / n. In any orthonormal basis, the largest projections c_i of features
    satisfy :math:`c_i^2 \ge e_i' C e_i` with this covariance C, so no basis gives a box whose sides
    decay faster than the square roots of these eigenvalues.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix.

    Returns
    -------
    ndarray of shape (n,)
        Eigenvalues, largest first; for uniform objects on a domain they converge to the
        eigenvalues of the integral operator over its volume.

    References
    ----------
    Smola 1998, (8.11) to (8.13).

    Examples
    --------
    >>> from mercer.capacity.entropy import uncentred_covariance_spectrum
    >>> uncentred_covariance_spectrum([[2.0, 0.0], [0.0, 4.0]])
    array([2., 1.])
    """
    matrix = np.asarray(K, dtype=np.float64)
    return scipy.linalg.eigvalsh((matrix + matrix.T) / 2)[::-1] / len(matrix)
