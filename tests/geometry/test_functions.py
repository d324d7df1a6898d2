"""Functions of the space of a kernel: inner product, norm, evaluation, a vector space."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import SVC, SVR
from mercer.geometry import RKHSFunction, Span, WeightedCoordinates, interpolate
from mercer.kernels import RBF, FromFeatureMap, FromFunction, Linear, Polynomial, Precomputed
from tests.kernels import strategies

rng = np.random.default_rng(7)
X, Z = rng.normal(size=(8, 3)), rng.normal(size=(5, 3))
a, b = rng.normal(size=8), rng.normal(size=5)

numbers = strategies.numbers


def coefficients(n):
    return arrays(np.float64, n, elements=numbers)


@pytest.mark.spec("CS-3.28", "SS-12")
@pytest.mark.parametrize("kernel", [RBF(0.4), Polynomial(3, 0.5, 1.0), Linear()], ids=repr)
def test_the_inner_product_is_a_sum_of_values_of_either_function(kernel):
    f, g = RKHSFunction(kernel, X, a), RKHSFunction(kernel, Z, b)
    K = kernel(X, Z)
    assert f.inner(g) == pytest.approx(a @ K @ b, rel=1e-12)
    assert f.inner(g) == pytest.approx(float(b @ f(Z)), rel=1e-12)
    assert g.inner(f) == pytest.approx(f.inner(g), rel=1e-12)
    assert f.norm() ** 2 == pytest.approx(a @ kernel(X) @ a, rel=1e-12)
    assert f.norm() ** 2 == pytest.approx(float(a @ f(X)), rel=1e-12)


@pytest.mark.spec("CS-3.28")
@given(coefficients(8), coefficients(8))
@settings(max_examples=40, deadline=None)
def test_the_inner_product_does_not_depend_on_the_expansion(part, c):
    kernel = RBF(0.4)
    f, g = RKHSFunction(kernel, X, c), RKHSFunction(kernel, Z, b)
    doubled = RKHSFunction(kernel, np.vstack([X, X]), np.concatenate([part, c - part]))
    assert doubled.inner(g) == pytest.approx(f.inner(g), abs=1e-12)
    assert doubled.distance(f) == pytest.approx(0, abs=1e-6)


@pytest.mark.spec("CS-3.29", "SS-12")
@given(strategies.kernels, strategies.vectors(), st.data())
@settings(max_examples=40, deadline=None)
def test_evaluation_is_an_inner_product_and_bounded(kernel, A, data):
    f = RKHSFunction(kernel, A, data.draw(coefficients(len(A))))
    values, bounds = f(Z), f.evaluation_bound(Z)
    scale = 1e-9 * (1 + np.abs(f.coef).sum() * max(kernel.diag(A).max(), kernel.diag(Z).max()))
    assert (np.abs(values) <= bounds + scale).all()
    for z, value in zip(Z, values, strict=True):
        section = RKHSFunction(kernel, z[None], [1.0])
        assert f.inner(section) == pytest.approx(value, abs=scale)
        assert section.evaluation_bound(z[None])[0] == pytest.approx(section(z[None])[0])


@pytest.mark.spec("CS-3.47")
def test_points_of_feature_space_are_the_functions():
    kernel = Polynomial(2, 0.5, 1.0)
    P, Q = RKHSFunction(kernel, X, a), RKHSFunction(kernel, Z, b)
    p, q = a @ kernel.feature_map(X), b @ kernel.feature_map(Z)
    assert P.inner(Q) == pytest.approx(p @ q, rel=1e-12)
    assert P.norm() == pytest.approx(np.linalg.norm(p), rel=1e-12)
    assert P.distance(Q) == pytest.approx(np.linalg.norm(p - q), rel=1e-12)
    assert (P - Q).norm() == pytest.approx(np.linalg.norm(p - q), rel=1e-12)
    assert (2 * P + Q / 4).norm() == pytest.approx(np.linalg.norm(2 * p + q / 4), rel=1e-12)
    assert (-P).inner(Q) == pytest.approx(-(p @ q), rel=1e-12)
    assert P.angle(Q) == pytest.approx(
        np.arccos(p @ q / np.linalg.norm(p) / np.linalg.norm(q)), rel=1e-9
    )
    assert len((P - Q).coef) == 13
    for x in X:
        assert RKHSFunction(RBF(0.7), x[None], [1.0]).norm() == 1.0


@given(strategies.kernels, strategies.vectors(), st.data(), numbers)
@settings(max_examples=40, deadline=None)
def test_a_vector_space(kernel, A, data, factor):
    f = RKHSFunction(kernel, A, data.draw(coefficients(len(A))))
    g = RKHSFunction(kernel, Z, b)
    scale = 1e-9 * (1 + (np.abs(f.coef).sum() + np.abs(b).sum()) * kernel.diag(A).max())
    np.testing.assert_allclose((f + factor * g)(X), f(X) + factor * g(X), atol=scale)
    np.testing.assert_array_equal((f - f)(X).round(9), np.zeros(8))


def test_sparse_and_dense_centres_meet():
    f = RKHSFunction(RBF(0.4), X, a)
    g = RKHSFunction(RBF(0.4), sp.csr_matrix(X), a)
    np.testing.assert_allclose(g(Z), f(Z), rtol=1e-12)
    np.testing.assert_allclose(f(sp.csr_matrix(Z)), f(Z), rtol=1e-12)
    assert f.distance(g) == pytest.approx(0, abs=1e-7)
    assert (f + g).norm() == pytest.approx(2 * f.norm(), rel=1e-12)


def test_functions_of_strings():
    kernel = FromFunction(lambda A, B: [[len(set(s) & set(t)) for t in B] for s in A])
    f = RKHSFunction(kernel, ["abc", "xyz"], [1.0, 2.0])
    assert f(["a", "z", "q"]).tolist() == [1.0, 2.0, 0.0]
    assert (f + f).norm() ** 2 == pytest.approx(4 * (3 + 4 * 3))


def test_a_machine_is_such_a_function_plus_a_constant():
    y = np.where(X[:, 0] > 0, 1, -1)
    model = SVC(C=2.0).fit(X, y)
    f = RKHSFunction.from_expansion(model.expansion_)
    np.testing.assert_allclose(f(Z) + model.intercept_[0], model.decision_function(Z), rtol=1e-9)
    assert f.norm() ** 2 == pytest.approx(float(model.expansion_.norm2()), rel=1e-9)


@pytest.mark.spec("CS-3.30")
def test_weighted_coordinates_are_isometric_to_functions():
    def waves(A):
        return np.hstack(
            [np.ones_like(A), *(f(n * A) for n in (1, 2, 3) for f in (np.cos, np.sin))]
        )

    space = WeightedCoordinates(waves, [0.5, 1.0, 1.0, 0.3, 0.3, 0.1, 0.1])
    t, u = rng.uniform(0, 6, size=(6, 1)), rng.uniform(0, 6, size=(4, 1))
    psi = space.coordinates(t)
    np.testing.assert_allclose(space.inner(psi, psi), space.kernel.diag(t), rtol=1e-12)
    np.testing.assert_allclose(
        space.inner(psi[:, None], space.coordinates(u)), space.kernel(t, u), rtol=1e-11
    )
    f = RKHSFunction(space.kernel, t, rng.normal(size=6))
    g = RKHSFunction(space.kernel, u, rng.normal(size=4))
    cf, cg = space.coordinates(f), space.coordinates(g)
    assert space.inner(cf, cg) == pytest.approx(f.inner(g), rel=1e-10)
    np.testing.assert_allclose(space.evaluate(cf, u), f(u), rtol=1e-10)
    # psi(z) becomes k(z, .)
    np.testing.assert_allclose(space.evaluate(psi[0], u), space.kernel(t[:1], u)[0], rtol=1e-11)


@pytest.mark.spec("CS-3.31")
def test_interpolation_of_least_norm_projects_the_target():
    kernel = RBF(0.5)
    target = RKHSFunction(kernel, Z, b)
    samples = rng.normal(size=(6, 3))
    y = target(samples)
    f = interpolate(kernel, samples, y)
    np.testing.assert_allclose(f(samples), y, rtol=1e-9)
    order = np.linalg.solve(kernel(samples), y)
    np.testing.assert_allclose(f(X), kernel(X, samples) @ order, rtol=1e-8)
    residual = target.norm() ** 2 - f.norm() ** 2
    assert f.distance(target) ** 2 == pytest.approx(residual, rel=1e-9)
    assert f.norm() ** 2 == pytest.approx(y @ order, rel=1e-9)
    # No other function through the values is shorter: add one that vanishes at the samples.
    g = RKHSFunction(kernel, X[:1], [1.0])
    vanishing = g - Span(kernel, samples).project(g)
    np.testing.assert_allclose(vanishing(samples), 0, atol=1e-9)
    assert (f + vanishing).norm() > f.norm()


def test_interpolation_with_repeated_objects():
    twice = np.vstack([X, X[:2]])
    f = interpolate(RBF(0.5), twice, np.concatenate([a, a[:2]]))
    np.testing.assert_allclose(f(X), a, rtol=1e-8)
    with pytest.raises(ValueError, match="contradict"):
        interpolate(RBF(0.5), twice, np.concatenate([a, a[:2] + 1]))
    with pytest.raises(ValueError, match="contradict"):
        interpolate(Linear(), X, a)  # eight values, three features
    with pytest.raises(ValueError, match="one value for each"):
        interpolate(RBF(0.5), X, a[:3])
    with pytest.raises(ValueError, match="NaN"):
        interpolate(RBF(0.5), X, np.full(8, np.nan))


@pytest.mark.spec("SM-3.60")
def test_more_centres_do_not_lower_a_regularised_risk():
    kernel, y = RBF(0.3), np.sin(X[:, 0])
    model = SVR(kernel=kernel, C=5.0, epsilon=0.05, tol=1e-9).fit(X, y)
    f, bias = RKHSFunction.from_expansion(model.expansion_), model.intercept_[0]

    def risk(h):
        loss = np.maximum(np.abs(y - h(X) - bias) - 0.05, 0.0)
        return 0.5 * h.norm() ** 2 + 5.0 * loss.sum()

    assert risk(f) == pytest.approx(model.certificate_.primal, rel=1e-6)
    for step in (1e-3, 1e-1, 1.0):
        for sign in (1, -1):
            extra = RKHSFunction(kernel, rng.normal(size=(4, 3)), rng.normal(size=4))
            assert risk(f + sign * step * extra) > risk(f)
            # Without its part in the span of the data it changes no value and costs norm.
            outside = extra - Span(kernel, X).project(extra)
            np.testing.assert_allclose((f + step * outside)(X), f(X), atol=1e-8)
            assert risk(f + step * outside) > risk(f)


def test_what_is_refused():
    f = RKHSFunction(RBF(0.4), X, a)
    with pytest.raises(ValueError, match="different spaces"):
        f.inner(RKHSFunction(RBF(0.5), Z, b))
    with pytest.raises(ValueError, match="different spaces"):
        f + RKHSFunction(Linear(), Z, b)
    with pytest.raises(TypeError, match="RKHSFunction is needed"):
        f.inner(3.0)
    with pytest.raises(TypeError):
        f + 1
    with pytest.raises(TypeError):
        f * "a"
    with pytest.raises(ValueError, match="bind it first"):
        RKHSFunction(RBF(), X, a)
    with pytest.raises(ValueError, match="coef"):
        RKHSFunction(RBF(0.4), X, a[:3])
    with pytest.raises(ValueError, match="one number per centre"):
        RKHSFunction(RBF(0.4), X, np.ones((8, 2)))
    with pytest.raises(ValueError, match="finite"):
        RKHSFunction(RBF(0.4), X, np.full(8, np.inf))
    with pytest.raises(ValueError, match="holds no objects"):
        RKHSFunction(Precomputed(), np.eye(3), np.ones(3))
    with pytest.raises(TypeError, match="must be a Kernel"):
        RKHSFunction("rbf", X, a)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        RKHSFunction(FromFunction(lambda A, B: -(A @ B.T)), X, a).norm()
    three = SVC(multiclass="ovr").fit(X, np.arange(8) % 3).expansion_
    with pytest.raises(ValueError, match="2 outputs"):
        RKHSFunction.from_expansion(three[:2])
    with pytest.raises(ValueError, match="3 features"):
        f(np.ones((2, 4)))
    with pytest.raises(ValueError, match="positive and finite"):
        WeightedCoordinates(np.cos, [1.0, 0.0])
    with pytest.raises(ValueError, match="one column for each"):
        WeightedCoordinates(np.cos, [1.0, 2.0]).coordinates(X)
    with pytest.raises(TypeError, match="callable"):
        WeightedCoordinates(3, [1.0])
    assert np.isnan((0.0 * f).angle(f))
    assert repr(f) == "<RKHSFunction of RBF(gamma=0.4): 8 terms>"


def test_functions_are_copied_and_pickled():
    import pickle

    f = RKHSFunction(FromFeatureMap(np.asarray), X, a)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(Z), f(Z))
