"""The conversion table of docs/from-sklearn.md: every text's problem, solved as the text prints it.

Each problem is given to a general solver in the primal, slacks written out, with the constants of
the text; mercer gets those that the last column of the table makes of them. The two must find the
same function, and a line that no test asks for is missed.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import SVC, SVR, KernelRidge, NuSVC, NuSVR
from mercer.data import lfd_toy, noisy_sinc

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from-sklearn.md"
TIGHT = {"kernel": "linear", "tol": 1e-9}


def table():
    """Return the last column of the table by its second one, which is different in every line."""
    lines = re.findall(r"^\|(.*)\|(.*)\|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    columns = [(problem.strip(), code.strip()) for _, problem, code in lines]
    return dict(columns[columns.index(("problem as printed", "in mercer")) + 2 :])


def in_mercer(problem, **constants):
    """Return the parameters that the table gives for a problem, one dict for each way to say it."""
    ways = []
    for code in re.findall(r"`([^`]*=[^`]*)`", table()[problem]):
        names = {"NuSVC": dict, "NuSVR": dict, "KernelRidge": dict, "dict": dict} | constants
        ways.append(eval(code if "(" in code.split("=")[0] else f"dict({code})", names))
    return ways


# SLSQP's 8: no step improves any more, which is how it ends when asked for all digits.
CONVERGED = (0, 8)


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(3)
    y = np.where(np.arange(16) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(16, 2)) + 0.6 * y[:, None], y


@pytest.fixture(scope="module")
def targets():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(14, 2))
    return X, X @ [1.0, -0.5] + 0.4 * rng.standard_normal(14)


def minimise(objective, constraints, start):
    """Minimise a smooth convex function under constraints g(v) >= 0 (a list of functions)."""
    result = minimize(
        objective,
        start,
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": g} for g in constraints],
        options={"ftol": 1e-13, "maxiter": 2000},
    )
    assert result.status in CONVERGED, result.message
    return result.x


def classifier(X, y, penalty, *, half):
    """w, b of  (1/2 if half else 1) ||w||^2 + penalty(xi),  y f >= 1 - xi,  xi >= 0."""
    scale = 0.5 if half else 1.0
    v = minimise(
        lambda v: scale * v[:2] @ v[:2] + penalty(v[3:]),
        [lambda v: y * (X @ v[:2] + v[2]) - 1 + v[3:], lambda v: v[3:]],
        np.append(np.zeros(3), np.ones(len(y))),
    )
    return v[:2], v[2]


def regressor(X, y, penalty, epsilon, *, half):
    """w, b of  (1/2 if half else 1) ||w||^2 + penalty(xi),  |y - f| <= epsilon + xi,  xi >= 0."""
    scale = 0.5 if half else 1.0

    def residual(v):
        return y - X @ v[:2] - v[2]

    v = minimise(
        lambda v: scale * v[:2] @ v[:2] + penalty(v[3:]),
        [
            lambda v: epsilon + v[3:] - residual(v),
            lambda v: epsilon + v[3:] + residual(v),
            lambda v: v[3:],
        ],
        np.append(np.zeros(3), np.abs(y) + 1),
    )
    return v[:2], v[2]


def assert_same(model, plane):
    w, b = plane
    assert model.coef_.ravel() == pytest.approx(w, abs=2e-4)
    low, high = model.intercept_range_  # the bias of a text's solver may be anywhere in it
    assert low - 2e-4 <= b <= high + 2e-4


@pytest.mark.spec("CS-0.11")
def test_one_norm_primal_without_the_half_has_a_box_of_half_its_constant(classes):
    X, y = classes
    C = 0.8
    literal = classifier(X, y, lambda xi: C * xi.sum(), half=False)
    (params,) = in_mercer("‖w‖² + C Σ ξ (the primal)", C=C)
    assert_same(SVC(**params, **TIGHT).fit(X, y), literal)
    (params,) = in_mercer("box 0 ≤ α ≤ C (the dual printed with it)", C=C)
    same_box = SVC(**params, **TIGHT).fit(X, y)
    alpha = _box_dual(X @ X.T, y, C)
    assert same_box.coef_.ravel() == pytest.approx(X.T @ (alpha * y), abs=2e-4)
    assert np.abs(same_box.coef_.ravel() - literal[0]).max() > 0.01


@pytest.mark.spec("CS-0.11")
def test_two_norm_primal_without_the_half_is_half_its_constant(classes):
    X, y = classes
    C = 0.8
    plane = classifier(X, y, lambda xi: C * xi @ xi, half=False)
    (params,) = in_mercer("‖w‖² + C Σ ξ², diagonal shift 1/C", C=C)
    assert_same(SVC(**params, **TIGHT).fit(X, y), plane)
    shifted = _box_dual(X @ X.T + np.eye(len(y)) / C, y, None)
    assert X.T @ (shifted * y) == pytest.approx(plane[0], abs=2e-4)


@pytest.mark.spec("CS-0.11", "CS-6.26")
def test_both_norms_without_the_half_are_half_their_constants(classes):
    X, y = classes
    C1, C2 = 0.7, 2.0
    plane = classifier(X, y, lambda xi: C1 * xi.sum() + C2 * xi @ xi, half=False)
    (params,) = in_mercer("‖w‖² + C₁ Σ ξ + C₂ Σ ξ²", C1=C1, C2=C2)
    assert_same(SVC(**params, **TIGHT).fit(X, y), plane)


@pytest.mark.spec("CS-0.11")
def test_tubes_of_the_first_text(targets):
    X, y = targets
    quadratic = regressor(X, y, lambda xi: 3.0 * xi @ xi, 0.2, half=False)
    (params,) = in_mercer("‖w‖² + C Σ (ξ² + ξ̂²)", C=3.0)
    assert_same(SVR(**params, epsilon=0.2, **TIGHT).fit(X, y), quadratic)
    linear = regressor(X, y, lambda xi: 0.4 * xi.sum(), 0.2, half=True)
    (params,) = in_mercer("1/2 ‖w‖² + C Σ (ξ + ξ̂)", C=0.4)
    assert_same(SVR(**params, epsilon=0.2, **TIGHT).fit(X, y), linear)


@pytest.mark.spec("SS-18", "SM-1.04")
def test_the_constant_of_most_texts(classes, targets):
    X, y = classes
    plane = classifier(X, y, lambda xi: 0.6 * xi.sum(), half=True)
    (params,) = in_mercer("1/2 ‖w‖² + C Σ ξ", C=0.6)
    assert_same(SVC(**params, **TIGHT).fit(X, y), plane)
    (params,) = in_mercer("1/2 ‖w‖² + C Σ ξ (machine and tube)", C=0.6)
    assert_same(SVC(**params, **TIGHT).fit(X, y), plane)
    X, y = targets
    line = regressor(X, y, lambda xi: 0.6 * xi.sum(), 0.2, half=True)
    assert_same(SVR(**params, epsilon=0.2, **TIGHT).fit(X, y), line)


@pytest.mark.spec("LFD-64")
def test_lambda_times_norm_plus_mean_hinge(classes):
    X, y = classes
    lam = 0.1
    # 1/2 ||w||^2 + sum xi / (2 lambda l) is lambda ||w||^2 + mean(xi) divided by 2 lambda.
    plane = classifier(X, y, lambda xi: xi.mean() / (2 * lam), half=True)
    ways = in_mercer("λ ‖w‖² + (1/l) Σ ξ", **{"λ": lam, "l": len(y)})
    assert [set(params) for params in ways] == [{"lam"}, {"C"}]
    for params in ways:
        assert_same(SVC(**params, **TIGHT).fit(X, y), plane)


@pytest.mark.spec("LFD-64", "LFD-63")
def test_lambda_on_the_toy_set():
    X, y = lfd_toy()
    model = SVC(lam=0.25, **TIGHT).fit(X, y)
    w = model.coef_.ravel()
    hinge = np.maximum(0, 1 - y * model.decision_function(X)).mean()
    assert w == pytest.approx([2 / 3, -2 / 3], abs=1e-6)
    assert hinge == pytest.approx(1 / 6, abs=1e-6)
    assert 0.25 * w @ w + hinge == pytest.approx(7 / 18, abs=1e-9)
    assert model.score(X, y) == 1


@pytest.mark.spec("HO-50")
@pytest.mark.parametrize("k", [1, 2])
def test_powers_of_the_slack(classes, k):
    X, y = classes
    plane = classifier(X, y, lambda xi: 0.6 * (xi**k).sum(), half=True)
    (params,) = in_mercer("1/2 ‖w‖² + C Σ ξ^k, k = 1 or 2", C=0.6, k=k)
    assert_same(SVC(**params, **TIGHT).fit(X, y), plane)


@pytest.mark.spec("HO-50")
@pytest.mark.parametrize(
    ("C", "w", "b", "objective"),
    [
        (0.5, 4 / 7, -5 / 7, 4 / 7),
        (1, 8 / 11, -9 / 11, 8 / 11),
        (10, 0.963855, -0.975904, None),
    ],
)
def test_squared_slack_on_the_toy_set(C, w, b, objective):
    X, y = lfd_toy()
    model = SVC(C=C, penalty_norm=2, **TIGHT).fit(X, y)
    assert model.coef_.ravel() == pytest.approx([w, -w], abs=1e-6)
    assert model.intercept_[0] == pytest.approx(b, abs=1e-6)
    if objective is not None:
        assert model.certificate_.primal == pytest.approx(objective, abs=1e-8)


@pytest.mark.spec("SM-0.03", "SM-0.02")
def test_scales_of_the_data_term_in_the_thesis(targets):
    X, y = targets
    n, c = len(y), 0.3  # every problem below is 1/2 ||w||^2 + c sum xi
    line = regressor(X, y, lambda xi: c * xi.sum(), 0.2, half=True)
    printed = {
        "1/2 ‖w‖² + C Σ (ξ + ξ*), box [0, C]": {"C": c},
        "1/2 ‖w‖² + (C/l) Σ (ξ + ξ*), box [0, C/l]": {"C": c * n},
        "λ/2 ‖w‖² + (1/l) Σ (ξ + ξ*), box [0, 1/(λ l)]": {"λ": 1 / (c * n)},
        "λ/2 ‖w‖² + Σ (ξ + ξ*), box [0, 1/λ]": {"λ": 1 / c},
        "λ ‖w‖² + (1/l) Σ (ξ + ξ*); the box printed with it, [0, 1/(λ l)], is twice too large": {
            "λ": 1 / (2 * c * n)
        },
    }
    fits = []
    for problem, constants in printed.items():
        for params in in_mercer(problem, l=n, **constants):
            fits.append(SVR(**params, epsilon=0.2, **TIGHT).fit(X, y))
            assert_same(fits[-1], line)
            assert pytest.approx(c) == fits[-1].C_
    assert len(fits) == 7
    # With the box that (3.16) prints, 1 / (lambda l) = 2 c, the function is another one.
    other = SVR(C=2 * c, epsilon=0.2, **TIGHT).fit(X, y)
    assert np.abs(other.coef_ - fits[0].coef_).max() > 0.01


@pytest.mark.spec("SM-0.03", "SM-0.02")
def test_squared_loss_of_the_thesis_is_ridge_regression(targets):
    X, y = targets
    lam, n = 0.4, len(y)
    (params,) = in_mercer("λ/2 ‖w‖² + (1/l) Σ (y − f)²", **{"λ": lam, "l": n})
    w = np.linalg.solve(lam / 2 * np.eye(2) + X.T @ X / n, X.T @ y / n)  # its derivative is 0
    model = KernelRidge(**params, kernel="linear").fit(X, y)
    assert model.predict(X) == pytest.approx(X @ w)


@pytest.mark.spec("SM-0.02")
def test_sinc_of_the_thesis_has_no_pi():
    X, y = noisy_sinc(20, noise=0.0, random_state=0)
    assert y == pytest.approx(np.sin(X[:, 0]) / X[:, 0])


@pytest.mark.spec("SM-2.32")
def test_adaptive_tube_with_an_average_of_slacks(targets):
    X, y = targets
    n, C, nu = len(y), 5.0, 0.4
    v = minimise(
        lambda v: 0.5 * v[:2] @ v[:2] + C * (nu * v[3] + v[4:].mean()),
        [
            lambda v: v[3] + v[4:] - (y - X @ v[:2] - v[2]),
            lambda v: v[3] + v[4:] + (y - X @ v[:2] - v[2]),
            lambda v: v[3:],
        ],
        np.concatenate([np.zeros(4), np.abs(y) + 1]),
    )
    (params,) = in_mercer("1/2 ‖w‖² + C (ν ε + (1/l) Σ (ξ + ξ*))", **{"ν": nu, "C": C, "l": n})
    model = NuSVR(**params, **TIGHT).fit(X, y)
    assert_same(model, (v[:2], v[2]))


@pytest.mark.spec("SS-18")
def test_nu_machine_with_multipliers_that_sum_to_one(classes):
    X, y = classes
    nu = 0.6
    alpha = _nu_dual(X @ X.T, y, nu)
    f = X @ X.T @ (alpha * y)
    free = (alpha > 1e-6) & (alpha < 1 / (nu * len(y)) - 1e-6)
    rho = (f[free & (y > 0)].mean() - f[free & (y < 0)].mean()) / 2

    (params,) = in_mercer("α ≤ 1/(ν l), Σ α = 1", **{"ν": nu})
    model = NuSVC(**params, **TIGHT).fit(X, y)
    assert model.rho_ == pytest.approx(nu * len(y) * rho, rel=1e-4)
    # The decision function is divided by rho, which takes every scale out of it.
    assert model.coef_.ravel() == pytest.approx(X.T @ (alpha * y) / rho, abs=2e-4)


def test_every_line_of_the_table_is_asked_for():
    text = Path(__file__).read_text()
    asked = re.findall(r'in_mercer\(\s*"(.*?)"', text) + re.findall(r'^ +"(.*ξ.*)": \{', text, re.M)
    assert sorted(asked) == sorted(table())


def _box_dual(K, y, C):
    """The dual of the soft margin with the box [0, C], of the hard margin without one."""
    n = len(y)
    result = minimize(
        lambda a: 0.5 * (a * y) @ K @ (a * y) - a.sum(),
        np.full(n, 0.1),
        jac=lambda a: y * (K @ (a * y)) - 1,
        method="SLSQP",
        bounds=[(0, C)] * n,
        constraints=[{"type": "eq", "fun": lambda a: a @ y}],
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert result.status in CONVERGED, result.message
    return result.x


def _nu_dual(K, y, nu):
    n = len(y)
    result = minimize(
        lambda a: 0.5 * (a * y) @ K @ (a * y),
        np.full(n, 1 / n),
        jac=lambda a: y * (K @ (a * y)),
        method="SLSQP",
        bounds=[(0, 1 / (nu * n))] * n,
        constraints=[
            {"type": "eq", "fun": lambda a: a @ y},
            {"type": "eq", "fun": lambda a: a.sum() - 1},
        ],
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert result.status in CONVERGED, result.message
    return result.x
