"""Values that no number holds: normalised without them, and refused by hand and by machines."""

from collections import Counter
from fractions import Fraction
from math import prod
from time import perf_counter

import numpy as np
import pytest
from sklearn.base import clone

from mercer.kernels import (
    RBF,
    ExponentialDot,
    FromFunction,
    Linear,
    Matern,
    Multiset,
    Polynomial,
    SetIntersection,
    SetPower,
    ThinPlate,
    exp,
    normalize,
)
from mercer.machines import SVC


def test_a_normalised_exponential_of_the_dot_product_is_a_gaussian_of_any_size():
    rng = np.random.default_rng(0)
    X = 1e8 + rng.normal(size=(7, 3))
    np.testing.assert_array_equal(normalize(ExponentialDot(0.8))(X), RBF(0.4)(X))
    near = rng.normal(size=(7, 3))
    raw = ExponentialDot(0.8)(near)
    expected = raw / np.sqrt(np.outer(np.diag(raw), np.diag(raw)))
    np.testing.assert_allclose(normalize(ExponentialDot(0.8))(near), expected, rtol=1e-13)
    np.testing.assert_array_equal(normalize(ExponentialDot(0.8)).diag(X), np.ones(7))


@pytest.mark.parametrize(
    "kernel",
    [Polynomial(200, 1.0, 1.0), Polynomial(200, 1.0, 0.0), (Linear() + 1.0) ** 200],
    ids=str,
)
def test_a_normalised_power_is_the_power_of_a_cosine(kernel):
    X = 1e3 * np.array([[1.0, 0.0], [1.0, 0.01], [-1.0, 0.02], [3.0, 0.1]])
    c = 0.0 if kernel == Polynomial(200, 1.0, 0.0) else 1.0
    inner = X @ X.T + c
    own = np.sqrt(np.diag(inner))
    expected = (inner / np.outer(own, own)) ** 200
    np.testing.assert_allclose(normalize(kernel)(X), expected, rtol=1e-11)
    np.testing.assert_array_equal(normalize(kernel).diag(X), np.ones(4))


def test_a_normalised_power_of_a_zero_vector_is_zero():
    K = normalize(Polynomial(3, 1.0, 0.0))([[0.0], [2.0]])
    np.testing.assert_array_equal(K, [[0.0, 0.0], [0.0, 1.0]])


def test_a_normalised_exponential_of_a_kernel_is_a_gaussian_over_its_features():
    X = [[100.0], [101.0], [-40.0]]
    np.testing.assert_allclose(normalize(exp(Linear()))(X), RBF(0.5)(X), rtol=1e-11)


@pytest.mark.parametrize(
    "kernel",
    [
        ExponentialDot(0.3),
        Polynomial(4, 0.5, 2.0),
        Polynomial(3, 0.5, 0.0),
        (0.5 * Linear() + 1.0) ** 3,
        exp(RBF(0.3) + Linear()),
        SetPower(1.7),
    ],
    ids=str,
)
def test_derivatives_of_normalised_kernels_are_slopes(kernel):
    rng = np.random.default_rng(1)
    X = [{1, 2, 3}, {2, 3}, {5}] if isinstance(kernel, SetPower) else rng.normal(size=(5, 2))
    whole = normalize(kernel)
    slopes = whole.gradient(X)
    assert set(slopes) == {f"kernel__{name}" for name in kernel.gradient(X)}
    h = 1e-6
    for name, slope in slopes.items():
        at = whole.get_params()[name]
        up, down = (clone(whole).set_params(**{name: at + s * h})(X) for s in (1, -1))
        np.testing.assert_allclose(slope, (up - down) / (2 * h), atol=1e-8, err_msg=name)


def test_derivatives_of_normalised_kernels_do_not_overflow():
    X = np.array([[100.0], [100.5]])
    slope = normalize(ExponentialDot(2.0)).gradient(X)["kernel__gamma"]
    np.testing.assert_allclose(slope[0, 1], -0.125 * np.exp(-0.25), rtol=1e-12)
    assert np.isfinite(normalize(Polynomial(200, 1.0, 1.0)).gradient(X)["kernel__coef0"]).all()


@pytest.mark.parametrize(
    ("kernel", "X", "advice"),
    [
        (ExponentialDot(1.0), [[1.0], [40.0]], "use a smaller gamma, or scale the data"),
        (Polynomial(200, 1.0), [[1e3]], "use a smaller degree or gamma, or scale the data"),
        (Linear() ** 90, [[1e3]], "use a smaller exponent, or scale the data"),
        (2 * RBF(1.0) + Polynomial(200, 1.0), [[1e3]], "use a smaller degree or gamma"),
        (ThinPlate(), [[0.0], [1e160]], "too large for a number; scale the data"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_values_that_no_number_holds_are_refused(kernel, X, advice):
    with pytest.raises(OverflowError, match=f"k\\(x, z\\) = .* under .*{advice}"):
        kernel(X)
    with pytest.raises(OverflowError, match=advice):
        kernel(X, X)


def test_the_objects_whose_value_overflows_are_named():
    with pytest.raises(OverflowError, match="for object 1 and object 2"):
        ExponentialDot(1.0)([[1.0], [30.0], [25.0]], [[0.0], [1.0], [28.0]])


def test_large_finite_values_are_no_overflow():
    K = FromFunction(lambda A, B: np.full((len(A), len(B)), 1e308))([[1.0]] * 9)
    assert K.max() == 1e308


@pytest.mark.parametrize(
    ("kernel", "names"),
    [(ExponentialDot(1.0), "gamma"), (Polynomial(200, 1.0, 0.0), "degree or gamma")],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Polynomial.*its values reach inf")
def test_machines_say_which_object_overflows_and_what_to_do(kernel, names):
    X = np.array([[1.0], [-1.0], [1e3], [-1.5]])
    words = rf"k\(x, x\) of object 2 under .* overflows; use a smaller {names}, or scale"
    with pytest.raises(ValueError, match=words):
        SVC(kernel=kernel).fit(X, [0, 1, 0, 1])


def test_sets_of_any_size_are_normalised():
    A, B = set(range(3000)), set(range(2, 3003))
    values = normalize(SetPower(2.0))([A, B, {1}])
    common = SetIntersection()([A, B, {1}])
    own = np.diag(common)
    exponent = common - 0.5 * (own[:, None] + own)
    np.testing.assert_allclose(values, 2.0**exponent, rtol=1e-12, atol=1e-300)
    with pytest.raises(OverflowError, match=r"normalize\(kernel\), a smaller base"):
        SetPower(2.0)([A])


@pytest.mark.parametrize("mode", ["multisets", "subsets"])
def test_multisets_of_any_size_are_normalised(mode):
    rng = np.random.default_rng(4)
    X = [Counter(dict(enumerate(rng.integers(0, 9, 900).tolist()))) for _ in range(3)]
    X.append(Counter({0: 10**6, 1: 3, "new": 5}))

    def value(a, b):  # integers have no range
        common = a.keys() & b.keys()
        pairs = ((a[v], b[v]) for v in common)
        return prod(1 + (p * q if mode == "subsets" else min(p, q)) for p, q in pairs)

    def cosine(a, b):
        square = Fraction(value(a, b) ** 2, value(a, a) * value(b, b))
        return np.sqrt(float(square)) if square > Fraction(1, 10**300) else 0.0

    expected = [[cosine(a, b) for b in X] for a in X]
    np.testing.assert_allclose(normalize(Multiset(mode))(X), expected, rtol=1e-11, atol=1e-150)
    known = normalize(Multiset(mode))(X[3:], X[:3])  # "new" is in no column
    np.testing.assert_array_equal(known, normalize(Multiset(mode))(X)[3:, :3])


@pytest.mark.parametrize("mode", ["multisets", "subsets"])
def test_products_of_counts_are_exact_and_quick(mode):
    a, b = Counter(x=10**6, y=999_983, z=2), Counter(x=10**6, y=999_979, w=7)
    x, y = (10**12, 999_983 * 999_979) if mode == "subsets" else (10**6, 999_979)
    begin = perf_counter()
    K = Multiset(mode)([a, b])
    assert perf_counter() - begin < 1.0  # one entry for each copy took seconds
    assert K[0, 1] == K[1, 0] == float((1 + x) * (1 + y))
    assert Multiset(mode)([Counter(q=2)], [a])[0, 0] == 1.0


def test_derivatives_of_a_sum_that_overflows_are_refused():
    kernel = Polynomial(200, 1.0) + RBF(1.0)
    with pytest.raises(OverflowError, match=r"k\(x, z\) = inf for object 0 and object 0"):
        kernel.gradient(np.full((2, 4), 50.0))


@pytest.mark.parametrize("kernel", [RBF(0.7), Matern(1.5)], ids=repr)
def test_derivatives_that_are_no_numbers_are_refused_where_values_are_some(kernel):
    far = np.array([[0.0], [1e-3], [1e200]])
    assert kernel(far)[0, 2] < 1e-300
    with pytest.raises(OverflowError, match=r"by (gamma|nu) is no number for the objects 0 and 2"):
        kernel.gradient(far)
