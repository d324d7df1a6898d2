"""Objectives of a Gaussian process as functions of its hyper-parameters, with their gradients.

With C = K + N, an unpenalised basis B, Z an orthonormal basis of the vectors with B'z = 0,
G = Z (Z'CZ)^-1 Z' and a = G y for each of m outputs,

    log evidence   -1/2 y'a - 1/2 log det Z'CZ - (n - p)/2 log 2 pi,

the restricted likelihood where there is a basis; its gradient by C is 1/2 (aa' - G). The
leave-one-out objective is the sum of the log densities of y_i under the prediction from the other
samples, whose mean is y_i - a_i / G_ii and whose variance is 1 / G_ii (S. Sundararajan, S. Keerthi,
"Predictive approaches for choosing hyperparameters in Gaussian processes", Neural Computation 13,
2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from mercer.gram import Gram
from mercer.gram.shifted import Factorised, NotDefiniteError
from mercer.numerics.blas import product

from .covariance import Covariance
from .search import Stop, unhurried

Array = NDArray[np.float64]

_DIGITS = 1e-3  # of the largest target: what rounding may contribute to the mean
_CANCELLED = 1e-3  # of y'a: what is left of it when a'Ka is computed by itself
_JITTER = tuple(10.0**k for k in range(-14, -3))


@dataclass(frozen=True)
class Evaluation:
    """A factorised covariance matrix and the coefficients of the outputs.

    `gram`, `system`: the kernel matrix, and the shifted one. `coef`, `basis_coef`: coefficients (n,
    m) and (p, m). `jitter`: jitter that was added to the diagonal in addition to the noise.
    """

    gram: Gram
    system: Factorised
    coef: Array
    basis_coef: Array
    jitter: float


def evaluate(
    covariance: Covariance,
    X: Any,
    Y: Array,
    alpha: Array,
    basis: Array | None,
    stop: Stop = unhurried,
) -> Evaluation:
    """Return the factorised covariance; jitter is added only where float64 needs it.

    Raises NotDefiniteError where 1e-4 of the mean diagonal does not suffice.
    """
    gram = covariance.gram(X)
    noise = alpha + covariance.white(X) + (covariance.noise or 0.0)
    for share in (0.0, *_JITTER):
        stop()
        jitter = share * mean_diagonal(gram, noise) if share else 0.0
        try:
            system = gram.shifted(noise + jitter, basis, "cholesky", refined=False)
        except NotDefiniteError:
            continue
        assert isinstance(system, Factorised)
        coef, basis_coef = system.solve(Y)
        if accurate(coef, Y, system.mu):
            return Evaluation(gram, system, coef, basis_coef, jitter)
    raise NotDefiniteError(
        f"the covariance matrix of {covariance.kernel!r} is not positive definite. Try gradually "
        "increasing alpha."
    )


def mean_diagonal(gram: Gram, noise: Array) -> float:
    """Return the mean size of the diagonal of the covariance matrix."""
    return float(np.abs(gram.diag()).mean()) + float(noise.mean())


def accurate(coef: Array, Y: Array, scale: float) -> bool:
    """Return whether rounding leaves enough digits of K a, whose terms may cancel.

    They do for equal objects with different targets and hardly any noise.
    """
    cancelled = np.finfo(float).eps * scale * np.abs(coef).sum(axis=0)
    return bool((cancelled <= _DIGITS * np.abs(Y).max(axis=0)).all())


def log_evidence(at: Evaluation, Y: Array) -> float:
    """Return the log evidence of all outputs together."""
    n, m = Y.shape
    free = n - at.system.shift.complement.size
    fit = float(np.einsum("ij,ij->", Y, at.coef))
    return -0.5 * (fit + m * (at.system.logdet() + free * np.log(2.0 * np.pi)))


def evidence_gradient(at: Evaluation, Y: Array) -> tuple[Array, float]:
    """Return the gradient W of the log evidence by the entries of C, and sum_ij W_ij K_ij.

    The sum is 1/2 (a'Ka - m tr GK), where a'Ka = y'a - a'Na and tr GK = n - p - tr GN need no
    matrix. For equal objects with different targets and little noise the first difference cancels.
    """
    n, m = Y.shape
    W, noise = at.system.inverse, at.system.shift.noise
    del at.system.inverse  # which becomes the result
    left = n - at.system.shift.complement.size - float(np.diagonal(W) @ noise)
    W *= -0.5 * m
    for a in at.coef.T:
        W = dger(0.5, a, a, a=W, overwrite_a=1)
    fit = float(np.einsum("ij,ij->", Y, at.coef))
    explained = fit - float(np.einsum("ij,ij->i", at.coef, at.coef) @ noise)
    if abs(explained) <= _CANCELLED * fit:
        explained = float(np.einsum("ij,ij->", at.coef, at.gram.matmul(at.coef)))
    # W is symmetric: transposed, it is in the order of the kernel matrix.
    return W.T, 0.5 * (explained - m * left)


def log_loo(at: Evaluation) -> float:
    """Return the sum of the leave-one-out log densities of all outputs."""
    diagonal = at.system.inverse_diagonal()[:, None]
    n, m = at.coef.shape
    squares = at.coef**2 / diagonal
    return float(0.5 * m * np.log(diagonal).sum() - 0.5 * squares.sum() - 0.5 * n * m * _LOG_2PI)


def loo_gradient(at: Evaluation) -> Array:
    """Return the gradient of the leave-one-out objective by the entries of C."""
    G = at.system.inverse
    diagonal = np.diagonal(G)[:, None]
    weight = (0.5 / diagonal + 0.5 * (at.coef / diagonal) ** 2).sum(axis=1)
    ratio = product(G, at.coef / diagonal)
    W = -product(G * weight, G)
    del at.system.inverse  # the evaluation may be kept, with its factor alone
    mixed = 0.5 * product(at.coef, ratio.T)
    W += mixed + mixed.T
    return W


_LOG_2PI = float(np.log(2.0 * np.pi))
