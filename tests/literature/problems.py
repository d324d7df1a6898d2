"""Data sets and a general solver that the tests of the texts share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer.kernels import RBF, Polynomial

Array = NDArray[np.float64]
Labelled = tuple[Array, Array]

EXACT = {"tol": 1e-10, "dtype": "float64"}
QUADRATIC = Polynomial(2, 1.0, 1.0)  # (1 + <x, z>)^2

CLOUDS_KERNEL = RBF(0.5)
WAVE_KERNEL = RBF(2.0)


def clouds() -> Labelled:
    """Two overlapping clouds of twenty points."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0.7, 1, (20, 2)), rng.normal(-0.7, 1, (20, 2))])
    return X, np.repeat([1.0, -1.0], 20)


def wave() -> Labelled:
    """Twelve noisy values of sin(2x)."""
    rng = np.random.default_rng(1)
    x = np.linspace(0, 3, 12)
    return x[:, None], np.sin(2 * x) + 0.1 * rng.normal(size=12)


def separated(n: int = 15, gap: float = 2.0, seed: int = 5) -> Labelled:
    """Two clouds of n points each that a line separates."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], n)
    X = rng.normal(size=(2 * n, 2))
    X[:, 0] = y * (np.abs(X[:, 0]) + gap / 2)
    return X, y


def two_points() -> Labelled:
    """x = 1 and x = -1 with labels or targets of the same sign."""
    return np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])


def three_points() -> Labelled:
    """(1, 1) and (2, 2) positive, the origin negative."""
    return np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]]), np.array([1.0, 1.0, -1.0])


def signed(model: object, n: int) -> Array:
    """The coefficients beta of all n training rows of a machine with one problem."""
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]  # type: ignore[attr-defined]
    return beta


def minimise(
    objective: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    start: Array,
    *,
    at_least: tuple[Array, Array] | None = None,
    equal: tuple[Array, Array] | None = None,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> Array:
    """Minimise a smooth convex function with SciPy's SLSQP, where A v >= c and E v = e."""
    constraints = [
        {"type": kind, "fun": lambda v, m=pair: m[0] @ v - m[1], "jac": lambda v, m=pair: m[0]}
        for kind, pair in (("ineq", at_least), ("eq", equal))
        if pair is not None
    ]
    result = minimize(
        objective,
        start,
        jac=gradient,
        method="SLSQP",
        bounds=bounds,
        constraints=constraints,
        options={"ftol": 1e-14, "maxiter": 3000},
    )
    assert result.status in (0, 8), result.message  # 8: no step improves any more
    return result.x


def quadratic_program(Q: Array, p: Array, A: Array, c: Array, start: Array | None = None) -> Array:
    """Minimise 1/2 u'Qu + p'u subject to Au >= c."""
    return minimise(
        lambda u: 0.5 * u @ Q @ u + p @ u,
        lambda u: Q @ u + p,
        np.zeros(len(p)) if start is None else start,
        at_least=(A, c),
    )


def soft_margin_primal(
    X: Array,
    y: Array,
    linear: float,
    quadratic: float,
    *,
    norm: float = 0.5,
    any_sign: bool = False,
) -> tuple[Array, float, Array]:
    """Minimise norm |w|^2 + linear sum xi + quadratic sum xi^2, y f >= 1 - xi: w, b, xi.

    The slacks are at least 0 unless they may have any sign.
    """
    n, d = X.shape
    Q = np.diag(np.concatenate([np.full(d, 2 * norm), [0.0], np.full(n, 2 * quadratic)]))
    p = np.concatenate([np.zeros(d + 1), np.full(n, linear)])
    margins = np.hstack([y[:, None] * X, y[:, None], np.eye(n)])
    signs = np.hstack([np.zeros((n, d + 1)), np.eye(n)])
    A, c = np.vstack([margins, signs]), np.repeat([1.0, 0.0], n)
    if any_sign:
        A, c = A[:n], c[:n]
    u = quadratic_program(Q, p, A, c, start=np.append(np.zeros(d + 1), np.ones(n)))
    return u[:d], float(u[d]), u[d + 1 :]


def dual_optimum(
    K: Array,
    y: Array,
    *,
    C: float | Array = np.inf,
    shift: float = 0.0,
    epsilon: float | None = None,
) -> Array:
    """The texts' dual in signed variables, by splitting them and by SLSQP.

    Classification (epsilon None): maximise sum alpha - 1/2 beta'(K + shift I) beta with
    beta = y alpha, sum beta = 0, 0 <= alpha <= C. Regression: maximise
    y'beta - epsilon |beta|_1 - 1/2 beta'(K + shift I) beta with sum beta = 0, |beta| <= C.
    """
    n = len(y)
    M = K + shift * np.eye(n)
    if epsilon is None:
        parts = np.diag(y)
        linear = -np.ones(n)
    else:
        parts = np.hstack([np.eye(n), -np.eye(n)])
        linear = epsilon - np.concatenate([y, -y])
    upper = np.resize(np.broadcast_to(C, n), parts.shape[1])
    a = minimise(
        lambda a: 0.5 * (parts @ a) @ M @ (parts @ a) + linear @ a,
        lambda a: parts.T @ (M @ (parts @ a)) + linear,
        0.1 * np.minimum(upper, 1.0),
        equal=(parts.sum(axis=0)[None], np.zeros(1)),
        bounds=[(0.0, None if np.isinf(u) else u) for u in upper],
    )
    return parts @ a
