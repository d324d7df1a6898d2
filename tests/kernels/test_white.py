"""White noise: the one kernel whose values depend on which sample an object is."""

import numpy as np
import pytest

from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Spectrum, White, normalize
from mercer.kernels.white import without_white

RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, 2))
X[3] = X[1]  # equal objects are different samples
K = RBF(0.5)(X)


def test_one_set_carries_the_level_and_two_sets_do_not():
    kernel = RBF(0.5) + White(0.3)
    np.testing.assert_array_equal(kernel(X), K + 0.3 * np.eye(7))
    np.testing.assert_array_equal(kernel(X, X), K)
    np.testing.assert_array_equal(kernel(X, X[:3]), K[:, :3])
    np.testing.assert_array_equal(kernel.diag(X), np.full(7, 1.3))
    np.testing.assert_array_equal(White(0.3)(["a", "a"]), 0.3 * np.eye(2))


def test_views_carry_it_by_row_index():
    gram = Gram(RBF(0.5) + White(0.3), X)
    index = np.array([4, 1, 3, 1])
    same = index[:, None] == index  # a repeated row is one sample
    np.testing.assert_array_equal(gram.take(index).tile(), K[np.ix_(index, index)] + 0.3 * same)
    rows, cols = np.array([0, 3, 5]), np.array([5, 1])
    whole = K + 0.3 * np.eye(7)
    np.testing.assert_array_equal(gram.tile(rows, cols), whole[np.ix_(rows, cols)])
    v = RNG.normal(size=7)
    np.testing.assert_allclose(gram.matmul(v), whole @ v, atol=1e-14)
    other = gram.with_kernel(RBF(0.5) + White(1.0)).take(index)
    np.testing.assert_array_equal(other.tile(), K[np.ix_(index, index)] + same)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (RBF(0.5) * White(0.3), 0.3 * np.eye(7)),
        (normalize(RBF(0.5) + White(1.0)), 0.5 * K + 0.5 * np.eye(7)),
        ((Linear() + White(0.5)).on_columns([1]), np.outer(X[:, 1], X[:, 1]) + 0.5 * np.eye(7)),
    ],
)
def test_it_composes(kernel, expected):
    np.testing.assert_allclose(kernel(X), expected, atol=1e-14)


@pytest.mark.parametrize(
    "kernel", [2.0 * RBF(0.5) + White(0.3), (RBF(0.5) + 0.5 * White(0.3)) * RBF(0.1)]
)
@pytest.mark.parametrize("rows", [7, 2])
def test_contractions_in_blocks_know_the_diagonal(kernel, rows, monkeypatch):
    monkeypatch.setattr("mercer.gram.contraction._BYTES", 8 * 7 * rows)
    W = RNG.normal(size=(7, 7))
    found = Gram(kernel, X).contract(W)
    for name, matrix in kernel.gradient(X).items():
        assert found[name] == pytest.approx(np.sum(matrix * W), rel=1e-10)


def test_the_covariance_of_different_samples_is_the_kernel_without_it():
    kernel = 2.0 * (RBF(0.5) + White(0.3)) + White(1.0)
    latent = without_white(kernel)
    np.testing.assert_array_equal(latent(X), 2.0 * K)
    assert without_white(RBF(0.5)) == RBF(0.5)
    assert without_white(Spectrum(2) + White(1.0))(["ab", "ab"])[0, 0] == 1.0
    with pytest.raises(ValueError, match="level"):
        White(-1.0)
