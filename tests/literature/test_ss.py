"""Schölkopf and Smola: from the largest margin to nu machines, tubes and novelty detection."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer import SVC, SVR, Expansion, NuSVC, OneClassSVM
from mercer.data import lfd_toy, noisy_sinc, rings, xor
from mercer.gram import Gram
from mercer.kernels import RBF, FromFunction, Linear
from mercer.losses import EpsilonInsensitive, ZeroOne
from mercer.machines import InfeasibleNuError, virtual_support_vectors
from mercer.solvers import DualProblem, Settings, solve

Array = NDArray[np.float64]

TIGHT: dict[str, Any] = {"tol": 1e-10}
LINEAR: dict[str, Any] = {"kernel": "linear", **TIGHT}


def overlapping(n: int = 80, seed: int = 0) -> tuple[Array, Array]:
    """Two Gaussians that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.7 * y[:, None], y


def lagrangian(w: Array, b: float, alpha: Array, X: Array, y: Array) -> float:
    return float(0.5 * w @ w - alpha @ (y * (X @ w + b) - 1))


# ------------------------------------------------------------------ risk and similarity


@pytest.mark.spec("SS-01")
def test_zero_one_loss_is_half_the_difference_of_labels() -> None:
    y, f = np.array([1.0, 1.0, 1.0]), np.array([1.0, -1.0, 1.0])
    losses = ZeroOne().value(y, f)
    assert losses.tolist() == (0.5 * np.abs(f - y)).tolist()
    assert losses.mean() == pytest.approx(1 / 3)


@pytest.mark.spec("SS-01")
def test_empirical_risk_is_what_score_leaves() -> None:
    X, y = overlapping()
    model = SVC(kernel="linear").fit(X, y)
    risk = ZeroOne().value(y, model.decision_function(X)).mean()
    assert risk == pytest.approx(1 - model.score(X, y))
    assert risk > 0


def two_gram_counts(A: list[str], B: list[str]) -> Array:
    """Number of common substrings of length 2, with multiplicity: a p-spectrum kernel."""

    def counts(s: str) -> dict[str, int]:
        pairs = ["".join(p) for p in pairwise(s)]
        return {p: pairs.count(p) for p in pairs}

    return np.array(
        [[float(sum(n * counts(b).get(p, 0) for p, n in counts(a).items())) for b in B] for a in A]
    )


@pytest.mark.spec("SS-02")
def test_strings_with_a_callable_are_the_same_machine_as_their_gram_matrix() -> None:
    words = ["banana", "bandana", "ananas", "canal", "torrent", "current", "tenor", "rent"]
    new = ["panama", "parent"]
    y = [1, 1, 1, 1, 0, 0, 0, 0]
    K = two_gram_counts(words, words)
    on_matrix = SVC(kernel="precomputed", **TIGHT).fit(K, y)
    for kernel in (two_gram_counts, FromFunction(two_gram_counts)):
        on_strings = SVC(kernel=kernel, **TIGHT).fit(words, y)
        assert on_strings.alpha_ == pytest.approx(on_matrix.alpha_, abs=1e-12)
        assert on_strings.decision_function(new) == pytest.approx(
            on_matrix.decision_function(two_gram_counts(new, words)), abs=1e-12
        )
        assert on_strings.predict(new).tolist() == [1, 0]


# ------------------------------------------------------------------ the largest margin


@pytest.mark.spec("SS-13")
def test_no_direction_has_a_larger_margin() -> None:
    X, y = lfd_toy()
    model = SVC(C=np.inf, **LINEAR).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    # Canonical form: the closest points have |<w, x> + b| = 1 and margin 1 / |w|.
    assert np.abs(X @ w + b).min() == pytest.approx(1)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(w))
    assert model.margin_ == pytest.approx(np.sqrt(0.5))
    angle = np.linspace(0, 2 * np.pi, 3600, endpoint=False)
    directions = np.column_stack([np.cos(angle), np.sin(angle)])
    values = directions @ X.T
    gaps = values[:, y > 0].min(axis=1) - values[:, y < 0].max(axis=1)
    assert gaps.max() / 2 == pytest.approx(model.margin_, abs=1e-6)
    best = directions[gaps.argmax()]
    assert best == pytest.approx(w / np.linalg.norm(w), abs=1e-6)


@pytest.mark.spec("SS-13")
def test_points_on_opposite_margins_are_two_margins_apart() -> None:
    X, y = lfd_toy()
    model = SVC(C=np.inf, **LINEAR).fit(X, y)
    w = model.coef_[0]
    on_edge = model.margin_points()
    plus, minus = on_edge[y[on_edge] > 0], on_edge[y[on_edge] < 0]
    for p in plus:
        for m in minus:
            apart = (X[p] - X[m]) @ w / np.linalg.norm(w)
            assert apart == pytest.approx(np.sqrt(2))
            assert apart == pytest.approx(model.margin_width_)


@pytest.mark.spec("SS-14")
def test_the_solution_is_a_saddle_point_of_the_lagrangian() -> None:
    X, y = lfd_toy()
    model = SVC(C=np.inf, **LINEAR).fit(X, y)
    w, b, alpha = model.coef_[0], model.intercept_[0], model.alpha_
    assert alpha @ y == pytest.approx(0, abs=1e-12)
    assert alpha @ (y[:, None] * X) == pytest.approx(w, abs=1e-12)
    assert alpha * (y * (X @ w + b) - 1) == pytest.approx(0, abs=1e-9)
    for i in model.support_:
        assert b == pytest.approx(y[i] - X[i] @ w)
    centre = lagrangian(w, b, alpha, X, y)
    assert centre == pytest.approx(1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = np.maximum(0, alpha + rng.normal(size=4))
        assert lagrangian(w, b, other, X, y) <= centre + 1e-9
        step = rng.normal(size=3)
        assert lagrangian(w + step[:2], b + step[2], alpha, X, y) >= centre - 1e-9


@pytest.mark.spec("SS-15")
def test_dual_as_a_maximisation() -> None:
    X, y = lfd_toy()
    model = SVC(C=np.inf, **LINEAR).fit(X, y)
    Q = np.outer(y, y) * (X @ X.T)

    def dual(alpha: Array) -> float:
        return float(alpha.sum() - 0.5 * alpha @ Q @ alpha)

    assert dual(model.alpha_) == pytest.approx(1)
    assert model.certificate_.dual == pytest.approx(1)
    rng = np.random.default_rng(1)
    for _ in range(200):  # random feasible multipliers do not reach it
        alpha = rng.exponential(size=4)
        alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
        assert dual(alpha) <= 1 + 1e-12
    Z = rng.normal(size=(50, 2)) * 3
    signs = np.sign((y * model.alpha_) @ (X @ Z.T) + model.intercept_[0])
    assert signs.tolist() == model.predict(Z).tolist()


@pytest.mark.spec("SS-16")
def test_free_support_vectors_lie_on_the_lines_plus_and_minus_one() -> None:
    X, y = rings(60, noise=0.2, random_state=1)
    model = SVC(kernel=RBF(1.0), C=5, **TIGHT).fit(X, y)
    f = model.decision_function(X)
    assert len(model.free_support_) >= 4
    assert f[model.free_support_] == pytest.approx(y[model.free_support_], abs=1e-9)
    assert (y * f)[model.alpha_ == 0].min() >= 1 - 1e-9
    # Not the centres of the clusters: no support vector is the point nearest to the mean.
    inside = np.flatnonzero(y > 0)
    nearest = inside[np.linalg.norm(X[inside] - X[inside].mean(axis=0), axis=1).argmin()]
    assert nearest not in model.support_


@pytest.mark.spec("SS-17")
@pytest.mark.parametrize("C", [0.01, 0.5, 20.0])
def test_total_slack_bounds_the_number_of_training_errors(C: float) -> None:
    X, y = overlapping()
    model = SVC(C=C, **LINEAR).fit(X, y)
    f = model.decision_function(X)
    assert model.slack_ == pytest.approx(np.maximum(0, 1 - y * f), abs=1e-12)
    errors = (y * f <= 0).sum()
    assert 0 < errors <= model.slack_.sum()
    assert model.alpha_.max() <= C
    w = model.coef_[0]
    primal = 0.5 * w @ w + C * model.slack_.sum()
    assert primal == pytest.approx(model.certificate_.primal)
    assert primal == pytest.approx(model.certificate_.dual)


# ------------------------------------------------------------------ nu classification


@pytest.mark.spec("SS-18")
@pytest.mark.parametrize(
    ("nu", "w", "b", "rho", "C"),
    [
        (0.2, (1 / 2, -1 / 2), -1 / 2, 1 / 2, 5 / 2),
        (0.75, (7 / 12, -7 / 12), -7 / 8, 7 / 8, 8 / 21),
        (0.9, (2 / 3, -5 / 9), -1, 1, 5 / 18),
        (1.0, (3 / 4, -1 / 2), -9 / 8, 9 / 8, 2 / 9),
    ],
)
def test_nu_machines_of_the_toy_set(
    nu: float, w: tuple[float, float], b: float, rho: float, C: float
) -> None:
    X, y = lfd_toy()
    model = NuSVC(nu=nu, **LINEAR).fit(X, y)
    # In the text's scaling the multipliers sum to 1; in ours to nu times the number of points.
    found = model.rho_ / (nu * len(y))
    assert found == pytest.approx(rho)
    assert model.coef_[0] * found == pytest.approx(w)
    assert model.intercept_[0] * found == pytest.approx(b)
    assert model.equivalent_C_ == pytest.approx(C)
    assert model.equivalent_C_ == pytest.approx(1 / (len(y) * nu * found))
    alpha = model.alpha_ * model.rho_ / (nu * len(y))
    assert alpha.sum() == pytest.approx(1)
    assert alpha @ y == pytest.approx(0, abs=1e-12)
    assert alpha.max() <= 1 / (nu * len(y)) + 1e-12
    assert model.certificate_.primal == pytest.approx(model.certificate_.dual)


@pytest.mark.spec("SS-18")
def test_multipliers_of_nu_one_fifth_and_of_one() -> None:
    X, y = lfd_toy()
    low = NuSVC(nu=0.2, **LINEAR).fit(X, y)
    assert low.alpha_ * low.rho_ / 0.8 == pytest.approx([1 / 4, 1 / 4, 1 / 2, 0])
    high = NuSVC(nu=1.0, **LINEAR).fit(X, y)
    assert high.alpha_ * high.rho_ / 4 == pytest.approx([1 / 4] * 4)
    assert len(high.free_support_) == 0


@pytest.mark.spec("SS-18")
@pytest.mark.parametrize("nu", [0.2, 0.5, 0.8])
def test_nu_bounds_margin_errors_from_above_and_support_vectors_from_below(nu: float) -> None:
    X, y = overlapping()
    model = NuSVC(nu=nu, kernel=RBF(0.5), **TIGHT).fit(X, y)
    assert (model.slack_ > 1e-8).mean() <= nu <= (model.alpha_ > 0).mean()
    same = SVC(C=model.equivalent_C_, kernel=RBF(0.5), **TIGHT).fit(X, y)
    assert same.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-6)
    assert same.nu_ == pytest.approx(nu, abs=1e-6)


@pytest.mark.spec("SS-18")
def test_nu_is_feasible_up_to_twice_the_share_of_the_smaller_class() -> None:
    X, y = overlapping(40)
    rows = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)[:5]])
    largest = 2 * 5 / 25
    assert NuSVC(nu=largest).fit(X[rows], y[rows]).certificate_.status == "optimal"
    with pytest.raises(InfeasibleNuError, match=r"nu is infeasible.*at most nu=0\.4") as error:
        NuSVC(nu=largest + 1e-6).fit(X[rows], y[rows])
    assert error.value.largest_nu == pytest.approx(largest)


# ------------------------------------------------------------------ regression


@pytest.mark.spec("SS-19")
def test_epsilon_insensitive_loss() -> None:
    loss = EpsilonInsensitive(0.5)
    assert loss.value([1.0], [0.2]) == pytest.approx([0.3])
    residuals = np.linspace(-2, 2, 41)
    expected = np.maximum(0, np.abs(residuals) - 0.5)
    assert loss.value(residuals, np.zeros(41)) == pytest.approx(expected)


@pytest.mark.spec("SS-20")
def test_no_line_has_a_smaller_regularised_tube_loss() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, -0.5] + 0.3 * rng.standard_normal(30)
    C, eps = 0.7, 0.1

    def primal(w: Array, b: float) -> float:
        return float(0.5 * w @ w + C * np.maximum(0, np.abs(y - X @ w - b) - eps).sum())

    model = SVR(C=C, epsilon=eps, **LINEAR).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    best = primal(w, b)
    assert best == pytest.approx(model.certificate_.primal)
    assert best == pytest.approx(model.certificate_.dual)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(50):
            step = scale * rng.normal(size=3)
            assert primal(w + step[:2], b + step[2]) >= best


@pytest.mark.spec("SS-20", "SS-21")
@pytest.mark.parametrize(
    ("C", "eps", "beta", "w", "b", "dual"),
    [
        (10.0, 0.5, (-1 / 4, 0, 1 / 4), 0.5, 0.5, 0.125),
        (0.25, 0.5, (-1 / 4, 0, 1 / 4), 0.5, 0.5, 0.125),
        (0.1, 0.5, (-0.1, 0, 0.1), 0.2, 0.8, 0.08),
        (10.0, 0.0, None, 1.0, 0.0, 0.5),
        (10.0, 1.0, (0, 0, 0), 0.0, 1.0, 0.0),
    ],
)
def test_three_points_on_a_line(
    C: float, eps: float, beta: tuple[float, ...] | None, w: float, b: float, dual: float
) -> None:
    x = np.array([[0.0], [1.0], [2.0]])
    model = SVR(C=C, epsilon=eps, **LINEAR).fit(x, x[:, 0])
    signed = np.zeros(3)
    signed[model.support_] = model.dual_coef_[0]
    if beta is not None:  # a tube of width 0 shares the multipliers in more than one way
        assert signed == pytest.approx(beta)
    assert signed.sum() == pytest.approx(0, abs=1e-12)
    assert model.coef_[0, 0] == pytest.approx(w)
    assert model.intercept_[0] == pytest.approx(b)
    assert model.certificate_.dual == pytest.approx(dual)
    assert model.certificate_.primal == pytest.approx(dual)
    value = -eps * np.abs(signed).sum() + signed @ x[:, 0] - 0.5 * (signed @ x[:, 0]) ** 2
    assert value == pytest.approx(dual)


@pytest.mark.spec("SS-21")
def test_without_a_free_multiplier_the_bias_is_an_interval() -> None:
    x = np.array([[0.0], [1.0], [2.0]])
    model = SVR(C=0.1, epsilon=0.5, **LINEAR).fit(x, x[:, 0])
    assert len(model.free_support_) == 0
    assert model.intercept_range_ == pytest.approx([0.5, 1.1])

    def primal(b: float) -> float:
        return float(0.02 + 0.1 * np.maximum(0, np.abs(x[:, 0] - 0.2 * x[:, 0] - b) - 0.5).sum())

    assert [primal(0.5), primal(1.1)] == pytest.approx([0.08, 0.08])
    assert primal(0.49) > 0.08 + 1e-4
    assert primal(1.11) > 0.08 + 1e-4


@pytest.mark.spec("SS-22")
def test_a_wider_tube_has_fewer_support_vectors() -> None:
    X, y = noisy_sinc(80, random_state=0)
    C, counts = 1.0, []
    for eps in (0.0, 0.05, 0.1, 0.2, 0.4):
        model = SVR(kernel=RBF(0.5), C=C, epsilon=eps, **TIGHT).fit(X, y)
        beta = np.zeros(len(y))
        beta[model.support_] = model.dual_coef_[0]
        excess = np.abs(y - model.predict(X)) - eps
        assert np.all(beta[excess < -1e-8] == 0)  # inside
        assert np.abs(excess[(beta != 0) & (np.abs(beta) < C)]) == pytest.approx(0, abs=1e-8)
        assert np.all(np.abs(beta[excess > 1e-8]) == C)  # outside
        assert np.all((model.point_status_ == "outside tube") == (excess > 1e-8))
        counts.append(len(model.support_))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == len(y) > counts[-1] > 0


# ------------------------------------------------------------------ one architecture


@pytest.mark.spec("SS-25")
def test_every_machine_is_a_kernel_expansion(tmp_path: Path) -> None:
    X, y = overlapping(40)
    Z = np.random.default_rng(5).normal(size=(20, 2))
    kernel = RBF(0.5)
    classifier = SVC(kernel=kernel, **TIGHT).fit(X, y)
    regressor = SVR(kernel=kernel, **TIGHT).fit(X, y)
    detector = OneClassSVM(kernel=kernel, nu=0.3, **TIGHT).fit(X)
    for model, output in (
        (classifier, classifier.decision_function),
        (regressor, regressor.predict),
        (detector, detector.decision_function),
    ):
        f = model.expansion_
        by_hand = kernel(Z, X[model.support_]) @ model.dual_coef_[0] + model.intercept_[0]
        assert f(Z) == pytest.approx(by_hand, abs=1e-12)
        assert output(Z) == pytest.approx(by_hand, abs=1e-12)
        path = tmp_path / "expansion"
        f.save(path)
        assert Expansion.load(path)(Z).tolist() == f(Z).tolist()
    assert classifier.predict(Z).tolist() == np.sign(classifier.expansion_(Z)).tolist()


@pytest.mark.spec("SS-25")
def test_a_kernel_principal_component_is_an_expansion_too() -> None:
    X = np.random.default_rng(6).normal(size=(12, 2))
    values, vectors = np.linalg.eigh(RBF(0.5)(X))
    component = Expansion(RBF(0.5), X, vectors[:, -1] / np.sqrt(values[-1]))
    assert component.norm2() == pytest.approx(1)
    assert component(X) == pytest.approx(np.sqrt(values[-1]) * vectors[:, -1])


# ------------------------------------------------------------------ novelty and invariances


@pytest.mark.spec("SS-28")
def test_one_class_machine_on_orthogonal_points_weighs_all_alike() -> None:
    m = 5
    for nu in (0.2, 0.5, 1.0):
        model = OneClassSVM(kernel="precomputed", nu=nu, **TIGHT).fit(np.eye(m))
        assert model.dual_coef_[0] / (nu * m) == pytest.approx(np.full(m, 1 / m))
        assert model.score_samples(np.eye(m)) / (nu * m) == pytest.approx(np.full(m, 1 / m))


@pytest.mark.spec("SS-28")
@pytest.mark.parametrize("nu", [0.1, 0.35, 0.7])
def test_nu_bounds_outliers_from_above_and_support_vectors_from_below(nu: float) -> None:
    X, _ = overlapping(60)
    model = OneClassSVM(kernel=RBF(0.5), nu=nu, **TIGHT).fit(X)
    f = model.decision_function(X)
    assert (f < -1e-8).mean() <= nu <= (model.alpha_ > 0).mean()
    assert model.score_samples(X)[model.free_support_] == pytest.approx(model.rho_, abs=1e-9)
    assert model.certificate_.primal == pytest.approx(model.certificate_.dual)


@pytest.mark.spec("SS-28", code="src/mercer/machines/support_vector/virtual.py")
def test_virtual_support_vectors_teach_an_invariance() -> None:
    # Labels that do not change when the point is turned by a quarter: shown at one angle only,
    # the machine learns the other three from its transformed support vectors.
    X, y = rings(80, noise=0.2, random_state=3)
    seen = (X[:, 0] > 0) & (X[:, 1] > 0)
    model = SVC(kernel=RBF(1.0), C=10).fit(X[seen], y[seen])

    def turn(quarters: int) -> Any:
        c, s = [(0, 1), (-1, 0), (0, -1)][quarters - 1]
        return lambda Z: Z @ np.array([[c, s], [-s, c]])

    V, labels = virtual_support_vectors(model, [turn(1), turn(2), turn(3)])
    n = len(model.support_)
    assert V.shape == (4 * n, 2)
    assert V[:n].tolist() == model.support_vectors_.tolist()
    assert V[n : 2 * n] == pytest.approx(turn(1)(model.support_vectors_))
    assert labels.tolist() == np.tile(y[seen][model.support_], 4).tolist()
    taught = SVC(kernel=RBF(1.0), C=10).fit(V, labels)
    assert taught.score(X, y) > 0.9 > model.score(X, y)


# ------------------------------------------------------------------ advantages


@pytest.mark.spec("SS-29", "SM-4.01")
@pytest.mark.parametrize("n", [60, 2200])
def test_the_optimum_does_not_depend_on_the_start(n: int) -> None:
    X, y = overlapping(n)
    C = 0.5
    outer = C * y
    problem = DualProblem(
        np.minimum(outer, 0.0), np.maximum(outer, 0.0), -y, group=np.zeros(n, dtype=np.int64)
    )
    gram = Gram(RBF(0.5), X, "float64")
    tol = 1e-5
    cold = solve(problem, gram, Settings(tol=tol))
    rng = np.random.default_rng(0)
    for _ in range(2):
        # Both classes have as many points: the same sizes for both keep the sum at 0.
        start, sizes = np.empty(n), rng.uniform(0, C, n // 2)
        start[y > 0], start[y < 0] = sizes, -rng.permutation(sizes)
        warm = solve(problem, gram, Settings(tol=tol), start=start)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
        # A positive definite kernel: the multipliers are unique too.
        assert warm.values == pytest.approx(cold.values, abs=1e-3)


@pytest.mark.spec("SS-29")
def test_the_support_vectors_hold_all_the_information() -> None:
    X, y = overlapping(60)
    model = SVC(kernel=RBF(0.5), **TIGHT).fit(X, y)
    assert 0 < len(model.support_) < len(y)
    again = model.refit_on_support()
    assert again.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-8)


@pytest.mark.spec("SS-29")
def test_parameters_are_modular() -> None:
    # Any kernel with any machine: XOR needs only another kernel, not another algorithm.
    X, y = xor()
    assert SVC(kernel=Linear(), C=100).fit(X, y).score(X, y) < 1
    for kernel in ((1 + Linear()) ** 2, RBF(1.0), Linear() + 0.5 * RBF(2.0)):
        assert SVC(kernel=kernel, C=100).fit(X, y).score(X, y) == 1
        assert NuSVC(kernel=kernel, nu=0.5).fit(X, y).score(X, y) == 1
