"""Definiteness of kernels: the sign of the quadratic form, and how algebra carries it over.

For distinct objects x_1..x_n and real c != 0, with q = sum_ij c_i c_j k(x_i, x_j):

- positive definite: q > 0;
- positive semidefinite: q >= 0, hence k is an inner product of features;
- conditionally positive definite: q >= 0 whenever sum_i c_i = 0;
- conditionally positive definite of order 2, for vectors: q >= 0 whenever sum_i c_i = 0 and
  sum_i c_i x_i = 0;
- indefinite: none of these holds in general;
- unknown: nothing is claimed.

The rules below are sufficient conditions. Where none applies the answer is "unknown": a sum with an
indefinite kernel may still be positive definite.
"""

from __future__ import annotations

from enum import StrEnum


class Definiteness(StrEnum):
    """The claim a kernel makes about its Gram matrices; a string that compares as one.

    Examples
    --------
    >>> from mercer.kernels import Definiteness, RBF
    >>> RBF(1.0).definiteness == Definiteness.POSITIVE_DEFINITE == "positive definite"
    True
    """

    POSITIVE_DEFINITE = "positive definite"
    POSITIVE_SEMIDEFINITE = "positive semidefinite"
    CONDITIONALLY_POSITIVE_DEFINITE = "conditionally positive definite"
    CONDITIONALLY_POSITIVE_DEFINITE_OF_ORDER_2 = "conditionally positive definite of order 2"
    INDEFINITE = "indefinite"
    UNKNOWN = "unknown"

    @property
    def is_psd(self) -> bool:
        """Whether every Gram matrix is positive semidefinite."""
        return self in (PD, PSD)

    @property
    def order(self) -> int | None:
        """The degree below which polynomials must be excluded for q >= 0; None where none helps.

        0: nothing has to be excluded; 1: the constants, as a bias does; 2: constants and linear
        functions.
        """
        return _ORDERS.get(self)


PD = Definiteness.POSITIVE_DEFINITE
PSD = Definiteness.POSITIVE_SEMIDEFINITE
CPD = Definiteness.CONDITIONALLY_POSITIVE_DEFINITE
CPD2 = Definiteness.CONDITIONALLY_POSITIVE_DEFINITE_OF_ORDER_2
INDEFINITE = Definiteness.INDEFINITE
UNKNOWN = Definiteness.UNKNOWN

_ORDERS = {PD: 0, PSD: 0, CPD: 1, CPD2: 2}


def of_sum(a: Definiteness, b: Definiteness) -> Definiteness:
    """Quadratic forms add, on all of R^n or on the vectors that both conditions leave."""
    if a.order is None or b.order is None:
        return UNKNOWN
    if a.is_psd and b.is_psd:
        return PD if PD in (a, b) else PSD
    return CPD2 if CPD2 in (a, b) else CPD


def of_product(a: Definiteness, b: Definiteness) -> Definiteness:
    """Schur: the entrywise product of positive (semi)definite matrices is one again."""
    if a.is_psd and b.is_psd:
        return PD if a is b is PD else PSD
    return UNKNOWN


def of_exponential(a: Definiteness) -> Definiteness:
    """Power series with positive coefficients; Schoenberg's theorem for the conditional case."""
    if a.is_psd:
        return a
    return PSD if a is CPD else UNKNOWN


def on_subset_of_columns(a: Definiteness) -> Definiteness:
    """Distinct objects may agree on the chosen columns, so strictness is lost."""
    return PSD if a is PD else a


def through_a_map(a: Definiteness) -> Definiteness:
    """Distinct objects may have one image, and linear functions of images are not of objects."""
    return UNKNOWN if a is CPD2 else on_subset_of_columns(a)
