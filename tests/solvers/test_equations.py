"""Points next to which several equations hold exactly, checked in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from mercer.solvers.equations import near_equations


def _nearly_feasible(X, rng, C, free):
    """Return coefficients between -C and C that meet the equations up to rounding."""
    A = np.hstack([np.ones((len(X), 1)), X])
    beta = rng.choice([-C, 0.0, C], size=len(X))
    chosen = rng.permutation(len(X))[:free]
    scaled = A / np.abs(A).max(axis=0)
    for _ in range(5):
        beta[chosen] -= np.linalg.lstsq(scaled[chosen].T, scaled.T @ beta, rcond=None)[0]
    return beta


def _exact_moments(X, beta):
    columns = [[1.0] * len(X), *X.T.tolist()]
    weights = [Fraction(float(b)) for b in beta]
    return [sum(Fraction(a) * b for a, b in zip(c, weights, strict=True)) for c in columns]


def _solved(M, r):
    rows = [[*row, value] for row, value in zip(M, r, strict=True)]
    for k in range(len(rows)):
        best = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e5])
@pytest.mark.parametrize("free", [3, 12])
def test_there_is_an_exact_solution_within_the_distance(offset, free):
    rng = np.random.default_rng(free)
    X = offset + rng.normal(size=(20, 2))
    beta = _nearly_feasible(X, rng, 1.0, free)
    C = max(1.0, 2.0 * float(np.abs(beta).max()))  # no free one at a bound
    found = near_equations(beta, np.full(20, -C), np.full(20, C), X)
    assert found is not None
    point, distance = found
    assert np.abs(point - beta).max() < 1e-9 * C
    moved = np.flatnonzero(distance)
    if not len(moved):
        assert not any(_exact_moments(X, point))
        return
    M = [[Fraction(1)] * len(moved)] + [[Fraction(v) for v in X[moved, j].tolist()] for j in (0, 1)]
    step = _solved(M, [-m for m in _exact_moments(X, point)])
    assert all(abs(s) <= Fraction(d) for s, d in zip(step, distance[moved].tolist(), strict=True))
    assert distance.max() < 1e-13 * C
    assert (np.abs(point) + distance <= C).all()


def test_where_all_coefficients_are_at_their_bounds_they_are_moved_inwards():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 2))
    X = np.vstack([X, X[::-1] + 1e-16 * rng.normal(size=X.shape)])
    beta = np.repeat([1.0, -1.0], 12)
    X[3] += 3e-16  # which leaves a residual that no coefficient may correct outwards
    found = near_equations(beta, np.minimum(beta, 0.0), np.maximum(beta, 0.0), X)
    assert found is not None
    point, distance = found
    assert (np.abs(point) + distance <= 1.0).all()
    assert np.abs(point - beta).max() < 1e-10


def test_columns_that_depend_on_each_other_exactly_need_no_equation_of_their_own():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(15, 1))
    repeated = np.hstack([X, 2.0 * X, np.full((15, 1), 3.0), np.zeros((15, 1))])
    beta = _nearly_feasible(X, rng, 1.0, 6)
    box = np.full(15, 100.0)
    found = near_equations(beta, -box, box, repeated)
    assert found is not None
    assert found.distance.max() < 1e-13
    nearly = np.hstack([X, X * (1.0 + 1e-15 * rng.normal(size=(15, 1)))])
    assert near_equations(beta, -box, box, nearly) is None


def test_coefficients_far_outside_their_bounds_have_no_point():
    X = np.arange(4.0)[:, None]
    beta = np.array([1.0, -2.0, 1.0, 0.0])
    assert near_equations(beta, np.full(4, -1.0), np.full(4, 1.0), X) is None
    exact = near_equations(beta, np.full(4, -2.0), np.full(4, 2.0), X)
    assert exact is not None
    np.testing.assert_array_equal(exact.point, beta)
    assert not exact.distance.any()
