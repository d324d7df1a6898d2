"""Classes whose objects a model file may hold, by name: estimators, their parts, common steps.

A file names no other class. One that it names is imported then: files stand below the machines,
because expansions are written to them as well, and know classes by name alone, as pickle does.
Estimators are what the packages of machines, features and kernels offer, so that a new one can be
saved without being listed here; its parts are listed.
"""

from __future__ import annotations

import functools
import pkgutil
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

_PARTS = {
    "BinaryProcess": "mercer.machines.gaussian_process.latent",
    "Certificate": "mercer.solvers",
    "Certificates": "mercer.solvers.prove",
    "Convergence": "mercer.kernels.models.baum_welch",
    "Expansion": "mercer.expansion",
    "HiddenMarkov": "mercer.kernels",
    "Hyperparameter": "mercer.kernels.hyperparameters",
    "IterativePosterior": "mercer.machines.gaussian_process.by_iteration",
    "InducingPosterior": "mercer.machines.gaussian_process.posterior",
    "MercerCovariance": "mercer.machines.gaussian_process.covariance",
    "Mode": "mercer.machines.gaussian_process.laplace",
    "NegativeCurvature": "mercer.solvers.curvature",
    "Posterior": "mercer.machines.gaussian_process.posterior",
    "Sigmoids": "mercer.machines.support_vector.calibration",
    "SklearnCovariance": "mercer.machines.gaussian_process.covariance",
    "SoftmaxMode": "mercer.machines.gaussian_process.softmax_laplace",
    "SoftmaxProcess": "mercer.machines.gaussian_process.latent",
    "Steps": "mercer.machines.support_vector.calibration",
    "TrainingRecord": "mercer.machines.support_vector.training_record",
    "TwoSlopes": "mercer.machines.support_vector.calibration",
    "Values": "mercer.machines.gaussian_process.covariance",
    "Vocabulary": "mercer.objects.vocabulary",
}

# scikit-learn's common steps: their state is numbers, names, types of numbers and other steps.
_STEPS = {
    "sklearn.compose": ("ColumnTransformer", "TransformedTargetRegressor", "make_column_selector"),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.pipeline": ("FeatureUnion",),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
}


@functools.cache
def part_class(name: str) -> Any:
    """Return the class of a part of fitted estimators, None for another name."""
    module = _PARTS.get(name)
    return None if module is None else getattr(import_module(module), name)


@functools.cache
def estimator_classes() -> dict[str, Any]:
    """Return the estimators of mercer by name."""
    machines = import_module("mercer.machines")
    families = [
        f"{machines.__name__}.{found.name}"
        for found in pkgutil.iter_modules(machines.__path__)
        if found.ispkg
    ]
    rooms = map(import_module, [*families, "mercer.machines", "mercer.features", "mercer.kernels"])
    return {
        name: value
        for room in rooms
        for name in room.__all__
        if isinstance(value := getattr(room, name), type) and issubclass(value, BaseEstimator)
    }


def estimator_class(name: str) -> Any:
    """Return an estimator of mercer, None for another name."""
    return estimator_classes().get(name)


def sklearn_kernel_class(name: str) -> Any:
    """Return a kernel class of scikit-learn's Gaussian processes, None for another name."""
    from sklearn.gaussian_process import kernels as others

    found = getattr(others, name, None)
    is_kernel = isinstance(found, type) and issubclass(found, others.Kernel)
    return found if is_kernel and found.__module__ == others.__name__ else None


@functools.cache
def sklearn_step_class(name: str) -> Any:
    """Return one of scikit-learn's common steps of pipelines, None for another name."""
    module = next((module for module, names in _STEPS.items() if name in names), None)
    return None if module is None else getattr(import_module(module), name)


def plain_type(name: str) -> Any:
    """Return a type of entries, of NumPy or Python, None for another name."""
    found = getattr(np, name, None)
    if isinstance(found, type) and issubclass(found, np.generic):
        return found
    return {kind.__name__: kind for kind in (bool, int, float, str, object)}.get(name)
