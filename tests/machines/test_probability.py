"""Label, score and probability follow one rule."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from mercer import SVC, NuSVC
from mercer.machines.calibration import binary_probabilities, pairwise_probabilities, project
from mercer.machines.multiclass import one_score_per_class, pairs, votes
from tests.machines.data_sets import classes


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.3), SVC(penalty_norm=2)], ids=repr)
def test_two_classes_are_split_at_one_half(machine):
    X, y = classes(150)
    model = machine.set_params(probability=True, random_state=0).fit(X, y)
    T = np.random.default_rng(0).normal(size=(500, 5)) * 2
    p, f = model.predict_proba(T), model.decision_function(T)
    np.testing.assert_array_equal(p[:, 1] > 0.5, f > 0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(T))
    np.testing.assert_array_equal(np.argsort(f, kind="stable"), np.argsort(p[:, 1], kind="stable"))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(T))


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("break_ties", [False, True])
def test_predicted_class_has_the_largest_probability(multiclass, break_ties):
    X, y = classes(200, 4)
    model = SVC(
        probability=True, random_state=0, multiclass=multiclass, break_ties=break_ties, gamma=0.5
    ).fit(X, y)
    T = np.random.default_rng(0).normal(size=(1000, 5)) * 2
    p = model.predict_proba(T)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(T))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-9)
    assert p.min() >= 0.0


def test_probabilities_are_informative_and_calibrated_out_of_sample():
    X, y = classes(600, flip=0.2)
    model = SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    p = model.predict_proba(X[300:])
    base = np.full_like(p, 0.5)
    assert log_loss(y[300:], p) < log_loss(y[300:], base) - 0.1
    overconfident = SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    overconfident._slopes = overconfident._slopes * 10
    assert log_loss(y[300:], p) < log_loss(y[300:], overconfident.predict_proba(X[300:]))


def test_reproducible_with_random_state():
    X, y = classes(100, 3)
    first = SVC(probability=True, random_state=3).fit(X, y).predict_proba(X)
    again = SVC(probability=True, random_state=3).fit(X, y).predict_proba(X)
    other = SVC(probability=True, random_state=4).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_probability_does_not_change_the_machine():
    X, y = classes(100, 3)
    plain = SVC().fit(X, y)
    model = SVC(probability=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))


def test_availability():
    X, y = classes()
    model = SVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    model.probability = True
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(X)
    model.fit(X, y)
    assert len(model.probA_) == len(model.probB_) == 1
    f = model.decision_function(X)
    by_libsvm = 1 / (1 + np.exp(model.probA_[0] * f + model.probB_[0]))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], by_libsvm)


def test_tiny_classes_and_infeasible_folds():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.array([0] * 10 + [1] * 2)
    for model in (SVC(probability=True), NuSVC(nu=2 * 2 / 12, probability=True)):
        p = model.set_params(random_state=0).fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    lone = SVC(probability=True, random_state=0).fit(X[:4], [0, 0, 0, 1])
    assert np.isfinite(lone.predict_proba(X)).all()


def test_weights_of_zero_are_removal_for_the_calibration_too():
    X, y = classes(120)
    weight = np.ones(120)
    weight[100:] = 0.0
    first = SVC(probability=True, random_state=0).fit(X, y, sample_weight=weight)
    second = SVC(probability=True, random_state=0).fit(X[:100], y[:100])
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), atol=1e-6)


def test_works_on_matrices_and_sparse_rows():
    import scipy.sparse as sp

    X, y = classes(100, 3)
    dense = SVC(probability=True, random_state=0, gamma=0.2).fit(X, y).predict_proba(X)
    sparse = SVC(probability=True, random_state=0, gamma=0.2).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_matrix(X)), dense, atol=1e-6)
    K = SVC(gamma=0.2).fit(X, y).kernel_(X)
    matrix = SVC(probability=True, random_state=0, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(matrix.predict_proba(K), dense, atol=1e-6)


def test_coupling_recovers_consistent_pairwise_probabilities():
    p = np.array([[0.5, 0.3, 0.15, 0.05]])
    decision = np.array(
        [[np.log(p[0, i] / p[0, j]) for i, j in pairs(4)]]
    )  # sigmoid(log odds) = p_i / (p_i + p_j)
    coupled = pairwise_probabilities(decision, np.ones(6), np.array([0]), 4)
    np.testing.assert_allclose(coupled, p, atol=1e-6)


def test_projection_pools_the_classes_ahead():
    p = np.array([[0.1, 0.5, 0.4, 0.0], [0.6, 0.2, 0.1, 0.1]])
    result = project(p, np.array([0, 0]))
    np.testing.assert_allclose(result[0], [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-9)
    np.testing.assert_array_equal(result[1], p[1])
    assert result.argmax(axis=1).tolist() == [0, 0]


def test_smallest_scores_stay_on_their_side():
    f = np.array([-1e-300, 0.0, 1e-300, 5e-324])
    p = binary_probabilities(f, 1.0)
    assert (p[:, 1] > 0.5).tolist() == [False, False, True, True]
    np.testing.assert_array_equal(p.argmax(axis=1), f > 0)


def test_scores_of_classes_are_votes_and_a_confidence_below_half_a_vote():
    decision = np.array([[1.0, 2.0, -0.5], [0.3, -0.2, 0.1]])  # pairs 01, 02, 12
    won = votes(decision, 3)
    np.testing.assert_array_equal(won, [[2, 0, 1], [1, 1, 1]])
    scores = one_score_per_class(decision, 3)
    confidence = np.array([[3.0, -1.5, -1.5], [0.1, -0.2, 0.1]])
    np.testing.assert_allclose(scores, won + confidence / (3 * (np.abs(confidence) + 1)))
    assert np.abs(scores - won).max() < 1 / 3
