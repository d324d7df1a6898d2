"""Conditionally positive definite kernels: null spaces, seminorms, projections, profiles."""

from math import comb

import numpy as np
import pytest

from mercer.kernels import (
    RBF,
    FromFunction,
    InverseMultiquadric,
    Linear,
    LogDistance,
    Multiquadric,
    NegativeDistance,
    Polynomial,
    Projected,
    Sigmoid,
    ThinPlate,
    completely_monotonic,
    exp,
    normalize,
    polynomial_basis,
    project_gram,
    seminorm2,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 2))
FIRST = [Multiquadric(0.7), NegativeDistance(1.0), NegativeDistance(1.7), LogDistance()]


def signs(K, tol=1e-9):
    """Return how many eigenvalues are negative and how many positive."""
    values = np.linalg.eigvalsh(K)
    allowed = tol * np.abs(values).max()
    return int((values < -allowed).sum()), int((values > allowed).sum())


@pytest.mark.spec("SM-3.50")
@pytest.mark.parametrize("kernel", FIRST, ids=repr)
def test_kernels_of_order_one_are_positive_on_coefficients_of_sum_zero(kernel):
    assert kernel.definiteness == "conditionally positive definite"
    assert kernel.definiteness.order == 1
    K = kernel(X)
    assert np.linalg.eigvalsh(K)[0] < -0.01
    assert signs(project_gram(K, kernel.null_space(X))) == (0, 29)
    np.testing.assert_array_equal(kernel.null_space(X), np.ones((30, 1)))


@pytest.mark.spec("SM-3.50")
def test_the_order_of_a_claim():
    orders = {RBF(1.0): 0, Linear(): 0, Multiquadric(): 1, ThinPlate(): 2, Sigmoid(1.0): None}
    for kernel, order in orders.items():
        assert kernel.definiteness.order == order
    assert (ThinPlate() + Multiquadric()).definiteness.order == 2
    assert (Multiquadric() + RBF(1.0)).definiteness.order == 1
    assert (2 * ThinPlate()).definiteness.order == 2
    assert ThinPlate().on_columns([0]).definiteness.order == 2
    assert exp(Multiquadric()).definiteness.is_psd  # Schoenberg
    assert exp(ThinPlate()).definiteness.order is None
    assert normalize(Multiquadric()).definiteness.order is None
    assert (Multiquadric() * RBF(1.0)).definiteness.order is None
    user = FromFunction(lambda A, B: A @ B.T, "conditionally positive definite of order 2")
    assert user.definiteness.order == 2
    with pytest.raises(ValueError, match="no polynomials are known"):
        Sigmoid(1.0).null_space(X)


@pytest.mark.spec("SM-3.53")
def test_the_kernels_of_the_list():
    r = np.linalg.norm(X[:, None] - X, axis=-1)
    np.testing.assert_allclose(Multiquadric(0.7)(X), -np.sqrt(r * r + 0.49), rtol=1e-13)
    np.testing.assert_allclose(InverseMultiquadric(0.7)(X), 1 / np.sqrt(r * r + 0.49), rtol=1e-13)
    with np.errstate(divide="ignore", invalid="ignore"):
        spline = np.where(r > 0, r * r * np.log(r), 0.0)
    np.testing.assert_allclose(ThinPlate()(X), spline, rtol=1e-12, atol=1e-13)
    assert ThinPlate().diag(X).tolist() == [0.0] * 30
    assert signs(Multiquadric(0.7)(X)) == (1, 29)
    assert signs(InverseMultiquadric(0.7)(X))[0] == 0
    K = ThinPlate()(X)
    assert signs(project_gram(K, polynomial_basis(X, 2))) == (0, 27)
    assert signs(project_gram(K, polynomial_basis(X, 1)))[0] == 2


# -- completely monotonic profiles -------------------------------------------------------------


@pytest.mark.spec("SM-3.51")
@pytest.mark.parametrize(
    ("profile", "order"),
    [
        (lambda t: np.exp(-t), 0),
        (lambda t: (t + 0.5) ** -0.5, 0),
        (lambda t: 1 / (1.44 + t), 0),
        (lambda t: np.exp(-np.sqrt(t)), 0),
        (lambda t: -np.sqrt(t + 0.5), 1),
        (lambda t: -(t**0.7), 1),
        (lambda t: -np.log(t + 0.3), 1),
        (lambda t: 0.5 * t * np.log(np.maximum(t, 1e-300)), 2),
    ],
)
def test_profiles_are_completely_monotonic_from_their_order_on(profile, order):
    for lower in range(order):
        verdict = completely_monotonic(profile, lower)
        assert not verdict.holds
        assert verdict.degree >= lower
        assert verdict.value < 0
    assert completely_monotonic(profile, order).holds


@pytest.mark.spec("SM-3.51")
def test_profiles_that_are_not_have_a_witness():
    for profile in (np.cos, lambda t: np.maximum(1 - t, 0), lambda t: np.exp(-t * t)):
        assert not completely_monotonic(profile, 0).holds
        assert not completely_monotonic(profile, 1).holds
    witness = completely_monotonic(lambda t: np.exp(-t * t), 0)
    assert witness.degree == 2  # exp(-t^2) bends downwards near 0
    with pytest.raises(ValueError, match="finite"):
        completely_monotonic(lambda t: t * np.nan)


# -- seminorms ---------------------------------------------------------------------------------


@pytest.mark.spec("SM-3.52")
@pytest.mark.parametrize("kernel", [*FIRST, ThinPlate()], ids=repr)
def test_the_seminorm_is_not_negative_on_admissible_coefficients(kernel):
    V = kernel.null_space(X)
    for _ in range(20):
        c = rng.normal(size=30)
        c -= V @ np.linalg.lstsq(V, c, rcond=None)[0]
        assert seminorm2(kernel, X, c) > 0
    with pytest.raises(ValueError, match="the coefficients must sum to zero"):
        seminorm2(kernel, X, np.ones(30))


def test_the_seminorm_of_order_two_balances_the_vectors():
    c = np.zeros(30)
    c[:2] = 1.0, -1.0
    with pytest.raises(ValueError, match="must balance the vectors"):
        seminorm2(ThinPlate(), X, c)
    assert seminorm2(Linear(), X, c) == pytest.approx(np.sum((X[0] - X[1]) ** 2))


# -- projections -------------------------------------------------------------------------------


@pytest.mark.spec("SM-3.55")
@pytest.mark.parametrize("kernel", [Multiquadric(0.7), ThinPlate()], ids=repr)
def test_projection_changes_nothing_on_admissible_coefficients(kernel):
    K, V = kernel(X), kernel.null_space(X)
    projected = project_gram(K, V)
    P = V @ np.linalg.pinv(V)
    np.testing.assert_allclose(
        projected, (np.eye(30) - P) @ K @ (np.eye(30) - P), rtol=1e-10, atol=1e-11
    )
    assert np.linalg.eigvalsh(projected)[0] > -1e-10
    c = (np.eye(30) - P) @ rng.normal(size=30)
    assert c @ projected @ c == pytest.approx(c @ K @ c, rel=1e-10)
    # A function found with the projected matrix, projected @ c + V q, is K c plus other
    # polynomials: q - V^+ K c.
    q = rng.normal(size=V.shape[1])
    recovered = q - np.linalg.pinv(V) @ K @ c
    np.testing.assert_allclose(projected @ c + V @ q, K @ c + V @ recovered, rtol=1e-9, atol=1e-9)


@pytest.mark.spec("SM-3.56")
def test_projecting_out_constants_is_centring():
    from sklearn.preprocessing import KernelCenterer

    K = Multiquadric(0.7)(X)
    centred = project_gram(K, np.ones((30, 1)))
    np.testing.assert_allclose(centred, KernelCenterer().fit_transform(K), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(centred.sum(axis=0), 0.0, atol=1e-11)


@pytest.mark.spec("SM-3.57")
def test_projecting_out_linear_functions():
    V = polynomial_basis(X, 2)
    assert V.shape == (30, 3)
    np.testing.assert_array_equal(V[:, 0], 1.0)
    np.testing.assert_array_equal(V[:, 1:], X)  # v_i is the i-th coordinate of all points
    few = X[:3]  # d + 1 points in general position: a linear function interpolates
    assert np.abs(project_gram(ThinPlate()(few), polynomial_basis(few, 2))).max() < 1e-12
    line = np.column_stack([X[:, 0], 2 * X[:, 0]])  # dependent columns
    projected = project_gram(ThinPlate()(line), polynomial_basis(line, 2))
    assert np.linalg.eigvalsh(projected)[0] > -1e-9


@pytest.mark.spec("SM-3.58")
def test_orders_above_two_have_too_many_polynomials():
    for d in (2, 5):
        assert polynomial_basis(np.ones((1, d)), 1).shape[1] == comb(d + 0, d)
        assert polynomial_basis(np.ones((1, d)), 2).shape[1] == comb(d + 1, d)
        assert comb(d + 2, d) == (d + 1) * (d + 2) // 2
    with pytest.raises(ValueError, match=r"C\(d \+ 2, d\) constraints"):
        polynomial_basis(X, 3)
    assert polynomial_basis(["a", "b"], 1).shape == (2, 1)
    assert polynomial_basis(X, 0).shape == (30, 0)


@pytest.mark.parametrize("kernel", [*FIRST, ThinPlate()], ids=repr)
def test_projected_kernels_are_positive_semidefinite_also_on_new_objects(kernel):
    projected = Projected(kernel).bind(X)
    assert projected.definiteness.is_psd
    Z = rng.normal(size=(25, 2)) * 3
    assert np.linalg.eigvalsh(projected(Z))[0] > -1e-9 * np.abs(projected(Z)).max()
    # On admissible coefficients both are the same kernel.
    V = kernel.null_space(Z)
    np.testing.assert_allclose(
        project_gram(projected(Z), V), project_gram(kernel(Z), V), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("kernel", [Multiquadric(0.7), ThinPlate()], ids=repr)
def test_with_all_training_vectors_as_points_it_is_the_projected_matrix(kernel):
    V = kernel.null_space(X)
    np.testing.assert_allclose(
        Projected(kernel, points=X)(X), project_gram(kernel(X), V), rtol=1e-9, atol=1e-10
    )


def test_the_points_are_chosen_from_the_weighted_data():
    weight = rng.integers(0, 3, size=30).astype(float)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    for kernel in (Multiquadric(), ThinPlate()):
        points = Projected(kernel).bind(X, weight).points
        np.testing.assert_allclose(points, Projected(kernel).bind(repeated).points, rtol=1e-12)
    assert Projected(Multiquadric()).bind(X).points.shape == (1, 2)
    assert Projected(ThinPlate()).bind(X).points.shape == (3, 2)
    words = FromFunction(lambda A, B: [[-abs(len(a) - len(b)) for b in B] for a in A],
                         "conditionally positive definite")  # fmt: skip
    assert Projected(words).bind(["ab", "c"]).points == ["ab"]
    np.testing.assert_array_equal(Projected(words)(["ab", "c"]), [[0, 0], [0, 2]])


def test_what_cannot_be_projected_is_refused():
    with pytest.raises(ValueError, match="needs no projection"):
        Projected(RBF(1.0))
    with pytest.raises(ValueError, match="no known polynomials"):
        Projected(Sigmoid(1.0))
    collinear = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    with pytest.raises(ValueError, match="do not determine a polynomial"):
        Projected(ThinPlate(), points=collinear)(X)
    with pytest.raises(ValueError, match="bind it first"):
        Projected(Multiquadric())(X, X)
    with pytest.raises(TypeError, match="must be a kernel"):
        Projected(3)


def test_the_negative_square_is_the_linear_kernel():
    kernel = Projected(NegativeDistance(2.0), points=[[0.0, 0.0]])
    np.testing.assert_allclose(kernel(X), 2 * X @ X.T, rtol=1e-10, atol=1e-12)
    conditional = Polynomial(1, 1.0, -1.0)
    centred = Projected(conditional, points=[[1.0, 1.0]])
    np.testing.assert_allclose(centred(X), (X - 1) @ (X - 1).T, rtol=1e-10, atol=1e-12)
