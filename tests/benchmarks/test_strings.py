"""The peers of the string kernels compute the same values."""

from __future__ import annotations

import numpy as np

from benchmarks.strings import Comparison, dna, numpy_subsequence, text, vectorized_spectrum
from mercer.kernels import Spectrum, Subsequence


def test_peers_agree():
    strings = dna(12, 20)
    np.testing.assert_array_equal(vectorized_spectrum(strings, 3), Spectrum(3)(strings))
    for n in (1, 2, 4):
        np.testing.assert_allclose(
            numpy_subsequence(strings[:3], strings, n, 0.5),
            Subsequence(n, 0.5)(strings[:3], strings),
            rtol=1e-12,
        )


def test_a_missing_peer_leaves_a_dash():
    lines = text(
        [
            Comparison("Spectrum(p=6)", "2 of length 3", 0.5, "CountVectorizer", 6.0, 10.0),
            Comparison("Mismatch(k=6)", "2 of length 3", 0.5),
        ]
    ).splitlines()
    assert lines[5].split()[-2:] == ["12.00", "10"]
    assert lines[6].split()[-2:] == ["-", "-"]
