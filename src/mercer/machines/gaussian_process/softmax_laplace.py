"""Laplace's approximation of a Gaussian process with the softmax likelihood.

Each of the C classes has a latent function, all with the same covariance matrix K. The mode of
the posterior minimises the convex function

    P(A) = 1/2 sum_c a_c'K a_c + sum_i (log sum_c exp f_ic - sum_c y_ic f_ic),      f_c = K a_c,

by Newton's method (C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning", 2006,
algorithm 3.3). With the probabilities D_c = diag(p_c), E_c = D_c^1/2 (I + D_c^1/2 K D_c^1/2)^-1
D_c^1/2 and M M' = sum_c E_c, the matrix (W^-1 + K)^-1 has the blocks

    E_c [c = d] - E_c (M M')^-1 E_d,

and log det(I + K W) = sum_c log det(I + D_c^1/2 K D_c^1/2) + log det M M'. The dual value of the
gradient b_c = y_c - p_c is -1/2 sum_c b_c'K b_c + the sum of the entropies of y_i - b_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.special import entr, logsumexp

from mercer.numerics.blas import product

from .search import Stop, unhurried

Array = NDArray[np.float64]

GAP = 1e-15  # relative to the primal value, at which Newton's method stops
_HALVINGS = 30
_TINY = 1e-12  # probabilities below it are no curvature


@dataclass(frozen=True)
class SoftmaxMode:
    """The mode of the posterior and the curvature there.

    `coef`, `latent`, `slope`, `probability`: a, f = K a, y - p and p. `blocks`: e_c. `factor`:
    lower Cholesky factor M of their sum. `logdet`: log det(I + K W). `primal`, `dual`: values of
    both problems. `n_iter`: Newton steps.
    """

    coef: Array
    latent: Array
    slope: Array
    probability: Array
    blocks: list[Array]
    factor: Array
    logdet: float
    primal: float
    dual: float
    n_iter: int

    @property
    def evidence(self) -> float:
        """The log evidence of the approximation."""
        return -self.primal - 0.5 * self.logdet


def softmax_mode(
    K: Array,
    Y: Array,
    start: Array | None,
    max_iter: int,
    stop: Stop = unhurried,
    polish: bool = False,
) -> SoftmaxMode:
    """Return the mode for indicators Y of the classes, of shape (n, C); see `posterior_mode`."""
    A = np.zeros_like(Y) if start is None else start
    F = product(K, A)
    primal = _primal(A, F, Y)
    if primal > _primal(0.0 * A, 0.0 * F, Y):
        A, F = np.zeros_like(Y), np.zeros_like(Y)
        primal = _primal(A, F, Y)
    n_iter = 0
    while True:
        P = np.exp(F - logsumexp(F, axis=1, keepdims=True))
        slope = Y - P
        blocks, M, logdet = _curvature(K, P)
        dual = -0.5 * float(np.sum(slope * product(K, slope))) + float(entr(P).sum())
        done = primal - dual <= GAP * primal
        if n_iter >= max_iter or (done and not polish) or (not done and stop()):
            break
        b = P * F - P * (P * F).sum(axis=1, keepdims=True) + slope
        step = b - _inner(blocks, M, product(K, b)) - A
        along = product(K, step)
        found = None if done else _shortened(A, F, step, along, Y, primal)
        if found is None:
            if not polish:
                break
            polish = False
            found = A + step, F + along, _primal(A + step, F + along, Y)
        A, F, primal = found
        n_iter += 1
    return SoftmaxMode(A, F, slope, P, blocks, M, logdet, primal, dual, n_iter)


def _primal(A: Array, F: Array, Y: Array) -> float:
    return 0.5 * float(np.sum(A * F)) + float((logsumexp(F, axis=1) - (Y * F).sum(axis=1)).sum())


def _shortened(
    A: Array, F: Array, step: Array, along: Array, Y: Array, primal: float
) -> tuple[Array, Array, float] | None:
    t = 1.0
    for _ in range(_HALVINGS):
        new_a, new_f = A + t * step, F + t * along
        value = _primal(new_a, new_f, Y)
        if value < primal:
            return new_a, new_f, value
        t *= 0.5
    return None


def _curvature(K: Array, P: Array) -> tuple[list[Array], Array, float]:
    """Return E_c, the factor of their sum, and log det(I + K W)."""
    blocks, logdet = [], 0.0
    for p in np.maximum(P, _TINY).T:
        root = np.sqrt(p)
        B = root[:, None] * K * root
        np.einsum("ii->i", B)[:] += 1.0
        L, info = dpotrf(B.T, lower=1, overwrite_a=1, clean=1)
        if info:
            raise np.linalg.LinAlgError(
                "The kernel is not returning a positive semidefinite matrix; classification needs "
                "one."
            )
        logdet += 2.0 * float(np.log(np.diagonal(L)).sum())
        E, _ = dpotri(L, lower=1, overwrite_c=1)
        E = np.tril(E)
        E += np.tril(E, -1).T
        E *= root
        E *= root[:, None]
        blocks.append(E)
    M, info = dpotrf(sum(blocks).T, lower=1, clean=1)  # type: ignore[union-attr]
    if info:
        raise np.linalg.LinAlgError("the curvature of the posterior is singular.")
    return blocks, M, logdet + 2.0 * float(np.log(np.diagonal(M)).sum())


def _inner(blocks: list[Array], M: Array, V: Array) -> Array:
    """Return (W^-1 + K)^-1 V for columns V of shape (n, C)."""
    inside = np.column_stack([product(E, V[:, [c]])[:, 0] for c, E in enumerate(blocks)])
    common = dpotrs(M, inside.sum(axis=1), lower=1)[0]
    return inside - np.column_stack([product(E, common[:, None])[:, 0] for E in blocks])


def evidence_gradient(mode: SoftmaxMode, K: Array) -> Array:
    """Return the gradient of the log evidence by the entries of K, which all classes share."""
    P, n_classes = mode.probability, mode.probability.shape[1]
    halves = [
        scipy.linalg.solve_triangular(mode.factor, E, lower=True, check_finite=False)
        for E in mode.blocks
    ]
    total = np.zeros_like(K)
    for E, H in zip(mode.blocks, halves, strict=True):
        total -= 0.5 * (E - product(H.T, H))
    for c in range(n_classes):
        total += 0.5 * np.multiply.outer(mode.coef[:, c], mode.coef[:, c])
    # V: for every object the covariance of its latent values under the approximation
    V = _covariances(np.diagonal(K), [product(E, K) for E in mode.blocks], K,
                     [product(H, K) for H in halves])  # fmt: skip
    third = np.empty_like(P)
    for c in range(n_classes):
        turned = P[:, [c]] * ((np.arange(n_classes) == c) - P)  # dp / df_c
        along = np.einsum("icd,id->ic", V, turned)
        third[:, c] = -0.5 * (
            np.einsum("icc,ic->i", V, turned) - 2.0 * np.einsum("ic,ic->i", P, along)
        )
    U = third - _inner(mode.blocks, mode.factor, product(K, third))
    mixed = product(U, mode.slope.T)
    return total + 0.5 * (mixed + mixed.T)


def _covariances(prior: Array, EK: list[Array], K: Array, HK: list[Array]) -> Array:
    """Return k(x, x) I - k'(W^-1 + K)^-1 k by objects, of shape (m, C, C).

    `K`: (n, m) values with the training objects; `EK` and `HK`: E_c and M^-1 E_c times it.
    """
    n_classes = len(EK)
    V = np.empty((len(prior), n_classes, n_classes))
    for c in range(n_classes):
        for d in range(c + 1):
            V[:, c, d] = V[:, d, c] = np.einsum("ij,ij->j", HK[c], HK[d])
        V[:, c, c] += prior - np.einsum("ij,ij->j", K, EK[c])
    return V


def latent_covariances(blocks: list[Array], factor: Array, prior: Array, rows: Array) -> Array:
    """Return the covariance matrices of the latent values of new objects, of shape (m, C, C)."""
    k = np.ascontiguousarray(rows.T)
    EK = [product(E, k) for E in blocks]
    HK = [
        scipy.linalg.solve_triangular(factor, inner, lower=True, check_finite=False) for inner in EK
    ]
    return _covariances(prior, EK, k, HK)
