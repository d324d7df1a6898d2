"""Convolution kernels: objects compared part by part."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from ..algebra.operands import require_kernel
from ..base import Kernel
from ..definiteness import PSD, UNKNOWN, Definiteness
from ..objects import Objects, as_objects, count, stored_alike, take
from ..parameters import truth
from .hashables import is_hashable

if TYPE_CHECKING:
    from mercer.gram.program import Builder

    from ..vocabulary import Vocabulary

_PARTS = 1 << 10  # parts a side that are compared at a time, unless one object has more


class Convolution(Kernel):
    r"""The sum, over all ways to take two objects apart, of a kernel of their parts.

    .. math:: k(x, z) = \sum_{(x_1, \dots, x_D) \in R(x)} \sum_{(z_1, \dots, z_D) \in R(z)}
        \prod_{d=1}^D k_d(x_d, z_d)

    R(x) are the decompositions of x, which a function lists (D. Haussler's R-convolution, 1999).
    With the identity (1 for equal parts, else 0) it counts common parts: with all substrings of
    length p as parts it is the spectrum kernel. Positive semidefinite if the kernels on the parts
    are: each product is one, and the sum applies it to the sum of the features of all
    decompositions. An object without parts has the value 0 with every other.

    Parameters
    ----------
    parts : callable
        ``parts(x)`` lists the decompositions of one object: the parts themselves, if there is one
        kernel, or tuples of D parts. The rows of an array are parts too. A mapping gives every
        decomposition a weight, such as a Counter its number.
    kernel : Kernel, None or sequence of these, default=None
        The kernel on the parts; None is the identity, for which parts must be hashable. A
        sequence has one for each component of a decomposition.
    average : bool, default=False
        Whether to divide by the weights of the decompositions of x and of z, which makes the sum
        a mean.

    Notes
    -----
    Use it for objects that fall into parts: molecules into paths, trees into branches, scenes into
    pieces, sentences into pairs of words. You write the function that lists the parts; with the
    identity on parts a value costs their common ones, with another kernel all pairs of parts. Take
    ``average=True`` or ``normalize`` where objects have different numbers of parts. Not with parts
    so large that only an object itself has them: the matrix becomes diagonal.

    With identities only, the parts are counted once for each object and compared natively. Other
    kernels are evaluated on all pairs of parts, in blocks.

    Examples
    --------
    >>> from mercer.kernels import RBF, Convolution
    >>> Convolution(list)(["statistics"], ["computation"])  # letters in common
    array([[10.]])
    >>> steps = Convolution(lambda x: [[b - a] for a, b in zip(x, x[1:])], RBF(gamma=1.0))
    >>> steps([[1, 2, 4]], [[5, 7], [3]]).round(6)
    array([[1.367879, 0.      ]])
    """

    _objects: ClassVar[Objects] = Objects("any objects that its function takes apart")

    def __init__(
        self,
        parts: Callable[[Any], Any],
        kernel: Kernel | Sequence[Kernel | None] | None = None,
        average: bool = False,
    ) -> None:
        self.parts = parts
        self.kernel = kernel
        self.average = average
        self._check()

    def _check(self) -> None:
        if not callable(self.parts):
            raise TypeError(
                f"parts must be a function that lists the parts of one object; got {self.parts!r}."
            )
        truth(self.average, "average")
        if isinstance(self.kernel, Sequence) and not self.kernel:
            raise ValueError("kernel must be one kernel, or one for each component; got none.")
        for kernel in self._components:
            if kernel is not None:
                require_kernel(kernel, "kernel", "Convolution")
                if kernel.pairwise:
                    raise ValueError("a precomputed matrix is no kernel on parts.")

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite if the kernels on the parts are."""
        known = all(k is None or k.definiteness.is_psd for k in self._components)
        return PSD if known else UNKNOWN

    @property
    def is_bound(self) -> bool:
        """Whether the kernels on the parts are bound."""
        return all(k is None or k.is_bound for k in self._components)

    def _bound(self, X: Any, weight: np.ndarray | None, names: Any) -> Self:
        self._check()
        if self.is_bound:
            return self._with()
        taken = self._taken_apart(X)
        if weight is not None:
            weight = np.repeat(np.asarray(weight, dtype=np.float64), np.diff(taken.start))
        weight = taken.weight if weight is None else weight * taken.weight
        bound = tuple(
            k if k is None or k.is_bound else k.bind(component, weight)
            for k, component in zip(self._components, taken.components, strict=True)
        )
        return self._with(kernel=bound if isinstance(self.kernel, Sequence) else bound[0])

    def validate(self, X: Any, against: Any = None) -> Any:
        """Return `X` as a collection of objects; `parts` knows which."""
        return as_objects(X, type(self).__name__)

    def compile(self, builder: Builder) -> None:
        """Push the dot product of counted parts, or the kernel itself."""
        self._require_bound("on pairs of objects")
        if any(k is not None for k in self._components):
            builder.python(self)
        else:
            builder.mapped(self, "dot")

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the weights of the parts of each object; see :meth:`Kernel.map_objects`."""
        taken = self._taken_apart(X)
        parts = list(zip(*taken.components, strict=True))
        bags = []
        for first, last in pairwise(taken.start):
            bag: dict[Hashable, float] = {}
            for part, weight in zip(parts[first:last], taken.weight[first:last], strict=True):
                key = tuple(_hashable(component) for component in part)
                bag[key] = bag.get(key, 0.0) + float(weight)
            bags.append(bag)
        return vocabulary.counts(bags)

    def tile(self, A: Any, B: Any) -> np.ndarray:
        """Return the sums over pairs of decompositions; see :meth:`Kernel.tile`."""
        left = self._taken_apart(A)
        right = left if B is A else self._taken_apart(B)
        values = np.zeros((left.n, right.n))
        if not (len(left.weight) and len(right.weight)):
            return values
        kernels = [
            _PartKernel(k, a, b)
            for k, a, b in zip(self._components, left.components, right.components, strict=True)
        ]
        for columns in right.chunks():
            z = right.of(columns)
            against = [kernel.against(z) for kernel in kernels]
            for rows in left.chunks():
                x = left.of(rows)
                product = np.outer(left.weight[x], right.weight[z])
                for tile in against:
                    product *= tile(x)
                values[np.ix_(rows, columns)] = _summed(
                    product, left.start[rows] - x.start, right.start[columns] - z.start
                )
        return values

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        kernel = self.kernel
        if not isinstance(kernel, Kernel):
            return {}
        left = self._taken_apart(X)
        right = left if X is Z else self._taken_apart(Z)
        if not (len(left.weight) and len(right.weight)):
            return self._no_slopes(left, right)
        b = kernel.validate(right.components[0])
        a, b = stored_alike(kernel.validate(left.components[0], b), b)
        slopes: dict[str, np.ndarray] = {}
        for columns in right.chunks():
            z = right.of(columns)
            for rows in left.chunks():
                x = left.of(rows)
                weight = np.outer(left.weight[x], right.weight[z])
                for name, values in kernel._gradient(take(a, x), take(b, z)).items():
                    shape = (*values.shape[:-2], left.n, right.n)
                    whole = slopes.setdefault(f"kernel__{name}", np.zeros(shape))
                    whole[..., rows[:, None], columns] = _summed(
                        weight * values, left.start[rows] - x.start, right.start[columns] - z.start
                    )
        return slopes

    def _no_slopes(self, left: _Taken, right: _Taken) -> dict[str, np.ndarray]:
        """Return zeros for the parameters, whose names any part tells, if there is one."""
        parts = left if len(left.weight) else right
        kernel: Any = self.kernel
        if not len(parts.weight):
            return {}
        one = kernel.validate(take(parts.components[0], slice(1)))
        return {
            f"kernel__{name}": np.zeros((*values.shape[:-2], left.n, right.n))
            for name, values in kernel._gradient(one, one).items()
        }

    def _taken_apart(self, X: Any) -> _Taken:
        """Return the decompositions of all objects, one after the other."""
        found = [self._decompositions(X[i], i) for i in range(count(X))]
        start = np.cumsum([0] + [len(weight) for _, weight in found])
        weight = np.concatenate([weight for _, weight in found])
        if not isinstance(self.kernel, Sequence):
            return _Taken([_joined([parts for parts, _ in found])], weight, start)
        components = zip(*(part for parts, _ in found for part in parts), strict=True)
        empty: list[list[Any]] = [[] for _ in self.kernel]
        return _Taken([list(component) for component in components] or empty, weight, start)

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
        if isinstance(self.kernel, Sequence):
            n = len(self.kernel)
            if not all(isinstance(part, tuple | list) and len(part) == n for part in parts):
                raise ValueError(
                    f"the decompositions of object {i} must be tuples of {n} parts, one for each "
                    "kernel."
                )
        total = weight.sum()
        return parts, weight / total if self.average and total else weight

    @property
    def _components(self) -> Sequence[Kernel | None]:
        return self.kernel if isinstance(self.kernel, Sequence) else (self.kernel,)

    def _parts(self) -> list[Kernel]:
        return []  # the kernels on parts do not take the same objects


class _Taken(NamedTuple):
    """Decompositions of several objects: those of object i are start[i] to start[i + 1]."""

    components: list[Any]
    weight: np.ndarray
    start: np.ndarray

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.start) - 1

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield objects that have parts, some at a time."""
        chunk: list[int] = []
        parts = 0
        for i, number in enumerate(np.diff(self.start)):
            if chunk and parts + number > _PARTS:
                yield np.array(chunk)
                chunk, parts = [], 0
            if number:
                chunk.append(i)
                parts += number
        if chunk:
            yield np.array(chunk)

    def of(self, chunk: np.ndarray) -> slice:
        """Return where the parts of a chunk are; between them lie none of other objects."""
        return slice(int(self.start[chunk[0]]), int(self.start[chunk[-1] + 1]))


class _PartKernel:
    """One component's kernel on the parts of two sets of objects."""

    def __init__(self, kernel: Kernel | None, left: Any, right: Any) -> None:
        self._kernel = kernel
        if kernel is None:
            codes: dict[Hashable, int] = {}
            left, right = (
                np.array([codes.setdefault(_hashable(part), len(codes)) for part in parts])
                for parts in (left, right)
            )
        else:
            right = kernel.validate(right)
            left, right = stored_alike(kernel.validate(left, right), right)
        self._left, self._right = left, right

    def against(self, z: slice) -> Callable[[slice], np.ndarray]:
        """Return the function that compares left parts with the right ones at `z`."""
        if self._kernel is None:
            return lambda x: self._left[x, None] == self._right[z]
        from mercer.gram import Prepared

        prepared = Prepared(self._kernel, take(self._right, z))
        return lambda x: prepared.tile(take(self._left, x))


def _summed(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the sums of blocks, which begin at `rows` and `columns`.

    In both orders, of which the mean is taken, so that k(x, z) and k(z, x) have the same bits.
    """
    along = np.add.reduceat(np.add.reduceat(values, columns, axis=-1), rows, axis=-2)
    across = np.add.reduceat(np.add.reduceat(values, rows, axis=-2), columns, axis=-1)
    return 0.5 * (along + across)


def _joined(parts: list[Any]) -> Any:
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


def _hashable(part: Any) -> Hashable:
    if not is_hashable(part):
        raise TypeError(
            f"the part {part!r} is not hashable, so equal parts cannot be found; return str, "
            "numbers or tuples, or give a kernel on the parts."
        )
    return part
