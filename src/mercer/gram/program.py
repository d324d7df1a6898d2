"""A kernel as a postfix program over pair statistics: what the native core evaluates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from mercer.numerics.profile_table import Table
from mercer.objects.parameters import require_choice
from mercer.objects.validation import Objects

if TYPE_CHECKING:
    from .coordinate_statistics import Coordinates
    from .interface import Kernel

Columns = tuple[int, ...] | None

_STATISTICS = ("dot", "sqdist", "l1", "minimum", "harmonic", "chi")

# How many values an instruction takes from the stack and leaves on it; all others: one, one.
_OPERANDS = {"leaf": (0, 1), "const": (0, 1), "dup": (1, 2), "swap": (2, 2)}
_OPERANDS |= {"add": (2, 1), "mul": (2, 1)}


class Mapping(Protocol):
    """A map of objects to vectors, or to what else a leaf looks at; see `Builder.through`."""

    @property
    def takes(self) -> Objects:
        """The objects it is defined on."""

    def __call__(self, X: Any) -> Any:
        """Return images, of which number i depends on object i only."""


@dataclass(frozen=True)
class Composed:
    """A map followed by a choice of columns or by another map."""

    first: Mapping  # what is applied to the objects first
    # what is applied to its result, or which of its columns are taken
    then: Mapping | tuple[int, ...]

    @property
    def takes(self) -> Objects:
        """The objects that the first map is defined on."""
        return self.first.takes

    def __call__(self, X: Any) -> Any:
        """Return the images of the objects `X`."""
        return self.follow(self.first(X))

    def follow(self, Y: Any) -> Any:
        """Return the second map, or choice of columns, applied to the images `Y` of the first."""
        return Y[:, list(self.then)] if isinstance(self.then, tuple) else self.then(Y)


@dataclass(frozen=True)
class Leaf:
    """A source of values for a pair of objects."""

    # a pair statistic of two rows ("dot", "sqdist", "l1", "minimum", "harmonic", "chi", or
    # "coordinates"), an entry of a given "matrix", a kernel written in "python", or a native
    # evaluator of pairs of sequences, "sequence"
    kind: str
    columns: Columns = None  # the columns of the rows it looks at; None: all
    # the Python kernel, or that of the sequences; with a pair statistic, the kernel that maps
    # objects to the rows
    kernel: Kernel | None = None
    # a map that is applied to the (chosen columns of the) objects, all at once; the leaf looks at
    # the images
    mapping: Mapping | None = None
    coordinates: Coordinates | None = None  # the function of single coordinates
    combination: str = ""  # how they are combined: "product", "maximum" or "anova"
    order: int = 0  # the order of ANOVA
    # whether values of sequences are divided by the norms, before they leave their logarithms
    normalized: bool = False

    @property
    def mapped(self) -> bool:
        """Whether the rows are features that a kernel makes of the objects."""
        return self.kernel is not None and self.kind not in ("python", "sequence")


@dataclass(frozen=True)
class Scalars:
    """A number u(x) for every object."""

    kind: str  # {"scale", "diagonal", "sign"}: 1 / sqrt(k(x, x)), k(x, x), or a given sign
    kernel: Kernel  # the kernel k
    columns: Columns = None  # the columns of the rows it looks at; None: all
    mapping: Mapping | None = None  # a map that is applied to them


@dataclass
class Program:
    """Postfix code over leaves, with one number per object and normalised or centred part.

    Attributes
    ----------
    code : list of tuple
        Instructions in the order in which they run.
    leaves : list of Leaf
        What ``("leaf", k)`` pushes.
    scalars : list of Scalars
        What ``("aux", k)`` multiplies by, u(a) u(b), and ``("aux_add", k)`` adds, u(a) + u(b).
    widths : dict
        For a squared-distance or l1 leaf the largest factor g of an exponential exp(-g x).

    Examples
    --------
    >>> from mercer.gram import compile_kernel
    >>> from mercer.kernels import RBF
    >>> program = compile_kernel(2.0 * RBF(0.5))
    >>> len(program.leaves), [instruction[0] for instruction in program.code]
    (1, ['leaf', 'exp', 'affine'])
    """

    code: list[tuple[Any, ...]] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    scalars: list[Scalars] = field(default_factory=list)
    widths: dict[int, float] = field(default_factory=dict)

    @property
    def bounded(self) -> bool:
        """Whether every leaf enters through a decaying exponential of a distance."""
        return all(
            leaf.kind in ("sqdist", "l1") and k in self.widths for k, leaf in enumerate(self.leaves)
        )


class Scope:
    """The columns of the objects, or their images, that a part of a program looks at."""

    def __init__(self, columns: Columns = None, mapping: Mapping | None = None) -> None:
        self._columns = columns
        self._mapping = mapping

    def look_at(self, columns: Columns, mapping: Mapping | None) -> None:
        """Let all leaves look at some columns of the objects, or at their images under a map."""
        self._columns, self._mapping = columns, mapping

    @contextmanager
    def columns(self, index: Sequence[int]) -> Iterator[None]:
        """Restrict the leaves inside to some columns, within those already chosen."""
        chosen = tuple(int(c) for c in index)
        columns, mapping = self._columns, self._mapping
        if mapping is not None:
            self._mapping = Composed(mapping, chosen)
        else:
            self._columns = chosen if columns is None else tuple(columns[c] for c in chosen)
        try:
            yield
        finally:
            self._columns, self._mapping = columns, mapping

    @contextmanager
    def through(self, mapping: Mapping) -> Iterator[None]:
        """Let the leaves inside look at the images of the objects under a map.

        This is for a kernel over the images, whatever its program. A kernel whose features get
        their columns from the data, such as the substrings that occur, uses `mapped`.

        The map takes all objects at once and returns a finite float array or CSR matrix with one
        row for each; row i may depend on object i only. For `python` and `mapped` leaves it may
        return any collection that has a shape and takes indices. It is called once for each set of
        objects. Two leaves are one where their maps are equal.
        """
        outer = self._mapping
        self._mapping = mapping if outer is None else Composed(outer, mapping)
        try:
            yield
        finally:
            self._mapping = outer


class Builder(Scope):
    """Collects the program of a kernel; the methods are the instructions.

    Examples
    --------
    >>> from mercer.gram import Builder
    >>> from mercer.kernels import RBF
    >>> builder = Builder()
    >>> RBF(0.5).compile(builder)
    >>> builder.program.code
    [('leaf', 0), ('exp', -0.5, 0.0)]
    """

    def __init__(self) -> None:
        super().__init__()
        self.program = Program()

    def leaf(self, statistic: str) -> None:
        """Push a pair statistic of the two rows x and z.

        "dot", "sqdist" (squared distance) or "l1" (sum of absolute differences); for rows without
        negative entries also "minimum" (sum of the minima), "harmonic" (sum of x_i z_i / (x_i +
        z_i)) and "chi" (sum of (x_i - z_i)^2 / (x_i + z_i)), 0 / 0 being 0.
        """
        self._push_statistic(statistic, None)

    def coordinates(
        self, function: Coordinates, combination: str = "product", order: int = 0
    ) -> None:
        """Push a statistic put together from a function of single coordinates.

        `function`: see `mercer.gram.coordinate_statistics`. `combination`: the "product" or the
        "maximum" over all columns, or "anova", the sum of all products over `order` different
        columns; order 1 is the sum over all columns.
        """
        self._push(
            Leaf("coordinates", self._columns, None, self._mapping, function, combination, order)
        )

    def mapped(self, kernel: Kernel, statistic: str) -> None:
        """Push a pair statistic of the features that `kernel.map_objects` makes of the objects.

        This is for features whose columns are taken from the reference objects, by way of a
        vocabulary; a map with fixed columns goes `through`. Features without a column drop out of a
        dot product, which stays exact; a distance needs all of them, so its map must not depend
        on the vocabulary.
        """
        self._push_statistic(statistic, kernel)

    def sequence(self, kernel: Kernel) -> None:
        """Push the values of a native evaluator of pairs of sequences."""
        self._push(Leaf("sequence", self._columns, kernel, self._mapping))

    def matrix(self) -> None:
        """Push the entry of a precomputed matrix."""
        self._push(Leaf("matrix"))

    def python(self, kernel: Kernel) -> None:
        """Push the values of a kernel that is written in Python."""
        self._push(Leaf("python", self._columns, kernel, self._mapping))

    def const(self, value: float) -> None:
        """Push a constant."""
        self.program.code.append(("const", float(value)))

    def dup(self) -> None:
        """Push the top once more."""
        self.program.code.append(("dup",))

    def swap(self) -> None:
        """Exchange the two topmost values."""
        self.program.code.append(("swap",))

    def affine(self, a: float, b: float) -> None:
        """Replace the top x by a x + b."""
        self.program.code.append(("affine", float(a), float(b)))

    def exp(self) -> None:
        """Replace the top x by exp(x)."""
        code = self.program.code
        a, b = 1.0, 0.0
        if code and code[-1][0] == "affine":
            _, a, b = code.pop()
            if code and code[-1][0] == "leaf" and a <= 0:
                leaf = code[-1][1]
                self.program.widths[leaf] = max(-a, self.program.widths.get(leaf, 0.0))
        code.append(("exp", a, b))

    def log(self) -> None:
        """Replace the top x by log(x); 0 counts as the smallest number, so 0 log(0) is 0."""
        self.program.code.append(("log",))

    def log1p(self) -> None:
        """Replace the top x > -1 by log(1 + x), accurate also for small x."""
        self.program.code.append(("log1p",))

    def at_least(self, bound: float) -> None:
        """Replace the top x by max(x, bound)."""
        self.program.code.append(("at_least", float(bound)))

    def sqrt(self) -> None:
        """Replace the top x by its square root; x < 0 (a rounding error) counts as 0."""
        self.program.code.append(("sqrt",))

    def cos(self) -> None:
        """Replace the top x by cos(x), accurate up to 1e5."""
        self.program.code.append(("cos",))

    def reciprocal(self) -> None:
        """Replace the top x by 1 / x."""
        self.program.code.append(("reciprocal",))

    def power(self, exponent: float) -> None:
        """Replace the top x by a real power of it; x < 0 (a rounding error) counts as 0."""
        self.program.code.append(("power", float(exponent)))

    def polynomial(self, coefficients: Sequence[float]) -> None:
        """Replace the top x by sum_m a_m x^m; the coefficients a_0, a_1, ... by rising power."""
        falling = [float(a) for a in coefficients][::-1]
        self.program.code.append(("polynomial", falling))

    def table(self, table: Table) -> None:
        """Replace the top x >= 0 by the value of a table; see `mercer.numerics.profile_table`."""
        self.program.code.append(("table", table))

    def tanh(self) -> None:
        """Replace the top x by tanh(x)."""
        self.program.code.append(("tanh",))

    def powi(self, power: int) -> None:
        """Replace the top x by x to an integer power."""
        self.program.code.append(("powi", int(power)))

    def add(self) -> None:
        """Replace the two topmost values by their sum."""
        self.program.code.append(("add",))

    def mul(self) -> None:
        """Replace the two topmost values by their product."""
        self.program.code.append(("mul",))

    def normalize(self, kernel: Kernel) -> None:
        """Multiply the top by 1 / sqrt(k(a, a) k(b, b)), 0 where a diagonal entry is 0."""
        if kernel.normalized_by_logarithms and self._normalized_in_logarithms(kernel):
            return
        self._scalars("aux", Scalars("scale", kernel, self._columns, self._mapping))

    def add_diagonal(self, kernel: Kernel) -> None:
        """Add k(a, a) + k(b, b) to the top."""
        self._scalars("aux_add", Scalars("diagonal", kernel, self._columns, self._mapping))

    def _scalars(self, instruction: str, scalars: Scalars) -> None:
        known = self.program.scalars
        if scalars not in known:
            known.append(scalars)
        self.program.code.append((instruction, known.index(scalars)))

    def _normalized_in_logarithms(self, kernel: Kernel) -> bool:
        """Normalise the leaf of the kernel, if it is on top, while it holds logarithms."""
        code, leaves = self.program.code, self.program.leaves
        if code[-1][0] != "leaf" or leaves[code[-1][1]].kernel != kernel:
            return False
        _, k = code.pop()
        leaf = leaves[k]
        if k == len(leaves) - 1 and ("leaf", k) not in code:
            leaves.pop()
        self._push(replace(leaf, normalized=True))
        return True

    def _push_statistic(self, statistic: str, kernel: Kernel | None) -> None:
        if statistic not in _STATISTICS:
            require_choice(statistic, "the pair statistic of a leaf", _STATISTICS)
        self._push(Leaf(statistic, self._columns, kernel, self._mapping))

    def _push(self, leaf: Leaf) -> None:
        leaves = self.program.leaves
        if leaf not in leaves:
            leaves.append(leaf)
        self.program.code.append(("leaf", leaves.index(leaf)))


def compile_kernel(kernel: Kernel) -> Program:
    """Return the program of a bound kernel.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.

    Returns
    -------
    Program

    Examples
    --------
    >>> from mercer.gram import compile_kernel
    >>> from mercer.kernels import Linear
    >>> [instruction[0] for instruction in compile_kernel(Linear()).code]
    ['leaf']
    """
    kernel.check_changes()
    program = part_program(kernel)
    _require_one_value(program, type(kernel).__name__)
    return program


def part_program(
    kernel: Kernel, columns: Columns = None, mapping: Mapping | None = None
) -> Program:
    """Return the program of a bound kernel on some columns of the objects, or on their images."""
    builder = Builder()
    builder.look_at(columns, mapping)
    kernel.compile(builder)
    return builder.program


def _require_one_value(program: Program, name: str) -> None:
    """Reject a program that lacks operands or does not leave exactly one value."""
    height = 0
    for instruction, *_ in program.code:
        taken, left = _OPERANDS.get(instruction, (1, 1))
        if height < taken:
            raise ValueError(
                f"compile of {name}: {instruction} takes {taken} from the stack, which holds "
                f"{height}; push a leaf first."
            )
        height += left - taken
    if height != 1:
        raise ValueError(
            f"compile of {name} must leave one value on the stack, and leaves {height}; push a "
            "leaf, and combine several values with add or mul."
        )
