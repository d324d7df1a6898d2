"""The kernel of all contiguous substrings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.objects.parameters import integer, integer_from, parameter, positive

from ..definiteness import PSD
from .path_sums import Scaled, ScaledGradient
from .sequence_kernel import SequenceKernel
from .spectrum import Spectrum

_LONGEST = 2**62  # no limit, as the native core counts


class Substring(ScaledGradient, SequenceKernel):
    r"""Counts of the contiguous substrings of all lengths.

    .. math:: k(s, t) = \sum_{u} \lambda^{2 |u|} \, c_u(s) \, c_u(t)

    over all substrings u with ``min_length`` :math:`\le |u| \le` ``max_length``, where
    :math:`c_u(s)` is the number of places at which u occurs in s. Positive semidefinite. With all
    lengths it is strictly so on distinct non-empty sequences, each of which is a substring that
    no shorter one has. A value costs O(\|s\| + \|t\|): one sequence becomes a suffix automaton,
    through which the other one runs.

    Parameters
    ----------
    decay : float > 0, default=1.0
        The weight :math:`\lambda` of a letter; below 1, long substrings count less.
    min_length : int >= 1, default=1
        The shortest substrings that count.
    max_length : int, optional
        The longest substrings that count, by default all.

    Notes
    -----
    Use it where common passages of any length count: copied text, repeated code. A value costs time
    linear in the two lengths, for all lengths together, and every pair is computed for itself, so
    thousands of long strings take a while. Take a decay below 1 and ``normalize``: otherwise the
    match of a string with itself, which grows at least with the square of its length, dominates the
    matrix. Avoid it where lengths above 6 hardly ever match; BlendedSpectrum is faster.

    References
    ----------
    S. V. N. Vishwanathan, A. J. Smola. "Fast kernels for string and tree matching." NIPS 15, 2003.

    Examples
    --------
    >>> from mercer.kernels import Substring
    >>> Substring()(["banana"], ["ananas"])
    array([[29.]])
    >>> Substring(max_length=2)(["banana"], ["ananas"])
    array([[21.]])
    """

    decay: float = parameter(positive, default=1.0)
    min_length: int = parameter(integer_from(1), default=1)
    max_length: int | None = None

    grows_with = ("decay",)
    definiteness = PSD  # the empty sequence has no features
    # with long sequences or a small decay, values leave the range of numbers
    normalized_by_logarithms = True

    def _check(self) -> None:
        if self.max_length is not None:
            integer(self.max_length, "max_length", minimum=self.min_length)

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        longest = _LONGEST if self.max_length is None else int(self.max_length)
        return ("substring", float(self.decay), int(self.min_length), longest, logarithms)

    def _named(self, slopes: np.ndarray) -> dict[str, np.ndarray]:
        return {"decay": slopes[0]}

    def _scaled(self, X: Any, Z: Any) -> Scaled:
        """Return values and derivatives, divided by the largest power of the decay in them."""
        decay, shortest = float(self.decay), int(self.min_length)
        last = max(map(len, Z))
        last = last if self.max_length is None else min(int(self.max_length), last)
        largest = np.full((len(X), len(Z)), shortest)
        numbers = np.zeros((2, len(X), len(Z)))
        for p in range(shortest, last + 1):
            common = Spectrum(p)._values(X, Z)
            found = common > 0  # of every longer substring, a shorter one is common too
            if not found.any():
                break
            if decay > 1.0:
                numbers[:, found] *= decay**-2.0 if p > shortest else 1.0
                largest[found] = p
            factor = 1.0 if decay > 1.0 else decay ** (2 * (p - shortest))
            numbers += factor * common * np.array([1.0, 2 * p / decay])[:, None, None]
        return Scaled(2.0 * np.log(decay) * largest, numbers)
