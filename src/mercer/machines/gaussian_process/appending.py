"""Further samples of a Gaussian process: its Cholesky factor grows by rows.

    L_new = [[L, 0], [V', M]],   V = L^-1 C_12,   MM' = C_22 - V'V,

which costs O(n^2) for each new sample. With an unpenalised basis all rows change, and the factor is
computed anew.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .evidence import evaluate, log_evidence
from .mean_basis import mean_basis
from .posterior import Posterior

Array = NDArray[np.float64]


def joined(X: Any, new: Any) -> Any:
    """Return two sets of objects as one."""
    if sp.issparse(X):
        return sp.vstack([X, new], format="csr")
    if isinstance(X, np.ndarray):
        return np.concatenate([X, new])
    return list(X) + list(new)


def appended(model: Any, X: Any, y: Array, alpha: Array) -> None:
    """Append checked samples to a fitted process, in place."""
    began = time.perf_counter()
    covariance, old = model._covariance, model._posterior
    n = len(model.y_train_)
    model.y_train_ = np.concatenate([model.y_train_, y])
    noise = np.concatenate([model._noise, alpha])
    everything = joined(model.X_train_, X)
    rows = None if model.basis is not None else _grown(model, covariance, X, alpha)
    model.X_train_, model._noise = everything, noise
    model._basis_values = mean_basis(model.basis, everything)
    if rows is None:
        at = evaluate(covariance, everything, model._targets, noise, model._basis_values)
        model.jitter_ = at.jitter
        model._keep(Posterior.of(at))
        model._keep_evidence(log_evidence(at, model._targets))
        model._certify(at.gram, at.system.shift.noise, None, time.perf_counter() - began)
        return
    V, M = rows
    factor = np.zeros((len(noise), len(noise)))
    factor[:n, :n], factor[n:, :n], factor[n:, n:] = old.factor, V.T, M
    Y = model._targets
    coef = scipy.linalg.cho_solve((factor, True), Y, check_finite=False)
    empty = np.zeros((len(noise), 0))
    model._keep(Posterior(factor, coef, np.zeros((0, Y.shape[1])), empty, old.R, empty))
    logdet = 2.0 * float(np.log(np.diagonal(factor)).sum())
    fit = float(np.einsum("ij,ij->", Y, coef))
    m = Y.shape[1]
    model._keep_evidence(-0.5 * (fit + m * (logdet + len(noise) * np.log(2.0 * np.pi))))
    diagonal = noise + covariance.white(everything) + (covariance.noise or 0.0) + model.jitter_
    gram = covariance.gram(everything)
    model._certify(gram, diagonal, None, time.perf_counter() - began)


def _grown(model: Any, covariance: Any, X: Any, alpha: Array) -> tuple[Array, Array] | None:
    """Return the new rows of the factor; None where float64 needs jitter."""
    V = scipy.linalg.solve_triangular(
        model._posterior.factor, covariance.cross(X, model.X_train_).T, lower=True
    )
    C = covariance.matrix(X, True) + np.diag(alpha + model.jitter_) - V.T @ V
    try:
        M = scipy.linalg.cholesky(C, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    return V, M
