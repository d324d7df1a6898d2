"""Machines on kernels of order 2: the linear function beside the expansion, and its proof."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.interpolate import RBFInterpolator
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from mercer import SVC, SVR
from mercer.expansion import Expansion
from mercer.kernels import RBF, Linear, Multiquadric, Projected, ThinPlate, seminorm2
from mercer.machines.support_vector.linear_part import LinearPart
from tests.machines.splines import LABELS, LEVEL, NEW, SLOPE, THREE, X, Y, fitted

SETTINGS = [
    {"C": 2.0, "epsilon": 0.05},
    {"C": 2.0, "epsilon": 0.0},
    {"C": 20.0, "epsilon": 0.02, "loss": "squared_epsilon_insensitive"},
    {"C": np.inf, "epsilon": 0.1},
]
each_setting = pytest.mark.parametrize("parameters", SETTINGS, ids=str)


@pytest.mark.spec("SM-3.54")
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_linear_functions_cost_nothing_and_are_fitted_exactly(epsilon):
    for C in (1e-3, 1.0, 1e6, np.inf):
        model = SVR(kernel=ThinPlate(), C=C, epsilon=epsilon).fit(X, X @ SLOPE + LEVEL)
        assert len(model.support_) == 0
        np.testing.assert_allclose(model.poly_coef_, [SLOPE], rtol=1e-12)
        np.testing.assert_allclose(model.intercept_, [LEVEL], rtol=1e-12)
        np.testing.assert_allclose(model.predict(NEW), NEW @ SLOPE + LEVEL, rtol=1e-11)
        assert model.certificate_.status == "optimal"
        assert model.certificate_.relative_gap <= 1e-4


@pytest.mark.spec("SM-3.54")
@each_setting
def test_the_equations_hold_and_the_gap_is_closed(parameters):
    model = fitted(**parameters)
    beta, Z = model.dual_coef_[0], model.support_vectors_
    size = np.abs(beta).sum()
    assert abs(beta.sum()) < 1e-13 * size
    assert np.abs(beta @ Z).max() < 1e-13 * size * np.abs(Z).max()
    proof = model.certificate_
    assert (proof.status, proof.assumes, proof.precision) == ("optimal", None, "float64")
    assert abs(proof.relative_gap) < 1e-9
    assert proof.kkt_violation < 1e-7
    norm2 = seminorm2(ThinPlate(), Z, beta)
    loss = np.maximum(np.abs(Y - model.predict(X)) - parameters["epsilon"], 0.0)
    loss = loss**2 if "loss" in parameters else loss
    price = 0.0 if np.isinf(parameters["C"]) else parameters["C"]
    assert proof.primal == pytest.approx(0.5 * norm2 + price * loss.sum(), rel=1e-9)
    assert model.margin_ == pytest.approx(1 / np.sqrt(norm2), rel=1e-9)
    again = model.certify(X, Y)
    assert again.primal == pytest.approx(proof.primal, rel=1e-12)
    assert again.gap == pytest.approx(proof.gap, abs=1e-10)


@pytest.mark.spec("SM-3.54")
@pytest.mark.parametrize("C", [0.3, 30.0, np.inf])
def test_the_squared_loss_gives_the_smoothing_spline(C):
    model = SVR(kernel=ThinPlate(), C=C, epsilon=0.0, loss="squared_epsilon_insensitive").fit(X, Y)
    spline = RBFInterpolator(X, Y, kernel="thin_plate_spline", smoothing=0.5 / C)
    np.testing.assert_allclose(model.predict(NEW), spline(NEW), atol=1e-10)


@pytest.mark.spec("SM-3.54", "SM-3.55")
def test_it_is_the_limit_of_a_projected_kernel_with_a_large_linear_one():
    model = fitted()
    kernel = Projected(ThinPlate()) + 1e4 * Linear()
    near = SVR(kernel=kernel, C=2.0, epsilon=0.05, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(near.predict(NEW), model.predict(NEW), atol=1e-4)
    # The linear function costs it a little.
    assert model.certificate_.dual < near.certificate_.primal
    assert near.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-4)


@pytest.mark.spec("SM-3.54")
@each_setting
def test_a_linear_function_added_to_the_targets_is_added_to_f(parameters):
    model = fitted(**parameters)
    moved = clone(model).fit(X, Y + X @ SLOPE + LEVEL)
    np.testing.assert_allclose(moved.predict(NEW), model.predict(NEW) + NEW @ SLOPE + LEVEL)
    np.testing.assert_allclose(moved.poly_coef_, model.poly_coef_ + SLOPE, atol=1e-9)
    assert moved.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_thin_plates_do_not_depend_on_origin_axes_and_units():
    model = fitted()
    U, factor = ortho_group.rvs(2, random_state=0), 7.0

    def moved(A):
        return factor * A @ U + [3.0, -100.0]

    # c^2 times the quadratic form: C / c^2 is the same trade-off.
    other = SVR(kernel=ThinPlate(), C=2.0 / factor**2, epsilon=0.05).fit(moved(X), Y)
    np.testing.assert_allclose(other.predict(moved(NEW)), model.predict(NEW), atol=1e-8)
    np.testing.assert_array_equal(other.support_, model.support_)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("y", [Y, X @ SLOPE + 0.05 * np.sin(9 * X[:, 0])], ids=["bent", "flat"])
def test_weights_are_repetitions(y, loss):
    weight = np.random.default_rng(1).integers(0, 4, size=60)
    copies = np.repeat(np.arange(60), weight)
    model = SVR(kernel=ThinPlate(), C=1.5, epsilon=0.1, loss=loss)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-7)
    proof = weighted.certificate_
    assert proof.primal == pytest.approx(repeated.certificate_.primal, rel=1e-8, abs=1e-12)
    assert weighted.certify(X, y, sample_weight=weight).primal == pytest.approx(proof.primal)
    assert set(weighted.support_) <= set(np.flatnonzero(weight))


def test_tubes_may_differ_from_sample_to_sample():
    tubes = np.column_stack([np.linspace(0.0, 0.5, 60), np.full(60, 0.05)])
    model = SVR(kernel=ThinPlate(), C=np.inf).fit(X, Y, sample_epsilon=tubes)
    residual = Y - model.predict(X)
    assert np.all((residual >= -tubes[:, 0] - 1e-9) & (residual <= tubes[:, 1] + 1e-9))
    assert model.certify(X, Y, sample_epsilon=tubes).relative_gap < 1e-9


# ------------------------------------------------------------------ what does not determine q


@pytest.mark.spec("SM-3.57")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_up_to_d_plus_one_points_a_linear_function_interpolates(n):
    model = SVR(kernel=ThinPlate(), epsilon=0.0).fit(X[:n], Y[:n])
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(X[:n]), Y[:n], atol=1e-12)
    # Of all linear functions through the points it is the one of least slope.
    shortest = np.linalg.pinv(X[:n] - X[:n].mean(axis=0)) @ (Y[:n] - Y[:n].mean())
    np.testing.assert_allclose(model.poly_coef_[0], shortest, atol=1e-10)


def test_on_a_line_the_slope_stays_in_its_direction():
    line = np.column_stack([X[:, 0], 2 * X[:, 0] + 1, np.full(60, 4.0)])
    model = SVR(kernel=ThinPlate(), C=2.0, epsilon=0.05).fit(line, Y)
    assert model.certificate_.relative_gap < 1e-9
    np.testing.assert_allclose(np.cross(model.poly_coef_[0], [1.0, 2.0, 0.0]), 0.0, atol=1e-12)
    straight = SVR(kernel=ThinPlate(), C=2.0 / 5, epsilon=0.05).fit(X[:, :1] * np.sqrt(5), Y)
    np.testing.assert_allclose(
        SVR(kernel=ThinPlate(), C=0.4, epsilon=0.05).fit(line, Y).predict(line),
        straight.predict(X[:, :1] * np.sqrt(5)),
        atol=1e-8,
    )


def test_more_columns_than_rows():
    wide = np.random.default_rng(2).normal(size=(20, 40))
    model = SVR(kernel=ThinPlate(), epsilon=0.0).fit(wide, Y[:20])
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(wide), Y[:20], atol=1e-10)


def test_the_basis_is_orthonormal_for_data_far_from_the_origin():
    for points in (X + 1e6, X * 1e-6 + 1.0, np.hstack([X, X[:, :1] + X[:, 1:]])):
        part = LinearPart(points)
        Q = part.equations
        assert Q.shape == (60, 3)
        np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-9)
        b, a = part.coefficients(np.array([1.0, -2.0, 0.5]))
        scale = np.abs(points @ a).max()
        np.testing.assert_allclose(points @ a + b, -Q @ [1.0, -2.0, 0.5], atol=1e-14 * scale + 1e-9)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e5])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_points_that_repeat_and_contradict_each_other(C, d):
    lattice = 10.0 * np.random.default_rng(d).integers(0, 3, size=(40, d))
    y = np.where(Y[:40] > 0.0, 1, -1)
    for model, target in (
        (SVC(kernel=ThinPlate(), C=C), y),
        (SVR(kernel=ThinPlate(), C=C), Y[:40]),
    ):
        proof = model.fit(lattice, target).certificate_
        assert proof.status == "optimal"
        assert proof.gap - proof.rounding < 1e-5 * proof.primal
        assert abs(model.dual_coef_.sum()) < 1e-12 * np.abs(model.dual_coef_).sum()
    # A median at each point, where the trade-off does not matter and lines do not either.
    if (C, d) == (1e5, 1):
        for point in (0.0, 10.0, 20.0):
            targets = np.sort(Y[:40][lattice[:, 0] == point])
            middle = targets[(len(targets) - 1) // 2 : len(targets) // 2 + 1]
            value = model.predict([[point]])[0]
            assert middle[0] - 0.1 - 1e-6 <= value <= middle[-1] + 0.1 + 1e-6


def test_pairs_of_opposite_labels_cancel():
    twice = np.repeat(np.random.default_rng(3).normal(size=(4, 4)), 2, axis=0)
    model = SVC(kernel=ThinPlate(), C=1000.0).fit(twice, np.arange(8) % 2)
    # Whatever f is, the two slacks of a pair sum to 2 at least.
    proof = model.certificate_
    assert proof.dual == pytest.approx(1000.0 * 8)
    assert proof.gap - proof.rounding < 1e-9 * proof.primal


# ------------------------------------------------------------------ storing, searching, predicting


def test_files_pickles_and_copies_keep_the_linear_function(tmp_path):
    model = fitted()
    path = tmp_path / "spline"
    model.expansion_.save(path)
    loaded = Expansion.load(path)
    np.testing.assert_array_equal(loaded(NEW), model.predict(NEW))
    np.testing.assert_array_equal(loaded.poly_coef, model.poly_coef_[0])
    np.testing.assert_array_equal(loaded.reduce()(NEW), model.predict(NEW))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(NEW), model.predict(NEW))
    assert copy.certify(X, Y).relative_gap < 1e-9
    refitted = clone(model).fit(X, Y)
    np.testing.assert_array_equal(refitted.predict(NEW), model.predict(NEW))
    flat = SVR(kernel=ThinPlate()).fit(X, X @ SLOPE)  # no terms at all
    flat.expansion_.save(path)
    np.testing.assert_allclose(Expansion.load(path)(NEW), NEW @ SLOPE, rtol=1e-12)


def test_the_attribute_belongs_to_kernels_of_order_two():
    model = fitted()
    assert model.poly_coef_.shape == (1, 2)
    np.testing.assert_allclose(
        model.predict(NEW),
        ThinPlate()(NEW, model.support_vectors_) @ model.dual_coef_[0]
        + NEW @ model.poly_coef_[0]
        + model.intercept_[0],
        atol=1e-12,
    )
    model.set_params(kernel=Multiquadric()).fit(X, Y)
    assert model.poly_coef_.shape == (1, 0)
    with pytest.raises(AttributeError, match="not fitted"):
        SVR().poly_coef_  # noqa: B018 - the access raises


def test_sparse_and_single_precision_rows():
    model = fitted()
    rows = SVR(kernel=ThinPlate(), C=2.0, epsilon=0.05).fit(sp.csr_matrix(X), Y)
    np.testing.assert_allclose(rows.predict(sp.csr_matrix(NEW)), model.predict(NEW), atol=1e-9)
    assert rows.certify(sp.csr_matrix(X), Y).relative_gap < 1e-9
    single = SVR(kernel=ThinPlate(), C=2.0, epsilon=0.05, dtype="float32")
    single.fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(
        single.predict(NEW.astype(np.float32)), model.predict(NEW), atol=1e-4
    )
    assert single.certificate_.precision == "float64"


def test_a_machine_of_the_support_vectors_is_the_same():
    model = fitted()
    np.testing.assert_allclose(model.refit_on_support().predict(NEW), model.predict(NEW), atol=1e-8)


def test_a_warm_start_ends_where_a_cold_one_does():
    model = SVR(kernel=RBF(1.0), warm_start=True).fit(X, Y)
    for C in (1.0, 2.0):
        model.set_params(kernel=ThinPlate(), C=C, epsilon=0.05).fit(X, Y)
    np.testing.assert_allclose(model.predict(NEW), fitted().predict(NEW), atol=1e-10)
    model.set_params(kernel=RBF(1.0), tol=1e-8).fit(X, Y)
    cold = SVR(kernel=RBF(1.0), C=2.0, epsilon=0.05, tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(model.predict(NEW), cold.predict(NEW), atol=1e-6)


def test_a_grid_search_and_sums_of_kernels():
    search = GridSearchCV(SVR(kernel=ThinPlate()), {"C": [1e-4, 1.0]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"C": 1.0}
    both = SVR(kernel=ThinPlate() + RBF(1.0), C=2.0, epsilon=0.05).fit(X, Y)
    assert both.certificate_.relative_gap < 1e-9
    assert both.poly_coef_.shape == (1, 2)


# ------------------------------------------------------------------ classification


@pytest.mark.spec("SM-3.54")
@pytest.mark.parametrize(
    "parameters", [{"C": 3.0}, {"C": 3.0, "penalty_norm": 2}, {"C": 1.0, "C2": 0.5}], ids=str
)
def test_classifiers_take_the_same_road(parameters):
    model = SVC(kernel=ThinPlate(), **parameters).fit(X, LABELS)
    proof = model.certificate_
    assert proof.status == "optimal"
    assert proof.relative_gap < 1e-9
    beta, Z = model.dual_coef_[0], model.support_vectors_
    assert abs(beta.sum()) + np.abs(beta @ Z).max() < 1e-12 * np.abs(beta).sum()
    kernel = Projected(ThinPlate()) + 1e4 * Linear()
    near = SVC(kernel=kernel, tol=1e-6, **parameters).fit(X, LABELS)
    np.testing.assert_allclose(near.decision_function(NEW), model.decision_function(NEW), atol=5e-3)
    assert model.certify(X, LABELS).relative_gap < 1e-9


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes_have_a_linear_function_each(multiclass):
    model = SVC(kernel=ThinPlate(), multiclass=multiclass, probability=True, random_state=0)
    model.set_params(calibration="consistent").fit(X, THREE)
    assert model.poly_coef_.shape == (3, 2)
    assert all(proof.gap < 1e-9 for proof in model.certificates_)
    assert model.certify(X, THREE).kkt_violation < 1e-8
    assert model.score(X, THREE) > 0.85
    probabilities = model.predict_proba(NEW)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(NEW))
    one = model.expansion_[1]
    np.testing.assert_allclose(one(NEW), model.expansion_(NEW)[:, 1])
    if multiclass == "ovo":
        pair = THREE != 1  # the second of the pairs
        alone = SVC(kernel=ThinPlate()).fit(X[pair], -THREE[pair])
        np.testing.assert_allclose(alone.decision_function(NEW), one(NEW), atol=1e-7)


def test_many_classes_are_predicted_with_their_linear_functions():
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-1.0, -0.3, 0.3, 1.0])
    model = SVC(kernel=ThinPlate(), C=10.0, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(model.decision_function(NEW), model.expansion_(NEW))
    assert model.score(X, y) > 0.9


def test_linearly_separable_classes_need_no_kernel():
    y = np.where(X @ [1.0, 2.0] > 0.1, 1, -1)
    apart = np.abs(X @ [1.0, 2.0] - 0.1) > 0.2
    model = SVC(kernel=ThinPlate()).fit(X[apart], y[apart])
    assert len(model.support_) == 0
    assert np.all(y[apart] * model.decision_function(X[apart]) >= 1 - 1e-9)
    assert model.certificate_.relative_gap < 1e-3
