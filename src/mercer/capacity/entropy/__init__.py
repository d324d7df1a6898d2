"""Entropy numbers: the capacity of kernel machines from the spectrum of the kernel.

Covering numbers of kernel classes are bounded directly, by functional analysis, instead of through
a combinatorial dimension: the eigenvalues of the kernel's integral operator describe an ellipsoid
around all features, the entropy numbers of that ellipsoid have a closed form, and the class
inherits them (Smola 1998, chapters 8 and 9, after Williamson, Smola and Schoelkopf).

>>> from mercer.capacity.entropy import entropy_numbers
>>> from mercer.kernels import RBF
>>> steps = entropy_numbers(RBF(gamma=1.0), radius=2.0, n_samples=1_000_000)
>>> round(steps.generalization_bound(delta=0.05).value, 3)
0.062

Counts n of balls are given as natural logarithms `ln_n` throughout.
"""

from .ball import cover_radius_margin
from .choose import choose_period, exact_period, wrap_error
from .classes import LPClass, SVClass
from .continuum import continuum_entropy
from .decay import tail_bounds
from .diagonal import DiagonalEntropy, diagonal_entropy, ellipsoid_volume_bound
from .empirical import EmpiricalScaling, estimate_radii
from .evaluation import evaluation_operator, volume_lower_bound
from .exponential_decay import ExponentialSpectrum
from .fitted import expansion_entropy
from .hulls import ConvexHullClass, barron_bound, feature_curve_entropy, makovoz_bound, terms_needed
from .kernel_class import KernelClass
from .lattice import Shells, lattice_points, lattice_shells
from .lipschitz import (
    F1_entropy_lipschitz,
    F1_entropy_sample,
    base_class_entropy,
    convex_hull_entropy,
    kernel_lipschitz,
)
from .manifolds import (
    expected_excess,
    kegl_log_cover,
    manifold_distance,
    quantization_bound,
    quantization_error,
    smaller_cover,
)
from .maurey import maurey_bound
from .mercer_map import MercerMap
from .networks import (
    Membership,
    class_from_basis,
    nullspace_projection,
    regularisation_matrix,
    rkhs_membership,
)
from .open_questions import OPEN_QUESTIONS
from .operators import (
    DiagonalOperator,
    OperatorEntropy,
    compose,
    operator_norm,
)
from .outputs import MultiOutputClass
from .periodic import PeriodicSpectrum
from .polynomial_decay import PolynomialSpectrum
from .procedure import EntropyProcedure, entropy_numbers, kernel_entropy
from .radii import n_crit, radii_from_gram
from .reduced import ReducedSet, ReductionCertificate
from .scaling import ScalingEntropy, ScalingOperator, entropy_A
from .sets import SetEntropy, box_entropy, compact_entropy, entropy_number, log_covering
from .signed import SignedSpectrum
from .spectra import (
    Spectrum,
    diagonal_radius,
    feature_box,
    uncentred_covariance_spectrum,
)
from .structures import compare_structures
from .weight_decay import (
    LpExpansionClass,
    WeightDecayReport,
    expansion_lower_bound,
    weight_decay_report,
)

__all__ = [
    "OPEN_QUESTIONS",
    "ConvexHullClass",
    "DiagonalEntropy",
    "DiagonalOperator",
    "EmpiricalScaling",
    "EntropyProcedure",
    "ExponentialSpectrum",
    "F1_entropy_lipschitz",
    "F1_entropy_sample",
    "KernelClass",
    "LPClass",
    "LpExpansionClass",
    "Membership",
    "MercerMap",
    "MultiOutputClass",
    "OperatorEntropy",
    "PeriodicSpectrum",
    "PolynomialSpectrum",
    "ReducedSet",
    "ReductionCertificate",
    "SVClass",
    "ScalingEntropy",
    "ScalingOperator",
    "SetEntropy",
    "Shells",
    "SignedSpectrum",
    "Spectrum",
    "WeightDecayReport",
    "barron_bound",
    "base_class_entropy",
    "box_entropy",
    "choose_period",
    "class_from_basis",
    "compact_entropy",
    "compare_structures",
    "compose",
    "continuum_entropy",
    "convex_hull_entropy",
    "cover_radius_margin",
    "diagonal_entropy",
    "diagonal_radius",
    "ellipsoid_volume_bound",
    "entropy_A",
    "entropy_number",
    "entropy_numbers",
    "estimate_radii",
    "evaluation_operator",
    "exact_period",
    "expansion_entropy",
    "expansion_lower_bound",
    "expected_excess",
    "feature_box",
    "feature_curve_entropy",
    "kegl_log_cover",
    "kernel_entropy",
    "kernel_lipschitz",
    "lattice_points",
    "lattice_shells",
    "log_covering",
    "makovoz_bound",
    "manifold_distance",
    "maurey_bound",
    "n_crit",
    "nullspace_projection",
    "operator_norm",
    "quantization_bound",
    "quantization_error",
    "radii_from_gram",
    "regularisation_matrix",
    "rkhs_membership",
    "smaller_cover",
    "tail_bounds",
    "terms_needed",
    "uncentred_covariance_spectrum",
    "volume_lower_bound",
    "weight_decay_report",
    "wrap_error",
]
