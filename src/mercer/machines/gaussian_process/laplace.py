"""Laplace's approximation of a Gaussian process with the logistic likelihood.

The posterior of the latent values f = K a at the training objects is replaced by a normal
distribution about its mode, the minimiser of the convex function

    P(a) = 1/2 a'Ka + sum_i log(1 + exp(-y_i f_i)),      y_i = -1 or +1,

found by Newton's method with B = I + W^1/2 K W^1/2, W = the curvatures of the loss (C. Rasmussen,
C. Williams, "Gaussian Processes for Machine Learning", 2006, algorithms 3.1, 3.2 and 5.1). The
gradient of the loss gives a feasible point of the dual problem,

    D(b) = -1/2 b'Kb - sum_i phi_i(b_i),    phi_i = minus the entropy of the probability y_i b_i,

and P - D bounds the distance from the minimum. The evidence is -P(a) - 1/2 log det B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.special import expit

from mercer.losses import Logistic
from mercer.numerics.blas import product

from .search import Stop, unhurried

Array = NDArray[np.float64]

GAP = 1e-15  # relative to the primal value, at which Newton's method stops
_HALVINGS = 30


@dataclass(frozen=True)
class Mode:
    """The mode of the posterior and the curvature there.

    `coef`: the coefficients a. `latent`: f = K a. `slope`: minus the gradient of the loss at f,
    which is a at the optimum. `root`: W^1/2. `factor`: lower Cholesky factor of B. `primal`,
    `dual`: values of both problems. `n_iter`: Newton steps.
    """

    coef: Array
    latent: Array
    slope: Array
    root: Array
    factor: Array
    primal: float
    dual: float
    n_iter: int

    @property
    def evidence(self) -> float:
        """The log evidence of the approximation."""
        return -self.primal - float(np.log(np.diagonal(self.factor)).sum())


def posterior_mode(
    K: Array,
    y: Array,
    start: Array | None,
    max_iter: int,
    stop: Stop = unhurried,
    polish: bool = False,
) -> Mode:
    """Return the mode.

    `K`: the covariance matrix. `y`: labels -1 and +1. `start`: coefficients to start from.
    `max_iter`: limit on the Newton steps. `stop`: returns whether to end with the present point.
    `polish`: whether to take one more step when the values agree to 1e-15: f is then wrong by the
    root of that.
    """
    loss = Logistic()
    a = np.zeros(len(y)) if start is None else start
    f = _times(K, a)
    primal = _primal(y, a, f, loss)
    at_zero = len(y) * float(np.log(2.0))
    if primal > at_zero:  # a start from other hyper-parameters may be worse than none
        a, f, primal = np.zeros(len(y)), np.zeros(len(y)), at_zero
    n_iter = 0
    while True:
        slope = -loss.slope(y, f)
        curvature = loss.curvature(y, f)
        root = np.sqrt(curvature)
        L = _factor(K, root)
        dual = _dual(K, y, slope, loss)
        done = primal - dual <= GAP * primal
        if n_iter >= max_iter or (done and not polish) or (not done and stop()):
            break
        b = curvature * f + slope
        step = b - root * _solved(L, root * _times(K, b)) - a
        along = _times(K, step)
        found = None if done else _shortened(y, a, f, step, along, primal, loss)
        if found is None:  # no step lowers the value in float64
            if not polish:
                break
            polish = False
            found = a + step, f + along, _primal(y, a + step, f + along, loss)
        a, f, primal = found
        n_iter += 1
    return Mode(a, f, slope, root, L, primal, dual, n_iter)


def _shortened(
    y: Array, a: Array, f: Array, step: Array, along: Array, primal: float, loss: Logistic
) -> tuple[Array, Array, float] | None:
    """Return the first of the points a + step, a + step / 2, ... with a smaller primal value."""
    t = 1.0
    for _ in range(_HALVINGS):
        new_a, new_f = a + t * step, f + t * along
        value = _primal(y, new_a, new_f, loss)
        if value < primal:
            return new_a, new_f, value
        t *= 0.5
    return None


def _primal(y: Array, a: Array, f: Array, loss: Logistic) -> float:
    return 0.5 * float(a @ f) + float(loss.value(y, f).sum())


def _dual(K: Array, y: Array, b: Array, loss: Logistic) -> float:
    return -0.5 * float(b @ _times(K, b)) - float(loss.conjugate(y, b).sum())


def _times(K: Array, v: Array) -> Array:
    return product(K, v[:, None])[:, 0]


def _factor(K: Array, root: Array) -> Array:
    """Return the lower Cholesky factor of B, whose eigenvalues are at least 1."""
    B = root[:, None] * K
    B *= root
    np.einsum("ii->i", B)[:] += 1.0
    L, info = dpotrf(B.T, lower=1, overwrite_a=1, clean=1)
    if info:
        raise np.linalg.LinAlgError(
            "The kernel is not returning a positive semidefinite matrix; classification needs one."
        )
    return L


def _solved(L: Array, v: Array) -> Array:
    return dpotrs(L, v, lower=1)[0]


def evidence_gradient(mode: Mode, K: Array) -> Array:
    """Return the gradient of the log evidence by the entries of K.

    Explicitly 1/2 (aa' - R) with R = W^1/2 B^-1 W^1/2; and through the mode, whose derivative is
    (I - K R) dK a: the diagonal of (K^-1 + W)^-1 times the third derivatives of the likelihood is
    (1 - diag B^-1) (1 - 2 p).
    """
    R, _ = dpotri(mode.factor, lower=1)
    inverse = np.diagonal(R).copy()
    R = np.tril(R)
    R += np.tril(R, -1).T
    R *= mode.root
    R *= mode.root[:, None]
    third = -0.5 * (1.0 - inverse) * (1.0 - 2.0 * expit(mode.latent))
    u = third - _times(R, _times(K, third))
    g = mode.slope
    R *= -0.5
    R += 0.5 * np.multiply.outer(mode.coef, mode.coef)
    mixed = np.multiply.outer(u, g)
    R += 0.5 * (mixed + mixed.T)
    return R


def latent_variance(mode_root: Array, factor: Array, prior: Array, rows: Array) -> Array:
    """Return the variances of f at new objects, never negative.

    `mode_root`, `factor`: of the mode. `prior`: k(x, x). `rows`: kernel values between new and
    training objects.
    """
    half = scipy.linalg.solve_triangular(
        factor, (rows * mode_root).T, lower=True, check_finite=False
    )
    return np.maximum(prior - np.einsum("ij,ij->j", half, half), 0.0)
