"""The outputs of each kind of machine, as operators on the rows of the input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.expansion import Expansion
from mercer.kernels import Linear
from mercer.machines import SVDD, OneClassSVM, ParzenDensity
from mercer.machines.gaussian_process.predicting import ProcessRegressor
from mercer.machines.ridge.base import RidgeMachine
from mercer.machines.ridge.classification import RidgeClassifierBase
from mercer.machines.support_vector import calibration
from mercer.machines.support_vector.classifier import KernelClassifier
from mercer.machines.support_vector.multiclass import pair_places
from mercer.machines.support_vector.one_class import NO_VALUE
from mercer.machines.support_vector.regressor import KernelRegressor
from mercer.solvers.centring import translated

from . import class_scores
from .expansions import block_values, expansion_values
from .graph import Graph
from .kernel_values import NotExportableError, Rows, diagonal
from .statistics import squared_distance

ROWS = "rows"
"""The name of the number of rows in the shapes of inputs and outputs."""


class Output(NamedTuple):
    """A tensor that the model returns."""

    name: str
    tensor: str
    kind: str
    shape: list[Any]


def outputs_of(rows: Rows, model: Any) -> list[Output]:
    """Return the outputs of a fitted model; refuse a model without operators."""
    model = getattr(model, "machine_", model)  # of several kernels
    for kind, write in _WRITERS:
        if isinstance(model, kind):
            return write(rows, model)
    raise NotExportableError(
        f"{type(model).__name__} cannot be exported. Support vector and ridge machines, SVDD, "
        "ParzenDensity, Gaussian process regressors, KernelPCA, Nystrom and RandomFourierFeatures "
        "can. Serve it with mercer.save and mercer.load."
    )


def _values(name: str, rows: Rows, tensor: str, n_outputs: int, flat: bool) -> Output:
    """Return an output of numbers: a vector where `flat`, else a matrix."""
    if flat:
        return Output(name, _flat(rows.graph, tensor), "float64", [ROWS])
    return Output(name, tensor, "float64", [ROWS, n_outputs])


def _flat(g: Graph, column: str) -> str:
    return g.op("Squeeze", column, np.array([1]))


def _labels(g: Graph, labels: NDArray[Any], codes: str) -> Output:
    """Return the labels at positions in an array."""
    kinds = {"i": "int64", "u": "int64", "f": "float64", "b": "bool", "U": "string"}
    kind = labels.dtype.kind
    if kind == "O" and all(isinstance(label, str) for label in labels):
        labels, kind = labels.astype(str), "U"
    if kind not in kinds:
        raise NotExportableError(
            f"labels of type {labels.dtype} have no type in ONNX; use numbers or strings."
        )
    return Output("label", g.op("Gather", labels, codes, axis=0), kinds[kind], [ROWS])


def _expansion(rows: Rows, model: Expansion) -> list[Output]:
    values = expansion_values(rows, model)
    return [_values("prediction", rows, values, model.n_outputs, model.coef.ndim == 1)]


def _regressor(rows: Rows, model: Any) -> list[Output]:
    return _expansion(rows, model.expansion_)


def _ridge_classifier(rows: Rows, model: Any) -> list[Output]:
    g, f = rows.graph, model.expansion_
    values = expansion_values(rows, f)
    if f.coef.ndim == 1:
        codes = g.op("Cast", g.op("Greater", _flat(g, values), 0.0), to="int64")
    else:
        codes = g.op("ArgMax", values, axis=1, keepdims=0)
    decision = _values("decision", rows, values, f.n_outputs, f.coef.ndim == 1)
    return [_labels(g, model.classes_, codes), decision]


def _one_class(rows: Rows, model: Any) -> list[Output]:
    g = rows.graph
    values = _flat(g, expansion_values(rows, model.expansion_))
    return _outliers(g, values, NO_VALUE * model._size())


def _svdd(rows: Rows, model: Any) -> list[Output]:
    g, rows = rows.graph, rows.near(model._point)
    Z = translated(model._point, model.support_vectors_)
    f = Expansion(model.kernel_, Z, -2.0 * model.dual_coef_)
    squares = g.add(expansion_values(rows, f), diagonal(rows, model.kernel_))
    radius2, centre2 = -model.offset_, model._centre_norm2
    values = g.sub(radius2 - centre2, _flat(g, squares))
    return _outliers(g, values, 1e-13 * (radius2 + abs(centre2)))


def _outliers(g: Graph, values: str, rounding: float) -> list[Output]:
    """Return the labels 1 and -1 and the values, of which those that are only rounding are 0."""
    small = g.op("LessOrEqual", g.op("Abs", values), float(rounding))
    values = g.where(small, 0.0, values)
    label = g.where(g.op("GreaterOrEqual", values, 0.0), np.array(1), np.array(-1))
    return [
        Output("label", label, "int64", [ROWS]),
        Output("decision", values, "float64", [ROWS]),
    ]


def _density(rows: Rows, model: Any) -> list[Output]:
    g, Z, weight = rows.graph, model._rows_fit, model._weight_fit
    X = g.op("Div", rows.tensor, model.scale_)
    exponents = g.mul(squared_distance(g, X, Z, exact=False), -0.5 / model.bandwidth_**2)
    logs = g.op("ReduceLogSumExp", g.add(exponents, np.log(weight)[None]), axes=[1], keepdims=0)
    size = Z.shape[1] * math.log(model.bandwidth_ * math.sqrt(2.0 * math.pi))
    constant = math.log(float(weight.sum())) + size + float(np.log(model.scale_).sum())
    return [Output("log_density", g.sub(logs, constant), "float64", [ROWS])]


def _process(rows: Rows, model: Any) -> list[Output]:
    """Return the mean of a Gaussian process."""
    try:
        mean = model.expansion_
    except AttributeError as error:
        raise NotExportableError(f"{type(model).__name__} cannot be exported: {error}") from error
    return _expansion(rows, mean)


def _classifier(rows: Rows, model: Any) -> list[Output]:
    g, k = rows.graph, len(model.classes_)
    values = _problem_values(rows, model)
    pairs = k > 2 and model._one_against_one()
    scores = class_scores.scores(g, values, k) if pairs else values
    if k == 2:
        codes = g.op("Cast", g.op("GreaterOrEqual", _flat(g, values), 0.0), to="int64")
    else:
        ties = pairs and not (model.break_ties and model.decision_function_shape == "ovr")
        codes = g.op(
            "ArgMax", class_scores.votes(g, values, k) if ties else scores, axis=1, keepdims=0
        )
    decision = scores if model.decision_function_shape == "ovr" else values
    width = k if decision is scores else len(model.intercept_)
    found = [
        _labels(g, model.classes_, codes),
        _values("decision", rows, decision, width, k == 2),
    ]
    if model.probability:
        p = _probabilities(g, model, values, codes)
        found.append(Output("probabilities", p, "float64", [ROWS, k]))
    return found


def _problem_values(rows: Rows, model: Any) -> str:
    """Return the values of all binary problems."""
    k = len(model.classes_)
    plain = k == 2 or not model._one_against_one()
    if plain or model._linear is not None or type(model.kernel_) is Linear:
        return expansion_values(rows, model.expansion_)
    g, kernel = rows.graph, model.kernel_
    vectors = model.support_ if kernel.pairwise else model.support_vectors_
    # The support vectors of a class serve its pairs and no others.
    parts = block_values(rows, kernel, vectors, model._dense_coef(), model.n_support_.tolist())
    of_first, of_second = pair_places(k)
    values = g.add(g.columns(parts, of_first), g.columns(parts, of_second))
    return g.add(values, model.intercept_)


def _probabilities(g: Graph, model: Any, values: str, codes: str) -> str:
    k = len(model.classes_)
    p = class_scores.calibrated(g, model._calibration, values)
    if k == 2:
        return g.op("Concat", g.sub(1.0, p), p, axis=1)
    p = class_scores.coupled(g, p, k) if model._one_against_one() else class_scores.normalised(g, p)
    if isinstance(model._calibration, calibration.TwoSlopes):
        return class_scores.projected(g, p, codes, model.class_weight_)
    return p


_WRITERS: list[tuple[type, Callable[[Rows, Any], list[Output]]]] = [
    (Expansion, _expansion),
    (KernelClassifier, _classifier),
    (KernelRegressor, _regressor),
    (OneClassSVM, _one_class),
    (SVDD, _svdd),
    (RidgeClassifierBase, _ridge_classifier),
    (RidgeMachine, _regressor),
    (ParzenDensity, _density),
    (ProcessRegressor, _process),
]
