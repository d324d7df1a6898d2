"""Hold-out risks, three-way splits and searches with one validation set."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, SVR, KernelRidge
from mercer.data import noisy_sinc
from mercer.kernels import RBF
from mercer.losses import EpsilonInsensitive, Hinge
from mercer.selection import (
    HoldoutSearchCV,
    ValidationSetWarning,
    holdout_risk,
    joint_minimise,
    train_valid_test_split,
)


def clouds(n=120, seed=0):
    """Return two overlapping clouds in the plane."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y


@pytest.mark.spec("SM-7.02")
@pytest.mark.parametrize("cost", ["zero_one", Hinge(), lambda y, p: 3.0 * (y != p)])
def test_weighted_mean_of_both_risks_is_the_risk_on_all_rows(cost):
    """One function f, fixed beforehand, so that all three means are of the same f."""
    X, y = clouds()
    fixed = SVC(gamma=0.5).fit(X, y)

    class Fixed(SVC):
        def fit(self, X, y):
            self.__dict__.update(fixed.__dict__)
            return self

    found = holdout_risk(Fixed(gamma=0.5), X, y, cost, valid_fraction=0.3, random_state=0)
    f = fixed.decision_function(X)
    signs = 2 * y - 1
    factor = 3.0 if callable(cost) else 1.0
    costs = np.maximum(0, 1 - signs * f) if isinstance(cost, Hinge) else factor * (signs * f <= 0)
    mixed = found.n_train * found.train + found.n_valid * found.valid
    assert mixed == pytest.approx(costs.sum(), rel=1e-6)
    assert found.n_train + found.n_valid == len(y)


def test_classes_keep_their_proportions_and_parts_are_disjoint():
    y = np.repeat([0, 1, 2], [60, 20, 8])
    rows = np.arange(88)
    parts = train_valid_test_split(rows, y, fractions=(0.5, 0.25, 0.25), stratify=y)
    assert sorted(np.concatenate(parts[:3]).tolist()) == rows.tolist()
    for labels, counts in zip(parts[3:], ([30, 10, 4], [15, 5, 2], [15, 5, 2]), strict=True):
        assert np.bincount(labels).tolist() == counts


@pytest.mark.spec("SM-7.04", "SM-7.05")
def test_selected_risk_is_optimistic_and_the_third_part_is_not():
    """Random guesses as candidates: every one has the risk 1/2, whatever the labels are."""
    chosen, third, covered = [], [], 0
    grid = {"random_state": list(range(25))}
    y = np.arange(200) % 2
    for seed in range(30):
        search = HoldoutSearchCV(
            DummyClassifier(strategy="uniform"),
            grid,
            valid_fraction=0.25,
            test_fraction=0.25,
            random_state=seed,
            n_jobs=1,
        )
        with pytest.warns(ValidationSetWarning, match="25 candidates were compared on 50"):
            search.fit(np.zeros((200, 1)), y)
        chosen.append(search.risk_valid_)
        third.append(search.risk_test_)
        covered += search.risk_interval_[0] <= 0.5 <= search.risk_interval_[1]
        # The largest risk at which so few errors of 50 are not less likely than delta / 25.
        errors = round(50 * search.risk_valid_)
        assert binom.cdf(errors, 50, search.risk_bound_) == pytest.approx(0.05 / 25)
        assert search.risk_bound_ < search.risk_valid_ + np.sqrt(np.log(25 / 0.05) / 100)
    assert np.mean(chosen) < 0.42
    assert np.mean(third) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(30 * 50))
    assert covered >= 0.95 * 30


@pytest.mark.parametrize("label", [0, 1])
def test_intervals_of_error_rates_stay_between_0_and_1(label):
    machine, y = DummyClassifier(strategy="constant"), np.ones(100, dtype=int)
    y[0] = 0
    search = HoldoutSearchCV(machine, {"constant": [label]}, random_state=1, n_jobs=1)
    low, high = search.fit(np.zeros((100, 1)), y).risk_interval_
    assert len(search.valid_rows_) == 25
    assert search.risk_valid_ == 1.0 - label
    reach = 1.0 - 0.025 ** (1 / 25)  # of Clopper and Pearson's interval for no error
    assert (low, high) == pytest.approx((0.0, reach) if label else (1.0 - reach, 1.0))


@pytest.mark.spec("SM-7.05")
def test_intervals_of_costs_of_a_known_range_are_those_of_hoeffding():
    machine, y = DummyClassifier(strategy="constant", constant=1), np.arange(80) % 2
    grid = {"random_state": [0, 1]}
    search = HoldoutSearchCV(
        machine, grid, cost=lambda y, p: 2.0 * (y != p), cost_range=2.0, random_state=0, n_jobs=1
    )
    with pytest.warns(ValidationSetWarning, match="between 0.338 and 1.66"):
        search.fit(np.zeros((80, 1)), y)
    assert search.risk_interval_ == pytest.approx(
        tuple(1.0 + 2.0 * np.array([-1, 1]) * np.sqrt(np.log(2 * 2 / 0.05) / 40))
    )
    assert search.risk_bound_ == pytest.approx(1.0 + 2.0 * np.sqrt(np.log(2 / 0.05) / 40))


@pytest.mark.spec("SM-7.03", "HO-65")
def test_the_chosen_candidate_has_the_least_validation_risk():
    X, y = load_iris(return_X_y=True)
    machine = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.01, 1.0, 100.0], "svc__gamma": [0.01, 0.1, 1.0]}
    search = HoldoutSearchCV(machine, grid, valid_fraction=0.4, test_fraction=0.2, random_state=1)
    with pytest.warns(ValidationSetWarning, match="9 candidates were compared on 60"):
        search.fit(X, y)
    risks = -search.cv_results_["mean_test_score"]
    assert search.risk_valid_ == risks.min()
    assert search.best_index_ == int(np.argmin(risks))  # the first of equal ones
    assert set(search.cv_results_["status"]) == {"optimal"}
    train, valid = search.train_rows_, search.valid_rows_
    by_hand = make_pipeline(StandardScaler(), SVC()).set_params(**search.best_params_)
    by_hand.fit(X[train], y[train])
    assert search.risk_train_ == np.mean(by_hand.predict(X[train]) != y[train])
    assert search.risk_valid_ == np.mean(by_hand.predict(X[valid]) != y[valid])
    again = by_hand.fit(X[np.r_[train, valid]], y[np.r_[train, valid]])
    test = search.test_rows_
    assert search.risk_test_ == np.mean(again.predict(X[test]) != y[test])
    assert search.predict(X[:2]).shape == (2,)


@pytest.mark.spec("SM-6.17")
def test_tube_and_penalty_at_the_least_one_step_prediction_error():
    """A series predicted one step ahead, tuned on the rows that follow the training rows."""
    t = np.arange(240)
    series = np.sin(0.31 * t) * np.cos(0.05 * t)
    series += 0.05 * np.random.default_rng(0).normal(size=len(t))
    X = np.lib.stride_tricks.sliding_window_view(series[:-1], 6)
    y = series[6:]
    grid = {"lam": [1e-4, 1e-3, 1e-2], "epsilon": [0.01, 0.05, 0.2]}
    machine = SVR(kernel=RBF.from_sigma(np.sqrt(0.75)))
    search = HoldoutSearchCV(machine, grid, refit="train")
    with pytest.warns(ValidationSetWarning, match="true risk is unknown"):
        search.fit(X[:150], y[:150], X_valid=X[150:], y_valid=y[150:])
    assert search.valid_rows_.tolist() == list(range(150, len(X)))
    errors = {}
    for lam in grid["lam"]:
        for epsilon in grid["epsilon"]:
            machine.set_params(lam=lam, epsilon=epsilon).fit(X[:150], y[:150])
            errors[lam, epsilon] = np.mean((machine.predict(X[150:]) - y[150:]) ** 2)
    best = search.best_params_
    assert (best["lam"], best["epsilon"]) == min(errors, key=errors.get)
    assert search.risk_valid_ == pytest.approx(min(errors.values()), rel=1e-2)
    assert search.risk_interval_ == (-np.inf, np.inf)  # squared errors have no known range
    assert search.best_estimator_.n_features_in_ == 6


def test_costs_that_are_losses_take_part_in_a_search():
    X, y = clouds(200)
    grid = {"C": [0.1, 1.0]}
    found = HoldoutSearchCV(SVC(gamma=0.5), grid, cost=Hinge(), random_state=0).fit(X, y)
    model = SVC(gamma=0.5, **found.best_params_).fit(X[found.train_rows_], y[found.train_rows_])
    f = model.decision_function(X[found.valid_rows_]) * (2 * y[found.valid_rows_] - 1)
    assert found.risk_valid_ == pytest.approx(np.maximum(0, 1 - f).mean(), rel=1e-2)
    tube = HoldoutSearchCV(SVR(), grid, cost=EpsilonInsensitive(0.1)).fit(X, X[:, 0])
    assert tube.risk_valid_ >= 0


@pytest.mark.spec("SM-7.06")
@pytest.mark.parametrize("alternate", [False, True])
def test_joint_minimisation_takes_the_richest_class_unless_capacity_counts(alternate):
    X, y = noisy_sinc(40, random_state=0)
    # Balls of growing radius in one space: smaller penalties give larger classes.
    grid = {"alpha": [100.0, 1.0, 0.01, 1e-4, 1e-6]}
    machine = KernelRidge(kernel="rbf")
    found = joint_minimise(machine, grid, X, y, alternate=alternate)
    assert found.params == {"alpha": 1e-6}
    objectives = [value for _, value in found.tried]
    assert objectives == sorted(objectives, reverse=True)

    def capacity(model):
        return 0.01 * np.sqrt(model.expansion_.norm2())

    held = joint_minimise(machine, grid, X, y, capacity=capacity, alternate=alternate)
    assert held.params["alpha"] in (1.0, 0.01)
    assert held.objective == pytest.approx(held.risk + capacity(held.estimator))


def test_bad_input_is_refused():
    X, y = clouds(20)
    with pytest.raises(ValueError, match="cost must be one of"):
        holdout_risk(SVC(), X, y, "hinge")
    with pytest.raises(ValueError, match="one number for each"):
        holdout_risk(SVC(), X, y, lambda y, p: 0.0)
    with pytest.raises(ValueError, match="defined for two classes"):
        holdout_risk(SVC(), X, np.arange(20) % 3, Hinge())
    with pytest.raises(ValueError, match="leave nothing to train on"):
        HoldoutSearchCV(SVC(), {}, valid_fraction=0.6, test_fraction=0.4).fit(X, y)
    with pytest.raises(ValueError, match="valid_fraction must lie between 0 and 1"):
        HoldoutSearchCV(SVC(), {}, valid_fraction=1.5).fit(X, y)
    with pytest.raises(ValueError, match="sum to 1"):
        train_valid_test_split(X, fractions=(0.5, 0.5, 0.5))


EXPECTED = {"check_regressors_train": "the score is minus the mean cost"}


@parametrize_with_checks(
    [HoldoutSearchCV(SVC(), {"C": [0.1, 1.0]}), HoldoutSearchCV(SVR(), {"C": [0.1, 1.0]})],
    expected_failed_checks=lambda search: EXPECTED if isinstance(search.estimator, SVR) else {},
)
@pytest.mark.filterwarnings("ignore::mercer.selection.ValidationSetWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::mercer.selection.ValidationSetWarning")
@pytest.mark.parametrize("machine", [SVC(), SVR()])
def test_a_column_of_targets_gives_the_risks_of_its_entries(machine):
    X, y = clouds()
    flat = HoldoutSearchCV(machine, {"C": [0.1, 1.0]}, random_state=0).fit(X, y)
    search = HoldoutSearchCV(machine, {"C": [0.1, 1.0]}, random_state=0)
    with pytest.warns(DataConversionWarning):
        column = search.fit(X, y[:, None])
    with pytest.warns(DataConversionWarning):
        risk = holdout_risk(machine, X, y[:, None], random_state=0)
    assert column.risk_valid_ == flat.risk_valid_
    assert risk == holdout_risk(machine, X, y, random_state=0)
    loss = Hinge() if isinstance(machine, SVC) else EpsilonInsensitive(0.1)
    with pytest.warns(DataConversionWarning):
        risk = holdout_risk(machine, X, y[:, None], loss, random_state=0)
    assert risk == holdout_risk(machine, X, y, loss, random_state=0)


def test_targets_and_data_that_no_candidate_takes_are_refused_by_the_machine():
    X, y = clouds()
    with pytest.raises(ValueError, match="Unknown label type"):
        HoldoutSearchCV(SVC(), {"C": [0.1, 1.0]}).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Unknown label type"):
        holdout_risk(SVC(), X, X[:, 0])
    objects = X.astype(object)
    objects[:, 0] = {}
    with pytest.raises(TypeError, match="argument must be"):
        HoldoutSearchCV(SVC(), {"C": [0.1, 1.0]}).fit(objects, y)
