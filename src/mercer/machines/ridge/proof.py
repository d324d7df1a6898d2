"""The certificate of a ridge regression: primal and dual value of the returned coefficients.

    P(a, b) = 1/2 a'Ka + 1/2 sum_i (y_i - (Ka)_i - b)^2 / N_i
    D(a)    = y'a - 1/2 a'Ka - 1/2 sum_i N_i a_i^2               [1'a = 0 with an intercept]

computed with float64 kernel values from the coefficients alone. What rounding can contribute is
estimated as for all machines (:mod:`mercer.solvers.rounding`) and widens the interval.

With alpha = 0 the problem is the smallest norm among functions of least squared error: minimise
1/2 |f|^2 subject to f(x_i) = t_i, where t are the least-squares values.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.losses import Squared
from mercer.solvers import Certificate
from mercer.solvers.certificate import GAP_LIMIT
from mercer.solvers.prove import bounded
from mercer.solvers.rounding import UNIT, estimated, of_sum

from .problem import RidgeProblem, RidgeSolution

Array = NDArray[np.float64]

_SAMPLE = 64  # rows that are looked at for the size of the values of a kernel without a bound
_NOTHING = 1e-12  # a value below this share of that of f = 0 is rounding
_START = np.zeros(1, dtype=np.intp)
_TINY = float(np.finfo(np.float64).tiny)  # below which terms lose their digits


def certificates(
    problem: RidgeProblem, solution: RidgeSolution, seconds: float, interpolated: Array | None
) -> list[Certificate]:
    """Return the certificate of each target.

    `problem`, `solution`: the problem and its coefficients. `seconds`: time of the solver, shared
    among the targets. `interpolated`: for alpha = 0, the values t without the part of the basis.
    """
    gram = problem.gram
    values = gram.matmul(solution.coef) if solution.values is None else solution.values
    convexity = convexity_of(gram.kernel, problem.basis is not None)
    if not solution.definite:
        convexity = "refuted"
    sizes = _sizes(problem)
    errors = estimated(sizes)
    m = problem.Y.shape[1]
    count = gram.n * gram.n * max(1, solution.n_iter)
    found = []
    for t in range(m):
        a, y, Ka = solution.coef[:, t], problem.Y[:, t], values[:, t]
        offset = 0.0 if problem.basis is None else problem.basis @ solution.basis_coef[:, t]
        slip = errors.of(a, None, _START)
        exact = None if interpolated is None else interpolated[:, t]
        primal, dual, size, rounding, violation = _values(problem, a, y, Ka, offset, slip, exact)
        if problem.basis is not None:
            rounding += _outside(problem, a, y, sizes, primal + rounding)
        rounding, violation = _rounded_up(rounding), _rounded_up(violation)
        primal, dual = primal + rounding, dual - rounding
        found.append(
            bounded(
                solution.status,
                primal,
                dual,
                size=size,
                violation=violation,
                rounding=rounding,
                convexity=convexity,
                assumes="psd" if convexity == "not ruled out" else None,
                gap_limit=GAP_LIMIT,
                too_wide="precision_limit",
                n_iter=solution.n_iter,
                n_kernel_values=count // m,
                seconds=round(seconds / m, 6),  # later digits are noise, and cost bytes in files
            )
        )
    return found


def _outside(problem: RidgeProblem, a: Array, y: Array, sizes: Array, primal: float) -> float:
    """Return by how much D(a) may exceed the optimum because B'a is not 0, as rounding leaves it.

    D(a) <= P* + m'B'a with the optimal m, and m'B'a = (Bm)'v for v = B (B'B)^-1 B'a. At the optimum
    Bm = y - f - e with |f(x_i)| <= r_i |f|, 1/2 |f|^2 <= P* and 1/2 e_i^2 / N_i <= P*. Kernels that
    are only conditionally definite have no such norms; f is then of the size of the targets.
    """
    assert problem.basis is not None
    sums = np.array([math.fsum(a * column) for column in problem.basis.T])
    if not sums.any():
        return 0.0
    Q, R = np.linalg.qr(problem.basis)
    v = Q @ np.linalg.solve(R.T, sums)
    reach = math.sqrt(2.0 * max(primal, 0.0))
    if problem.gram.kernel.definiteness.is_psd:
        values = sizes * reach
    else:
        values = np.full(len(y), np.abs(y).max(initial=0.0))
    return float((np.abs(y) + values + np.sqrt(problem.noise) * reach) @ np.abs(v))


def _rounded_up(bound: float) -> float:
    """Return a bound with four digits: later ones are noise, and cost bytes in files."""
    return float(f"{1.001 * bound:.3e}")


def convexity_of(kernel: Kernel, basis: bool) -> str:
    """Return what is known about the quadratic form of a kernel: see `Certificate.convexity`.

    `kernel`: the kernel. `basis`: whether coefficients sum up to 0, as they do beside an
    unpenalised constant.
    """
    order = kernel.definiteness.order
    if order == 0 or (order == 1 and basis):
        return "theorem"
    return "refuted" if str(kernel.definiteness) == "indefinite" else "not ruled out"


def _sizes(problem: RidgeProblem) -> Array:
    """Return r with |k(x_i, x_j)| <= r_i r_j; for a kernel that is not definite, an estimate."""
    gram = problem.gram
    if gram.kernel.definiteness.is_psd:
        return np.sqrt(np.maximum(gram.diag(), 0.0))
    rows = np.unique(np.linspace(0, gram.n - 1, min(gram.n, _SAMPLE)).astype(np.int64))
    return np.full(gram.n, math.sqrt(float(np.abs(gram.tile(rows)).max())))


def _values(
    problem: RidgeProblem,
    a: Array,
    y: Array,
    Ka: Array,
    offset: Array | float,
    slip: Array,
    interpolated: Array | None,
) -> tuple[float, float, float, float, float]:
    """Return primal, dual, the size of the primal terms, rounding and violation."""
    norm2 = float(a @ Ka)
    if interpolated is not None:
        violation = float(np.abs(Ka - interpolated).max(initial=0.0))
        rounding = float(np.abs(a) @ slip)
        linear = float(a @ interpolated)
        return 0.5 * norm2, linear - 0.5 * norm2, 0.5 * abs(norm2), rounding, violation
    c = 0.5 / problem.noise
    loss = Squared()
    f = Ka + offset
    costs, conjugates = c * loss.value(y, f), loss.conjugate(y, a, c)
    primal = 0.5 * norm2 + float(costs.sum())
    dual = -0.5 * norm2 - float(conjugates.sum())
    residual = y - f
    off = slip + 2.0 * UNIT * (np.abs(Ka) + np.abs(offset) + np.abs(y))  # of f and of y - f
    terms = np.concatenate([np.abs(a * Ka), costs, np.abs(y * a), problem.noise * a * a])
    rounding = float(
        0.5 * np.abs(a) @ slip
        + c @ (2.0 * np.abs(residual) * off + off * off)
        + of_sum(terms, _START)[0]
        + (_TINY * len(a) if y.any() else 0.0)
    )
    violation = float(np.abs(residual - problem.noise * a).max(initial=0.0))
    # Targets that the basis alone explains leave nothing but rounding to compare with.
    size = max(0.5 * abs(norm2) + float(costs.sum()), _NOTHING * float(c @ (y * y)))
    return primal, dual, size, rounding, violation
