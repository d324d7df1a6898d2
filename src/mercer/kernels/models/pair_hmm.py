"""Probabilities of pairs of sequences: a dynamic alignment kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.objects.parameters import parameter, probability, real, show
from mercer.objects.vocabulary import Vocabulary

from ..definiteness import PSD
from ..sequences.path_sums import Scaled, ScaledGradient, in_blocks, padded, path_sums, times
from ..sequences.sequence_kernel import AlphabetKernel, Tokens, known_letters


class PairHMM(ScaledGradient, AlphabetKernel):
    r"""The probability that a pair hidden Markov model emits two sequences together.

    The model repeats three steps: it inserts letters into s only, each with probability
    :math:`\delta q(a)`, until it stops with probability :math:`1 - \delta`; it inserts letters
    into t only, in the same way; then it ends with probability :math:`\tau` or emits a pair of
    letters with probability :math:`\pi(a, b)`. Summed over all alignments, with r pairs
    :math:`(s_{i_1}, t_{j_1}), \dots, (s_{i_r}, t_{j_r})` and all other letters inserted,

    .. math::

        k(s, t) = \sum_{\text{alignments}} \tau (1-\delta)^2 \prod_{l=1}^{r}
        (1-\tau) (1-\delta)^2 \pi(s_{i_l}, t_{j_l}) \prod_{\text{inserted } a} \delta q(a)

    which costs O(\|s\| \|t\|). Positive semidefinite, because given the sequence of pairs the two
    sequences are independent and identically distributed: insertions are independent, and
    :math:`\pi(a, b) = \sum_c p(c) p(a|c) p(b|c)` is a positive semidefinite matrix. A model whose
    insertions exclude each other, as in the three-state model without a way from one insertion to
    the other, does not have this property; an emission matrix that is not positive semidefinite
    raises ValueError.

    Probabilities of long sequences are too small for a number; ``normalize(PairHMM(...))`` works
    with their logarithms and has no such limit.

    Parameters
    ----------
    alphabet : str, bytes or sequence, optional
        The letters; by default those of the training sequences, set by `bind`. A sequence with
        another letter raises ValueError.
    emission : array of shape (n_letters, n_letters), optional
        The probabilities :math:`\pi(a, b)` of the pairs, in the order of `alphabet`. By default a
        letter drawn from q is copied to both sequences, and each copy is replaced, with
        probability `mutation`, by another draw.
    background : sequence of n_letters floats, optional
        The probabilities q(a) of inserted letters; by default the marginal of `emission`, or
        uniform.
    mutation : float between 0 and 1, default=0.1
        The probability of a replaced letter, where `emission` is not given.
    gap : float >= 0 and < 1, default=0.1
        The probability :math:`\delta` of another inserted letter.
    end : float > 0 and <= 1, default=0.01
        The probability :math:`\tau` of the end.

    Notes
    -----
    Use it for related sequences in which letters were replaced, inserted and lost, where a model of
    that is at hand: it sums over all alignments instead of choosing one. Set `gap` and `mutation`
    to the expected rates and always ``normalize``, since probabilities of long sequences underflow.
    A value costs the product of the lengths. Avoid it for thousands of long sequences. Where the
    diagonal dominates after normalisation, raise `mutation` or `gap`, or take Mismatch.

    References
    ----------
    C. Watkins. "Dynamic alignment kernels." In: Advances in Large Margin Classifiers, MIT Press,
    2000.

    Examples
    --------
    >>> from mercer.kernels import PairHMM, normalize
    >>> normalize(PairHMM(alphabet="ACGT"))(["ACGT", "ACG", "TTTT"]).round(3)
    array([[1.   , 0.064, 0.   ],
           [0.064, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    alphabet: Sequence[Any] | None = None
    emission: Any = None
    background: Any = None
    mutation: float = parameter(probability, default=0.1)
    gap: float = 0.1
    end: float = 0.01

    _fixed: ClassVar[tuple[str, ...]] = ("background",)  # probabilities, which add up to 1
    definiteness = PSD  # given the pairs, the sequences are independent and alike
    logarithmic = True  # probabilities of long sequences are too small for a number

    def _check(self) -> None:
        super()._check()
        name = type(self).__name__
        if real(self.gap, "gap", minimum=0.0) >= 1:
            raise ValueError(f"gap must be smaller than 1; got {show(self.gap)}.")
        if not 0 < real(self.end, "end") <= 1:
            raise ValueError(f"end must be above 0 and at most 1; got {show(self.end)}.")
        given = self.emission is not None or self.background is not None
        if given and self.alphabet is None:
            raise ValueError(
                f"emission and background of {name} are in the order of an alphabet; give it too."
            )
        if self.emission is not None:
            _check_emission(self.emission, len(self.alphabet or ()))
        if self.background is not None:
            _probabilities(self.background, (len(self.alphabet or ()),), "background", "letters")

    def validate(self, X: Any, against: Any = None) -> list:
        X = super().validate(X, against)
        if self.alphabet is not None:
            self._letters(X)
        return X

    def encode(self, X: list, vocabulary: Vocabulary) -> Tokens:
        return self._letters(X)

    def _letters(self, X: list) -> Tokens:
        alphabet: Any = self.alphabet
        return known_letters(X, alphabet, "PairHMM", "give an alphabet with all letters")

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        self.require_bound("on pairs of sequences")
        pairs, letters = self.probabilities()
        stop = (1.0 - float(self.gap)) ** 2
        weight = (1.0 - float(self.end)) * stop * pairs
        return (
            "pair_model",
            np.ascontiguousarray(weight.ravel()),
            np.ascontiguousarray(float(self.gap) * letters),
            float(self.end) * stop,
        )

    def _named(self, slopes: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(("mutation", "gap", "end"), slopes, strict=True))

    def _scaled(self, X: Any, Z: Any) -> Scaled:
        pairs, q = self.probabilities()
        x, rows = self._padded_letters(X)
        z, columns = self._padded_letters(Z)
        gap, end = float(self.gap), float(self.end)
        slope = np.zeros_like(pairs)
        if self.emission is None:
            slope = -2.0 * (1.0 - float(self.mutation)) * (np.diag(q) - np.outer(q, q))
        stay, stop = 1.0 - end, (1.0 - gap) ** 2
        pair = np.stack([stay * stop * pairs, stay * stop * slope])
        pair = np.concatenate([pair, [-2.0 * stay * (1.0 - gap) * pairs], [-stop * pairs]])
        insert = np.stack([gap * q, 0 * q, q, 0 * q])

        def block(part: slice) -> Scaled:
            def steps(i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
                a, b = x[part, None, i - 1], z[None, :, j - 1]
                down, right = np.broadcast_arrays(insert[:, a], insert[:, b])
                both = pair[:, a, b] - times(down, right)
                return down * (i > 0), right * (j > 0), both * ((i > 0) & (j > 0))

            return path_sums(rows[part], columns, steps, 3)

        sums = in_blocks(block, len(X), 4 * len(Z) * x.shape[1])
        ends = np.array([end * stop, 0.0, -2.0 * end * (1.0 - gap), stop])[:, None, None]
        return sums._replace(numbers=times(ends, sums.numbers))

    def _padded_letters(self, X: list) -> tuple[np.ndarray, np.ndarray]:
        tokens = self._letters(X)
        letters, lengths = padded(np.split(tokens.token, tokens.start[1:-1]))
        return letters.astype(np.intp), lengths

    def probabilities(self) -> tuple[np.ndarray, np.ndarray]:
        r"""Return the probabilities :math:`\pi` of pairs and q of inserted letters.

        Arrays of shape (n_letters, n_letters) and (n_letters,), in the order of the alphabet.
        """
        n = len(self.alphabet or ())
        if self.background is not None:
            q = np.asarray(self.background, dtype=np.float64)
        elif self.emission is not None:
            q = np.asarray(self.emission, dtype=np.float64).sum(axis=1)
        else:
            q = np.full(n, 1.0 / n)
        if self.emission is not None:
            return np.asarray(self.emission, dtype=np.float64), q
        kept = (1.0 - float(self.mutation)) ** 2  # both copies are left as they are
        return kept * np.diag(q) + (1.0 - kept) * np.outer(q, q), q


def _probabilities(values: Any, shape: tuple[int, ...], name: str, of: str) -> np.ndarray:
    """Return a table of probabilities, or say what is wrong with it."""
    P = np.asarray(values, dtype=np.float64)
    if P.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, by letters: {np.prod(shape)} numbers; got {P.shape}."
        )
    if not np.isfinite(P).all() or P.min() < 0 or abs(P.sum() - 1.0) > 1e-6:
        raise ValueError(f"{name} must hold probabilities of {of}, which add up to 1.")
    return P


def _check_emission(emission: Any, n: int) -> None:
    P = _probabilities(emission, (n, n), "emission", "pairs")
    if not np.allclose(P, P.T, rtol=1e-10, atol=1e-15):
        raise ValueError("emission must be symmetric, or the kernel is not.")
    lowest = float(np.linalg.eigvalsh(P)[0])
    if lowest < -1e-10 * P.max():
        raise ValueError(
            f"emission has the eigenvalue {lowest:.3g}; the kernel is positive semidefinite only "
            "if emission is, pi(a, b) = sum_c p(c) p(a|c) p(b|c)."
        )
