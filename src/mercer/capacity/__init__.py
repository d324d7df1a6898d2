"""Bounds on the error of a machine, with the conditions under which they hold."""

from . import entropy, rates
from .bayes import (
    gaussian_posterior,
    log_marginal_likelihood,
    map_weights,
)
from .bound import Bound, Condition
from .comparison import Comparison, compare
from .compression import (
    CompressionScheme,
    compression_bound,
    loo_bound,
    optimal_compression_prior,
)
from .covering import (
    CoveringNumber,
    box_covering_number,
    covering_number,
    greedy_maximal_system,
    interval_covering_number,
    packing_number,
)
from .covers import (
    LossInducedCover,
    OffsetClass,
    ParametricClass,
    SumClass,
    convert_cover,
    cover_from_fat,
    cover_from_pseudodim,
    cover_lower_bound_from_fat_l,
    fat_cover,
    fat_p_from_fat_l,
    polynomial_lipschitz,
    sauer_cover,
)
from .dimensions import (
    radon_unrealisable_labelling,
    realise_labelling,
    rectangle_unrealisable_labelling,
    sine_shatter,
    vc_dim_margin,
    vc_dimension,
    vc_dimension_of_combinations,
    vc_dimension_of_union,
)
from .entropy import *  # noqa: F403
from .fat import (
    effective_vc_dimension,
    fat_dimension,
    is_fat_shattered,
    linear_fat_dimension,
)
from .finite_classes import (
    finite_class_bound,
    hoeffding_interval,
    hoeffding_tail,
    test_set_bound,
)
from .finite_learners import (
    BayesFinite,
    FiniteClassLearner,
    mdl_select,
    no_free_lunch,
    symmetrisation_demo,
)
from .growth import annealed_entropy, growth_function, sauer, vc_entropy
from .kernel_shattering import shatter_with_margin, worst_margin
from .loo_exact import LeaveOneOut, leave_one_out
from .loo_formulas import loo_estimates
from .luckiness import (
    LUCKINESS,
    Luckiness,
    best_bound,
    luckiest,
    pac_bayes_bound,
)
from .margin import (
    covering_margin_bound,
    fat_margin_bound,
    hard_margin_bound,
    stratified,
)
from .norms import lp_norm, measure_norm, sample_norm
from .percentiles import (
    best_percentile,
    hinge_mistake_bound,
    margin_distribution,
    margin_rate,
    n_margin_errors,
    percentile_bound,
)
from .rates import rate_T
from .regression import (
    regression_bound,
    regression_slacks,
    sse_bound,
)
from .report import GeneralizationReport, generalization_report
from .risk import (
    Estimate,
    cross_validation_estimate,
    empirical_risk,
)
from .shattering import (
    Shattering,
    balanced_dichotomy,
    count_dichotomies,
    dichotomies,
    hyperplanes_shatter,
    is_shattered,
)
from .soft_margin import (
    SlackEmbedding,
    slack_embedding,
    soft_margin_bound,
    soft_margin_cover_bound,
)
from .srm import (
    SRM,
    Choice,
    constrained,
    srm_bound,
    srm_penalty,
    structure,
)
from .statements import Statement
from .target_margin import best_target_margin
from .uniform import (
    UNIFORM_BOUNDS,
    UniformBound,
    deviation_probability,
    overall_bound,
)
from .vc import vc_bound, vc_confidence, vc_lower_bound

__all__ = [
    "LUCKINESS",
    "SRM",
    "UNIFORM_BOUNDS",
    "BayesFinite",
    "Bound",
    "Choice",
    "Comparison",
    "CompressionScheme",
    "Condition",
    "CoveringNumber",
    "Estimate",
    "FiniteClassLearner",
    "GeneralizationReport",
    "LeaveOneOut",
    "LossInducedCover",
    "Luckiness",
    "OffsetClass",
    "ParametricClass",
    "Shattering",
    "SlackEmbedding",
    "Statement",
    "SumClass",
    "UniformBound",
    "annealed_entropy",
    "balanced_dichotomy",
    "best_bound",
    "best_percentile",
    "best_target_margin",
    "box_covering_number",
    "compare",
    "compression_bound",
    "constrained",
    "convert_cover",
    "count_dichotomies",
    "cover_from_fat",
    "cover_from_pseudodim",
    "cover_lower_bound_from_fat_l",
    "covering_margin_bound",
    "covering_number",
    "cross_validation_estimate",
    "deviation_probability",
    "dichotomies",
    "effective_vc_dimension",
    "empirical_risk",
    "fat_cover",
    "fat_dimension",
    "fat_margin_bound",
    "fat_p_from_fat_l",
    "finite_class_bound",
    "gaussian_posterior",
    "generalization_report",
    "greedy_maximal_system",
    "growth_function",
    "hard_margin_bound",
    "hinge_mistake_bound",
    "hoeffding_interval",
    "hoeffding_tail",
    "hyperplanes_shatter",
    "interval_covering_number",
    "is_fat_shattered",
    "is_shattered",
    "leave_one_out",
    "linear_fat_dimension",
    "log_marginal_likelihood",
    "loo_bound",
    "loo_estimates",
    "lp_norm",
    "luckiest",
    "map_weights",
    "margin_distribution",
    "margin_rate",
    "mdl_select",
    "measure_norm",
    "n_margin_errors",
    "no_free_lunch",
    "optimal_compression_prior",
    "overall_bound",
    "pac_bayes_bound",
    "packing_number",
    "percentile_bound",
    "polynomial_lipschitz",
    "radon_unrealisable_labelling",
    "rate_T",
    "rates",
    "realise_labelling",
    "rectangle_unrealisable_labelling",
    "regression_bound",
    "regression_slacks",
    "sample_norm",
    "sauer",
    "sauer_cover",
    "shatter_with_margin",
    "sine_shatter",
    "slack_embedding",
    "soft_margin_bound",
    "soft_margin_cover_bound",
    "srm_bound",
    "srm_penalty",
    "sse_bound",
    "stratified",
    "structure",
    "symmetrisation_demo",
    "test_set_bound",
    "vc_bound",
    "vc_confidence",
    "vc_dim_margin",
    "vc_dimension",
    "vc_dimension_of_combinations",
    "vc_dimension_of_union",
    "vc_entropy",
    "vc_lower_bound",
    "worst_margin",
]
__all__ += entropy.__all__
