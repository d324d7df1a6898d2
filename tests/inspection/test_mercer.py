"""Mercer's decomposition, weighted features, and operators whose Green's function is a kernel."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.inspection import (
    FourierOperator,
    PolynomialOperator,
    WeightedFeatures,
    check,
    eigenfunctions,
    fourier_transform,
    green_gram,
    kernel_from_eigensystem,
    mercer_decomposition,
)
from mercer.kernels import RBF, FromFunction, Laplacian, Linear, Polynomial

TWO_PI = 2 * np.pi


def geometric(A, B, q=0.5):
    u = np.asarray(A) - np.asarray(B).T
    return (1 - q * np.cos(u)) / (1 - 2 * q * np.cos(u) + q**2)


def waves(x):
    """Orthonormal functions on [0, 2 pi]: 1, cos, sin, cos 2, sin 2."""
    x = np.asarray(x, dtype=float).reshape(-1, 1)
    columns = [np.full_like(x, np.sqrt(0.5))]
    for n in (1, 2):
        columns += [np.cos(n * x), np.sin(n * x)]
    return np.hstack(columns) / np.sqrt(np.pi)


@pytest.mark.spec("CS-3.24", "SM-3.05")
def test_eigenvalues_of_a_fourier_kernel():
    found = mercer_decomposition(geometric, (0, TWO_PI), n_terms=5, n_nodes=64, rule="periodic")
    expected = [TWO_PI, np.pi / 2, np.pi / 2, np.pi / 4, np.pi / 4]
    assert found.eigenvalues == pytest.approx(expected, abs=1e-9)
    constant = found.eigenfunctions([[0.1], [2.0], [5.5]])[:, 0]
    assert constant == pytest.approx(np.full(3, 1 / np.sqrt(TWO_PI)))


@pytest.mark.spec("CS-3.24", "SM-3.05")
def test_eigenvalues_and_functions_of_brownian_motion():
    found = mercer_decomposition(
        lambda A, B: np.minimum(A, B.T), (0, 1), n_terms=3, n_nodes=400, rule="midpoint"
    )
    j = np.arange(1, 4)
    exact = 1 / ((j - 0.5) ** 2 * np.pi**2)
    assert found.eigenvalues == pytest.approx(exact, rel=5e-5)
    assert found.eigenvalues.round(4).tolist() == [0.4053, 0.045, 0.0162]
    x = np.array([[0.15], [0.4], [0.85]])
    functions = np.sqrt(2) * np.sin((j - 0.5) * np.pi * x)
    assert np.abs(found.eigenfunctions(x)) == pytest.approx(np.abs(functions), abs=1e-3)
    assert found.trace == pytest.approx(0.5)


@pytest.mark.spec("CS-3.24", "SM-3.05")
@pytest.mark.parametrize("rule", ["gauss", "midpoint"])
def test_the_expansion_reconstructs_the_kernel(rule):
    found = mercer_decomposition(RBF(2.0), (-1, 1), n_nodes=60, rule=rule)
    x = np.linspace(-1, 1, 11)[:, None]
    assert found.reconstruct(x) == pytest.approx(RBF(2.0)(x), abs=1e-9)
    assert found.trace == pytest.approx(2.0)
    assert found.eigenvalues.sum() == pytest.approx(found.trace)
    assert found.n_negative == 0
    inner = found.values.T @ (found.weights[:, None] * found.values)
    assert inner == pytest.approx(np.eye(len(inner)), abs=1e-12)
    assert found.eigenfunctions(found.nodes)[:, :6] == pytest.approx(found.values[:, :6])


@pytest.mark.spec("SM-3.05")
def test_the_integral_equation_holds_away_from_the_nodes():
    found = mercer_decomposition(RBF(2.0), (-1, 1), n_nodes=40, n_terms=6)
    x = np.linspace(-0.95, 0.9, 9)[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(90)  # another rule
    images = RBF(2.0)(x, nodes[:, None]) @ (weights[:, None] * found.eigenfunctions(nodes[:, None]))
    assert images == pytest.approx(found.eigenvalues * found.eigenfunctions(x), abs=1e-10)


@pytest.mark.spec("HO-05", "SM-3.05")
def test_more_terms_approximate_better_and_the_tail_bounds_the_error():
    X = np.random.default_rng(0).normal(size=(40, 2))
    kernel = RBF(0.5)
    found = mercer_decomposition(kernel, X)
    K = kernel(X)
    errors = []
    for m in (1, 3, 6, 12, 25):
        left = K - found.reconstruct(X, n_terms=m)
        errors.append(np.linalg.norm(left))
        assert np.diagonal(left).mean() == pytest.approx(found.tail(m), abs=1e-12)
        limits = np.sqrt(np.maximum(np.outer(np.diagonal(left), np.diagonal(left)), 0))
        assert (np.abs(left) <= limits + 1e-9).all()
    assert all(b < a for a, b in itertools.pairwise(errors))


@pytest.mark.spec("CS-3.24", "HO-05")
def test_on_samples_the_eigenvalues_are_those_of_the_matrix():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = mercer_decomposition(RBF(1.0), X, n_terms=4)
    assert found.eigenvalues == pytest.approx(np.linalg.eigvalsh(RBF(1.0)(X))[::-1][:4] / 30)
    assert found.reconstruct(X[:3], X).shape == (3, 30)
    weights = np.arange(1.0, 31.0)
    heavy = mercer_decomposition(RBF(1.0), X, weights=weights)
    assert heavy.trace == pytest.approx(weights.sum())
    repeated = mercer_decomposition(RBF(1.0), np.repeat(X, np.arange(1, 31), axis=0), n_terms=4)
    assert repeated.eigenvalues * weights.sum() == pytest.approx(heavy.eigenvalues[:4])


def test_samples_of_any_objects():
    words = ["a", "bb", "ccc", "dd"]
    found = mercer_decomposition(lambda A, B: [[min(len(a), len(b)) for b in B] for a in A], words)
    assert len(found.eigenvalues) == 3  # three lengths
    assert found.reconstruct(words)[0] == pytest.approx([1, 1, 1, 1])


def test_many_samples_need_no_matrix(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 2))
    full = mercer_decomposition(RBF(1.0), X, n_terms=5)
    monkeypatch.setattr(eigenfunctions, "DENSE", 30)
    few = mercer_decomposition(RBF(1.0), X, n_terms=5)
    assert few.eigenvalues == pytest.approx(full.eigenvalues)
    assert few.values == pytest.approx(full.values, abs=1e-6)


@pytest.mark.spec("SM-3.05")
def test_eigenfunctions_need_not_be_bounded_alike():
    # The largest value of the eigenfunctions is reported, since theorem 3.1 of the thesis is
    # wrong to call it bounded for every kernel: here it grows with the number of terms.
    legendre = np.polynomial.legendre.legvander

    def kernel(A, B):
        j = np.arange(12)
        scaled = [legendre(np.asarray(x)[:, 0], 11) * np.sqrt(j + 0.5) for x in (A, B)]
        return (scaled[0] * 0.5**j) @ scaled[1].T

    found = mercer_decomposition(kernel, (-1, 1), n_nodes=60)
    assert found.eigenvalues == pytest.approx(0.5 ** np.arange(12))
    sizes = [np.abs(found.values[:, :m]).max() for m in (1, 4, 8, 12)]
    assert all(b > a * 1.2 for a, b in itertools.pairwise(sizes))
    assert found.largest_value == sizes[-1]


def test_an_indefinite_function_shows_its_negative_part():
    found = mercer_decomposition(lambda A, B: np.cos(A - B.T) - 0.5, (0, TWO_PI), rule="periodic")
    assert found.n_negative == 1
    assert found.eigenvalues == pytest.approx([np.pi, np.pi])
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        mercer_decomposition(lambda A, B: -np.ones((len(A), len(B))), (0, 1))


@pytest.mark.parametrize(
    ("domain", "options", "message"),
    [
        ((1, 0), {}, "low < high"),
        ((0, np.inf), {}, "finite"),
        ((0, 1, 2), {}, "pair"),
        ((0, 1), {"rule": "simpson"}, "rule must be one of"),
        ((0, 1), {"weights": [1.0]}, "weights belong to objects"),
        ([[1.0], [2.0]], {"weights": [1.0, 0.0]}, "positive numbers"),
        ((0, 1), {"n_terms": 0}, "n_terms"),
        ((0, 1), {"n_nodes": 1}, "n_nodes"),
    ],
)
def test_bad_domains_are_refused(domain, options, message):
    with pytest.raises(ValueError, match=message):
        mercer_decomposition(RBF(1.0), domain, **options)


# -- weighted features ----------------------------------------------------------------------

WEIGHTS = np.array([2.0, 1.0, 1.0, 0.25, 0.25])


@pytest.mark.spec("CS-3.25")
@given(st.lists(st.floats(0.1, 10.0), min_size=5, max_size=5))
@settings(max_examples=25)
def test_rescaled_features_have_the_same_kernel(b):
    features = WeightedFeatures(waves, WEIGHTS)
    x = np.linspace(0, 6, 5)[:, None]
    K = features.kernel()(x)
    assert pytest.approx(K, abs=1e-12) == features.rescale(b).kernel()(x)
    assert pytest.approx(K) == (waves(x) * WEIGHTS) @ waves(x).T
    inner = features.inner(waves(x)[1], waves(x)[3])
    assert inner == pytest.approx(K[1, 3])


@pytest.mark.spec("CS-3.25")
def test_mercer_features_are_weighted_by_the_eigenvalues():
    found = mercer_decomposition(geometric, (0, TWO_PI), n_nodes=64, rule="periodic")
    features = found.features()
    x = np.array([[0.3], [1.7], [4.0]])
    assert features.kernel()(x) == pytest.approx(geometric(x, x), abs=1e-9)
    assert features.weights is not found.eigenvalues or (features.weights > 0).all()


@pytest.mark.spec("CS-3.26")
def test_primal_and_dual_form_of_one_function():
    rng = np.random.default_rng(0)
    features = WeightedFeatures(waves, WEIGHTS)
    X, alpha, y = rng.uniform(0, 6, (7, 1)), rng.random(7), rng.choice([-1, 1], 7)
    test = rng.uniform(0, 6, (9, 1))
    psi = features.primal(alpha * y, X)
    dual = features.kernel()(test, X) @ (alpha * y)
    assert features.evaluate(psi, test) == pytest.approx(dual)
    assert features.inner(psi, psi) == pytest.approx(
        (alpha * y) @ features.kernel()(X) @ (alpha * y)
    )


@pytest.mark.spec("CS-3.27")
def test_the_map_to_functions_is_linear_and_is_the_feature_matrix():
    features = WeightedFeatures(waves, WEIGHTS)
    rng = np.random.default_rng(0)
    psi, other = rng.normal(size=(2, 5))
    grid = np.linspace(0, 6, 13)[:, None]
    f, g = features.function(psi), features.function(other)
    assert f(grid) == pytest.approx(waves(grid) @ psi)
    both = features.function(2 * psi - 3 * other)
    assert both(grid) == pytest.approx(2 * f(grid) - 3 * g(grid))
    # Weighted, it is the decision function of a machine.
    weighted = features.function(WEIGHTS * psi)
    assert weighted(grid) == pytest.approx(features.evaluate(psi, grid))


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match=r"weight 1 is -0\.5"):
        WeightedFeatures(waves, [1.0, -0.5])
    with pytest.raises(ValueError, match="finite"):
        WeightedFeatures(waves, [np.nan])
    with pytest.raises(ValueError, match="other than 0"):
        WeightedFeatures(waves, WEIGHTS).rescale([0.0] * 5)
    with pytest.raises(ValueError, match="2 columns, one per weight"):
        WeightedFeatures(waves, [1.0, 1.0]).function([1.0, 1.0])([[0.0]])


# -- operators ------------------------------------------------------------------------------


@pytest.mark.spec("SM-3.11")
def test_the_green_function_on_a_grid_is_the_kernel():
    h = 0.04
    x = np.arange(-9, 9, h)
    n = len(x)
    derivative = (np.eye(n, k=1) - np.eye(n))[:-1] / h
    P = np.vstack([np.eye(n), derivative])
    K = green_gram(P, spacing=h)
    middle = np.abs(x) < 2  # away from the ends of the interval
    expected = 0.5 * np.exp(-np.abs(x[:, None] - x))
    assert K[np.ix_(middle, middle)] == pytest.approx(expected[np.ix_(middle, middle)], abs=1e-3)
    # <P K_i, P K_j> = K_ij: a machine with this kernel minimises ||Pf||^2.
    assert h * (P @ K).T @ (P @ K) == pytest.approx(K, abs=1e-10)
    assert check(K[:40, :40]).is_psd


@pytest.mark.spec("SM-3.11")
def test_an_operator_with_a_null_space_gives_a_pseudo_inverse():
    n = 12
    P = (np.eye(n, k=1) - np.eye(n))[:-1]
    K = green_gram(P)
    assert K @ np.ones(n) == pytest.approx(np.zeros(n), abs=1e-10)
    assert pytest.approx(K) == K @ P.T @ P @ K
    with pytest.raises(ValueError, match="spacing"):
        green_gram(P, spacing=0.0)
    with pytest.raises(ValueError, match="finite"):
        green_gram([[np.nan]])


@pytest.mark.spec("SM-3.12")
def test_a_kernel_from_an_eigensystem_is_self_consistent():
    eigenvalues = np.exp(np.array([0.0, 1, 1, 4, 4]) * 0.5)  # those of the Gaussian operator
    keep = np.array([False, True, True, True, True])
    features = kernel_from_eigensystem(eigenvalues, waves, keep=keep)
    x = np.linspace(0, TWO_PI, 4, endpoint=False)[:, None]
    K = features.kernel()(x)
    # <k(x, .), P*P k(z, .)> by quadrature, exact for trigonometric polynomials.
    grid = np.linspace(0, TWO_PI, 32, endpoint=False)[:, None]
    coefficients = waves(x) * keep / eigenvalues
    k_x = coefficients @ waves(grid).T
    pp_k = (coefficients * eigenvalues) @ waves(grid).T
    assert k_x @ pp_k.T * TWO_PI / 32 == pytest.approx(K)
    u = x - x.T
    direct = (np.exp(-0.5) * np.cos(u) + np.exp(-2.0) * np.cos(2 * u)) / np.pi
    assert pytest.approx(direct) == K


@pytest.mark.spec("SM-3.12", "SM-3.13")
def test_masked_functions_are_absent_from_predictions():
    eigenvalues = np.array([1.0, 2, 2, 5, 5])
    keep = np.array([True, True, False, True, False])  # no sines
    kernel = kernel_from_eigensystem(eigenvalues, waves, keep=keep).kernel()
    X = np.random.default_rng(0).uniform(0, TWO_PI, (9, 1))
    y = np.sin(X[:, 0])
    coefficients = np.linalg.solve(kernel(X) + 1e-6 * np.eye(9), y)
    grid = np.linspace(0, TWO_PI, 64, endpoint=False)[:, None]
    f = kernel(grid, X) @ coefficients
    sines = waves(grid)[:, [2, 4]].T @ f * TWO_PI / 64
    assert sines == pytest.approx([0, 0], abs=1e-8)


@pytest.mark.spec("SM-3.13")
def test_the_integral_operator_inverts_the_penalty_on_what_is_kept():
    eigenvalues = np.array([1.0, 2, 2, 5, 5])
    keep = np.array([True, True, True, False, True])
    kernel = kernel_from_eigensystem(eigenvalues, waves, keep=keep).kernel()
    grid = np.linspace(0, TWO_PI, 32, endpoint=False)[:, None]
    T = kernel(grid) * TWO_PI / 32
    psi = waves(grid)
    assert T @ (psi * eigenvalues) == pytest.approx(psi * keep, abs=1e-12)


@pytest.mark.spec("SM-3.13")
def test_leaving_out_flat_functions_costs_more_than_leaving_out_steep_ones():
    eigenvalues = np.array([1.0, 2, 2, 5, 5])
    X = np.linspace(0, 6, 20)[:, None]
    y = 1.0 + 0.1 * np.cos(2 * X[:, 0])
    norms = {}
    for name, dropped in (("flat", 0), ("steep", 4)):
        keep = np.arange(5) != dropped
        kernel = kernel_from_eigensystem(eigenvalues, waves, keep=keep).kernel()
        coefficients = np.linalg.solve(kernel(X) + 1e-3 * np.eye(20), y)
        norms[name] = y @ coefficients
    assert norms["flat"] > 10 * norms["steep"]


def test_bad_eigensystems_are_refused():
    with pytest.raises(ValueError, match="positive finite"):
        kernel_from_eigensystem([1.0, 0.0], waves)
    with pytest.raises(ValueError, match="2 entries"):
        kernel_from_eigensystem([1.0, 2.0], waves, keep=[True])


@pytest.mark.spec("SM-3.14")
@pytest.mark.parametrize("kernel", [RBF(0.6), Laplacian(1.4)], ids=repr)
def test_the_norm_of_an_expansion_is_its_quadratic_form(kernel):
    rng = np.random.default_rng(0)
    X, alpha = rng.normal(size=5), rng.normal(size=5)
    operator = FourierOperator(lambda w: fourier_transform(kernel, w))

    def transform(w):  # of f = sum_i alpha_i k(x_i, .)
        return fourier_transform(kernel, w) * (np.exp(-1j * np.outer(w, X)) @ alpha)

    norm = operator.inner(transform, transform, cutoff=3000.0)
    assert norm == pytest.approx(alpha @ kernel(X[:, None]) @ alpha, rel=2e-3)
    if isinstance(kernel, RBF):
        exact = alpha @ kernel(X[:, None]) @ alpha
        assert operator.inner(transform, transform) == pytest.approx(exact, rel=1e-10)


def test_transforms_far_above_the_frequencies_of_the_filter_are_found():
    operator = FourierOperator(lambda w: 1 / (1 + w**2))

    def far(w):
        return np.exp(-((w - 300.0) ** 2))

    exact = 2 / np.sqrt(TWO_PI) * np.sqrt(np.pi / 2) * (1 + 300.0**2 + 0.25)
    assert operator.inner(far, far) == pytest.approx(exact, rel=1e-9)
    with pytest.warns(RuntimeWarning, match="vanishes at all sampled frequencies"):
        assert operator.inner(far, far, cutoff=100.0) == 0.0


@pytest.mark.spec("SM-3.14", "SM-3.15")
def test_the_green_function_of_a_filter():
    sobolev = FourierOperator(lambda w: 1 / (1 + w**2))
    r = np.array([0.0, 0.3, 2.0])
    assert sobolev.green_function(r) == pytest.approx(np.sqrt(np.pi / 2) * np.exp(-r), abs=1e-9)
    # In space the same operator has no bounded kernel.
    in_space = FourierOperator(lambda w: 1 / (1 + w**2), dimension=3)
    assert in_space.green_function([0.0])[0] == np.inf
    assert in_space.green_function([0.7])[0] == pytest.approx(
        np.sqrt(np.pi / 2) * np.exp(-0.7) / 0.7
    )
    with pytest.raises(ValueError, match="dimension=1"):
        in_space.inner(np.cos, np.cos)


@pytest.mark.spec("SM-3.14")
def test_excluded_frequencies_cost_nothing_and_negative_ones_are_refused():
    band = FourierOperator(lambda w: (w < 2).astype(float))
    wide = band.inner(lambda w: np.exp(-(w**2) / 2), lambda w: np.exp(-(w**2) / 2), cutoff=8.0)
    w = np.linspace(-2, 2, 200001)
    assert wide == pytest.approx(np.exp(-(w**2)).sum() * 2e-5 / np.sqrt(TWO_PI), abs=1e-4)
    with pytest.raises(ValueError, match="Bochner"):
        FourierOperator(lambda w: np.cos(w))


# -- the polynomial operator ----------------------------------------------------------------


def test_the_operator_of_the_quadratic_kernel_with_the_corrected_exponent():
    operator = PolynomialOperator(Polynomial(2, 1.0), 2)
    x, z = np.array([0.3, -1.2]), np.array([0.7, 0.4])
    f, g = operator.taylor(x), operator.taylor(z)
    assert operator.inner(f, g) == pytest.approx(0.0729)
    printed = sum(f[n] * g[n] * w for n, w in operator.weights.items())
    assert printed == pytest.approx(-0.5319)


@given(st.integers(1, 4), st.integers(1, 3), st.floats(0.1, 3), st.sampled_from([0.0, 0.5, 2.0]))
@settings(max_examples=30)
def test_the_polynomial_operator_is_self_consistent(degree, dimension, gamma, coef0):
    kernel = Polynomial(degree, gamma, coef0)
    operator = PolynomialOperator(kernel, dimension)
    x, z = np.random.default_rng(degree).normal(size=(2, dimension))
    value = operator.inner(operator.taylor(x), operator.taylor(z))
    assert value == pytest.approx(kernel(x[None], z[None])[0, 0])


def test_other_degrees_do_not_change_the_norm():
    operator = PolynomialOperator(Polynomial(2, 1.0), 2)
    f = operator.taylor([1.0, 2.0])
    assert operator.inner(f | {(1, 0): 9.0}, f) == operator.inner(f, f)
    with pytest.raises(ValueError, match="Polynomial kernel"):
        PolynomialOperator(Polynomial(2, 1.0, -1.0), 2)
    with pytest.raises(ValueError, match="2 entries"):
        operator.taylor([1.0])


def test_linear_kernels_have_linear_eigenfunctions():
    found = mercer_decomposition(Linear(), (-1, 1))
    assert found.eigenvalues == pytest.approx([2 / 3])
    x = np.array([[0.5], [-1.0]])
    assert np.abs(found.eigenfunctions(x)[:, 0]) == pytest.approx(np.sqrt(1.5) * np.abs(x[:, 0]))
    assert isinstance(FromFunction(geometric), FromFunction)
