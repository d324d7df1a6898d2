"""Kernels of order 2 on rows that repeat, with uneven weights and large C.

Of an object that has samples of both labels, or of different targets, the coefficients are as
large as C times the weights, and nearly cancel: what is left of them has to be found all the same.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR
from mercer.kernels import Subsequence, ThinPlate
from mercer.solvers.certificate import GAP_LIMIT


def problem(seed):
    """Return a machine, rows, targets and weights that are hard on a solver."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([8, 20, 60, 100])), int(rng.choice([1, 2, 2, 3]))
    X = rng.normal(size=(n, d))
    X = (np.round(X), np.round(X, 1), X[rng.integers(0, n // 3 + 1, size=n)])[seed % 3]
    if seed % 5 == 0:
        X = np.hstack([X, np.full((n, 1), rng.choice([0.0, 1.0, 1000.0]))])
    span = rng.choice([0.0, 3.0, 5.0])
    weight = 10.0 ** rng.uniform(-span, span, size=n)
    target = np.sin(2.0 * X[:, 0]) + X[:, -1] + 0.3 * rng.normal(size=n)
    C = 10.0 ** rng.uniform(-3.0, 8.0)
    if seed % 2:
        machine = SVC(kernel=ThinPlate(), C=C, penalty_norm=1 + (seed % 4 == 3))
        return machine, X, (target > np.median(target)).astype(int), weight
    loss = "epsilon_insensitive" if seed % 4 else "squared_epsilon_insensitive"
    return SVR(kernel=ThinPlate(), C=C, epsilon=0.1 * (seed % 3), loss=loss), X, target, weight


def opposed(C, weight=1.0):
    """Return a machine on nine points, each of them in both classes."""
    grid = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    X = np.vstack([grid, grid, grid])
    y = np.concatenate([np.arange(9) % 2, np.arange(9) % 3 == 0, np.arange(9) > 4]).astype(int)
    s = 10.0 ** (weight * np.linspace(-3.0, 2.0, 27))
    return SVC(kernel=ThinPlate(), C=C).fit(X, y, sample_weight=s), X, y, s


HARD = [131, 261, 357, 513, 617, 858, 875]
"""Problems on which the differences of large coefficients decide."""


@pytest.mark.parametrize("seeds", [HARD, range(40), range(40, 80)], ids=["hard", "a", "b"])
def test_what_repeats_is_solved_to_the_tolerance_or_to_rounding(seeds):
    for seed in seeds:
        machine, X, y, weight = problem(seed)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            machine.fit(X, y, sample_weight=weight)
        proof = machine.certificate_
        assert proof.dual <= proof.primal * (1.0 + 1e-9) + 1e-9
        if proof.status == "optimal":
            assert proof.kkt_violation <= 1.01e-3
            continue
        if proof.kkt_violation <= 1.01e-3:  # rounding alone keeps it from "optimal"
            assert proof.gap - proof.rounding <= GAP_LIMIT * proof.primal, seed
        else:
            sizes = np.abs(machine.kernel_(X, X[machine.support_])) * np.abs(machine.dual_coef_)
            limit = np.finfo(float).eps * np.sqrt(np.square(sizes).sum(axis=1)).max()
            assert proof.kkt_violation <= 2.0 * limit, seed
        assert any("Likely cause: rounding" in str(w.message) for w in said)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6, 1e8])
def test_coefficients_that_cancel_leave_what_they_should(C):
    model, X, y, s = opposed(C)
    proof = model.certificate_
    # Coefficients of 1e8 that cancel leave roundings of some 5e-4 of the cost.
    assert proof.status == ("optimal" if C < 1e8 else "precision_limit")
    assert proof.gap - proof.rounding < 1e-6 * proof.primal
    again = model.certify(X, y, sample_weight=s)
    assert again.primal == pytest.approx(proof.primal, rel=1e-6)


def test_the_price_is_that_of_the_lighter_labels_when_it_is_large():
    """Every object goes with its heavier label, and the others cost what they cost."""
    model, X, y, s = opposed(1e8)
    f = model.decision_function(X)
    cost = 1e8 * s @ np.maximum(0.0, 1.0 - (2 * y - 1) * f)
    proof = model.certificate_
    np.testing.assert_allclose(cost, proof.primal, rtol=1e-6, atol=proof.rounding)
    for row in np.unique(X, axis=0):
        same = np.all(row == X, axis=1)
        heavier = s[same & (y == 1)].sum() > s[same & (y == 0)].sum()
        assert np.all(f[same] >= 1.0 - 1e-6) if heavier else np.all(f[same] <= -1.0 + 1e-6)


def test_samples_of_one_object_and_label_share_in_proportion_to_their_weights():
    model, X, y, s = opposed(1.0, weight=0.2)
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    for row in np.unique(X, axis=0):
        for label in (0, 1):
            same = np.flatnonzero(np.all(row == X, axis=1) & (y == label))
            if len(same) > 1:
                shares = beta[same] / s[same]
                np.testing.assert_allclose(shares, shares[0], rtol=1e-12)


@pytest.mark.parametrize("step", [913.72413168, 1.0 / 3.0, 0.1])
def test_where_everything_happens_in_the_middle_there_is_a_dual_point(step):
    """A line fits the outer points, and both classes share the one in the middle of them, whose
    terms in the equation of the coordinate are 0 up to rounding."""
    X = 100.0 + step * np.array([0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0])[:, None]
    y = np.array([1, 0, 0, 1, 1, 0, 1, 0])
    weight = np.array([8.8, 0.0035, 2.0, 28.3, 1.5, 4400.0, 0.2, 0.0033])
    for C in (1.0, 1e6):
        model = SVC(kernel=ThinPlate(), C=C).fit(X, y, sample_weight=weight)
        proof = model.certificate_
        # Coefficients of repeated objects cancel, and their rounding may exceed the accepted gap.
        assert proof.status in ("optimal", "precision_limit")
        expected = 2.0 * C * weight[[0, 4, 6]].sum()
        assert proof.primal == pytest.approx(expected, rel=1e-6, abs=proof.rounding)
        # What is not rounding vanishes; beyond the precision it is itself made of rounded values.
        negligible = 1e-6 * proof.primal if proof.status == "optimal" else 1e-3 * proof.rounding
        assert abs(proof.gap - proof.rounding) < negligible


def test_a_weight_is_a_repetition_also_where_objects_repeat():
    _, X, y, _ = opposed(1e4)
    weight = np.arange(27) % 4 + 1
    weighted = SVC(kernel=ThinPlate(), C=1e4).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(27), weight)
    repeated = SVC(kernel=ThinPlate(), C=1e4).fit(X[again], y[again])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-6
    )


def test_the_warning_says_what_rounding_does_and_what_helps():
    rng = np.random.default_rng(5)
    X = 3000.0 * np.round(rng.normal(size=(40, 2)))
    y = rng.normal(size=40)
    weight = 10.0 ** rng.uniform(-3.0, 3.0, size=40)
    with pytest.warns(ConvergenceWarning) as said:
        SVR(kernel=ThinPlate(), C=1e6, epsilon=0.0, tol=1e-6).fit(X, y, sample_weight=weight)
    text = str(said[0].message)
    assert "(no more progress): the KKT violation is" in text
    assert "Likely cause: rounding. Coefficients as large as" in text
    assert "scale the columns of X" in text
    assert "lower C, or use weights that differ less; a larger tol accepts the model." in text
    with pytest.warns(ConvergenceWarning, match=r"\(gap_tol=1e-12\).*a larger gap_tol accepts"):
        SVR(kernel=ThinPlate(), C=1e6, epsilon=0.0, gap_tol=1e-12).fit(X, y, sample_weight=weight)
    words = ["".join(rng.choice(["a", "b"], 60)) for _ in range(12)]
    with pytest.warns(ConvergenceWarning, match=r"To get nearer, normalise .*normalize\(kernel\)"):
        SVR(kernel=Subsequence(12, decay=0.9), C=1e3, epsilon=0.0).fit(words, y[:12])
