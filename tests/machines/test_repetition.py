"""Rows that repeat are trained together and share the coefficients."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import RBF
from mercer.machines.support_vector import repetition
from mercer.machines.support_vector.repetition import find_repetition, shared_out

MACHINES = [
    SVC(C=2.0),
    SVC(C=0.5, class_weight="balanced"),
    SVC(penalty_norm=2),
    SVC(C2=0.5),
    SVC(multiclass="ovr"),
    SVC(probability=True, random_state=0),
    NuSVC(nu=0.2),
    SVR(C=3.0),
    SVR(loss="squared_epsilon_insensitive"),
    NuSVR(nu=0.4),
    OneClassSVM(nu=0.3),
]


def repeated(n=900, distinct=60, n_classes=3, seed=0):
    random = np.random.default_rng(seed)
    which = np.concatenate([np.arange(distinct), random.integers(0, distinct, n - distinct)])
    X = random.normal(size=(distinct, 3))
    labels = np.arange(distinct) % n_classes
    return X[which], labels[which], which


CASES = [(machine, weighted, False) for machine in MACHINES for weighted in (False, True)]
CASES += [(SVC(C=2.0), False, True), (SVR(), True, True)]


@pytest.mark.parametrize(("machine", "weighted", "sparse"), CASES, ids=str)
def test_distinct_rows_give_the_model_of_all_rows(monkeypatch, machine, weighted, sparse):
    X, y, _ = repeated()
    target = np.sin(X[:, 0]) if isinstance(machine, (SVR, NuSVR)) else y
    weight = np.random.default_rng(1).integers(0, 4, len(y)) * 0.5 if weighted else None
    X = sp.csr_matrix(X) if sparse else X
    machine.set_params(tol=1e-8, kernel=RBF(0.5), dtype="float64")
    model = clone(machine).fit(X, target, sample_weight=weight)
    assert model._distinct is not None
    assert model.expansion_.n_terms <= 60
    monkeypatch.setattr(repetition, "FEWEST_ROWS", 10**9)
    other = clone(machine).fit(X, target, sample_weight=weight)
    assert other._distinct is None
    here, there = model.certificate_, other.certificate_
    assert here.status == there.status == "optimal"
    assert here.primal == pytest.approx(there.primal, rel=1e-5)
    scale = np.abs(other.decision_function(X) if hasattr(other, "decision_function") else 1).max()
    function = "decision_function" if hasattr(model, "decision_function") else "predict"
    np.testing.assert_allclose(
        getattr(model, function)(X), getattr(other, function)(X), atol=2e-4 * scale
    )
    # The posed problem: the proof of the spread coefficients on all rows, none of them merged.
    proof = model.certify(X, target, sample_weight=weight)
    assert proof.primal == pytest.approx(here.primal, rel=1e-7)
    assert proof.dual == pytest.approx(here.dual, rel=1e-6)
    np.testing.assert_allclose(model.slack_, other.slack_, atol=1e-3 * scale)
    rows = np.asarray(X.todense() if sparse else X)[model.support_]
    vectors = model.support_vectors_
    np.testing.assert_array_equal(vectors.toarray() if sparse else vectors, rows)
    assert model.n_support_.sum() == len(model.support_) == model.dual_coef_.shape[1]
    assert model.shape_fit_ == X.shape or weighted


def test_coefficients_are_in_proportion_to_the_weights_and_within_their_bounds():
    X, y, which = repeated(n_classes=2)
    y = np.where(np.random.default_rng(2).random(60) < 0.3, 1 - y[:60], y[:60])[which]
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(y))
    model = SVC(C=0.7, gamma=0.5).fit(X, y, sample_weight=weight)
    alpha = np.abs(model.dual_coef_[0])
    s = weight[model.support_]
    assert (alpha <= 0.7 * s).all()
    assert (alpha == 0.7 * s).any()
    for g in np.unique(which[model.support_]):
        here = which[model.support_] == g
        assert here.sum() == (which == g).sum()
        np.testing.assert_allclose(alpha[here] / s[here], (alpha[here] / s[here])[0])
    assert set(model.bounded_support_) == set(model.support_[alpha == 0.7 * s])


def test_rows_with_other_targets_or_tubes_are_not_taken_together():
    X, y, _ = repeated()
    assert len(find_repetition(X, y).first) == 60
    noise = np.random.default_rng(0).normal(size=len(y))
    assert find_repetition(X, noise) is None
    assert find_repetition(X, y, np.stack([noise, noise], axis=1)) is None
    assert find_repetition(X[:400], y[:400]) is None
    names = np.array(["a", "b", "c"])[y]
    assert len(find_repetition(sp.csr_matrix(X), names).first) == 60


def test_zero_and_minus_zero_are_the_same_number():
    X = np.zeros((600, 2))
    X[::2] = -0.0
    assert len(find_repetition(X).first) == 1


def test_a_group_at_its_bound_has_rows_at_theirs():
    weight = np.full(3, 0.1)
    total = np.full(3, weight.sum())
    coef = np.full((1, 3), 0.7 * weight.sum())
    np.testing.assert_array_equal(shared_out(coef, total, weight, 0.7), [0.7 * weight])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_calibrated_on_single_rows(monkeypatch, n_classes):
    """Rows to come repeat the training rows too: a group that is left out whole would mislead."""
    X, y, _ = repeated(n=1200, distinct=40, n_classes=n_classes)
    noise = np.random.default_rng(3).random(len(y)) < 0.15
    y = np.where(noise, (y + 1) % n_classes, y)
    machine = SVC(gamma=5.0, probability=True, random_state=0)
    merged = clone(machine).fit(X, y).predict_proba(X)
    monkeypatch.setattr(repetition, "FEWEST_ROWS", 10**9)
    single = clone(machine).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(merged, single, atol=0.03)
