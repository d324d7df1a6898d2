"""Hard constraints: solved where they can be met, refused with evidence where they cannot."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer import SVC, SVR, NotSeparableError
from mercer.data import rings
from mercer.kernels import RBF, Kernel, Linear

Array = NDArray[np.float64]

SMALL, LARGE = 60, 2500
both_sizes = pytest.mark.parametrize("n", [SMALL, LARGE])


def labels(n: int) -> Array:
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def overlapping(n: int, d: int = 3) -> tuple[Array, Array]:
    y = labels(n)
    return np.random.default_rng(0).normal(size=(n, d)) + 0.3 * y[:, None], y


def apart(n: int, d: int = 3, gap: float = 0.2) -> tuple[Array, Array]:
    """Two classes with a slab of known width between them along the first column."""
    y = labels(n)
    X = np.random.default_rng(1).normal(size=(n, d))
    X[:, 0] = y * (gap + np.abs(X[:, 0]))
    return X, y


def assert_evidence(error: NotSeparableError, kernel: Kernel, X: Array, side: Array) -> None:
    """Check the two convex combinations: one of each side, and nearly the same point."""
    first, second = error.first, error.second
    for part, sign in ((first, 1), (second, -1)):
        assert np.all(side[part.rows] == sign)
        assert np.all(part.weights >= 0)
        assert part.weights.sum() == pytest.approx(1)
    rows = np.concatenate([first.rows, second.rows])
    signed = np.concatenate([first.weights, -second.weights])
    K = kernel(X[rows])
    distance = np.sqrt(max(signed @ K @ signed, 0))
    assert error.distance == pytest.approx(distance, abs=1e-7)
    largest = np.sqrt(kernel.diag(X).max())
    assert distance <= 1e-6 * largest


@both_sizes
@pytest.mark.parametrize("kernel", [Linear(), (1 + Linear()) ** 2], ids=["linear", "quadratic"])
def test_overlapping_classes_are_refused(n: int, kernel: Kernel) -> None:
    X, y = overlapping(n)
    begin = time.perf_counter()
    with pytest.raises(NotSeparableError, match="not separable") as caught:
        SVC(C=np.inf, kernel=kernel).fit(X, y)
    assert time.perf_counter() - begin < 10
    assert_evidence(caught.value, kernel, X, y)


@both_sizes
def test_duplicates_with_opposite_labels_are_refused(n: int) -> None:
    X, y = apart(n)
    X[1], y[0], y[1] = X[0], 1.0, -1.0
    for kernel in (Linear(), RBF(1.0)):
        with pytest.raises(NotSeparableError) as caught:
            SVC(C=np.inf, kernel=kernel).fit(X, y)
        assert_evidence(caught.value, kernel, X, y)


@both_sizes
def test_separable_classes_are_separated(n: int) -> None:
    X, y = apart(n)
    model = SVC(C=np.inf, kernel="linear").fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.score(X, y) == 1
    assert (y * model.decision_function(X)).min() >= 1 - 1e-3
    assert model.margin_ >= 0.2 * (1 - 1e-3)
    assert model.certificate_.relative_gap < 1e-2
    soft = SVC(C=1e8, kernel="linear", dtype="float64", tol=1e-3, max_iter=10**6)
    assert soft.set_params(C=10 * model.alpha_.max()).fit(X, y).coef_ == pytest.approx(
        model.coef_, rel=2e-2, abs=2e-2
    )


@pytest.mark.parametrize("gap", [1e-2, 1e-4])
def test_a_narrow_margin_is_still_one(gap: float) -> None:
    X, y = apart(SMALL, 2, gap)
    X[:2] = [[gap, 0.0], [-gap, 0.0]]
    model = SVC(C=np.inf, kernel="linear", tol=1e-6).fit(X, y)
    assert model.margin_ >= gap * (1 - 1e-5)
    assert model.score(X, y) == 1


@both_sizes
def test_a_kernel_that_separates_every_set(n: int) -> None:
    X, y = rings(n, noise=0.3, random_state=0)
    model = SVC(C=np.inf, kernel=RBF(500.0)).fit(X, y)
    assert model.score(X, y) == 1
    assert model.certificate_.status == "optimal"


def test_several_classes_name_the_pair() -> None:
    X, y = apart(SMALL)
    X = np.vstack([X, X[y > 0] + 1e-9])
    y = np.concatenate([np.where(y > 0, "plus", "minus"), np.full((y > 0).sum(), "copy")])
    with pytest.raises(NotSeparableError, match=r"'copy' and '(np.str_\()?.?plus"):
        SVC(C=np.inf, kernel="linear").fit(X, y)


@both_sizes
def test_without_an_intercept(n: int) -> None:
    X, y = apart(n)
    model = SVC(C=np.inf, kernel="linear", fit_intercept=False).fit(X, y)
    assert model.intercept_.tolist() == [0.0]
    assert (y * model.decision_function(X)).min() >= 1 - 1e-3
    shifted = X + [5.0, 0.0, 0.0]
    with pytest.raises(NotSeparableError):
        SVC(C=np.inf, kernel="linear", fit_intercept=False).fit(shifted, y)
    assert SVC(C=np.inf, kernel="linear").fit(shifted, y).score(shifted, y) == 1


# ------------------------------------------------------------------ tubes


@both_sizes
def test_a_tube_that_no_line_fits_is_refused(n: int) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + rng.standard_normal(n)
    begin = time.perf_counter()
    with pytest.raises(NotSeparableError, match="no function stays within epsilon") as caught:
        SVR(C=np.inf, epsilon=0.1, kernel="linear").fit(X, y)
    assert time.perf_counter() - begin < 10
    # The combinations are nearly the same point, their targets further apart than the tube.
    first, second = caught.value.first, caught.value.second
    apart_by = first.weights @ y[first.rows] - second.weights @ y[second.rows]
    assert apart_by > 0.2
    shift = first.weights @ X[first.rows] - second.weights @ X[second.rows]
    assert np.linalg.norm(shift) == pytest.approx(caught.value.distance, abs=1e-6)
    assert np.linalg.norm(shift) < 1e-5


@both_sizes
def test_a_tube_that_fits_is_found(n: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.uniform(-0.2, 0.2, n)
    model = SVR(C=np.inf, epsilon=0.25, kernel="linear").fit(X, y)
    assert model.certificate_.status == "optimal"
    assert np.abs(y - model.predict(X)).max() <= 0.25 + 1e-3
    assert np.linalg.norm(model.coef_) <= np.linalg.norm([1.0, -2.0, 0.5]) + 1e-3


# ------------------------------------------------------------------ never endless


@pytest.mark.parametrize("seed", range(6))
def test_borderline_sets_end_one_way_or_the_other(seed: int) -> None:
    # As many points as a hyperplane can just separate, on average half of the time.
    rng = np.random.default_rng(seed)
    n, d = 40, 19
    X, y = rng.normal(size=(n, d)), labels(n)
    begin = time.perf_counter()
    separable = True
    try:
        model: Any = SVC(C=np.inf, kernel="linear").fit(X, y)
    except NotSeparableError:
        separable = False
    else:
        assert (y * model.decision_function(X)).min() >= 1 - 1e-2
    assert time.perf_counter() - begin < 10
    # A linear program decides the same question.
    from scipy.optimize import linprog

    A = -y[:, None] * np.hstack([X, np.ones((n, 1))])
    exists = linprog(np.zeros(d + 1), A_ub=A, b_ub=-np.ones(n), bounds=(None, None)).status == 0
    assert separable == exists


def test_limits_hold_for_hard_constraints_too() -> None:
    X, y = overlapping(LARGE, 20)
    with pytest.warns(match="terminated early"):
        model = SVC(C=np.inf, kernel=RBF(0.01), max_iter=30).fit(X, y)
    assert model.certificate_.status == "iteration_limit"
    begin = time.perf_counter()
    with pytest.warns(match="terminated early"):
        SVC(C=np.inf, kernel=RBF(0.001), time_limit=0.05).fit(X, y)
    assert time.perf_counter() - begin < 3
