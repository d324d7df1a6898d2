"""Warm starts: from the solution of another constant, other weights, other labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM

Array = NDArray[np.float64]

rng = np.random.default_rng(0)
X = rng.normal(size=(2500, 4))
LABELS = (X[:, 0] + 0.8 * rng.normal(size=2500) > 0).astype(int)
TARGETS = np.sin(X[:, 0]) + 0.3 * rng.normal(size=2500)
WEIGHTS = rng.uniform(0.5, 2.0, 2500)


def target(machine: Any) -> Any:
    if isinstance(machine, OneClassSVM):
        return None
    return TARGETS if isinstance(machine, SVR | NuSVR) else LABELS


def counts(machine: Any, old: dict, new: dict, **fit: Any) -> tuple[int, int]:
    """Return the steps of a fit with parameters `new`, from those of `old` and from nothing."""
    y = target(machine)
    cold = machine.set_params(**new).fit(X, y, **fit)
    n_cold, dual = int(np.sum(cold.n_iter_)), cold.certificate_.dual
    machine.set_params(**old).fit(X, y)
    warm = machine.set_params(warm_start=True, **new).fit(X, y, **fit)
    assert warm.certificate_.status == "optimal"
    assert warm.certificate_.dual == pytest.approx(dual, rel=1e-3)
    return int(np.sum(warm.n_iter_)), n_cold


@pytest.mark.spec("SM-4.10")
@pytest.mark.parametrize("machine", [SVC(gamma=0.5), SVR(gamma=0.5), NuSVR(gamma=0.5)])
def test_coefficients_follow_the_constant(machine: Any) -> None:
    warm, cold = counts(machine, {"C": 1.0}, {"C": 1.1})
    assert warm < 0.5 * cold
    # Where the solver begins, after a single step. The dual value of the coefficients as they were
    # does not depend on C; the number of steps to the end depends on the last bits.
    y, new = target(machine), machine.certificate_.dual
    old = machine.set_params(C=1.0).fit(X, y).certificate_.dual
    with pytest.warns(ConvergenceWarning):
        first = machine.set_params(C=1.1, max_iter=1).fit(X, y).certificate_.dual
    assert new - first < 0.05 * (new - old)


@pytest.mark.spec("SM-4.10")
def test_lam_is_a_constant_too() -> None:
    warm, cold = counts(SVC(gamma=0.5), {"lam": 1e-4}, {"lam": 1.1e-4})
    assert warm < 0.5 * cold


def test_coefficients_follow_their_weights() -> None:
    model = SVC(gamma=0.5, warm_start=True).fit(X, LABELS)
    warm = model.fit(X, LABELS, sample_weight=WEIGHTS)
    cold = SVC(gamma=0.5).fit(X, LABELS, sample_weight=WEIGHTS)
    assert warm.n_iter_[0] < 0.7 * cold.n_iter_[0]
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)


@pytest.mark.parametrize(
    "machine", [SVC(C=3.0), SVC(C=3.0, penalty_norm=2), SVR(C=3.0), NuSVR(C=3.0)]
)
def test_a_constant_moved_into_the_weights_changes_nothing(machine: Any) -> None:
    """C and the weights enter as their product, and the old solution is that of the new fit."""
    y = target(machine)
    machine.set_params(gamma=0.5, warm_start=True).fit(X[:500], y[:500])
    before = machine.certificate_.n_iter
    machine.set_params(C=1.0).fit(X[:500], y[:500], sample_weight=np.full(500, 3.0))
    assert machine.certificate_.n_iter < 0.05 * before
    if isinstance(machine, SVC):
        machine.set_params(class_weight={0: 3.0, 1: 3.0}).fit(X[:500], y[:500])
        assert machine.certificate_.n_iter < 0.05 * before


@pytest.mark.spec("SM-4.10")
@pytest.mark.parametrize("machine", [SVC(gamma=2.0), SVR(gamma=2.0)])
def test_without_bounded_coefficients_a_larger_constant_takes_no_step(machine: Any) -> None:
    machine.set_params(C=100.0, tol=1e-6, warm_start=True)
    machine.fit(X[:300], target(machine)[:300])
    assert machine.certificate_.n_iter > 300
    assert len(machine.bounded_support_) == 0
    old = machine.dual_coef_
    machine.set_params(C=110.0).fit(X[:300], target(machine)[:300])
    assert machine.certificate_.n_iter == 0
    np.testing.assert_allclose(machine.dual_coef_, old, rtol=1e-12)


def test_free_coefficients_stay_and_bounded_ones_move() -> None:
    """One step from the start that a larger C is given, most coefficients are where they began."""
    model = SVC(gamma=0.5, warm_start=True).fit(X[:400], LABELS[:400])
    free, bounded, old = model.free_support_, model.bounded_support_, model.alpha_
    with pytest.warns(ConvergenceWarning):
        new = model.set_params(C=1.5, max_iter=1).fit(X[:400], LABELS[:400]).alpha_
    assert len(free) > 50
    assert np.sum(new[free] != old[free]) <= 2
    # The moves that leave the sum wrong are taken back; one of them in part.
    assert np.sum((new[bounded] != 1.5) & (new[bounded] != 1.0)) <= 3
    assert np.sum(new[bounded] == 1.5) > 0.8 * len(bounded)


@pytest.mark.parametrize("machine", [NuSVC(nu=0.5), NuSVR(nu=0.5), OneClassSVM(nu=0.5)])
def test_another_nu_starts_from_the_old_coefficients(machine: Any) -> None:
    warm, cold = counts(machine.set_params(gamma=0.5), {"nu": 0.5}, {"nu": 0.52})
    assert warm < cold


def test_rows_that_come_and_go() -> None:
    some = WEIGHTS.copy()
    some[:300] = 0.0
    model = SVC(gamma=0.5, warm_start=True).fit(X, LABELS, sample_weight=some)
    for weight in (None, some):
        warm = model.fit(X, LABELS, sample_weight=weight)
        cold = SVC(gamma=0.5).fit(X, LABELS, sample_weight=weight)
        assert warm.n_iter_[0] < 0.8 * cold.n_iter_[0]
        assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)


def test_from_soft_to_hard_and_back() -> None:
    model = SVC(gamma=50.0, warm_start=True).fit(X[:400], LABELS[:400], sample_weight=WEIGHTS[:400])
    for C in (np.inf, 10.0):
        warm = model.set_params(C=C).fit(X[:400], LABELS[:400])
        cold = SVC(gamma=50.0, C=C).fit(X[:400], LABELS[:400])
        assert warm.certificate_.status == "optimal"
        assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-3)


def test_other_labels_are_learnt_all_the_same() -> None:
    model = SVC(gamma=0.5, warm_start=True).fit(X[:400], LABELS[:400])
    turned = model.fit(X[:400], 1 - LABELS[:400])
    cold = SVC(gamma=0.5).fit(X[:400], 1 - LABELS[:400])
    assert turned.decision_function(X[:50]) == pytest.approx(
        cold.decision_function(X[:50]), abs=5e-3
    )
    three = np.arange(400) % 3
    assert model.fit(X[:400], three).certificate_.status == "optimal"
