"""One against one with many classes: all pairs as arrays."""

import pickle
import sys
import warnings
from itertools import count
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import SVC, NuSVC
from mercer.kernels import RBF
from mercer.machines.support_vector import prediction
from mercer.machines.support_vector.multiclass import (
    distinct_labels,
    one_score_per_class,
    pairs,
    votes,
)
from mercer.solvers import Certificate, ladder
from mercer.solvers.class_pairs import pair_position
from mercer.solvers.prove import Certificates


def shares(model):
    """Return sum_i |alpha_i| / sum_i s_i of every pair."""
    return np.abs(model._problem_coef()).sum(axis=1) / model._task_weights


def blobs(k=24, n=240, columns=2, seed=0, spread=0.8):
    random = np.random.default_rng(seed)
    centre = random.normal(size=(k, columns)) * 4
    y = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    return centre[y] + random.normal(size=(n, columns)) * spread, y * 3 - 7


def one_by_one(machine, X, y, **options):
    """The same fit by the general solver."""
    return machine.set_params(solver="decomposition").fit(X, y, **options)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 30.0, "class_weight": "balanced"},
        {"penalty_norm": 2},
        {"C2": 0.7},
        {"fit_intercept": False},
        {"kernel": "linear"},
        {"gap_tol": 1e-7},
    ],
    ids=str,
)
def test_arrays_of_pairs_give_the_models_of_single_problems(parameters):
    X, y = blobs()
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y)).round(1)
    machine = SVC(**{"tol": 1e-7, "gamma": 0.3, "dtype": "float64"} | parameters)
    model = SVC(**machine.get_params()).fit(X, y, sample_weight=weight)
    assert isinstance(model.certificates_, Certificates)
    other = one_by_one(machine, X, y, sample_weight=weight)
    assert isinstance(other.certificates_, list)
    scale = np.abs(other.decision_function(X)).max()
    model.decision_function_shape = other.decision_function_shape = "ovo"
    atol = 1e-3 if "gap_tol" in parameters else 1e-5
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(X), atol=atol * scale
    )
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=atol * scale)
    np.testing.assert_allclose(model.intercept_range_, other.intercept_range_, atol=atol * scale)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_allclose(model.slack_, other.slack_, atol=atol * scale)
    np.testing.assert_allclose(shares(model), shares(other), rtol=1e-3, atol=1e-6)
    for here, there in zip(model.certificates_, other.certificates_, strict=True):
        assert here.status == there.status == "optimal"
        assert here.dual <= there.primal + 1e-9 * there.primal
        assert there.dual <= here.primal + 1e-9 * here.primal
        assert here.gap >= 0.0


def test_proofs_of_all_pairs_are_those_of_certify():
    X, y = blobs()
    model = SVC(C=3.0, gamma=0.5).fit(X, y)
    again = model.certify(X, y)
    whole = model.certificate_
    assert whole.status == again.status == "optimal"
    assert len(model.certificates_) == 24 * 23 // 2
    assert whole.primal == pytest.approx(again.primal, rel=1e-9)
    assert whole.dual == pytest.approx(again.dual, rel=1e-9)
    assert whole.kkt_violation == pytest.approx(again.kkt_violation, rel=1e-6)
    listed = Certificate.combine(list(model.certificates_))
    assert listed.to_dict() == pytest.approx(
        whole.to_dict() | {"n_kernel_values": listed.n_kernel_values}
    )
    assert [c.status for c in model.certificates_[:2]] == ["optimal"] * 2


def test_attributes_are_those_of_scikit_learn():
    X, y = blobs()
    model = SVC(gamma=0.5, tol=1e-8).fit(X, y)
    peer = svm.SVC(gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(model.support_, peer.support_)
    np.testing.assert_array_equal(model.n_support_, peer.n_support_)
    np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.certificate_ == model.certificate_


def test_limits_hold_for_all_pairs_together():
    X, y = blobs(k=60, n=1200)
    begin = perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SVC(time_limit=1e-6).fit(X, y)
    assert perf_counter() - begin < 1.0
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.dual <= model.certificate_.primal
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = SVC(max_iter=1).fit(X, y)
    assert model.n_iter_.max() == 1


def test_callbacks_can_stop_the_pairs():
    X, y = blobs(k=60, n=600)
    seen = []
    model = SVC(n_jobs=1).set_callbacks(lambda report: seen.append(report) or True)
    model.fit(X, y)
    assert len(seen) == 1
    assert model.certificate_.status == "interrupted"


def test_a_problem_on_which_pair_steps_stall_is_solved_by_other_means():
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(20), 12)
    X = random.normal(size=(240, 2)) * [1.0, 1e-3] + y[:, None] * [0.02, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(kernel="linear", C=1e6, tol=1e-3).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, y).kkt_violation <= 1.1e-3


def test_sparse_rows_and_one_row_per_class():
    import scipy.sparse as sp

    X, y = blobs(k=30, n=30)
    dense = SVC(kernel=RBF(0.2)).fit(X, y)
    sparse = SVC(kernel=RBF(0.2)).fit(sp.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.predict(X), y)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=1e-9)


def test_a_number_of_classes_that_no_memory_holds_is_refused_at_once():
    X = np.zeros((300_000, 1))
    y = np.arange(300_000)
    for machine in (SVC(), NuSVC(nu=0.1)):
        begin = perf_counter()
        with pytest.raises(ValueError, match=r"300,000 classes.*SVR"):
            machine.fit(X, y)
        assert perf_counter() - begin < 2.0


@pytest.mark.parametrize("k", [2, 3, 7, 40])
def test_positions_of_pairs(k):
    assert [pair_position(p, k) for p in range(k * (k - 1) // 2)] == list(pairs(k))


def test_votes_and_scores_pair_by_pair():
    k, random = 9, np.random.default_rng(0)
    decision = random.normal(size=(20, k * (k - 1) // 2)).round(1)
    won, confidence = np.zeros((20, k)), np.zeros((20, k))
    for p, (i, j) in enumerate(pairs(k)):
        won[np.arange(20), np.where(decision[:, p] > 0.0, i, j)] += 1
        confidence[:, i] += decision[:, p]
        confidence[:, j] -= decision[:, p]
    np.testing.assert_array_equal(votes(decision, k), won)
    tied = np.where(decision == 0.0, 1e-9, decision)  # a value of 0 is a vote for the first here
    expected = votes(tied, k) + confidence / (3 * (np.abs(confidence) + 1))
    np.testing.assert_allclose(one_score_per_class(decision, k), expected)


def test_no_pair_is_optimal_beside_a_wide_gap():
    # Coefficients far smaller than 1e-13 of their bounds count, at prices of up to 1e9.
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 2)), np.repeat(np.arange(20), 4)
    weight = 10.0 ** random.uniform(-6, 6, size=80)
    model = SVC(C=1000).fit(X, y, sample_weight=weight)
    for proof in model.certificates_:
        assert proof.status == "optimal"
        assert proof.relative_gap <= 1.01 * 5e-4
        assert 0.0 < proof.rounding <= proof.gap * (1 + 1e-9)
    whole = model.certificate_
    assert whole.rounding == pytest.approx(sum(c.rounding for c in model.certificates_))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_gap_below_rounding_is_not_proved_for_pairs_either():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 2)), np.repeat(np.arange(20), 4)
    model = SVC(C=10, gap_tol=1e-15).fit(X, y)
    assert model.certificate_.status == "precision_limit"
    assert all(c.relative_gap <= 1.01e-15 for c in model.certificates_ if c.status == "optimal")


@pytest.mark.parametrize("sparse", [False, True])
def test_linear_pairs_do_not_see_a_translation(sparse):
    # Small integers: the rows as given and the rows at the origin differ by an exact translation.
    random = np.random.default_rng(3)
    X, y = random.integers(1, 60, size=(80, 2)) * 1.0, np.repeat(np.arange(20), 4)
    form = csr_array if sparse else np.asarray
    far = SVC(kernel="linear", C=0.1).fit(form(X + 2.0**24), y)
    near = SVC(kernel="linear", C=0.1).fit(form(X), y)
    assert far.certificate_.status == "optimal"
    assert far.certificate_.rounding <= 1e-9 * far.certificate_.primal
    assert far.certificate_.dual <= near.certificate_.primal
    assert near.certificate_.dual <= far.certificate_.primal
    assert np.mean(far.predict(form(X + 2.0**24)) == near.predict(form(X))) > 0.95
    again = far.certify(form(X + 2.0**24), y)
    assert again.primal == pytest.approx(far.certificate_.primal, rel=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pairs_are_polished_as_single_problems_are(kernel):
    # More free coefficients than the linear kernel has rank: some belong to their bounds.
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 4)).round(3), np.arange(300) % 25
    model = SVC(kernel=kernel, decision_function_shape="ovo").fit(X, y)
    assert isinstance(model.certificates_, Certificates)
    assert model.certificate_.kkt_violation < 1e-10
    other = one_by_one(SVC(kernel=kernel, decision_function_shape="ovo", dtype="float64"), X, y)
    assert other.certificate_.kkt_violation < 1e-10
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-9)


def test_time_that_is_over_ends_the_problems_one_by_one(monkeypatch):
    clock = count(perf_counter(), 100.0)
    monkeypatch.setattr("mercer.run.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(ladder, "solve", None)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(240, 4)) * 2.0**20, np.arange(240) % 20
    with pytest.warns(ConvergenceWarning):
        model = SVC(kernel="linear", time_limit=50.0).fit(X, y)
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.dual <= model.certificate_.primal


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_votes_of_very_many_pairs_are_those_of_their_values(monkeypatch, dtype):
    X, y = blobs()
    y = np.where(y == y.max(), y.min(), y)  # classes of different sizes
    model = SVC(gamma=0.3, dtype=dtype, decision_function_shape="ovo", n_jobs=2).fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr(prediction, "_MANY", 2)
    model = pickle.loads(pickle.dumps(model))
    values = model.decision_function(X)
    np.testing.assert_allclose(values, expected, atol=1e-11)
    labels = model.classes_[votes(values, len(model.classes_)).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), labels)
    for n in (1, 3, 5, 17):  # one row alone, four or sixteen side by side
        np.testing.assert_array_equal(model.decision_function(X[:n]), values[:n])
        np.testing.assert_array_equal(model.predict(X[:n]), labels[:n])


def test_votes_of_values_that_are_not_finite_are_refused(monkeypatch):
    monkeypatch.setattr(prediction, "_MANY", 2)
    X, y = blobs()
    model = SVC(kernel="poly", gamma=1.0).fit(X, y)
    with pytest.raises(OverflowError, match="too large"):
        model.predict(X[:3] * 1e150)


# ------------------------------------------------------------------ few classes, few rows


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 30.0, "class_weight": "balanced"},
        {"penalty_norm": 2},
        {"fit_intercept": False},
        {"kernel": "linear"},
    ],
    ids=str,
)
def test_small_data_give_the_model_of_the_general_solver(parameters, form, k):
    X, y = blobs(k, 90, 4, spread=3.0)
    X = form(X)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y)).round(1)
    model = SVC(**parameters).fit(X, y, sample_weight=weight)
    other = one_by_one(SVC(**parameters), X, y, sample_weight=weight)
    assert isinstance(model.certificates_, Certificates)
    assert isinstance(other.certificates_, list)
    mine, theirs = model._dense_coef(), other._dense_coef()
    if "kernel" not in parameters:  # of low rank: many coefficients make the same function
        np.testing.assert_array_equal(model.support_, other.support_)
        np.testing.assert_array_equal(model.n_support_, other.n_support_)
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(X), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(shares(model), shares(other), rtol=1e-6, atol=1e-7)
    for name in ("intercept_", "intercept_range_", "slack_"):
        mine, theirs = getattr(model, name), getattr(other, name)
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(model.point_status_, other.point_status_)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)
    again = model.certify(X, y, sample_weight=weight)
    assert again.status == "optimal"
    assert again.dual <= model.certificate_.primal
    assert model.certificate_.dual <= again.primal


@pytest.mark.parametrize(
    "parameters",
    [{"dtype": "float32"}, {"gap_tol": 1e-3}, {"verbose": 2}, {"solver": "decomposition"}],
    ids=str,
)
def test_what_one_native_call_cannot_do_is_left_to_the_general_solver(parameters, capsys):
    X, y = blobs(2, 60)
    assert isinstance(SVC(**parameters).fit(X, y).certificates_, list)


def calls_of(work):
    """Return the names of the Python functions of mercer that run."""
    room, calls = str(Path(mercer.__file__).parent), []

    def count(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(room):
            calls.append(frame.f_code.co_name)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_a_small_fit_takes_few_calls(monkeypatch):
    X, y = blobs(2, 200, 4)
    SVC().fit(X, y)
    known, asked = RBF.definiteness.fget, []
    monkeypatch.setattr(RBF, "definiteness", property(lambda k: asked.append("") or known(k)))
    calls = calls_of(lambda: SVC().fit(X, y))
    assert len(calls) <= 200
    assert calls.count("diag") == len(asked) == 1
    asked.clear()
    SVC(solver="decomposition").fit(X, y)
    assert len(asked) == 1


@pytest.mark.parametrize("n_classes", [2, 6])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_prediction_of_one_row_takes_few_calls(n_classes, form):
    X, y = blobs(n_classes, 60)
    model, row = SVC().fit(form(X), y), form(X[:1])
    model.predict(row)  # packs the support vectors
    assert len(calls_of(lambda: model.predict(row))) <= 35


def test_dual_values_of_combined_norms_count_what_cancels():
    """The conjugate is a small difference of numbers of the size of the price."""
    X = np.array([9998.53702357254, 10008.188772430354, 10010.580271319266, 10016.148979972235])
    X, y = np.append(X, 9992.025873070883)[:, None], np.array([0, 1, 2, 0, 1])
    weight = np.array([401.74854200167755, 22.297865525571485, 0.0007690779757246037])
    weight = np.append(weight, [2.0854345491061537, 0.006271613488107518])
    model = SVC(kernel="linear", C=109.21332907973358, C2=519.4981002421263)
    model.set_params(decision_function_shape="ovo").fit(X, y, sample_weight=weight)
    names = [(0, 1), (0, 2), (1, 2)]
    for p, (proof, f) in enumerate(
        zip(model.certificates_, model.decision_function(X).T, strict=True)
    ):
        label = (y == names[p][0]) * 1.0 - (y == names[p][1])
        slack = np.abs(label) * np.maximum(1.0 - label * f, 0.0)
        value = 0.5 * model.coef_[p, 0] ** 2 + weight @ (model.C * slack + model.C2 * slack**2)
        assert proof.dual <= value <= proof.primal


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, -2, 3, 0]),
        np.arange(-128, 128).astype(np.int8).repeat(2)[::-1],
        np.array([2**62, -(2**62)]),
        np.array([1, 3], dtype=np.uint8),
        np.array([1.5, -1.0, 1.5]),
        np.array([True, False]),
        np.array(["b", "a", "b"]),
    ],
)
def test_distinct_labels_are_those_of_numpy(y):
    for found, expected in zip(distinct_labels(y), np.unique(y, return_inverse=True), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
