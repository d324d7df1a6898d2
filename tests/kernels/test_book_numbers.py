"""Identities and worked numbers of the literature."""

from itertools import product
from math import comb, factorial, sqrt

import numpy as np
import pytest
from sklearn.svm import SVC

import mercer
from mercer.geometry import norm
from mercer.kernels import (
    RBF,
    FromFeatureMap,
    FromFunction,
    Linear,
    Polynomial,
    White,
    polynomial,
)

rng = np.random.default_rng(6)
X = rng.normal(size=(10, 3))
Z = rng.normal(size=(7, 3))
x, z = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])

# Learning From Data, Problem 8.13: nine positive points, then eleven negative ones.
POINTS = np.array(
    [
        (-0.494, 0.363), (-0.311, -0.101), (-0.0064, 0.374), (-0.0089, -0.173), (0.0014, 0.138),
        (-0.189, 0.718), (0.085, 0.32208), (0.171, -0.302), (0.142, 0.568),
        (0.491, 0.920), (-0.892, -0.946), (-0.721, -0.710), (0.519, -0.715), (-0.775, 0.551),
        (-0.646, 0.773), (-0.803, 0.878), (0.944, 0.801), (0.724, -0.795), (-0.748, -0.853),
        (-0.635, -0.905),
    ]
)  # fmt: skip
LABELS = np.array([1] * 9 + [-1] * 11)


def hard_margin(K, y=LABELS):
    """Return support (1-based), margin and dual coefficients of the separating hyperplane."""
    model = SVC(kernel="precomputed", C=1e10, tol=1e-9).fit(K, y)
    coefficients = np.zeros(len(y))
    coefficients[model.support_] = model.dual_coef_[0]
    return set(model.support_ + 1), 1 / sqrt(coefficients @ K @ coefficients), model


@pytest.mark.spec("LFD-42")
def test_a_machine_on_features_and_one_on_the_kernel_agree():
    kernel = Polynomial(2, 1.0, 1.0)
    features = kernel.feature_map(POINTS)
    grid = rng.uniform(-1, 1, size=(50, 2))
    explicit = SVC(kernel="linear", C=10, tol=1e-9).fit(features, LABELS)
    implicit = SVC(kernel=kernel, C=10, tol=1e-9).fit(POINTS, LABELS)
    np.testing.assert_allclose(
        implicit.decision_function(grid),
        explicit.decision_function(kernel.feature_map(grid)),
        atol=1e-6,
    )
    np.testing.assert_array_equal(implicit.support_, explicit.support_)


@pytest.mark.spec("LFD-44")
def test_one_plus_t_plus_t_squared():
    kernel = polynomial(Linear(), [1, 1, 1])
    assert kernel(x, z).tolist() == [[133.0]]
    features = kernel.feature_map(np.vstack([x, z]))
    assert features.shape == (2, 1 + 2 + 4)
    assert features[0] @ features[1] == pytest.approx(133.0, rel=1e-15)


@pytest.mark.spec("LFD-45")
def test_the_second_order_kernel_and_its_features():
    kernel = Polynomial(degree=2, gamma=2.0, coef0=3.0)
    assert kernel(x, z).tolist() == [[625.0]]
    ordered = kernel.feature_map(x, ordered=True)
    root = sqrt(2 * 2 * 3)
    np.testing.assert_allclose(ordered, [[3, root * 1, root * 2, 2, 4, 4, 8]], rtol=1e-15)
    for ordering in (False, True):
        left, right = kernel.feature_map(x, ordering), kernel.feature_map(z, ordering)
        assert left @ right.T == pytest.approx(625.0, rel=1e-14)


@pytest.mark.spec("LFD-45")
@pytest.mark.parametrize(
    ("gamma", "support", "margin"),
    [
        (0.5, {6, 10, 12, 13, 15}, 0.0882),
        (1.0, {6, 10, 12, 13, 15}, 0.1762),
        (10.0, {1, 6, 10, 13, 15}, 1.7217),
    ],
)
def test_another_gamma_is_another_geometry(gamma, support, margin):
    found, width, _ = hard_margin(Polynomial(2, gamma, 1.0)(POINTS))
    assert found == support
    assert width == pytest.approx(margin, abs=5e-5)


@pytest.mark.spec("LFD-45")
def test_any_weights_of_the_features_make_a_kernel():
    weights = np.array([3, 1, 4, 1, 5, 9, 2.0])

    def phi(A):
        return Polynomial(2, 1.0, 1.0).feature_map(A, ordered=True) * weights

    np.testing.assert_allclose(FromFeatureMap(phi)(POINTS), phi(POINTS) @ phi(POINTS).T)


@pytest.mark.spec("LFD-46")
def test_monomials_carry_multinomial_weights():
    degree, gamma, coef0 = 3, 0.7, 1.3
    kernel = Polynomial(degree, gamma, coef0)

    def phi(A):  # every exponent (k0, k1, k2) of coef0, x1, x2 with sum 3
        exponents = [k for k in product(range(degree + 1), repeat=3) if sum(k) == degree]
        return np.column_stack(
            [
                sqrt(factorial(degree) / (factorial(k0) * factorial(k1) * factorial(k2)))
                * sqrt(coef0**k0 * gamma ** (k1 + k2)) * A[:, 0] ** k1 * A[:, 1] ** k2
                for k0, k1, k2 in exponents
            ]
        )  # fmt: skip

    A = rng.normal(size=(8, 2))
    features = kernel.feature_map(A)
    assert features.shape == (8, comb(2 + degree, degree))
    np.testing.assert_allclose(features @ features.T, phi(A) @ phi(A).T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(features @ features.T, kernel(A), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        np.sort(np.abs(features), axis=1), np.sort(np.abs(phi(A)), axis=1), rtol=1e-12
    )


@pytest.mark.spec("LFD-47")
def test_the_taylor_features_of_the_gaussian():
    kernel = RBF(gamma=1.0)
    assert kernel([[0.5]], [[1.0]])[0, 0] == pytest.approx(0.778801, abs=5e-7)
    for n_terms, value in [(3, 0.716262), (5, 0.775950), (10, 0.778801)]:
        left, right = kernel.taylor_features([0.5, 1.0], n_terms)
        assert left @ right == pytest.approx(value, abs=5e-7)
    features = kernel.taylor_features(np.array([[0.5], [1.0]]), 3)
    root = [1, sqrt(2), sqrt(2)]
    np.testing.assert_allclose(features[1], np.exp(-1) * np.array(root), rtol=1e-15)


@pytest.mark.spec("LFD-47")
def test_taylor_features_approach_the_kernel_for_any_width():
    t = rng.normal(size=12)
    features = RBF(0.3).taylor_features(t, 60)
    np.testing.assert_allclose(features @ features.T, RBF(0.3)(t[:, None]), rtol=1e-12)
    with pytest.raises(ValueError, match="one column"):
        RBF(0.3).taylor_features(X, 3)
    with pytest.raises(ValueError, match="bind it first"):
        RBF().taylor_features(t, 3)


@pytest.mark.spec("LFD-47")
@pytest.mark.parametrize(("gamma", "count"), [(1, 8), (10, 17), (100, 20)])
def test_narrow_gaussians_make_every_point_a_support_vector(gamma, count):
    support, _, _ = hard_margin(RBF(gamma)(POINTS))
    assert len(support) == count


@pytest.mark.spec("LFD-48")
def test_sums_concatenate_features_and_products_multiply_them():
    k1, k2 = Polynomial(2, 0.5, 1.0), Linear()
    p1, p2 = k1.feature_map(X), k2.feature_map(X)
    concatenated = np.hstack([p1, p2])
    np.testing.assert_allclose((k1 + k2)(X), concatenated @ concatenated.T, rtol=1e-12)
    np.testing.assert_array_equal((k1 + k2).feature_map(X), concatenated)
    outer = np.array([np.kron(a, b) for a, b in zip(p1, p2, strict=True)])
    np.testing.assert_allclose((k1 * k2)(X), outer @ outer.T, rtol=1e-12)
    np.testing.assert_allclose((k1 * k2).feature_map(X), outer, rtol=1e-15)
    np.testing.assert_allclose((3 * k1)(X), 3 * p1 @ p1.T, rtol=1e-12)
    cubes = np.array([np.kron(np.kron(b, b), b) for b in p2])
    np.testing.assert_allclose((k2**3)(X), cubes @ cubes.T, rtol=1e-12, atol=1e-14)


@pytest.mark.spec("LFD-49")
def test_the_linear_kernel_is_a_polynomial_of_degree_one():
    np.testing.assert_array_equal(Linear()(X, Z), Polynomial(1, 1.0, 0.0)(X, Z))
    np.testing.assert_allclose(Linear()(X, Z), X @ Z.T, rtol=1e-13, atol=1e-15)
    # The four-point toy set, whose primal solution is w = (1, -1), b = -1.
    toy, y = np.array([[0, 0], [2, 2], [2, 0], [3, 0.0]]), np.array([-1, -1, 1, 1])
    _, margin, model = hard_margin(Linear()(toy), y)
    w = model.dual_coef_[0] @ toy[model.support_]
    np.testing.assert_allclose(w, [1, -1], atol=1e-6)
    assert model.intercept_[0] == pytest.approx(-1, abs=1e-6)
    assert margin == pytest.approx(1 / sqrt(2), rel=1e-6)


def shared_substrings(A, B, p=2):
    """Return the p-spectrum kernel: common substrings of length p, with multiplicity."""

    def parts(word):
        return [word[i : i + p] for i in range(len(word) - p + 1)]

    return [[sum(parts(b).count(s) for s in parts(a)) for b in B] for a in A]


@pytest.mark.spec("SS-02")
def test_a_machine_on_strings_equals_one_on_their_gram_matrix():
    words = ["banana", "bandana", "ananas", "cherry", "sherry", "merry"]
    y = [1, 1, 1, 0, 0, 0]
    kernel = FromFunction(shared_substrings)
    K = kernel(words)
    by_pairs = [[shared_substrings([a], [b])[0][0] for b in words] for a in words]
    np.testing.assert_array_equal(K, by_pairs)
    on_values = SVC(kernel="precomputed").fit(K, y)
    on_pairs = SVC(kernel="precomputed").fit(np.array(by_pairs, dtype=float), y)
    new = ["berry", "cabana"]
    np.testing.assert_array_equal(
        on_values.decision_function(kernel(new, words)),
        on_pairs.decision_function(np.array(shared_substrings(new, words), dtype=float)),
    )
    assert on_values.predict(kernel(new, words)).tolist() == [0, 1]


@pytest.mark.spec("SS-04")
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(3, 0.5, 1.0),
        Polynomial(2, 1.0, 0.0),
        Polynomial(0, 1.0, 1.0),
        0.5 * Linear() + 1,
        Linear().on_columns([0, 2]) * Polynomial(2, 1.0, 1.0),
        polynomial(Linear(), [0, 2, 0.5]),
    ],
    ids=repr,
)
def test_explicit_features_give_the_gram_matrix(kernel):
    features, others = kernel.feature_map(X), kernel.feature_map(Z)
    np.testing.assert_allclose(features @ others.T, kernel(X, Z), rtol=1e-11, atol=1e-13)


@pytest.mark.spec("SS-04")
def test_without_finite_features_there_is_no_map():
    with pytest.raises(NotImplementedError, match="no explicit feature map"):
        RBF(1.0).feature_map(X)
    with pytest.raises(ValueError, match="coef0 < 0"):
        Polynomial(2, 1.0, -1.0).feature_map(X)
    with pytest.raises(ValueError, match="bind it first"):
        Polynomial(2).feature_map(X)


@pytest.mark.spec("SS-08")
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_homogeneous_polynomial_multiplies_entries(degree):
    kernel = Polynomial(degree, gamma=1.0, coef0=0.0)
    ordered = kernel.feature_map(X, ordered=True)
    distinct = kernel.feature_map(X)
    assert ordered.shape[1] == 3**degree
    assert distinct.shape[1] == comb(3 + degree - 1, degree)
    explicit = np.array([[np.prod(p) for p in product(row, repeat=degree)] for row in X])
    np.testing.assert_allclose(ordered, explicit, rtol=1e-14)
    for features in (ordered, distinct):
        np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-11, atol=1e-14)


@pytest.mark.spec("SS-09")
def test_sigma_is_the_standard_deviation():
    assert RBF.from_sigma(1 / sqrt(2)).gamma == pytest.approx(1.0, rel=1e-15)
    sigma = 1.7
    squares = ((X[:, None] - Z) ** 2).sum(axis=-1)
    np.testing.assert_allclose(
        RBF.from_sigma(sigma)(X, Z), np.exp(-squares / (2 * sigma**2)), rtol=1e-13
    )


@pytest.mark.spec("CS-6.18")
def test_a_diagonal_shift_moves_every_eigenvalue():
    C = 4.0
    A = np.vstack([X, X[:1]])  # the shift belongs to the index: a duplicate shares none of it
    K = RBF(0.2)(A)
    shifted = K + np.eye(len(A)) / C
    np.testing.assert_allclose(
        np.linalg.eigvalsh(shifted), np.linalg.eigvalsh(K) + 1 / C, rtol=1e-12
    )
    assert np.linalg.cond(shifted) < np.linalg.cond(K)
    assert shifted[0, 10] == K[0, 10] == 1.0
    assert shifted[0, 0] == 1.0 + 1 / C
    np.testing.assert_array_equal((RBF(0.2) + White(1 / C))(A), shifted)  # by index, as here
    by_value = K + (A[:, None] == A).all(axis=2) / C  # the book's delta_x(z): equal rows stay equal
    assert np.linalg.eigvalsh(by_value)[0] == pytest.approx(0.0, abs=1e-12)
    # The machine with the squared slack is the hard margin of the shifted matrix (mercer's C is
    # half of the book's), also for the duplicate, which has the opposite label here.
    y = np.append(np.where(np.arange(len(X)) % 2 == 0, 1, -1), -1)
    soft = mercer.SVC(kernel=RBF(0.2), penalty_norm=2, C=C / 2, tol=1e-9).fit(A, y)
    hard = mercer.SVC(kernel="precomputed", C=np.inf, tol=1e-9).fit(shifted, y)
    assert soft.alpha_ == pytest.approx(hard.alpha_, abs=1e-6)


@pytest.mark.spec("CS-0.03")
@pytest.mark.parametrize("gamma", [1e-3, 1.0, "scale"])
def test_gaussian_data_have_radius_one(gamma):
    assert norm(RBF(gamma), 100 * X + 7).max() == 1.0
    assert (np.diagonal(RBF(gamma)(100 * X + 7)) == 1.0).all()
