"""Kernels on multisets: sets whose elements are counted."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.hashables import as_collections, counts
from mercer.objects.parameters import one_of, parameter
from mercer.objects.validation import Objects
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel
from ..definiteness import PD, PSD, Definiteness
from ..sequences.sequence_kernel import Tokens
from .subsets import chosen_parts, copies_name, part_names, register

MODES = ("minimum", "product", "multisets", "subsets")
_PRODUCTS = ("multisets", "subsets")


class Multiset(Kernel):
    r"""Common elements of two multisets, with their counts.

    .. math::

        k(A, B) = \begin{cases}
        \sum_v \min(a_v, b_v) & \text{mode="minimum"} \\
        \sum_v a_v b_v & \text{mode="product"} \\
        \prod_v (1 + \min(a_v, b_v)) & \text{mode="multisets"} \\
        \prod_v (1 + a_v b_v) & \text{mode="subsets"}
        \end{cases}

    with :math:`a_v` and :math:`b_v` the numbers of copies of the element v: the size of the
    intersection; the dot product of the counts; the number of multisets contained in both, which
    on sets is :class:`SetPower`; over all sets S of elements, the sum of the number of ways to
    pick S from A times that from B.

    The first two are dot products, hence positive semidefinite: :math:`\min(a, b)` is the dot
    product of the indicators of 1 <= a, 2 <= a, ... The third is positive definite, a product
    over the elements of min(s, t) at s = 1 + a, t = 1 + b, the positive definite covariance of a
    random walk; the fourth is positive semidefinite, a product of dot products of (1, a).
    The empty multiset has the value 0 with all others in the first two modes, 1 in the others.

    Parameters
    ----------
    mode : {"minimum", "product", "multisets", "subsets"}, default="minimum"
        The formula.

    Notes
    -----
    Use it for bags of things with counts: words of a document, atoms of a molecule, baskets.
    "minimum" is robust to single large counts and the one to start with; "product" is the dot
    product of counts. The last two count combinations and grow exponentially, so ``normalize``
    them, which works with logarithms and cannot overflow. Avoid it for ordered data, where Spectrum
    keeps the neighbours.

    Examples
    --------
    >>> from collections import Counter
    >>> from mercer.kernels import Multiset
    >>> Multiset("multisets")([Counter(a=2, b=1)], [["a", "b", "b"], []])
    array([[4., 1.]])
    """

    mode: str = parameter(one_of(*MODES), default="minimum")

    _objects: ClassVar[Objects] = Objects(
        "multisets: Counters, lists of hashable elements, or sets", structured=True
    )

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite for mode "multisets", else positive semidefinite."""
        return PD if self.mode == "multisets" else PSD

    def validate(self, X: Any, against: Any = None) -> Any:
        return as_collections(X, type(self).__name__)

    @property
    def normalized_by_logarithms(self) -> bool:
        """Whether values are products, which may leave the range of numbers."""
        return self.mode in _PRODUCTS

    def compile(self, builder: Builder) -> None:
        """Push the dot product of counts or copies, or the product over common elements."""
        if self.mode in _PRODUCTS:
            builder.sequence(self)
        else:
            builder.mapped(self, "dot")

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        if self.mode == "product":
            return vocabulary.counts(counts(x) for x in X)
        return vocabulary.counts(_copies(x) for x in X)

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return counts, copies or parts of multisets; see :meth:`Kernel.map_features`.

        A feature is an element for "product", an element and a number of copies for "minimum", a
        multiset for "multisets", and a set, with the product of the counts as value, for
        "subsets". The last two raise ValueError for more than 65,536 parts of one multiset.
        """
        X = self.validate(X)
        if self.mode in ("minimum", "product"):
            register((counts(x) if self.mode == "product" else _copies(x) for x in X), vocabulary)
            features = self.map_objects(X, vocabulary)
            vocabulary.fix()
            return features
        return chosen_parts([self._choices(x) for x in X], vocabulary, type(self).__name__)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        if self.mode == "product":
            return [str(v) for v in vocabulary.features] or ["nothing"]
        if self.mode == "minimum":
            return [copies_name(copies) for copies in vocabulary.features] or ["nothing"]
        return part_names(vocabulary, copies_name if self.mode == "multisets" else str)

    def _choices(self, x: Any) -> list[list[tuple[Hashable, float]]]:
        if self.mode == "subsets":
            return [[(v, float(number))] for v, number in counts(x).items()]
        return [[((v, j), 1.0) for j in range(1, n + 1)] for v, n in counts(x).items()]

    def encode(self, X: list, vocabulary: Vocabulary) -> Tokens:
        """Return elements and counts in turns, by rising numbers of the elements."""
        rows = [
            sorted((vocabulary.column(v), number) for v, number in counts(x).items()) for x in X
        ]
        token = np.array([n for row in rows for pair in row for n in pair], dtype=np.int32)
        lengths = [2 * len(row) for row in rows]
        return Tokens(token, np.cumsum([0, *lengths], dtype=np.int64))

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        """Return the native evaluator; see :meth:`SequenceKernel.native_form`."""
        return ("multiset", self.mode == "subsets", logarithms)


def _copies(x: Any) -> dict[Hashable, float]:
    return {(v, j): 1.0 for v, number in counts(x).items() for j in range(1, number + 1)}
