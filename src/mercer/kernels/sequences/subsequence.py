"""Gap-weighted subsequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.objects.parameters import integer_from, parameter, positive
from mercer.objects.vocabulary import Vocabulary

from ..definiteness import PSD
from .sequence_kernel import SequenceKernel, Tokens
from .spectrum import check_weights


class Subsequence(SequenceKernel):
    r"""Common subsequences of length n, which may have gaps, weighted by their spans.

    .. math::

        k_n(s, t) = \sum_{|u| = n} \phi_u(s) \, \phi_u(t), \qquad
        \phi_u(s) = \sum_{i : s[i] = u} \lambda^{i_n - i_1 + 1}

    over all increasing index sequences i. Positive semidefinite, a dot product; a sequence shorter
    than n has value 0 with every other. With `weights` the kernel is
    :math:`\sum_{l=1}^{n} w_l k_l(s, t)`, at the same cost.

    A value costs O(n \|s\| \|t\|). With S_l(i, j) = [s_i = t_j] D_{l-1}(i-1, j-1) and D_0 = 1,

    .. math::

        R_l(i, j) = S_l(i, j) + \lambda R_l(i, j-1), \qquad
        D_l(i, j) = R_l(i, j) + \lambda D_l(i-1, j), \qquad
        k_l(s, t) = \lambda^{2l} \sum_{ij} S_l(i, j).

    This is the recursion of Lodhi et al. with its sum over the positions of a letter carried along
    as R_l, without which the cost would be cubic; D_l is their K'_l without the factor
    :math:`\lambda^{2l}`. All terms are positive, so no digits are lost.

    Parameters
    ----------
    n : int >= 1, default=2
        The (largest) length.
    decay : float > 0, default=0.5
        The weight :math:`\lambda` of a letter of the span, usually below 1; with 1 all
        occurrences count equally.
    weights : sequence of n floats >= 0, optional
        The weights of the lengths 1 to n, by default 1 for n and 0 for the others.

    Notes
    -----
    Use it for short strings in which the same letters occur with insertions: words, names, short
    messages; also lists of words or of notes. Take n from 2 to 5 and a decay from 0.3 to 0.8, with
    ``normalize``. A value costs n times the product of the lengths, so a thousand strings of a
    thousand letters need 10^12 steps for n = 2. Avoid it for long sequences; Spectrum and Mismatch
    are linear in them.

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini, C. Watkins. "Text classification using
    string kernels." Journal of Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from mercer.kernels import Subsequence, normalize
    >>> Subsequence(n=2, decay=0.5)(["cat"], ["car"])
    array([[0.0625]])
    >>> normalize(Subsequence(n=2, decay=0.5))(["cat"], ["car"]).round(4)
    array([[0.4444]])
    """

    n: int = parameter(default=2, check=integer_from(1))
    decay: float = parameter(default=0.5, check=positive)
    weights: Sequence[float] | None = None

    _grows_with = ("decay",)
    definiteness = PSD  # a dot product
    # with long sequences or a small decay, values leave the range of numbers
    normalized_by_logarithms = True

    def _check(self) -> None:
        check_weights(self.weights, self.n, "n")

    @property
    def recursions(self) -> int:
        """Recursions one after the other that a value is the result of, for its error."""
        return int(self.n)

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        return ("subsequence", float(self.decay), self._all_weights(), logarithms)

    def _all_weights(self) -> np.ndarray:
        if self.weights is not None:
            return np.array(self.weights, dtype=np.float64)
        return np.r_[np.zeros(int(self.n) - 1), 1.0]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        vocabulary = Vocabulary()
        columns = self.encode(Z, vocabulary)
        vocabulary.fix()
        rows = columns if X is Z else self.encode(X, vocabulary)
        lengths = np.diff(columns.start)
        z = np.full((len(lengths), max(int(lengths.max()), 1)), -2, dtype=np.int64)
        z[np.arange(z.shape[1]) < lengths[:, None]] = columns.token
        decay, weights = float(self.decay), self._all_weights()
        slopes = [_slopes(x, z, decay, weights) for x in _split(rows)]
        gradient = {"decay": np.array(slopes)}
        if self.weights is not None:
            single = np.eye(int(self.n))
            gradient["weights"] = np.stack([self._with(weights=w)._values(X, Z) for w in single])
        return gradient


def _slopes(x: np.ndarray, z: np.ndarray, decay: float, weights: np.ndarray) -> np.ndarray:
    """Return the derivatives by the decay of the values of one sequence with others.

    The recursion of the class with its derivative, token after token of `x` and for all lengths at
    once. R and D are running sums along the two sequences, y_j = x_j + decay y_{j-1}, whose
    derivatives are running sums of x_j' + y_{j-1}.
    """
    from scipy.signal import lfilter  # slow to import, and only derivatives need it

    count, size = z.shape
    found = np.zeros((2, len(weights), count))  # sums over all matches, and of their derivatives
    # D_{l-1}(i - 1, j - 1) and its derivative; a subsequence of length 1 continues the empty one.
    above = np.zeros((2, len(weights), count, size))
    above[0, 0] = 1.0
    below = np.zeros((2, len(weights), count, size))  # D_l(i, j) and its derivative
    for token in x:
        runs = above * (token == z)
        found += runs.sum(axis=3)
        runs[0] = lfilter([1.0], [1.0, -decay], runs[0], axis=2)
        runs[1, ..., 1:] += runs[0, ..., :-1]
        runs[1] = lfilter([1.0], [1.0, -decay], runs[1], axis=2)
        below[1] = runs[1] + decay * below[1] + below[0]
        below[0] = runs[0] + decay * below[0]
        above[:, 1:, :, 1:] = below[:, :-1, :, :-1]
    lengths = np.arange(1, len(weights) + 1)
    matches, slopes = weights[:, None] * found
    return 2 * lengths * decay ** (2 * lengths - 1) @ matches + decay ** (2 * lengths) @ slopes


def _split(tokens: Tokens) -> list[np.ndarray]:
    return np.split(tokens.token, tokens.start[1:-1])
