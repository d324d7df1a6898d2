"""Support vector machines.

``fitting.py`` is a fit on one page; ``svc.py``, ``nu_svc.py``, ``svr.py``, ``nu_svr.py`` and
``one_class.py`` are the machines, ``multiple_kernels.py`` learns their kernel.
"""

from .multiple_kernels import MultipleKernelSVC, MultipleKernelSVR
from .nu_svc import NuSVC
from .nu_svr import NuSVR
from .one_class import OneClassSVM
from .svc import SVC
from .svr import SVR
from .training_record import PointStatus
from .virtual import virtual_support_vectors

__all__ = [
    "SVC",
    "SVR",
    "MultipleKernelSVC",
    "MultipleKernelSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PointStatus",
    "virtual_support_vectors",
]
