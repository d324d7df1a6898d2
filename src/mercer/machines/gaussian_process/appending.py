"""Further samples of a Gaussian process: its Cholesky factor grows by rows.

    L_new = [[L, 0], [V', M]],   V = L^-1 P r,   MM' = the posterior covariance of the new samples,

with r and P as in `posterior`; without a basis r = C_12. This costs O(n^2) for each new sample. By
the chain rule of probability the log evidence grows by the log density of the new targets under the
posterior of the old ones; with a basis the volume of the functions on the samples is added, for the
restricted likelihood is that of y on an orthonormal basis of their complement.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.objects.tables import stacked
from mercer.run import stopwatch

from .evidence import accurate, evaluate, log_evidence, mean_diagonal
from .mean_basis import mean_basis
from .posterior import Posterior

Array = NDArray[np.float64]


def appended(model: Any, X: Any, y: Array, alpha: Array) -> None:
    """Append checked samples to a fitted process, in place."""
    elapsed = stopwatch()
    covariance, old = model._covariance, model._posterior
    rows, functions = covariance.cross(X, model.X_train_), mean_basis(model.basis, X)
    prior = covariance.matrix(X, True) + np.diag(alpha + model.jitter_)
    model.y_train_ = np.concatenate([model.y_train_, y])
    model.X_train_ = stacked(model.X_train_, X)
    model._noise = np.concatenate([model._noise, alpha])
    if functions is not None:
        model._basis_values = np.concatenate([model._basis_values, functions])
    Y, X = model._targets, model.X_train_
    gram = covariance.gram(X)
    noise = model._noise + covariance.white(X) + (covariance.noise or 0.0)
    grown = _grown(old, prior, rows, functions, Y)
    if grown is None or not accurate(grown[0].coef, Y, mean_diagonal(gram, noise)):
        at = evaluate(covariance, X, Y, model._noise, model._basis_values)
        model.jitter_ = at.jitter
        grown = Posterior.of(at), log_evidence(at, Y) - model.log_marginal_likelihood_value_
    posterior, gain = grown
    model._keep(posterior)
    model._keep_evidence(model.log_marginal_likelihood_value_ + gain)
    model._certify(gram, noise + model.jitter_, None, elapsed())


def _grown(
    old: Posterior, prior: Array, rows: Array, functions: Array | None, Y: Array
) -> tuple[Posterior, float] | None:
    """Return the posterior of all samples and its gain of log evidence; None: needs jitter.

    `prior`: covariance matrix of the new samples, with their noise. `rows`: kernel values between
    new and old samples. `functions`: the basis at the new samples. `Y`: targets of all samples.
    """
    V, _ = old.halves(rows, functions)
    try:
        M = scipy.linalg.cholesky(
            old.covariance(prior, rows, functions), lower=True, check_finite=False
        )
    except scipy.linalg.LinAlgError:
        return None
    n, k, m = len(V), len(M), Y.shape[1]
    factor = np.zeros((n + k, n + k))
    factor[:n, :n], factor[n:, :n], factor[n:, n:] = old.factor, V.T, M
    R = old.R
    new = np.zeros((k, len(R)))
    if functions is not None:
        new = scipy.linalg.solve_triangular(R, functions.T, trans="T").T
    Q = np.concatenate([old.Q, np.zeros_like(new)])
    E = np.concatenate([old.E, new])
    CQ = np.concatenate([old.CQ, rows @ old.Q])
    coef = scipy.linalg.cho_solve((factor, True), Y - E @ (Q.T @ Y), check_finite=False)
    coef -= Q @ (E.T @ coef)
    fitted = Q.T @ Y - CQ.T @ coef
    basis_coef = scipy.linalg.solve_triangular(R, fitted) if len(R) else fitted
    errors = scipy.linalg.solve_triangular(M, Y[n:] - old.mean(rows, functions), lower=True)
    density = -0.5 * float(np.square(errors).sum()) - m * float(np.log(np.diagonal(M)).sum())
    volume = _log_volume(E) - _log_volume(old.E)
    gain = density + m * (volume - 0.5 * k * np.log(2.0 * np.pi))
    return Posterior(factor, coef, basis_coef, Q, R, E, CQ), gain


def _log_volume(E: Array) -> float:
    """Return 1/2 log det E'E."""
    return 0.5 * float(np.linalg.slogdet(E.T @ E)[1])
