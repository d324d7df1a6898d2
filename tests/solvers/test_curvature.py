"""Negative curvature is found where there is some, and not where rounding looks like it."""

import numpy as np
import pytest

from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Precomputed
from mercer.solvers.curvature import look_for_negative_curvature

random = np.random.default_rng(0)
X = random.normal(size=(120, 3))
DEFINITE = RBF(0.5)(X)
INDEFINITE = DEFINITE - 0.05 * X @ X.T


def search(K, *, sum_zero=True, seconds=1.0, support=None):
    rows = np.arange(len(K)) if support is None else support
    gram = Gram(Precomputed(), K, "float64")
    return look_for_negative_curvature(
        gram, rows, sum_zero=sum_zero, seconds=seconds, value_seconds=1e-9
    )


@pytest.mark.parametrize("sum_zero", [True, False])
def test_a_direction_of_negative_curvature_is_a_witness(sum_zero):
    found = search(INDEFINITE, sum_zero=sum_zero).negative
    v = found.vector
    assert v @ INDEFINITE[np.ix_(found.rows, found.rows)] @ v == pytest.approx(found.eigenvalue)
    assert found.eigenvalue < 0
    assert np.linalg.norm(v) == pytest.approx(1)
    if sum_zero:
        assert v.sum() == pytest.approx(0, abs=1e-12)
    else:
        assert found.eigenvalue == pytest.approx(np.linalg.eigvalsh(INDEFINITE)[0])


def test_definite_and_singular_matrices_are_cleared():
    for K in (DEFINITE, X @ X.T, np.ones((50, 50)), Linear()(X + 1e3)):
        found = search(K, sum_zero=False)
        assert found.negative is None
        assert found.complete


def test_a_conditionally_definite_matrix_is_definite_enough_for_an_intercept():
    K = -((X[:, None] - X[None]) ** 2).sum(axis=-1)
    assert search(K, sum_zero=True).negative is None
    assert search(K, sum_zero=False).negative.eigenvalue < 0


def test_a_large_matrix_is_searched_in_part_and_by_random_directions(monkeypatch):
    import mercer.solvers.curvature as module

    monkeypatch.setattr(module, "_time_of", lambda n, _: n * 1e-4)
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    few = np.arange(10)
    for seconds in (5e-3, 1e-3):  # the support vectors show it, or Lanczos steps do
        found = search(INDEFINITE, seconds=seconds, support=few if seconds < 2e-3 else None)
        assert found.negative.eigenvalue < 0
        assert not found.complete
    cleared = search(DEFINITE, seconds=5e-3)
    assert cleared.negative is None
    assert not cleared.complete


def test_values_in_single_precision_are_not_held_against_the_matrix():
    K = (X @ X.T).astype(np.float32)
    K = 0.5 * (K + K.T)
    assert np.linalg.eigvalsh(K.astype(np.float64))[0] < -1e-9
    assert search(K.astype(np.float64), sum_zero=False).negative is None
