"""The instructions of a kernel program: native values against NumPy, and the diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import xlogy

from mercer.gram import Gram, Table, compile_kernel, evaluate
from mercer.kernels import (
    RBF,
    Definiteness,
    Kernel,
    Laplacian,
    Linear,
    OnColumns,
    SequenceKernel,
    VectorKernel,
    polynomial,
)
from mercer.kernels.vectors.vector import CoordinateKernel
from tests.gram.programs import Map, Written, on

Array = np.ndarray[Any, np.dtype[np.float64]]

TABLE = Table.fit(lambda x: 1.0 / (1.0 + x), 1e9)

CASES: dict[str, tuple[Kernel, Callable[[Array], Array]]] = {
    "sqrt": (on("sqdist", ("sqrt",)), np.sqrt),
    "log": (on("sqdist", ("affine", 1.0, 0.5), ("log",)), lambda s: np.log(s + 0.5)),
    "x log x": (on("sqdist", ("dup",), ("log",), ("mul",)), lambda s: xlogy(s, s)),
    "cos": (on("sqdist", ("cos",)), np.cos),
    "reciprocal": (on("sqdist", ("affine", 1.0, 2.0), ("reciprocal",)), lambda s: 1 / (s + 2)),
    "power": (on("sqdist", ("power", 0.7)), lambda s: s**0.7),
    "negative power": (
        on("sqdist", ("affine", 1.0, 1.0), ("power", -1.3)),
        lambda s: (1 + s) ** -1.3,
    ),
    "polynomial": (
        on("sqdist", ("polynomial", [1.0, 0.0, 0.5])),
        lambda s: 1 + 0.5 * s**2,
    ),
    "table": (on("sqdist", ("table", TABLE)), lambda s: 1 / (1 + s)),
    "swap": (
        on(
            "sqdist",
            ("dup",),
            ("sqrt",),
            ("swap",),
            ("affine", 2.0, 1.0),
            ("power", -1.0),
            ("mul",),
        ),
        lambda s: np.sqrt(s) / (2 * s + 1),
    ),
}


def distances(X: Array, Z: Array) -> Array:
    return np.asarray(((X[:, None] - Z[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=10, deadline=None)
@given(X=arrays(np.float64, (7, 2), elements=st.integers(-300, 300).map(lambda n: n / 16)))
def test_instructions_agree_with_numpy(name: str, X: Array) -> None:
    kernel, exact = CASES[name]
    expected = exact(distances(X, X))
    np.testing.assert_allclose(evaluate(kernel, X), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(
        Gram(kernel, X).diag(), np.diagonal(expected), rtol=1e-13, atol=1e-13
    )
    single = evaluate(kernel, X, dtype="float32")
    close = 1e-6 * np.maximum(np.abs(expected), 1)
    if name == "cos":  # the argument itself is rounded
        close = close + 2e-7 * distances(X, X)
    assert (np.abs(single - expected) <= 3 * close).all()


def test_the_diagonal_is_added_for_both_objects() -> None:
    def feature_distance(builder: Any) -> None:
        builder.leaf("dot")
        builder.affine(-2.0, 0.0)
        builder.add_diagonal(Linear())

    X = np.random.default_rng(0).normal(size=(9, 4))
    kernel = Written(feature_distance)
    np.testing.assert_allclose(kernel(X), distances(X, X), atol=1e-13)
    np.testing.assert_array_equal(kernel.diag(X), np.zeros(9))
    Z = X[:3] + 1.0
    np.testing.assert_allclose(kernel(X, Z), distances(X, Z), atol=1e-13)


def test_a_map_stands_between_the_rows_and_the_leaf() -> None:
    halves = Map(lambda X: 0.5 * X)
    square_sums = Map(lambda X: (X * X).sum(axis=1, keepdims=True))

    def write(builder: Any) -> None:
        with builder.through(halves):
            builder.leaf("dot")
            with builder.columns([1]):
                builder.leaf("dot")
            with builder.through(square_sums):
                builder.leaf("dot")
            builder.leaf("dot")
        builder.add()
        builder.add()
        builder.add()

    X = np.random.default_rng(1).normal(size=(8, 3))
    own = 0.25 * (X**2).sum(axis=1)
    expected = 0.5 * X @ X.T + 0.25 * np.outer(X[:, 1], X[:, 1]) + np.outer(own, own)
    kernel = Written(write)
    np.testing.assert_allclose(kernel(X), expected, atol=1e-13)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), atol=1e-13)
    assert len(compile_kernel(kernel).leaves) == 3  # the leaf that occurs twice is one
    inside = OnColumns(kernel, [2, 0])
    np.testing.assert_allclose(inside(X), kernel(X[:, [2, 0]]), atol=1e-13)


def test_a_map_is_applied_once_for_all_its_leaves() -> None:
    halves = Map(lambda X: 0.5 * X)

    def write(builder: Any) -> None:
        with builder.through(halves):
            builder.leaf("dot")
            builder.leaf("sqdist")
        builder.add()

    X = np.random.default_rng(1).normal(size=(8, 3))
    expected = 0.25 * (X @ X.T + distances(X, X))
    np.testing.assert_allclose(evaluate(Written(write), X), expected, atol=1e-13)
    assert halves.calls == 1


def test_a_leaf_that_occurs_twice_is_evaluated_once() -> None:
    # The sum of two kernels of one statistic is that of the two matrices, to the last bit, in
    # every tile: the copy that is kept is the statistic itself.
    X = np.random.default_rng(2).normal(size=(700, 5))
    both = Gram(RBF(0.1) + RBF(0.7), X, "float32").tile()
    one, other = (Gram(RBF(g), X, "float32").tile() for g in (0.1, 0.7))
    np.testing.assert_array_equal(both, one + other)


def test_polynomials_of_a_kernel_are_one_instruction() -> None:
    code = compile_kernel(polynomial(Linear(), [1.0] * 30)).code
    assert [i[0] for i in code] == ["leaf", "polynomial"]


@pytest.mark.parametrize(
    "code",
    [[("sqrt",)], [("leaf", 0), ("swap",)], [("leaf", 0), ("aux_add", 0)], [("leaf", 0), ("x",)]],
)
def test_malformed_programs_are_refused(code: list[tuple[Any, ...]]) -> None:
    from mercer import _native

    objects = _native.Objects64(2)
    objects.dense(np.eye(2))
    with pytest.raises(ValueError, match=r"program|aux|unknown instruction"):
        _native.Evaluator64(code, [("dot",)], 0, objects, objects)


def test_leaves_that_look_at_the_same_rows_share_them() -> None:
    # Statistics of the same columns under the same map, and one of another column between them.
    X = np.random.default_rng(3).normal(size=(300, 4))
    kernel = RBF(0.3) + Linear().on_columns([2]) + Linear() * Laplacian(0.2)
    for rows in (X, sp.csr_array(np.where(X > 0, X, 0.0))):
        parts = [k(rows) for k in (RBF(0.3), Linear(), Laplacian(0.2))]
        column = Linear()(rows[:, [2]])
        np.testing.assert_allclose(
            kernel(rows), parts[0] + column + parts[1] * parts[2], atol=1e-12
        )
        few = np.array([7, 250, 3])
        subset = Gram(kernel, rows)
        taken = subset.native[1].take(few)
        assert taken.n == 3
        np.testing.assert_array_equal(kernel(rows[few]), kernel(rows)[np.ix_(few, few)])


@pytest.mark.parametrize(
    ("instructions", "message"),
    [
        ([("leaf", "distance")], "one of 'dot', 'sqdist', 'l1', .*; got 'distance'"),
        ([("mul",)], "compile of Steps: mul takes 2 from the stack, which holds 0"),
        ([("leaf", "dot"), ("dup",)], "compile of Steps must leave one value .* leaves 2"),
        ([], "leaves 0; push a leaf"),
    ],
)
def test_a_wrong_program_is_refused_with_the_name_of_its_kernel(
    instructions: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Steps(instructions)([[0.0]], [[1.0]])


class Steps(VectorKernel):
    """A kernel of any instructions."""

    definiteness = Definiteness.UNKNOWN

    def __init__(self, instructions: Any) -> None:
        self.instructions = instructions

    def compile(self, builder: Any) -> None:
        for name, *arguments in self.instructions:
            getattr(builder, name)(*arguments)


class Transposed(VectorKernel):
    """A kernel in Python whose tiles have the wrong shape."""

    definiteness = Definiteness.UNKNOWN

    def tile(self, A: Any, B: Any) -> Any:
        return B @ A.T


@pytest.mark.parametrize(
    ("base", "form", "message"),
    [
        (SequenceKernel, None, "Unfinished defines neither native_form nor features"),
        (SequenceKernel, (), "the native form of a kernel has too few entries"),
        (SequenceKernel, ("subsequence", 0.5), "the native form of a kernel has too few entries"),
        (CoordinateKernel, None, "Unfinished defines no coordinate_function"),
    ],
)
def test_an_unfinished_kernel_says_what_it_lacks(base: Any, form: Any, message: str) -> None:
    methods = {} if form is None else {"native_form": lambda self, logarithms=False: form}
    objects: Any = ["ab", "b"] if base is SequenceKernel else [[0.0], [1.0]]
    with pytest.raises((NotImplementedError, ValueError), match=message):
        type("Unfinished", (base,), methods)()(objects)


def test_a_tile_of_the_wrong_shape_is_refused_with_both_shapes() -> None:
    with pytest.raises(ValueError, match=r"must return shape \(3, 2\) .*; got \(2, 3\)"):
        Transposed()(np.ones((3, 1)), np.ones((2, 1)))
