"""Exact paths over C and nu against fits, certificates and closed forms."""

from fractions import Fraction
from operator import mul

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.data import lfd_toy
from mercer.kernels import Laplacian, Polynomial, Spectrum, ThinPlate
from mercer.plots import coefficient_path
from mercer.selection import regularization_path
from mercer.selection.path_qp import StalledError


def clouds(n=36, share=0.5, repeated=0):
    """Return two overlapping clouds, some rows of which may be there twice."""
    rng = np.random.default_rng(1)
    y = (np.arange(n) < share * n).astype(int)
    X = rng.normal(size=(n, 2)) + y[:, None]
    return np.vstack([X, X[:repeated]]), np.concatenate([y, y[:repeated]])


def is_optimal(path, value):
    """Return whether a point of a path has a gap of rounding size only."""
    proof = path.certificate(value)
    return proof.status == "optimal" and (
        proof.relative_gap < 1e-9 or proof.gap < 10 * proof.rounding
    )


@pytest.mark.parametrize(
    ("params", "data"),
    [
        ({"kernel": "rbf", "gamma": 0.5}, {}),
        ({"kernel": "rbf", "gamma": 0.5}, {"share": 0.3}),  # classes of different size
        ({"kernel": "rbf", "gamma": 0.5, "class_weight": {0: 1.0, 1: 2.5}}, {"repeated": 8}),
        ({"kernel": "rbf", "gamma": 0.5, "fit_intercept": False}, {"share": 0.4}),
        ({"kernel": "linear"}, {"repeated": 8}),  # a singular kernel matrix
        ({"kernel": "poly", "degree": 2, "gamma": 0.5}, {"share": 0.6, "repeated": 3}),
    ],
)
def test_the_path_over_c_equals_fits_at_fifty_points(params, data):
    X, y = clouds(**data)
    path = regularization_path(SVC(**params), X, y, stop=300.0)
    assert path.status == "complete"
    assert (np.diff(path.breakpoints) > 0).all()
    values = np.geomspace(1e-3, 299.0, 50)
    assert all(is_optimal(path, value) for value in values)
    for value in values[::7]:
        model = SVC(C=value, tol=1e-8, **params).fit(X, y)
        found = path.decision_function(X, value)
        assert found == pytest.approx(model.decision_function(X), abs=2e-5)
        assert path.certificate(value).dual == pytest.approx(model.certificate_.primal, rel=1e-6)


def test_solutions_are_linear_between_breakpoints_and_not_across_them():
    X, y = clouds()
    path = regularization_path(SVC(gamma=0.5), X, y, stop=100.0)
    a, b = path.breakpoints[20:22]
    middle = 0.5 * (path.at(a).coef + path.at(b).coef)
    assert path.at(0.5 * (a + b)).coef == pytest.approx(middle, abs=1e-10)
    before, after = path.at(b).coef - path.at(a).coef, path.at(path.breakpoints[22]).coef
    slopes = before / (b - a), (after - path.at(b).coef) / (path.breakpoints[22] - b)
    assert np.abs(slopes[0] - slopes[1]).max() > 1e-6


def test_the_toy_path_ends_at_the_hard_margin():
    X, y = lfd_toy()
    path = regularization_path(SVC(kernel="linear"), X, y)
    assert path.breakpoints == pytest.approx([0, 2 / 9, 1 / 3, 2 / 3, 1, np.inf])
    assert path.at(1e6).coef * y == pytest.approx([0.5, 0.5, 1.0, 0.0])
    assert path.at(1e6).intercept == pytest.approx(-1.0)
    # Below the first breakpoint every row is at its bound, and an interval of intercepts is right.
    with pytest.warns(UserWarning, match="the intercept is not unique"):
        model = SVC(kernel="linear", C=0.1, tol=1e-10).fit(X, y)
    assert len(model.free_support_) == 0
    assert path.at(0.1).intercept == pytest.approx(model.intercept_[0], abs=1e-8)
    assert path.coef.shape == (5, 4)


@pytest.mark.parametrize("share", [0.5, 0.3])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_path_over_nu_equals_fits(kernel, share):
    X, y = clouds(share=share, repeated=4)
    machine = NuSVC(kernel=kernel, gamma=2.0)
    path = regularization_path(machine, X, y)
    counts = np.bincount(y)
    assert path.breakpoints[0] == pytest.approx(2 * counts.min() / len(y))
    assert (np.diff(path.breakpoints) < 0).all()
    values = np.linspace(0.05, path.breakpoints[0], 50)
    assert all(is_optimal(path, value) for value in values)
    fits = 0
    for value in values[10:-1:8]:
        if path.at(value).rho < 1e-6:  # a margin of 0: the function is not determined
            continue
        model = NuSVC(nu=value, kernel=kernel, gamma=2.0, tol=1e-9).fit(X, y)
        found = path.decision_function(X, value)
        assert found == pytest.approx(model.decision_function(X), abs=1e-4)
        assert path.at(value).rho == pytest.approx(model.rho_, rel=1e-4)
        fits += 1
    assert fits >= 2


def test_a_margin_of_zero_gives_the_zero_function_as_a_fit_does():
    X, y = np.repeat([[0.0], [1.0], [3.0]], 2, axis=0), [0, 1, 0, 1, 0, 1]
    path = regularization_path(NuSVC(gamma=0.5), X, y)
    assert path.at(0.4).rho == 0.0
    fitted = NuSVC(gamma=0.5, nu=0.4).fit(X, y).decision_function(X)
    assert path.decision_function(X, 0.4).tolist() == [0.0] * 6
    assert fitted == pytest.approx(0.0, abs=1e-14)


def test_the_path_of_one_class_passes_values_without_free_vectors():
    X, _ = clouds(n=20)
    path = regularization_path(OneClassSVM(gamma=0.5), X)
    assert path.breakpoints[[0, -1]] == pytest.approx([1.0, 0.0], abs=1e-12)
    assert all(is_optimal(path, value) for value in np.linspace(0.02, 1.0, 50))
    for value in (0.1, 0.35, 0.5, 0.77, 1.0):  # 0.1, 0.35, 0.5: nu n is a whole number
        model = OneClassSVM(nu=value, gamma=0.5, tol=1e-9).fit(X)
        assert path.at(value).rho == pytest.approx(model.rho_, abs=1e-5)
        assert path.decision_function(X, value) == pytest.approx(
            model.decision_function(X), abs=1e-5
        )


def test_weights_are_repetitions():
    X, y = clouds(n=20)
    weight = 1.0 + (np.arange(20) % 3 == 0)
    twice = np.repeat(np.arange(20), weight.astype(int))
    for machine in (SVC(gamma=0.5), NuSVC(gamma=0.5), OneClassSVM(gamma=0.5)):
        one = regularization_path(machine, X, y, sample_weight=weight)
        other = regularization_path(machine, X[twice], y[twice])
        for value in (0.2, 0.4, 0.55):
            found = one.decision_function(X, value)
            assert found == pytest.approx(other.decision_function(X, value), abs=1e-8)


def test_any_objects_and_machines_of_the_path():
    words = ["abab", "abba", "aabb", "bcbc", "cbbc", "ccbb"]
    labels = [0, 0, 0, 1, 1, 1]
    path = regularization_path(SVC(kernel=Spectrum(2)), words, labels)
    assert is_optimal(path, 0.3)
    machine = path.machine(0.3)
    assert machine.certificate_.status == "optimal"
    assert path.decision_function(words, 0.3) == pytest.approx(
        machine.decision_function(words), abs=1e-2
    )


def test_paths_are_drawn():
    X, y = clouds(n=20)
    path = regularization_path(SVC(gamma=0.5), X, y, stop=10.0)
    axes = coefficient_path(path)
    assert axes.get_xscale() == "log"
    bounded = [line for line in axes.lines if len(line.get_ydata()) > len(path.breakpoints)]
    assert max(np.abs(line.get_ydata()).max() for line in bounded) == pytest.approx(1.0)
    assert "Segment" not in repr(path)  # which would print all solutions
    axes = coefficient_path(regularization_path(OneClassSVM(gamma=0.5), X))
    assert axes.get_xlabel() == "nu"


def test_what_has_no_path_is_refused():
    X, y = clouds(n=20)
    with pytest.raises(TypeError, match="SVC, NuSVC and OneClassSVM"):
        regularization_path(SVR(), X, y)
    with pytest.raises(ValueError, match="two classes; got 3"):
        regularization_path(SVC(), X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="linear price"):
        regularization_path(SVC(penalty_norm=2), X, y)
    with pytest.raises(ValueError, match="convex problem"):
        regularization_path(SVC(kernel=ThinPlate()), X, y)
    path = regularization_path(SVC(), X, y, stop=1.0)
    with pytest.raises(ValueError, match=r"C=2\.0 is not on the path"):
        path.at(2.0)
    assert regularization_path(SVC(), X, y, max_breaks=3).status == "limit"


def test_beyond_the_last_breakpoint_nothing_moves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    path = regularization_path(SVC(gamma=0.5), X, X[:, 0] + 0.3 * rng.normal(size=40) > 0)
    last = path.breakpoints[-2]
    assert path.status == "complete"
    assert last < 1e9  # rounding used to give a breakpoint at 1e16
    end = path.at(2.0 * last)
    assert np.array_equal(path.at(1e12).coef, end.coef)
    assert path.certificate(1e6 * last).status == "optimal"


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), NuSVC(kernel="linear")])
def test_the_path_of_a_linear_machine_far_from_the_origin(machine):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(25, 2)), 3)
    y = X[:, 0] + 0.5 * rng.normal(size=25) > 0
    far = X + 2.0**20
    a, b = (regularization_path(machine, rows, y) for rows in (X, far))
    np.testing.assert_allclose(a.breakpoints, b.breakpoints, rtol=1e-6)
    for value in a.breakpoints[1:-1] * 0.99:
        near, there = a.at(value), b.at(value)
        np.testing.assert_allclose(near.coef, there.coef, atol=1e-7 * value)
        if near.rho > 1e-6:  # otherwise NuSVC has no margin to divide by
            f, g = a.decision_function(X, value), b.decision_function(far, value)
            np.testing.assert_allclose(f, g, atol=1e-5)


def test_a_path_that_float64_cannot_follow_says_so():
    rng = np.random.default_rng(31)
    X = 1e-3 * rng.normal(size=(36, 2))
    path = regularization_path(SVC(gamma=5.0), X, X[:, 0] + 5e-4 * rng.normal(size=36) > 0)
    proved = [path.certificate(c).status for c in path.breakpoints[1:-1]]
    assert (path.status == "complete") == (set(proved) == {"optimal"})
    assert path.status == "precision_limit"


def test_dual_values_do_not_exceed_the_optimum_far_from_the_origin():
    X = [[1001.2524723497116, 999.6761033785264], [998.8983562432394, 999.2012648938783]]
    X += [[1001.7774511121114, 999.6495901384227]]
    machine = SVC(kernel=Polynomial(2, gamma=1.0))
    path = regularization_path(machine, X, [1, 1, 0], sample_weight=[1e3, 2.0, 2.0], stop=1e4)
    # From all active sets, in 80 digits.
    optimum = 1.24605443271534404e-6
    for cost in (0.2, 4.0):
        assert path.certificate(cost).dual <= optimum <= path.certificate(cost).primal


def test_the_path_of_equal_rows_is_a_line():
    """Every K x is rounding of sums whose terms are 1."""
    y = np.array([0, 1, 0, 0, 1, 1, 0, 0, 0, 1])
    path = regularization_path(NuSVC(kernel=Laplacian(0.5)), np.full((10, 1), 3.0), y)
    assert path.status == "complete"
    np.testing.assert_allclose(path.breakpoints, [0.8, 0.0])
    for nu in (0.8, 0.3):
        coef = path.at(nu).coef
        np.testing.assert_allclose([coef[y == 1].sum(), coef[y == 0].sum()], [5 * nu, -5 * nu])
        np.testing.assert_allclose(path.certificate(nu).primal, 0.0, atol=1e-12)


def test_a_path_that_cannot_begin_says_so(monkeypatch):
    def stalled(*_):
        raise StalledError

    monkeypatch.setattr("mercer.selection.solution_path.minimise", stalled)
    with pytest.raises(ValueError, match="the path cannot begin"):
        regularization_path(NuSVC(), [[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), OneClassSVM(kernel="linear")])
@pytest.mark.parametrize("seed", [2, 11, 25])
def test_certificates_bound_the_objective_in_rational_arithmetic(machine, seed):
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, size=(8, 3)).astype(float)
    y = np.where(np.arange(8) % 2, 1, -1) if isinstance(machine, SVC) else np.ones(8, dtype=int)
    weight = 10.0 ** random.integers(-5, 6, size=8)
    path = regularization_path(machine, X, y, sample_weight=weight)
    rows, s = [[Fraction(x) for x in row] for row in X.tolist()], [Fraction(x) for x in weight]
    for value in path.breakpoints[(path.breakpoints > 0.0) & np.isfinite(path.breakpoints)]:
        point, proof = path.at(value), path.certificate(value)
        beta = [Fraction(b) for b in point.coef.tolist()]
        w = [sum(map(mul, beta, column)) for column in zip(*rows, strict=True)]
        b, rho, price, reward = Fraction(point.intercept), Fraction(1), Fraction(float(value)), 0
        if isinstance(machine, OneClassSVM):
            b, rho, price = Fraction(0), Fraction(point.rho), Fraction(1)
            reward = Fraction(float(value)) * sum(s) * rho
        f = [sum(map(mul, w, row)) + b for row in rows]
        slack = [max(Fraction(0), rho - int(v) * g) for v, g in zip(y, f, strict=True)]
        primal = sum(map(mul, w, w)) / 2 - reward + price * sum(map(mul, s, slack))
        assert proof.dual <= primal <= proof.primal
