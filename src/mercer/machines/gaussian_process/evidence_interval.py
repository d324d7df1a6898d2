"""An interval that contains the log evidence of a Gaussian process, without its n x n matrix.

With Q <= K of low rank, N the diagonal of the noise, q = y'(K + N)^-1 y and
t = tr N^-1 (K - Q),

    log det(Q + N)  <=  log det(K + N)  <=  log det(Q + N) + n log(1 + t / n),

the upper bound because the arithmetic mean of the eigenvalues of (Q + N)^-1 (K + N) is at least
their geometric mean, and is at most 1 + t / n. Conjugate gradients on tiles, with Q + N as
preconditioner, give q between a'(y + r) and that plus r'N^-1 r for the residual r of a
(:mod:`mercer.numerics.conjugate_gradients`); q is at most y'(Q + N)^-1 y as well. Hence

    -n/2 log 2 pi - 1/2 log det(Q + N) - 1/2 n log(1 + t / n) - 1/2 upper q
        <=  log evidence  <=  -n/2 log 2 pi - 1/2 log det(Q + N) - 1/2 lower q.

The lower end is at least Titsias' bound. Rounding enters q through the values K a, whose errors are
estimated as for all machines (:mod:`mercer.solvers.rounding`): with noise that is small compared
with the kernel the coefficients are large, and so is what an error of the kernel values makes of q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.numerics.conjugate_gradients import Iterate, conjugate_gradients
from mercer.run import Run
from mercer.solvers.rounding import UNIT, estimated, of_sum, value_sizes

from .inducing_bound import BoundValue

Array = NDArray[np.float64]

_SHARE = 0.02  # of the interval: what the quadratic form may contribute
_DIGITS = 1e-9  # of the quadratic form, where the interval is smaller than this
_STEPS = 200
_REFINEMENTS = 3  # in single precision until the float64 residual is small enough
_FEW = 8.0  # roundings of a residual, of a logarithm
_START = np.zeros(1, dtype=np.intp)


@dataclass(frozen=True)
class EvidenceInterval:
    """Bounds of the log evidence of all targets together.

    `lower`, `upper`: the ends, widened by `rounding`. `size`: the sum of the absolute terms.
    `rounding`: an estimate of what rounding contributes. `n_iter`: products with the kernel matrix.
    """

    lower: float
    upper: float
    size: float
    rounding: float
    n_iter: int


@dataclass(frozen=True)
class Bounds:
    """Bounds of tr Y'(K + N)^-1 Y, and the part of their distance that is rounding."""

    lower: float
    upper: float
    rounding: float


def quadratic_form(gram: Gram, noise: Array, Y: Array, A: Array, KA: Array) -> tuple[Bounds, Array]:
    """Return bounds of tr Y'(K + N)^-1 Y from approximate solutions, and their residuals.

    `gram`: the kernel matrix K in float64. `noise`: the diagonal N, all positive. `Y`, `A`:
    right-hand sides and approximate solutions of (K + N) A = Y. `KA`: K A.
    """
    N, errors = noise[:, None], estimated(value_sizes(gram))
    R = Y - (KA + N * A)
    slip = np.column_stack([errors.of(a, None, _START) for a in A.T])
    slip += _FEW * UNIT * (np.abs(Y) + np.abs(KA) + N * np.abs(A))
    lower = float((A * (Y + R)).sum())
    rounding = float((np.abs(A) * slip).sum())
    rounding += float(of_sum(np.abs(A * (Y + R)).ravel(), _START)[0])
    gap = float((np.square(np.abs(R) + slip) / N).sum())
    return Bounds(lower - rounding, lower + gap + rounding, rounding), R


def evidence_interval(
    gram: Gram, at: BoundValue, Y: Array, run: Run | None = None
) -> EvidenceInterval:
    """Return the interval at the hyper-parameters of a bound.

    `gram`: the kernel matrix of the samples in float64, without noise. `at`: titsias' bound there.
    `Y`: targets. `run`: may stop the iteration; the interval is then larger.
    """
    system, t = at.system, Y.shape[1]
    spread = t * system.n * np.log1p(system.trace() / system.n)
    goal = max(_SHARE * float(spread), _DIGITS * at.fit)
    form, n_iter = _quadratic(gram, at, Y, goal, Run() if run is None else run)
    constant = t * (system.n * float(np.log(2.0 * np.pi)) + system.logdet())
    size = 0.5 * (abs(constant) + at.fit)
    terms = size + system.m * float(system.explained.sum())
    rounding = _FEW * UNIT * terms
    return EvidenceInterval(
        -0.5 * (constant + float(spread) + form.upper) - rounding,
        -0.5 * (constant + form.lower) + rounding,
        size,
        rounding + 0.5 * form.rounding,
        n_iter,
    )


def _quadratic(gram: Gram, at: BoundValue, Y: Array, goal: float, run: Run) -> tuple[Bounds, int]:
    """Return bounds of tr Y'(K + N)^-1 Y that are `goal` apart, unless stopped before."""
    system = at.system
    noise = system.noise[:, None]
    fast = gram.in_precision("auto")

    def multiply(V: Array) -> Array:
        return fast.matmul(V) + noise * V

    def enough(state: Iterate) -> bool:
        return run.over or 2.0 * float((state.upper - state.lower).sum()) <= 0.5 * goal

    slip = (system.m + _FEW) * UNIT * float((Y * Y / noise).sum())
    best, n_iter = Bounds(0.0, at.fit + slip, slip), 0
    A, R = np.zeros_like(Y), Y
    with run.until_stopped():
        for _ in range(_REFINEMENTS):
            step = conjugate_gradients(
                multiply,
                system.noise,
                R,
                system.solve,
                tol=1e-16,
                max_iter=_STEPS,
                restarts=0,
                stop=enough,
            )
            A = A + step.solution
            form, R = quadratic_form(gram, system.noise, Y, A, gram.matmul(A))
            n_iter += step.n_iter + 2
            lower, upper = max(best.lower, form.lower), min(best.upper, form.upper)
            best = Bounds(lower, max(lower, upper), form.rounding)
            if upper - lower <= goal + 4.0 * form.rounding or run.over:
                break
    return best, n_iter
