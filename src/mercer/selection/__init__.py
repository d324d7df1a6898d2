"""Choosing kernels and parameters: searches, cross-validation, widths, spectra, short lists.

Width often matters more than form. Without knowledge of the problem a Gaussian (for a periodic
target a periodic Gaussian) is a good start; cross-validation decides.

>>> from mercer.selection import bandwidth
>>> bandwidth([[0.0], [1.0], [3.0]], rule="median").kernel
RBF(gamma=0.125)
"""

from mercer.kernels.vectors.scale import KernelScaleWarning

from .adapting import Adaptation, adapt, radius_margin
from .bandwidth import Bandwidth, bandwidth
from .criteria import InformationCriteria, aic, bic, information_criteria, nic
from .data_kind import DataKind, data_kind
from .grid import kernel_grid
from .holdout import HoldoutRisk, holdout_risk, train_valid_test_split
from .holdout_search import HoldoutSearchCV, ValidationSetWarning
from .joint import JointMinimum, joint_minimise
from .kernel_descent import KernelOptimum, optimise_kernel
from .left_out import LeaveNOut, empirical_influence, loo_risk
from .noise import noise_level, tube_from_noise
from .power_spectrum import PowerSpectrum, estimate_power_spectrum, kernel_from_power_spectrum
from .purity import purity_at_efficiency
from .search import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from .shared_score import SharedScore
from .solution_path import PathPoint, RegularizationPath, regularization_path
from .suggest import Suggestion, Suggestions, suggest
from .trials import Trial
from .tuning import Tuning, tune
from .validation import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from .warm_path import warm_path

__all__ = [
    "Adaptation",
    "Bandwidth",
    "DataKind",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "HoldoutRisk",
    "HoldoutSearchCV",
    "InformationCriteria",
    "JointMinimum",
    "KernelOptimum",
    "KernelScaleWarning",
    "LeaveNOut",
    "PathPoint",
    "PowerSpectrum",
    "RandomizedSearchCV",
    "RegularizationPath",
    "SharedScore",
    "Suggestion",
    "Suggestions",
    "Trial",
    "Tuning",
    "ValidationSetWarning",
    "adapt",
    "aic",
    "bandwidth",
    "bic",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "data_kind",
    "empirical_influence",
    "estimate_power_spectrum",
    "holdout_risk",
    "information_criteria",
    "joint_minimise",
    "kernel_from_power_spectrum",
    "kernel_grid",
    "learning_curve",
    "loo_risk",
    "nic",
    "noise_level",
    "optimise_kernel",
    "purity_at_efficiency",
    "radius_margin",
    "regularization_path",
    "suggest",
    "train_valid_test_split",
    "tube_from_noise",
    "tune",
    "validation_curve",
    "warm_path",
]
