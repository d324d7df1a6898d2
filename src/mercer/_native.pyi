"""The native core; see cpp/bindings.cpp."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

def isa() -> str: ...
def isa_reason() -> str: ...
def available_isas() -> list[str]: ...
def set_isa(name: str, /) -> None: ...
def get_num_threads() -> int: ...
def set_num_threads(n: int, /) -> None: ...
def usable_cpus() -> int: ...
def all_finite(x: NDArray[Any]) -> bool: ...
def distinct_rows(x: NDArray[Any], limit: int) -> int: ...
def descend(
    value: NDArray[np.float64],
    column: NDArray[Any],
    start: NDArray[Any],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    slope: NDArray[np.float64],
    curvature: NDArray[np.float64],
    whole: NDArray[np.float64],
    lam: float,
    order: NDArray[np.int64],
    largest: float,
    smallest: float,
    beta: NDArray[np.float64],
    w: NDArray[np.float64],
    active: NDArray[np.uint8],
) -> tuple[float, float]: ...
def token_diagonal(
    kernel: tuple[Any, ...], token: NDArray[np.int32], start: NDArray[np.int64], n_jobs: int = 0
) -> NDArray[np.float64]: ...
def point_diagonal(
    kernel: tuple[Any, ...], value: NDArray[np.float64], start: NDArray[np.int64], n_jobs: int = 0
) -> NDArray[np.float64]: ...
def pair_decisions(
    kernel: NDArray[Any],
    ends: NDArray[np.int64],
    coef: NDArray[np.float64],
    by_column: NDArray[np.float64],
    intercept: NDArray[np.float64],
    votes: bool,
    n_jobs: int = 0,
) -> tuple[NDArray[np.float64], bool]: ...
def join_parts(
    parts: NDArray[np.float64], intercept: NDArray[np.float64], n_classes: int, votes: bool
) -> tuple[NDArray[np.float64], bool]: ...
def count_votes(values: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]: ...
def sequence_slopes(
    kernel: tuple[Any, ...],
    token_a: NDArray[np.int32],
    start_a: NDArray[np.int64],
    token_b: NDArray[np.int32],
    start_b: NDArray[np.int64],
    n_jobs: int = 0,
) -> NDArray[np.float64]: ...
def grammar_probabilities(
    kernel: tuple[Any, ...], token: NDArray[np.int32], start: NDArray[np.int64]
) -> NDArray[np.float64]: ...

class CostPath:
    def __init__(
        self,
        rows: NDArray[np.int64],
        ends: NDArray[np.int64],
        valid: NDArray[np.int64],
        equality: bool,
        steps: list[dict[str, NDArray[np.float64]]],
    ) -> None: ...

def solve_cost_paths(
    matrices: list[tuple[NDArray[np.float32], NDArray[np.float32]]],
    jobs: list[tuple[int, CostPath]],
    settings: dict[str, Any],
    gap_limit: float,
) -> tuple[list[dict[str, NDArray[Any]]], bool]: ...

cost_path_statuses: list[str]

class GramTable:
    def __init__(self, patterns: Sequence[Sequence[int]], min_depth: int, span: int) -> None: ...
    def count(
        self, token: NDArray[np.int32], start: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
    @property
    def columns(self) -> int: ...

class _Objects:
    def __init__(self, n: int) -> None: ...
    def dense(self, x: NDArray[Any], centre: NDArray[np.float64] | None = None) -> None: ...
    def compress(self, x: NDArray[Any]) -> None: ...
    def sparse(
        self,
        value: NDArray[Any],
        column: NDArray[Any],
        start: NDArray[Any],
        d: int,
        exact: bool = False,
    ) -> None: ...
    def index(self, id: NDArray[np.int64]) -> None: ...
    def tokens(
        self,
        token: NDArray[np.int32],
        start: NDArray[np.int64],
        norm: NDArray[np.float64] | None = None,
        kernel: tuple[Any, ...] | None = None,
    ) -> None: ...
    def points(
        self,
        value: NDArray[np.float64],
        start: NDArray[np.int64],
        norm: NDArray[np.float64] | None = None,
    ) -> None: ...
    def number(self) -> None: ...
    def aux(self, values: NDArray[np.float64]) -> None: ...
    def radius(self, leaf: int) -> float: ...
    def rounding(self, leaf: int) -> float: ...
    def partial_sums(self, leaf: int) -> float: ...
    def columns(self, leaf: int) -> int: ...
    def is_sparse(self, leaf: int) -> bool: ...
    @property
    def n(self) -> int: ...

class Objects32(_Objects):
    def share(self, other: Objects32, leaf: int) -> None: ...
    def take(self, index: NDArray[np.int64], /) -> Objects32: ...

class Objects64(_Objects):
    def share(self, other: Objects64, leaf: int) -> None: ...
    def take(self, index: NDArray[np.int64], /) -> Objects64: ...

class _Statistics:
    def __init__(self, n: int, bytes: float) -> None: ...
    @property
    def rows(self) -> int: ...

class Statistics32(_Statistics): ...
class Statistics64(_Statistics): ...

class _Rows:
    def __init__(self, kernel: Any, objects: Any) -> None: ...
    @property
    def rows(self) -> int: ...

class Rows32(_Rows): ...
class Rows64(_Rows): ...

class _Multiplier:
    @property
    def linear(self) -> bool: ...

class Multiplier32(_Multiplier): ...
class Multiplier64(_Multiplier): ...

class _Evaluator:
    def on(self, rows: Any) -> Self: ...
    def product(
        self,
        segments: Sequence[tuple[int, NDArray[np.float64]]],
        n_jobs: int = 0,
    ) -> NDArray[np.float64]: ...
    @property
    def linear(self) -> bool: ...
    def multiplier(
        self,
        segments: Sequence[tuple[int, NDArray[np.float64]]],
        n_jobs: int = 0,
        exact: bool = False,
    ) -> Any: ...
    def multiply(self, multiplier: Any, n_jobs: int = 0) -> NDArray[np.float64]: ...
    def diag(self, n_jobs: int = 0) -> NDArray[np.float64]: ...
    def solve(
        self,
        objects: Any,
        problems: Sequence[dict[str, Any]],
        settings: dict[str, Any],
        callback: Callable[..., Any] | None = None,
        rows: Any = None,
    ) -> list[dict[str, Any]]: ...

class Evaluator32(_Evaluator):
    def __init__(
        self,
        code: Sequence[tuple[Any, ...]],
        sources: Sequence[tuple[Any, ...]],
        n_aux: int,
        a: Objects32,
        b: Objects32,
    ) -> None: ...
    def tile(
        self, rows: NDArray[np.int64] | None = None, n_jobs: int = 0
    ) -> NDArray[np.float32]: ...

class Evaluator64(_Evaluator):
    def __init__(
        self,
        code: Sequence[tuple[Any, ...]],
        sources: Sequence[tuple[Any, ...]],
        n_aux: int,
        a: Objects64,
        b: Objects64,
    ) -> None: ...
    def tile(
        self, rows: NDArray[np.int64] | None = None, n_jobs: int = 0
    ) -> NDArray[np.float64]: ...
    def split(
        self, high: NDArray[np.float32], low: NDArray[np.float32], n_jobs: int = 0
    ) -> None: ...
    def solve_class_pairs(
        self,
        objects: Any,
        problems: dict[str, Any],
        settings: dict[str, Any],
        callback: Callable[..., Any] | None = None,
    ) -> dict[str, Any] | None: ...

def hidden_markov_gradients(
    symbols: NDArray[np.int32],
    start: NDArray[np.int64],
    initial: NDArray[np.float64],
    transition: NDArray[np.float64],
    emission: NDArray[np.float64],
    n_jobs: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def hidden_markov_passes(
    symbols: NDArray[np.int32],
    initial: NDArray[np.float64],
    transition: NDArray[np.float64],
    emission: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
