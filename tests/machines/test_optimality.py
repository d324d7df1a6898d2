"""Every problem against an exact dense solver and against its own primal problem."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.gram import Gram
from mercer.kernels import Precomputed
from mercer.machines.support_vector.multiclass import Single
from mercer.machines.support_vector.tasks import pose_tasks
from mercer.solvers import Solution
from tests.machines.data_sets import classes, regression, scores
from tests.machines.reference import solve_dense

GAMMA = 0.3


def gaussian(X):
    return np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(-1))


def exact(model, y, s, K, extra=None):
    """Return the values of the exact model of a machine on the training rows."""
    model._set_price(float(s.sum()))
    batch = Single(np.asarray(y, dtype=float)).batch(s)
    (task,) = pose_tasks(model, batch, extra)
    problem, dual = task.problem, task.problem.dual
    Q = K if problem.rows is None else K[np.ix_(problem.rows, problem.rows)]
    beta, values, multiplier, *_ = solve_dense(dual, Q, dual.feasible())
    solution = Solution(beta, values, multiplier, np.zeros((len(multiplier), 2)), "optimal")
    task.settle(solution, Gram(Precomputed(), K))
    return (K @ task.coef(solution) + task.intercept(solution)) / task.scale(solution)


X2, LABELS = classes(60)
SIGNS = np.where(LABELS == 1, 1.0, -1.0)
XR, TARGETS = regression(50)
RNG = np.random.default_rng(5)
WEIGHTS = RNG.uniform(0.3, 2.0, 60)
TUBES = RNG.uniform(0.0, 0.4, (50, 2))

CASES = [
    SVC(C=3.0),
    SVC(C=3.0, fit_intercept=False),
    SVC(C=3.0, penalty_norm=2),
    SVC(C=0.7, C2=2.0),
    NuSVC(nu=0.4),
    OneClassSVM(nu=0.3),
    SVR(C=2.0, epsilon=0.2),
    SVR(C=2.0, epsilon=0.2, fit_intercept=False),
    SVR(C=2.0, epsilon=0.2, loss="squared_epsilon_insensitive"),
    NuSVR(C=2.0, nu=0.3),
    NuSVR(C=2.0, nu=0.9),
]


@pytest.mark.parametrize("model", CASES, ids=repr)
def test_solver_agrees_with_the_dense_oracle(model):
    regress = isinstance(model, SVR | NuSVR)
    X, y, target = (XR, TARGETS, TARGETS) if regress else (X2, LABELS, SIGNS)
    s = WEIGHTS[: len(y)]
    model.set_params(gamma=GAMMA, tol=1e-9).fit(X, y, sample_weight=s)
    np.testing.assert_allclose(scores(model, X), exact(model, target, s, gaussian(X)), atol=1e-6)


def primal(model, K, y, s):
    """Return the primal objective of a loss machine as a function of (beta, b)."""
    n = len(y)

    def value(z):
        f0 = K @ z[:n]
        f = f0 + (z[n] if model.fit_intercept else 0.0)
        if isinstance(model, SVC):
            xi = np.maximum(0.0, 1 - y * f)
            loss = xi**2 if model.penalty_norm == 2 else xi
            extra = 0.0 if model.C2 is None else model.C2 * (s @ xi**2)
        else:
            xi = np.maximum(0.0, np.abs(y - f) - model.epsilon)
            loss = xi**2 if "squared" in model.loss else xi
            extra = 0.0
        return 0.5 * z[:n] @ f0 + model.C * (s @ loss) + extra

    return value


@pytest.mark.parametrize("model", [m for m in CASES if isinstance(m, SVC | SVR)], ids=repr)
def test_no_other_function_has_a_lower_primal_value(model):
    X, y = (XR, TARGETS) if isinstance(model, SVR) else (X2, SIGNS)
    s = WEIGHTS[: len(y)]
    model.set_params(gamma=GAMMA, tol=1e-9).fit(X, y, sample_weight=s)
    K = gaussian(X)
    value = primal(model, K, y, s)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    z = np.append(beta, model.intercept_[0])
    assert value(z) == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert value(z) - model.certificate_.dual < 1e-6 * value(z)
    # A descent method that starts at the model finds nothing better than the dual bound.
    better = minimize(value, z, method="Powell", options={"maxiter": 1, "maxfev": 2000})
    assert better.fun >= model.certificate_.dual - 1e-9


def test_asymmetric_tubes_shift_the_function_by_half_their_difference():
    tubes = np.column_stack([np.full(50, 0.1), np.full(50, 0.5)])
    shifted = SVR(C=2.0, gamma=GAMMA, tol=1e-9).fit(XR, TARGETS, sample_epsilon=tubes)
    symmetric = SVR(C=2.0, gamma=GAMMA, tol=1e-9, epsilon=0.3).fit(XR, TARGETS - 0.2)
    np.testing.assert_allclose(shifted.predict(XR), symmetric.predict(XR), atol=1e-6)


def test_tubes_of_each_sample():
    model = SVR(C=2.0, gamma=GAMMA, tol=1e-9).fit(XR, TARGETS, sample_epsilon=TUBES)
    expected = exact(model, TARGETS, np.ones(50), gaussian(XR), TUBES)
    np.testing.assert_allclose(model.predict(XR), expected, atol=1e-6)
    same = SVR(C=2.0, gamma=GAMMA, tol=1e-9, epsilon=0.25).fit(XR, TARGETS)
    one = SVR(C=2.0, gamma=GAMMA, tol=1e-9).fit(XR, TARGETS, sample_epsilon=np.full(50, 0.25))
    np.testing.assert_allclose(one.predict(XR), same.predict(XR), atol=1e-8)


@pytest.mark.parametrize("machine", [NuSVC(nu=0.3), NuSVR(nu=0.4, C=2.0)])
def test_nu_machines_without_intercept(machine):
    X, y = (XR, TARGETS) if isinstance(machine, NuSVR) else (X2, LABELS)
    machine.set_params(fit_intercept=False, gamma=GAMMA, tol=1e-8).fit(X, y)
    assert machine.intercept_[0] == 0.0
    proof = machine.certify(X, y)
    assert proof.relative_gap < 1e-7
    # The C machine without intercept is the same function, at the constants that nu found.
    if isinstance(machine, NuSVC):
        same = SVC(C=machine.equivalent_C_, fit_intercept=False, gamma=GAMMA, tol=1e-8).fit(X, y)
    else:
        same = SVR(C=2.0, epsilon=machine.epsilon_, fit_intercept=False, gamma=GAMMA, tol=1e-8)
        same.fit(X, y)
    np.testing.assert_allclose(scores(machine, X), scores(same, X), atol=1e-5)


def test_nu_machines_are_c_machines_at_the_constants_they_find():
    nu = NuSVC(nu=0.4, gamma=GAMMA, tol=1e-9).fit(X2, LABELS)
    c = SVC(C=nu.equivalent_C_, gamma=GAMMA, tol=1e-9).fit(X2, LABELS)
    np.testing.assert_allclose(nu.decision_function(X2), c.decision_function(X2), atol=1e-6)
    assert c.nu_ == pytest.approx(0.4, abs=1e-6)
    tube = NuSVR(nu=0.3, C=2.0, gamma=GAMMA, tol=1e-9).fit(XR, TARGETS)
    fixed = SVR(epsilon=tube.epsilon_, C=tube.equivalent_C_, gamma=GAMMA, tol=1e-9)
    np.testing.assert_allclose(tube.predict(XR), fixed.fit(XR, TARGETS).predict(XR), atol=1e-6)


def test_lam_is_another_name_for_c():
    weight = WEIGHTS[:50]
    lam = 0.01
    by_lam = SVR(lam=lam, gamma=GAMMA, tol=1e-9).fit(XR, TARGETS, sample_weight=weight)
    assert pytest.approx(1 / (2 * lam * weight.sum())) == by_lam.C_
    by_c = SVR(C=by_lam.C_, gamma=GAMMA, tol=1e-9).fit(XR, TARGETS, sample_weight=weight)
    np.testing.assert_allclose(by_lam.predict(XR), by_c.predict(XR), atol=1e-8)


def test_collapsed_nu_tube_is_a_certified_least_absolute_fit():
    # Five points on a line: the tube has width 0 for every nu, and the sum of the multipliers
    # is not used up.
    X = np.arange(5.0)[:, None]
    model = NuSVR(kernel="linear", C=100.0, nu=1.0, tol=1e-8).fit(X, X[:, 0])
    assert model.epsilon_ == pytest.approx(0.0, abs=1e-6)
    proof = model.certify(X, X[:, 0])
    assert proof.relative_gap < 1e-6
    assert proof.kkt_violation < 1e-5
