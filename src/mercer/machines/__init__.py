"""The machines: scikit-learn estimators that pose a problem, have it solved and prove it."""

from mercer.machines.errors import (
    InfeasibleError,
    InfeasibleNuError,
    NotSeparableError,
    ParameterError,
)
from mercer.machines.nu_svc import NuSVC
from mercer.machines.nu_svr import NuSVR
from mercer.machines.one_class import OneClassSVM
from mercer.machines.record import PointStatus
from mercer.machines.svc import SVC
from mercer.machines.svr import SVR
from mercer.machines.virtual import virtual_support_vectors

__all__ = [
    "SVC",
    "SVR",
    "InfeasibleError",
    "InfeasibleNuError",
    "NotSeparableError",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "ParameterError",
    "PointStatus",
    "virtual_support_vectors",
]
