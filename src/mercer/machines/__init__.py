"""The machines: scikit-learn estimators that pose a problem, have it solved and prove it."""

from .conformal_novelty import ConformalNovelty
from .errors import InfeasibleError, InfeasibleNuError, NotSeparableError, ParameterError
from .multiple_kernels import MultipleKernelSVC, MultipleKernelSVR
from .nu_svc import NuSVC
from .nu_svr import NuSVR
from .one_class import OneClassSVM
from .parzen import ParzenDensity
from .svc import SVC
from .svdd import SVDD
from .svr import SVR
from .training_record import PointStatus
from .virtual import virtual_support_vectors

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "ConformalNovelty",
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
