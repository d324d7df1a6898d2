"""Hypothesis strategies: small vectors, and kernels composed at random."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import kernels as mk

# Multiples of 1/64: powers of them neither underflow nor hide an error behind rounding.
numbers = st.integers(-128, 128).map(lambda n: n / 64)
widths = numbers.map(abs)
positive = st.integers(16, 128).map(lambda n: n / 64)


def vectors():
    rows = st.integers(1, 6)
    return rows.flatmap(lambda n: arrays(np.float64, (n, 3), elements=numbers))


leaves = st.one_of(
    st.builds(mk.Linear),
    st.builds(mk.Polynomial, st.integers(0, 4), widths, widths),
    st.builds(mk.RBF, widths),
    st.builds(mk.Laplacian, widths),
    st.builds(mk.Exponential, widths),
    st.builds(mk.Matern, st.sampled_from([0.5, 1.5, 2.5, 1.2]), positive),
    st.builds(mk.RationalQuadratic, positive, positive),
    st.builds(mk.InverseMultiquadric, positive),
    st.builds(mk.SumOfPowers, st.integers(0, 3), widths),
    st.builds(mk.Constant, widths),
)


def _composed(inner):
    bounded = inner.map(mk.normalize)  # values in [-1, 1], so that powers stay moderate
    return st.one_of(
        st.builds(mk.Sum, inner, inner),
        st.builds(mk.Product, inner, bounded),
        st.builds(mk.Scaled, inner, widths),
        st.builds(mk.Power, bounded, st.integers(1, 4)),
        st.builds(mk.Exp, bounded),
        st.builds(mk.PolynomialOf, bounded, st.lists(widths, min_size=1, max_size=4)),
        bounded,
        inner.map(lambda k: k.on_columns([0])),  # exists however deep selections are nested
    )


kernels = st.recursive(leaves, _composed, max_leaves=4)
