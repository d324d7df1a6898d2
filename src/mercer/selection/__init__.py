"""Choosing a kernel: widths from the data, spectra of the target, and a ranked short list.

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
from .suggest import Suggestion, Suggestions, suggest

__all__ = [
    "Adaptation",
    "Bandwidth",
    "DataKind",
    "KernelScaleWarning",
    "PowerSpectrum",
    "Suggestion",
    "Suggestions",
    "adapt",
    "bandwidth",
    "data_kind",
    "estimate_power_spectrum",
    "kernel_from_power_spectrum",
    "kernel_grid",
    "radius_margin",
    "suggest",
]
