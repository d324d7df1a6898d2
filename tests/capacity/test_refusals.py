"""Bad input gets a sentence that says what was expected."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mercer import capacity as c


def sign(x: float) -> int:
    return 1 if x >= 0 else -1


REFUSED = [
    (lambda: c.sauer(0, 3), "n_points >= 1"),
    (lambda: c.sauer(5, 3, form="product"), "form must be"),
    (lambda: c.growth_function("circles", 3), "cls must be one of"),
    (lambda: c.growth_function("halfspaces", 0), "at least 1"),
    (lambda: c.vc_entropy([]), "non-empty"),
    (lambda: c.annealed_entropy([0.5]), "at least 1"),
    (lambda: c.hoeffding_tail(eps=0.1, ranges=[1.0, 0.0]), "positive lengths"),
    (lambda: c.hoeffding_interval(0.5, [1.0], sided=3), "sided"),
    (lambda: c.hoeffding_interval(0.5, [1.0], delta=1.0), "delta"),
    (lambda: c.vc_bound(100, 3, variant="best"), "variant must be"),
    (lambda: c.vc_lower_bound(100, 3, variant="best"), "variant must be"),
    (lambda: c.vc_bound(100, 3, n_errors=101), "cannot exceed n_samples"),
    (lambda: c.finite_class_bound(100, 3, variant="best"), "variant must be"),
    (lambda: c.overall_bound(100, 3.0, variant="best"), "variant must be one of"),
    (lambda: c.overall_bound(100, 3.0, lipschitz=0.0), "lipschitz"),
    (lambda: c.FiniteClassLearner([]), "at least one hypothesis"),
    (lambda: c.FiniteClassLearner([sign]).fit([1, 2], [1]), "one label per object"),
    (lambda: c.mdl_select([sign], [1.0, 2.0], [1], [1]), "one number of bits"),
    (lambda: c.BayesFinite([sign], [1.0], noise=0.5), "noise must lie"),
    (lambda: c.BayesFinite([sign], [0.5, 0.5], noise=0.1), "one positive probability"),
    (lambda: c.no_free_lunch(4, 4), "off-sample point"),
    (lambda: c.vc_dimension("circles"), "cls must be one of"),
    (lambda: c.vc_dimension("halfspaces", 0), "n_features"),
    (lambda: c.vc_dimension_of_combinations(3, 0), "n_members"),
    (lambda: c.vc_dim_margin(1.0, 0.5, form="round"), "form must be"),
    (lambda: c.rectangle_unrealisable_labelling([[0, 1], [1, 0]]), "every point is extreme"),
    (lambda: c.shatter_with_margin(np.eye(2), [1, -1], "l3"), "constraint must be"),
    (lambda: c.worst_margin(np.eye(21)), "at most 20"),
    (lambda: c.balanced_dichotomy([[1.0]]), "at least two points"),
    (lambda: c.is_shattered([[0.0, 1.0]], margin=-1.0), "margin must be 0 or more"),
    (lambda: c.is_shattered([["a"]], cls="rectangles", kernel=sign), "take no kernel"),
    (lambda: c.is_fat_shattered([[1.0]], margin=0.0), "must be positive"),
    (lambda: c.fat_dimension([[0.1]], margin=-1.0), "margin must be 0 or more"),
    (lambda: c.measure_norm(abs, [1.0], [-1.0], 2), "must not be negative"),
    (lambda: c.covering_number([1.0, 2.0], 0.1), "one point .* per row"),
    (lambda: c.LossInducedCover(lambda e, n: 0.0, metric="l2"), "metric must be"),
    (lambda: c.LossInducedCover(lambda e, n: 0.0, lipschitz=0.0), "lipschitz"),
    (lambda: c.polynomial_lipschitz(0.5, 0, 1), "p >= 1"),
    (lambda: c.OffsetClass(0.0), "largest must be positive"),
    (lambda: c.ParametricClass(0, 1.0), "at least one function"),
    (lambda: c.cover_from_fat(0.1, 100, 3, low=1.0, high=0.0), "low < high"),
    (lambda: c.cover_from_fat(0.1, 100, 3, variant="best"), "variant must be"),
    (lambda: c.margin_distribution(abs, [1.0], [2]), "labels 1 and -1"),
    (lambda: c.margin_distribution(abs, [1.0], [1], w_norm=0.0), "w_norm must be positive"),
    (lambda: c.covering_margin_bound(100, 3.0, variant="best"), "variant must be"),
    (lambda: c.percentile_bound(100, 1.0, 0.5, rank=100), "rank must lie"),
    (lambda: c.best_percentile([-0.1, -0.2], 1.0), "no point has a positive margin"),
    (lambda: c.slack_embedding([1.0], [1, 1], 0.5), "one label"),
    (lambda: c.slack_embedding([1.0], [1], 0.0), "margin must be positive"),
    (lambda: c.soft_margin_bound(100, 1.0, 0.5, 0.1, norm=3), "norm must be 1 or 2"),
    (lambda: c.soft_margin_bound(100, 1.0, 0.5, 0.1, variant="best"), "variant must be"),
    (lambda: c.soft_margin_bound(100, 1.0, 0.5, 0.1, norm=1, explicit=True), "norm=2 only"),
    (lambda: c.soft_margin_cover_bound(100, lambda e, n: 1.0, 1.0), "at which margin"),
    (lambda: c.best_target_margin([0.5, 2.0], 1.0), "smaller than the data"),
    (lambda: c.regression_bound(100, 1.0, 0.5, norm=3), "norm must be None, 1 or 2"),
    (lambda: c.sse_bound(100, 1.0, 1.0, sse=-1.0, theta=1.0), "sse.* 0 or more"),
    (lambda: c.sse_bound(100, 1.0, 1.0, sse=1.0, theta=math.inf), "theta.* positive and finite"),
    (lambda: c.regression_slacks([1.0], [1.0], math.inf, 1.0), "margin <= theta, both finite"),
    (lambda: c.regression_bound(100, 1.0, 0.5, theta=0.7, largest_residual=math.nan), "residual"),
    (lambda: c.overall_bound(100, 3.0, lipschitz=math.inf), "lipschitz.* finite"),
    (lambda: c.soft_margin_cover_bound(100, 1.0, math.nan), "ln_n_slack"),
    (lambda: c.vc_dim_margin(1.0, 0.5, n_features=-1), "n_features"),
    (lambda: c.vc_bound(None, 3), "n_samples.* got None"),
    (lambda: c.continuum_entropy(0.0, 1.0, 1.0, 2, 6.0), "ln_n"),
    (lambda: c.compression_bound(5, 100, base=math.inf), "base.* larger than 1 and finite"),
    (lambda: c.compression_bound(5, 100, prior={3: 1.0}), "share in"),
    (lambda: c.optimal_compression_prior([0.5, 0.5], 2), "at most 1 vectors"),
    (lambda: c.optimal_compression_prior([0.5, 0.6], 5), "sum to 1"),
    (lambda: c.CompressionScheme(sign).compress(np.zeros((20, 1)), [1] * 20), "too many subsets"),
    (lambda: c.CompressionScheme(sign).compress([[0]], [1], method="best"), "method must be"),
    (lambda: c.best_bound(), "at least one bound"),
    (lambda: c.best_bound(c.vc_bound(100, 3), shares=[2.0]), "shares must be"),
    (lambda: c.pac_bayes_bound(100, 0.1, kl=-1.0), "kl"),
    (lambda: c.SRM([]), "at least one class"),
    (lambda: c.SRM([5, 3]), "do not decrease"),
    (lambda: c.SRM([3, 5], classes=["a"]), "dimension for each of the 1 classes"),
    (lambda: c.SRM([3, 5]).fit([[0.0]], [1]), "needs fit_fn"),
    (lambda: c.SRM([3, 5]).select([1], 100), "errors of 2 classes"),
    (lambda: c.srm_bound(100, 3, 1, penalty="best"), "penalty must be"),
    (lambda: c.constrained(float, abs, limit=0.0), "limit must be positive"),
    (lambda: c.constrained(lambda lam: 9.0, abs, limit=1.0), "increase high"),
    (lambda: c.empirical_risk([1], [0]), "1 or -1"),
    (lambda: c.empirical_risk([], []), "at least one"),
    (lambda: c.empirical_risk([1], [1], false_positive=-1), "costs"),
    (lambda: c.cross_validation_estimate(sign, [[0], [1]], [1, 1], n_folds=3), "n_folds"),
    (lambda: c.vc_bound(100, 3).sample_complexity(0.0), "value must be positive"),
    (lambda: c.vc_lower_bound(100, 3).sample_complexity(0.1), "this is a lower one"),
    (lambda: c.Bound(1.0).at(delta=0.1), "not made by a formula"),
    (lambda: c.linear_fat_dimension(1.0, 0.5).learning_curve([1]), "does not depend on n_samples"),
    (lambda: c.compare(c.linear_fat_dimension(1.0, 0.5)).plot(), "nothing to draw"),
    (lambda: c.stratified(c.loo_bound(3, 100)), "nothing to stratify"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_refusal(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_one_sided_intervals_and_infinite_dimensions() -> None:
    low, high = c.hoeffding_interval(0.4, np.ones(100), delta=0.05, sided=1)
    assert low == -math.inf
    assert high == pytest.approx(0.4 + math.sqrt(math.log(20) / 200))
    assert c.srm_penalty(100, math.inf).vacuous
    assert c.growth_function("convex sets", 9, 2) == 2**9
    assert c.vc_dimension("convex sets", 2) == math.inf
    assert len(c.compare(c.vc_bound(100, 3), c.loo_bound(3, 100)).to_dict()) == 2
