"""A pytest plugin: scikit-learn's own tests of its kernel machines and searches, run on mercer's.

    EXCEPTIONS=exceptions.toml pytest -p rebind --pyargs sklearn.svm.tests

Before the tests are collected, scikit-learn's classes are replaced by mercer's. Tests named in the
file of exceptions are expected to fail, strictly: one that passes has to leave the list, unless
the last bit decides (``strict = false``). Tests of
scikit-learn's linear solvers, which mercer does not replace, are left out.
"""

from __future__ import annotations

import os
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

REPLACED = {
    "sklearn.svm": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"),
    "sklearn.svm._classes": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"),
    "sklearn.kernel_ridge": ("KernelRidge",),
    "sklearn.gaussian_process": ("GaussianProcessClassifier", "GaussianProcessRegressor"),
    "sklearn.decomposition": ("KernelPCA",),
}
SEARCHES = (
    "GridSearchCV",
    "RandomizedSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "cross_validate",
    "cross_val_score",
    "cross_val_predict",
    "learning_curve",
    "validation_curve",
)


def pytest_configure(config):
    import mercer

    for module, names in REPLACED.items():
        for name in names:
            setattr(import_module(module), name, getattr(mercer, name))
    import_module("sklearn.experimental.enable_halving_search_cv")
    for name in SEARCHES:
        setattr(import_module("sklearn.model_selection"), name, getattr(mercer.selection, name))


def pytest_collection_modifyitems(config, items):
    listed = tomllib.loads(Path(__file__).with_name(os.environ["EXCEPTIONS"]).read_text())
    left_out = tuple(listed["not_about_these_machines"]["tests"])
    packages = {".".join(item.module.__name__.split(".")[:2]) for item in items}
    reasons = {
        name: (group["reason"], group.get("strict", True))
        for group in listed["expected_to_fail"]
        if group.get("of") is None or group["of"] in packages
        for name in group["tests"]
    }
    kept, used = [], set()
    for item in items:
        name = item.name.partition("[")[0]
        if name in left_out or item.name in left_out:
            continue
        key = item.name if item.name in reasons else name
        if key in reasons:
            used.add(key)
            reason, strict = reasons[key]
            item.add_marker(pytest.mark.xfail(reason=reason, strict=strict))
        kept.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    unknown = set(reasons) - used
    if unknown and len({item.fspath for item in items}) > 1:
        raise pytest.UsageError(f"the list names tests that do not exist: {sorted(unknown)}")
