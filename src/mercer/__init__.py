"""mercer: kernel machines at native speed, and every answer comes with a proof.

>>> from mercer import SVC
>>> model = SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1])
>>> model.certificate_.status
'optimal'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer._version import __version__

if TYPE_CHECKING:
    from mercer import (  # noqa: I001 -- one statement, not fifteen
        capacity as capacity,
        data as data,
        export as export,
        features as features,
        geometry as geometry,
        gram as gram,
        hypotheses as hypotheses,
        inspection as inspection,
        kernels as kernels,
        losses as losses,
        machines as machines,
        persistence as persistence,
        plots as plots,
        selection as selection,
        solvers as solvers,
    )
    from mercer.configuration import show_config
    from mercer.expansion import Expansion
    from mercer.export import to_onnx
    from mercer.features import (
        KernelCCA,
        KernelFeatureAnalysis,
        KernelKMeans,
        KernelPCA,
        KernelSpectralClustering,
        PolygonalPrincipalCurve,
        PrincipalCurve,
        RegularizedPrincipalManifold,
    )
    from mercer.hypotheses import hsic_test, mmd_test
    from mercer.inspection import explain
    from mercer.machines import (
        SVC,
        SVDD,
        SVR,
        ConformalNovelty,
        MultipleKernelSVC,
        MultipleKernelSVR,
        NotSeparableError,
        NuSVC,
        NuSVR,
        OneClassSVM,
        ParzenDensity,
        virtual_support_vectors,
    )
    from mercer.machines.gaussian_process import (
        GaussianProcessClassifier,
        GaussianProcessRegressor,
        SparseGaussianProcessRegressor,
    )
    from mercer.machines.ridge import (
        LSSVC,
        LSSVR,
        KernelRidge,
        KernelRidgeClassifier,
        KernelRidgeCV,
    )
    from mercer.persistence import load, save
    from mercer.selection.tuning import tune
    from mercer.solvers import Certificate

# The names of the flat door by the modules behind them, which are imported when first used.
_DOOR = {
    "mercer": (  # packages: ``import mercer; mercer.inspection.check(...)``
        "capacity data export features geometry gram hypotheses inspection kernels losses machines "
        "persistence plots selection solvers"
    ),
    "mercer.configuration": "show_config",
    "mercer.expansion": "Expansion",
    "mercer.export": "to_onnx",
    "mercer.features": (
        "KernelCCA KernelFeatureAnalysis KernelKMeans KernelPCA KernelSpectralClustering "
        "PolygonalPrincipalCurve PrincipalCurve RegularizedPrincipalManifold"
    ),
    "mercer.hypotheses": "hsic_test mmd_test",
    "mercer.inspection": "explain",
    "mercer.machines": (
        "ConformalNovelty MultipleKernelSVC MultipleKernelSVR NotSeparableError NuSVC NuSVR "
        "OneClassSVM ParzenDensity SVC SVDD SVR virtual_support_vectors"
    ),
    "mercer.machines.gaussian_process": (
        "GaussianProcessClassifier GaussianProcessRegressor SparseGaussianProcessRegressor"
    ),
    "mercer.machines.ridge": "KernelRidge KernelRidgeCV KernelRidgeClassifier LSSVC LSSVR",
    "mercer.persistence": "load save",
    "mercer.selection.tuning": "tune",
    "mercer.solvers": "Certificate",
}
_MODULES = {name: module for module, names in _DOOR.items() for name in names.split()}


__all__ = [
    "LSSVC",
    "LSSVR",
    "SVC",
    "SVDD",
    "SVR",
    "Certificate",
    "ConformalNovelty",
    "Expansion",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "KernelCCA",
    "KernelFeatureAnalysis",
    "KernelKMeans",
    "KernelPCA",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelRidgeClassifier",
    "KernelSpectralClustering",
    "MultipleKernelSVC",
    "MultipleKernelSVR",
    "NotSeparableError",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "ParzenDensity",
    "PolygonalPrincipalCurve",
    "PrincipalCurve",
    "RegularizedPrincipalManifold",
    "SparseGaussianProcessRegressor",
    "__version__",
    "explain",
    "hsic_test",
    "load",
    "mmd_test",
    "save",
    "show_config",
    "to_onnx",
    "tune",
    "virtual_support_vectors",
]


if not TYPE_CHECKING:  # which would take every name for one of this module

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'mercer' has no attribute {name!r}")
        if _MODULES[name] == "mercer":
            return import_module(f"mercer.{name}")
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
