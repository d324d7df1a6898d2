"""Vectors that prove a kernel matrix to be no Gram matrix, and the proof that they do.

If c'Kc < 0, the combination sum_i c_i phi(x_i) of features would have a negative squared length
(Cristianini and Shawe-Taylor 2000, proposition 3.5). In floating point two things could feign a
negative number: rounding in the sum itself, and errors in the kernel values. Both are excluded.

- The sum is bounded by the usual a priori error bound of a computed quadratic form (Higham,
  Accuracy and Stability of Numerical Algorithms, 2002, section 3.5) or, where that is too coarse,
  evaluated exactly in integers.
- If entry (i, j) is wrong by at most E_ij, the quadratic form is wrong by at most |c|'E|c|, so a
  witness is accepted only if c'Kc + |c|'E|c| < 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .readable import Readable

EXACT = 128  # up to this many objects the sum is evaluated exactly, in a few milliseconds


@dataclass(frozen=True, eq=False)
class Witness(Readable):
    """A vector c with c'Kc < 0.

    Attributes
    ----------
    vector : ndarray of shape (n,)
        The coefficients c, of Euclidean length 1 up to 1e-9; multiples of 2^-40.
    value : float
        The value c'Kc.
    upper_bound : float
        No matrix whose entries differ from K by at most their errors gives a larger value; it is
        negative.
    entry_error : float
        The largest error of a kernel value that the proof allows for.
    proof : {"error bound", "exact arithmetic"}
        How rounding was excluded.
    order : {0, 1, 2}
        0: any vector; 1: the entries sum to zero, exactly; 2: they are also orthogonal to every
        linear function of the objects, up to rounding.

    Examples
    --------
    >>> from mercer.inspection import check
    >>> witness = check([[1.0, 2.0], [2.0, 1.0]]).witness
    >>> round(witness.value, 6), witness.proof
    (-1.0, 'exact arithmetic')
    """

    vector: np.ndarray
    value: float
    upper_bound: float
    entry_error: float
    proof: str
    order: int = 0

    @property
    def support(self) -> np.ndarray:
        """Positions of the entries that are not zero."""
        return np.flatnonzero(self.vector)


def prove(
    K: np.ndarray, c: np.ndarray, errors: float | np.ndarray, order: int = 0
) -> Witness | None:
    """Return the witness `c` with its proof, None where `errors` of the entries may explain it."""
    length = float(np.linalg.norm(c))
    if not length > 0:
        return None
    # Multiples of 2^-40 add without rounding, so that a sum of zero is one exactly.
    c = np.round(np.ldexp(c / length, 40))
    if order > 0:
        c[np.argmax(np.abs(c))] -= c.sum()
    c = np.ldexp(c, -40)
    size, errors = np.abs(c), np.broadcast_to(errors, K.shape)
    kept = np.flatnonzero(size)
    allowance = 1.01 * float(size[kept] @ (errors[np.ix_(kept, kept)] @ size[kept]))
    if not np.isfinite(allowance):
        return None
    entry_error = float(errors[np.ix_(kept, kept)].max())
    value, rounding = _bounded(K, c)
    if value - rounding + allowance >= 0:
        return None
    upper = value + rounding + allowance
    if len(c) > EXACT and upper < 0:
        return Witness(c, value, upper, entry_error, "error bound", order)
    exact = exact_quadratic_form(K, c)
    total = exact + Fraction(allowance)
    if total >= 0:
        return None
    return Witness(c, float(exact), float(total), entry_error, "exact arithmetic", order)


def _bounded(K: np.ndarray, c: np.ndarray) -> tuple[float, float]:
    """Return c'Kc in float64 and a bound of its rounding."""
    value = float(c @ (K @ c))
    # |computed - exact| <= gamma_m |c|'|K||c| with m operations along the longest chain.
    unit = np.finfo(np.float64).eps / 2
    m = 2 * len(c) + 4
    rounding = m * unit / (1 - m * unit) * float(np.abs(c) @ (np.abs(K) @ np.abs(c))) * 1.01
    return value, rounding


def exact_quadratic_form(K: np.ndarray, c: np.ndarray) -> Fraction:
    """Return c'Kc without rounding: every float64 is an integer times a power of two."""
    kept = np.flatnonzero(c)
    if not len(kept):
        return Fraction(0)
    matrix, matrix_exponent = _as_integers(K[np.ix_(kept, kept)])
    vector, vector_exponent = _as_integers(c[kept])
    total = int(vector @ (matrix @ vector))
    exponent = matrix_exponent + 2 * vector_exponent
    return Fraction(total) * Fraction(2) ** exponent


def _as_integers(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return Python integers m and an exponent e with values = m 2^e exactly."""
    mantissa, exponent = np.frexp(values)
    mantissa = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
    lowest = int(exponent.min())
    shift = (exponent - lowest).astype(object)
    return mantissa * 2**shift, lowest - 53
