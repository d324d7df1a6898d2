"""What every kernel on structured objects must satisfy, given its definition for one pair."""

import pickle

import numpy as np
from sklearn.base import clone

from mercer.gram import Gram


def agrees(kernel, X, definition, rtol=1e-11):
    """Check values, symmetry, diagonal, definiteness, subsets and copies of a kernel."""
    kernel = kernel.bind(X)
    expected = np.array([[definition(x, z) for z in X] for x in X], dtype=float)
    K = kernel(X)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(K, expected, rtol=rtol, atol=1e-13 * scale)
    np.testing.assert_allclose(K, K.T, rtol=1e-14, atol=1e-15 * scale)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), rtol=rtol)
    assert kernel.definiteness.is_psd
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * len(X) * scale
    # A value depends on its two objects alone, in all its bits.
    some = list(range(0, len(X), 2))
    gram = Gram(kernel, kernel.validate(X))
    np.testing.assert_array_equal(gram.tile(rows=some), gram.tile()[some])
    np.testing.assert_array_equal(kernel([X[i] for i in some], X), K[some])
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        np.testing.assert_array_equal(copy(X), K)
