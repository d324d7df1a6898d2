"""Label, score and probability follow one rule."""

import warnings

import numpy as np
import pytest
from sklearn import svm
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from mercer import SVC, NuSVC
from mercer.machines.support_vector import base, nu_svc
from mercer.machines.support_vector.calibration import (
    Scores,
    Sigmoids,
    TwoSlopes,
    couple,
    fit_calibration,
    project,
)
from mercer.machines.support_vector.multiclass import one_score_per_class, pairs, votes
from mercer.machines.support_vector.proving import prove
from mercer.solvers.problem import margin_problem
from tests.machines.data_sets import classes


def consistent(machine, **parameters):
    return machine.set_params(
        probability=True, calibration="consistent", random_state=0, **parameters
    )


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.3), SVC(penalty_norm=2)], ids=repr)
def test_two_classes_are_split_at_one_half(machine):
    X, y = classes(150)
    model = consistent(machine).fit(X, y)
    T = np.random.default_rng(0).normal(size=(500, 5)) * 2
    p, f = model.predict_proba(T), model.decision_function(T)
    np.testing.assert_array_equal(p[:, 1] > 0.5, f > 0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(T))
    np.testing.assert_array_equal(np.argsort(f, kind="stable"), np.argsort(p[:, 1], kind="stable"))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(T))


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("class_weight", [None, "uneven"])
def test_predicted_class_has_the_largest_price(multiclass, break_ties, class_weight):
    X, y = classes(200, 4)
    if class_weight is not None:
        class_weight = dict(zip(np.unique(y).tolist(), [1.0, 3.0, 0.4, 8.0], strict=True))
    machine = SVC(multiclass=multiclass, break_ties=break_ties, gamma=0.5)
    model = consistent(machine, class_weight=class_weight).fit(X, y)
    T = np.random.default_rng(0).normal(size=(1000, 5)) * 2
    p = model.predict_proba(T)
    priced = (p * model.class_weight_).argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[priced], model.predict(T))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-9)
    assert p.min() >= 0.0


def test_probabilities_are_informative_and_calibrated_out_of_sample():
    X, y = classes(600, flip=0.2)
    model = SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    p = model.predict_proba(X[300:])
    base = np.full_like(p, 0.5)
    assert log_loss(y[300:], p) < log_loss(y[300:], base) - 0.1
    overconfident = SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    overconfident._calibration.slope *= 10
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


@pytest.mark.parametrize("calibration", ["free", "consistent", "isotonic"])
def test_tiny_classes_and_infeasible_folds(calibration):
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.array([0] * 10 + [1] * 2)
    for machine in (SVC(), NuSVC(nu=2 * 2 / 12)):
        machine.set_params(probability=True, random_state=0, calibration=calibration)
        p = machine.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        if calibration == "consistent":
            np.testing.assert_array_equal(machine.classes_[p.argmax(axis=1)], machine.predict(X))
    lone = SVC(probability=True, random_state=0, calibration=calibration)
    assert np.isfinite(lone.fit(X[:4], [0, 0, 0, 1]).predict_proba(X)).all()


def test_folds_are_solved_but_not_proved(monkeypatch):
    proofs = []
    counted = lambda *given: proofs.append("") or prove(*given)  # noqa: E731
    monkeypatch.setattr(base, "prove", counted)
    SVC(probability=True, random_state=0).fit(*classes(450))
    assert len(proofs) == 1


def test_a_fold_lowers_nu_for_the_pairs_that_cannot_have_it_alone(monkeypatch):
    X = np.random.default_rng(0).normal(size=(126, 2))
    y = np.repeat([0, 1, 2], [50, 50, 26])
    largest = 2 * 26 / 76  # of the pairs with class 2; a fold without 6 of its rows has less
    posed = []

    def noted(*given):
        posed.append(margin_problem(*given))
        return posed[-1]

    monkeypatch.setattr(nu_svc, "margin_problem", noted)
    NuSVC(nu=largest, probability=True, random_state=0).fit(X, y)
    of_fold = posed[3:6]  # the first fold leaves out 10, 10 and 6 rows
    nu = [np.abs(problem.totals).sum() / problem.c.sum() for problem in of_fold]
    np.testing.assert_allclose(nu, [largest, 2 * 20 / 60, 2 * 20 / 60])


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
    pairwise = np.array([[p[0, i] / (p[0, i] + p[0, j]) for i, j in pairs(4)]])
    np.testing.assert_allclose(couple(pairwise, 4), p, atol=1e-6)


def test_projection_pools_the_classes_ahead():
    p = np.array([[0.1, 0.5, 0.4, 0.0], [0.6, 0.2, 0.1, 0.1]])
    result = project(p, np.array([0, 0]), np.ones(4))
    np.testing.assert_allclose(result[0], [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-9)
    np.testing.assert_array_equal(result[1], p[1])
    assert result.argmax(axis=1).tolist() == [0, 0]
    priced = project(p, np.array([3, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(priced.sum(axis=1), 1.0)
    assert (priced * [1.0, 2.0, 3.0, 4.0]).argmax(axis=1).tolist() == [3, 1]


def test_smallest_scores_stay_on_their_side():
    f = np.array([[-1e-300], [0.0], [1e-300], [5e-324]])
    for odds in (0.0, -3.0, 2.0):
        p = TwoSlopes(np.ones(1), np.ones(1), np.array([odds]))(f)[:, 0]
        level = p[1]
        assert (p > level).tolist() == [False, False, True, True]
        w_neg, w_pos = np.exp(odds), 1.0
        assert ((w_pos * p > w_neg * (1 - p)) == (p > level))[[0, 2, 3]].all()


def scores_of(f, positive, weight=None):
    f, positive = np.asarray(f, float), np.asarray(positive, bool)
    weight = np.ones(len(f)) if weight is None else np.asarray(weight, float)
    return Scores(f, positive, weight, np.array([0]))


def fitted(kind, scores, w_pos=1.0, w_neg=1.0):
    return fit_calibration(kind, scores, np.array([w_pos]), np.array([w_neg]))


def test_targets_are_those_of_platt():
    """With separated scores the sigmoid goes through the smoothed targets, not to 0 and 1."""
    scores = scores_of([-1.0] * 8 + [1.0] * 3, [False] * 8 + [True] * 3)
    np.testing.assert_allclose(scores.targets()[[0, -1]], [1 / 10, 4 / 5])
    p = fitted("free", scores)(np.array([[-1.0], [1.0]]))[:, 0]
    np.testing.assert_allclose(p, [1 / 10, 4 / 5], atol=1e-8)
    p = fitted("isotonic", scores)(np.array([[-9.0], [-1.0], [1.0], [9.0]]))[:, 0]
    np.testing.assert_allclose(p, [0.1, 0.1, 0.8, 0.8])


def test_the_free_sigmoid_minimises_the_cross_entropy():
    from scipy.optimize import minimize

    random = np.random.default_rng(0)
    positive = random.random(300) < 0.1
    f = random.normal(size=300) * 3 + np.where(positive, 1.0, -4.0)
    u = random.uniform(0.2, 3.0, 300)
    scores = scores_of(f, positive, u)
    t = scores.targets()

    def loss(ab):
        z = ab[0] * f + ab[1]
        return (u * (np.logaddexp(0, z) - t * z)).sum()

    found = fitted("free", scores)
    best = minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    assert loss([found.slope[0], found.offset[0]]) <= best.fun * (1 + 1e-10)


def test_problems_are_calibrated_side_by_side():
    random = np.random.default_rng(1)
    parts = [
        scores_of(random.normal(size=n) + 2 * (y := random.random(n) < share), y)
        for n, share in ((40, 0.5), (7, 0.3), (200, 0.05))
    ]
    starts = np.cumsum([0, *(len(part.value) for part in parts[:-1])])
    together = Scores(
        *(
            np.concatenate([getattr(p, name) for p in parts])
            for name in ("value", "positive", "weight")
        ),
        starts,
    )
    values = np.linspace(-4, 4, 9)[:, None] * np.ones(3)
    for kind in ("free", "consistent", "isotonic"):
        whole = fit_calibration(kind, together, np.full(3, 2.0), np.full(3, 0.5))(values)
        for c, part in enumerate(parts):
            alone = fitted(kind, part, 2.0, 0.5)(values[:, :1])[:, 0]
            np.testing.assert_allclose(whole[:, c], alone, atol=1e-9)
        assert (np.diff(whole, axis=0) >= 0).all()


def test_scores_that_rank_the_wrong_way_round_leave_the_frequency():
    f = np.linspace(-1, 1, 50)
    p = fitted("free", scores_of(f, f < -0.2))(f[:, None])
    np.testing.assert_allclose(p, np.full((50, 1), 21 / 52))


def imbalanced(n=1200, share=0.05, seed=0):
    random = np.random.default_rng(seed)
    y = (random.random(n) < share).astype(int)
    return random.normal(size=(n, 2)) + 1.6 * y[:, None], y


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("calibration", ["free", "consistent", "isotonic"])
def test_class_weights_are_prices_and_not_frequencies(class_weight, calibration):
    X, y = imbalanced()
    T, truth = imbalanced(seed=1)
    model = SVC(
        probability=True, random_state=0, class_weight=class_weight, calibration=calibration
    ).fit(X, y)
    p = model.predict_proba(T)
    assert abs(p[:, 1].mean() - truth.mean()) < 0.02
    if calibration == "consistent":
        priced = (p * model.class_weight_).argmax(axis=1)
        np.testing.assert_array_equal(priced, model.predict(T))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_log_loss_is_that_of_scikit_learn(class_weight):
    X, y = imbalanced(share=0.1)
    T, truth = imbalanced(share=0.1, seed=1)
    parameters = {"probability": True, "random_state": 0, "class_weight": class_weight}
    here = log_loss(truth, SVC(**parameters).fit(X, y).predict_proba(T))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        peer = svm.SVC(**parameters).fit(X, y)
    assert here < 1.03 * log_loss(truth, peer.predict_proba(T))


def test_sample_weights_are_repetitions_of_a_score():
    f, positive = np.linspace(-2, 2, 20), np.arange(20) % 3 > 0
    weight = 1.0 + np.arange(20) % 2
    twice = np.repeat(np.arange(20), weight.astype(int))
    for kind in ("free", "consistent", "isotonic"):
        one = fitted(kind, scores_of(f, positive, weight))(f[:, None])
        other = fitted(kind, scores_of(f[twice], positive[twice]))(f[:, None])
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_probabilities_of_many_classes():
    random = np.random.default_rng(0)
    y = np.concatenate([np.repeat(np.arange(22), 12), [22]])
    centre = random.normal(size=(23, 2)) * 6
    X = centre[y] + random.normal(size=(len(y), 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        peer = svm.SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
    for calibration in ("free", "consistent"):
        model = SVC(probability=True, random_state=0, calibration=calibration).fit(X, y)
        p = model.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert log_loss(y, p) < 1.03 * log_loss(y, peer)
        if calibration == "consistent":
            np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


def test_names_of_libsvm_belong_to_its_sigmoid():
    X, y = classes()
    model = consistent(SVC()).fit(X, y)
    assert not hasattr(model, "probA_")
    assert isinstance(SVC(probability=True).fit(X, y)._calibration, Sigmoids)
    with pytest.raises(ValueError, match="calibration"):
        SVC(calibration="platt").fit(X, y)


def test_scores_of_classes_are_votes_and_a_confidence_below_half_a_vote():
    decision = np.array([[1.0, 2.0, -0.5], [0.3, -0.2, 0.1]])  # pairs 01, 02, 12
    won = votes(decision, 3)
    np.testing.assert_array_equal(won, [[2, 0, 1], [1, 1, 1]])
    scores = one_score_per_class(decision, 3)
    confidence = np.array([[3.0, -1.5, -1.5], [0.1, -0.2, 0.1]])
    np.testing.assert_allclose(scores, won + confidence / (3 * (np.abs(confidence) + 1)))
    assert np.abs(scores - won).max() < 1 / 3


@pytest.mark.parametrize("class_weight", [None, {0: 1.0, 1: 3.0}, {0: 0.3, 1: 0.1}], ids=str)
def test_at_a_decision_value_of_zero_the_second_class_is_predicted_and_has_the_largest_price(
    class_weight,
):
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 6), np.array([0, 0, 1, 1] * 6)
    model = consistent(SVC(kernel="linear"), class_weight=class_weight).fit(X, y)
    model.intercept_ = np.zeros(1)
    assert model.decision_function([[0.0]])[0] == 0.0
    assert model.predict([[0.0]])[0] == 1  # as scikit-learn does
    p = model.predict_proba([[0.0]])
    assert (p * model.class_weight_).argmax(axis=1)[0] == 1
    assert p.sum() == pytest.approx(1.0, abs=1e-15)
    even = model.class_weight_[::-1] / model.class_weight_.sum()
    np.testing.assert_allclose(p[0], even, atol=1e-11)


@pytest.mark.parametrize("predicted", [0, 1, 2])
def test_exact_ties_of_prices_are_broken_in_favour_of_the_prediction(predicted):
    weight = np.array([2.0, 1.0, 2.0])
    p = project(np.array([[0.25, 0.5, 0.25]]), np.array([predicted]), weight)
    assert (p * weight).argmax(axis=1)[0] == predicted
    assert p.sum() == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(p, [[0.25, 0.5, 0.25]], atol=1e-11)
