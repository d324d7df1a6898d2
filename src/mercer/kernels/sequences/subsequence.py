"""Gap-weighted subsequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer import _native
from mercer.objects.parameters import integer_from, parameter, positive
from mercer.objects.vocabulary import Vocabulary

from ..definiteness import PSD
from .path_sums import Scaled, ScaledGradient
from .sequence_kernel import SequenceKernel
from .spectrum import check_weights


class Subsequence(ScaledGradient, SequenceKernel):
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

    n: int = parameter(integer_from(1), default=2)
    decay: float = parameter(positive, default=0.5)
    weights: Sequence[float] | None = None

    grows_with = ("decay",)
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

    def _named(self, slopes: np.ndarray) -> dict[str, np.ndarray]:
        return {"decay": slopes[0]} | ({} if self.weights is None else {"weights": slopes[1:]})

    def _scaled(self, X: Any, Z: Any) -> Scaled:
        vocabulary = Vocabulary()
        z = self.encode(Z, vocabulary)
        vocabulary.fix()
        x = z if X is Z else self.encode(X, vocabulary)

        def logarithms(weights: np.ndarray) -> np.ndarray:
            form = ("subsequence", float(self.decay), weights, True)
            return _native.sequence_slopes(form, x.token, x.start, z.token, z.start)

        value, slope = logarithms(self._all_weights())
        single = [] if self.weights is None else [logarithms(w)[0] for w in np.eye(int(self.n))]
        logs = np.stack([value, value, *single])
        scale = np.maximum(logs.max(axis=0), np.finfo(float).min)  # -infinity is that of 0
        numbers = np.exp(logs - scale)
        numbers[1] *= slope / float(self.decay)
        return Scaled(scale, numbers)
