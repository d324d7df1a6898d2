"""Inspection of kernels: definiteness, spectra and regularisation, alignment with data.

>>> from mercer.inspection import check
>>> print(check([[1.0, 2.0], [2.0, 1.0]]))
definiteness      indefinite on 2 objects
symmetric         yes
Cauchy-Schwarz    broken: |k(x0, x1)| = 2 exceeds 1, minor -3
eigenvalues       -1 to 3, zero up to 1.8e-14
with sum zero     smallest -1
witness           c'Kc = -1 with 2 entries of c, by exact arithmetic; negative for any errors of
                  the entries up to 7.1e-15 (assumed)
sum-zero witness  c'Kc = -1 with 2 entries of c, by exact arithmetic; negative for any errors of
                  the entries up to 7.1e-15 (assumed)
"""

from mercer.kernels.regularisation import Regularisation
from mercer.numerics.hankel import radial_fourier

from .alignments import alignment, centred_alignment
from .definiteness_check import check
from .diagnosis import Diagnosis, diagnose
from .eigenfunctions import MercerDecomposition, mercer_decomposition
from .eigenvalues import EigenvalueReport, eigenvalue_report
from .embedding import embed
from .explanation import Explanation, explain
from .falsification import Falsification, Trial, falsify
from .fourier_spectra import SpectrumSign, bochner_density, fourier_transform, spectrum_sign
from .kernel_regularisation import regularisation
from .pair_conditions import Asymmetry, NegativeMinor
from .periodic_spectra import fourier_coefficients
from .polynomial_operator import PolynomialOperator
from .regularisation_operators import FourierOperator, green_gram, kernel_from_eigensystem
from .spectrum_comparison import compare_spectra
from .verdict import Verdict
from .weighted_features import WeightedFeatures
from .witness import Witness

__all__ = [
    "Asymmetry",
    "Diagnosis",
    "EigenvalueReport",
    "Explanation",
    "Falsification",
    "FourierOperator",
    "MercerDecomposition",
    "NegativeMinor",
    "PolynomialOperator",
    "Regularisation",
    "SpectrumSign",
    "Trial",
    "Verdict",
    "WeightedFeatures",
    "Witness",
    "alignment",
    "bochner_density",
    "centred_alignment",
    "check",
    "compare_spectra",
    "diagnose",
    "eigenvalue_report",
    "embed",
    "explain",
    "falsify",
    "fourier_coefficients",
    "fourier_transform",
    "green_gram",
    "kernel_from_eigensystem",
    "mercer_decomposition",
    "radial_fourier",
    "regularisation",
    "spectrum_sign",
]
