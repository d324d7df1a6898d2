"""Explicit features: transformers whose dot products equal or approximate a kernel.

>>> from mercer.features import Nystrom
>>> from sklearn.linear_model import RidgeClassifier
>>> from sklearn.pipeline import make_pipeline
>>> from mercer.data import rings
>>> X, y = rings(200, random_state=0)
>>> model = make_pipeline(Nystrom(gamma=1.0, n_components=30, random_state=0), RidgeClassifier())
>>> float(model.fit(X, y).score(X, y))
1.0
"""

from .approximation import ApproximationError, approximation_error
from .centring import KernelCenterer
from .cholesky import IncompleteCholeskyFeatures
from .drawn_frequencies import draw_frequencies
from .explicit import ExplicitFeatures
from .feature_analysis import KernelFeatureAnalysis
from .fourier import RandomFourierFeatures
from .kernel_cca import KernelCCA
from .kernel_kmeans import KernelKMeans
from .kernel_pca import KernelPCA
from .logarithm import LogFeatures
from .manifolds import PolygonalPrincipalCurve, PrincipalCurve, RegularizedPrincipalManifold
from .monomials import MonomialFeatures, n_monomials
from .nystrom import Nystrom
from .relevance import RelevantColumns
from .spectral_clustering import KernelSpectralClustering
from .taylor import TaylorFeatures

__all__ = [
    "ApproximationError",
    "ExplicitFeatures",
    "IncompleteCholeskyFeatures",
    "KernelCCA",
    "KernelCenterer",
    "KernelFeatureAnalysis",
    "KernelKMeans",
    "KernelPCA",
    "KernelSpectralClustering",
    "LogFeatures",
    "MonomialFeatures",
    "Nystrom",
    "PolygonalPrincipalCurve",
    "PrincipalCurve",
    "RandomFourierFeatures",
    "RegularizedPrincipalManifold",
    "RelevantColumns",
    "TaylorFeatures",
    "approximation_error",
    "draw_frequencies",
    "n_monomials",
]
