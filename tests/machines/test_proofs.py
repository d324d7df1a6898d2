"""Certificates hold in floating point: far from the origin, on rounded and on wrong matrices."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NotSeparableError, NuSVC, NuSVR
from mercer.kernels import RBF
from mercer.losses import EpsilonInsensitive
from mercer.machines.support_vector.proving import GAP_LIMIT
from mercer.solvers import Problem, hard_tube
from mercer.solvers.prove import convex

FAR = np.array([[1003.0, 997.0], [1004.0, 995.0], [998.0, 1005.0], [999.0, 1002.0]])
SIDES = [1, -1, 1, -1]

random = np.random.default_rng(0)
X = random.normal(size=(300, 4))
Y = np.where(X[:, 0] + 0.5 * random.normal(size=300) > 0, 1, -1)


def test_the_dual_value_is_not_above_the_optimum_far_from_the_origin():
    model = SVC(kernel="linear", C=100, penalty_norm=2).fit(FAR, SIDES)
    for proof in (model.certificate_, model.certify(FAR, SIDES)):
        assert proof.status == "optimal"
        # The optimum in rational arithmetic.
        assert proof.dual <= 15.41862954 + 5e-9
        assert proof.primal >= 15.41862954 - 5e-9
        assert 0.0 <= proof.gap < 1e-8
        assert 0.0 < proof.rounding <= 1.001 * proof.gap
    assert sum(map(Fraction, model.dual_coef_[0].tolist())) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "machine",
    [
        SVC(kernel="linear"),
        SVR(kernel="linear"),
        NuSVC(kernel="linear", nu=0.4),
        NuSVR(kernel="linear"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_translation_changes_nothing_but_the_intercept(machine, matrix):
    shift = np.array([4096.0, -512.0, 0.0, 8192.0])
    rows = X.round(6)  # so that the sums are exact to 1e-12
    near = machine.fit(rows, Y)
    w, b = near.coef_.copy(), near.intercept_.copy()
    far = machine.fit(matrix(rows + shift), Y)
    v = far.coef_.toarray() if sp.issparse(far.coef_) else far.coef_
    np.testing.assert_allclose(v, w, atol=2e-3)
    np.testing.assert_allclose(far.intercept_ + v @ shift, b, atol=2e-3)
    low, high = np.atleast_2d(far.intercept_range_)[0]
    assert low - 1e-9 <= far.intercept_[0] <= high + 1e-9
    values = far.decision_function if hasattr(far, "decision_function") else far.predict
    assert far.certificate_.status == "optimal"
    expected = rows @ w[0] + b[0]
    np.testing.assert_allclose(values(matrix(rows + shift)), expected, atol=5e-3)
    assert far.certify(matrix(rows + shift), Y, rigorous=True).gap >= 0


def test_rigorous_bounds_are_wider_than_estimates_and_still_tight():
    model = SVC(C=2.0).fit(X, Y)
    estimate, bound = model.certify(X, Y), model.certify(X, Y, rigorous=True)
    assert bound.dual < estimate.dual <= estimate.primal < bound.primal
    assert estimate.rounding < bound.rounding < 1e-8 * bound.primal


def test_float32_certificates_include_the_errors_of_their_values():
    rows = random.normal(size=(1100, 4))
    labels = np.where(rows[:, 0] * rows[:, 1] + 0.5 * random.normal(size=1100) > 0, 1, -1)
    model = SVC(kernel=RBF(0.05), C=1.0, dtype="float32").fit(rows, labels)
    proof, exact = model.certificate_, model.certify(rows, labels)
    assert proof.dual <= exact.dual + exact.rounding
    assert proof.primal >= exact.primal - exact.rounding


def test_a_fit_that_meets_tol_goes_on_while_its_gap_is_large():
    model = SVC(C=100.0, tol=1.0).fit(X, Y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap <= 1.01 * GAP_LIMIT


@pytest.mark.parametrize("columns", [4, 8])
def test_negative_curvature_is_found_before_a_model_is_called_optimal(columns):
    rows = np.random.default_rng(1).normal(size=(300, columns))
    labels = np.where(rows[:, 0] > 0, 1, -1)

    def function(a, b):
        return RBF(0.5)(a, b) - 0.02 * a @ b.T

    K = function(rows, rows)
    for kernel, data in (("precomputed", K), (function, rows)):
        with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
            model = SVC(kernel=kernel).fit(data, labels)
        proof, found = model.certificate_, model.negative_curvature_
        assert proof.status == "stationary"
        assert np.isnan(proof.gap)
        assert proof.assumes is None
        assert proof.convexity == "refuted"
        assert proof.eigenvalue == found.eigenvalue < 0
        v, at = found.vector, np.ix_(found.rows, found.rows)
        assert v @ K[at] @ v == pytest.approx(found.eigenvalue)
        assert "not positive semidefinite" in str(proof).splitlines()[0]
        assert model.certify(data, labels).status == "stationary"


def test_a_certificate_says_what_it_rests_on():
    checked = SVC(kernel="precomputed").fit(RBF(0.5)(X), Y).certificate_
    assert (checked.status, checked.assumes, checked.convexity) == ("optimal", "psd", "checked")
    assert SVC().fit(X, Y).certificate_.convexity == "theorem"
    rows = random.normal(size=(1500, 2))
    labels = np.where(rows[:, 0] > 0, 1, -1)
    part = SVC(kernel="precomputed").fit(RBF(0.5)(rows), labels).certificate_
    assert (part.status, part.convexity) == ("optimal", "not ruled out")
    assert "was not ruled out" in str(part).splitlines()[0]


def test_an_early_stop_does_not_widen_the_edge():
    model = SVC(C=10.0, max_iter=20)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    margin = Y * model.decision_function(X)
    edge = np.abs(1.0 - margin) <= model.tol
    assert np.array_equal(model.point_status_ == "on edge", edge)
    assert np.array_equal(model.margin_points(), np.flatnonzero(edge))
    assert np.array_equal(model.point_status_ == "misclassified", ~edge & (margin < 0.0))


def test_contradictory_targets_in_a_hard_tube_are_not_separable():
    with pytest.raises(NotSeparableError):
        SVR(gamma=0.5, C=np.inf, epsilon=0.1).fit([[0.0], [0.0], [1.0]], [0.0, 1.0, 0.0])
    # Coefficients that have grown out of range, as on some processors.
    problem = Problem(EpsilonInsensitive(0.1), np.array([0.0, 1.0]), np.full(2, np.inf))
    assert hard_tube._scaled(problem, np.array([-1e200, 1e200]), np.zeros(2)) == (1.0, np.inf)


@pytest.mark.parametrize("nu", [0.2, 0.5, 0.9])
def test_a_refit_on_the_support_keeps_a_tube_that_is_not_unique(nu):
    for seed in range(12):
        draw = np.random.default_rng(seed)
        rows = draw.integers(0, 4, size=(12, 1)).astype(float)
        target = draw.integers(0, 3, size=12).astype(float)
        model = NuSVR(nu=nu, C=10.0, gamma=0.5).fit(rows, target)
        again = model.refit_on_support()
        np.testing.assert_allclose(again.predict(rows), model.predict(rows), atol=5e-3)
        assert again.certificate_.status == "optimal"


@pytest.mark.parametrize("rows", [544, 60])
def test_predictions_far_from_the_origin_are_those_that_were_proved(rows: int) -> None:
    r = np.random.default_rng(250)
    base = r.normal(size=(18, 2)).round(2) + 1000
    g = r.integers(0, 18, size=rows)
    X, y = base[g], base[g, 0] - 1000 + r.integers(0, 3, size=rows) * 0.5
    model = SVR(kernel="linear", C=1e4, epsilon=0.1).fit(X, y)
    w = model.coef_[0]
    primal = 0.5 * w @ w + 1e4 * np.maximum(np.abs(y - model.predict(X)) - 0.1, 0.0).sum()
    assert primal == pytest.approx(model.certificate_.primal, rel=5e-4)


@pytest.mark.parametrize("classes", [2, 4])
def test_rows_clear_of_the_margin_do_not_change_a_proof(monkeypatch, classes):
    rows = random.normal(size=(1200, 3))
    labels = (rows[:, 0] > 0) + (rows[:, 1] > 0) * (classes // 2)
    asked = convex._rows_that_count
    counts = []

    def counted(loss, beta, *arguments):
        some = asked(loss, beta, *arguments)
        counts.append((len(some), len(beta)))
        return some

    monkeypatch.setattr(convex, "_rows_that_count", counted)
    quick = SVC(C=5.0).fit(rows, labels)
    monkeypatch.setattr(convex, "_rows_that_count", lambda *arguments: None)
    whole = SVC(C=5.0).fit(rows, labels)
    assert counts
    assert all(0 < some < 0.5 * everything for some, everything in counts)
    for a, b in zip(quick.certificates_, whole.certificates_, strict=True):
        assert a.primal == pytest.approx(b.primal, rel=1e-12)
        assert a.dual == pytest.approx(b.dual, rel=1e-12)
        assert a.kkt_violation == b.kkt_violation
    np.testing.assert_array_equal(quick.intercept_range_, whole.intercept_range_)
    np.testing.assert_array_equal(quick.slack_, whole.slack_)
    np.testing.assert_array_equal(quick.point_status_, whole.point_status_)
