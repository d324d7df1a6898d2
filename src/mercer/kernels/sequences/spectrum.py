"""Spectrum kernels: contiguous substrings of one length, or of all lengths up to one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer.gram.program import Builder
from mercer.objects.parameters import integer, integer_from, parameter, real, show
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..algebra.operands import concatenated
from ..definiteness import PSD
from .sequence_kernel import SequenceKernel, Tokens
from .words import Words, words_of


class Spectrum(SequenceKernel):
    r"""Counts of the contiguous substrings of length p.

    .. math:: k(s, t) = \sum_{|u| = p} c_u(s) \, c_u(t)

    where :math:`c_u(s)` is the number of places at which u occurs in s. Positive semidefinite, a
    dot product of counts; a sequence shorter than p has value 0 with every other. Each set of
    sequences is counted once, in time proportional to its length.

    Parameters
    ----------
    p : int >= 1, default=3
        The length of the substrings.

    Notes
    -----
    Use it for long strings without alignment, such as proteins, DNA, logs or texts by letters. Take
    p from 3 to 6, less for a large alphabet, and ``normalize`` it, since long strings have more of
    everything. A set is counted in time linear in its length and compared as sparse rows: the
    fastest string kernel. Avoid it where errors break most substrings of length p (take Mismatch or
    Subsequence) and where positions matter (take WeightedDegree).

    References
    ----------
    C. Leslie, E. Eskin, W. S. Noble. "The spectrum kernel: a string kernel for SVM protein
    classification." Pacific Symposium on Biocomputing, 2002.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(p=2)(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    """

    p: int = parameter(integer_from(1), default=3)

    definiteness = PSD  # a dot product of counts

    def compile(self, builder: Builder) -> None:
        builder.mapped(self, "dot")

    def map_objects(self, X: list, vocabulary: Vocabulary) -> sp.csr_array:
        return counts(self.encode(X, vocabulary), [range(self.p)], self.p, self.p, vocabulary)

    def map_features(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        """Return the counts of substrings; see :meth:`Kernel.map_features`.

        The columns are all substrings over the letters of the first sequences where these are few,
        and else those that occur in them, in the order of the letters.
        """
        tokens, words = words_of(self, X, int(self.p), vocabulary)
        return words.counts(tokens, int(self.p))

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        words: Words = vocabulary.memory["words"]
        return words.names(int(self.p))


class BlendedSpectrum(SequenceKernel):
    r"""Counts of the contiguous substrings of all lengths up to p.

    .. math:: k(s, t) = \sum_{l = 1}^{p} w_l \sum_{|u| = l} c_u(s) \, c_u(t)

    where :math:`c_u(s)` is the number of places at which u occurs in s. Positive semidefinite.

    Parameters
    ----------
    p : int >= 1, default=3
        The largest length.
    weights : sequence of p floats >= 0, optional
        The weights of the lengths 1 to p, by default all 1.

    Notes
    -----
    Use it where the best length of substrings is unknown: short ones match in related strings, long
    ones distinguish them. Take p from 3 to 6 and ``normalize``. It costs p times a Spectrum. Avoid
    it with equal weights on a small alphabet, where single letters drown the rest: weights growing
    with the length help, such as ``[1, 4, 16]``.

    Examples
    --------
    >>> from mercer.kernels import BlendedSpectrum
    >>> BlendedSpectrum(p=2)(["banana"], ["ananas"])
    array([[21.]])
    >>> BlendedSpectrum(p=2, weights=[0.5, 1.0])(["banana"], ["ananas"])
    array([[14.5]])
    """

    p: int = 3
    weights: Sequence[float] | None = None

    definiteness = PSD  # a sum of dot products with non-negative weights

    def _check(self) -> None:
        integer(self.p, "p", minimum=1)
        check_weights(self.weights, self.p, "p")

    def compile(self, builder: Builder) -> None:
        """Push the dot products of the counts; see :meth:`Kernel.compile`.

        Those of weighted lengths one by one, so that sums of integers stay exact.
        """
        if self.weights is None:
            builder.mapped(self, "dot")
            return
        push_dots(builder, [(Spectrum(p), w) for p, w in enumerate(self.weights, start=1)])

    def map_objects(self, X: list, vocabulary: Vocabulary) -> sp.csr_array:
        return counts(self.encode(X, vocabulary), [range(self.p)], 1, 1, vocabulary)

    def map_features(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        """Return the weighted counts by rising length; see :meth:`Spectrum.map_features`."""
        tokens, words = words_of(self, X, int(self.p), vocabulary)
        blocks = [sqrt(w) * words.counts(tokens, p) for p, w in self._weighted_lengths()]
        return concatenated(blocks or [sp.csr_array((len(tokens.start) - 1, 1))])

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        words: Words = vocabulary.memory["words"]
        lengths = [p for p, _ in self._weighted_lengths()]
        return [name for p in lengths for name in words.names(p)] or ["nothing"]

    def _weighted_lengths(self) -> list[tuple[int, float]]:
        weights = [1.0] * int(self.p) if self.weights is None else self.weights
        return [(p, float(w)) for p, w in enumerate(weights, start=1) if w > 0]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        if self.weights is None:
            return {}
        lengths = range(1, int(self.p) + 1)
        return {"weights": np.stack([Spectrum(p)._values(X, Z) for p in lengths])}


def push_dots(builder: Builder, weighted: Iterable[tuple[SequenceKernel, float]]) -> None:
    """Push a weighted sum of the dot products of features, without those of weight 0."""
    builder.const(0.0)
    for kernel, weight in weighted:
        if weight != 0:
            builder.mapped(kernel, "dot")
            builder.affine(float(weight), 0.0)
            builder.add()


def counts(
    tokens: Tokens,
    patterns: Sequence[Sequence[int]],
    min_depth: int,
    span: int,
    vocabulary: Vocabulary,
) -> sp.csr_array:
    """Return how often sequences hold each content of some patterns.

    `patterns`: offsets of the letters that are looked at, from every position on. `min_depth`:
    contents of at least so many letters of a pattern are counted. `span`: letters that must follow
    a position, and must all be known.
    """
    table = vocabulary.memory.get("grams")
    if table is None:
        table = _native.GramTable([list(p) for p in patterns], min_depth, span)
        vocabulary.memory["grams"] = table
    value, column, start = table.count(tokens.token, tokens.start)
    shape = (len(start) - 1, max(table.columns, 1))
    return sp.csr_array((value, column, start), shape=shape)


def check_weights(weights: Any, n: int, name: str) -> None:
    """Reject weights that are not `n` non-negative numbers."""
    if weights is None:
        return
    if isinstance(weights, str) or not np.iterable(weights):
        raise TypeError(f"weights must be a sequence of {n} numbers; got {show(weights)}.")
    if len(list(weights)) != n:
        raise ValueError(
            f"weights must hold one number for each length from 1 to {name}={n}; got "
            f"{len(list(weights))}."
        )
    for weight in weights:
        real(weight, "every weight", minimum=0.0)
