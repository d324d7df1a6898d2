"""The stack machine that runs a kernel's program on other values than those of the native core.

The core computes kernel values. Their diagonal, their derivatives, bounds of their errors and the
operators that compute them elsewhere follow from the same program (`mercer.gram.program`), run here
on numbers, complex differences, jets, intervals or names of tensors: a subclass says what a leaf is
and what the operations do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from .program import Program

Value = TypeVar("Value")

# The functions of one value. Numbers of Python take the precision of the array they meet.
FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "affine": lambda x, a, b: x * a + b,
    "exp": lambda x, a, b: np.exp(x * a + b),
    "polynomial": lambda x, c: reduce(lambda y, a: y * x + a, c[1:], np.full_like(x, c[0])),
    "table": lambda x, table: table(x),
    "powi": lambda x, n: x**n,
    "power": lambda x, p: np.maximum(x, 0.0) ** p,
    "log": lambda x: np.log(np.maximum(x, np.finfo(x.dtype).tiny)),
    "log1p": np.log1p,
    "at_least": np.maximum,
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0.0)),
    "reciprocal": lambda x: 1.0 / x,
    "cos": np.cos,
    "tanh": np.tanh,
}


class Interpreter(Generic[Value]):
    """Runs a program; a subclass supplies what its instructions mean."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def run(self) -> Value:
        """Return the one value that the program leaves on the stack."""
        stack: list[Value] = []
        for name, *arguments in self.program.code:
            if name == "leaf":
                stack.append(self.leaf(*arguments))
            elif name == "const":
                stack.append(self.constant(*arguments))
            elif name == "dup":
                stack.append(stack[-1])
            elif name == "swap":
                stack[-2:] = stack[:-3:-1]
            elif name in ("add", "mul"):
                b, a = stack.pop(), stack.pop()
                stack.append(self.add(a, b) if name == "add" else self.multiply(a, b))
            elif name in ("aux", "aux_add"):
                combine = self.scaled if name == "aux" else self.raised
                stack[-1] = combine(stack[-1], *arguments)
            else:
                stack[-1] = self.function(stack[-1], name, arguments)
        (found,) = stack
        return found

    def leaf(self, k: int) -> Value:
        """Return the values of leaf `k`."""
        raise NotImplementedError

    def constant(self, value: float) -> Value:
        """Return a constant."""
        raise NotImplementedError

    def add(self, a: Value, b: Value) -> Value:
        """Return a + b."""
        raise NotImplementedError

    def multiply(self, a: Value, b: Value) -> Value:
        """Return a b."""
        raise NotImplementedError

    def scaled(self, x: Value, k: int) -> Value:
        """Return x times u(a) u(b), with the numbers `k` of the objects a and b."""
        raise NotImplementedError

    def raised(self, x: Value, k: int) -> Value:
        """Return x plus u(a) + u(b)."""
        raise NotImplementedError

    def function(self, x: Value, name: str, arguments: list[Any]) -> Value:
        """Return a function of one value: what `mercer.gram.program.Builder` says of its name."""
        raise NotImplementedError


class Numbers(Interpreter[np.ndarray]):
    """Runs a program on arrays of `n` real or complex numbers."""

    functions: ClassVar[dict[str, Callable[..., np.ndarray]]] = FUNCTIONS

    def __init__(self, program: Program, n: int) -> None:
        super().__init__(program)
        self.n = n

    def constant(self, value: float) -> np.ndarray:
        """Return a constant."""
        return np.full(self.n, value)

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return a + b."""
        return a + b

    def multiply(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return a b."""
        return a * b

    def function(self, x: np.ndarray, name: str, arguments: list[Any]) -> np.ndarray:
        """Return a function of the numbers."""
        return self.functions[name](x, *arguments)
