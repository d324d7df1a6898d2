"""Gram matrices of objects with signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import Gram
from mercer.kernels import RBF, FromFunction, Linear, Polynomial, Precomputed, Spectrum, normalize

X = np.random.default_rng(0).normal(size=(12, 3))
SIGN = np.where(np.arange(12) % 3 == 1, -1.0, 1.0)


@pytest.mark.parametrize(
    ("kernel", "objects"),
    [
        (RBF(0.3), X),
        (RBF(0.3) + Linear(), X),
        (Linear(), sp.csr_array(X)),
        (FromFunction(RBF(0.3)), X),
        (normalize(Polynomial(2, gamma=1.0)), X),
        (Precomputed(), RBF(0.3)(X)),
        (Spectrum(2), ["abab", "ba", "cab"] * 4),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_carry_the_signs_of_their_objects(kernel: Any, objects: Any, dtype: str) -> None:
    gram, order = Gram(kernel, objects, dtype), np.arange(12)[::-1]
    signed = gram.take(order).signed(SIGN)
    expected = gram.tile()[np.ix_(order, order)] * SIGN[:, None] * SIGN
    np.testing.assert_array_equal(signed.tile(), expected)
    np.testing.assert_array_equal(signed.diag(), gram.diag()[order])
    some = np.array([4, 1, 7])
    np.testing.assert_array_equal(signed.take(some).tile(), expected[np.ix_(some, some)])
    double = signed.take(some).in_precision("float64").tile()
    np.testing.assert_allclose(double, expected[np.ix_(some, some)], rtol=2e-6, atol=2e-6)


def test_another_kernel_keeps_the_signs() -> None:
    signed = Gram(RBF(0.3), X).signed(SIGN).with_kernel(RBF(2.0))
    np.testing.assert_array_equal(signed.tile(), RBF(2.0)(X) * SIGN[:, None] * SIGN)
