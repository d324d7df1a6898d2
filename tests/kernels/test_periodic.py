"""Periodic kernels: Dirichlet and the periodic Gaussian."""

import numpy as np
import pytest

from mercer.kernels import RBF, BSpline, Dirichlet, FourierSeries, PeriodicGaussian, Periodized

circle = 2 * np.pi * np.arange(64)[:, None] / 64


@pytest.mark.spec("SM-3.19")
def test_dirichlet_is_a_quotient_of_sines_and_not_twice_the_sum_from_zero():
    u = np.linspace(0.05, 6.2, 200)
    for n in (0, 1, 4, 10):
        values = Dirichlet(n)([[0.0]], u[:, None])[0]
        np.testing.assert_allclose(values, np.sin((2 * n + 1) * u / 2) / np.sin(u / 2), atol=1e-11)
        cosines = np.cos(u[:, None] * np.arange(n + 1)).sum(axis=1)
        np.testing.assert_allclose(values, 2 * cosines - 1, atol=1e-12)
        assert np.abs(values - 2 * cosines).min() > 0.99  # the misprinted form
    assert Dirichlet(10)([[0.0]], [[0.3]]).item() == pytest.approx(-0.056259, abs=1e-6)


@pytest.mark.spec("SM-3.19")
def test_dirichlet_where_both_sines_vanish():
    turns = 2 * np.pi * np.arange(-3, 4)[:, None]
    np.testing.assert_allclose(Dirichlet(6)([[0.0]], turns), 13.0, rtol=1e-12)
    assert (Dirichlet(6).diag(circle) == 13.0).all()
    np.testing.assert_allclose(Dirichlet(2)(np.zeros((1, 3)), np.zeros((1, 3))), 125.0)


@pytest.mark.spec("SM-3.19")
def test_dirichlet_has_a_finite_rank_and_features():
    for n in (1, 3, 8):
        K = Dirichlet(n)(circle)
        assert np.linalg.matrix_rank(K, tol=1e-9) == 2 * n + 1
        features = Dirichlet(n).feature_map(circle)
        assert features.shape == (64, 2 * n + 1)
        np.testing.assert_allclose(features @ features.T, K, atol=1e-11)


@pytest.mark.spec("CS-3.17")
def test_eigenvalues_on_the_circle_are_the_coefficients():
    # On m equidistant points the eigenvalues are m a_0 and, twice each, m a_n / 2.
    K = Dirichlet(3)(circle)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(K))[-7:], [64.0] * 7)
    np.testing.assert_allclose(K, FourierSeries([1.0, 2.0, 2.0, 2.0])(circle), atol=1e-12)
    for kernel in (PeriodicGaussian(0.5), PeriodicGaussian(0.5, form="wrapped")):
        a = kernel.coefficients()
        expected = np.sort(np.concatenate([[64 * a[0]], np.repeat(32 * a[1:], 2)]))[::-1]
        eigenvalues = np.sort(np.linalg.eigvalsh(kernel(circle)))[::-1]
        np.testing.assert_allclose(eigenvalues[:20], expected[:20], atol=1e-12)
        np.testing.assert_allclose(kernel(circle), FourierSeries(a)(circle), atol=1e-12)


@pytest.mark.spec("SM-3.20")
@pytest.mark.parametrize(
    "kernel",
    [
        Dirichlet(5),
        PeriodicGaussian(0.3),
        PeriodicGaussian(2.0),
        PeriodicGaussian(0.3, form="unit"),
    ],
    ids=repr,
)
def test_a_period_changes_nothing(kernel):
    X = np.random.default_rng(0).uniform(0, 7, size=(12, 2))
    moved = X + 2 * np.pi * np.random.default_rng(1).integers(-20, 20, size=X.shape)
    np.testing.assert_allclose(kernel(X, moved), kernel(X), atol=1e-10 * np.abs(kernel(X)).max())
    np.testing.assert_allclose(kernel(X + 1.234), kernel(X), atol=1e-11)
    assert kernel.translation_invariant


@pytest.mark.spec("SM-3.21")
def test_the_series_has_the_published_values():
    values = PeriodicGaussian(1.0)([[0.0]], [[0.0], [np.pi]])[0]
    np.testing.assert_allclose(values, [0.753314, -0.481973], atol=5e-7)


@pytest.mark.spec("SM-3.21")
@pytest.mark.parametrize("sigma", [0.02, 0.3, 0.9, 0.95, 2.0, 5.0])
def test_narrow_and_wide_forms_are_one_function(sigma):
    # Narrow ones are summed over periods, wide ones as waves; both are the series.
    u = np.linspace(0, 7, 101)
    n = np.arange(1, 1000)
    series = np.cos(u[:, None] * n) @ np.exp(-0.5 * (n * sigma) ** 2)
    values = PeriodicGaussian(sigma)([[0.0]], u[:, None])[0]
    np.testing.assert_allclose(values, series, atol=1e-12 * np.abs(series).max())


@pytest.mark.spec("SM-3.21")
def test_the_constant_function_is_left_to_the_bias():
    K = PeriodicGaussian(0.7)(circle)
    np.testing.assert_allclose(K @ np.ones(64), 0, atol=1e-10)
    assert PeriodicGaussian(0.7).coefficients()[0] == 0
    assert PeriodicGaussian(0.7, form="unit").coefficients()[0] > 0


@pytest.mark.spec("SM-3.22")
@pytest.mark.parametrize(("variance", "span"), [(0.1, 3.963327), (1.0, 1.235287), (4.0, 0.270671)])
def test_rescaling_to_the_unit_interval(variance, span):
    sigma = np.sqrt(variance)
    ends = PeriodicGaussian(sigma)([[0.0]], [[0.0], [np.pi]])[0]
    assert ends[0] - ends[1] == pytest.approx(span, abs=1e-6)
    odd = np.arange(1, 100, 2)
    assert span == pytest.approx(2 * np.exp(-0.5 * odd**2 * variance).sum(), abs=1e-6)
    unit = PeriodicGaussian(sigma, form="unit")
    u = np.linspace(0, 2 * np.pi, 101)[:, None]
    values = unit([[0.0]], u)[0]
    np.testing.assert_allclose([values.max(), values.min()], [1.0, 0.0], atol=1e-12)
    series = PeriodicGaussian(sigma)([[0.0]], u)[0]
    np.testing.assert_allclose(values, (series - ends[1]) / (ends[0] - ends[1]), atol=1e-12)
    # Half the sum instead of the inverse of twice the sum, as printed, leaves the interval.
    printed = 0.5 * np.exp(-0.5 * odd**2 * variance).sum()
    assert abs((ends[0] - ends[1]) * printed - 1) > 0.2
    if variance == 0.1:
        assert -ends[1] == pytest.approx(0.5, abs=1e-6)


def test_the_unit_form_of_a_very_wide_gaussian_is_a_wave():
    # Every coefficient underflows, their ratios do not.
    u = np.linspace(0, 6, 13)[:, None]
    values = PeriodicGaussian(60.0, form="unit")([[0.0]], u)[0]
    np.testing.assert_allclose(values, (1 + np.cos(u[:, 0])) / 2, atol=1e-12)


@pytest.mark.spec("SM-3.23")
def test_the_wrapped_gaussian_is_the_theta_series():
    value = PeriodicGaussian(0.6, form="wrapped")([[0.0]], [[0.7]]).item()
    assert value == pytest.approx(0.5063356, abs=5e-8)
    X = np.random.default_rng(2).uniform(-9, 9, size=(15, 1))
    for sigma, period in ((0.6, 2 * np.pi), (0.2, 3.0), (2.0, 3.0)):
        wrapped = Periodized(RBF.from_sigma(sigma), period).bind(X)
        direct = PeriodicGaussian(sigma, period, "wrapped")
        np.testing.assert_allclose(direct(X), wrapped(X), atol=1e-12)


@pytest.mark.spec("SM-3.24")
def test_dirichlet_oscillates_between_the_data_and_the_gaussian_does_not():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 2 * np.pi, 20))[:, None]
    y = np.sin(x[:, 0]) + 0.1 * rng.normal(size=20)
    grid = np.linspace(0, 2 * np.pi, 400)[:, None]
    errors = {}
    for kernel in (Dirichlet(10), PeriodicGaussian(1.0)):
        a = np.linalg.solve(kernel(x) + 1e-2 * np.eye(20), y)
        errors[type(kernel)] = np.mean((kernel(grid, x) @ a - np.sin(grid[:, 0])) ** 2)
        assert np.abs(kernel(x) @ a - y).max() < 0.35  # both follow the data
    assert errors[Dirichlet] > 10 * errors[PeriodicGaussian]


def test_several_columns_are_multiplied():
    X = np.random.default_rng(4).uniform(0, 6, size=(9, 3))
    for kernel in (Dirichlet(2), PeriodicGaussian(0.8), PeriodicGaussian(0.1, 4.0), BSpline()):
        columns = [kernel(X[:, [j]]) for j in range(3)]
        np.testing.assert_allclose(kernel(X), np.prod(columns, axis=0), atol=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dirichlet(-1), "order must be an integer of at least 0"),
        (lambda: Dirichlet(1.5), "order must be an integer"),
        (lambda: PeriodicGaussian(0.0), "sigma must be a number > 0"),
        (lambda: PeriodicGaussian(1.0, -1.0), "period must be a number > 0"),
        (lambda: PeriodicGaussian(1.0, form="round"), "form must be one of"),
        (lambda: PeriodicGaussian(30.0), "damped away"),
    ],
)
def test_parameters_out_of_range_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize("form", ["series", "unit", "wrapped"])
def test_derivatives_of_a_narrow_gaussian_do_not_sum_its_long_series(form):
    sigma, period = 1e-5, 365.0
    steps = np.array([0.0, 1.0, -2.0])  # in units of sigma; the series has 5e7 terms
    X = np.array([[0.0], [sigma], [period - 2 * sigma]])
    kernel = PeriodicGaussian(sigma, period, form)
    r = steps[:, None] - steps
    bump = np.exp(-(r**2) / 2)
    slope = bump * r**2 / sigma
    if form == "series":
        factor = period / (np.sqrt(8 * np.pi) * sigma)
        bump, slope = factor * bump - 0.5, factor * (slope - bump / sigma)
    np.testing.assert_allclose(kernel(X), bump, rtol=1e-6)
    np.testing.assert_allclose(kernel.gradient(X)["sigma"], slope, rtol=1e-5, atol=1e-6 / sigma)
