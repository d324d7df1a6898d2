"""What float32 kernel values cost a proof, and what a proof in float64 then calls optimal."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import RBF, Laplacian, Linear, LogDistance, Matern, Polynomial, normalize
from mercer.losses import Hinge
from mercer.machines.support_vector import base, proving
from mercer.machines.support_vector.proving import GAP_LIMIT
from mercer.machines.support_vector.rounding import ERROR, rounding_of_values
from mercer.solvers.prove.primal_dual import loss_values

rng = np.random.default_rng(2)
X = rng.normal(size=(150, 4))
T = np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=150)
LABELS = (T > 0.0).astype(int)

MACHINES = {
    "SVC": (SVC, {"C": 5.0}, (LABELS,)),
    "SVR": (SVR, {"C": 5.0}, (T,)),
    "NuSVC": (NuSVC, {"nu": 0.3}, (LABELS,)),
    "NuSVR": (NuSVR, {"nu": 0.4}, (T,)),
    "OneClassSVM": (OneClassSVM, {"nu": 0.3}, ()),
}
KERNELS = {
    "rbf": RBF(0.3),
    "20 rbf": 20.0 * RBF(0.3),
    "laplacian": Laplacian(0.3),
    "matern": Matern(),
    "linear": Linear(),
    "polynomial": Polynomial(degree=3, gamma=0.5, coef0=1.0),
}
each_machine = pytest.mark.parametrize(
    ("machine", "constants", "y"), MACHINES.values(), ids=MACHINES
)


def noted(monkeypatch):
    """Return a list that gets what fits in float32 are estimated to be wrong by."""
    errors = []

    def prove(fitting, n_jobs):
        proof = proving.prove(fitting, n_jobs)
        errors.extend(rounding_of_values(fitting.gram, fitting.tasks, fitting.betas(), "float32"))
        return proof

    monkeypatch.setattr(base, "prove", prove)
    return errors


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@each_machine
def test_the_violations_in_both_precisions_differ_by_no_more_than_estimated(
    machine, constants, y, kernel, monkeypatch
):
    monkeypatch.setattr(proving, "checking_precision", lambda _: "float32")
    monkeypatch.setattr(proving, "_unsure", lambda *_: False)
    monkeypatch.setattr(proving, "_stuck", lambda *_: False)
    errors = noted(monkeypatch)
    model = machine(kernel=kernel, dtype="float32", **constants).fit(X, *y)
    single, double = model.certificate_, model.certify(X, *y)
    assert (single.precision, double.precision) == ("float32", "float64")
    assert abs(single.kkt_violation - double.kkt_violation) <= errors[0]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
@each_machine
def test_measured_errors_enclose_the_values_in_double_precision(
    machine, constants, y, kernel, monkeypatch
):
    """Errors that are measured on some rows widen the values by enough."""
    monkeypatch.setattr(proving, "checking_precision", lambda _: "float32")
    monkeypatch.setattr(proving, "_unsure", lambda *_: False)
    monkeypatch.setattr(proving, "_stuck", lambda *_: False)
    model = machine(kernel=KERNELS[kernel], dtype="float32", **constants).fit(X, *y)
    single, double = model.certificate_, model.certify(X, *y)
    assert single.precision == "float32"
    assert single.dual <= double.dual + double.rounding
    assert double.primal <= single.primal + double.rounding


def test_errors_of_like_sign_widen_the_values_by_their_sum(monkeypatch):
    """0.7 is rounded the same way in every row: the errors of 600 values do not cancel."""
    monkeypatch.setattr(proving, "checking_precision", lambda _: "float32")
    random = np.random.default_rng(0)
    rows = 0.7 * random.integers(0, 2, size=(600, 8)) + 1e-9 * random.random((600, 8))
    model = OneClassSVM(kernel=Laplacian(0.05), nu=0.95, dtype="float32").fit(rows)
    single, exact = model.certificate_, model.certify(rows, rigorous=True)
    assert single.precision == "float32"
    assert single.dual <= exact.primal
    assert exact.dual <= single.primal


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3), Laplacian(2.0)], ids=str)
def test_a_gap_that_float32_keeps_wide_is_closed_in_float64(kernel, monkeypatch):
    monkeypatch.setattr(proving, "checking_precision", lambda fitting: fitting.gram.dtype)
    model = SVR(kernel=kernel, C=1e4, epsilon=0.1, dtype="float32").fit(X, T)
    assert (model.certificate_.status, model.certificate_.precision) == ("optimal", "float64")


def moved(size):
    """Return targets that have moved by so much, every other one the other way."""
    return T + size * np.where(np.arange(150) % 2, 1.0, -1.0)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_model_is_called_optimal_within_its_tolerance_and_no_farther(precision, monkeypatch):
    """Other targets are a violation of known size; errors of the values are the only excuse."""
    errors = noted(monkeypatch)
    model = SVR(kernel=RBF(0.3), C=5.0, tol=1e-3).fit(X, T)
    model.certificates_ = [replace(model.certificates_[0], precision=precision)]
    excuse = 2.0 * errors[0] * ERROR[precision] / ERROR["float32"]
    assert excuse < 1e-4
    seen = set()
    for size in np.geomspace(1e-4, 5e-3, 60):
        proof = model.certify(X, moved(size))
        within = proof.kkt_violation <= 1.01e-3 + excuse and proof.relative_gap <= 1.01 * GAP_LIMIT
        assert proof.status == ("optimal" if within else "iteration_limit")
        seen.add((within, proof.kkt_violation <= 1e-2))
    assert {(True, True), (False, True)} <= seen  # the second: beyond it, within ten times it


def test_the_same_of_a_tolerance_on_the_gap():
    model = SVR(kernel=RBF(0.3), C=5.0, gap_tol=1e-3).fit(X, T)
    seen = set()
    for size in np.geomspace(1e-4, 5e-3, 60):
        proof = model.certify(X, moved(size))
        within = proof.relative_gap <= 1.01e-3 + 1e-12
        assert proof.status == ("optimal" if within else "iteration_limit")
        seen.add((within, proof.relative_gap <= 1e-2))
    assert {(True, True), (False, True)} <= seen


def test_errors_beyond_the_tolerance_excuse_nothing(monkeypatch):
    errors = noted(monkeypatch)
    model = SVR(kernel=RBF(0.3), C=5.0, tol=1e-6).fit(X, T)
    model.certificates_ = [replace(model.certificates_[0], precision="float32")]
    assert errors[0] > 2e-6
    for size in (1e-7, 1e-6, 2e-6):
        proof = model.certify(X, moved(size))
        within = proof.kkt_violation <= 3.01e-6
        assert proof.status == ("optimal" if within else "iteration_limit")


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_large_kernel_values_are_checked_in_double_precision(scale, monkeypatch):
    """Errors grow with the values: beyond the tolerance they are not left to float32."""
    monkeypatch.setattr(proving, "_CHEAP", np.inf)
    model = SVR(kernel=Polynomial(2, 0.1, 1.0), C=1.0, dtype="float32").fit(scale * X, T)
    large = scale > 1.0
    assert model.certificate_.precision == ("float64" if large else "float32")
    assert model.certify(scale * X, T).kkt_violation <= 1.01e-3
    assert model.certify(scale * X, T).status == "optimal"


@pytest.mark.filterwarnings("ignore:kernel values in float32")
@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3), LogDistance()], ids=str)
def test_float32_that_is_too_coarse_for_the_rows_is_proved_in_double_precision(kernel):
    """Compressed rows at 3e4 have float32 squared distances that are wrong by tens."""
    rows = csr_array(X[:40] + 3e4)
    model = SVC(kernel=kernel, C=5.0, dtype="float32").fit(rows, LABELS[:40])
    exact = model.certify(rows, LABELS[:40], rigorous=True)
    proof = model.certificate_
    assert proof.status == "optimal"
    assert proof.dual <= exact.primal
    assert proof.primal >= exact.dual
    values = kernel(rows, rows[model.support_]) @ model.dual_coef_.toarray()[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(rows), values, atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_of_classes_that_are_not_refined_are_proved_anew(seed):
    """Refining some pairs in float64 left others proved by float32 values, called float64."""
    kernel, y = Polynomial(2, 1.0, 1.0), np.arange(12) % 6
    rows = np.random.default_rng(seed).normal(size=(12, 2))
    model = SVC(kernel=kernel, C=0.7, dtype="float32").fit(rows, y)
    pairs = [(a, b) for a in range(6) for b in range(a + 1, 6)]
    for pair, proof in zip(pairs, model.certificates_, strict=True):
        two = np.isin(y, pair)
        exact = SVC(kernel=kernel, C=0.7, tol=1e-10).fit(rows[two], y[two]).certificate_
        assert proof.dual <= exact.primal
        assert proof.primal >= exact.dual


def test_errors_of_values_add_up_as_estimated(monkeypatch):
    """Kernel values that are wrong by e in either direction give values wrong by the estimate."""
    errors = noted(monkeypatch)
    model = SVR(kernel=Linear(), C=1.0).fit(X, T)
    K, beta = model.kernel_(X, model.support_vectors_), model.dual_coef_[0]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(50, *K.shape))
    wrong = ERROR["float32"] * (signs * K) @ beta
    typical = np.sqrt(np.mean(wrong**2, axis=0))
    assert typical.max() == pytest.approx(errors[0], rel=0.3)
    assert np.abs(wrong).max() < 4.0 * errors[0]


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0, 1e4])
@pytest.mark.parametrize(
    "kernel",
    [Polynomial(2, 1.0, 1.0), 2.0 * Linear(), normalize(Linear()), RBF(0.3)],
    ids=str,
)
def test_predictions_are_those_of_the_model_that_was_proved(kernel, C):
    """A model that single precision cannot tell from others is evaluated in double precision."""
    random = np.random.default_rng(1)
    rows = random.normal(size=(2600, 5)) + [2, 0, 0, 1, 0]
    y = np.where((rows - rows.mean(axis=0)).sum(axis=1) + random.normal(size=2600) > 0, 1, -1)
    machine = SVC(kernel=kernel, C=C).fit(rows, y)
    assert machine.certificate_.status == "optimal"
    exact = kernel(rows, rows[machine.support_]) @ machine.dual_coef_[0] + machine.intercept_
    np.testing.assert_allclose(machine.decision_function(rows), exact, atol=1e-3)


@np.errstate(all="ignore")
def test_a_value_that_overflowed_bounds_nothing():
    large = np.array([1e200, -1e200])
    y, c, one = np.array([1.0, -1.0]), np.ones(2), np.zeros(1, dtype=np.intp)
    (found,) = loss_values(Hinge(), y, c, large, np.abs(large), large, one)
    assert (found.primal, found.dual) == (np.inf, -np.inf)
