"""Bounds on the error of a machine, with the conditions under which they hold."""

from mercer.capacity.bound import Bound, Condition
from mercer.capacity.comparison import Comparison, compare
from mercer.capacity.compression import compression_bound, loo_bound, optimal_compression_prior
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
    "UniformTemplate",
    "compare",
    "compression_bound",
    "deviation_probability",
    "entropies",
    "finite_class_bound",
    "growth_function",
    "hoeffding_interval",
    "hoeffding_tail",
    "loo_bound",
    "mdl_select",
    "no_free_lunch",
    "optimal_compression_prior",
    "sauer",
    "symmetrisation",
    "test_set_bound",
    "uniform_bound",
    "vc_bound",
    "vc_confidence",
    "vc_lower_bound",
]
