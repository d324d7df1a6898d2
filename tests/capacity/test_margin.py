"""Margin, soft-margin and compression bounds; luckiness."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mercer import SVC
from mercer.capacity import (
    CompressionScheme,
    best_bound,
    best_percentile,
    best_target_margin,
    compression_bound,
    cover_from_fat,
    covering_margin_bound,
    covering_number,
    effective_vc_dimension,
    fat_margin_bound,
    finite_class_bound,
    hard_margin_bound,
    hinge_mistake_bound,
    linear_fat_dimension,
    luckiest,
    margin_distribution,
    margin_rate,
    n_margin_errors,
    optimal_compression_prior,
    overall_bound,
    pac_bayes_bound,
    percentile_bound,
    slack_embedding,
    soft_margin_bound,
    soft_margin_cover_bound,
    stratified,
    vc_bound,
)
from mercer.kernels import RBF


def clouds(n: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, 2)) * 0.5 + np.repeat([[2.0, 0.0], [-2.0, 0.0]], n, axis=0)
    return X, np.repeat([1, -1], n)


@pytest.mark.spec("CS-4.11")
def test_margins_do_not_depend_on_the_scale_of_the_weights() -> None:
    X, y = clouds()
    w = np.array([1.0, 0.3])
    one = margin_distribution(lambda Z: Z @ w, X, y, np.linalg.norm(w))
    ten = margin_distribution(lambda Z: 10 * Z @ w, X, y, 10 * np.linalg.norm(w))
    assert one == pytest.approx(ten)
    assert one[0] == pytest.approx((y * (X @ w)).min() / np.linalg.norm(w))
    model = SVC(kernel=RBF(0.5), C=1e6).fit(X, y)
    a = model.dual_coef_[0]
    norm = math.sqrt(a @ model.kernel_(X[model.support_]) @ a)
    margins = margin_distribution(model.decision_function, X, y, norm)
    assert margins[0] == pytest.approx(1 / norm, rel=1e-3)  # the hard margin


@pytest.mark.spec("CS-4.16", "CS-4.18")
def test_hard_margin_bound_with_the_lost_factor_e() -> None:
    table = {(10**6, 0.5): 0.272190, (10**6, 1.0): 0.066800, (10**7, 0.1): 0.91502}
    for (m, gamma), value in table.items():
        assert hard_margin_bound(m, 1.0, gamma).value == pytest.approx(value, rel=1e-5)
        d = effective_vc_dimension(radius=1.0, margin=gamma)
        assert d.value == linear_fat_dimension(radius=1.0, margin=gamma / 8).value
        # A bound on a dimension goes into another formula, with its conditions.
        made = fat_margin_bound(m, 1.0, gamma, fat_dim=d)
        assert made.value == pytest.approx(value, rel=1e-5)
        assert set(d.conditions) <= set(made.conditions)
    assert hard_margin_bound(10**5, 1.0, 1.0).value == pytest.approx(0.48523, rel=1e-4)
    without_e = (64 / 0.25) * math.log2(1e6 * 0.5 / 4) * math.log2(128e6 / 0.25)
    assert 2e-6 * (without_e + math.log2(80)) < 0.27  # log(l gamma / 4R), as the scan reads
    assert hard_margin_bound(100, 1.0, 1.0).sample_complexity() == 42_442
    assert hard_margin_bound(100, 1.0, 0.5).sample_complexity() == 222_015
    assert hard_margin_bound(100, 1.0, 0.1).sample_complexity() == pytest.approx(9.05e6, rel=1e-3)


@pytest.mark.spec("CS-4.18", "CS-4.45")
def test_the_conditions_of_the_hard_margin_bound_are_reported() -> None:
    few = hard_margin_bound(100, 1.0, 0.5)
    assert [c.what for c in few.violated] == ["fat_dim < n_samples"]
    assert any("offset" in what for what in few.assumes)
    assert any("margin" in what and "before" in what for what in few.assumes)
    shifted = hard_margin_bound(10**7, 1.0, 0.5, offset=0.5)
    plain = hard_margin_bound(10**7, math.sqrt(2), 0.5 / math.sqrt(1.25))
    assert shifted.value == pytest.approx(plain.value)
    assert not any("without an offset" in what for what in shifted.assumes)
    assert hard_margin_bound(10**7, 1.0, 0.5, offset=1.5).violated
    with pytest.raises(ValueError, match="exceeds radius"):
        hard_margin_bound(10**6, radius=0.3, margin=0.5)


@pytest.mark.spec("CS-4.13", "CS-4.15")
def test_the_fat_bound_is_the_cover_bound_with_the_cover_inserted() -> None:
    m, R, gamma, d = 10**6, 1.0, 0.5, 256

    def cover(eps: float, n_points: int) -> float:
        return cover_from_fat(eps, n_points, d, low=-R, high=R).value

    composed = covering_margin_bound(m, cover, margin=gamma)
    assert composed.value == pytest.approx(0.272190, rel=1e-5)
    assert composed.value == pytest.approx(fat_margin_bound(m, R, gamma, d).value, rel=1e-12)
    with pytest.raises(ValueError, match="at which margin"):
        covering_margin_bound(m, cover)


@pytest.mark.spec("SM-7.39")
def test_a_finite_class_at_a_margin_is_a_finite_class() -> None:
    ln_n = math.log(50)
    made = covering_margin_bound(2000, ln_n)
    assert made.value == pytest.approx(overall_bound(2000, ln_n, variant="zero_error").value)
    assert made > finite_class_bound(2000, 50)  # which needs no ghost sample

    def cover(eps: float, n_points: int) -> float:
        return 10 / eps

    falling = [covering_margin_bound(2000, cover, margin=g).value for g in (0.1, 0.2, 0.4)]
    assert falling == sorted(falling, reverse=True)
    sketch = covering_margin_bound(2000, cover, margin=0.2, variant="sm")
    assert sketch.value == pytest.approx(covering_margin_bound(2000, cover, margin=0.4).value)
    assert not sketch.certified


@pytest.mark.spec("CS-4.19")
def test_the_price_of_reading_the_margin_off_the_data() -> None:
    fixed = hard_margin_bound(10**6, 1.0, 0.3)
    made = stratified(fixed)
    assert (made.value, fixed.value) == pytest.approx((1.10064, 0.76271), rel=1e-5)
    assert made.delta == 0.05
    assert not any("fixed before the samples" in w and "margin" in w for w in made.assumes)
    by_hand = hard_margin_bound(10**6, 1.0, 0.25, delta=0.05 / 8)
    assert made.value == pytest.approx(by_hand.value)
    on_grid = stratified(hard_margin_bound(10**6, 1.0, 0.5))
    price = on_grid.value - hard_margin_bound(10**6, 1.0, 0.5).value
    assert price == pytest.approx(2e-6 * 2)  # i + 1 = 2 bits of confidence
    assert price < 2e-6 * math.log2(4 / 0.5)
    assert made.sample_complexity() > fixed.sample_complexity()
    # With an offset, also read off the data, the margin in the enlarged space is on the grid.
    shifted = stratified(hard_margin_bound(10**7, 1.0, 0.5, offset=0.5))
    margin = 0.5 / math.sqrt(1.25)  # 0.447, radius sqrt(2): i = 2, the grid has 0.354
    on_grid = hard_margin_bound(10**7, math.sqrt(2), math.sqrt(2) / 4, delta=0.05 / 8)
    assert math.sqrt(2) / 4 <= margin
    assert shifted.value == pytest.approx(on_grid.value)
    assert not any("without an offset" in what for what in shifted.assumes)
    assert shifted.at(n_samples=10**8).value < shifted.value
    with pytest.raises(ValueError, match="nothing to stratify"):
        stratified(vc_bound(100, 3))


@pytest.mark.spec("CS-4.21", "CS-4.22")
def test_margin_percentiles() -> None:
    made = percentile_bound(10**5, 1.0, 0.5, rank=100)
    assert made.value == pytest.approx(0.106254, abs=1e-6)
    assert made.relative
    assert not made.certified
    margins = np.linspace(-0.1, 1.0, 400)  # not separable
    best = best_percentile(margins, 1.0, c=0.01)
    everyone = [
        percentile_bound(400, 1.0, float(margins[k - 1]), k, c=0.01).value
        for k in range(1, 400)
        if margins[k - 1] > 0
    ]
    assert best.value == pytest.approx(min(everyone))
    assert best.inputs["rank"] >= n_margin_errors(margins, 0.0) + 1
    # Which rank is best depends on the constant that is not known.
    assert best_percentile(margins, 1.0, c=1e-4).inputs["rank"] < best.inputs["rank"]
    with pytest.raises(ValueError, match="smaller than the data"):
        best_percentile(margins, radius=0.5)


@pytest.mark.spec("CS-4.22")
def test_rankings_do_not_depend_on_the_constant() -> None:
    models = [(1.0, 0.5, 1.0), (2.0, 0.9, 0.1), (1.0, 0.2, 0.0)]
    orders = []
    for c in (1.0, 7.0):
        for norm in (1, 2):
            values = [soft_margin_bound(1000, *m, norm=norm, c=c).value for m in models]
            orders.append((norm, tuple(np.argsort(values))))
    assert len(set(orders)) == 2


@pytest.mark.spec("HO-24")
def test_margin_rate() -> None:
    made = margin_rate(n_samples=4, radius=3.0, margin=1 / math.sqrt(2))
    assert made.value == pytest.approx(4.5)
    assert made.vacuous
    assert made.relative


@pytest.mark.spec("CS-4.23")
def test_slack_embedding_gives_every_point_the_margin() -> None:
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=50), rng.choice([-1, 1], size=50)
    made = slack_embedding(f, y, margin=1.0)
    assert made.margins.min() == pytest.approx(1.0)
    assert y * (f + made.coefficients) == pytest.approx(made.margins)
    # The kernel K + [x = z]: coefficients a of the sum give f on the training points an extra a_i
    # and nothing elsewhere.
    X = rng.normal(size=(6, 2))
    enlarged = RBF(1.0) + RBF(1e9)  # the second is 1 for equal points and 0 for all others
    assert enlarged(X) == pytest.approx(RBF(1.0)(X) + np.eye(6))
    Z = rng.normal(size=(3, 2))
    assert enlarged(Z, X) == pytest.approx(RBF(1.0)(Z, X))


@pytest.mark.spec("CS-4.24")
def test_a_product_of_covers_covers_the_sums() -> None:
    rng = np.random.default_rng(1)
    F, L = rng.random((6, 4)), rng.random((4, 4))
    pairs = (F[:, None] + L[None]).reshape(-1, 4)
    for gamma in (0.2, 0.6):
        both = covering_number(F, gamma / 4).upper * covering_number(L, gamma / 4).upper
        assert covering_number(pairs, gamma / 2).lower <= both
    made = soft_margin_cover_bound(1000, 20.0, 10.0)
    by_hand = 2e-3 * (30 / math.log(2) + math.log2(40))
    assert made.value == pytest.approx(by_hand)
    assert made.terms["complexity"] == pytest.approx(2 * made.terms["slack"])
    nothing = soft_margin_cover_bound(1000, 20.0, 0.0)
    assert nothing.value == pytest.approx(covering_margin_bound(1000, 20.0).value)


@pytest.mark.spec("CS-4.25", "CS-4.27")
def test_soft_margin_bounds_of_the_text() -> None:
    two = soft_margin_bound(1000, 1.0, 0.5, slack=math.sqrt(2), norm=2)
    one = soft_margin_bound(1000, 1.0, 0.5, slack=2.0, norm=1)
    assert (two.value, one.value) == pytest.approx((1.19612, 1.99066), abs=1e-5)
    assert two.relative
    assert one.relative
    hard = soft_margin_bound(1000, 1.0, 0.5, slack=0.0).value
    assert hard == pytest.approx((4 * math.log2(1000) ** 2 + math.log2(20)) / 1000)
    with pytest.raises(ValueError, match="smaller than 1"):
        soft_margin_bound(1000, 2.0, 1.5, slack=1.0, norm=1)


@pytest.mark.spec("CS-4.26")
def test_soft_margin_bound_with_all_constants() -> None:
    table = {(1.0, 0.0): 0.035830, (1.0, 1.0): 0.071659, (0.5, 2.0): 0.73014}
    for (gamma, B), value in table.items():
        made = soft_margin_bound(10**7, 1.0, gamma, slack=B, explicit=True)
        assert made.value == pytest.approx(value, rel=1e-4)
        assert made.certified
    # It is the general bound with the covers of linear functions inserted.
    m, gamma, R, B = 10**7, 0.5, 1.0, 2.0

    def cover(r: float):
        d = 256 * r**2 / gamma**2
        return lambda eps, n: cover_from_fat(eps, n, d, low=-r, high=r).value

    composed = soft_margin_cover_bound(m, cover(R), cover(B), margin=gamma)
    assert composed.value == pytest.approx(0.73014, rel=1e-4)
    assert soft_margin_bound(10**4, 1.0, 0.1, slack=1.0, explicit=True).violated


@pytest.mark.spec("CS-4.28")
@pytest.mark.parametrize("norm", [1, 2])
def test_best_target_margin(norm: int) -> None:
    margins = np.random.default_rng(2).uniform(-0.2, 0.9, size=500)
    best = best_target_margin(margins, 1.0, norm=norm)
    for i in range(1 if norm == 1 else 0, 12):
        target = 2.0**-i
        slack = np.linalg.norm(np.maximum(0, target - margins), norm)
        other = soft_margin_bound(500, 1.0, target, slack, 0.05 * 2.0 ** -(i + 1), norm=norm)
        assert best.value <= other.value + 1e-12
    assert best.delta == 0.05
    assert not any("was fixed" in what and "margin" in what for what in best.assumes)
    clear = best_target_margin(np.full(500, 0.25), 1.0, norm=2)
    assert clear.inputs["slack"] == 0
    assert clear.terms["margin"] == pytest.approx(16 * math.log2(500) ** 2 / 500)


@pytest.mark.spec("CS-4.28", "CS-4.26")
def test_a_soft_margin_bound_that_assumes_nothing_read_off_the_data() -> None:
    margins = np.full(10**6, 0.9)
    margins[:3] = 0.2
    made = best_target_margin(margins, 1.0, explicit=True)
    assert made.certified
    assert not any("before the samples were seen" in what for what in made.assumes)
    gamma, B = made.inputs["margin"], made.inputs["slack"]
    slack = np.linalg.norm(np.maximum(0, gamma - margins))
    assert slack <= B < 2 * max(slack, gamma)
    i, j = round(-math.log2(gamma)), 0 if B == 0 else 1 + round(math.log2(B / gamma))
    plain = soft_margin_bound(10**6, 1.0, gamma, B, delta=0.05 * 2.0 ** -(i + j + 2), explicit=True)
    assert made.value == pytest.approx(plain.value)
    assert made.value < best_target_margin(margins[:10_000], 1.0, explicit=True).value


@pytest.mark.spec("HO-27")
def test_soft_margin_order_of_the_slides() -> None:
    X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    y = np.array([-1, -1, 1, 1])
    model = SVC(kernel="linear", C=0.5, tol=1e-10).fit(X, y)
    norm = np.linalg.norm(model.coef_)
    slack = slack_embedding(model.decision_function(X) / norm, y, 1 / norm).norm(2)
    made = soft_margin_bound(4, 3.0, 1 / norm, slack, variant="ho")
    assert made.value == pytest.approx(3.05392, abs=1e-4)
    assert made.relative


@pytest.mark.spec("CS-4.29")
def test_support_vectors_are_a_compression_set() -> None:
    X, y = clouds(6, seed=3)

    def hard(P, labels):
        if len(set(labels)) < 2:
            return lambda Z: np.full(len(Z), labels[0])
        return SVC(kernel="linear", C=np.inf, tol=1e-10).fit(P, labels).predict

    model = SVC(kernel="linear", C=np.inf, tol=1e-10).fit(X, y)
    scheme = CompressionScheme(hard)
    kept = scheme.compress(X, y, "support_vectors", start=model.support_)
    again = SVC(kernel="linear", C=np.inf, tol=1e-10).fit(X[kept], y[kept])
    assert again.coef_[0] == pytest.approx(model.coef_[0], abs=1e-8)
    assert again.intercept_ == pytest.approx(model.intercept_, abs=1e-8)
    exact = scheme.compress(X, y, "exact")
    greedy = scheme.compress(X, y, "greedy")
    assert len(exact) <= min(len(kept), len(greedy))
    assert scheme.reproduces(X, y, greedy)
    made = scheme.generalization_bound(len(kept), 12)
    assert made.value == pytest.approx(compression_bound(len(kept), 12, base=math.e).value)
    with pytest.raises(ValueError, match="no compression set"):
        scheme.compress(X, y, "support_vectors", start=[0])


@pytest.mark.spec("CS-4.30")
def test_compression_bound_dominates_thresholds() -> None:
    made = compression_bound(5, 1000, base=math.e)
    assert made.value == pytest.approx(0.041603, abs=1e-6)
    assert compression_bound(5, 1000).value == pytest.approx(0.060021, abs=1e-6)
    exact = compression_bound(5, 1000, base=math.e, exact_binomial=True)
    assert exact.value == pytest.approx(0.039844, abs=1e-6)
    grown = [compression_bound(d, 1000, base=math.e).value for d in (20, 100)]
    assert grown == pytest.approx([0.110351, 0.377958], abs=1e-6)
    assert compression_bound(5, 1000, base=10).violated  # smaller than what is proved
    limit = compression_bound(2, 100, base=math.e).value
    assert limit == pytest.approx(0.17781, abs=1e-5)
    x = np.random.default_rng(4).random((5000, 100))  # two points keep the threshold 1/2
    low, high = np.where(x < 0.5, x, 0).max(axis=1), np.where(x >= 0.5, x, 1).min(axis=1)
    assert np.max(np.abs((low + high) / 2 - 0.5)) < limit


@pytest.mark.spec("CS-4.31")
def test_optimal_shares_of_the_confidence() -> None:
    p = np.array([0.5, 0.3, 0.2])

    def objective(shares: np.ndarray, p: np.ndarray, m: int) -> float:
        d = np.arange(1, len(p) + 1)
        return float(np.sum(p / (m - d) * np.log(1 / shares)))

    best = optimal_compression_prior(p, 4)
    assert best == pytest.approx([0.322581, 0.290323, 0.387097], abs=1e-6)
    values = [objective(s, p, 4) for s in (best, np.full(3, 1 / 3), p)]
    assert values == pytest.approx([0.563898, 0.567616, 0.618008], abs=1e-6)
    rng = np.random.default_rng(5)
    q = rng.dirichlet(np.ones(10))
    best = optimal_compression_prior(q, 20)
    for _ in range(50):
        other = best * np.exp(0.1 * rng.normal(size=10))
        assert objective(best, q, 20) <= objective(other / other.sum(), q, 20)
    shared = compression_bound(2, 20, prior=dict(enumerate(best, start=1)), base=math.e)
    by_hand = (2 * math.log(math.e * 10) + math.log(1 / (0.05 * best[1]))) / 18
    assert shared.value == pytest.approx(by_hand)
    with pytest.raises(ValueError, match="at most 1"):
        compression_bound(2, 20, prior={1: 0.8, 2: 0.5})


@pytest.mark.spec("CS-4.32")
def test_the_best_of_several_bounds_pays_for_the_choice() -> None:
    several = [vc_bound(10**4, 30), compression_bound(40, 10**4), finite_class_bound(10**4, 10**9)]
    made = best_bound(*several)
    assert min(several) < made
    shares = [b.at(delta=0.05 / 3).value for b in several]
    assert made.value == pytest.approx(min(shares))
    assert made.delta == 0.05
    lucky = luckiest(n_samples=10**4, n_sv=40, vc_dim=30)
    assert lucky.value == pytest.approx(compression_bound(40, 10**4, 0.025, base=math.e).value)
    with pytest.raises(ValueError, match="same delta"):
        best_bound(vc_bound(100, 3), vc_bound(100, 3, delta=0.01))
    with pytest.raises(ValueError, match="no bound applies"):
        luckiest(margin=0.1)


@pytest.mark.spec("CS-4.33")
def test_pac_bayes_dominates_randomised_classifiers() -> None:
    rng = np.random.default_rng(6)
    means, m = rng.random(8), 100
    prior = np.full(8, 1 / 8)
    failures = 0
    for _ in range(500):
        emp = rng.binomial(m, means) / m
        posterior = prior * np.exp(-20 * emp)
        posterior /= posterior.sum()
        kl = float(posterior @ np.log(posterior / prior))
        failures += posterior @ means > pac_bayes_bound(m, float(posterior @ emp), kl).value
    assert failures <= 25
    assert pac_bayes_bound(8, 0.1, 1.0).certified
    assert pac_bayes_bound(7, 0.1, 1.0).violated
    single = pac_bayes_bound(m, 0.1, math.log(8))
    occam = finite_class_bound(m, 8, variant="sm", emp_risk=0.1)
    assert occam.value < single.value < occam.value + 0.06


@pytest.mark.spec("CS-4.33")
def test_mistakes_of_a_perceptron_stay_below_the_bound_of_every_unit_vector() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        X = rng.uniform(-1, 1, size=(200, 3))
        y = np.where(X[:, 0] + 0.4 * rng.normal(size=200) > 0, 1, -1)
        w, mistakes = np.zeros(3), 0
        for x, label in zip(X, y, strict=True):
            if label * (w @ x) <= 0:
                w, mistakes = w + label * x, mistakes + 1
        R = np.linalg.norm(X, axis=1).max()
        best = math.inf
        for margin in (0.1, 0.3, 1.0):
            slack = float(np.maximum(0, margin - y * X[:, 0]).sum())  # of u = (1, 0, 0)
            made = hinge_mistake_bound(R, margin, slack)
            best = min(best, made.value)
            # The root of M gamma - s = R sqrt(M).
            assert made.value * margin - slack == pytest.approx(R * math.sqrt(made.value))
        assert mistakes <= best < 10 * mistakes
    assert hinge_mistake_bound(3.0, 0.5).value == pytest.approx(36.0)
