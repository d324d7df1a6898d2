"""An ONNX graph that is written operator by operator.

Tensors are named by strings; numbers and arrays that an operator takes become constants, each
stored once. Real numbers are double precision throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer._version import __version__

OPSET, IR_VERSION = 17, 8
"""Versions of 2022, which the runtimes in use understand; no operator here needs a later one."""

_LARGEST = 2**31 - 2**20
"""Bytes of a model file; Protocol Buffers end there."""


class Node(NamedTuple):
    """One operator."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]


class Graph:
    """Operators in the order in which they run; the body of a loop can use tensors of `outer`."""

    def __init__(self, outer: Graph | None = None) -> None:
        self.nodes: list[Node] = []
        self.inputs: list[tuple[str, str, Sequence[Any] | None]] = []
        self.outputs: list[tuple[str, str, Sequence[Any] | None]] = []
        self._root: Graph = self if outer is None else outer._root
        self.constants: dict[str, NDArray[Any]] = {}
        self._known: dict[tuple[Any, ...], str] = {}
        self._count = 0

    def input(self, name: str, kind: str, shape: Sequence[Any] | None = None) -> str:
        """Declare an input of a type ("float64", "int64", ...) and return its name."""
        self.inputs.append((name, kind, shape))
        return name

    def output(
        self, tensor: str, kind: str, shape: Sequence[Any] | None = None, name: str = ""
    ) -> None:
        """Declare a tensor as an output, under a name of its own if there is one."""
        if name:
            self.nodes.append(Node("Identity", [tensor], [name], {}))
        self.outputs.append((name or tensor, kind, shape))

    def op(self, kind: str, *inputs: Any, **attributes: Any) -> str:
        """Append an operator with one output; return the name of the output."""
        return self.several(1, kind, *inputs, **attributes)[0]

    def several(self, n: int, kind: str, *inputs: Any, **attributes: Any) -> list[str]:
        """Append an operator with `n` outputs; return their names."""
        outputs = [self.fresh() for _ in range(n)]
        names = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        self.nodes.append(Node(kind, names, outputs, attributes))
        return outputs

    def constant(self, value: Any) -> str:
        """Return the name of a constant: a number, or an array of numbers, truths or strings."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        content = array.tolist() if array.dtype.kind in "OU" else array.tobytes()
        key = (array.dtype.kind, array.shape, str(content) if type(content) is list else content)
        root = self._root
        if key not in root._known:
            root._known[key] = self.fresh()
            root.constants[root._known[key]] = array
        return root._known[key]

    def fresh(self) -> str:
        """Return a name that no tensor has."""
        self._root._count += 1
        return f"t{self._root._count}"

    # -- short forms ------------------------------------------------------------------------

    def add(self, a: Any, b: Any) -> str:
        """Return a + b."""
        return self.op("Add", a, b)

    def sub(self, a: Any, b: Any) -> str:
        """Return a - b."""
        return self.op("Sub", a, b)

    def mul(self, a: Any, b: Any) -> str:
        """Return the products of the entries of a and b."""
        return self.op("Mul", a, b)

    def where(self, condition: str, a: Any, b: Any) -> str:
        """Return a where a condition holds, b elsewhere."""
        return self.op("Where", condition, a, b)

    def total(self, a: str, axis: int) -> str:
        """Return the sums along an axis, which stays as an axis of length 1."""
        return self.op("ReduceSum", a, np.array([axis]), keepdims=1)

    def indicator(self, condition: str) -> str:
        """Return 1 where a condition holds, 0 elsewhere."""
        return self.op("Cast", condition, to="float64")

    def filled(self, value: float, like: str, columns: int) -> str:
        """Return a matrix of one number with the rows of another tensor."""
        n = self.op("Slice", self.op("Shape", like), np.array([0]), np.array([1]))
        shape = self.op("Concat", n, np.array([columns]), axis=0)
        return self.op("Expand", np.array([[float(value)]]), shape)

    def columns(self, a: str, index: Any, whole: int | None = None) -> str:
        """Return some columns of a matrix; `whole`: of so many, where that is known."""
        index = np.asarray(index, dtype=np.int64)
        if whole is not None and np.array_equal(index, np.arange(whole)):
            return a
        return self.op("Gather", a, index, axis=1)

    # -- as a model -------------------------------------------------------------------------

    def model(self, description: str, properties: dict[str, str]) -> Any:
        """Return the graph as an ``onnx.ModelProto``."""
        onnx = library()
        size = sum(a.nbytes if a.dtype.kind in "bif" else 64 * a.size
                   for a in self.constants.values())  # fmt: skip
        if size > _LARGEST:
            raise ValueError(
                f"the model holds {size / 2**30:.1f} GB of numbers, and an ONNX file at most 2 GB. "
                "Save it with mercer.save instead."
            )
        model = onnx.helper.make_model(
            self._graph(onnx, "mercer"),
            opset_imports=[onnx.helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="mercer",
            producer_version=__version__,
            doc_string=description,
        )
        onnx.helper.set_model_props(model, properties)
        return model

    def _graph(self, onnx: Any, name: str) -> Any:
        """Return the graph as an ``onnx.GraphProto``."""
        helper = onnx.helper
        types = {"float64": "DOUBLE", "float32": "FLOAT", "int64": "INT64", "bool": "BOOL"}
        types["string"] = "STRING"
        code = {key: getattr(onnx.TensorProto, value) for key, value in types.items()}
        nodes = []
        for number, node in enumerate(self.nodes):
            attributes = {
                key: value._graph(onnx, f"{name}_{number}")
                if isinstance(value, Graph)
                else (code[value] if key == "to" else value)
                for key, value in node.attributes.items()
            }
            nodes.append(helper.make_node(node.kind, node.inputs, node.outputs, **attributes))

        def described(tensors: list[tuple[str, str, Sequence[Any] | None]]) -> list[Any]:
            return [helper.make_tensor_value_info(n, code[kind], s) for n, kind, s in tensors]

        constants = [
            helper.make_tensor(n, code["string"], a.shape, [str(v).encode() for v in a.ravel()])
            if a.dtype.kind in "OU"
            else onnx.numpy_helper.from_array(a, n)
            for n, a in self.constants.items()
        ]
        return helper.make_graph(
            nodes, name, described(self.inputs), described(self.outputs), constants
        )


def library() -> Any:
    """Return the module onnx, or say how to install it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "models are exported through the package onnx; install it with "
            "pip install 'mercer[onnx]'."
        ) from error
    return onnx
