"""Values of fitted models as JSON and arrays, and back without running code.

Numbers, strings, lists, None and truth values stay what they are. Everything else becomes an
object with one entry, whose name says what it was. Objects of mercer's own classes are stored by
the name of their class, which must be in `classes`, and their attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from mercer import kernels
from mercer.kernels import Kernel
from mercer.objects.tables import is_frame

from . import foreign_steps
from .classes import estimator_classes, part_class, sklearn_kernel_class
from .container import Arrays, Blobs

_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}
# Attributes that are not part of a model.
_PASSING = ("_lazy", "_listeners", "_mercer_version", "_products")


class Writer:
    """Turns values into a document; arrays go to `blobs`."""

    def __init__(self) -> None:
        self.blobs = Blobs()

    def value(self, value: Any, where: str) -> Any:
        """Return a value as what JSON can hold.

        `where`: what the value is, for the error that refuses it.
        """
        if isinstance(value, np.generic):
            return {"scalar": self.value(np.asarray(value), where)}
        if value is None or type(value) in (str, bool, int, float):
            return value
        if type(value) is list:
            return [self.value(v, where) for v in value]
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if type(value).__name__ in _SPARSE and sp.issparse(value):
            parts = [self.value(a, where) for a in (value.data, value.indices, value.indptr)]
            return {"sparse": [type(value).__name__, list(map(int, value.shape)), *parts]}
        if is_frame(value):  # bound kernels know columns by position
            return self._array(value.to_numpy().astype(object), where)
        if type(value) in (tuple, set, frozenset):
            return {type(value).__name__: [self.value(v, where) for v in value]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if type(value) is slice:
            return {"slice": [self.value(v, where) for v in (value.start, value.stop, value.step)]}
        if isinstance(value, Kernel):
            return {"kernel": self._kernel(value, where)}
        name = type(value).__name__
        if part_class(name) is type(value):
            return {"record": [name, self._attributes(vars(value), where)]}
        if estimator_classes().get(name) is type(value):
            return self.estimator(value)
        if sklearn_kernel_class(name) is type(value):
            parameters = value.get_params(deep=False).items()
            return {"sklearn kernel": [name, {k: self.value(v, where) for k, v in parameters}]}
        if isinstance(value, Mapping):
            pairs = [[self.value(k, where), self.value(v, where)] for k, v in value.items()]
            return {"mapping": pairs}
        raise _refusal(value, where)

    def estimator(self, model: Any) -> Any:
        """Return an estimator or a pipeline as what JSON can hold."""
        name = type(model).__name__
        if estimator_classes().get(name) is type(model):
            brief = getattr(model, "_brief_state", None)
            state = vars(model) if brief is None else brief()
            return {"estimator": [name, self._attributes(state, name)]}
        if type(model) is Pipeline:
            steps = [
                [step, part if isinstance(part, str) else self.estimator(part)]
                for step, part in model.steps
            ]
            return {"pipeline": steps}
        content = np.frombuffer(foreign_steps.dumped(model), dtype=np.uint8)
        return {"skops": self.blobs.add(content)}

    def _attributes(self, state: Mapping[str, Any], owner: str) -> dict[str, Any]:
        kept = {k: v for k, v in state.items() if k not in _PASSING}
        return {name: self.value(value, f"{owner}.{name}") for name, value in kept.items()}

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
            return {"array": self.blobs.add(array)}
        if array.dtype.kind in "UO":
            entries = [self.value(v, where) for v in array.ravel().tolist()]
            return {"objects": [array.dtype.str, list(array.shape), entries]}
        raise _refusal(array, where)

    def _kernel(self, kernel: Kernel, where: str) -> list[Any]:
        name = type(kernel).__name__
        if getattr(kernels, name, None) is not type(kernel):
            raise _refusal(kernel, where)
        parameters = kernel.get_params(deep=False)
        stored = [name, {k: self.value(v, f"{name}.{k}") for k, v in parameters.items()}]
        bounds = kernel._bounds
        return stored if bounds is None else [*stored, self.value(bounds, f"bounds of {name}")]


def _refusal(value: Any, where: str) -> ValueError:
    name = type(value).__name__
    if isinstance(value, Kernel) or callable(value):
        what = getattr(value, "__name__", name)
        return ValueError(
            f"{where} holds {what}, code that is not mercer's own, and a file that runs no code "
            "cannot hold it. Use kernels of mercer.kernels; or fit with kernel='precomputed' and "
            "compute the matrix where the model is served; or pickle the model."
        )
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return ValueError(f"{where} is a random generator; pass an int, and fit again.")
    return ValueError(
        f"{where} is of type {name}, which has no form in a file that runs no code; pickle the "
        "model instead."
    )


class Reader:
    """Turns a document into values."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._makers: dict[str, Callable[[Any], Any]] = {
            "array": arrays.get,
            "scalar": lambda content: self.value(content)[()],
            "objects": self._objects,
            "sparse": self._sparse,
            "tuple": lambda items: tuple(self._items(items)),
            "set": lambda items: set(self._items(items)),
            "frozenset": lambda items: frozenset(self._items(items)),
            "bytes": bytes.fromhex,
            "slice": lambda items: slice(*self._items(items)),
            "mapping": lambda pairs: {self.value(k): self.value(v) for k, v in pairs},
            "kernel": self._kernel,
            "sklearn kernel": self._sklearn_kernel,
            "record": self._record,
            "estimator": lambda content: self.estimator({"estimator": content}),
        }

    def value(self, value: Any) -> Any:
        """Return the value that a part of the document stands for."""
        if type(value) is dict:
            ((kind, content),) = value.items()
            return self._makers[kind](content)
        return self._items(value) if type(value) is list else value

    def estimator(self, value: dict[str, Any]) -> Any:
        """Return the estimator or pipeline that a document stands for."""
        ((kind, content),) = value.items()
        if kind == "skops":
            return foreign_steps.loaded(self._arrays.get(content).tobytes())
        if kind == "pipeline":
            return Pipeline(
                [(str(s), p if isinstance(p, str) else self.estimator(p)) for s, p in content]
            )
        if kind != "estimator":
            raise ValueError(f"{kind!r} where an estimator is expected")
        name, attributes = content
        kind_of_model = estimator_classes()[name]
        model = kind_of_model.__new__(kind_of_model)
        model.__dict__.update(self._attributes(attributes))
        if hasattr(model, "_restored"):
            model._restored()
        return model

    def _items(self, items: list[Any]) -> list[Any]:
        return [self.value(item) for item in items]

    def _attributes(self, attributes: dict[str, Any]) -> dict[str, Any]:
        return {
            name: self.value(value) if type(value) in (dict, list) else value
            for name, value in attributes.items()
        }

    def _objects(self, content: Any) -> np.ndarray:
        code, shape, entries = content
        dtype = np.dtype(str(code))
        longest = max((len(e) for e in entries if isinstance(e, str)), default=1)
        if dtype.kind not in "UO" or (dtype.kind == "U" and dtype.itemsize > 4 * max(longest, 64)):
            raise ValueError(f"an array of type {code!r}")
        array = np.empty(len(entries), dtype=dtype)
        for i, entry in enumerate(entries):
            array[i] = self.value(entry)
        return array.reshape([int(n) for n in shape])

    def _sparse(self, content: Any) -> Any:
        name, shape, *parts = content
        data, indices, indptr = self._items(parts)
        # SciPy does not check the starts of rows where the last one is 0.
        if any(a.dtype.kind != "i" for a in (indices, indptr)) or (np.diff(indptr) < 0).any():
            raise ValueError("rows of a sparse matrix that start nowhere")
        matrix = _SPARSE[name]((data, indices, indptr), shape=tuple(int(n) for n in shape))
        matrix.check_format(full_check=True)  # native code trusts the positions
        return matrix

    def _kernel(self, content: Any) -> Kernel:
        name, parameters, *bounds = content  # bounds where `with_bounds` has stated them
        kind = getattr(kernels, str(name))
        if not (isinstance(kind, type) and issubclass(kind, Kernel)):
            raise ValueError(f"{name!r} is no kernel")
        kernel = kind(**self._attributes(parameters))
        return kernel.with_bounds(self.value(bounds[0])) if bounds else kernel

    def _sklearn_kernel(self, content: Any) -> Any:
        name, parameters = content
        kind = sklearn_kernel_class(str(name))
        if kind is None:
            raise ValueError(f"{name!r} is no kernel of scikit-learn")
        return kind(**self._attributes(parameters))

    def _record(self, content: Any) -> Any:
        name, attributes = content
        kind = part_class(str(name))
        if kind is None:
            raise ValueError(f"{name!r} is no part of a model")
        record = object.__new__(kind)
        vars(record).update(self._attributes(attributes))
        if hasattr(record, "_restored"):
            record._restored()
        return record
