"""The machines: scikit-learn estimators with optimality certificates."""

from mercer.objects.parameters import ParameterError

from .errors import (
    DegenerateFitWarning,
    InfeasibleError,
    InfeasibleNuError,
    NotSeparableError,
)
from .novelty import SVDD, ConformalNovelty, ParzenDensity
from .support_vector import (
    SVC,
    SVR,
    MultipleKernelSVC,
    MultipleKernelSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PointStatus,
    virtual_support_vectors,
)

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "ConformalNovelty",
    "DegenerateFitWarning",
    "InfeasibleError",
    "InfeasibleNuError",
    "MultipleKernelSVC",
    "MultipleKernelSVR",
    "NotSeparableError",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "ParameterError",
    "ParzenDensity",
    "PointStatus",
    "virtual_support_vectors",
]
