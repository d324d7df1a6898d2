"""Explicit features of the literature: monomials, Taylor series, the right coordinates."""

from itertools import combinations_with_replacement
from math import exp, factorial, prod

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from mercer import SVC, NotSeparableError
from mercer.data import gravitation, gravitation_invariants, lfd_problem_8_13, rings
from mercer.features import (
    ExplicitFeatures,
    KernelCenterer,
    LogFeatures,
    MonomialFeatures,
    RelevantColumns,
    TaylorFeatures,
    n_monomials,
)
from mercer.kernels import RBF, FromFeatureMap, Laplacian, Linear, Polynomial, Precomputed
from tests.kernels import strategies

rng = np.random.default_rng(21)
X = rng.normal(size=(12, 3))


def squares(A):
    return np.asarray(A, dtype=float) ** 2


@pytest.mark.spec("CS-3.01")
def test_primal_and_dual_perceptron_make_the_same_mistakes():
    A = rng.normal(size=(60, 2))
    y = np.where((A**2).sum(axis=1) > 1.5, 1, -1)
    K, phi = FromFeatureMap(squares)(A), squares(A)
    w, b, alpha, c = np.zeros(2), 0.0, np.zeros(60), 0.0
    primal, dual = [], []
    for _ in range(10):
        for i in range(60):
            if y[i] * (w @ phi[i] + b) <= 0:
                w, b = w + y[i] * phi[i], b + y[i]
                primal.append(i)
            if y[i] * ((alpha * y) @ K[i] + c) <= 0:
                alpha[i] += 1
                c += y[i]
                dual.append(i)
    assert primal == dual
    assert len(primal) > 5
    np.testing.assert_allclose(phi @ w + b, K @ (alpha * y) + c, rtol=1e-9)


@pytest.mark.spec("CS-3.01")
def test_a_linear_machine_in_a_pipeline_is_the_kernel_machine():
    A, y = rings(60, random_state=0)
    kernel = FromFeatureMap(squares)
    explicit = make_pipeline(ExplicitFeatures(kernel), SVC(kernel="linear", tol=1e-9)).fit(A, y)
    implicit = SVC(kernel=kernel, tol=1e-9).fit(A, y)
    np.testing.assert_allclose(
        explicit.decision_function(A), implicit.decision_function(A), atol=1e-6
    )


@pytest.mark.spec("CS-3.02", "CS-3.03")
def test_gravitation_is_linear_in_logarithms():
    pairs, force = gravitation(50, constant=6.67, random_state=0)
    assert pairs.shape == (50, 8)
    reduced = gravitation_invariants(pairs)  # eight numbers become distance and masses
    assert reduced.shape == (50, 3)
    fit = make_pipeline(LogFeatures(), LinearRegression()).fit(reduced, np.log(force))
    np.testing.assert_allclose(fit[-1].coef_, [-2, 1, 1], rtol=1e-12)
    assert fit[-1].intercept_ == pytest.approx(np.log(6.67), rel=1e-12)
    # In the coordinates themselves no linear function comes near.
    assert LinearRegression().fit(pairs, force).score(pairs, force) < 0.95
    assert LogFeatures().fit(reduced).get_feature_names_out(["r", "m1", "m2"]).tolist() == [
        "log(r)", "log(m1)", "log(m2)",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="only positive numbers"):
        LogFeatures().fit([[1.0, 0.0]])
    with pytest.raises(ValueError, match="8 columns"):
        gravitation_invariants(np.ones((2, 3)))


@pytest.mark.spec("CS-3.04")
def test_colour_and_temperature_do_not_matter():
    pairs, force = gravitation(200, irrelevant=2, random_state=1)
    logs = LogFeatures().fit_transform(gravitation_invariants(pairs))
    noisy = np.log(force) + 0.01 * rng.normal(size=200)
    selector = RelevantColumns().fit(logs, noisy)
    assert selector.get_support().tolist() == [True, True, True, False, False]
    assert set(selector.ranking_[3:]) == {3, 4}
    assert selector.relevance_[3:].max() < 0.02 * selector.relevance_.max()
    assert selector.transform(logs).shape == (200, 3)
    assert selector.get_feature_names_out(["r", "m1", "m2", "colour", "warmth"]).tolist() == [
        "r", "m1", "m2",
    ]  # fmt: skip
    labels = np.array(["far", "near"])[(logs[:, 0] < np.median(logs[:, 0])).astype(int)]
    assert RelevantColumns(0.3).fit(logs, labels).get_support(indices=True).tolist() == [0]
    with pytest.raises(ValueError, match="at most 1"):
        RelevantColumns(threshold=2).fit(logs, noisy)
    with pytest.raises(ValueError, match="alpha must be a number > 0"):
        RelevantColumns(alpha=0).fit(logs, noisy)


@pytest.mark.spec("CS-3.05")
def test_principal_components_have_the_eigenvalues_of_the_covariance():
    """Also through the centred linear kernel, as the eigenvalues of K / n."""
    A = rng.normal(size=(30, 4)) * [3, 1, 0.5, 0.1] + 5
    values = PCA().fit(A).explained_variance_ * 29 / 30
    np.testing.assert_allclose(values, np.linalg.eigvalsh(np.cov(A.T, bias=True))[::-1], rtol=1e-10)
    K = KernelCenterer(kernel=Linear()).fit_transform(A)
    np.testing.assert_allclose(np.linalg.eigvalsh(K)[::-1][:4] / 30, values, rtol=1e-9)


@pytest.mark.spec("CS-3.05")
def test_the_smallest_component_may_carry_the_class():
    y = np.repeat([-1, 1], 50)
    A = np.column_stack([10 * rng.normal(size=100), 0.1 * y])
    kept = PCA(1).fit_transform(A)
    assert SVC(kernel="linear", C=1e3).fit(A, y).score(A, y) == 1.0
    assert SVC(kernel="linear", C=1e3).fit(kept, y).score(kept, y) < 0.75


@pytest.mark.spec("CS-3.06")
@pytest.mark.parametrize(
    ("n", "d", "exactly", "up_to"),
    [(2, 2, 3, 6), (3, 2, 6, 10), (10, 3, 220, 286), (256, 2, 32896, 33153),
     (256, 5, 9525431552, 9711475137)],
)  # fmt: skip
def test_how_many_monomials_there_are(n, d, exactly, up_to):
    assert n_monomials(n, d) == exactly
    assert n_monomials(n, d, lower=True) == up_to
    if exactly < 1000:
        features = MonomialFeatures(d, lower=False).fit(np.ones((1, n)))
        assert (
            features.n_output_features_ == exactly == features.transform(np.ones((1, n))).shape[1]
        )
    else:
        with pytest.raises(ValueError, match="more than can be listed"):
            MonomialFeatures(20).fit(np.ones((1, n)))


@pytest.mark.spec("CS-3.06")
def test_the_monomials_of_two_variables():
    features = MonomialFeatures(2, lower=False).fit([[2.0, 3.0]])
    assert features.transform([[2.0, 3.0]]).tolist() == [[4.0, 6.0, 9.0]]
    assert features.get_feature_names_out().tolist() == ["x0^2", "x0 x1", "x1^2"]
    assert features.powers_.tolist() == [[2, 0], [1, 1], [0, 2]]
    assert n_monomials(3, 0) == 1
    with pytest.raises(ValueError, match="n_features"):
        n_monomials(0, 2)


@pytest.mark.spec("CS-3.06", "LFD-46")
@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=strategies.numbers
    ),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_dense_and_sparse_monomials_against_their_definition(A, degree, lower, bias):
    d = A.shape[1]
    degrees = [0] * bias + (list(range(1, degree + 1)) if lower else [degree])
    lists = [f for k in degrees for f in combinations_with_replacement(range(d), k)]
    expected = np.array([[prod(row[i] for i in f) for f in lists] for row in A])
    for weighting in ("unit", "kernel"):
        features = MonomialFeatures(degree, lower=lower, include_bias=bias, weighting=weighting)
        F = features.fit_transform(A)
        if weighting == "unit":
            np.testing.assert_allclose(F, expected, rtol=1e-13)
        S = features.fit_transform(sp.csr_matrix(A))
        np.testing.assert_allclose(S.toarray(), F, rtol=1e-13)
        assert S.nnz <= np.count_nonzero(expected)
        if weighting == "kernel":
            kernel = (A @ A.T + 1) ** degree - (not bias) if lower else (A @ A.T) ** degree
            constant = 0 if lower else bias
            np.testing.assert_allclose(F @ F.T, kernel + constant, rtol=1e-9, atol=1e-9)
    theirs = PolynomialFeatures(degree, include_bias=True).fit(A)
    if lower and bias:
        np.testing.assert_allclose(MonomialFeatures(degree, include_bias=True).fit_transform(A),
                                   theirs.transform(A), rtol=1e-13)  # fmt: skip


@pytest.mark.spec("CS-3.07")
def test_squares_separate_rings():
    A, y = rings(60, noise=0.05, random_state=0)
    with pytest.raises(NotSeparableError):
        SVC(kernel="linear", C=np.inf).fit(A, y)
    model = SVC(kernel="linear", C=np.inf).fit(squares(A), y)
    assert model.score(squares(A), y) == 1.0
    assert model.margin_ > 0


@pytest.mark.spec("CS-3.08")
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(3, 0.5, 1.0),
        RBF(0.5),
        Laplacian(0.5),
        FromFeatureMap(squares),
        2 * RBF(0.5) + Linear() ** 2,
    ],
    ids=repr,
)
def test_a_kernel_is_a_dot_product(kernel):
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(K), rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.abs(K).max()
    try:
        features = kernel.feature_map(X)
    except NotImplementedError:
        assert "RBF" in repr(kernel) or "Laplacian" in repr(kernel)
    else:
        np.testing.assert_allclose(features @ features.T, K, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(Precomputed()(K), K)


@pytest.mark.spec("LFD-30")
@pytest.mark.parametrize(
    ("degree", "n_features", "margin", "n_support", "errors"),
    [(2, 5, 0.175322, 4, 2), (3, 9, 0.209322, 7, 1)],
)
def test_explicit_transforms_and_the_hard_margin(degree, n_features, margin, n_support, errors):
    A, y = lfd_problem_8_13()
    features = MonomialFeatures(degree).fit(A)
    F = features.transform(A)
    assert F.shape[1] == n_features
    if degree == 2:
        assert features.get_feature_names_out(["x1", "x2"]).tolist() == [
            "x1", "x2", "x1^2", "x1 x2", "x2^2",
        ]  # fmt: skip
    model = SVC(kernel="linear", C=np.inf, tol=1e-10).fit(F, y)
    assert model.margin_ == pytest.approx(margin, abs=5e-7)
    assert len(model.support_) == n_support
    # Leaving one out: 0.10 of 20 for the squares, 0.05 for the cubes.
    wrong = 0
    for i in range(20):
        rest = np.arange(20) != i
        one = SVC(kernel="linear", C=np.inf, tol=1e-8).fit(F[rest], y[rest])
        wrong += one.predict(F[~rest])[0] != y[i]
    assert wrong == errors


# -- Taylor features -----------------------------------------------------------------------------


@pytest.mark.spec("LFD-47")
def test_in_one_dimension_they_are_the_features_of_the_book():
    t = rng.normal(size=(8, 1))
    np.testing.assert_allclose(
        TaylorFeatures(gamma=0.7, degree=6).fit_transform(t),
        RBF(0.7).taylor_features(t, 7),
        rtol=1e-12,
    )
    for terms, value in [(3, 0.716262), (5, 0.775950), (10, 0.778801)]:
        left, right = TaylorFeatures(gamma=1.0, degree=terms - 1).fit_transform([[0.5], [1.0]])
        assert left @ right == pytest.approx(value, abs=5e-7)


@pytest.mark.spec("LFD-47")
@pytest.mark.parametrize("degree", [0, 1, 3, 8])
def test_in_more_dimensions_they_are_the_cut_off_series(degree):
    gamma, A = 0.3, 0.7 * X
    features = TaylorFeatures(gamma=gamma, degree=degree).fit(A)
    F, dots = features.transform(A), A @ A.T
    damping = np.exp(-gamma * (A**2).sum(axis=1))
    series = sum((2 * gamma * dots) ** k / factorial(k) for k in range(degree + 1))
    np.testing.assert_allclose(F @ F.T, np.outer(damping, damping) * series, rtol=1e-10, atol=1e-14)
    assert F.shape[1] == n_monomials(3, degree, lower=True)
    error = features.approximation_error(A)
    assert error.max <= features.error_bound(A) * (1 + 1e-9) + 1e-15
    # The bound is attained on the diagonal, by the longest row.
    longest = (A**2).sum(axis=1).max()
    gap = 1 - exp(-2 * gamma * longest) * sum(
        (2 * gamma * longest) ** k / factorial(k) for k in range(degree + 1)
    )
    assert features.error_bound(A) == pytest.approx(gap, rel=1e-6, abs=1e-14)
    assert error.max == pytest.approx(gap, rel=1e-6, abs=1e-14)


def test_their_names():
    names = TaylorFeatures(degree=2).fit(X[:, :2]).get_feature_names_out(["u", "v"])
    assert names.tolist() == [
        "gauss(1)", "gauss(u)", "gauss(v)", "gauss(u^2)", "gauss(u v)", "gauss(v^2)",
    ]  # fmt: skip


def test_weightings_span_the_same_functions_with_other_margins():
    A, y = lfd_problem_8_13()
    margins = {
        weighting: SVC(kernel="linear", C=np.inf, tol=1e-10)
        .fit(MonomialFeatures(2, weighting=weighting).fit_transform(A), y)
        .margin_
        for weighting in ("unit", "kernel")
    }
    assert margins["unit"] == pytest.approx(0.175322, abs=5e-7)
    assert margins["kernel"] == pytest.approx(0.176181, abs=5e-7)  # that of (1 + x . z)^2
    with pytest.raises(ValueError, match="weighting must be one of"):
        MonomialFeatures(weighting="none").fit(A)
