"""Transformers of scikit-learn and mercer that a pipeline may have before its model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from mercer.expansion import Expansion
from mercer.features import KernelPCA, Nystrom, RandomFourierFeatures
from mercer.solvers.centring import translated

from .expansions import expansion_values
from .kernel_values import NotExportableError, Rows


def transformed(rows: Rows, step: Any) -> Rows:
    """Return the rows after a step of a pipeline; refuse a step without operators."""
    if step is None or step == "passthrough":
        return rows
    for kind, write in _STEPS.items():
        if type(step) is kind:
            tensor = write(rows, step)
            width = getattr(step, "n_components_", rows.n_columns)
            if kind is SimpleImputer:
                width = len(_kept(step))
            elif kind is TruncatedSVD:
                width = len(step.components_)
            return Rows(rows.graph, tensor, int(width))
    raise NotExportableError(
        f"the step {type(step).__name__} of a pipeline cannot be exported; those that can are "
        f"{', '.join(sorted(kind.__name__ for kind in _STEPS))}. Export the steps before the model "
        "with skl2onnx and join the two graphs with onnx.compose.merge_models."
    )


def _standard(rows: Rows, step: Any) -> str:
    X = rows.tensor
    if step.with_mean:
        X = rows.graph.sub(X, step.mean_)
    return rows.graph.op("Div", X, step.scale_) if step.with_std else X


def _robust(rows: Rows, step: Any) -> str:
    X = rows.tensor
    if step.with_centering:
        X = rows.graph.sub(X, step.center_)
    return rows.graph.op("Div", X, step.scale_) if step.with_scaling else X


def _range(rows: Rows, step: Any) -> str:
    g = rows.graph
    X = g.add(g.mul(rows.tensor, step.scale_), step.min_)
    if not step.clip:
        return X
    low, high = step.feature_range
    return g.op("Min", g.op("Max", X, float(low)), float(high))


def _largest(rows: Rows, step: Any) -> str:
    return rows.graph.op("Div", rows.tensor, step.scale_)


def _normalizer(rows: Rows, step: Any) -> str:
    g, X = rows.graph, rows.tensor
    size = g.op("Abs", X)
    if step.norm == "l2":
        length = g.op("Sqrt", g.total(g.mul(X, X), 1))
    elif step.norm == "l1":
        length = g.total(size, 1)
    else:
        length = g.op("ReduceMax", size, axes=[1], keepdims=1)
    return g.op("Div", X, g.where(g.op("Equal", length, 0.0), 1.0, length))


def _kept(step: Any) -> Any:
    """Return the columns that an imputer keeps: those of which it knows a value."""
    return np.flatnonzero(~np.isnan(np.asarray(step.statistics_, dtype=np.float64)))


def _imputer(rows: Rows, step: Any) -> str:
    missing = step.missing_values
    if step.add_indicator or not (isinstance(missing, float) and np.isnan(missing)):
        raise NotExportableError(
            "SimpleImputer is exported for missing_values=nan and add_indicator=False."
        )
    g, kept = rows.graph, _kept(step)
    X = g.columns(rows.tensor, kept, rows.n_columns)
    values = np.asarray(step.statistics_, dtype=np.float64)[kept]
    return g.where(g.op("IsNaN", X), values, X)


def _pca(rows: Rows, step: Any) -> str:
    g = rows.graph
    scores = g.op(
        "MatMul", g.sub(rows.tensor, step.mean_), np.ascontiguousarray(step.components_.T)
    )
    return g.op("Div", scores, np.sqrt(step.explained_variance_)) if step.whiten else scores


def _svd(rows: Rows, step: Any) -> str:
    return rows.graph.op("MatMul", rows.tensor, np.ascontiguousarray(step.components_.T))


def _nystrom(rows: Rows, step: Any) -> str:
    return expansion_values(rows, Expansion(step.kernel_, step.landmarks_, step.normalization_))


def _fourier(rows: Rows, step: Any) -> str:
    g, pairs = rows.graph, step.n_components_ // 2
    angles = g.op("MatMul", rows.tensor, np.ascontiguousarray(step.frequencies_.T))
    paired = g.columns(angles, np.arange(pairs), len(step.frequencies_))
    parts = [g.op("Cos", paired), g.op("Sin", paired)]
    if step.phase_ is not None:
        last = g.columns(angles, [len(step.frequencies_) - 1])
        parts.append(g.op("Cos", g.add(last, step.phase_)))
    return g.mul(g.op("Concat", *parts, axis=1), np.sqrt(2.0 * step.mass_ / step.n_components_))


def _kernel_pca(rows: Rows, step: Any) -> str:
    offsets = step._offsets
    if len(offsets) > 1:
        raise NotExportableError(
            "KernelPCA is exported with a centre or without one, not with other functions that "
            "are projected out."
        )
    centre = -offsets[0] if len(offsets) else 0.0
    fitted = translated(step._point, step.X_fit_)
    f = Expansion(step.kernel_, fitted, step.scores_coef_, centre)
    return expansion_values(rows.near(step._point), f)


_STEPS = {
    StandardScaler: _standard,
    RobustScaler: _robust,
    MinMaxScaler: _range,
    MaxAbsScaler: _largest,
    Normalizer: _normalizer,
    SimpleImputer: _imputer,
    PCA: _pca,
    TruncatedSVD: _svd,
    Nystrom: _nystrom,
    RandomFourierFeatures: _fourier,
    KernelPCA: _kernel_pca,
}

TRANSFORMERS = tuple(_STEPS)
