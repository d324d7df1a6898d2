"""Fitted estimators as ONNX models."""

from __future__ import annotations

import json
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer.expansion import Expansion
from mercer.objects.parameters import show

from .graph import Graph, library
from .kernel_values import NotExportableError, Rows
from .models import ROWS, Output, outputs_of
from .steps import TRANSFORMERS, transformed

_DTYPES = ("float64", "float32")


def to_onnx(model: Any, *, dtype: str = "float64") -> Any:
    """Return a fitted model as an ONNX graph, for a server that needs neither Python nor mercer.

    The graph has one input "X", the rows, and these outputs: "label" and "decision" of classifiers
    and one-class machines, with "probabilities" where ``probability=True``; "prediction" of
    regressors and expansions; "features" of transformers; "log_density" of densities. They are
    those of the estimator's methods, computed in double precision.

    Kernels on rows of numbers are exported with their compositions: linear, polynomial, sigmoid,
    all functions of distances, histograms and single coordinates, sums, products, powers and
    normalised kernels, and precomputed ones (the input is then the kernel matrix). Others, such as
    kernels on strings and user-defined kernels, raise an error.

    Parameters
    ----------
    model : estimator, Pipeline or Expansion
        A fitted support vector or ridge machine, the mean of a Gaussian process regressor, a
        density, `KernelPCA`, `Nystrom` or `RandomFourierFeatures`; or a pipeline that begins with
        scalers, imputers and projections of scikit-learn. Of a search, its best estimator.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input and of the outputs. With "float32" the client rounds the rows.

    Returns
    -------
    onnx.ModelProto
        The model; write it with ``onnx.save(model, path)``. Raises ValueError for models and
        kernels that ONNX has no operators for.

    Examples
    --------
    >>> import mercer
    >>> from mercer import SVC
    >>> model = SVC().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    >>> graph = mercer.to_onnx(model).graph
    >>> [output.name for output in graph.output]
    ['label', 'decision']
    """
    library()  # what is missing is said before anything is done
    if dtype not in _DTYPES:
        raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")
    if not (hasattr(model, "get_params") or isinstance(model, Expansion)):
        raise TypeError(f"to_onnx takes a fitted model; got {type(model).__name__}.")
    model = getattr(model, "best_estimator_", model)
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    graph = Graph()
    n_columns = _n_columns(model, steps)
    X = graph.input("X", dtype, ["rows", n_columns])
    rows = Rows(graph, graph.op("Cast", X, to="float64"), n_columns)
    for step in steps[:-1]:
        rows = transformed(rows, step)
    for output in _outputs(rows, steps[-1]):
        _declare(graph, output, dtype)
    return graph.model(f"{model!r}", _properties(model))


def _outputs(rows: Rows, model: Any) -> list[Output]:
    if isinstance(model, TRANSFORMERS):
        check_is_fitted(model)
        after = transformed(rows, model)
        return [Output("features", after.tensor, "float64", [ROWS, after.n_columns])]
    return outputs_of(rows, model)


def _declare(graph: Graph, output: Output, dtype: str) -> None:
    tensor, kind = output.tensor, output.kind
    if kind == "float64" and dtype != kind:
        tensor, kind = graph.op("Cast", tensor, to=dtype), dtype
    graph.output(tensor, kind, output.shape, output.name)


def _n_columns(model: Any, steps: list[Any]) -> int:
    """Return the number of columns of the rows that a model takes."""
    if isinstance(model, Expansion):
        shape: tuple[int, ...] = getattr(model.vectors, "shape", ())
        if model.kernel.pairwise:
            return int(max(model.vectors, default=-1)) + 1
        if len(shape) == 2:
            return int(shape[1])
    else:
        for step in steps:
            if step is not None and not isinstance(step, str):
                check_is_fitted(step)
        known = [n for s in steps if (n := getattr(s, "n_features_in_", None)) is not None]
        if known:
            return int(known[0])
    raise NotExportableError(
        f"{show(model)} is not defined on rows of numbers, which is what an exported model takes. "
        "Serve it with mercer.save and mercer.load."
    )


def _properties(model: Any) -> dict[str, str]:
    """Return what the file says about the model beside the graph."""
    names = getattr(model, "feature_names_in_", getattr(model, "feature_names", None))
    return {} if names is None else {"feature_names": json.dumps([str(n) for n in names])}
