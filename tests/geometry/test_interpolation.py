"""Interpolation with conditionally positive definite kernels, and their polynomials."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.interpolate import RBFInterpolator

from mercer import Expansion
from mercer.geometry import interpolate
from mercer.kernels import (
    RBF,
    FromFunction,
    LogDistance,
    Multiquadric,
    NegativeDistance,
    Spectrum,
    ThinPlate,
    seminorm2,
)

rng = np.random.default_rng(10)
X = rng.normal(size=(40, 2))
Z = 3.0 * rng.normal(size=(25, 2))
y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2

FIRST = [NegativeDistance(), NegativeDistance(1.5), LogDistance(), Multiquadric()]
SECOND = [ThinPlate(), 2 * ThinPlate(), ThinPlate() + RBF(1.0), ThinPlate() + NegativeDistance()]


@pytest.mark.parametrize("kernel", FIRST + SECOND, ids=repr)
def test_values_are_met_and_polynomials_reproduced(kernel):
    f = interpolate(kernel, X, y)
    np.testing.assert_allclose(f(X), y, atol=1e-10)
    degree = kernel.definiteness.order - 1
    polynomial = lambda A: 2.0 + degree * (A @ [1.0, -3.0])  # noqa: E731
    g = interpolate(kernel, X, polynomial(X))
    np.testing.assert_allclose(g(Z), polynomial(Z), atol=1e-12)
    assert g.norm2() == 0.0
    # Adding a polynomial to the values adds it to the function, and nothing to the seminorm.
    h = interpolate(kernel, X, y + polynomial(X))
    np.testing.assert_allclose(h(Z), f(Z) + polynomial(Z), atol=1e-9)
    assert h.norm2() == pytest.approx(f.norm2(), rel=1e-9)


@pytest.mark.parametrize("kernel", [*FIRST, ThinPlate()], ids=repr)
def test_no_function_through_the_values_has_a_smaller_seminorm(kernel):
    f = interpolate(kernel, X[:20], y[:20])
    assert seminorm2(kernel, X[:20], f.coef) == pytest.approx(f.norm2(), rel=1e-9)
    for seed in range(3):  # more values of any other function
        others = np.random.default_rng(seed).normal(size=20)
        longer = interpolate(kernel, X, np.concatenate([y[:20], others]))
        assert longer.norm2() > f.norm2()
    # ... unless they are those of the function itself.
    same = interpolate(kernel, X, f(X))
    assert same.norm2() == pytest.approx(f.norm2(), rel=1e-8)
    np.testing.assert_allclose(same(Z), f(Z), atol=1e-8)


@pytest.mark.parametrize(
    ("kernel", "name"), [(ThinPlate(), "thin_plate_spline"), (NegativeDistance(), "linear")]
)
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_another_implementation_finds_the_same_surface(kernel, name, shift):
    f = interpolate(kernel, X + shift, y)
    peer = RBFInterpolator(X + shift, y, kernel=name, degree=kernel.definiteness.order - 1)
    np.testing.assert_allclose(f(Z + shift), peer(Z + shift), rtol=1e-8, atol=1e-9)


def test_on_a_line_the_negative_distance_draws_straight_pieces():
    x = np.sort(rng.normal(size=9))
    values = rng.normal(size=9)
    f = interpolate(NegativeDistance(), x[:, None], values)
    t = np.linspace(x[0] - 1.0, x[-1] + 1.0, 101)
    np.testing.assert_allclose(f(t[:, None]), np.interp(t, x, values), atol=1e-12)
    # The seminorm is half the integral of f'^2.
    assert f.norm2() == pytest.approx(0.5 * np.sum(np.diff(values) ** 2 / np.diff(x)))


def test_any_objects_have_constants_beside_them():
    def minus_differences(A, B):
        return [[-float(sum(a != b for a, b in zip(s, t, strict=True))) for t in B] for s in A]

    kernel = FromFunction(minus_differences, "conditionally positive definite")
    words = ["abc", "abd", "xyz", "abz", "xbz"]
    values = [1.0, 2.0, 3.0, 4.0, 6.0]
    f = interpolate(kernel, words, values)
    np.testing.assert_allclose(f(words), values, atol=1e-12)
    assert interpolate(kernel, words, np.full(5, 7.0))(["qqq"]) == pytest.approx(7.0)


def test_columns_sparse_rows_repeated_objects_and_files(tmp_path):
    wide = np.hstack([X, rng.normal(size=(40, 1))])
    kernel = ThinPlate().on_columns([0, 1])
    f = interpolate(kernel, wide, y)
    np.testing.assert_allclose(f(wide), y, atol=1e-10)
    np.testing.assert_allclose(f(np.c_[Z, Z[:, 0]]), interpolate(ThinPlate(), X, y)(Z), atol=1e-9)
    nested = interpolate(ThinPlate().on_columns([1, 0]).on_columns([0, 2]), wide[:, [0, 2, 1]], y)
    np.testing.assert_allclose(nested(wide[:, [0, 2, 1]]), y, atol=1e-10)
    sparse = interpolate(ThinPlate(), sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse(sp.csr_matrix(X)), y, atol=1e-10)
    twice, values = np.vstack([X, X[:2]]), np.concatenate([y, y[:2]])
    again = interpolate(ThinPlate(), twice, values)
    np.testing.assert_allclose(again(Z), interpolate(ThinPlate(), X, y)(Z), atol=1e-8)
    with pytest.raises(ValueError, match="contradict"):
        interpolate(ThinPlate(), twice, np.concatenate([y, y[:2] + 1.0]))
    f.save(tmp_path / "surface")
    np.testing.assert_array_equal(Expansion.load(tmp_path / "surface")(wide), f(wide))
    three = interpolate(ThinPlate(), X[:3], y[:3])  # as many as coefficients: a plane
    assert not three.coef.any()
    one = interpolate(Multiquadric(), X[:1], y[:1])
    assert one(Z) == pytest.approx(y[0])


@pytest.mark.parametrize(
    ("points", "why"),
    [
        (np.c_[np.arange(5.0), 3.0 * np.arange(5.0)], "all lie on a line"),
        (np.c_[np.arange(5.0), 0.1 * np.arange(5.0)] + 1e6, "all lie on a line"),
        (X @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]], "all lie on a plane"),
        (X @ [[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0]], "all lie on a hyperplane"),
        (np.c_[np.arange(5.0), np.ones(5)], "column 1 of them is constant"),
        (X[:2], "a linear function of 2 columns has 3 coefficients"),
        (np.zeros((4, 1)), "column 0 of them is constant"),
    ],
)
def test_points_that_determine_no_linear_function_are_refused(points, why):
    with pytest.raises(ValueError, match=f"linear term of ThinPlate\\(\\): {why}"):
        interpolate(ThinPlate(), points, np.arange(float(len(points))))
    # The constant alone is determined by any object.
    f = interpolate(NegativeDistance(), points[:1], [3.0])
    assert f(points[:1]) == pytest.approx(3.0)


def test_linear_functions_need_numbers():
    frame = np.array([["ab", 1.0, 2.0], ["ba", 2.0, 1.0], ["aa", 0.0, 0.0]], dtype=object)
    kernel = Spectrum(1).on_columns(0) + ThinPlate().on_columns([1, 2])
    with pytest.raises(ValueError, match="all must be numbers"):
        interpolate(kernel, frame, [1.0, 2.0, 3.0])
