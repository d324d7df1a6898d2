"""Kernels: similarities k(x, z) with an algebra, a domain and a claim of definiteness.

>>> from mercer.kernels import RBF, Linear, normalize
>>> k = 0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> k
0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> str(k.definiteness)
'positive definite'
"""

from mercer.numerics.bessel import bessel_k_bounds
from mercer.objects.vocabulary import Vocabulary

from . import algebra, documents, models, sequences, series, sets, vectors
from .algebra import *
from .algebra.convolution import Convolution
from .algebra.on_columns import OnColumns
from .base import Kernel
from .categorical import Categorical
from .conditional import (
    Monotonicity,
    completely_monotonic,
    polynomial_basis,
    project_gram,
    seminorm2,
)
from .constant import Constant
from .definiteness import Definiteness
from .documents import *
from .finite import FiniteMatrix
from .from_sklearn import from_sklearn
from .function import FromFeatureMap, FromFunction
from .function_covariance import Covariance
from .graphs import Diffusion
from .mapping import log_polar
from .models import *
from .precomputed import Precomputed
from .resolve import resolve
from .sequences import *
from .series import *
from .sets import *
from .vectors import *
from .vectors.boolean import Boolean
from .white import White

__all__ = [
    "Boolean",
    "Categorical",
    "Constant",
    "Convolution",
    "Covariance",
    "Definiteness",
    "Diffusion",
    "FiniteMatrix",
    "FromFeatureMap",
    "FromFunction",
    "Kernel",
    "Monotonicity",
    "OnColumns",
    "Precomputed",
    "Vocabulary",
    "White",
    "bessel_k_bounds",
    "completely_monotonic",
    "from_sklearn",
    "log_polar",
    "polynomial_basis",
    "project_gram",
    "resolve",
    "seminorm2",
]
__all__ += algebra.__all__
__all__ += documents.__all__
__all__ += models.__all__
__all__ += sequences.__all__
__all__ += series.__all__
__all__ += sets.__all__
__all__ += vectors.__all__
