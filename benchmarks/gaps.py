r"""Duality gaps of fitted models, recomputed in float64 from public attributes.

Every machine is an expansion f(x) = sum_i beta_i k(x_i, x) + b with signed dual variables beta.
With w2 = beta' K beta, weights s_i, W their sum and r_i = y_i - f(x_i), the primal value P and the
dual value D are

=============  ====================================================  ===========================
machine        P                                                     D
=============  ====================================================  ===========================
C-SVC          w2/2 + C sum s_i max(0, 1 - y_i f_i)                  y'beta - w2/2
epsilon-SVR    w2/2 + C sum s_i max(0, abs(r_i) - eps)               y'beta - eps |beta|_1 - w2/2
nu-SVC         w2/2 - nu W rho + sum s_i max(0, rho - y_i f_i)       -w2/2
one-class      w2/2 - nu W rho + sum s_i max(0, rho - f_i), b = 0    -w2/2
nu-SVR         w2/2 + C (nu W eps + sum s_i max(0, abs(r_i) - eps))  y'beta - w2/2
=============  ====================================================  ===========================

The relative gap is (P - D) over the sum of the absolute terms of P. Several classes are one
binary problem per pair; gap and terms are summed over the pairs.

Two auxiliary variables of the primal are not attributes of every engine and do not enter a
prediction: rho of nu-SVC and eps of nu-SVR. They are set to the minimiser of P for the given f,
a weighted quantile. LIBSVM divides the nu-SVC expansion by rho; the scale is undone by
sum_i abs(beta_i) = nu W, which holds for every dual feasible point, so both conventions give the
same numbers. The one-class threshold is a part of the model: rho = -intercept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.engines import Model

Params = Mapping[str, Any]
Vector = np.ndarray

BLOCK_BYTES = 64_000_000
"""Size of one block of kernel values: small beside the data of the largest case."""

DENSE_BYTES = 400_000_000
"""Sparse rows below this size are made dense, because dense products are many times faster."""


@dataclass(frozen=True)
class Value:
    """Primal and dual value of one binary problem.

    ``terms`` is the sum of the absolute terms of the primal; ``infeasibility`` the largest
    violation of a dual constraint relative to its scale: rounding in a sound solution.
    """

    primal: float
    dual: float
    terms: float
    infeasibility: float

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        return self.gap / self.terms if self.terms > 0 else self.gap


@dataclass(frozen=True)
class Gap:
    """Sum over all binary problems of a model, and the worst of them."""

    primal: float
    dual: float
    relative: float
    worst: float
    infeasibility: float

    @property
    def gap(self) -> float:
        return self.primal - self.dual


def duality_gap(
    machine: str,
    params: Params,
    model: Model,
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> Gap:
    """Gap of a fitted model on its own training rows.

    Parameters
    ----------
    machine : "svc", "nusvc", "svr", "nusvr" or "oneclass"
    params : constructor parameters; ``gamma`` and what the machine needs of ``C``, ``nu``,
        ``epsilon``
    model : what :func:`benchmarks.engines.extract` returns
    X, y : the training rows; ``y`` is ignored by the one-class machine
    """
    gamma = float(params["gamma"])
    s = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if machine in ("svc", "nusvc"):
        values = _pairs(machine, params, model, X, y, s, gamma)
    else:
        beta = np.zeros(X.shape[0])
        beta[model.support] = model.coef[0]
        f0 = expansion(X, model.support, model.coef.T, gamma)[:, 0]
        target = np.ones(len(beta)) if machine == "oneclass" else np.asarray(y, dtype=np.float64)
        values = [_MACHINES[machine](params, beta, f0, model.intercept[0], target, s)]
    primal, dual = sum(v.primal for v in values), sum(v.dual for v in values)
    terms = sum(v.terms for v in values)
    return Gap(
        primal,
        dual,
        (primal - dual) / terms if terms > 0 else primal - dual,
        max(v.relative_gap for v in values),
        max(v.infeasibility for v in values),
    )


def expansion(X: Any, support: np.ndarray, coef: np.ndarray, gamma: float) -> np.ndarray:
    """sum_j coef[j] exp(-gamma |x - X[support[j]]|^2) for every row x, in blocks of rows."""
    return _Values(X, support, gamma)(np.arange(X.shape[0]), coef)


class _Values:
    """Products of the kernel values between rows of X and support vectors with coefficients."""

    def __init__(self, X: Any, support: np.ndarray, gamma: float) -> None:
        if sparse.issparse(X):
            X = sparse.csr_matrix(X, dtype=np.float64)
            X = X.toarray() if 8 * X.shape[0] * X.shape[1] < DENSE_BYTES else X
            self.squares = (
                np.asarray(X.multiply(X).sum(axis=1)).ravel()
                if sparse.issparse(X)
                else np.einsum("ij,ij->i", X, X)
            )
        else:
            X = np.asarray(X, dtype=np.float64)
            # Distances do not see a shift, rounding does.
            X = X - X.mean(axis=0)
            self.squares = np.einsum("ij,ij->i", X, X)
        self.X, self.gamma = X, gamma
        self.centres, self.centre_squares = X[support], self.squares[support]

    def __call__(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), coef.shape[1]))
        step = max(1, BLOCK_BYTES // (8 * max(1, len(coef))))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            dots = self.X[block] @ self.centres.T
            dots = dots.toarray() if sparse.issparse(dots) else dots
            dots *= -2.0
            dots += self.squares[block, None]
            dots += self.centre_squares
            np.maximum(dots, 0.0, out=dots)
            dots *= -self.gamma
            out[start : start + step] = np.exp(dots, out=dots) @ coef
        return out


def _pairs(
    machine: str,
    params: Params,
    model: Model,
    X: Any,
    y: np.ndarray,
    s: np.ndarray,
    gamma: float,
) -> list[Value]:
    """One value per pair of classes.

    In scikit-learn's layout a support vector of class c keeps its coefficient for the pair with
    class j in row j - 1 (j > c) or j (j < c). Function values of the training rows are kept in the
    same layout, so a row of class c is evaluated for its own pairs only. A positive value means
    the first class of a pair, except with two classes in all, where it means the second.
    """
    classes, codes = np.unique(y, return_inverse=True)
    k = len(classes)
    coef = model.coef
    if k == 2:
        coef = -coef
    owner = codes[model.support]
    beta = np.zeros((len(codes), k - 1))
    beta[model.support] = coef.T
    f0 = np.empty((len(codes), k - 1))
    evaluate = _Values(X, model.support, gamma)
    for c in range(k):
        mixed = np.zeros((len(owner), k - 1))
        mixed[owner == c] = coef.T[owner == c]
        for j in range(k):
            if j != c:
                mixed[owner == j, _slot(c, j)] = coef[_slot(j, c), owner == j]
        rows = np.flatnonzero(codes == c)
        f0[rows] = evaluate(rows, mixed)
    intercepts = -model.intercept if k == 2 else model.intercept
    values = []
    for b, (i, j) in zip(intercepts, combinations(range(k), 2), strict=True):
        first, second = np.flatnonzero(codes == i), np.flatnonzero(codes == j)
        both = np.concatenate([first, second])
        sign = np.concatenate([np.ones(len(first)), -np.ones(len(second))])
        pair_beta = np.concatenate([beta[first, _slot(i, j)], beta[second, _slot(j, i)]])
        pair_f0 = np.concatenate([f0[first, _slot(i, j)], f0[second, _slot(j, i)]])
        values.append(_MACHINES[machine](params, pair_beta, pair_f0, b, sign, s[both]))
    return values


def _slot(own: int, other: int) -> int:
    """Row of ``dual_coef_`` that a vector of class ``own`` uses for the pair with ``other``."""
    return other - 1 if other > own else other


def _svc(params: Params, beta: Vector, f0: Vector, b: float, y: Vector, s: Vector) -> Value:
    C = params["C"]
    w2 = beta @ f0
    loss = C * (s @ np.maximum(0.0, 1.0 - y * (f0 + b)))
    bounds = np.maximum(-y * beta, np.abs(beta) - C * s).max() / C
    return Value(
        w2 / 2 + loss, y @ beta - w2 / 2, w2 / 2 + loss, max(0.0, bounds, _unbalance(beta))
    )


def _svr(params: Params, beta: Vector, f0: Vector, b: float, y: Vector, s: Vector) -> Value:
    C, epsilon = params["C"], params["epsilon"]
    w2 = beta @ f0
    loss = C * (s @ np.maximum(0.0, np.abs(y - f0 - b) - epsilon))
    dual = y @ beta - epsilon * np.abs(beta).sum() - w2 / 2
    bounds = (np.abs(beta) - C * s).max() / C
    return Value(w2 / 2 + loss, dual, w2 / 2 + loss, max(0.0, bounds, _unbalance(beta)))


def _nu_svc(params: Params, beta: Vector, f0: Vector, b: float, y: Vector, s: Vector) -> Value:
    mass = params["nu"] * s.sum()
    scale = mass / np.abs(beta).sum()
    beta, f0, b = scale * beta, scale * f0, scale * b
    w2 = beta @ f0
    margin = y * (f0 + b)
    rho = max(0.0, _quantile(margin, s, mass))
    loss = s @ np.maximum(0.0, rho - margin)
    bounds = np.maximum(-y * beta, np.abs(beta) - s).max()
    return Value(
        w2 / 2 - mass * rho + loss,
        -w2 / 2,
        w2 / 2 + mass * rho + loss,
        max(0.0, bounds, _unbalance(beta)),
    )


def _one_class(params: Params, beta: Vector, f0: Vector, b: float, y: Vector, s: Vector) -> Value:
    mass, rho = params["nu"] * s.sum(), -b
    w2 = beta @ f0
    loss = s @ np.maximum(0.0, rho - f0)
    bounds = np.maximum(-beta, beta - s).max()
    return Value(
        w2 / 2 - mass * rho + loss,
        -w2 / 2,
        w2 / 2 + mass * abs(rho) + loss,
        max(0.0, bounds, abs(beta.sum() / mass - 1.0)),
    )


def _nu_svr(params: Params, beta: Vector, f0: Vector, b: float, y: Vector, s: Vector) -> Value:
    C, mass = params["C"], params["nu"] * s.sum()
    w2 = beta @ f0
    error = np.abs(y - f0 - b)
    epsilon = max(0.0, -_quantile(-error, s, mass))
    loss = C * (mass * epsilon + s @ np.maximum(0.0, error - epsilon))
    bounds = max((np.abs(beta) - C * s).max() / C, np.abs(beta).sum() / (C * mass) - 1.0)
    return Value(
        w2 / 2 + loss, y @ beta - w2 / 2, w2 / 2 + loss, max(0.0, bounds, _unbalance(beta))
    )


_MACHINES = {
    "svc": _svc,
    "nusvc": _nu_svc,
    "svr": _svr,
    "nusvr": _nu_svr,
    "oneclass": _one_class,
}


def _unbalance(beta: np.ndarray) -> float:
    """Violation of sum beta = 0 relative to the size of beta."""
    total = np.abs(beta).sum()
    return abs(beta.sum()) / total if total > 0 else 0.0


def _quantile(values: np.ndarray, weights: np.ndarray, mass: float) -> float:
    """Smallest value v such that the weight of all values up to v reaches ``mass``.

    It minimises -mass v + sum_i weights_i max(0, v - values_i).
    """
    order = np.argsort(values)
    reached = np.searchsorted(np.cumsum(weights[order]), mass * (1 - 1e-12))
    return float(values[order[min(int(reached), len(order) - 1)]])
