"""Fits on hostile data whose certificates are checked against the optimum in 60 digits.

The machines, with hinge, squared and tube losses, nu and one class; rows far from the origin, of
tiny and huge scale, repeated, with weights. Each case is drawn from its own seed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.machines.errors import InfeasibleNuError
from tests.fuzz.exact import INFINITE, Matrix, Program, exact, kernel_matrix, minimum

MACHINES = ("hinge", "squared hinge", "tube", "squared tube", "nu-SVC", "nu-SVR", "one-class")
OFFSETS = (0.0, 0.0, 1.0, 32.0, 1024.0, 8192.0)
SCALES = (1.0, 1.0, 1.0, 1e-3, 30.0)


@dataclass
class Case:
    """One machine on one set of data."""

    seed: int
    machine: str
    kernel: str
    parameters: dict[str, float]
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    C: float
    epsilon: float
    nu: float
    fit_intercept: bool

    def __str__(self) -> str:
        rows = f"{len(self.X)} x {self.X.shape[1]} rows near {self.X.mean():.4g}"
        return f"seed {self.seed}: {self.machine}, {self.kernel}, {rows}, C={self.C:.3g}"

    @property
    def s(self) -> np.ndarray:
        return np.ones(len(self.X)) if self.weight is None else self.weight

    def estimator(self) -> Any:
        common: dict[str, Any] = {"kernel": self.kernel, **self.parameters}
        if self.machine == "one-class":
            return OneClassSVM(nu=self.nu, **common)
        common["fit_intercept"] = self.fit_intercept
        if self.machine == "nu-SVC":
            return NuSVC(nu=self.nu, **common)
        if self.machine == "nu-SVR":
            return NuSVR(nu=self.nu, C=self.C, **common)
        if "hinge" in self.machine:
            return SVC(C=self.C, penalty_norm=2 if "squared" in self.machine else 1, **common)
        squared = (
            "squared_epsilon_insensitive" if "squared" in self.machine else "epsilon_insensitive"
        )
        return SVR(C=self.C, epsilon=self.epsilon, loss=squared, **common)


def drawn(seed: int) -> Case:
    """Return the case of a seed."""
    random = np.random.default_rng(seed)
    machine = MACHINES[seed % len(MACHINES)]
    n, d = int(random.integers(4, 9)), int(random.integers(1, 4))
    scale, offset = random.choice(SCALES), random.choice(OFFSETS)
    X = scale * (random.normal(size=(n, d)).round(2) + offset * random.choice([-1.0, 1.0]))
    if random.random() < 0.3:
        X[1] = X[0]
    kernel = str(random.choice(["linear", "linear", "poly", "rbf"]))
    parameters: dict[str, float] = {}
    spread = float(X.std(axis=0).max()) or 1.0
    if kernel != "linear":
        parameters["gamma"] = (
            float(0.5 / spread**2)
            if kernel == "rbf"
            else float(1.0 / (scale * (1.0 + offset)) ** 2)
        )
    if kernel == "poly":
        parameters |= {"degree": int(random.integers(2, 4)), "coef0": 1.0}
    y = random.normal(size=n)
    if "hinge" in machine or machine == "nu-SVC":
        y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    weight = random.uniform(0.2, 3.0, size=n) if random.random() < 0.4 else None
    C = float(10.0 ** random.uniform(-2.0, 3.0)) / (scale**2 if kernel == "linear" else 1.0)
    return Case(
        seed,
        machine,
        kernel,
        parameters,
        X,
        y,
        weight,
        C,
        0.1,
        float(random.uniform(0.2, 0.7)),
        random.random() < 0.8,
    )


def program(case: Case) -> Program:
    """Return the dual problem in unsigned variables; the optimum of the primal is minus its own."""
    K = kernel_matrix(case.kernel, case.parameters, case.X.tolist())
    n = len(K)
    y, s, one, zero = [exact(v) for v in case.y], [exact(v) for v in case.s], Decimal(1), Decimal(0)
    c = [exact(case.C * float(v)) for v in case.s]  # prices are float64 numbers
    total = sum(s, Decimal(0)) * exact(case.nu)
    doubled = "tube" in case.machine or case.machine == "nu-SVR"
    sign = [one] * n + [-one] * n if doubled else y if case.machine != "one-class" else [one] * n
    index = list(range(n)) * 2 if doubled else list(range(n))
    Q = [
        [si * sj * K[i][j] for sj, j in zip(sign, index, strict=True)]
        for si, i in zip(sign, index, strict=True)
    ]
    if "squared" in case.machine:
        for k, i in enumerate(index):
            Q[k][k] += 1 / (2 * c[i])
    bounds = {"hinge": c, "tube": c * 2, "nu-SVC": s, "one-class": s, "nu-SVR": c * 2}
    high = bounds.get(case.machine, [INFINITE] * len(index))
    A: Matrix = []
    t: list[Decimal] = []
    if case.fit_intercept and case.machine != "one-class":
        A, t = [list(sign)], [zero]
    if case.machine in ("nu-SVC", "one-class"):
        A, t = [*A, [one] * n], [*t, total]
    if case.machine == "nu-SVR":
        A, t = [*A, [one] * (2 * n)], [*t, exact(case.C) * total]
    epsilon = exact(case.epsilon)
    if "hinge" in case.machine:
        p = [-one] * n
    elif "tube" in case.machine:
        p = [epsilon - v for v in y] + [epsilon + v for v in y]
    elif case.machine == "nu-SVR":
        p = [-v for v in y] + y
    else:
        p = [zero] * n
    return Program(Q, p, [zero] * len(p), list(high), A, t)


def guess(case: Case, model: Any) -> list[float]:
    """Return the unsigned variables of a fitted model."""
    beta = np.zeros(len(case.X))
    coef = model.dual_coef_[0]
    beta[model.support_] = coef
    if case.machine == "nu-SVC" and model.rho_ > 0.0:
        beta = beta * model.rho_
    if "tube" in case.machine or case.machine == "nu-SVR":
        return [*np.maximum(beta, 0.0).tolist(), *np.maximum(-beta, 0.0).tolist()]
    return np.abs(beta).tolist()


@dataclass
class Verdict:
    """What a case showed: certificates that do not hold, or why it was not decided."""

    false: list[str]
    decided: bool
    status: str


_ZERO = 1e-35
"""An optimum that may be the rounding of 60 digits."""


def check(case: Case) -> Verdict:
    """Fit, and compare the certificates with the optimum."""
    target = () if case.machine == "one-class" else (case.y,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = case.estimator().fit(case.X, *target, sample_weight=case.weight)
        except InfeasibleNuError:
            return Verdict([], False, "infeasible nu")
        proofs = {
            "fit": model.certificate_,
            "certify": model.certify(case.X, *target, sample_weight=case.weight),
            "rigorous": model.certify(case.X, *target, sample_weight=case.weight, rigorous=True),
        }
    found = minimum(program(case), guess(case, model))
    false = []
    for name, proof in proofs.items():
        if not proof.gap >= 0.0:
            false.append(f"{name}: negative gap {proof.gap}")
        if found is None:
            continue
        optimum = -found
        # An optimum of exactly 0 (targets in the tube, hulls that meet) is found up to rounding.
        low, high = (min(optimum, 0), max(optimum, 0)) if abs(optimum) < _ZERO else (optimum,) * 2
        if exact(proof.dual) > high:
            false.append(f"{name}: dual {proof.dual!r} above the optimum {float(optimum)!r}")
        if exact(proof.primal) < low:
            false.append(f"{name}: primal {proof.primal!r} below the optimum {float(optimum)!r}")
    return Verdict(false, found is not None, model.certificate_.status)
