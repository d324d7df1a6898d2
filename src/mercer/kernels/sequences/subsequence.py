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
        super()._check()
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

    The recursion of the class with its derivative. R and D are running sums along the two
    sequences, y_j = x_j + decay y_{j-1}, whose derivatives are running sums of x_j' + y_{j-1}.
    """
    from scipy.signal import lfilter  # slow to import, and only derivatives need it

    if not len(x):
        return np.zeros(len(z))
    equal = (x[:, None] == z[:, None]) & (x[:, None] >= 0)
    total = np.zeros(len(z))
    above, slope_above = np.ones(equal.shape), np.zeros(equal.shape)  # D_{l-1}(i - 1, j - 1)
    for length, weight in enumerate(weights, start=1):
        matches, slopes = equal * above, equal * slope_above
        total += weight * (
            2 * length * decay ** (2 * length - 1) * matches.sum(axis=(1, 2))
            + decay ** (2 * length) * slopes.sum(axis=(1, 2))
        )
        for axis in (2, 1):
            matches = lfilter([1.0], [1.0, -decay], matches, axis=axis)
            slopes = lfilter([1.0], [1.0, -decay], slopes + _later(matches, axis), axis=axis)
        above, slope_above = (_later(_later(table, 1), 2) for table in (matches, slopes))
    return total


def _later(table: np.ndarray, axis: int) -> np.ndarray:
    """Return a table moved by one place along an axis, with zeros at the begin."""
    moved = np.roll(table, 1, axis=axis)
    moved[(slice(None),) * axis + (0,)] = 0.0
    return moved


def _split(tokens: Tokens) -> list[np.ndarray]:
    return np.split(tokens.token, tokens.start[1:-1])
