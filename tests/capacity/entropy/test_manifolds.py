"""Principal manifolds: uniform convergence of the quantisation error and learning rates."""

import math

import numpy as np
import pytest
import scipy.stats

from mercer.capacity import rates
from mercer.capacity.entropy import (
    MultiOutputClass,
    Spectrum,
    expected_excess,
    kegl_log_cover,
    manifold_distance,
    quantization_bound,
    quantization_error,
    smaller_cover,
)
from mercer.capacity.rates import measured_rates


@pytest.mark.spec("SM-9.26")
def test_quantisation_errors_are_bounded_and_lipschitz_in_the_manifold():
    rng = np.random.default_rng(0)
    r = 2.0

    def in_ball(n):
        points = rng.normal(size=(n, 3))
        return r * points / np.maximum(np.linalg.norm(points, axis=1), 1)[:, None] / 1.0

    X = in_ball(200)
    for _ in range(20):
        a = in_ball(15)
        b = a + 0.1 * rng.normal(size=a.shape)
        b *= np.minimum(1, r / np.linalg.norm(b, axis=1))[:, None]
        gap = abs(quantization_error(a, X) - quantization_error(b, X))
        assert gap <= 4 * r * manifold_distance(a, b)
        assert 0 <= quantization_error(a, X) <= (2 * r) ** 2
    assert quantization_error([[0.0]], [[1.0], [3.0]]) == 5.0
    with pytest.raises(ValueError, match="same parameters"):
        manifold_distance([[0.0]], [[0.0], [1.0]])


@pytest.mark.spec("SM-9.27", "SM-5.39")
def test_the_printed_constants_of_uniform_convergence_are_too_small():
    # One manifold at -1, points +-1 with probability 1/2: errors 0 or 4, mean 2.
    m, eta = 100, 0.4
    k = np.arange(m + 1)
    truth = scipy.stats.binom.pmf(k, m, 0.5)[np.abs(4 * k / m - 2) > eta].sum()
    assert truth == pytest.approx(0.035, abs=1e-3)
    printed = quantization_bound(eta, m, 0.0, radius=1.0, variant="thesis")
    safe = quantization_bound(eta, m, 0.0, radius=1.0)
    assert printed.value == pytest.approx(6.7e-4, rel=0.01)
    assert printed.value < truth
    assert printed.violated
    assert not safe.violated
    assert truth <= safe.value == pytest.approx(2 * math.exp(-2), rel=1e-6)
    # Invariance under x -> s x: eta scales with s^2, covers with s. The printed form is not.
    cover = lambda eps, n: 3.0 / eps  # noqa: E731
    for kind in ("uniform", "excess"):
        one = quantization_bound(0.5, 5000, cover, 1.0, kind).value
        scaled = quantization_bound(
            0.5 * 9, 5000, lambda eps, n: cover(eps / 3, n), 3.0, kind
        ).value
        assert scaled == pytest.approx(one, rel=1e-6)
    one, scaled = (
        quantization_bound(e, m, 0.0, r, variant="thesis").value
        for e, r in ((0.4, 1.0), (3.6, 3.0))
    )
    assert scaled < 1e-3 * one
    assert safe.value < quantization_bound(eta, m, 0.0, 1.0, kind="excess").value
    with pytest.raises(ValueError, match="variant"):
        quantization_bound(eta, m, 0.0, 1.0, variant="other")
    with pytest.raises(ValueError, match="n_samples"):
        quantization_bound(eta, 0, 0.0, 1.0)


@pytest.mark.spec("SM-9.27")
def test_simulated_deviations_stay_below_the_bound():
    rng = np.random.default_rng(0)
    manifolds = [np.array([[-1.0]]), np.array([[0.5]]), np.array([[-0.5], [0.5]])]
    m, eta, trials = 200, 0.35, 300
    big = rng.uniform(-1, 1, (20_000, 1))
    truth = [quantization_error(g, big) for g in manifolds]
    exceeded = 0
    for _ in range(trials):
        X = rng.uniform(-1, 1, (m, 1))
        errors = [quantization_error(g, X) for g in manifolds]
        exceeded += max(abs(e - t) for e, t in zip(errors, truth, strict=True)) > eta
    bound = quantization_bound(eta, m, math.log(3.0), radius=1.0).value
    assert exceeded / trials <= bound < 1


@pytest.mark.spec("SM-9.28")
def test_covers_of_curves_of_bounded_length():
    values = [kegl_log_cover(e, 1.0, 1.0, 10, 2) for e in (0.1, 0.01, 0.001)]
    np.testing.assert_allclose(values, [73.7, 233.5, 1529.4], atol=0.06)
    rates = measured_rates([kegl_log_cover(e, 1.0, 1.0, 10, 2) for e in (1e-5, 1e-6)], [1e-5, 1e-6])
    assert rates[0] == pytest.approx(-1.0, abs=0.01)  # ln N = O(1 / eps)
    # The sup norm dominates the difference of distances, so its covers serve (9.37).
    rng = np.random.default_rng(0)
    a = rng.normal(size=(30, 2))
    b = a + 0.05 * rng.normal(size=a.shape)
    X = rng.normal(size=(50, 2))
    distance = [np.sqrt(((X[:, None] - g) ** 2).sum(axis=2)).min(axis=1) for g in (a, b)]
    assert np.abs(distance[0] - distance[1]).max() <= manifold_distance(a, b)


@pytest.mark.spec("SM-9.33")
def test_the_expected_excess_bounds_its_integral():
    m, r = 10_000, 1.0
    found = expected_excess(m, lambda eps, n: 2.0 / eps, r)
    assert set(found.terms) == {"covering", "scale", "confidence"}
    # At the optimal eps: u + eps + the integral of the tail, by quadrature, is not larger.
    eps = found.terms["scale"]
    L = float(np.logaddexp(2.0 / (eps / (8 * r)), 0.0))
    u = math.sqrt(32 * r**4 * L / m)
    eta = np.linspace(u + eps, u + eps + 2.0, 200_001)
    log_tail = math.log(2.0) + L - m * (eta - eps) ** 2 / (32 * r**4)
    integral = float(np.trapezoid(np.exp(log_tail), eta))
    assert u == pytest.approx(found.terms["covering"])
    assert u + eps + integral <= found.value
    # int_x^inf exp(-t^2/2) <= exp(-x^2/2) / x
    for x in (0.3, 1.0, 3.0):
        gauss = scipy.stats.norm.sf(x) * math.sqrt(2 * math.pi)
        assert gauss <= math.exp(-(x**2) / 2) / x
    grid = [
        math.sqrt(32 * a / m) + e + math.sqrt(32 / (m * a))
        for e in np.geomspace(0.01, 4, 500)
        for a in [np.logaddexp(16.0 / e, 0.0)]
    ]
    assert found.value == pytest.approx(min(grid), rel=1e-4)
    printed = expected_excess(m, lambda eps, n: 2.0 / eps, r, variant="thesis")
    assert printed.value < found.value
    assert printed.violated


@pytest.mark.spec("SM-9.34")
@pytest.mark.parametrize("alpha", [1.0, 2.0, 4.0])
def test_learning_rates_for_polynomial_decay(alpha):
    sizes = [10**8, 10**10, 10**12]
    values = [expected_excess(m, lambda e, n: e ** (-2 / alpha), 1.0).value for m in sizes]
    slopes = measured_rates(values, sizes)
    predicted = rates.principal_manifold(alpha=alpha)
    assert predicted == -alpha / (2 * (alpha + 1))
    assert slopes[-1] == pytest.approx(predicted, abs=1.5e-3)
    # printed in the introduction: m^(-2 / (2 (alpha + 1))), which only alpha = 2 would attain
    if alpha != 2.0:
        assert abs(slopes[-1] + 1 / (alpha + 1)) > 0.05
    # the constant of (9.61), with the signs put right
    m, c = 1e10, 1.0
    eps = np.geomspace(1e-6, 1, 4000)
    leading = np.sqrt(2 ** (3 + 4 / alpha) * c / m) * eps ** (-1 / alpha) + eps
    thesis = expected_excess(10**10, lambda e, n: c * e ** (-2 / alpha), 1.0, variant="thesis")
    assert thesis.value == pytest.approx(leading.min(), rel=0.02)


@pytest.mark.spec("SM-9.34")
def test_learning_rates_for_exponential_decay_approach_one_half():
    manifolds = MultiOutputClass(Spectrum(np.exp(-(np.arange(50.0) ** 2) / 4)), 2)
    sizes = [10**8, 10**12]
    values = [expected_excess(m, manifolds.log_covering, 1.0).value for m in sizes]
    slope = measured_rates(values, sizes)[0]
    assert -0.5 < slope < -0.46
    assert slope == pytest.approx(-0.473, abs=0.01)
    assert rates.principal_manifold(p=2.0) == -0.5
    with pytest.raises(ValueError, match="either alpha"):
        rates.principal_manifold()


@pytest.mark.spec("SM-9.35")
def test_length_constraints_beat_slow_decay_only():
    for alpha in (1.0, 1.9, 2.1, 5.0):
        assert (rates.principal_manifold(alpha=alpha) < rates.KEGL_RATE) == (alpha > 2)
    by_length = lambda eps, n: kegl_log_cover(eps, 1.0, 1.0, 10, 2)  # noqa: E731
    by_norm = lambda eps, n: 50.0 * eps**-0.5  # noqa: E731
    both = smaller_cover(by_length, by_norm)
    for eps in (0.5, 0.01, 1e-5):
        assert both(eps, 1) == min(by_length(eps, 1), by_norm(eps, 1))
    found = [expected_excess(10**6, cover, 1.0).value for cover in (by_length, by_norm, both)]
    assert found[2] <= min(found[:2]) * (1 + 1e-6)
