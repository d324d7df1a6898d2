"""Bounds on the error of a machine, with the conditions under which they hold."""

from mercer.capacity.bound import Bound, Condition
from mercer.capacity.comparison import Comparison, compare
from mercer.capacity.compression import compression_bound, loo_bound, optimal_compression_prior
from mercer.capacity.dimensions import (
    radon_unrealisable_labelling,
    realise_labelling,
    rectangle_unrealisable_labelling,
    shatter_with_margin,
    sine_shatter,
    vc_dim_margin,
    vc_dimension,
    vc_dimension_of_combinations,
    vc_dimension_of_union,
    worst_margin,
)
from mercer.capacity.finite_classes import (
    finite_class_bound,
    hoeffding_interval,
    hoeffding_tail,
    test_set_bound,
)
from mercer.capacity.finite_learners import (
    BayesFinite,
    FiniteClassLearner,
    mdl_select,
    no_free_lunch,
    symmetrisation,
)
from mercer.capacity.growth import Entropies, entropies, growth_function, sauer
from mercer.capacity.shattering import (
    Shattering,
    balanced_dichotomy,
    count_dichotomies,
    dichotomies,
    hyperplanes_shatter,
    is_shattered,
)
from mercer.capacity.uniform import (
    TEMPLATES,
    UniformTemplate,
    deviation_probability,
    uniform_bound,
)
from mercer.capacity.vc import vc_bound, vc_confidence, vc_lower_bound

__all__ = [
    "TEMPLATES",
    "BayesFinite",
    "Bound",
    "Comparison",
    "Condition",
    "Entropies",
    "FiniteClassLearner",
    "Shattering",
    "UniformTemplate",
    "balanced_dichotomy",
    "compare",
    "compression_bound",
    "count_dichotomies",
    "deviation_probability",
    "dichotomies",
    "entropies",
    "finite_class_bound",
    "growth_function",
    "hoeffding_interval",
    "hoeffding_tail",
    "hyperplanes_shatter",
    "is_shattered",
    "loo_bound",
    "mdl_select",
    "no_free_lunch",
    "optimal_compression_prior",
    "radon_unrealisable_labelling",
    "realise_labelling",
    "rectangle_unrealisable_labelling",
    "sauer",
    "shatter_with_margin",
    "sine_shatter",
    "symmetrisation",
    "test_set_bound",
    "uniform_bound",
    "vc_bound",
    "vc_confidence",
    "vc_dim_margin",
    "vc_dimension",
    "vc_dimension_of_combinations",
    "vc_dimension_of_union",
    "vc_lower_bound",
    "worst_margin",
]
