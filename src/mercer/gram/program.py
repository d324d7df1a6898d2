"""A kernel as a postfix program over pair statistics: what the native core evaluates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

Columns = tuple[int, ...] | None


@dataclass(frozen=True)
class Leaf:
    """A source of values for a pair of objects.

    Attributes
    ----------
    kind : {"dot", "sqdist", "l1", "matrix", "python", "sequence"}
        A pair statistic of two rows, an entry of a given matrix, a kernel written in Python, or a
        native evaluator of pairs of sequences.
    columns : tuple of int or None
        The columns of the rows it looks at; None: all.
    kernel : Kernel or None
        The Python kernel, or that of the sequences; with a pair statistic, the kernel that maps
        objects to the rows.
    normalized : bool
        Whether values of sequences are divided by the norms, before they leave their logarithms.
    """

    kind: str
    columns: Columns = None
    kernel: Kernel | None = None
    normalized: bool = False

    @property
    def mapped(self) -> bool:
        """Whether the rows are features that a kernel makes of the objects."""
        return self.kernel is not None and self.kind not in ("python", "sequence")


@dataclass
class Program:
    """Postfix code over leaves, with one scale per object and normalised part.

    Attributes
    ----------
    code : list of tuple
        Instructions in the order in which they run.
    leaves : list of Leaf
        What ``("leaf", k)`` pushes.
    scales : list of (Kernel, columns)
        What ``("aux", k)`` multiplies by: 1 / sqrt(k(a, a) k(b, b)) of that kernel.
    widths : dict
        For a squared-distance or l1 leaf the largest factor g of an exponential exp(-g x).
    """

    code: list[tuple[Any, ...]] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    scales: list[tuple[Kernel, Columns]] = field(default_factory=list)
    widths: dict[int, float] = field(default_factory=dict)

    @property
    def bounded(self) -> bool:
        """Whether every leaf enters through a decaying exponential of a distance."""
        return all(
            leaf.kind in ("sqdist", "l1") and k in self.widths for k, leaf in enumerate(self.leaves)
        )


class Builder:
    """Collects the program of a kernel; the methods are the instructions."""

    def __init__(self) -> None:
        self.program = Program()
        self._columns: Columns = None

    @contextmanager
    def columns(self, index: Sequence[int]) -> Iterator[None]:
        """Restrict the leaves inside to some columns, within those already chosen."""
        outer = self._columns
        self._columns = tuple(int(c) if outer is None else outer[int(c)] for c in index)
        try:
            yield
        finally:
            self._columns = outer

    def leaf(self, statistic: str) -> None:
        """Push a pair statistic of the two rows: "dot", "sqdist" or "l1"."""
        self._push(Leaf(statistic, self._columns))

    def mapped(self, kernel: Kernel, statistic: str) -> None:
        """Push a pair statistic of the features that `kernel.map_objects` makes of the objects.

        Features without a column drop out of a dot product, which stays exact; a distance needs
        all of them, so its map must not depend on the vocabulary.
        """
        self._push(Leaf(statistic, self._columns, kernel))

    def sequence(self, kernel: Kernel) -> None:
        """Push the values of a native evaluator of pairs of sequences."""
        self._push(Leaf("sequence", self._columns, kernel))

    def matrix(self) -> None:
        """Push the entry of a precomputed matrix."""
        self._push(Leaf("matrix"))

    def python(self, kernel: Kernel) -> None:
        """Push the values of a kernel that is written in Python."""
        self._push(Leaf("python", self._columns, kernel))

    def const(self, value: float) -> None:
        """Push a constant."""
        self.program.code.append(("const", float(value)))

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
        if kernel.logarithmic and self._normalized_in_logarithms(kernel):
            return
        entry = (kernel, self._columns)
        if entry not in self.program.scales:
            self.program.scales.append(entry)
        self.program.code.append(("aux", self.program.scales.index(entry)))

    def _normalized_in_logarithms(self, kernel: Kernel) -> bool:
        """Have the norms subtracted from the logarithms of the kernel's leaf on top, if it is one.

        Its values then need not fit the range of numbers.
        """
        code, leaves = self.program.code, self.program.leaves
        if code[-1][0] != "leaf" or leaves[code[-1][1]].kernel != kernel:
            return False
        _, k = code.pop()
        leaf = leaves[k]
        if k == len(leaves) - 1 and ("leaf", k) not in code:
            leaves.pop()
        self._push(replace(leaf, normalized=True))
        return True

    def _push(self, leaf: Leaf) -> None:
        leaves = self.program.leaves
        if leaf not in leaves:
            leaves.append(leaf)
        self.program.code.append(("leaf", leaves.index(leaf)))


def compile_kernel(kernel: Kernel) -> Program:
    """Return the program of a bound kernel."""
    builder = Builder()
    kernel.compile(builder)
    return builder.program
