"""Primal, dual and violation against an independent dense computation, for every machine."""

import math

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR, Certificate, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import FromFunction, Precomputed, Sigmoid
from tests.machines.data_sets import classes, data_for, regression

GAMMA = 0.3


def gaussian(X):
    return np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(-1))


def binary_values(model, K, y, s, beta, b, rho=None, epsilon=None):
    """P, D and the absolute terms of P, written out from the definitions of the machines."""
    f0 = K @ beta
    w2, f, W = beta @ f0, f0 + b, s.sum()
    if isinstance(model, SVC):
        xi = np.maximum(0, 1 - y * f)
        c = model.C * s
        if model.penalty_norm == 2:
            loss, penalty = c @ xi**2, (beta**2 / (4 * c)).sum()
        elif model.C2 is not None:
            loss = c @ xi + model.C2 * (s @ xi**2)
            penalty = (np.maximum(np.abs(beta) - c, 0) ** 2 / (4 * model.C2 * s)).sum()
        else:
            loss, penalty = c @ xi, 0.0
        return w2 / 2 + loss, y @ beta - w2 / 2 - penalty, w2 / 2 + loss
    if isinstance(model, SVR):
        c = model.C * s
        excess = np.maximum(0, np.abs(y - f) - model.epsilon)
        dual = y @ beta - model.epsilon * np.abs(beta).sum() - w2 / 2
        if "squared" in model.loss:
            loss = c @ excess**2
            dual -= (beta**2 / (4 * c)).sum()
        else:
            loss = c @ excess
        return w2 / 2 + loss, dual, w2 / 2 + loss
    if isinstance(model, NuSVC):
        beta, f, w2 = beta * rho, f * rho, w2 * rho**2
        slack = s @ np.maximum(0, rho - y * f)
        reward = model.nu * W * rho
        return w2 / 2 - reward + slack, -w2 / 2, w2 / 2 + abs(reward) + slack
    if isinstance(model, OneClassSVM):
        slack = s @ np.maximum(0, rho - f0)
        reward = model.nu * W * rho
        return w2 / 2 - reward + slack, -w2 / 2, w2 / 2 + abs(reward) + slack
    loss = model.C * (model.nu * W * epsilon + s @ np.maximum(0, np.abs(y - f) - epsilon))
    return w2 / 2 + loss, y @ beta - w2 / 2, w2 / 2 + loss


MODELS = [
    SVC(C=2.0),
    SVC(C=2.0, penalty_norm=2),
    SVC(C=0.5, C2=3.0),
    SVC(fit_intercept=False),
    NuSVC(nu=0.3),
    SVR(C=2.0),
    SVR(C=2.0, loss="squared_epsilon_insensitive"),
    NuSVR(C=2.0, nu=0.4),
    OneClassSVM(nu=0.3),
]


@pytest.mark.parametrize("tol", [1e-3, 0.3])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_values_of_one_problem(model, tol):
    X, y = data_for(model)
    s = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    model.set_params(gamma=GAMMA, tol=tol).fit(X, y, sample_weight=s)
    K = gaussian(X)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    target = np.where(y == 1, 1.0, -1.0) if hasattr(model, "classes_") else y
    P, D, terms = binary_values(
        model,
        K,
        target,
        s,
        beta,
        model.intercept_[0],
        getattr(model, "rho_", None),
        getattr(model, "epsilon_", None),
    )
    for proof in (model.certificate_, model.certify(X, y, sample_weight=s)):
        assert proof.primal == pytest.approx(P, rel=1e-9, abs=1e-9)
        assert proof.dual == pytest.approx(D, rel=1e-9, abs=1e-9)
        assert proof.gap == pytest.approx(P - D, rel=1e-6, abs=1e-9)
        assert proof.relative_gap == pytest.approx((P - D) / terms, rel=1e-6, abs=1e-9)
        assert proof.kkt_violation <= tol * 1.0001
        assert proof.status == "optimal"
        assert proof.precision == "float64"
        assert proof.gap >= -1e-9


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("machine", [SVC, NuSVC])
def test_several_problems_are_added_up(machine, multiclass):
    X, y = classes(150, 4)
    params = {"nu": 0.15} if machine is NuSVC else {}
    model = machine(multiclass=multiclass, gamma=GAMMA, **params).fit(X, y)
    parts, whole = model.certificates_, model.certificate_
    assert len(parts) == (6 if multiclass == "ovo" else 4)
    assert whole.primal == pytest.approx(sum(p.primal for p in parts))
    assert whole.dual == pytest.approx(sum(p.dual for p in parts))
    assert whole.relative_gap == max(p.relative_gap for p in parts)
    assert whole.kkt_violation == max(p.kkt_violation for p in parts)
    assert whole.n_iter == sum(p.n_iter for p in parts)
    assert model.certify(X, y).primal == pytest.approx(whole.primal, rel=1e-10)
    if multiclass == "ovo":
        # The first pair, computed apart.
        pair = y < 2
        rows = np.flatnonzero(pair)
        alone = machine(gamma=GAMMA, **params).fit(X[pair], y[pair])
        assert alone.certificate_.primal == pytest.approx(parts[0].primal, rel=1e-4)
        assert len(rows) < len(y)


def test_hard_margin_bounds_the_optimum_from_both_sides():
    X, y = classes(60, flip=0.0)
    model = SVC(C=np.inf, gamma=2.0, tol=1e-2).fit(X, y)
    exact = SVC(C=np.inf, gamma=2.0, tol=1e-9).fit(X, y).certificate_
    proof = model.certificate_
    assert proof.dual <= exact.primal + 1e-9
    assert proof.primal >= exact.dual - 1e-9
    assert exact.relative_gap < 1e-7


def test_single_precision_is_named_and_the_double_proof_stays_available():
    X, y = classes(1400)
    model = SVC(dtype="float32", gamma=GAMMA, tol=1e-2).fit(X, y)
    proof, single = model.certify(X, y), model.certificate_
    assert (proof.precision, single.precision) == ("float64", "float32")
    # Primal and dual value of the fit are wider by the rounding of its kernel values.
    assert proof.primal == pytest.approx(single.primal, rel=1e-5, abs=single.rounding)
    assert single.dual <= proof.primal
    assert proof.dual <= single.primal
    assert single.rounding < 5e-5 * single.primal
    assert proof.kkt_violation < 1.1e-2


def test_violation_in_double_precision_is_within_the_tolerance():
    X, y = classes(1400, flip=0.3)
    model = SVC(dtype="float32", gamma=GAMMA, C=1000.0, max_iter=200_000)
    model.fit(X, y)
    if model.certificate_.status == "optimal":
        assert model.certificate_.precision == "float64"
        assert model.certify(X, y).kkt_violation <= 1e-3


def test_indefinite_kernels_are_stationary_and_have_no_gap():
    X, y = classes()
    for kernel in (Sigmoid(gamma=1.0), FromFunction(lambda A, B: A @ B.T, "indefinite")):
        proof = SVC(kernel=kernel).fit(X, y).certificate_
        assert proof.status == "stationary"
        assert math.isnan(proof.gap)
        assert math.isnan(proof.relative_gap)
        assert proof.kkt_violation <= 1e-3
        assert proof.converged
        assert "gap            none: the kernel is indefinite\n" in str(proof)


@pytest.mark.parametrize("coef0", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_no_steps_are_spent_on_the_gap_of_an_indefinite_kernel(C, coef0):
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    X, y = StandardScaler().fit_transform(X[chosen]), y[chosen]
    model = SVC(kernel="sigmoid", gamma=0.3, coef0=coef0, C=C, dtype="float64").fit(X, y)
    theirs = svm.SVC(kernel="sigmoid", gamma=0.3, coef0=coef0, C=C).fit(X, y)
    assert model.certificate_.status == "stationary"
    assert model.certificate_.kkt_violation <= 1e-3
    assert model.n_iter_ <= 3 * theirs.n_iter_


def test_a_saddle_point_does_not_end_the_fit_of_an_indefinite_kernel():
    """The linear system of the free coefficients leads to points of higher objective."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 3)), np.random.default_rng(105).integers(0, 2, 80)
    model = SVC(kernel="sigmoid", gamma=0.001, C=1e6).fit(X, y)
    assert model.certificate_.status == "stationary"
    assert model.certify(X, y).kkt_violation <= 1e-3


def test_definiteness_of_user_kernels_is_assumed():
    X, y = classes()
    assert SVC().fit(X, y).certificate_.assumes is None
    assert SVC(kernel=lambda A, B: A @ B.T).fit(X, y).certificate_.assumes == "psd"
    assert SVC(kernel=Precomputed()).fit(X @ X.T, y).certificate_.assumes == "psd"
    declared = FromFunction(lambda A, B: A @ B.T, "positive semidefinite")
    assert SVC(kernel=declared).fit(X, y).certificate_.assumes == "psd"


def test_assumption_is_withdrawn_when_curvature_is_negative():
    X, y = classes()
    proof = SVC(kernel=lambda A, B: -(A @ B.T), C=10.0).fit(X, y).certificate_
    assert proof.status == "stationary"
    assert proof.assumes is None
    assert math.isnan(proof.gap)


def test_certify_refuses_other_data():
    X, y = classes()
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="training"):
        model.certify(X[::-1], y[::-1])
    with pytest.raises(ValueError, match="training samples"):
        model.certify(X[:-1], y[:-1])
    X, y = regression()
    tubes = np.linspace(0.1, 0.3, len(y))
    regress = SVR().fit(X, y, sample_epsilon=tubes)
    assert regress.certify(X, y, sample_epsilon=tubes).relative_gap < 1e-3


def test_certificate_prints_as_a_table_and_converts_to_a_dict():
    X, y = classes()
    proof = SVC().fit(X, y).certificate_
    lines = str(proof).splitlines()
    assert lines[0].split() == ["status", "optimal"]
    assert any(line.startswith("gap") for line in lines)
    assert Certificate(**proof.to_dict()) == proof
    assert type(proof.to_dict()["primal"]) is float
    with pytest.raises(AttributeError):
        proof.primal = 0.0


def test_combination_takes_the_worst():
    good = Certificate("optimal", 2.0, 1.0, 1.0, 0.1, 1e-4, 5, 100, 0.5)
    late = Certificate("time_limit", 3.0, 1.0, 2.0, 0.3, 1e-2, 7, 50, 0.5, "float32", "psd")
    both = Certificate.combine([good, late])
    assert both == Certificate(
        "time_limit", 5.0, 2.0, 3.0, 0.3, 1e-2, 12, 150, 1.0, "float32", "psd", n_problems=2
    )
    unknown = Certificate("stationary", math.nan, math.nan, math.nan, math.nan, 0.0)
    assert math.isnan(Certificate.combine([good, unknown]).relative_gap)
    with pytest.raises(ValueError, match="status"):
        Certificate("fine", 0.0, 0.0, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="at least one"):
        Certificate.combine([])


@pytest.mark.parametrize("goal", [{"tol": 1e-8}, {"gap_tol": 1e-7}], ids=str)
@pytest.mark.parametrize("machine", [SVC, NuSVC, SVR, NuSVR, OneClassSVM])
def test_what_float32_cannot_resolve_is_refined(machine, goal):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=1500)
    target = None if machine is OneClassSVM else y > 0 if machine in (SVC, NuSVC) else y
    model = machine(gamma=0.5, dtype="float32", **goal).fit(X, target)
    proof = model.certificate_
    assert proof.status == "optimal"
    assert proof.precision == "float64"
    if "tol" in goal:
        assert proof.kkt_violation <= 1.01 * goal["tol"]
    else:
        assert proof.relative_gap <= 1.01 * goal["gap_tol"]
    # Single precision is left when it ends, not pushed to where it stalls.
    double = machine(gamma=0.5, dtype="float64", **goal).fit(X, target)
    assert proof.n_iter <= 5 * double.certificate_.n_iter


def test_a_proof_on_other_targets_does_not_call_the_model_optimal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model = SVR(gamma=0.5).fit(X, y)
    assert model.certify(X, y).status == "optimal"
    other = model.certify(X, y + X[:, 1])
    assert other.relative_gap > 0.1
    assert other.status == "iteration_limit"
    weight = np.where(rng.random(60) < 0.5, 3.0, 1.0)
    model = SVR(gamma=0.5, C=0.05).fit(X, y, sample_weight=weight)
    assert model.certify(X, y, sample_weight=weight).status == "optimal"
    with pytest.raises(ValueError, match="not the samples, labels and weights"):
        model.certify(X, y)


def test_certify_calls_no_wide_gap_optimal():
    # With other weights than those of the fit, the violation stays within a large tolerance.
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)), random.choice([-1, 1], 60)
    model = SVC(C=1.0, tol=10.0).fit(X, y)
    assert model.certify(X, y).status == "optimal"
    proof = model.certify(X, y, sample_weight=np.full(60, 3.0))
    assert proof.relative_gap > 5e-4
    assert proof.kkt_violation < 10.0
    assert proof.status == "iteration_limit"
