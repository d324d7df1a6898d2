"""Entropy numbers of sets and of diagonal operators, against exact counts."""

import itertools
import math

import numpy as np
import pytest

from mercer.capacity.entropy import (
    DiagonalOperator,
    OperatorEntropy,
    box_entropy,
    compact_entropy,
    compose,
    diagonal_entropy,
    ellipsoid_volume_bound,
    entropy_number,
    log_covering,
    operator_norm,
)
from mercer.capacity.entropy.operators import dyadic


def exact_box(sides, n):
    """Smallest radius with prod ceil(s_i / eps) <= n: it is s_i / k for some side and integer."""
    candidates = sorted({s / k for s in sides for k in range(1, n + 2)})
    return next(e for e in candidates if np.prod(np.ceil(np.array(sides) / e - 1e-9)) <= n)


@pytest.mark.spec("SM-8.01")
def test_norm_and_entropy_numbers_of_the_unit_interval():
    grid = np.linspace(0.0, 1.0, 2001)
    for n in (1, 2, 3, 7):
        bracket = entropy_number(grid, n)
        assert bracket.lower <= 1 / (2 * n) + 1e-3
        assert 1 / (2 * n) <= bracket.upper
        assert bracket.upper <= 2 * bracket.lower
        assert box_entropy([0.5], math.log(n)) == pytest.approx(1 / (2 * n))
    # (8.1) prints the unit ball of the range: there T x makes no sense for a 3 x 2 matrix.
    T = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    angles = np.linspace(0.0, 2 * np.pi, 721)
    ball = np.stack([np.cos(angles), np.sin(angles)])
    assert operator_norm(T) == pytest.approx(np.linalg.norm(T @ ball, axis=0).max())


def test_farthest_points_bracket_the_best_cover_of_a_small_set():
    points = np.random.default_rng(0).normal(size=(9, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    for n in (1, 2, 3, 4):
        best = min(  # centres among the points: at most twice the best radius, at least the best
            distances[list(centres)].min(axis=0).max()
            for centres in itertools.combinations(range(9), n)
        )
        bracket = entropy_number(points, n)
        assert bracket.lower <= best <= bracket.upper <= 2 * best
        assert distances[bracket.centres].min(axis=0).max() == pytest.approx(bracket.upper)
        assert entropy_number(distances, n, distances=True)[:2] == pytest.approx(bracket[:2])


@pytest.mark.spec("SM-8.02", "SM-8.03")
def test_entropy_numbers_of_an_operator_start_at_the_norm_fall_and_scale():
    D = DiagonalOperator([2.0, 1.0, 0.5, 0.1])
    grid = np.linspace(0.0, 30.0, 50)
    assert D.eps(0.0) == D.norm == D.dyadic(1) == 2.0
    assert (np.diff(D.eps(grid)) <= 0).all()
    assert D.eps(100.0) < 1e-9
    np.testing.assert_allclose((-3 * D).eps(grid), 3 * D.eps(grid))
    assert D.dyadic(6) == D.eps(5 * math.log(2))
    for n in (1, 2, 3, 31, 32, 33):
        assert D.from_dyadic(n) == D.dyadic(math.floor(math.log2(n)) + 1) >= D.eps(math.log(n))
    with pytest.raises(ValueError, match="from n = 1"):
        D.dyadic(0)
    assert dyadic(lambda ln_n: box_entropy([0.5], ln_n), 4) == pytest.approx(1 / 16)


@pytest.mark.spec("SM-8.04")
def test_covering_numbers_invert_entropy_numbers():
    D = DiagonalOperator(0.8 ** np.arange(40))
    radii = np.array([0.5, 0.2, 0.05, 1e-3])
    ln_n = D.log_covering(radii)
    np.testing.assert_allclose(D.eps(ln_n), radii, rtol=1e-9)
    assert (D.eps(ln_n) <= radii).all()  # on the safe side: so many balls do suffice
    assert D.log_covering(2.0) == 0.0
    assert log_covering(lambda x: 0.3 + np.exp(-x), 0.2) == math.inf
    with pytest.raises(ValueError, match="radii > 0"):
        D.log_covering(0.0)


@pytest.mark.spec("SM-8.11")
def test_diagonal_operators_stay_within_a_factor_six_of_the_exact_numbers():
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(100):
        sigma = np.sort(rng.uniform(0.05, 1.0, rng.integers(1, 6)))[::-1]
        n = int(rng.integers(1, 60))
        exact = exact_box(list(sigma), n)  # p = infinity is computable
        assert box_entropy(sigma, math.log(n)) == pytest.approx(exact, rel=1e-6)
        lower, upper, _ = diagonal_entropy(sigma, math.log(n))
        assert lower <= exact * (1 + 1e-9)
        assert exact <= upper
        ratios.append(exact / lower)
    assert 1.2 < max(ratios) < 2.0
    at_8, at_16 = (diagonal_entropy([1, 0.5, 0.25, 0.125], math.log(n)).lower for n in (8, 16))
    assert at_8 == pytest.approx(0.25)
    assert at_16 == pytest.approx(0.198, abs=5e-4)
    assert exact_box([1, 0.5, 0.25, 0.125], 16) == 0.25


@pytest.mark.spec("SM-8.12")
def test_the_supremum_is_found_without_looking_at_all_indices():
    rng = np.random.default_rng(2)
    for _ in range(50):
        sigma = np.sort(np.exp(rng.normal(size=30)))[::-1]
        for ln_n in (0.0, 1.0, 10.0, 200.0):
            j = np.arange(1, 31)
            means = np.exp((np.cumsum(np.log(sigma)) - ln_n) / j)
            found = diagonal_entropy(sigma, ln_n)
            assert found.lower == pytest.approx(means.max())
            assert found.lower <= sigma[found.index - 1] * (1 + 1e-12)  # footnote 13
            if found.index < 30:
                assert sigma[found.index] <= found.lower * (1 + 1e-12)


@pytest.mark.spec("SM-8.43")
def test_unsorted_values_are_refused_because_their_means_come_out_too_small():
    values = np.array([0.01, 1.0])
    means = np.exp(np.cumsum(np.log(values)) / np.arange(1, 3))
    assert means.max() < diagonal_entropy(np.sort(values)[::-1], 0.0).lower == 1.0
    with pytest.raises(ValueError, match="sorted, largest first"):
        diagonal_entropy(values, 0.0)


@pytest.mark.spec("SM-8.49")
def test_blocks_give_the_supremum_over_all_indices_and_start_at_zero():
    rng = np.random.default_rng(3)
    for _ in range(50):
        sigma = np.sort(rng.uniform(0.1, 2.0, 6))[::-1]
        counts = rng.integers(1, 9, 6)
        for ln_n in (0.0, 3.0, 30.0):
            blocks = diagonal_entropy(sigma, ln_n, counts)
            assert blocks.lower == pytest.approx(
                diagonal_entropy(np.repeat(sigma, counts), ln_n).lower
            )
    # With the printed s_0 = 1 only s_1 = 5, s_2, ... are looked at: the upper bound falls below
    # the norm, which is the entropy number for n = 1.
    values = np.array([100.0, 1.0, 1.0, 1.0, 1.0])
    printed = 6 * np.prod(values) ** (1 / 5)
    assert printed == pytest.approx(15.07, abs=0.01)
    assert box_entropy(values, 0.0) > 99.9 > printed
    assert diagonal_entropy([100.0, 1.0], 0.0, [1, 4]).lower == pytest.approx(100.0)


@pytest.mark.spec("SM-8.50")
def test_the_volume_argument_of_the_proof_reproduces_the_factor_six():
    sigma = 0.7 ** np.arange(25)
    for ln_n in (1.0, 5.0, 20.0):
        g = diagonal_entropy(sigma, ln_n).lower
        delta = 8 * g
        s = int(np.sum(sigma > delta / 4))
        # eps = 3/4 delta = 6 g: delta/4 for the axes that are cut, delta/2 for the others.
        eps = sigma[s] + delta / 2
        assert eps <= 6 * g * (1 + 1e-12)
        assert s * math.log(8 / delta) + np.log(sigma[:s]).sum() <= ln_n + 1e-9
        assert ellipsoid_volume_bound(sigma, eps, keep=s) <= ln_n + 1e-9
        assert ellipsoid_volume_bound(sigma, 6 * g) <= ln_n + 1e-9
    # In l_infinity the cover can be counted: the bound never undercuts it.
    for eps in (0.3, 0.1, 0.03):
        exact = np.log(np.maximum(np.ceil(sigma / eps), 1)).sum()
        assert ellipsoid_volume_bound(sigma, eps) >= exact


@pytest.mark.spec("SM-8.17")
def test_products_of_operators_split_the_balls():
    r, s = np.array([1.0, 0.6, 0.2]), np.array([0.9, 0.5, 0.4])
    exact = [OperatorEntropy(lambda x, v=v: box_entropy(v, x)) for v in (r, s)]
    product = compose(*exact)
    assert product.norm == pytest.approx(0.9)
    for n in (1, 4, 12, 50):
        ln_n = math.log(n)
        truth = box_entropy(r * s, ln_n)
        assert truth <= product.eps(ln_n) * (1 + 1e-9)
        assert product.eps(ln_n) <= exact[0].eps(ln_n) * exact[1].norm * (1 + 1e-9)
        assert product.eps(ln_n) <= exact[1].eps(ln_n) * exact[0].norm * (1 + 1e-9)


@pytest.mark.spec("SM-9.12")
def test_compact_sets_in_finite_dimension_have_explicit_constants():
    for d in (1, 2, 3):
        for q in (2, 5):  # a cube is cut into q^d cubes
            n = q**d
            assert compact_entropy(math.log(n), half_sides=[0.5] * d) == pytest.approx(1 / (2 * q))
            assert compact_entropy(math.log(n - 0.5), half_sides=[0.5] * d) > 1 / (2 * q)
    # Intervals are balls in one dimension: the volume bound is at least the truth 1 / n.
    for n in (2, 10, 1000):
        assert compact_entropy(math.log(n), radius=1.0, dimension=1) >= 1 / n
    x = np.array([5.0, 50.0])
    slopes = np.diff(np.log(compact_entropy(x, radius=1.0, dimension=3))) / np.diff(x)
    assert slopes[0] == pytest.approx(-1 / 3, abs=0.02)
    with pytest.raises(ValueError, match="either half_sides"):
        compact_entropy(1.0)


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="counts n >= 1"):
        diagonal_entropy([1.0], -1.0)
    with pytest.raises(ValueError, match="integers >= 1"):
        diagonal_entropy([1.0, 0.5], 1.0, [1, 0])
    with pytest.raises(ValueError, match="radius > 0"):
        ellipsoid_volume_bound([1.0], 0.0)
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        entropy_number([0.0, 1.0], 0)


def test_a_million_terms_take_no_time():
    sigma = 1.0 / np.arange(1.0, 1_000_001.0)
    found = diagonal_entropy(sigma, np.linspace(0.0, 1e5, 1000))
    assert found.lower.shape == (1000,)
    assert (np.diff(found.index) >= 0).all()
