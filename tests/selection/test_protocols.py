"""Tuning protocols of the texts: paths of warm starts, surfaces of a physicist's metric."""

import numpy as np
import pytest
from sklearn.metrics import make_scorer

from mercer import SVC, SVR, OneClassSVM
from mercer.selection import GridSearchCV, purity_at_efficiency, warm_path


def noisy(n, columns=3):
    """Return rows of a noisy problem with two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns))
    return X, (X[:, 0] + 0.9 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.spec("SM-6.03")
def test_a_path_of_warm_starts_costs_a_tenth_of_the_kernel_values():
    X, y = noisy(400, columns=60)  # wide rows, whose kernel values are worth keeping
    machines = warm_path(
        SVC(gamma=0.03, solver="decomposition"), X, y, C_start=2.0, step=-0.1, C_stop=1.0
    )
    assert [m.C for m in machines] == pytest.approx(np.arange(2.0, 0.95, -0.1))
    assert {m.certificate_.status for m in machines} == {"optimal"}
    cold = [SVC(gamma=0.03, C=m.C, solver="decomposition").fit(X, y) for m in machines]
    for one, other in zip(machines, cold, strict=True):
        assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-3)
    spent = sum(m.certificate_.n_kernel_values for m in machines[1:])
    from_scratch = sum(m.certificate_.n_kernel_values for m in cold[1:])
    assert 10 * spent <= from_scratch
    steps, cold_steps = (sum(int(m.n_iter_.sum()) for m in path[1:]) for path in (machines, cold))
    assert steps <= 0.8 * cold_steps  # kept rows alone save none


def test_paths_may_rise_and_end_before_the_last_step():
    X, _ = noisy(40)
    machines = warm_path(SVR(), X, X[:, 0], C_start=1.0, step=0.4, C_stop=2.0)
    assert [m.C for m in machines] == pytest.approx([1.0, 1.4, 1.8])
    with pytest.raises(ValueError, match="step must lead from"):
        warm_path(SVR(), X, X[:, 0], step=0.1)
    with pytest.raises(TypeError, match="machines with a constant C"):
        warm_path(OneClassSVM(), X, X[:, 0])


@pytest.mark.spec("SM-6.11")
def test_purity_at_fixed_efficiency_is_flat_over_the_grid():
    """The charm surface: contours of purity over width and C, on validation and on test rows."""
    X, y = noisy(900)
    metric = make_scorer(purity_at_efficiency, response_method="decision_function")
    grid = {"C": [0.3, 1.0, 3.0], "gamma": [0.03, 0.1, 0.3]}
    rows = np.arange(900)
    surfaces = []
    for held in (rows[300:600], rows[600:]):
        search = GridSearchCV(SVC(), grid, scoring=metric, cv=[(rows[:300], held)], refit=False)
        surfaces.append(search.fit(X, y).cv_results_["mean_test_score"])
    chance = y.mean()
    for surface in surfaces:
        assert surface.min() > chance + 0.2
        assert np.ptp(surface) < 0.15
    chosen = int(np.argmax(surfaces[0]))
    assert surfaces[1][chosen] > surfaces[1].max() - 0.05


@pytest.mark.spec("SM-6.11")
def test_purity_of_blind_choice_is_the_frequency_of_the_class():
    """The text's frequencies and preselection give charm a share of 16.5 %."""
    detected = {"c": 0.171 * 0.676199, "b": 0.614 * 0.726494, "uds": 0.215 * 0.646795}
    y = np.repeat(["c", "b", "uds"], 40)
    found = purity_at_efficiency(y, np.zeros(120), positive="c", frequency=detected)
    assert found == pytest.approx(0.165, abs=5e-4)
    with pytest.raises(ValueError, match="frequency names no label"):
        purity_at_efficiency(y, np.zeros(120), positive="c", frequency={"c": 1.0})
