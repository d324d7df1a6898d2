"""Values of fitted models as JSON and arrays, and back without running code.

Numbers, strings, lists, None and truth values stay what they are. Everything else becomes an
object with one entry, whose name says what it was. Objects of mercer's own classes are stored by
the name of their class, which must be in `classes`, and the state that a pickle of them holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import kernels
from mercer._version import __version__
from mercer.kernels import HiddenMarkov, Kernel
from mercer.objects.tables import is_frame

from . import foreign_steps
from .classes import (
    estimator_class,
    part_class,
    plain_type,
    sklearn_kernel_class,
    sklearn_step_class,
)
from .container import ArrayReader, ArrayWriter

_ENTRIES = "biufUO"  # kinds of types of entries
_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}
# Entries of the state of an estimator: who watches a fit, and which version pickled the state.
_LISTENERS, _VERSION = "_listeners", "_mercer_version"


class Writer:
    """Turns values into what JSON can hold; arrays go to `arrays`."""

    def __init__(self) -> None:
        self.arrays = ArrayWriter()

    def value(self, value: Any, where: str = "the model") -> Any:
        """Return a value as what JSON can hold.

        `where`: what the value is, for the error that refuses it.
        """
        if value is None or type(value) in (str, bool, int, float):
            return value
        if type(value) is list:
            return self._values(value, where)
        if isinstance(value, np.generic) and value.dtype.kind in "biufU":
            return {"scalar": [value.dtype.str, self.value(value.item(), where)]}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if type(value).__name__ in _SPARSE and sp.issparse(value):
            parts = self._values([value.data, value.indices, value.indptr], where)
            return {"sparse": [type(value).__name__, list(map(int, value.shape)), *parts]}
        if is_frame(value):  # bound kernels know columns by position
            return self._array(value.to_numpy().astype(object), where)
        if type(value) in (tuple, set, frozenset):
            return {type(value).__name__: self._values(value, where)}
        if isinstance(value, bytes | bytearray):
            return {"bytes": value.hex()}
        if type(value) is slice:
            return {"slice": self._values((value.start, value.stop, value.step), where)}
        if isinstance(value, Kernel):
            return {"kernel": self._kernel(value, where)}
        name = type(value).__name__
        if part_class(name) is type(value):
            return {"part": [name, self._state(value)]}
        if sklearn_kernel_class(name) is type(value):
            parameters = value.get_params(deep=False)
            return {"sklearn kernel": [name, self._named(parameters, name)]}
        if isinstance(value, Mapping):
            return {"mapping": [self._values(pair, where) for pair in value.items()]}
        if estimator_class(name) is type(value):
            return {"estimator": [name, self._state(value)]}
        if sklearn_step_class(name) is type(value):
            return {"step": [name, self._state(value)]}
        if foreign_steps.is_pipeline(value):
            return self.model(value)
        if isinstance(value, np.dtype) and value.kind in _ENTRIES:
            return {"dtype": value.str}
        if isinstance(value, type) and plain_type(value.__name__) is value:
            return {"type": value.__name__}
        raise _refusal(value, where)

    def model(self, model: Any) -> Any:
        """Return an estimator, or a pipeline with steps of any library, as what JSON can hold."""
        if estimator_class(type(model).__name__) is type(model):
            return self.value(model, type(model).__name__)
        if foreign_steps.is_pipeline(model):
            steps = [[k, v if isinstance(v, str) else self.model(v)] for k, v in model.steps]
            return {"pipeline": steps}
        if self._is_plain(model):
            return self.value(model, type(model).__name__)
        content = foreign_steps.dumped(model)
        self.arrays.needed += foreign_steps.size_in_memory(content)
        return {"skops": self.arrays.add(np.frombuffer(content, dtype=np.uint8))}

    def _is_plain(self, step: Any) -> bool:
        """Return whether a step is a common one whose state has a form in such a file."""
        if sklearn_step_class(type(step).__name__) is not type(step):
            return False
        try:
            Writer().value(step)  # a writer of its own: a refusal leaves arrays behind
        except ValueError:
            return False
        return True

    def _values(self, values: Iterable[Any], where: str) -> list[Any]:
        return [self.value(value, where) for value in values]

    def _named(self, values: Mapping[str, Any], owner: str) -> dict[str, Any]:
        return {name: self.value(value, f"{owner}.{name}") for name, value in values.items()}

    def _state(self, value: Any) -> dict[str, Any]:
        state = {k: v for k, v in value.__getstate__().items() if k != _LISTENERS}
        fitted = type(value) is HiddenMarkov and hasattr(value, "certificate_")
        if fitted and isinstance(value.random_state, np.random.RandomState):
            state["random_state"] = None  # a fitted model draws no more
        return self._named(state, type(value).__name__)

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
            return {"array": self.arrays.add(array)}
        if array.dtype.kind in "UO":
            self.arrays.needed += array.nbytes
            entries = self._values(array.ravel().tolist(), where)
            return {"objects": [array.dtype.str, list(array.shape), entries]}
        raise _refusal(array, where)

    def _kernel(self, kernel: Kernel, where: str) -> list[Any]:
        name = type(kernel).__name__
        if getattr(kernels, name, None) is not type(kernel):
            raise _refusal(kernel, where)
        stored = [name, self._named(kernel.get_params(deep=False), name)]
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
    """Turns what `Writer` made into values."""

    def __init__(self, arrays: ArrayReader) -> None:
        self._arrays = arrays
        self._makers: dict[str, Callable[[Any], Any]] = {
            "array": arrays.get,
            "scalar": self._scalar,
            "objects": self._objects,
            "sparse": self._sparse,
            "tuple": lambda items: tuple(self._values(items)),
            "set": lambda items: set(self._values(items)),
            "frozenset": lambda items: frozenset(self._values(items)),
            "bytes": bytes.fromhex,
            "slice": lambda items: slice(*self._values(items)),
            "mapping": lambda pairs: dict(map(self._values, pairs)),
            "kernel": self._kernel,
            "sklearn kernel": lambda content: self._made(sklearn_kernel_class, *content),
            "part": lambda content: self._with_state(part_class, *content),
            "estimator": lambda content: self._with_state(estimator_class, *content),
            "step": lambda content: self._with_state(sklearn_step_class, *content),
            "dtype": _dtype,
            "type": lambda name: _known(plain_type, name),
            "pipeline": lambda steps: foreign_steps.pipeline(map(self._values, steps)),
            "skops": self._foreign,
        }

    def value(self, value: Any) -> Any:
        """Return the value that a part of the header stands for."""
        if type(value) is dict:
            ((kind, content),) = value.items()
            return self._makers[kind](content)
        return self._values(value) if type(value) is list else value

    def _values(self, values: list[Any]) -> list[Any]:
        return [self.value(value) for value in values]

    def _named(self, values: dict[str, Any]) -> dict[str, Any]:
        return {
            name: self.value(value) if type(value) in (dict, list) else value
            for name, value in values.items()
        }

    def _scalar(self, content: Any) -> Any:
        code, number = content
        dtype = np.dtype(str(code))
        if dtype.kind not in "biufU" or type(number) not in (bool, int, float, str):
            raise ValueError(f"a scalar of type {code!r}")
        return dtype.type(number)

    def _objects(self, content: Any) -> np.ndarray:
        code, shape, entries = content
        dtype = np.dtype(str(code))
        if dtype.kind not in "UO":
            raise ValueError(f"an array of type {code!r}")
        self._arrays.take(len(entries) * dtype.itemsize)
        array = np.empty(len(entries), dtype=dtype)
        for i, entry in enumerate(entries):
            array[i] = self.value(entry)
        return array.reshape([int(n) for n in shape])

    def _sparse(self, content: Any) -> Any:
        name, shape, *parts = content
        data, indices, indptr = self._values(parts)
        # SciPy does not check the starts of rows where the last one is 0.
        if any(a.dtype.kind != "i" for a in (indices, indptr)) or (np.diff(indptr) < 0).any():
            raise ValueError("rows of a sparse matrix that start nowhere")
        matrix = _SPARSE[name]((data, indices, indptr), shape=tuple(int(n) for n in shape))
        matrix.check_format(full_check=True)  # native code trusts the positions
        return matrix

    def _kernel(self, content: Any) -> Kernel:
        name, parameters, *bounds = content  # bounds where `with_bounds` has stated them
        kernel: Kernel = self._made(_kernel_class, name, parameters)
        return kernel.with_bounds(self.value(bounds[0])) if bounds else kernel

    def _made(self, classes: Callable[[str], Any], name: Any, parameters: dict[str, Any]) -> Any:
        """Return an object made by the constructor of its class."""
        return _known(classes, name)(**self._named(parameters))

    def _with_state(self, classes: Callable[[str], Any], name: Any, state: dict[str, Any]) -> Any:
        """Return an object of a class with a state, as pickle sets it."""
        kind, state = _known(classes, name), self._named(state)
        if _VERSION in state:  # unlike pickles, files are read by later versions
            state[_VERSION] = __version__
        found = kind.__new__(kind)
        set_state: Callable[[Any], Any] = getattr(found, "__setstate__", vars(found).update)
        set_state(state)
        return found

    def _foreign(self, description: Any) -> Any:
        content = self._arrays.get(description).tobytes()
        self._arrays.take(foreign_steps.size_in_memory(content))
        return foreign_steps.loaded(content)


def _dtype(code: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(code))
    if dtype.kind not in _ENTRIES:
        raise ValueError(f"entries of type {code!r}")
    return dtype


def _kernel_class(name: str) -> Any:
    kind = getattr(kernels, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, Kernel) else None


def _known(classes: Callable[[str], Any], name: Any) -> Any:
    """Return a class that files may hold, by its name."""
    kind = classes(str(name))
    if kind is None:
        raise ValueError(f"{name!r} is no class that a file may hold")
    return kind
