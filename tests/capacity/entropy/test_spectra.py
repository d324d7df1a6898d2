"""Spectra of kernels: closed forms, periodic extensions, lattices, Gram matrices."""

import itertools
import math

import numpy as np
import pytest
import scipy.integrate

from mercer.capacity.entropy import (
    MercerMap,
    Spectrum,
    choose_period,
    diagonal_radius,
    entropy_A,
    exact_period,
    feature_box,
    lattice_shells,
    tail_bounds,
    uncentred_covariance_spectrum,
    wrap_error,
)
from mercer.capacity.entropy.transforms import transform_of
from mercer.kernels import (
    RBF,
    BSpline,
    Constant,
    DampedOscillator,
    Exponential,
    Laplacian,
    Linear,
    LogDistance,
    Matern,
    Periodized,
    RadialBSpline,
)

periodic = Spectrum.from_translation_invariant
GAUSSIAN = RBF(gamma=1.0)  # exp(-x^2)


@pytest.mark.spec("SM-8.52", "SM-8.53")
def test_lattice_shells_are_counted_exactly():
    assert list(lattice_shells(2, 10).count) == [1, 4, 4, 0, 4, 8, 0, 0, 4, 4, 8]
    assert list(lattice_shells(3, 10).count) == [1, 6, 12, 8, 6, 24, 24, 0, 12, 30, 24]
    assert [lattice_shells(d, 10).cumulative[-1] for d in (2, 3, 4)] == [37, 147, 569]
    assert list(lattice_shells(8, 5).count) == [1, 16, 112, 448, 1136, 2016]
    for d in (1, 2, 3):  # by enumeration
        squares = [sum(x * x for x in j) for j in itertools.product(range(-6, 7), repeat=d)]
        expected = [squares.count(r2) for r2 in range(37)]
        assert list(lattice_shells(d, 36).count) == expected
        # (8.61) prints the series from j = 1; then the centre would be missing.
        assert expected[0] == 1
    huge = lattice_shells(60, 40)  # beyond 64 bits
    assert huge.count[1] == 120
    assert int(huge.count[40]) > 2**63
    with pytest.raises(ValueError, match="d must be an integer of at least 1"):
        lattice_shells(0, 5)


@pytest.mark.spec("SM-8.35")
@pytest.mark.parametrize(
    ("kernel", "eigenvalue"),
    [
        (GAUSSIAN, lambda w: math.sqrt(math.pi) * np.exp(-(w**2) / 4)),
        (Exponential(gamma=1.0), lambda w: 2 / (1 + w**2)),
        (DampedOscillator(), lambda w: math.pi * np.exp(-np.abs(w))),
    ],
)
def test_eigenvalues_are_values_of_the_fourier_transform(kernel, eigenvalue):
    v = 8.0
    spectrum = periodic(kernel, v)
    n = np.arange(20)
    np.testing.assert_allclose(spectrum.values[:20], eigenvalue(2 * np.pi / v * n), rtol=1e-9)
    assert spectrum.C_k == math.sqrt(2 / v) >= 1 / math.sqrt(v)
    # (8.49) prints exp(i j w0 x) for x - y; the series is that of k_v(x - y).
    x = np.array([0.3, 1.7, 3.9])
    n = np.arange(1, 10_000)
    coefficients = eigenvalue(2 * np.pi / v * n)
    series = (eigenvalue(0.0) + 2 * np.cos(2 * np.pi / v * np.outer(x, n)) @ coefficients) / v
    images = x[:, None] + v * np.arange(-5_000, 5_001)
    direct = kernel(images.reshape(-1, 1), [[0.0]]).reshape(images.shape).sum(axis=1)
    tolerance = 1e-4 if isinstance(kernel, DampedOscillator | Exponential) else 1e-13
    np.testing.assert_allclose(series, direct, atol=tolerance)


@pytest.mark.spec("SM-8.35", "SM-8.39")
def test_eigenvalues_add_up_to_the_kernel_at_zero():
    assert periodic(GAUSSIAN, 10.0).trace == pytest.approx(10.0, abs=1e-9)
    slow = periodic(Exponential(gamma=1.0), 8.0)
    truth = 8 / math.tanh(4.0)  # v sum_j exp(-|j| v)
    assert truth <= slow.trace <= truth * (1 + 1e-9)  # with the certified tail
    np.testing.assert_allclose(slow.values[:4], [2, 1.23697, 0.57680, 0.30527], atol=5e-6)
    for d in (2, 3):
        assert periodic(GAUSSIAN, 6.0, d).trace == pytest.approx(
            6.0**d * (1 + 2 * math.exp(-36.0)) ** d, rel=1e-12
        )
        assert periodic(GAUSSIAN, 6.0, d).C_k == pytest.approx((2 / 6.0) ** (d / 2))
    # A kernel that is not radial: exp(-|x|_1) is a product.
    product = periodic(Laplacian(gamma=1.0), 8.0, 2)
    assert product.trace == pytest.approx(truth**2, rel=1e-9)


@pytest.mark.spec("SM-8.36", "SM-8.06")
@pytest.mark.parametrize("d", [1, 2])
def test_waves_are_orthonormal_and_reproduce_the_kernel(d):
    v, n = 6.0, 60
    spectrum = periodic(RBF(gamma=1.0), v, d)
    side = -v / 2 + v * (np.arange(40) + 0.5) / 40
    grid = np.stack(np.meshgrid(*[side] * d), axis=-1).reshape(-1, d)
    psi = spectrum.eigenfunctions(grid, 21)
    np.testing.assert_allclose(psi.T @ psi * v**d / len(grid), np.eye(21), atol=1e-12)
    assert np.abs(psi).max() <= spectrum.C_k * (1 + 1e-12)
    features = MercerMap(spectrum, n)
    X = np.random.default_rng(0).uniform(-1, 1, (12, d))
    images = itertools.product(range(-3, 4), repeat=d)
    K = sum(GAUSSIAN(X, X + v * np.array(shift)) for shift in images)
    F = features.transform(X)
    assert np.abs(F @ F.T - K).max() <= features.left_out + 1e-12
    assert features.left_out < (1e-12 if d == 1 else 0.2)
    if d == 1:  # sorted: lambda_0, then every eigenvalue twice
        np.testing.assert_allclose(spectrum.multiplicities[:4], [1, 2, 2, 2])


@pytest.mark.spec("SM-8.31")
def test_quadrature_finds_the_eigenvalues_of_the_circle():
    circle = Periodized(GAUSSIAN, period=4.0, dimension=1)
    numeric = Spectrum.from_kernel(circle, (0.0, 4.0), n_nodes=60)
    expected = np.array([1.77245, 0.95649, 0.95649, 0.15031, 0.15031, 0.006879, 0.006879])
    np.testing.assert_allclose(numeric.values[:7], expected, atol=5e-6)
    exact = periodic(GAUSSIAN, 4.0).leading(7)
    np.testing.assert_allclose(numeric.values[:7], exact, rtol=1e-8)
    assert not all(c.state == "satisfied" for c in numeric.conditions)  # an estimate, and says so


@pytest.mark.spec("SM-8.05")
def test_the_bound_on_eigenfunctions_is_a_condition():
    spectrum = periodic(GAUSSIAN, 8.0)
    proved = {c.what: c.state for c in entropy_A(spectrum, 10.0).conditions}
    assert proved["no eigenfunction exceeds C_k anywhere"] == "satisfied"
    assumed = entropy_A(Spectrum.from_kernel(GAUSSIAN, (0.0, 4.0), n_nodes=40), 10.0)
    assert "no eigenfunction exceeds C_k anywhere" in assumed.assumes
    # Unit length in L2(mu) forces C_k >= 1 / sqrt(mu(X)).
    assert Spectrum.from_kernel(GAUSSIAN, (0.0, 4.0), n_nodes=40).C_k >= 1 / 2


@pytest.mark.spec("SM-8.07")
def test_features_lie_in_the_box_of_the_spectrum():
    spectrum = periodic(GAUSSIAN, 8.0)
    X = np.random.default_rng(1).uniform(-4, 4, (80, 1))
    F = np.abs(MercerMap(spectrum, 15).transform(X))
    box = feature_box(spectrum, 15)
    assert (box * (1 + 1e-12) >= F).all()
    assert (F.max(axis=0)[1:] > 0.97 * box[1:]).all()
    K = GAUSSIAN(X)  # the empirical analogue: projections on kernel principal components
    values, vectors = np.linalg.eigh(K)
    projections = np.abs(vectors * np.sqrt(np.maximum(values, 0)))
    assert (projections <= np.sqrt(np.maximum(values, 0)) * (1 + 1e-9)).all()


@pytest.mark.spec("SM-8.08")
def test_diagonal_maps_into_balls():
    spectrum = periodic(GAUSSIAN, 8.0)
    F = MercerMap(spectrum, 25).transform(np.linspace(-4, 4, 201))
    for power in (0.0, 0.2, -0.3):
        s = np.arange(1.0, 26.0) ** power
        assert np.linalg.norm(F * s, axis=1).max() <= diagonal_radius(spectrum, s) * (1 + 1e-12)
    ones = diagonal_radius(spectrum, [1.0])
    assert ones**2 == pytest.approx(2 / 8.0 * spectrum.trace)
    assert ones**2 >= 1.0
    assert diagonal_radius(spectrum, [np.inf]) == np.inf
    # s_j = 1 / sqrt(lambda_j) is not admissible: the radius grows with the number of terms.
    lam = spectrum.leading(40)
    radii = [diagonal_radius(Spectrum(lam[:n]), lam[:n] ** -0.5) for n in (10, 40)]
    assert radii[1] == pytest.approx(2 * radii[0])


@pytest.mark.spec("SM-8.09")
def test_no_basis_has_a_box_that_decays_faster_than_the_covariance():
    X = -2 + 4 * (np.arange(60) + 0.5)[:, None] / 60
    circle = Periodized(GAUSSIAN, period=4.0, dimension=1)
    K = circle(X)
    covariance = uncentred_covariance_spectrum(K)
    np.testing.assert_allclose(
        4.0 * covariance[:7],
        periodic(GAUSSIAN, 4.0).leading(7),
        rtol=1e-8,
    )
    # In any orthonormal basis of the span: c_i^2 >= e_i' C e_i.
    roots = np.linalg.cholesky(K + 1e-10 * np.eye(60))
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 60)))[0]
    projections = roots @ Q
    assert (np.abs(projections).max(axis=0) ** 2 >= (projections**2).mean(axis=0)).all()
    values = np.linalg.eigvalsh(roots.T @ roots / 60)
    np.testing.assert_allclose(values[::-1][:5], covariance[:5], rtol=1e-6)


@pytest.mark.spec("SM-8.33")
def test_a_period_is_needed_and_a_long_one_costs():
    values = [entropy_A(periodic(GAUSSIAN, v), 20.0).value for v in (4, 40, 400)]
    # The spectrum becomes continuous: the bound tends to 6 C_k sqrt(trace), which says nothing.
    assert values[0] < values[1] < values[2] < 6 * math.sqrt(2)
    assert values[2] > 7.8
    spacings = [np.diff(np.log(periodic(GAUSSIAN, v).values[:2]))[0] for v in (4, 400)]
    assert abs(spacings[1]) < 1e-3 < abs(spacings[0])
    with pytest.raises(TypeError, match="period"):
        periodic(GAUSSIAN)
    with pytest.raises(ValueError, match="not a function of x - z"):
        periodic(Linear(), 4.0)
    with pytest.raises(ValueError, match="period must be a number > 0"):
        periodic(GAUSSIAN, 0.0)


@pytest.mark.spec("SM-8.34")
def test_hypotheses_are_unchanged_by_a_period_beyond_support_and_data():
    hat = BSpline(1)  # degree 1, support [-1, 1]
    a, b = 1.0, 3.0
    X = np.linspace(-b, b, 41)[:, None]
    for v in (exact_period(a, b), exact_period(a, b, smallest=True)):
        wrapped = sum(hat(X, X + v * j) for j in range(-3, 4))
        np.testing.assert_array_equal(wrapped, hat(X))
    too_small = sum(hat(X, X + 6.5 * j) for j in range(-3, 4))
    assert np.abs(too_small - hat(X)).max() > 0.4
    errors = [wrap_error(GAUSSIAN, v, 2.0) for v in (4.0, 6.0, 8.0)]
    np.testing.assert_allclose(errors, [0.0183, 1.13e-7, 2.3e-16], rtol=0.02)


@pytest.mark.spec("SM-8.37")
def test_kernels_without_a_periodic_extension_are_refused():
    for kernel in (Constant(1.0), LogDistance()):
        with pytest.raises(
            ValueError, match=r"decay fast enough|no discrete spectrum|does not decay"
        ):
            wrap_error(kernel, 4.0, 2.0)
    with pytest.raises(ValueError, match="infinite"):  # 1 / |x|: the transform diverges at 0
        periodic(lambda w: np.where(w == 0, np.inf, 1 / np.maximum(w, 1e-9)), 4.0)


@pytest.mark.spec("SM-8.38")
def test_the_smallest_period_that_does_not_wrap():
    table = {2: 0.0277, 3: 0.111, 4: 0.256, 6: 0.639, 8: 1.064, 10: 1.476, 20: 3.077}
    for v, value in table.items():
        found = entropy_A(periodic(GAUSSIAN, float(v)), 20.0).value
        assert found == pytest.approx(value, abs=6e-4)
    v = choose_period(GAUSSIAN, 1.0, wrap_tol=1e-4)
    assert wrap_error(GAUSSIAN, v, 2.0) == pytest.approx(1e-4, rel=1e-5)
    assert choose_period(GAUSSIAN, 1.0, wrap_tol=1e-8) > v > 2.0
    in_plane = choose_period(GAUSSIAN, 1.0, 2, wrap_tol=1e-4)
    angle = np.linspace(0, 2 * np.pi, 60)
    points = 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)  # differences of data points
    images = [np.array(s) * in_plane for s in itertools.product((-1, 0, 1), repeat=2) if any(s)]
    assert sum(GAUSSIAN(points, [list(shift)])[:, 0] for shift in images).max() <= 1e-4


@pytest.mark.spec("SM-8.40")
def test_bandwidths_scale_frequencies():
    # k_s(x) = s^d k(s x) has K_s(w) = K(w / s); a width sigma is s = 1 / sigma.
    for d, s in ((1, 3.0), (3, 0.5)):
        w = np.zeros((5, d))
        w[:, 0] = np.linspace(0.0, 4.0, 5)
        scaled = s**d * transform_of(RBF(gamma=s**2), d)[0](w)
        np.testing.assert_allclose(scaled, transform_of(GAUSSIAN, d)[0](w / s), rtol=1e-12)
    by_width = transform_of(RBF.from_sigma(2.0), 1)[0](np.array([[1.0]]))
    assert by_width / 2.0 == pytest.approx(math.exp(-(1.0**2) * 2.0**2 / 2))
    narrow, wide = (periodic(RBF.from_sigma(s), 10.0).values for s in (0.5, 2.0))
    assert wide[5] / wide[0] < narrow[5] / narrow[0]  # a wider kernel has a faster decay


@pytest.mark.spec("SM-8.41")
def test_transforms_of_the_kernels_of_the_chapter():
    def cosine_transform(k, w):
        value = scipy.integrate.quad(lambda x: k(x), 0, np.inf, weight="cos", wvar=w, limit=200)[0]
        return value * math.sqrt(2 / math.pi)

    w = np.array([[0.7]])
    for kernel, profile in (
        (Exponential(gamma=2.0), lambda x: math.exp(-2 * x)),
        (RBF(gamma=0.5), lambda x: math.exp(-(x**2) / 2)),
        (DampedOscillator(), lambda x: 1 / (1 + x**2)),
    ):
        assert transform_of(kernel, 1)[0](w)[0] == pytest.approx(cosine_transform(profile, 0.7))
    # exp(-a r) in d dimensions: Gamma((d + 1) / 2), not the printed Gamma(d / 2 + 1).
    for d in (2, 3, 5):
        w = np.zeros((1, d))
        value = transform_of(Exponential(gamma=2.0), d)[0](w)[0]
        right = (
            2 ** (d / 2) * 2 / math.sqrt(math.pi) * math.gamma((d + 1) / 2) * 4 ** (-(d + 1) / 2)
        )
        # at 0 it is (2 pi)^(-d/2) times the integral of the kernel, S Gamma(d) / 2^d
        surface = 2 * math.pi ** (d / 2) / math.gamma(d / 2)
        integral = surface * math.gamma(d) / 2.0**d
        assert value == pytest.approx(right) == pytest.approx((2 * math.pi) ** (-d / 2) * integral)
        assert value != pytest.approx(right * math.gamma(d / 2 + 1) / math.gamma((d + 1) / 2))
    w = np.stack([np.linspace(0.1, 40, 400), np.zeros(400)], axis=1)
    assert transform_of(RadialBSpline(1, dimension=2), 2)[0](w).min() >= 0
    # B-splines of even order have the transform (sin(w/2) / (w/2))^(n+1), of both signs.
    with pytest.raises(ValueError, match="negative eigenvalue"):
        periodic(lambda w: np.sinc(w / (2 * np.pi)) ** 3, 8.0)


@pytest.mark.spec("SM-8.42")
def test_compactly_supported_kernels_decay_far_slower_than_exponentially():
    # Widom: on a compact set they cannot beat exp(-j^2); the hat function is polynomial.
    values = periodic(BSpline(1), 4.0).values
    n = np.arange(1, 200)
    exponent = -np.log(values[n] / values[0] + 1e-300)[::2] / n[::2] ** 2
    assert exponent[-1] < 1e-3
    assert -np.log(periodic(GAUSSIAN, 4.0).values[20]) / 20**2 > 0.1


@pytest.mark.spec("SM-8.43")
def test_spectra_are_sorted_when_they_are_made():
    values = np.exp(-np.arange(1.0, 20.0))
    shuffled = np.random.default_rng(0).permutation(values)
    assert entropy_A(shuffled, 10.0) == pytest.approx(entropy_A(values, 10.0).value)
    assert (np.diff(Spectrum(shuffled).values) < 0).all()


@pytest.mark.spec("SM-8.48")
@pytest.mark.parametrize("f", [lambda x: math.exp(-(x**2) / 4), lambda x: x**-2.0])
def test_sums_lie_between_integrals(f):
    lower, upper = tail_bounds(f, 3)
    total = sum(f(n) for n in range(3, 200_000))
    assert lower <= total <= upper


def test_gram_spectra_say_which_data_they_are_valid_for():
    X = np.random.default_rng(0).uniform(0, 1, (50, 1))
    K = GAUSSIAN(X)
    sample, all_data = Spectrum.from_gram(K), Spectrum.from_gram(K, data="transductive")
    assert "the eigenvalues are those of the integral operator" in [
        c.what for c in sample.conditions
    ]
    assert any("all objects that will be evaluated" in c.what for c in all_data.conditions)
    assert sample.trace == pytest.approx(1.0)  # mean of k(x, x)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        Spectrum.from_gram([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="square"):
        Spectrum.from_gram([[1.0, 2.0]])


def test_numerical_transforms_agree_with_closed_forms():
    exact = periodic(Matern(nu=2.5), 12.0)
    from mercer.kernels import FromFunction

    class Copy(type(Matern())):  # the same values, without a stated transform
        spectral_density = None

    numeric = periodic(Copy(nu=2.5), 12.0, n_shells=12)
    n = min(10, len(numeric.values))
    np.testing.assert_allclose(numeric.values[:n], exact.values[:n], rtol=1e-6)
    assert entropy_A(numeric, 5.0).value >= entropy_A(exact, 5.0).value * (1 - 1e-6)
    assert any(c.state == "unknown" for c in numeric.conditions)
    with pytest.raises(ValueError, match="not a function of x - z"):
        periodic(FromFunction(lambda A, B: A @ B.T), 4.0)


def test_slowly_decaying_kernels_wrap_with_their_whole_tail():
    # sum over j != 0 of 1 / (1 + (j v)^2) at distance 0 is pi/v coth(pi/v) - 1
    v = 5.0
    exact = math.pi / v / math.tanh(math.pi / v) - 1
    assert wrap_error(DampedOscillator(), v, 0.0) == pytest.approx(exact, rel=1e-3)
    assert wrap_error(GAUSSIAN, 1.0, 2.0) == math.inf  # the period is shorter than the distance


def test_kernels_on_other_objects_have_no_spectrum_here():
    from mercer.kernels import Subsequence

    for function in (
        lambda k: periodic(k, 4.0),
        lambda k: choose_period(k, 1.0),
    ):
        with pytest.raises(ValueError, match="not a function of x - z"):
            function(Subsequence(2))


def test_short_periods_keep_one_eigenvalue():
    spectrum = periodic(GAUSSIAN, 0.1, 2)
    assert spectrum.values[0] == pytest.approx(math.pi)
    assert spectrum.trace == pytest.approx(math.pi, rel=1e-12)


def test_eigenfunctions_by_frequency_are_refused_where_eigenvalues_oscillate():
    hat = periodic(BSpline(1), 2.7)
    assert not hat.falling
    with pytest.raises(ValueError, match="do not fall with the frequency"):
        MercerMap(hat, 5)
