"""Losses, their subgradients and their conjugates."""

import inspect

import numpy as np
import pytest

from mercer import losses
from mercer.losses import (
    CombinedHinge,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    OneSided,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    ZeroOne,
)

F = np.linspace(-3, 3, 601)
LOSSES = [
    (Hinge(), (-1.0, 1.0)),
    (SquaredHinge(), (-1.0, 1.0)),
    (CombinedHinge(0.7), (-1.0, 1.0)),
    (EpsilonInsensitive(0.25), (-0.8, 0.0, 1.3)),
    (EpsilonInsensitive([[0.1, 0.6]]), (0.4,)),
    (SquaredEpsilonInsensitive(0.25), (-0.8, 0.0, 1.3)),
    (Squared(), (-0.8, 0.0, 1.3)),
    (Huber(0.6), (-0.8, 0.0, 1.3)),
    (OneSided(), (-0.8, 0.0)),
    (OneSided(-1.0), (0.4,)),
]
WITHOUT_PIECES = [(Logistic(), (-1.0, 1.0))]
CASES = [(loss, y) for loss, targets in LOSSES for y in targets]
SMOOTH = [(loss, y) for loss, targets in WITHOUT_PIECES for y in targets]
IDS, SMOOTH_IDS = ([f"{type(loss).__name__}-{y}" for loss, y in cases] for cases in (CASES, SMOOTH))


def test_every_public_loss_is_tested():
    public = (getattr(losses, name) for name in losses.__all__)
    kinds = {kind for kind in public if isinstance(kind, type) and issubclass(kind, losses.Loss)}
    concrete = {kind for kind in kinds if not inspect.isabstract(kind)}
    assert concrete == {type(loss) for loss, _ in LOSSES + WITHOUT_PIECES}


def antiderivative(terms, beta):
    """phi from the numbers that a solver gets, with phi(kink) = 0; infinite outside the bounds."""
    lower, upper, left, right, curv_left, curv_right, kink = (
        None if t is None else float(t[0]) for t in terms
    )
    kink = kink or 0.0
    right = left if right is None else right
    curv_left = curv_left or 0.0
    curv_right = curv_left if curv_right is None else curv_right
    d = beta - kink
    phi = np.where(d < 0, left * d + curv_left * d**2 / 2, right * d + curv_right * d**2 / 2)
    return np.where((beta >= lower) & (beta <= upper), phi, np.inf)


@pytest.mark.parametrize(("loss", "y"), CASES, ids=IDS)
def test_value_is_convex_and_above_its_tangents(loss, y):
    values, slopes = loss.value(y, F), loss.slope(y, F)
    assert (values >= 0).all()
    tangents = values[:, None] + slopes[:, None] * (F[None] - F[:, None])
    assert (values[None] >= tangents - 1e-12).all()
    np.testing.assert_array_equal(loss.excess(y, F) > 0, values > 0)


@pytest.mark.parametrize(("loss", "y"), CASES + SMOOTH, ids=IDS + SMOOTH_IDS)
def test_a_weight_of_zero_leaves_nothing_but_zero(loss, y):
    """The supremum of -beta f - 0 l(y, f); without warnings, which tests turn into errors."""
    beta = np.array([-1.5, -0.0, 0.0, 1.5])
    np.testing.assert_array_equal(loss.conjugate(y, beta, 0.0), [np.inf, 0.0, 0.0, np.inf])
    if hasattr(loss, "pieces"):
        terms = loss.pieces([y], [0.0])
        assert terms.lower.item() == terms.upper.item() == 0.0
        assert all(np.isfinite(term).all() for term in terms if term is not None)


@pytest.mark.parametrize("c", [0.3, 2.0])
@pytest.mark.parametrize(("loss", "y"), CASES, ids=IDS)
def test_conjugate_is_the_supremum(loss, y, c):
    # Slopes of the loss within the grid, so that the supremum over f in R lies on it.
    beta = -c * loss.slope(y, np.linspace(-2, 2, 41))
    by_grid = (-beta[:, None] * F[None] - c * loss.value(y, F)[None]).max(axis=1)
    np.testing.assert_allclose(loss.conjugate(y, beta, c), by_grid, atol=1e-3)


@pytest.mark.parametrize(("loss", "y"), CASES, ids=IDS)
def test_dual_terms_describe_the_conjugate(loss, y):
    c = 0.8
    beta = np.linspace(-4, 4, 801)
    phi = loss.conjugate(y, beta, c)
    described = antiderivative(loss.pieces(np.array([y]), np.array([c])), beta)
    finite = np.isfinite(described)
    np.testing.assert_array_equal(finite, np.isfinite(phi))
    difference = phi[finite] - described[finite]
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)


@pytest.mark.parametrize(("loss", "y"), CASES, ids=IDS)
def test_fenchel_young(loss, y):
    c, rng = 1.7, np.random.default_rng(0)
    f, beta = rng.uniform(-3, 3, 200), rng.uniform(-2, 2, 200)
    assert (loss.cost(y, f, c) + loss.conjugate(y, beta, c) >= -beta * f - 1e-12).all()
    at = -c * loss.slope(y, f)
    np.testing.assert_allclose(loss.cost(y, f, c) + loss.conjugate(y, at, c), -at * f, atol=1e-12)


def test_limits_of_the_combined_hinge():
    f = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(CombinedHinge(1e-12).value(1, f), Hinge().value(1, f), atol=1e-10)
    big = 1e9
    np.testing.assert_allclose(
        CombinedHinge(big).value(1, f) / big, SquaredHinge().value(1, f), atol=1e-7
    )


def test_hinge_bounds_the_errors():
    f = np.linspace(-2, 2, 41)
    assert (Hinge().value(1, f) >= ZeroOne().value(1, f)).all()
    assert ZeroOne().value([1, 1, -1, -1], [0.5, -0.5, 0.5, 0.0]).tolist() == [0, 1, 1, 1]


def test_the_loss_of_huber_and_its_noise_model():
    loss = Huber(0.5)
    assert loss.value(1.0, [1.25, 1.5, 3.0]).tolist() == [0.0625, 0.25, 1.75]
    grid = np.linspace(-60.0, 60.0, 400_001)
    for c in (0.4, 3.0):
        assert np.trapezoid(loss.density(0.0, grid, c), grid) == pytest.approx(1.0, abs=1e-6)
    for delta in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="delta must be positive"):
            Huber(delta)


def test_infinite_weights_are_constraints():
    loss = Hinge()
    assert loss.cost(1.0, [2.0, 0.5], np.inf).tolist() == [0.0, np.inf]
    terms = loss.pieces(np.array([1.0, -1.0]), np.array([np.inf, np.inf]))
    assert terms.upper.tolist() == [np.inf, 0.0]


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, [[0.1, 0.2, 0.3]], np.inf])
def test_bad_tubes_are_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        EpsilonInsensitive(epsilon)


def test_bad_mixture_is_refused():
    with pytest.raises(ValueError, match="quadratic"):
        CombinedHinge(0.0)


@pytest.mark.parametrize(("loss", "y"), SMOOTH, ids=SMOOTH_IDS)
def test_a_conjugate_without_pieces_is_the_supremum(loss, y):
    c, f = 1.7, np.linspace(-40.0, 40.0, 160_001)
    cost = c * loss.value(y, f)
    beta = -np.gradient(cost, f)[60_000:100_001:2_000]  # multipliers of f from -10 to 10
    by_grid = [np.max(-b * f - cost) for b in beta]
    np.testing.assert_allclose(loss.conjugate(y, beta, c), by_grid, atol=1e-6)


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_logistic_loss_and_its_conjugate(y):
    loss, c = Logistic(), 1.7
    f = np.linspace(-30.0, 30.0, 120_001)
    for p in (0.0, 0.01, 0.4, 1.0):
        beta = c * p * y
        assert loss.conjugate([y], [beta], c)[0] == pytest.approx(
            np.max(-beta * f - c * loss.value(y, f)), abs=1e-6
        )
    assert loss.conjugate([y, y], [1.1 * c * y, -0.1 * y], c).tolist() == [np.inf, np.inf]
    assert loss.value([y], [-1e4 * y])[0] == 1e4
    step = 1e-5
    ends = loss.value(y, F + step), loss.value(y, F - step)
    np.testing.assert_allclose(loss.slope(y, F), (ends[0] - ends[1]) / (2 * step), atol=1e-9)
    ends = loss.slope(y, F + step), loss.slope(y, F - step)
    np.testing.assert_allclose(loss.curvature(y, F), (ends[0] - ends[1]) / (2 * step), atol=1e-9)
