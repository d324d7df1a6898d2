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
from .data_kind import DataKind, data_kind
from .grid import kernel_grid
from .power_spectrum import PowerSpectrum, estimate_power_spectrum, kernel_from_power_spectrum
from .search import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from .shared_score import SharedScore
from .suggest import Suggestion, Suggestions, suggest
from .validation import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)

__all__ = [
    "Adaptation",
    "Bandwidth",
    "DataKind",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "KernelScaleWarning",
    "PowerSpectrum",
    "RandomizedSearchCV",
    "SharedScore",
    "Suggestion",
    "Suggestions",
    "adapt",
    "bandwidth",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "data_kind",
    "estimate_power_spectrum",
    "kernel_from_power_spectrum",
    "kernel_grid",
    "learning_curve",
    "radius_margin",
    "suggest",
    "validation_curve",
]
