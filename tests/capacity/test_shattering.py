"""Shattering decided exactly, and the catalogue of VC dimensions with its constructive proofs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from mercer import SVC
from mercer.capacity import (
    balanced_dichotomy,
    count_dichotomies,
    dichotomies,
    fat_dimension,
    growth_function,
    hyperplanes_shatter,
    is_shattered,
    radon_unrealisable_labelling,
    realise_labelling,
    rectangle_unrealisable_labelling,
    sauer,
    shatter_with_margin,
    sine_shatter,
    vc_dim_margin,
    vc_dimension,
    vc_dimension_of_combinations,
    vc_dimension_of_union,
    worst_margin,
)
from mercer.capacity.separation import (
    features_of,
    halfspace,
    largest_margin,
    shortest_in_hull,
)
from mercer.kernels import RBF, Linear, Polynomial

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
TRIANGLE = np.array([[math.cos(t), math.sin(t)] for t in 2 * math.pi / 3 * np.arange(3)])
DIAMOND = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]


def labellings(m: int) -> np.ndarray:
    return np.array(list(itertools.product((-1, 1), repeat=m)))


@pytest.mark.spec("CS-4.05", "SM-7.34", "HO-18")
def test_lines_shatter_three_points_and_no_four() -> None:
    rng = np.random.default_rng(0)
    assert is_shattered([[0, 0], [1, 0], [0, 1]])
    line = is_shattered([[0, 0], [1, 1], [2, 2]])
    assert not line
    assert list(line.failing) in ([1, -1, 1], [-1, 1, -1])
    for _ in range(5):
        four = is_shattered(rng.normal(size=(4, 2)))
        assert not four
    assert count_dichotomies(SQUARE) == 14
    assert halfspace(np.array(SQUARE), is_shattered(SQUARE).failing) is None


@pytest.mark.spec("SM-7.18", "CS-4.04")
def test_halfspaces_realise_as_many_labellings_as_cover_counts() -> None:
    rng = np.random.default_rng(1)
    for m, count, bound in ((3, 8, 8), (4, 14, 15), (5, 22, 26), (6, 32, 42)):
        assert count_dichotomies(rng.normal(size=(m, 2))) == count
        assert count == growth_function("halfspaces", m, 2) <= bound == sauer(m, 3)
    assert count_dichotomies(rng.normal(size=(5, 3))) == 30 == growth_function("halfspaces", 5, 3)
    through = count_dichotomies(rng.normal(size=(5, 2)), cls="homogeneous halfspaces")
    assert through == growth_function("homogeneous halfspaces", 5, 2) == 10
    every = dichotomies(SQUARE)
    assert len({tuple(y) for y in every}) == 14
    assert {tuple(-y) for y in every} == {tuple(y) for y in every}


@pytest.mark.spec("CS-4.05", "SM-7.18", "SM-7.34")
def test_finite_classes_are_shattered_by_their_predictions() -> None:
    thresholds = np.array([[x - t for x in range(3)] for t in (-0.5, 0.5, 1.5, 2.5)])
    assert count_dichotomies(thresholds, cls="predictions") == 4
    found = is_shattered(thresholds, cls="predictions")
    assert not found
    assert tuple(found.failing) not in {tuple(np.where(f >= 0, 1, -1)) for f in thresholds}
    assert is_shattered(thresholds[:, :1], cls="predictions")
    assert is_shattered(labellings(4), cls="predictions")
    rng = np.random.default_rng(13)
    for _ in range(5):
        F = rng.normal(size=(12, 4))
        sizes = [
            k
            for k in (1, 2, 3, 4)
            for points in itertools.combinations(range(4), k)
            if is_shattered(F[:, points], cls="predictions")
        ]
        assert vc_dimension(F) == max(sizes, default=0)
        assert [vc_dimension(F, kind=k) for k in "slp"] == [fat_dimension(F, 0.0, k) for k in "slp"]


@pytest.mark.spec("HO-19")
def test_rank_test_agrees_with_linear_programmes() -> None:
    rng = np.random.default_rng(2)
    for m, n in itertools.product((2, 3, 4, 5), (1, 2, 3, 4)):
        X = rng.integers(-1, 2, size=(m, n)).astype(float)  # often degenerate
        if len(np.unique(X, axis=0)) == m:
            assert hyperplanes_shatter(X) == bool(is_shattered(X))


@pytest.mark.spec("CS-4.08")
def test_both_halves_of_the_proof_for_halfspaces() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 3):
        X = rng.normal(size=(n + 1, n))
        for y in labellings(n + 1):
            w, b = realise_labelling(X, y)
            assert X @ w + b == pytest.approx(y)
        more = rng.normal(size=(n + 2, n))
        assert halfspace(more, radon_unrealisable_labelling(more)) is None
        assert vc_dimension("halfspaces", n) == n + 1
    xor = radon_unrealisable_labelling(SQUARE)
    assert (xor * xor[0]).tolist() == [1, -1, -1, 1]
    with pytest.raises(ValueError, match="general position"):
        realise_labelling(SQUARE, [1, 1, 1, -1])
    with pytest.raises(ValueError, match="affinely independent"):
        radon_unrealisable_labelling(TRIANGLE)


@pytest.mark.spec("SM-7.35")
def test_catalogue_against_brute_force() -> None:
    rng = np.random.default_rng(4)
    for d in (1, 2, 3):
        # With an offset d + 1, not "n + 1"; through the origin d.
        for kind, dimension in (("halfspaces", d + 1), ("homogeneous halfspaces", d)):
            assert vc_dimension(kind, d) == dimension
            assert is_shattered(rng.normal(size=(dimension, d)), cls=kind)
            assert not is_shattered(rng.normal(size=(dimension + 1, d)), cls=kind)
    # Signs of 4 independent functions: a Vandermonde matrix is of full rank.
    t = np.arange(5.0)
    span = np.vander(t, 4)
    assert is_shattered(span[:4], cls="homogeneous halfspaces")
    assert not is_shattered(span, cls="homogeneous halfspaces")
    assert vc_dimension("linear span", 4) == 4
    for name in ("sines", "nearest neighbour", "gaussian expansions"):
        assert vc_dimension(name) == math.inf
    # Balls in the plane: 3 points, and never 4.
    assert is_shattered(TRIANGLE, cls="balls")
    for _ in range(10):
        assert not is_shattered(rng.normal(size=(4, 2)), cls="balls")
    inside = is_shattered(np.vstack([TRIANGLE, [[0, 0]]]), cls="balls")
    assert inside.failing.tolist() == [1, 1, 1, -1]  # a ball contains the centre of its points
    assert vc_dimension("balls", 2) == 3


@pytest.mark.spec("HO-20", "SM-7.35")
def test_sines_shatter_points_that_shrink_and_not_points_that_grow() -> None:
    for m in range(1, 9):
        x = 10.0 ** -np.arange(1, m + 1)
        for y in labellings(m):
            assert np.array_equal(np.sign(np.sin(sine_shatter(y) * x)), y)
    x = 10.0 ** np.arange(1, 4)  # the second mention in the slides
    failed = sum(
        not np.array_equal(np.where(np.sin(sine_shatter(y) * x) >= 1e-6, 1, -1), y)
        for y in labellings(3)
    )
    assert failed >= 6


@pytest.mark.spec("HO-21")
def test_rectangles_have_dimension_four() -> None:
    assert is_shattered(DIAMOND, cls="rectangles")
    rng = np.random.default_rng(5)
    for _ in range(10):
        X = rng.normal(size=(5, 2))
        y = rectangle_unrealisable_labelling(X)
        low, high = X[y > 0].min(axis=0), X[y > 0].max(axis=0)
        caught = X[y < 0]
        assert np.all((caught >= low) & (caught <= high))
        assert not is_shattered(X, cls="rectangles")
    assert vc_dimension("rectangles", 2) == 4


@pytest.mark.spec("HO-22")
def test_vc_calculus_on_random_finite_classes() -> None:
    rng = np.random.default_rng(6)

    def dimension(rows: np.ndarray) -> int:
        best = 0
        for k in range(1, rows.shape[1] + 1):
            for chosen in itertools.combinations(range(rows.shape[1]), k):
                if len(np.unique(rows[:, chosen], axis=0)) == 2**k:
                    best = k
        return best

    for _ in range(10):
        A, B = (rng.choice([-1, 1], size=(n, 6)) for n in (6, 9))
        a, b, both = dimension(A), dimension(B), dimension(np.vstack([A, B]))
        assert max(a, b) <= both <= vc_dimension_of_union(a, b)
        assert dimension(-A) == a <= math.log2(len(A))
        meets = np.array([np.minimum(f, g) for f in A for g in A])
        assert dimension(meets) <= vc_dimension_of_combinations(a, 2)


@pytest.mark.spec("LFD-20")
def test_fat_hyperplanes_on_the_triangle() -> None:
    assert is_shattered(TRIANGLE, margin=0.75)
    thin, fat = count_dichotomies(TRIANGLE, margin=0.0), count_dichotomies(TRIANGLE, margin=0.76)
    assert (thin, fat) == (8, 2)  # only the two constant labellings are left
    skew = np.array([[0.0, 0.0], [1.0, 0.0], [0.2, 0.4]])
    counts = [count_dichotomies(skew, margin=r) for r in (0.0, 0.05, 0.3, 0.6)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 8
    assert 4 in counts
    assert counts[-1] == 2
    # No three points of the unit disc do better than the triangle: 3/4, not sqrt(3)/2.
    rng = np.random.default_rng(7)
    for _ in range(20):
        X = rng.normal(size=(3, 2))
        X /= np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
        assert not is_shattered(X, margin=0.7501)


def test_largest_margin_agrees_with_the_support_vector_machine() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(12, 2)) + np.repeat([[3.0, 0], [-3.0, 1]], 6, axis=0)
    y = np.repeat([1, -1], 6)
    model = SVC(kernel="linear", C=np.inf, tol=1e-10).fit(X, y)
    found = largest_margin(X, y)
    assert found.margin == pytest.approx(1 / np.linalg.norm(model.coef_), rel=1e-9)
    assert found.w == pytest.approx(model.coef_[0] * found.margin, rel=1e-7)
    assert found.b == pytest.approx(model.intercept_[0] * found.margin, rel=1e-7)
    through = largest_margin(X, y, bias=False)
    assert (y * (X @ through.w)).min() == pytest.approx(through.margin)
    assert through.margin <= found.margin
    assert largest_margin(np.array(SQUARE), np.array([1, -1, -1, 1])) is None


def test_shortest_vector_of_a_hull_is_optimal() -> None:
    rng = np.random.default_rng(14)
    for trial in range(60):
        n, d = rng.integers(2, 12), rng.integers(1, 6)
        A = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=d)
        if trial % 3 == 0:
            A = np.round(A)  # repeated and dependent points
        v = shortest_in_hull(A)
        # v is in the hull, and the hull lies beyond the plane through v.
        inside = linprog(
            np.zeros(n), A_eq=np.vstack([A.T, np.ones(n)]), b_eq=np.append(v, 1.0), bounds=(0, None)
        )
        assert inside.status == 0
        assert (A @ v).min() >= v @ v - 1e-9 * np.abs(A).max() ** 2


@pytest.mark.spec("LFD-21", "HO-25")
def test_dimension_of_fat_hyperplanes() -> None:
    toy = vc_dim_margin(radius=3.0, margin=1 / math.sqrt(2), n_features=2)
    assert toy.value == 3
    ceiling = vc_dim_margin(radius=3.0, margin=1 / math.sqrt(2), form="ceiling")
    assert ceiling.value == 19
    assert vc_dim_margin(1.0, 0.75, form="ceiling").value == 3
    assert vc_dim_margin(1.0, 0.75).value == 3  # attained by the triangle
    assert vc_dim_margin(1.0, 0.7501).value == 2
    assert vc_dim_margin(1.0, 1.0).value == 2  # two opposite points
    assert vc_dim_margin(1.0, 1.01).value == 1
    for ratio in (0.5, 1.0, 1.5, 2.0, 3.0, 7.3, 100.0, 1e9):
        sharp = vc_dim_margin(math.sqrt(ratio), 1.0).value
        assert sharp <= vc_dim_margin(math.sqrt(ratio), 1.0, form="ceiling").value
        assert sharp == vc_dim_margin(2 * math.sqrt(ratio), 2.0).value  # R can be scaled to 1
    # Scaling data into the unit ball leaves radius over margin as it is.
    X = np.random.default_rng(15).normal(size=(10, 2)) + np.repeat([[4.0, 0], [-4.0, 0]], 5, axis=0)
    y = np.repeat([1, -1], 5)
    R = np.linalg.norm(X, axis=1).max()
    unit = X / R
    assert np.linalg.norm(unit, axis=1).max() == pytest.approx(1)
    ratio = R / largest_margin(X, y).margin
    assert 1 / largest_margin(unit, y).margin == pytest.approx(ratio)
    # The simplex of N points attains the even case: R^2 / rho^2 = N - 1.
    for n in (2, 4, 6):
        X = np.eye(n) - 1 / n
        R = np.linalg.norm(X[0])
        rho = math.sqrt(R**2 / (n - 1))
        assert is_shattered(X, margin=rho)
        assert vc_dim_margin(R, rho).value == n


@pytest.mark.spec("LFD-22", "LFD-23", "LFD-24")
@pytest.mark.parametrize(("n", "count"), [(6, 20), (7, 35)])
def test_balanced_dichotomies(n: int, count: int) -> None:
    X = np.random.default_rng(9).normal(size=(n, 3))
    k = n // 2
    spread = np.sum((X - X.mean(axis=0)) ** 2)
    gaps = []
    for plus in itertools.combinations(range(n), k):
        y = np.where(np.isin(np.arange(n), plus), 1, -1)
        gaps.append(np.sum((X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)) ** 2))
    assert len(gaps) == count
    assert np.mean(gaps) == pytest.approx(n / ((n - 1) * k * (n - k)) * spread, rel=1e-12)
    if n % 2 == 0:  # k means times k: the sum of y_n x_n
        assert np.mean(gaps) * k**2 == pytest.approx(n / (n - 1) * spread, rel=1e-12)
    R = np.linalg.norm(X, axis=1).max()
    assert spread <= np.sum((X - 0.3) ** 2)  # the mean minimises the squared distances
    y = balanced_dichotomy(X, rng=0)
    assert abs(y.sum()) <= 1
    gap = np.linalg.norm(X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0))
    limit = 2 * R / math.sqrt(n - 1) if n % 2 == 0 else 2 * n * R / ((n - 1) * math.sqrt(n + 1))
    assert gap <= limit
    for seed in range(20):
        y = balanced_dichotomy(X, rng=seed)
        difference = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
        assert difference @ difference <= np.mean(gaps) * (1 + 1e-9)  # not above the average
    separable = largest_margin(X, y)
    if separable is not None:
        assert 2 * separable.margin <= gap


@pytest.mark.spec("SM-7.37")
def test_gaussian_expansions_shatter_any_points() -> None:
    def gram(m: int, width: float) -> np.ndarray:
        return RBF(gamma=width**-2)(np.linspace(0, 1, m)[:, None])

    table = {(4, 1.0): 0.02926, (6, 1.0): 5.87e-4, (8, 0.2): 0.0956}
    for (m, width), value in table.items():
        K = gram(m, width)
        assert worst_margin(K) == pytest.approx(value, rel=2e-3)
        assert worst_margin(K) ** -2 >= m
    # The worst labels v are known for the inverse of I + vv'/2.
    rng = np.random.default_rng(16)
    for m in (1, 3, 14):
        for v in (rng.choice([-1.0, 1.0], size=m), np.append(1.0, -np.ones(m - 1)), np.ones(m)):
            K = np.linalg.inv(np.eye(m) + np.outer(v, v) / 2)
            assert worst_margin(K) == pytest.approx((m + m**2 / 2) ** -0.5)
    K = gram(5, 0.3)
    for y in labellings(5):
        for constraint in ("rkhs", "l1", "l2"):
            a, margin = shatter_with_margin(K, y, constraint)
            assert K @ a == pytest.approx(margin * y, abs=1e-10)
    assert is_shattered(K, kernel="precomputed")
    a, margin = shatter_with_margin(K, labellings(5)[7])
    assert a @ K @ a == pytest.approx(1)
    with pytest.raises(ValueError, match="strictly positive definite"):
        worst_margin(np.ones((3, 3)))


def test_shattering_in_the_feature_space_of_a_kernel() -> None:
    conic = is_shattered(SQUARE, kernel=Polynomial(degree=2, coef0=1.0))
    assert conic  # quadratic functions realise XOR
    many = np.random.default_rng(10).normal(size=(7, 2))
    assert not is_shattered(many, kernel=Polynomial(degree=2, coef0=1.0))  # six features
    assert is_shattered(many, kernel=RBF(gamma=1.0))
    # In feature space the margin of the unit ball is that of the exact search.
    K = RBF(gamma=1.0)(many[:4])
    worst = worst_margin(K)
    free = "homogeneous halfspaces"
    assert is_shattered(K, free, margin=worst * (1 - 1e-9), kernel="precomputed")
    assert not is_shattered(K, free, margin=worst * 1.001, kernel="precomputed")
    # Rounding must not add dimensions: four points of the plane stay dependent.
    for kernel in (Linear(), Polynomial(degree=1, coef0=1.0)):
        assert features_of(kernel(many)).shape[1] <= 3
        assert not is_shattered(many[:4], kernel=kernel)
    with pytest.raises(ValueError, match="eigenvalue"):
        features_of([[0.0, 1.0], [1.0, 0.0]])


def test_balls_in_the_feature_space_of_a_kernel() -> None:
    # All points of a Gaussian kernel lie on a sphere, where balls cut out what halfspaces do.
    X = np.random.default_rng(11).normal(size=(5, 2))
    assert is_shattered(X, cls="balls", kernel=RBF(gamma=1.0))
    # With the linear kernel they are the balls of the plane.
    assert not is_shattered(X[:4], cls="balls", kernel=Linear())
    assert count_dichotomies(X[:4], cls="balls", kernel=Linear()) == count_dichotomies(
        X[:4], cls="balls"
    )


def test_dependent_points_fail_with_the_labelling_of_their_dependence() -> None:
    rng = np.random.default_rng(12)
    for n, by in itertools.product((1, 2, 3), ("halfspaces", "homogeneous halfspaces")):
        X = rng.integers(-2, 3, size=(n + 3, n)).astype(float)
        found = is_shattered(X, cls=by)
        assert not found
        assert halfspace(X, found.failing, bias=by == "halfspaces") is None
        assert found.failing[0] == -1


def test_bad_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="too many labellings"):
        is_shattered(np.zeros((30, 2)))
    with pytest.raises(ValueError, match="margin is defined for halfspaces"):
        is_shattered(SQUARE, cls="balls", margin=0.1)
    with pytest.raises(ValueError, match="cls must be one of"):
        dichotomies(SQUARE, cls="spheres")
    with pytest.raises(ValueError, match="one point per row"):
        is_shattered([1.0, 2.0])
    with pytest.raises(ValueError, match="labels 1 and -1"):
        sine_shatter([0, 1])
