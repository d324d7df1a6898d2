"""Hard tubes on badly conditioned data: solved by an interior point, or refused with evidence."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from mercer import SVR, NotSeparableError
from mercer.gram import Gram
from mercer.kernels import RBF, Kernel, Linear, Polynomial
from mercer.losses import EpsilonInsensitive, PiecewiseQuadratic
from mercer.machines.support_vector.regressor import KernelRegressor
from mercer.solvers import feature_interior_point as interior_point
from mercer.solvers.feature_interior_point import pivoted_cholesky

Array = NDArray[np.float64]

SCALES = np.array([1e3, 1.0, 1e-2, 10.0, 1.0])


def badly_scaled(n: int = 300) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X * SCALES, X @ [1.0, -2.0, 0.5, 0.0, 3.0] + rng.uniform(-0.2, 0.2, n)


def noisy_sinc(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, n))
    return x[:, None], np.sinc(x) + 0.05 * rng.uniform(-1, 1, n)


def assert_proved(model: SVR, X: Array, y: Array, tol: float = 1e-3) -> None:
    """Check the certificate against the function itself: its norm, its tubes, a lower bound."""
    proof = model.certificate_
    assert proof.status == "optimal"
    assert np.abs(y - model.predict(X)).max() <= model.epsilon + tol
    beta, rows = model.dual_coef_[0], model.support_
    norm2 = beta @ model.kernel_(X[rows]) @ beta
    assert 0.0 <= proof.primal - 0.5 * norm2 * (1 - 1e-6) <= proof.rounding + 1e-6 * norm2
    assert beta.sum() == pytest.approx(0, abs=1e-9 * np.abs(beta).sum())
    bound = y[rows] @ beta - model.epsilon * np.abs(beta).sum() - 0.5 * norm2
    assert proof.dual <= bound + 1e-6 * abs(bound)
    assert proof.relative_gap < 1e-2


CASES: dict[str, tuple[Any, Kernel, float]] = {
    "scales": (badly_scaled(), Linear(), 0.25),
    "wide Gaussian": (noisy_sinc(100), RBF(0.1), 0.1),
    "narrow Gaussian": (noisy_sinc(100), RBF(100.0), 0.01),
    "polynomial": (noisy_sinc(100), Polynomial(9, gamma=1.0, coef0=1.0), 0.1),
}


@pytest.mark.parametrize(("data", "kernel", "epsilon"), CASES.values(), ids=CASES)
def test_badly_conditioned_tubes_are_found(data: Any, kernel: Kernel, epsilon: float) -> None:
    X, y = data
    begin = time.perf_counter()
    model = SVR(C=np.inf, kernel=kernel, epsilon=epsilon).fit(X, y)
    assert time.perf_counter() - begin < 5
    assert_proved(model, X, y)


def test_the_flattest_function_of_a_small_program() -> None:
    X, y = badly_scaled()
    model = SVR(C=np.inf, kernel="linear", epsilon=0.25).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    # No direction in which all constraints that are met exactly stay met lowers the norm.
    edge = np.abs(np.abs(y - X @ w - b) - 0.25) < 1e-4
    side = np.sign(y - X @ w - b)[edge]
    rows = -side[:, None] * np.column_stack([X[edge], np.ones(edge.sum())])
    step = linprog(np.append(w, 0.0), A_ub=rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    assert step.fun >= -1e-3 * np.linalg.norm(w)


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_program_agrees_on_what_is_feasible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, epsilon = 30, 8, 0.35
    X, y = rng.normal(size=(n, d)) * np.logspace(-2, 2, d), rng.normal(size=n)
    A = np.column_stack([X, np.ones(n)])
    limits = np.concatenate([y + epsilon, epsilon - y])
    smallest = linprog(
        [0.0] * (d + 1) + [1.0],
        A_ub=np.column_stack([np.vstack([A, -A]), -np.ones(2 * n)]),
        b_ub=limits - epsilon,
        bounds=(None, None),
    ).fun  # the half width of the thinnest tube
    for share, exists in ((1.02, True), (0.98, False)):
        model = SVR(C=np.inf, kernel="linear", epsilon=share * smallest)
        if exists:
            model.fit(X, y)
            assert np.abs(y - model.predict(X)).max() <= model.epsilon + 1e-3
        else:
            with pytest.raises(NotSeparableError, match="no function stays within epsilon"):
                model.fit(X, y)


REFUSED: dict[str, tuple[Any, Kernel, float]] = {
    "scales": (badly_scaled(), Linear(), 0.15),
    "too smooth": (noisy_sinc(100), RBF(10.0), 0.02),
    "many rows": (noisy_sinc(600), RBF(10.0), 0.04),
}


@pytest.mark.parametrize(("data", "kernel", "epsilon"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_with_evidence(
    data: Any, kernel: Kernel, epsilon: float
) -> None:
    X, y = data
    begin = time.perf_counter()
    with pytest.raises(NotSeparableError) as caught:
        SVR(C=np.inf, kernel=kernel, epsilon=epsilon).fit(X, y)
    assert time.perf_counter() - begin < 10
    first, second = caught.value.first, caught.value.second
    for part in (first, second):
        assert np.all(part.weights > 0)
        assert part.weights.sum() == pytest.approx(1)
    # Nearly one point in feature space, with targets that no tube of this width holds.
    rows = np.concatenate([first.rows, second.rows])
    signed = np.concatenate([first.weights, -second.weights])
    distance = np.sqrt(max(signed @ kernel(X[rows]) @ signed, 0.0))
    assert max(distance, caught.value.distance) <= 1e-7 * np.sqrt(kernel.diag(X).max())
    assert signed @ y[rows] > 2 * epsilon


def test_an_early_stop_has_an_honest_proof() -> None:
    X, y = badly_scaled()
    exact = SVR(C=np.inf, kernel="linear", epsilon=0.25, tol=1e-6).fit(X, y).certificate_
    with pytest.warns(ConvergenceWarning):
        stopped = SVR(C=np.inf, kernel="linear", epsilon=0.25, max_iter=500).fit(X, y)
    proof = stopped.certificate_
    assert proof.status == "iteration_limit"
    assert proof.n_iter <= 500
    assert proof.dual <= exact.primal * (1 + 1e-6)
    assert proof.gap >= 0
    assert proof.kkt_violation > 1e-3
    # The model leaves its tubes, so its own norm may be smaller than any in them.
    assert proof.primal == pytest.approx(0.5 * np.sum(stopped.coef_**2), rel=1e-9)


def test_no_width_at_all() -> None:
    X, y = noisy_sinc(40)
    model = SVR(C=np.inf, kernel=RBF(20.0), epsilon=0.0, tol=1e-5).fit(X, y)
    assert model.predict(X) == pytest.approx(y, abs=1e-4)
    assert model.certificate_.status == "optimal"


def test_tubes_of_one_side_and_no_intercept() -> None:
    X, y = badly_scaled()
    tubes = np.column_stack([np.zeros(len(y)), np.full(len(y), 0.5)])
    model = SVR(C=np.inf, kernel="linear", fit_intercept=False)
    model.fit(X, y + 0.25, sample_epsilon=tubes)
    residual = y + 0.25 - model.predict(X)
    assert residual.min() >= -1e-3
    assert residual.max() <= 0.5 + 1e-3
    assert model.intercept_.tolist() == [0.0]


def test_what_does_not_fit_into_memory_ends_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = badly_scaled()
    gram = Gram(RBF(1.0), X)
    assert pivoted_cholesky(gram, 10) is None
    monkeypatch.setattr(interior_point, "pivoted_cholesky", lambda *_: None)
    monkeypatch.setattr("mercer.solvers.hard_tube._LAST_ROUNDS", 2)
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        model = SVR(C=np.inf, kernel="linear", epsilon=0.25).fit(X, y)
    assert model.certificate_.status == "iteration_limit"


def test_the_factor_is_a_root_of_the_matrix() -> None:
    X, _ = noisy_sinc(80)
    for kernel in (RBF(1.0), Linear(), Polynomial(4, gamma=1.0, coef0=1.0)):
        K = kernel(X)
        L = pivoted_cholesky(Gram(kernel, X), 80)
        assert L is not None
        assert pytest.approx(K, abs=1e-13 * K.max()) == L @ L.T
        assert L.shape[1] <= np.linalg.matrix_rank(K, tol=1e-16 * K.max()) + 10
    assert pivoted_cholesky(Gram(Linear(), X), 80).shape[1] == 1  # type: ignore[union-attr]


def test_an_interrupt_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = badly_scaled()
    step = interior_point._Method._step
    taken: list[int] = []

    def interrupted(self: Any, it: Any) -> Any:
        taken.append(1)
        if len(taken) > 20:
            raise KeyboardInterrupt
        return step(self, it)

    monkeypatch.setattr(interior_point._Method, "_step", interrupted)
    model = SVR(C=np.inf, kernel="linear", epsilon=0.25)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.predict(X)).all()


def test_a_listener_may_stop_it() -> None:
    X, y = badly_scaled()
    seen: list[float] = []

    def stop(report: Any) -> bool:
        seen.append(report.violation)
        return report.iteration > 12_010  # two rounds of pair steps, and ten of the other kind

    model = SVR(C=np.inf, kernel="linear", epsilon=0.25).set_callbacks(stop)
    model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    begin = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        SVR(C=np.inf, kernel=RBF(10.0), epsilon=0.04, time_limit=0.01).fit(*noisy_sinc(600))
    assert time.perf_counter() - begin < 2


class Interpolation(KernelRegressor):
    """A machine given by a loss that has no tube."""

    def __init__(self, C: float = np.inf, kernel: Any = "rbf") -> None:
        self.C, self.kernel = C, kernel

    def _loss(self, extra: Any = None) -> PiecewiseQuadratic:
        return EpsilonInsensitive(0.0)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_advice_for_targets_out_of_reach_is_about_parameters_that_exist() -> None:
    X, y = [[0.0], [0.0], [1.0]], [0.0, 1.0, 2.0]
    with pytest.raises(NotSeparableError, match=r"within epsilon .* finite C, a larger epsilon or"):
        SVR(C=np.inf, epsilon=0.1, kernel=RBF(1.0)).fit(X, y)
    with pytest.raises(
        NotSeparableError, match=r"no function attains all .* a finite C or another"
    ):
        Interpolation(kernel=RBF(1.0)).fit(X, y)
