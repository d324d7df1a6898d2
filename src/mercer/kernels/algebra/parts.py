"""Objects taken apart: the decompositions of all objects one after the other, made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram import Prepared
from mercer.objects.hashables import is_hashable
from mercer.objects.validation import Objects, count, stored_alike, take

from ..base import Kernel

Blocks = Callable[[Any, Any], np.ndarray]
OBJECTS = Objects("any objects that its function takes apart")


@dataclass(frozen=True)
class TakenApart:
    """The function that takes objects apart, as the map of a program."""

    parts: Callable[[Any], Any]  # lists the decompositions of one object
    # the number of parts in a decomposition, which then is a tuple; None: one part, itself
    components: int | None
    average: bool  # whether the weights of an object's decompositions are made to add up to 1
    takes = OBJECTS

    def __call__(self, X: Any) -> Parts:
        """Return the decompositions of all objects; the function is called once for each."""
        found = [self._decompositions(X[i], i) for i in range(count(X))]
        start = np.cumsum([0] + [len(weight) for _, weight in found])
        weight = np.concatenate([weight for _, weight in found])
        if self.components is None:
            lists = [_joined([parts for parts, _ in found])]
        else:
            tuples = [part for parts, _ in found for part in parts]
            lists = [[part[d] for part in tuples] for d in range(self.components)]
        return Parts(_Whole(lists, weight, start), np.arange(len(found)))

    def _decompositions(self, x: Any, i: int) -> tuple[Any, np.ndarray]:
        """Return the decompositions of one object and their weights."""
        try:
            parts = self.parts(x)
        except Exception as error:
            error.add_note(f"This happened while Convolution took object {i} apart: {x!r:.80}.")
            raise
        if isinstance(parts, Mapping):
            weight = np.array(list(parts.values()), dtype=np.float64)
            parts = list(parts)
        else:
            if not isinstance(parts, np.ndarray):
                parts = _listed(parts, i)
            weight = np.ones(len(parts))
        if not np.isfinite(weight).all():
            raise ValueError(f"the decompositions of object {i} have a weight that is not finite.")
        n = self.components
        if n is not None and not all(isinstance(p, tuple | list) and len(p) == n for p in parts):
            raise ValueError(
                f"the decompositions of object {i} must be tuples of {n} parts, one for each "
                "kernel."
            )
        total = weight.sum()
        return parts, weight / total if self.average and total else weight


@dataclass
class _Whole:
    """The decompositions of a set of objects: those of object i are start[i] to start[i + 1]."""

    components: list[Any]  # the parts of all decompositions, one collection for each component
    weight: np.ndarray  # the weights of the decompositions
    start: np.ndarray  # where the objects begin
    # for kernels on components, by component and whether rows are compressed: what they make of the
    # parts, as reference objects
    prepared: list[tuple[Kernel, int, bool, Prepared]] = field(default_factory=list)
    # for kernels on components and other sets, which stay: the blocks of values
    compared: list[tuple[Kernel | None, int, _Whole, Blocks]] = field(default_factory=list)
    # for components that are compared by identity: the numbers of their parts
    codes: dict[int, dict[Hashable, int]] = field(default_factory=dict)


class Parts:
    """The decompositions of some objects of a set that was taken apart as a whole."""

    def __init__(self, whole: _Whole, index: np.ndarray) -> None:
        self.whole = whole
        self.index = index

    @property
    def shape(self) -> tuple[int]:
        """The number of objects, as arrays tell theirs."""
        return (len(self.index),)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, index: Any) -> Parts:
        """Return some of the objects, at a slice or an array of indices."""
        return Parts(self.whole, self.index[index])

    @property
    def components(self) -> list[Any]:
        """The parts of these objects, one collection for each component."""
        at = self.places(np.arange(len(self)))
        return [take(component, at) for component in self.whole.components]

    @property
    def weight(self) -> np.ndarray:
        """The weights of the decompositions of these objects."""
        return self.whole.weight[self.places(np.arange(len(self)))]

    @property
    def numbers(self) -> np.ndarray:
        """How many decompositions each object has."""
        start = self.whole.start
        return start[self.index + 1] - start[self.index]

    def places(self, objects: np.ndarray) -> Any:
        """Return the positions of the decompositions of some objects: a slice, or indices."""
        start = self.whole.start
        first, last = start[self.index[objects]], start[self.index[objects] + 1]
        if len(objects) == 0:
            return slice(0, 0)
        if np.array_equal(first[1:], last[:-1]):
            return slice(int(first[0]), int(last[-1]))
        return np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])

    def chunks(self, most: int) -> Iterator[np.ndarray]:
        """Yield positions of objects with up to `most` decompositions, or one larger object."""
        chunk: list[int] = []
        total = 0
        for i, number in enumerate(self.numbers.tolist()):
            if chunk and total + number > most:
                yield np.array(chunk)
                chunk, total = [], 0
            if number:
                chunk.append(i)
                total += number
        if chunk:
            yield np.array(chunk)

    def compared(self, kernel: Kernel | None, d: int, stay: Parts) -> Blocks:
        """Return the function that compares component `d` of these parts with that of others.

        It takes places of these parts and of the others and returns the matrix of values. All parts
        of both sets are prepared once for all blocks. `kernel` None: 1 for equal parts, else 0.
        """
        known = self.whole.compared
        for other_kernel, other_d, other, blocks in known:
            if other is stay.whole and other_d == d and other_kernel == kernel:
                return blocks
        make = _equal_parts if kernel is None else _kernel_values
        blocks = make(kernel, d, self.whole, stay.whole)  # type: ignore[arg-type]
        known.append((kernel, d, stay.whole, blocks))
        return blocks


def _equal_parts(_: None, d: int, left: _Whole, right: _Whole) -> Blocks:
    """Return the function that says which parts are equal."""
    if d not in right.codes:
        right.codes[d] = {}
        for part in right.components[d]:
            right.codes[d].setdefault(hashable(part), len(right.codes[d]))
    codes = right.codes[d]
    numbers = [
        np.array([codes.get(hashable(part), -1) for part in whole.components[d]], dtype=np.intp)
        for whole in (left, right)
    ]
    return lambda x, z: (numbers[0][x, None] == numbers[1][z]).astype(np.float64)


def _kernel_values(kernel: Kernel, d: int, left: _Whole, right: _Whole) -> Blocks:
    """Return the function that evaluates a kernel on blocks of parts."""
    b = kernel.validate(right.components[d])
    a, b = (b, b) if left is right else stored_alike(kernel.validate(left.components[d], b), b)
    prepared = _prepared(kernel, d, right, b)
    return (prepared.pairs() if left is right else prepared.pairs(a)).tile


def _prepared(kernel: Kernel, d: int, whole: _Whole, parts: Any) -> Prepared:
    """Return validated parts of a component as reference objects, prepared once."""
    compressed = sp.issparse(parts)
    for known in whole.prepared:
        if known[1:3] == (d, compressed) and known[0] == kernel:
            return known[3]
    prepared = Prepared(kernel, parts)
    whole.prepared.append((kernel, d, compressed, prepared))
    return prepared


def summed(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return sums of blocks in both orders, averaged, so that k(x, z) and k(z, x) are equal."""
    i, j = np.cumsum(rows) - rows, np.cumsum(columns) - columns
    along = np.add.reduceat(np.add.reduceat(values, j, axis=-1), i, axis=-2)
    across = np.add.reduceat(np.add.reduceat(values, i, axis=-2), j, axis=-1)
    return 0.5 * (along + across)


def hashable(part: Any) -> Hashable:
    """Return a part that can be looked up, or refuse it."""
    if not is_hashable(part):
        raise TypeError(
            f"the part {part!r} is not hashable, so equal parts cannot be found; return str, "
            "numbers or tuples, or give a kernel on the parts."
        )
    return part


def _joined(parts: Sequence[Any]) -> Any:
    """Return the parts of all objects in one array, if they are arrays of rows, or in one list."""
    if all(isinstance(p, np.ndarray) and p.ndim == 2 for p in parts):
        return np.concatenate(parts)
    return [part for each in parts for part in each]


def _listed(parts: Any, i: int) -> list[Any]:
    try:
        return list(parts)
    except TypeError:
        raise TypeError(
            f"parts must return a list of parts; for object {i} it returned {parts!r}."
        ) from None
