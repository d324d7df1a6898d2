"""Kernel ridge regression: its equation, its proof, weights, solvers and refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.kernel_ridge as peer
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import LSSVC, LSSVR, SVR, KernelRidge, KernelRidgeClassifier
from mercer.gram import Gram
from mercer.kernels import RBF, Laplacian, Linear, NegativeDistance, Spectrum, ThinPlate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 0.1 * RNG.normal(size=40), X[:, 1] ** 2])
y = Y[:, 0]
SOLVERS = ["cholesky", "cg", "eigh", "lu", "widrow_hoff"]

# Without an intercept, samples of weight 1e-4 are given values near 0, not those of the class
# of weight 1000, which the check expects.
EXPECTED = {"check_class_weight_classifiers": "needs an intercept"}


@parametrize_with_checks(
    [
        KernelRidge(),
        KernelRidgeClassifier(),
        LSSVC(),
        LSSVR(),
    ],
    expected_failed_checks=lambda e: EXPECTED if isinstance(e, KernelRidgeClassifier) else {},
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_agree_and_are_proved(solver: str) -> None:
    model = KernelRidge(0.1, kernel=RBF(0.4), solver=solver, tol=1e-16).fit(X, Y)
    expected = np.linalg.solve(RBF(0.4)(X) + 0.1 * np.eye(40), Y)
    np.testing.assert_allclose(model.dual_coef_, expected, atol=1e-6)
    assert model.solver_ == solver
    for proof, t in zip(model.certificates_, range(2), strict=True):
        optimum = 0.5 * Y[:, t] @ expected[:, t]
        assert proof.status == "optimal"
        assert proof.dual <= optimum <= proof.primal
        assert proof.relative_gap < 1e-11
        assert proof.convexity == "theorem"


@pytest.mark.parametrize("solver", ["cholesky", "cg", "eigh", "lu"])
def test_the_intercept_is_not_penalised(solver: str) -> None:
    weight = RNG.uniform(0.5, 2.0, size=40)
    model = KernelRidge(0.1, kernel=RBF(0.4), solver=solver, fit_intercept=True, tol=1e-16)
    model.fit(X, Y + 100.0, sample_weight=weight)
    assert np.abs(model.dual_coef_.sum(axis=0)).max() < 1e-7
    same = KernelRidge(0.1, kernel=RBF(0.4), fit_intercept=True).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), same.predict(X) + 100.0, atol=1e-6)
    assert model.certificate_.status == "optimal"
    assert 0.0 <= model.certificate_.relative_gap < 1e-9


def test_weights_are_repetitions() -> None:
    weight = np.arange(40) % 3
    for intercept in (False, True):
        a = KernelRidge(0.3, kernel="rbf", gamma="scale", fit_intercept=intercept)
        b = KernelRidge(0.3, kernel="rbf", gamma="scale", fit_intercept=intercept)
        a.fit(X, y, sample_weight=weight)
        b.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-10)
        assert a.certificate_.primal == pytest.approx(b.certificate_.primal)
        assert len(a.dual_coef_) == 40
        assert (a.dual_coef_[weight == 0] == 0.0).all()


def test_ridge_is_squared_epsilon_regression_without_a_tube() -> None:
    alpha = 0.2
    machine = SVR(
        kernel=RBF(0.4),
        C=1.0 / (2.0 * alpha),
        epsilon=0.0,
        loss="squared_epsilon_insensitive",
        tol=1e-10,
    ).fit(X, y)
    ridge = KernelRidge(alpha, kernel=RBF(0.4), fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(ridge.predict(X), machine.predict(X), atol=1e-7)
    assert ridge.certificate_.primal == pytest.approx(machine.certificate_.primal)
    least = LSSVR(C=1.0 / (2.0 * alpha), kernel=RBF(0.4)).fit(X, y)
    np.testing.assert_array_equal(least.predict(X), ridge.predict(X))
    assert least.noise_variance_ == alpha


def test_one_alpha_for_each_target() -> None:
    model = KernelRidge([0.1, 5.0], kernel="rbf", gamma=0.4).fit(X, Y)
    for t, alpha in enumerate((0.1, 5.0)):
        single = KernelRidge(alpha, kernel="rbf", gamma=0.4).fit(X, Y[:, t])
        np.testing.assert_allclose(model.predict(X)[:, t], single.predict(X), atol=1e-12)
    np.testing.assert_array_equal(model.noise_variance_, [0.1, 5.0])


def test_without_a_penalty_the_norm_is_the_smallest_one() -> None:
    Z = np.vstack([X[:20], X[:3]])  # three rows twice, with different targets
    t = np.concatenate([y[:20], y[:3] + 0.5])
    model = KernelRidge(0.0, kernel=RBF(0.4)).fit(Z, t)
    assert model.solver_ == "eigh"
    np.testing.assert_allclose(model.predict(Z[:3]), y[:3] + 0.25, atol=1e-6)
    np.testing.assert_allclose(model.predict(Z[3:20]), y[3:20], atol=1e-6)
    np.testing.assert_allclose(model.dual_coef_[:3], model.dual_coef_[20:], rtol=1e-4)
    linear = KernelRidge(0.0, kernel="linear").fit(X[:2], [1.0, -1.0])
    w = X[:2].T @ linear.dual_coef_
    np.testing.assert_allclose(w, np.linalg.pinv(X[:2]) @ [1.0, -1.0], atol=1e-12)
    assert linear.certificate_.relative_gap < 1e-9


def test_class_labels_one_against_the_rest() -> None:
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = KernelRidgeClassifier(0.1, kernel=RBF(0.4)).fit(X, labels)
    assert model.decision_function(X).shape == (40, 3)
    assert model.score(X, labels) > 0.9
    coded = np.where(labels[:, None] == model.classes_, 1.0, -1.0)
    ridge = KernelRidge(0.1, kernel=RBF(0.4)).fit(X, coded)
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X), atol=1e-12)
    two = LSSVC(C=2.0).fit(X, X[:, 0] > 0, sample_weight=np.arange(40))
    assert two.dual_coef_.shape == (40,)
    heavy = LSSVC(gamma=0.4, class_weight={0: 10.0}).fit(X, X[:, 0] > 0)
    light = LSSVC(gamma=0.4).fit(X, X[:, 0] > 0, sample_weight=np.where(X[:, 0] > 0, 1.0, 10.0))
    np.testing.assert_allclose(heavy.dual_coef_, light.dual_coef_, rtol=1e-6, atol=1e-9)


def test_strings_sparse_rows_and_precomputed_matrices() -> None:
    words = ["banana", "bandana", "kernel", "colonel"]
    model = KernelRidge(0.1, kernel=Spectrum(2)).fit(words, [1.0, 0.9, -1.0, -0.8])
    assert model.predict(["bananas"])[0] > 0.5
    dense = KernelRidge(0.1, kernel=RBF(0.4)).fit(X, y).predict(X)
    sparse = KernelRidge(0.1, kernel=RBF(0.4)).fit(sp.csr_matrix(X), y).predict(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse, dense, atol=1e-9)
    weight = np.ones(40)
    weight[5] = 0.0
    K = RBF(0.4)(X)
    given = KernelRidge(0.1, kernel="precomputed").fit(K, y, sample_weight=weight).predict(K)
    rows = KernelRidge(0.1, kernel=RBF(0.4)).fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(given, rows, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*indefinite:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["chi2", "additive_chi2"])
def test_kernels_of_histograms_have_the_names_of_scikit_learn(kernel: str) -> None:
    rng = np.random.default_rng(0)
    X, new = rng.random((30, 4)), rng.random((5, 4))
    ours, theirs = (
        machine(kernel=kernel, gamma=0.5, alpha=0.1).fit(X, X[:, 0] + X[:, 1] ** 2)
        for machine in (KernelRidge, peer.KernelRidge)
    )
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)
    without_gamma = KernelRidge(kernel="chi2").fit(X, X[:, 0])
    with_one = KernelRidge(kernel="chi2", gamma=1.0).fit(X, X[:, 0])
    np.testing.assert_array_equal(without_gamma.predict(new), with_one.predict(new))


def test_certify_repeats_the_proof_after_pickling() -> None:
    weight = np.arange(40) % 3
    model = KernelRidge(0.1, kernel="rbf", fit_intercept=True).fit(X, Y, sample_weight=weight)
    again = pickle.loads(pickle.dumps(model)).certify(X, Y, sample_weight=weight)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert again.status == "optimal"
    model.dual_coef_ = model.dual_coef_ * 1.1
    assert model.certify(X, Y, sample_weight=weight).relative_gap > 1e-3
    with pytest.raises(ValueError, match="fitted on 40 samples"):
        model.certify(X[:5], Y[:5])


def test_an_indefinite_kernel_has_a_stationary_point_and_no_gap() -> None:
    with pytest.warns(ConvergenceWarning, match="kernel is indefinite"):
        model = KernelRidge(0.3, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    assert model.certificate_.status == "stationary"
    assert np.isnan(model.certificate_.gap)
    assert model.certificate_.kkt_violation < 1e-9
    with pytest.raises(ValueError, match="not positive definite"):
        KernelRidge(0.3, kernel="sigmoid", gamma=2.0, coef0=-1.0, solver="cholesky").fit(X, y)


def test_conditionally_definite_kernels_need_an_intercept() -> None:
    model = KernelRidge(0.1, kernel=NegativeDistance(), fit_intercept=True).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert 0.0 <= model.certificate_.relative_gap < 1e-9
    with pytest.raises(ValueError, match="fit_intercept=True"):
        KernelRidge(0.1, kernel=NegativeDistance()).fit(X, y)
    with pytest.raises(ValueError, match="order 2"):
        KernelRidge(0.1, kernel=ThinPlate(), fit_intercept=True).fit(X, y)


def test_limits_give_an_honest_status() -> None:
    model = KernelRidge(1e-4, kernel=RBF(0.4), solver="cg", max_iter=0)
    with pytest.warns(ConvergenceWarning, match="iteration_limit"):
        model.fit(X, y)
    assert model.certificate_.status == "iteration_limit"
    seen = []
    slow = KernelRidge(1e-4, kernel=RBF(0.4), solver="widrow_hoff", tol=1e-14)
    slow.set_callbacks(lambda report: seen.append(report.gap) or len(seen) == 3)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        slow.fit(X, y)
    assert len(seen) == 3


@pytest.mark.parametrize("solver", ["cg", "widrow_hoff"])
def test_an_interrupt_keeps_what_an_iteration_has_found(solver: str) -> None:
    steps: list[int] = []
    model = KernelRidge(1e-4, kernel=RBF(0.4), solver=solver, tol=1e-14)

    def keyboard(*_: Any) -> Any:
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt
        return tile(*_)

    tile = Gram.matmul
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gram, "matmul", keyboard)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    optimal = KernelRidge(1e-4, kernel=RBF(0.4)).fit(X, y).certificate_
    assert model.certificate_.dual <= optimal.primal
    assert model.certificate_.primal >= optimal.dual
    two = KernelRidge([1e-4, 1e-3], kernel=RBF(0.4), solver=solver, tol=1e-14)
    steps.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gram, "matmul", keyboard)
        with pytest.raises(KeyboardInterrupt):  # the second target has no solution yet
            two.fit(X, np.column_stack([y, y]))
    assert not hasattr(two, "dual_coef_")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelRidge(-1.0), "at least 0"),
        (KernelRidge([1.0, 2.0, 3.0]), "do not correspond"),
        (KernelRidge("big"), "alpha must be a number"),
        (KernelRidge(solver="qr"), "solver must be one of"),
        (KernelRidge(tol=0.0), "tol must be"),
        (KernelRidge(max_iter=-1), "max_iter must be"),
        (KernelRidge(kernel=Linear(), gamma=0.5), "would have no effect"),
        (KernelRidge(solver="widrow_hoff", fit_intercept=True), "has no intercept"),
        (LSSVR(C=0.0), "C must be"),
    ],
)
def test_refused_parameters(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


def test_a_failed_fit_leaves_the_earlier_model() -> None:
    model = KernelRidge(0.1).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.full(40, np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


def test_one_row_and_constant_targets() -> None:
    one = KernelRidge(1.0, kernel=RBF(1.0)).fit([[2.0]], [3.0])
    assert one.predict([[2.0]])[0] == pytest.approx(1.5, rel=1e-15)
    constant = KernelRidge(0.1, kernel="rbf", fit_intercept=True).fit(X, np.full(40, 7.0))
    np.testing.assert_allclose(constant.predict(X), 7.0, atol=1e-10)
    assert constant.certificate_.status == "optimal"
    zero = KernelRidge(0.1, kernel="rbf").fit(X, np.zeros(40))
    assert zero.certificate_.status == "optimal"


@pytest.mark.parametrize("solver", ["cholesky", "cg", "eigh", "lu"])
@pytest.mark.parametrize("value", [-2.979083713240576, 1e8 / 3.0])
def test_an_intercept_alone_explains_constant_targets(solver: str, value: float) -> None:
    # y - mean(y) is not 0 in float64, and lies where the iterations have no curvature.
    model = KernelRidge(kernel=Laplacian(100.0), fit_intercept=True, solver=solver)
    model.fit([[0.0], [1.0]], [value, value])
    assert model.intercept_ == pytest.approx(value)
    assert np.abs(model.dual_coef_).max() <= 1e-14 * abs(value)
    assert model.certificate_.dual <= 0.0 <= model.certificate_.primal


def test_the_value_of_tiny_targets_is_bounded_although_it_underflows() -> None:
    proof = KernelRidge(1.0, kernel=RBF(1.0)).fit(X, np.full(len(X), 1e-170)).certificate_
    assert proof.dual <= 0.0 < proof.primal  # about 1e-339


def test_a_singular_matrix_is_refused_by_lu() -> None:
    rows = np.array([[422.0], [1616.0], [422.0], [1616.0]])
    with pytest.warns(LinAlgWarning), pytest.raises(ValueError, match="singular in float64"):
        KernelRidge(1e-30, kernel=Linear(), solver="lu").fit(rows, [1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("solver", ["auto", "eigh"])
def test_rounding_far_from_the_origin_does_not_refute_a_definite_kernel(solver: str) -> None:
    rows = 1e8 + np.random.default_rng(0).normal(size=(12, 5))
    model = KernelRidge(1e-8, kernel=Linear(), fit_intercept=True, solver=solver)
    with pytest.warns(ConvergenceWarning, match="precision_limit"):
        proof = model.fit(rows, rows[:, 0] - 1e8).certificate_
    assert proof.convexity == "theorem"
    assert proof.dual <= 0.5  # the value of f(x) = x_0 - 1e8, which has no errors
    assert proof.primal >= 0.499
