"""Closed forms of spectra against numerical transforms, and against printed numbers."""

from functools import partial

import numpy as np
import pytest
from scipy import special

from mercer.inspection import radial_fourier
from mercer.numerics import fourier_transforms
from mercer.numerics.bessel import log_bessel_k
from mercer.numerics.frequencies import as_frequencies
from tests.inspection.splines import b_spline, ball_overlap

FREQUENCIES = np.array([1e-3, 0.1, 0.9, 3.0, 10.0])


def matern(r, nu, length_scale):
    z = np.sqrt(2 * nu) * np.asarray(r) / length_scale
    safe = np.where(z > 1e-20, z, 1.0)
    values = 2 ** (1 - nu) / special.gamma(nu) * safe**nu * special.kv(nu, safe)
    return np.where(z > 1e-20, values, 1.0)


def rational(r, alpha, length_scale):
    return (1 + r**2 / (2 * alpha * length_scale**2)) ** -alpha


RADIAL = {
    "gaussian": (
        lambda r: np.exp(-0.7 * r**2),
        partial(fourier_transforms.gaussian, gamma=0.7),
        (1, 2, 3, 4, 7),
    ),
    "exponential": (
        lambda r: np.exp(-1.3 * r),
        partial(fourier_transforms.exponential, gamma=1.3),
        (1, 2, 3, 4, 5),
    ),
    "matern 0.8": (
        lambda r: matern(r, 0.8, 0.7),
        partial(fourier_transforms.matern, nu=0.8, length_scale=0.7),
        (1, 2, 3),
    ),
    "matern 2.5": (
        lambda r: matern(r, 2.5, 1.4),
        partial(fourier_transforms.matern, nu=2.5, length_scale=1.4),
        (1, 2, 3, 6),
    ),
    "rational 0.4": (
        lambda r: rational(r, 0.4, 0.9),
        partial(fourier_transforms.rational_quadratic, alpha=0.4, length_scale=0.9),
        (1, 2, 3),
    ),
    "rational 2.3": (
        lambda r: rational(r, 2.3, 0.9),
        partial(fourier_transforms.rational_quadratic, alpha=2.3, length_scale=0.9),
        (1, 2, 3, 5),
    ),
    "rational 500": (  # nearly Gaussian, where gamma functions overflow
        lambda r: rational(r, 500.0, 0.9),
        partial(fourier_transforms.rational_quadratic, alpha=500.0, length_scale=0.9),
        (1, 2, 3),
    ),
    "inverse multiquadric": (
        lambda r: 1 / np.hypot(r, 0.7),
        partial(fourier_transforms.inverse_multiquadric, c=0.7),
        (1, 2, 3),
    ),
    "damped oscillator": (
        lambda r: 1 / (1.3**2 + (0.7 * r) ** 2),
        partial(fourier_transforms.damped_oscillator, gamma=1.3, factor=0.7),
        (1, 2, 3, 4),
    ),
    "ball overlap 1": (
        lambda r: ball_overlap(r / 0.6, 1),
        partial(fourier_transforms.radial_b_spline, order=1, scale=0.6),
        (1,),
    ),
    "ball overlap 2": (
        lambda r: ball_overlap(r / 0.6, 2),
        partial(fourier_transforms.radial_b_spline, order=1, scale=0.6),
        (2,),
    ),
    "ball overlap 3": (
        lambda r: ball_overlap(r / 0.6, 3),
        partial(fourier_transforms.radial_b_spline, order=1, scale=0.6),
        (3,),
    ),
}
ON_THE_LINE = {
    "laplacian": (lambda x: np.exp(-0.8 * x), partial(fourier_transforms.laplacian, gamma=0.8)),
    **{
        f"B_{n}": (
            lambda x, n=n: b_spline(x / 0.7, n),
            partial(fourier_transforms.b_spline, order=n, scale=0.7),
        )
        for n in range(1, 6)
    },
}


@pytest.mark.spec("SM-3.15", "SM-0.04")
@pytest.mark.parametrize("name", RADIAL)
def test_radial_closed_forms_equal_numerical_transforms(name):
    profile, density, dimensions = RADIAL[name]
    for d in dimensions:
        exact = density(FREQUENCIES, d)
        numeric = radial_fourier(profile, FREQUENCIES, d)
        assert numeric == pytest.approx(exact, abs=1e-9 * np.abs(exact).max()), d


@pytest.mark.spec("SM-3.15", "SM-0.04")
@pytest.mark.parametrize("name", ON_THE_LINE)
def test_closed_forms_on_the_line_and_their_products(name):
    profile, density = ON_THE_LINE[name]
    exact = density(FREQUENCIES)
    assert radial_fourier(profile, FREQUENCIES) == pytest.approx(exact, abs=1e-9)
    vectors = np.array([[0.3, 1.1, 2.0], [0.0, 0.0, 0.0]])
    product = [np.prod([density(w)[0] for w in row]) for row in vectors]
    assert density(vectors) == pytest.approx(product)


@pytest.mark.parametrize("name", RADIAL)
def test_a_radial_density_sees_the_length_of_a_frequency(name):
    _, density, dimensions = RADIAL[name]
    d = dimensions[-1]
    w = np.random.default_rng(0).normal(size=(5, d))
    assert density(w) == pytest.approx(density(np.linalg.norm(w, axis=1), d))


@pytest.mark.spec("SM-3.15", "SM-0.04")
def test_the_inverse_transform_gives_the_kernel_back():
    r = np.array([0.0, 0.4, 1.5])
    for name in ("gaussian", "matern 2.5", "rational 2.3"):
        profile, density, _ = RADIAL[name]
        for d in (1, 2, 3):
            back = radial_fourier(lambda w, d=d, f=density: f(w, d), r, d)
            assert back == pytest.approx(profile(r), abs=1e-8), (name, d)


@pytest.mark.spec("SM-3.15")
def test_the_convention_is_unitary():
    x = np.array([0.0, 0.5, 2.0])
    kernel = radial_fourier(lambda w: 1 / (1 + w**2), x)
    assert kernel == pytest.approx(np.sqrt(np.pi / 2) * np.exp(-x), abs=1e-9)


@pytest.mark.parametrize("order", [29.9, 30.0, 55.5, 80.0])
def test_bessel_functions_of_large_order(order):
    x = np.geomspace(0.02, 400.0, 30)  # where K itself neither overflows nor underflows
    exact = np.log(special.kve(order, x)) - x
    assert log_bessel_k(order, x) == pytest.approx(exact, abs=1e-11)
    assert log_bessel_k(-order, x) == pytest.approx(exact, abs=1e-11)
    # K_(v+1) = K_(v-1) + 2 v K_v / x, where K_v is beyond float64
    low, middle, high = (log_bessel_k(v, np.array([0.5, 30.0])) for v in (499.0, 500.0, 501.0))
    ratio = np.exp(low - high) + 1000.0 / np.array([0.5, 30.0]) * np.exp(middle - high)
    assert ratio == pytest.approx(np.ones(2), abs=1e-10)


def test_printed_numbers():
    w = 0.9
    sigma = 0.7  # sigma^-d exp(-r^2 / (2 sigma^2)) has the transform exp(-w^2 sigma^2 / 2)
    for d in (1, 2, 3, 4):
        value = sigma**-d * fourier_transforms.gaussian(w, d, gamma=1 / (2 * sigma**2))[0]
        assert value == pytest.approx(0.8200008, abs=5e-8)
    exponential = [fourier_transforms.exponential(w, d, gamma=1.3)[0] for d in (1, 2, 3, 4)]
    assert exponential == pytest.approx([0.4149000, 0.3288769, 0.3319200, 0.3946523], abs=5e-8)
    oscillator = [fourier_transforms.damped_oscillator(w, d, gamma=1.3)[0] for d in (1, 2, 3)]
    assert oscillator == pytest.approx([0.2992210, 0.3318583, 0.4322081], abs=5e-8)
    assert fourier_transforms.radial_b_spline(5.0, 2, order=1)[0] == pytest.approx(
        0.02696946, abs=5e-9
    )
    assert fourier_transforms.radial_b_spline(0.9, 3, order=1)[0] == pytest.approx(
        0.9456218, abs=5e-8
    )


def test_reciprocal_pair_of_exponential_and_rational():
    for d in (1, 2, 3):
        alpha = (d + 1) / 2
        b = fourier_transforms.rational_quadratic(
            FREQUENCIES, d, alpha=alpha, length_scale=1 / np.sqrt(2 * alpha)
        )
        assert b / np.exp(-FREQUENCIES) == pytest.approx(np.full(5, b[0] * np.exp(1e-3)))


def test_special_cases_meet():
    w = FREQUENCIES
    for d in (1, 2, 3):
        exponential = fourier_transforms.exponential(w, d, gamma=1 / 0.8)
        assert fourier_transforms.matern(w, d, nu=0.5, length_scale=0.8) == pytest.approx(
            exponential
        )
        gaussian = fourier_transforms.gaussian(w, d, gamma=0.5 / 0.8**2)
        assert fourier_transforms.matern(w, d, nu=np.inf, length_scale=0.8) == pytest.approx(
            gaussian
        )
        smooth = fourier_transforms.matern(w, d, nu=4e3, length_scale=0.8)
        assert smooth == pytest.approx(gaussian, abs=2e-2 * gaussian[0])
    assert fourier_transforms.laplacian(w, gamma=2.0) == pytest.approx(
        fourier_transforms.exponential(w, 1, gamma=2.0)
    )
    # Balls of radius 1/2 on the line are intervals of length 1, their volume 1 instead of 2.
    line = fourier_transforms.radial_b_spline(w, 1, order=3, scale=0.5) / 2**3
    assert line == pytest.approx(fourier_transforms.b_spline(w, order=3))


def test_spectra_at_frequency_zero():
    assert fourier_transforms.rational_quadratic(0.0, 2, alpha=1.0)[0] == np.inf
    assert fourier_transforms.damped_oscillator(0.0, 1, gamma=2.0)[0] == pytest.approx(
        np.sqrt(np.pi / 2) / 2
    )
    near = fourier_transforms.rational_quadratic([0.0, 1e-6], 3, alpha=2.5)
    assert near[0] == pytest.approx(near[1])
    assert fourier_transforms.b_spline(0.0, order=3)[0] == pytest.approx(1 / np.sqrt(2 * np.pi))


def test_even_splines_have_negative_frequencies():
    w = np.linspace(0.01, 60, 4000)
    for n in range(6):
        assert (fourier_transforms.b_spline(w, order=n).min() < 0) == (n % 2 == 0)
        assert (fourier_transforms.radial_b_spline(w, 2, order=n).min() < 0) == (n % 2 == 0)
    cubed = fourier_transforms.b_spline(w, order=2) * np.sqrt(2 * np.pi)
    assert cubed.min() == pytest.approx(-0.01025, abs=5e-6)
    balls = [fourier_transforms.radial_b_spline(w, 2, order=n).min() for n in (0, 2)]
    assert balls == pytest.approx([-0.0661, -2.9e-4 * (2 * np.pi) ** 2], rel=0.01)


@pytest.mark.parametrize(
    ("form", "parameters"),
    [
        (fourier_transforms.gaussian, {"gamma": 0.0}),
        (fourier_transforms.laplacian, {"gamma": -1.0}),
        (fourier_transforms.matern, {"nu": 0.0}),
        (fourier_transforms.matern, {"nu": np.inf, "length_scale": 0.0}),
        (fourier_transforms.rational_quadratic, {"alpha": 0.0}),
        (fourier_transforms.b_spline, {"order": 3, "scale": 0.0}),
    ],
)
def test_parameters_out_of_range_are_named(form, parameters):
    name = list(parameters)[-1]
    with pytest.raises(ValueError, match=name):
        form(1.0, **parameters)


def test_frequencies_are_numbers_or_rows():
    assert as_frequencies(2.0).tolist() == [[2.0]]
    assert as_frequencies([[1.0, 2.0]]).shape == (1, 2)
    with pytest.raises(ValueError, match="2 columns, but dimension is 3"):
        as_frequencies([[1.0, 2.0]], 3)
    with pytest.raises(ValueError, match="finite"):
        as_frequencies([np.nan])
    with pytest.raises(ValueError, match="shape"):
        as_frequencies(np.ones((1, 1, 1)))
