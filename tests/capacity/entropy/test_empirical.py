"""Ellipsoids from data: radii, critical numbers of balls, and what they are valid for."""

import math

import numpy as np
import pytest

from mercer.capacity.entropy import (
    EmpiricalScaling,
    Spectrum,
    SVClass,
    diagonal_entropy,
    entropy_A,
    estimate_radii,
    n_crit,
    radii_from_gram,
)
from mercer.kernels import RBF

GAUSSIAN = RBF(gamma=1.0)
X = np.random.default_rng(0).uniform(-1, 1, (50, 2))
K = GAUSSIAN(X)


@pytest.mark.spec("SM-8.26")
def test_several_radii_bound_the_scaling_operator():
    radii = np.array([1.0, 0.5, 0.2, 0.05])
    B = EmpiricalScaling(radii)
    for ln_n in (0.0, 2.0, 10.0, 1000.0):
        extended = np.append(radii, np.full(4000, radii[-1]))  # r_t = r_j beyond j
        t = np.arange(1, len(extended) + 1)
        sup = np.exp((np.cumsum(np.log(extended)) - ln_n) / t).max()
        assert B.eps(ln_n) / (6 * math.sqrt(2)) >= sup
        assert B.eps(ln_n) == pytest.approx(6 * math.sqrt(2) * sup, rel=0.3)
    # Ellipsoid around the first directions, ball on the complement: inside sqrt(2) B U.
    rng = np.random.default_rng(1)
    inner = rng.normal(size=(200, 3))
    inner *= radii[:3] / np.linalg.norm(inner, axis=1)[:, None]
    outer = rng.normal(size=(200, 5))
    outer *= radii[3] / np.linalg.norm(outer, axis=1)[:, None]
    scaled = (inner**2 / radii[:3] ** 2).sum(axis=1) + (outer**2 / radii[3] ** 2).sum(axis=1)
    assert scaled.max() <= 2 + 1e-9
    single = EmpiricalScaling([1.5])
    assert single.eps(50.0) == pytest.approx(6 * math.sqrt(2) * 1.5)


@pytest.mark.spec("SM-8.27")
def test_critical_numbers_need_the_ceiling():
    radii = np.array([0.898, 0.681, 0.667])
    raw = radii.prod() / radii[-1] ** 3
    assert raw == pytest.approx(1.374, abs=2e-3)
    ln_n = n_crit(radii)
    np.testing.assert_allclose(np.exp(ln_n), [1, 2, 2])
    for n, holds in ((math.floor(raw), False), (math.ceil(raw), True)):
        extended = np.append(radii, np.full(500, radii[-1]))
        means = np.exp((np.cumsum(np.log(extended)) - math.log(n)) / np.arange(1, 504))
        assert (means.max() <= radii[-1] * (1 + 1e-9)) == holds
    many = 0.9 ** np.arange(60)
    critical = n_crit(many)
    assert (np.diff(critical) >= -1e-12).all()
    ratios = np.diff(critical)[30:] / (np.arange(31, 60) * math.log(1 / 0.9))
    np.testing.assert_allclose(ratios, 1.0, rtol=1e-6)  # n_{j+1} / n_j = (r_j / r_{j+1})^j
    for j in (5, 20, 60):
        B = EmpiricalScaling(many[:j])
        assert B.eps(float(critical[j - 1])) <= 6 * math.sqrt(2) * many[j - 1] * (1 + 1e-9)


@pytest.mark.spec("SM-8.28")
def test_smaller_radii_are_paid_with_balls():
    j, m, c = 12, 10_000, 1.86
    radii = 0.5 ** np.arange(j)
    B = EmpiricalScaling(radii, ball=1.0)
    ball = SVClass.from_ball(1.0, c=c)
    few, many = 5.0, 2000.0
    assert B.entropy_T(few, m, c=c).value == pytest.approx(
        min(1.0, float(ball.eps(few, m, which="maurey")))
    )
    assert B.entropy_T(many, m, c=c).value < 0.1 * float(ball.eps(many, m, which="maurey"))
    # n_j t <= n needs the floor of n / n_j; the printed ceiling would allow t = 2 here.
    n, n_2 = 3, 2
    assert math.floor(n / n_2) == 1
    assert math.ceil(n / n_2) * n_2 > n
    at = B.entropy_T(math.log(3.0), m, c=0.01)
    assert at.value >= 0.01 * math.sqrt(math.log2(1 + m / math.log2(3)) / math.log2(3)) * 0.9
    expected = min(
        6 * math.sqrt(2) * c * r * math.sqrt(math.log2(1 + m / L) / L)
        for r, ln_nj in zip(radii, n_crit(radii), strict=True)
        for L in [(many - ln_nj) / math.log(2)]
    )
    assert B.entropy_T(many, m, c=c).value == pytest.approx(expected, rel=1e-9)
    one = EmpiricalScaling([1.0], ball=1.0)  # j = 1 alone is 6 sqrt(2) times the ball bound
    assert one.entropy_T(many, m, c=c).value == pytest.approx(
        float(ball.eps(many, m, which="maurey"))
    )


@pytest.mark.spec("SM-8.29")
def test_radii_of_principal_components_are_half_sides_of_a_box():
    sample = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    gram = GAUSSIAN(sample)
    r = radii_from_gram(gram)
    np.testing.assert_allclose(r[:4], [0.898, 0.681, 0.667, 0.526], atol=6e-4)
    values, vectors = np.linalg.eigh(gram)
    roots = np.sqrt(np.maximum(values, 0))[::-1]
    np.testing.assert_allclose(roots[:3], [9.13, 6.24, 5.64], atol=6e-3)
    projections = vectors[:, ::-1] * roots
    assert (np.abs(projections).max(axis=0)[:20] <= roots[:20]).all()
    # They are no radii of an ellipsoid: the quadratic form of (8.41) reaches 2.1 > 1.
    own = np.abs(projections[:, :5]).max(axis=0)
    form = (projections[:, :4] ** 2 / own[:4] ** 2).sum(axis=1)
    assert form.max() == pytest.approx(2.10, abs=0.05)
    rest = np.sqrt(np.maximum(1 - (projections[:, :4] ** 2).sum(axis=1), 0))
    assert rest.max() == pytest.approx(0.78, abs=5e-3)
    assert rest.max() > own[4]
    # So the factor is computed, and all features lie in the enlarged ellipsoid.
    B = EmpiricalScaling.from_gram(gram, 5)
    assert B.excess**2 >= (form + 0).max() * (own.min() / B.radii[0]) ** 2
    order = np.argsort(-np.abs(projections[:, :4]).max(axis=0), kind="stable")
    inside = (projections[:, :4][:, order] ** 2 / B.radii[:-1] ** 2).sum(axis=1)
    inside += rest**2 / B.radii[-1] ** 2
    assert inside.max() <= B.excess**2 * (1 + 1e-6)
    centred = radii_from_gram(gram, centre=True)
    assert centred[0] < r[0]


@pytest.mark.spec("SM-8.30")
def test_radii_say_which_objects_they_hold_for():
    more = np.random.default_rng(5).uniform(-1, 1, (60, 2))
    found = {
        source: estimate_radii(GAUSSIAN, X, source=source, n_radii=6)
        for source in ("transductive", "unlabelled", "training")
    }
    domain = estimate_radii(
        GAUSSIAN, source="domain", domain=([-1, -1], [1, 1]), n_radii=6, n_draws=100
    )
    statements = {s: str(e.entropy(5.0).conditions[0]) for s, e in found.items()}
    assert len(set(statements.values())) == 3
    assert "probability 1 - eta" in statements["unlabelled"]
    assert "Monte Carlo" in str(domain.conditions[0])
    assert "Shawe-Taylor and Williamson" in str(found["training"].conditions[0])
    # Adding objects enlarges the extent along any fixed direction.
    e = np.linalg.eigh(K)[1][:, -1]
    along = (K @ e) / math.sqrt(e @ K @ e)
    with_more = np.append(along, GAUSSIAN(more, X) @ e / math.sqrt(e @ K @ e))
    assert np.abs(with_more).max() >= np.abs(along).max()
    with pytest.raises(ValueError, match="give objects X"):
        estimate_radii(GAUSSIAN, source="domain", n_radii=3)
    with pytest.raises(ValueError, match="source must be one of"):
        EmpiricalScaling.from_gram(K, 3, source="elsewhere")


@pytest.mark.spec("SM-8.21")
def test_data_on_a_curve_have_smaller_entropy_numbers_than_their_domain():
    t = np.random.default_rng(0).uniform(0, 1, 60)
    curve = np.stack([t, 0.3 * np.sin(3 * t)], axis=1)  # in a square of side 2
    ln_n = 150.0
    empirical = min(
        EmpiricalScaling.from_gram(GAUSSIAN(curve), j).eps(ln_n) for j in (2, 5, 10, 15, 20)
    )
    domain = entropy_A(Spectrum.from_translation_invariant(GAUSSIAN, 6.0, 2), ln_n).value
    assert empirical < 0.2 * domain


@pytest.mark.spec("SM-8.32")
def test_one_outlier_inflates_the_ellipsoid_and_trimming_is_flagged():
    linear = np.random.default_rng(0).normal(size=(99, 3)) * [1.0, 0.1, 0.05]
    with_outlier = np.vstack([linear, [[0.0, 0.0, 5.0]]])
    calm, wild = (EmpiricalScaling.from_gram(A @ A.T, 3) for A in (linear, with_outlier))
    assert wild.radii[0] == pytest.approx(5.0, rel=0.01)
    assert calm.radii[0] < 3.5
    trimmed = EmpiricalScaling.from_gram(with_outlier @ with_outlier.T, 3, trim=0.02)
    assert trimmed.radii[0] < 3.5
    assert trimmed.entropy(5.0).violated
    assert not wild.entropy(5.0).violated


def test_means_of_radii_are_those_of_a_diagonal_operator():
    radii = [2.0, 1.0, 0.5]
    assert EmpiricalScaling(radii, excess=1.0).eps(0.5) == pytest.approx(
        6 * diagonal_entropy(radii, 0.5).lower
    )
    with pytest.raises(ValueError, match="radii must be > 0"):
        EmpiricalScaling([1.0, 0.0])


def test_without_a_stated_ball_the_first_radius_gives_one():
    B = EmpiricalScaling([2.0, 1.0], excess=1.5)
    assert B.entropy_T(0.0, 10, w_norm=2.0).value == pytest.approx(6.0)
