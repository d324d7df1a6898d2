"""Convolution kernels: objects compared part by part."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np

from mercer.gram.mapped_objects import Views, views_of
from mercer.gram.program import Builder
from mercer.objects.parameters import truth
from mercer.objects.validation import Objects, as_objects, stored_alike, take
from mercer.objects.vocabulary import Vocabulary

from ..base import Kernel
from ..definiteness import PSD, UNKNOWN, Definiteness
from .operands import nested, require_kernel
from .parts import OBJECTS, Parts, TakenApart, hashable, summed

_PARTS = 1 << 9  # parts a side that are compared at a time, unless one object has more
_PAIRS = 1 << 18  # pairs of parts that are compared at a time, where one side has few
_FEW_PARTS = (
    1 << 6
)  # parts that are compared at a time for k(x, x), where most pairs are not needed


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
    ``average=True`` or ``normalize`` where objects have different numbers of parts. Avoid it with
    parts so large that only an object itself has them: the matrix becomes diagonal.

    The function is called once for each object, when a machine is fitted and when it predicts. With
    identities only, the parts are counted and compared natively. Other kernels prepare all parts
    once and are evaluated natively on blocks of them, those of many objects at a time.

    The kernels of a sequence have their parameters under ``kernel__0__name``, ``kernel__1__name``
    and so on, in `get_params`, `set_params` and `gradient`.

    Examples
    --------
    >>> from mercer.kernels import RBF, Convolution
    >>> Convolution(list)(["statistics"], ["computation"])  # letters in common
    array([[10.]])
    >>> steps = Convolution(lambda x: [[b - a] for a, b in zip(x, x[1:])], RBF(gamma=1.0))
    >>> steps([[1, 2, 4]], [[5, 7], [3]]).round(6)
    array([[1.367879, 0.      ]])
    """

    parts: Callable[[Any], Any]
    kernel: Kernel | Sequence[Kernel | None] | None = None
    average: bool = False

    _objects: ClassVar[Objects] = OBJECTS

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

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        if self.is_bound:
            return self.replace()
        taken = views.images(self._map)
        if weight is not None:
            weight = np.repeat(np.asarray(weight, dtype=np.float64), taken.numbers)
        weight = taken.weight if weight is None else weight * taken.weight
        bound = tuple(
            k if k is None or k.is_bound else k.bind(component, weight)
            for k, component in zip(self._components, taken.components, strict=True)
        )
        return self.replace(kernel=bound if isinstance(self.kernel, Sequence) else bound[0])

    def validate(self, X: Any, against: Any = None) -> Any:
        """Return `X` as a collection of objects; `parts` knows which."""
        return as_objects(X, type(self).__name__)

    def compile(self, builder: Builder) -> None:
        """Push the dot product of counted parts, or the kernel itself, over objects taken apart."""
        self.require_bound("on pairs of objects")
        with builder.through(self._map):
            if any(k is not None for k in self._components):
                builder.python(self)
            else:
                builder.mapped(self, "dot")

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        taken = self._taken_apart(X)
        pairs = zip(zip(*taken.components, strict=True), taken.weight.tolist(), strict=True)
        bags = []
        for number in taken.numbers.tolist():
            bag: dict[Hashable, float] = {}
            for part, weight in islice(pairs, number):
                key = tuple(hashable(component) for component in part)
                bag[key] = bag.get(key, 0.0) + weight
            bags.append(bag)
        return vocabulary.counts(bags)

    def tile(self, A: Any, B: Any) -> np.ndarray:
        left = self._taken_apart(A)
        right = left if B is A else self._taken_apart(B)
        values = np.zeros((len(left), len(right)))
        for rows, columns, factors in self._blocks(left, right):
            values[np.ix_(rows, columns)] = summed(
                _product(factors), left.numbers[rows], right.numbers[columns]
            )
        return values

    def tile_diagonal(self, A: Any) -> np.ndarray:
        taken = self._taken_apart(A)
        values = np.zeros(len(taken))
        for some in taken.chunks(_FEW_PARTS):
            values[some] = np.diagonal(self.tile(taken[some], taken[some]))
        return values

    def _blocks(self, left: Parts, right: Parts) -> Iterator[tuple[Any, Any, list[Any]]]:
        """Yield positions of objects, with the weights (None: all 1) and values of all parts."""
        if not (len(left.whole.weight) and len(right.whole.weight)):
            return
        kernels = [left.compared(k, d, right) for d, k in enumerate(self._components)]
        unweighted = bool((left.whole.weight == 1).all() and (right.whole.weight == 1).all())
        for rows in left.chunks(_PARTS):
            x = left.places(rows)
            u = left.whole.weight[x]
            for columns in right.chunks(max(_PARTS, _PAIRS // len(u))):
                z = right.places(columns)
                v = right.whole.weight[z]
                weights = None if unweighted else np.outer(u, v)
                yield rows, columns, [weights, *(kernel(x, z) for kernel in kernels)]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        left = self._taken_apart(X)
        right = left if X is Z else self._taken_apart(Z)
        slopes: dict[str, np.ndarray] = {}
        for d, kernel in enumerate(self._components):
            if kernel is not None:
                slopes |= self._slopes(kernel, d, left, right)
        return slopes

    def _slopes(self, kernel: Kernel, d: int, left: Parts, right: Parts) -> dict[str, np.ndarray]:
        """Return the derivatives by the parameters of one component's kernel."""
        prefix = f"kernel__{d}" if isinstance(self.kernel, Sequence) else "kernel"
        shape = len(left), len(right)
        if not (len(left.weight) and len(right.weight)):
            # All are 0; any part, if there is one, tells their names.
            parts = left if len(left.weight) else right
            if not len(parts.weight):
                return {}
            one = kernel.validate(take(parts.components[d], slice(1)))
            names = kernel._gradient(one, one).items()
            return nested(prefix, {n: np.zeros((*v.shape[:-2], *shape)) for n, v in names})
        b = kernel.validate(right.whole.components[d])
        a, b = stored_alike(kernel.validate(left.whole.components[d], b), b)
        slopes: dict[str, np.ndarray] = {}
        for rows, columns, factors in self._blocks(left, right):
            others = _product(factors[: d + 1] + factors[d + 2 :])
            x, z = left.places(rows), right.places(columns)
            for name, values in kernel._gradient(take(a, x), take(b, z)).items():
                whole = slopes.setdefault(name, np.zeros((*values.shape[:-2], *shape)))
                whole[..., rows[:, None], columns] = summed(
                    others * values, left.numbers[rows], right.numbers[columns]
                )
        return nested(prefix, slopes)

    def _taken_apart(self, X: Any) -> Parts:
        """Return the decompositions of objects, which may have been taken apart already."""
        if isinstance(X, Parts):
            return X

        return views_of(X).images(self._map)

    @property
    def _map(self) -> TakenApart:
        """The function as a map; it does not depend on the kernels on the parts."""
        n = len(self.kernel) if isinstance(self.kernel, Sequence) else None
        return TakenApart(self.parts, n, bool(self.average))

    @property
    def _components(self) -> Sequence[Kernel | None]:
        return self.kernel if isinstance(self.kernel, Sequence) else (self.kernel,)

    def inner_kernels(self) -> list[Kernel]:
        return []  # the kernels on parts do not take the same objects


def _product(factors: list[np.ndarray | None]) -> Any:
    """Return the product of arrays, None standing for ones; of nothing else it is 1."""
    given = [factor for factor in factors if factor is not None]
    return reduce(np.multiply, given) if given else 1.0
