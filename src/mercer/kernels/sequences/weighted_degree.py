"""Substrings at the same place: the weighted degree kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.objects.parameters import integer_from, parameter
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..algebra.operands import concatenated
from ..definiteness import PSD
from .sequence_kernel import SequenceKernel
from .spectrum import check_weights
from .words import Words, shift_factor, words_of


class WeightedDegree(SequenceKernel):
    r"""Equal substrings at equal positions, up to a length.

    .. math::

        k(s, t) = \sum_{l = 1}^{d} w_l \sum_{i} [s_{i:i+l} = t_{i:i+l}], \qquad
        w_l = \frac{2 (d - l + 1)}{d (d + 1)}

    For sequences that are aligned, such as windows around a site of a genome; positions beyond the
    end of the shorter sequence agree with none. With ``shift`` S, substrings may lie at different
    positions: those at distance :math:`1 \le r \le S`, on either side, count 1 / (2 (r + 1)).
    Positive semidefinite: the substrings at all positions are features, and the matrix of
    weights between positions has the spectral density :math:`1 + \sum_{r=1}^{S}
    \cos(r \omega) / (r + 1) \ge 1/2`.

    Parameters
    ----------
    degree : int >= 1, default=3
        The largest length d.
    shift : int >= 0, default=0
        The largest distance S of two positions.
    weights : sequence of d floats >= 0, optional
        The weights of the lengths 1 to d, by default those above, which fall linearly.

    Notes
    -----
    Use it for sequences that are aligned, such as windows of equal length around splice sites or
    starts of genes: the position of a substring matters. Take a degree up to 20 or so; a value
    costs the length of the windows times 2 S + 1. Allow a shift S where positions are uncertain by
    a few letters. Avoid it for strings of different origin or length, whose positions are not
    comparable.

    References
    ----------
    G. Raetsch, S. Sonnenburg. "Accurate splice site prediction for Caenorhabditis elegans." In:
    Kernel Methods in Computational Biology, MIT Press, 2004. With shifts: G. Raetsch,
    S. Sonnenburg, B. Schoelkopf. "RASE: recognition of alternatively spliced exons in C. elegans."
    Bioinformatics 21, 2005. The inequality: W. Rogosinski, G. Szego. "Ueber die Abschnitte von
    Potenzreihen, die in einem Kreise beschraenkt bleiben." Mathematische Zeitschrift 28, 1928.

    Examples
    --------
    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(degree=2)(["ACGT"], ["ACCT"]).round(6)
    array([[2.333333]])
    >>> WeightedDegree(degree=1, shift=1)(["ACGT"], ["CGTA"])
    array([[0.75]])
    """

    degree: int = parameter(integer_from(1), default=3)
    shift: int = parameter(integer_from(0), default=0)
    weights: Sequence[float] | None = None

    definiteness = PSD

    def _check(self) -> None:
        check_weights(self.weights, self.degree, "degree")

    @property
    def recursions(self) -> int:
        """Recursions one after the other that a value is the result of, for its error."""
        return int(self.degree)

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        return ("weighted_degree", self._weights(), int(self.shift))

    def _weights(self) -> np.ndarray:
        if self.weights is not None:
            return np.array(self.weights, dtype=np.float64)
        d = int(self.degree)
        return 2.0 * np.arange(d, 0, -1) / (d * (d + 1))

    def map_features(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        """Return substrings at positions, those that are met; see :meth:`Kernel.map_features`.

        With a shift, the matrix W of weights between positions is LL' with a lower triangular L,
        and a substring at position i has the features L_ij at the positions j <= i.
        """
        tokens, words = words_of(self, X, int(self.degree), vocabulary, complete=False)
        longest = int(np.diff(tokens.start).max(initial=0))
        factor = shift_factor(longest, int(self.shift))
        blocks = [
            math.sqrt(weight) * words.at_positions(tokens, length, factor, vocabulary)
            for length, weight in enumerate(self._weights(), start=1)
            if weight > 0
        ]
        vocabulary.fix()
        return concatenated(blocks or [sp.csr_array((len(tokens.start) - 1, 1))])

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        words: Words = vocabulary.memory["words"]
        lengths = [length for length, w in enumerate(self._weights(), start=1) if w > 0]
        return [n for length in lengths for n in words.placed_names(length, vocabulary)]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        if self.weights is None:
            return {}
        single = np.eye(int(self.degree))
        return {"weights": np.stack([self.replace(weights=w)._values(X, Z) for w in single])}
