"""Leave-n-out splits, the leave-one-out risk and influences."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV as TheirSearch

from mercer import SVC, SVR, KernelRidge, KernelRidgeClassifier
from mercer.losses import Hinge
from mercer.selection import (
    GridSearchCV,
    LeaveNOut,
    empirical_influence,
    holdout_risk,
    joint_minimise,
    loo_risk,
)


@pytest.mark.spec("SM-7.07")
@pytest.mark.parametrize(("n", "m", "sizes"), [(3, 12, [3] * 4), (5, 12, [5, 5, 2])])
def test_every_row_is_left_out_once(n, m, sizes):
    splitter = LeaveNOut(n, random_state=0)
    splits = list(splitter.split(np.zeros(m)))
    assert [len(test) for _, test in splits] == sizes
    assert splitter.get_n_splits(np.zeros(m)) == len(sizes)
    assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(m))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(m))


@pytest.mark.spec("SM-7.07")
def test_number_of_fits_of_a_leave_n_out_search():
    """m / n fits for each candidate, and one of the best on all data."""
    fits = []

    class Counted(SVR):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    X = np.linspace(-1, 1, 20)[:, None]
    # So small that coefficients are bounded: every price has a score of its own.
    prices = {"C": [0.01, 0.03, 0.1]}
    search = TheirSearch(Counted(), prices, cv=LeaveNOut(4, random_state=0))
    search.fit(X, X[:, 0] ** 2)
    assert len(fits) == (20 // 4) * 3 + 1
    assert fits[-1] == 20
    ours = GridSearchCV(SVR(), prices, cv=LeaveNOut(4, random_state=0))
    assert ours.fit(X, X[:, 0] ** 2).best_params_ == search.best_params_


@pytest.mark.spec("SM-7.08")
def test_ridge_shortcut_equals_refits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=15)
    machine = KernelRidge(alpha=0.7)
    H = X @ np.linalg.solve(X.T @ X + 0.7 * np.eye(3), X.T)
    residuals = (y - H @ y) / (1 - np.diag(H))
    refits = []
    for i in range(15):
        rest = np.arange(15) != i
        w = np.linalg.solve(X[rest].T @ X[rest] + 0.7 * np.eye(3), X[rest].T @ y[rest])
        refits.append(y[i] - X[i] @ w)
    assert residuals == pytest.approx(refits, abs=1e-13)
    assert loo_risk(machine, X, y) == pytest.approx(np.mean(np.square(refits)), rel=1e-12)
    assert loo_risk(machine, X, y, "absolute") == pytest.approx(np.mean(np.abs(refits)), rel=1e-12)


@pytest.mark.spec("SM-7.08")
def test_expected_leave_one_out_risk_is_the_risk_with_one_row_fewer():
    """Closed forms: y = noise of variance 1, f = the mean of m rows shrunk by m / (m + alpha)."""
    rng = np.random.default_rng(1)
    m, alpha, samples = 3, 0.1, 2000
    Y = rng.normal(size=(samples, m)) + 1.0
    X = np.ones((m, 1))
    machine = KernelRidge(alpha=alpha)
    model = machine.fit(X, Y.T)
    values = model.leave_one_out_values(X, Y.T)
    risks = np.mean((Y.T - values) ** 2, axis=0)

    def risk(rows):
        shrunk = rows / (rows + alpha)
        return 1.0 + (1 - shrunk) ** 2 + shrunk**2 / rows  # noise, bias, variance

    error = 4 * risks.std() / np.sqrt(samples)
    assert risks.mean() == pytest.approx(risk(m - 1), abs=error)
    assert abs(risks.mean() - risk(m)) > error


def test_fast_paths_equal_plain_refits():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(24, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=24) > 0).astype(int)

    def plain(machine, target, cost):
        costs = []
        for i in range(24):
            rest = np.arange(24) != i
            model = machine.fit(X[rest], target[rest])
            costs.append(cost(model, X[[i]], target[i]))
        return np.mean(costs)

    def wrong(model, x, label):
        return model.predict(x)[0] != label

    def hinge(model, x, label):
        return max(0.0, 1 - (2 * label - 1) * model.decision_function(x)[0])

    assert loo_risk(SVC(gamma=0.5), X, y) == plain(SVC(gamma=0.5), y, wrong)
    found = loo_risk(SVC(gamma=0.5, tol=1e-6), X, y, Hinge())
    assert found == pytest.approx(plain(SVC(gamma=0.5, tol=1e-6), y, hinge), rel=1e-5)
    ridge = KernelRidgeClassifier(kernel="rbf", gamma=0.5)
    assert loo_risk(ridge, X, y) == plain(ridge, y, wrong)
    tube = SVR(gamma=0.5, tol=1e-8)
    expected = plain(tube, X[:, 1], lambda model, x, target: abs(model.predict(x)[0] - target))
    assert loo_risk(tube, X, X[:, 1], "absolute") == pytest.approx(expected, rel=1e-5)


@pytest.mark.spec("SM-7.09")
def test_influence_of_an_outlier_on_mean_and_median():
    x = np.append(np.random.default_rng(0).normal(size=20), 10.0)
    mean = empirical_influence(None, x, statistic=np.mean)
    # m (mean - mean without x_i) = (m / (m - 1)) (x_i - mean)
    assert mean == pytest.approx(21 / 20 * (x - x.mean()))
    assert np.argmax(np.abs(mean)) == 20
    assert mean[20] > 9
    far = empirical_influence(None, np.append(x[:20], 1e6), statistic=np.median)
    near = empirical_influence(None, x, statistic=np.median)
    assert far.tolist() == near.tolist()
    assert np.abs(near).max() < 4


@pytest.mark.spec("SM-7.09")
def test_influence_is_bounded_for_the_tube_and_not_for_least_squares():
    x = np.linspace(-1, 1, 15)[:, None]
    y = 0.5 * x[:, 0]

    def largest(machine, outlier):
        target = y.copy()
        target[7] = outlier
        return np.abs(empirical_influence(machine, x, target, lambda m: m.predict([[0.1]])[0]))[7]

    tube, ridge = SVR(kernel="linear", tol=1e-8), KernelRidge(fit_intercept=True)
    assert largest(tube, 1000.0) == pytest.approx(largest(tube, 10.0), rel=1e-4)
    assert largest(ridge, 1000.0) == pytest.approx(100 * largest(ridge, 10.0), rel=1e-4)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="n must be an integer from 1 to 4"):
        list(LeaveNOut(5).split(np.zeros(5)))
    with pytest.raises(TypeError, match="name the statistic"):
        empirical_influence(None, [1.0, 2.0])
    with pytest.raises(ValueError, match="two are needed"):
        empirical_influence(None, [1.0], statistic=np.mean)


@pytest.mark.parametrize("risk", [loo_risk, holdout_risk, empirical_influence, joint_minimise])
def test_an_estimator_comes_first(risk):
    X = np.zeros((4, 1))
    with pytest.raises(TypeError, match=r"an estimator comes first, .* got ndarray"):
        risk(X, KernelRidge(), np.zeros(4), np.zeros(4))
    with pytest.raises(TypeError, match=r"an estimator comes first, .* got KernelRidge"):
        risk(KernelRidge, X, np.zeros(4), np.zeros(4))
