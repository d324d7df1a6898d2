"""Convex hulls, Makovoz counts, reduced sets, expansions with bounded coefficients."""

import itertools
import math

import numpy as np
import pytest
import scipy.optimize

from mercer.capacity.entropy import (
    ConvexHullClass,
    F1_entropy_lipschitz,
    F1_entropy_sample,
    LpExpansionClass,
    ReducedSet,
    Spectrum,
    barron_bound,
    base_class_entropy,
    convex_hull_entropy,
    entropy_number,
    expansion_lower_bound,
    feature_curve_entropy,
    kernel_lipschitz,
    makovoz_bound,
    terms_needed,
    weight_decay_report,
)
from mercer.capacity.rates import measured_rates
from mercer.geometry import RKHSFunction
from mercer.kernels import RBF, DampedOscillator, Exponential, Linear

GAUSSIAN = RBF(gamma=1.0)
LAPLACE = Exponential(gamma=1.0)
SPECTRUM = Spectrum.from_translation_invariant(GAUSSIAN, 10.0)


@pytest.mark.spec("SM-9.05")
def test_convex_hulls_keep_the_diameter():
    points = np.random.default_rng(0).normal(size=(7, 3))
    hull = ConvexHullClass(points @ points.T)
    pairs = [np.linalg.norm(a - b) for a, b in itertools.combinations(points, 2)]
    assert hull.diameter == pytest.approx(max(pairs))
    weights = np.random.default_rng(1).dirichlet(np.ones(7), size=60)
    distances = [hull.distance(a, b) for a, b in itertools.combinations(weights, 2)]
    assert max(distances) <= hull.diameter
    a, b = weights[:2]
    assert hull.distance(a, b) == pytest.approx(np.linalg.norm((a - b) @ points))
    assert hull.contains(a)
    assert not ConvexHullClass(points @ points.T, 3).contains(a)
    assert not hull.contains(-a)
    assert not hull.contains(2 * a)


@pytest.mark.spec("SM-9.06")
def test_stratified_sampling_bounds_the_error_of_midpoints():
    def entropy(k):
        return feature_curve_entropy(LAPLACE, (0.0, 1.0), k)

    for n, error, printed in ((5, 0.0816, 0.390), (10, 0.0408, 0.198), (20, 0.0204, 0.0994)):
        x = (np.arange(n) + 0.5) / n
        # f* = int k(x, .) dx and n midpoints with equal weights, in the RKHS norm
        double = 2 * (math.exp(-1.0) + 1 - 1)  # int int exp(-|x - y|) = 2 / e
        cross = (2 - np.exp(-x) - np.exp(-(1 - x))).mean()
        own = LAPLACE(x[:, None]).mean()
        assert math.sqrt(double - 2 * cross + own) == pytest.approx(error, abs=6e-5)
        bound = makovoz_bound(n, entropy)
        assert error <= bound.value <= barron_bound(n).value
        assert makovoz_bound(n, entropy, printed=True).value == pytest.approx(printed, abs=6e-4)
        half = math.sqrt(2) * entropy(max(n // 2, 1)) / math.sqrt(n)
        assert n % 2 or bound.value <= half * (1 + 1e-9)  # k = n / 2 is among the choices


@pytest.mark.spec("SM-9.06")
def test_the_printed_theorem_of_makovoz_is_false():
    # 24 orthonormal elements of weight 1/48 each, and a tight cluster with half of the weight.
    n, radius, size = 25, 0.01, 400
    centre = 0.9  # cluster elements centre e_0 + radius u_i with orthonormal u_i
    # 25 balls cover G: one for the cluster, one for each of the others.
    printed = makovoz_bound(n, lambda k: np.full(len(k), radius), printed=True)
    assert printed.value == pytest.approx(0.0040)
    assert printed.violated
    # With 25 terms: leaving out one of the 24 costs at least its weight, 1/48 = 0.0208 ...
    assert printed.value < 1 / 48
    # ... and with all 24, one cluster element and its weight b are left: by symmetry the first.
    b = np.linspace(0.3, 0.7, 4001)
    along = (0.5 - b) ** 2 * centre**2
    inside = radius**2 * ((0.5 / size - b) ** 2 + (size - 1) * (0.5 / size) ** 2)
    best = math.sqrt((along + inside).min())
    assert best == pytest.approx(0.0050, abs=2e-5)
    assert best > printed.value
    # The corrected bound holds: entropy numbers of G for k < 25 balls are those of the simplex.
    entropy = np.full(24, math.sqrt(0.5))
    assert best <= makovoz_bound(n, lambda k: entropy[k.astype(int) - 1]).value


@pytest.mark.spec("SM-9.06")
def test_the_corrected_bound_holds_for_the_best_combinations_of_random_sets():
    rng = np.random.default_rng(3)
    for _ in range(6):
        G = rng.normal(size=(7, 4))
        G /= np.linalg.norm(G, axis=1).max()
        f = rng.dirichlet(np.ones(7)) @ G
        distances = np.linalg.norm(G[:, None] - G, axis=2)
        entropy = [  # centres among the points: at least the entropy number
            min(distances[list(c)].min(axis=0).max() for c in itertools.combinations(range(7), k))
            for k in range(1, 8)
        ]
        for n in (2, 3, 4):
            # the nearest point of the hull of n points: non-negative least squares with sum 1
            best = min(
                scipy.optimize.nnls(np.vstack([G[list(c)].T, 1e4 * np.ones(n)]), np.append(f, 1e4))[
                    1
                ]
                for c in itertools.combinations(range(7), n)
            )
            bound = makovoz_bound(n, lambda k, e=entropy: np.array(e)[k.astype(int) - 1])
            assert best <= bound.value


@pytest.mark.spec("SM-9.07")
def test_counts_of_terms_are_monotone_and_never_above_barrons():
    for eps in (0.3, 0.1, 0.03, 0.01):
        barron = math.ceil((2.0 / eps) ** 2 * (1 - 1e-12))
        assert terms_needed(eps, 2.0, SPECTRUM, radius=1.0) <= barron
        curve = terms_needed(
            eps, 2.0, radius=1.0, entropy=lambda k: feature_curve_entropy(GAUSSIAN, (0.0, 1.0), k)
        )
        assert curve <= barron
        # so many terms reach the precision by the bound itself, one fewer does not
        bound = makovoz_bound(curve, lambda k: feature_curve_entropy(GAUSSIAN, (0.0, 1.0), k))
        assert 2.0 * bound.value <= eps * (1 + 1e-9)
    counts = [terms_needed(e, 1.0, SPECTRUM) for e in (0.1, 0.01, 0.001)]
    assert counts[0] <= counts[1] <= counts[2]
    small = Spectrum.from_translation_invariant(
        GAUSSIAN, 2.0
    )  # a short period: few eigenvalues matter
    assert terms_needed(1e-3, 1.0, small) < 0.2 * terms_needed(1e-3, 1.0, radius=small.radius)
    with pytest.raises(ValueError, match="radius"):
        terms_needed(0.1, 1.0)


@pytest.mark.spec("SM-9.08")
def test_rates_of_the_curve_of_features():
    n = np.array([10, 100, 1000])
    eps = feature_curve_entropy(LAPLACE, (0.0, 1.0), n)
    np.testing.assert_allclose(eps, np.sqrt(2 - 2 * np.exp(-1 / (2 * n))), rtol=1e-6)
    assert measured_rates(eps, n)[-1] == pytest.approx(-0.5, abs=0.01)
    bounds = [
        makovoz_bound(int(k), lambda j: feature_curve_entropy(LAPLACE, (0.0, 1.0), j)).value
        for k in (20, 80)
    ]
    assert measured_rates(bounds, [20, 80])[0] == pytest.approx(-1.0, abs=0.02)
    # eps_n(A) falls with ln n only, not like n^(-alpha/2) as claimed.
    from mercer.capacity.entropy import entropy_A

    slow = Spectrum.from_translation_invariant(LAPLACE, 8.0)
    claimed = [entropy_A(slow, math.log(k)).value for k in (1e3, 1e6)]
    assert measured_rates(claimed, [1e3, 1e6])[0] > -0.1
    # n^(-m/2) beats n^(-2m/(2m+1)) for m >= 2 only.
    assert [m / 2 > 2 * m / (2 * m + 1) for m in (1, 2, 3)] == [False, True, True]


@pytest.mark.spec("SM-9.09")
def test_reduced_sets_by_greedy_approximation_with_a_certificate():
    X = np.random.default_rng(0).uniform(-2, 2, (60, 1))
    coef = np.random.default_rng(1).normal(size=60)
    f = RKHSFunction(GAUSSIAN, X, coef)
    c, norm = np.abs(coef).sum(), f.norm()
    greedy = ReducedSet(n_terms=30, truncate=False).fit(f)
    t = np.arange(1, 31)
    assert (greedy.errors_ <= np.sqrt((c**2 - norm**2) / t)).all()  # Jones' rate
    assert (np.diff(greedy.errors_) <= 1e-12).all()
    errors = []
    for n in (4, 8, 12):
        reduced = ReducedSet(n_terms=n).fit(f)
        proof = reduced.certificate_
        assert len(reduced.support_) <= n
        assert proof.error == pytest.approx(reduced.function_.distance(f), rel=1e-4, abs=1e-5)
        assert proof.attains_promise
        assert proof.promised <= proof.barron
        grid = np.linspace(-3, 3, 101)[:, None]
        gap = np.abs(reduced.function_(grid) - f(grid)).max()
        assert gap <= proof.largest_deviation * (1 + 1e-6)
        assert proof.error <= ReducedSet(n, truncate=False).fit(f).certificate_.error
        errors.append(proof.relative_error)
    assert errors[2] < 1e-3 < errors[0]
    with pytest.raises(ValueError, match="n_terms must be an integer of at least 1"):
        ReducedSet(0).fit(f)
    with pytest.raises(TypeError, match="RKHSFunction"):
        ReducedSet(3).fit(lambda x: x)


@pytest.mark.spec("SM-9.09")
def test_steps_of_jones_are_the_best_ones():
    rng = np.random.default_rng(4)
    X, target = rng.normal(size=(9, 1)), rng.normal(size=9)
    K = GAUSSIAN(X)
    found = ReducedSet(n_terms=5, truncate=False).fit(RKHSFunction(GAUSSIAN, X, target))
    coef, c = np.zeros(9), np.abs(target).sum()
    for t in range(5):
        tried = []
        for i, sign in itertools.product(range(9), (1.0, -1.0)):
            h = sign * c * np.eye(9)[i] - coef
            rest = target - coef
            a = np.clip(rest @ K @ h / (h @ K @ h), 0.0, 1.0)
            left = rest - a * h
            tried.append((math.sqrt(left @ K @ left), i, coef + a * h))
        error, _, coef = min(tried, key=lambda step: step[0])
        assert found.errors_[t] == pytest.approx(error, rel=1e-6)
    np.testing.assert_allclose(coef[found.support_], found.function_.coef, rtol=1e-6)


@pytest.mark.spec("SM-9.10")
def test_bounded_coefficients_are_a_ball_of_the_rkhs():
    hull = LpExpansionClass(SPECTRUM, p=1, w_norm=2.0)
    assert hull.rkhs_radius == pytest.approx(2.0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        coef = rng.normal(size=9)
        coef *= 2.0 / np.abs(coef).sum()
        f = RKHSFunction(GAUSSIAN, rng.normal(size=(9, 1)), coef)
        assert f.norm() <= hull.rkhs_radius * (1 + 1e-12)
    with pytest.raises(ValueError, match="p must be at least 1"):
        LpExpansionClass(SPECTRUM, p=0.5)


@pytest.mark.spec("SM-9.11", "SM-9.15")
def test_convex_hulls_in_banach_spaces_have_an_unspecified_constant():
    values = [convex_hull_entropy(n, size=2.0, dimension=3.0) for n in (10, 10_000)]
    assert measured_rates([float(v) for v in values], [10, 10_000])[0] == pytest.approx(-1 / 3)
    assert values[0].relative
    assert not values[0].certified
    assert convex_hull_entropy(10, 2.0, 3.0, rho=5.0).certified
    assert convex_hull_entropy(10, 2.0, 3.0, rho=5.0).value == pytest.approx(5 * values[0].value)
    one, other = (F1_entropy_lipschitz(n, GAUSSIAN, [0.5, 0.5]) for n in (10, 1000))
    assert measured_rates([one.value, other.value], [10, 1000])[0] == pytest.approx(-0.5)
    for sides in ([0.5, 0.5], [1.0, 0.01]):  # eps_n of the functions with both signs, for all n
        for n in (2, 4, 10, 200):
            functions = base_class_entropy(GAUSSIAN, sides, math.log(n / 2))
            assert functions <= F1_entropy_lipschitz(n, GAUSSIAN, sides, rho=1.0).value
    assert one.value == pytest.approx(
        math.sqrt(2 / math.e) * math.sqrt(2) * (2 / 10) ** 0.5, rel=1e-5
    )
    steeper = F1_entropy_lipschitz(10, RBF(gamma=4.0), [0.5, 0.5])
    assert steeper.value == pytest.approx(2 * one.value, rel=1e-5)  # homogeneous in c_L
    assert F1_entropy_lipschitz(10, 2 * GAUSSIAN, [0.5, 0.5]).violated  # k <= 1 is needed


@pytest.mark.spec("SM-9.13")
@pytest.mark.parametrize(
    ("kernel", "slope"),
    [
        (GAUSSIAN, math.sqrt(2 / math.e)),
        (RBF.from_sigma(0.3), math.exp(-0.5) / 0.3),
        (Exponential(gamma=3.0), 3.0),
        (DampedOscillator(), 3 * math.sqrt(3) / 8),
    ],
)
def test_lipschitz_constants_of_kernels(kernel, slope):
    assert kernel_lipschitz(kernel) == pytest.approx(slope, rel=1e-5)
    assert kernel_lipschitz(kernel, 3) == pytest.approx(slope, rel=1e-5)
    rng = np.random.default_rng(0)
    x, z, y = rng.normal(size=(3, 200, 1))
    values = np.abs(kernel(x, y).diagonal() - kernel(z, y).diagonal())
    assert (values <= slope * np.abs(x - z)[:, 0] + 1e-12).all()


def test_kernels_without_a_lipschitz_constant_are_refused():
    with pytest.raises(ValueError, match="not a function of x - z"):
        kernel_lipschitz(Linear())


@pytest.mark.spec("SM-9.14", "SM-9.16")
def test_base_functions_are_covered_by_covering_their_centres():
    x = np.linspace(-0.5, 0.5, 101)
    y = np.linspace(-4.0, 4.0, 201)
    functions = GAUSSIAN(x[:, None], y[:, None])
    distances = np.abs(functions[:, None, :] - functions[None]).max(axis=2)
    for n in (2, 5, 11):
        greedy = entropy_number(distances, n, distances=True)
        assert greedy.lower <= base_class_entropy(GAUSSIAN, [0.5], math.log(n))
    # Evaluation at points does not enlarge the sup norm, and attains it.
    assert np.abs(functions[:, ::7]).max() <= np.abs(functions).max() == 1.0


@pytest.mark.spec("SM-9.17")
def test_the_sample_version_is_only_a_claim():
    for d in (1, 2, 4):
        values = [F1_entropy_sample(n, 10 * n, d) for n in (1000, 100_000)]
        slope = measured_rates([v.value for v in values], [1000, 100_000])[0]
        assert slope == pytest.approx(-(0.5 + 1 / d), abs=0.01)
        assert values[0].violated
        assert values[0].relative
        assert not values[0].certified
    # As printed, with the power 1/2 at n_2 and n_1 n_2 >= n, it contradicts the rate it claims.

    def printed(n, d):
        n1 = np.arange(1, n + 1)
        return float((np.log2(1 + 10 * n / n1) / n1 * np.ceil(n / n1) ** (0.5 - 1 / d)).min())

    slope = measured_rates([printed(n, 4) for n in (1000, 100_000)], [1000, 100_000])[0]
    assert slope == pytest.approx(-1.0, abs=0.01)  # not -(1/2 + 1/4)


@pytest.mark.spec("SM-9.18")
def test_weight_decay_does_not_bound_capacity():
    kappa = math.exp(-1.0)
    growing = [expansion_lower_bound(n, 2.0, kappa).value for n in (1, 10, 100, 1000)]
    np.testing.assert_allclose(growing, [0.368, 1.163, 3.679, 11.63], atol=4e-3)
    assert [expansion_lower_bound(n, 1.0, kappa).value for n in (1, 1000)] == [kappa, kappa]
    # The function itself: centres and points within [0, 1].
    x = np.linspace(0, 1, 11)[:, None]
    for n in (10, 100):
        centres = np.linspace(0, 1, n)[:, None]
        f = GAUSSIAN(x, centres) @ np.full(n, n**-0.5)
        assert f.min() >= expansion_lower_bound(n, 2.0, kappa).value
    unlimited = LpExpansionClass(SPECTRUM, p=2).log_covering(0.1)
    assert unlimited.value == math.inf
    assert unlimited.violated
    limited = LpExpansionClass(SPECTRUM, p=2, max_terms=100)
    ten_times = LpExpansionClass(SPECTRUM, p=1, w_norm=10.0)
    assert limited.log_covering(0.1).value == ten_times.log_covering(0.1).value < math.inf


@pytest.mark.spec("SM-9.19")
def test_weight_decay_is_harmless_for_centres_that_are_far_apart():
    coef = np.random.default_rng(0).normal(size=8)
    far, near = (GAUSSIAN(np.arange(8.0)[:, None] * step) for step in (4.0, 0.3))
    assert weight_decay_report(far).safe
    assert not weight_decay_report(near).safe
    assert coef @ far @ coef == pytest.approx(coef @ coef, rel=1e-6)
    assert weight_decay_report(near).condition_number > 1e4
    assert "does not bound the capacity" in str(weight_decay_report(near))
