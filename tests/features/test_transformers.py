"""Features that replace a kernel: what they promise, and scikit-learn's checks of them."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC
from mercer.data import rings
from mercer.features import (
    ExplicitFeatures,
    IncompleteCholeskyFeatures,
    LogFeatures,
    MonomialFeatures,
    Nystrom,
    RandomFourierFeatures,
    RelevantColumns,
    TaylorFeatures,
    approximation_error,
    draw_frequencies,
)
from mercer.kernels import (
    RBF,
    Exponential,
    FromFeatureMap,
    FromFunction,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    exp,
    normalize,
    polynomial,
)
from tests.kernels import strategies

rng = np.random.default_rng(20)
X, Z = rng.normal(size=(40, 3)), rng.normal(size=(9, 3))
common = FromFunction(lambda A, B: [[len(set(s) & set(t)) for t in B] for s in A])
WORDS = ["banana", "bandana", "cherry", "sherry", "merry", "an"]


@parametrize_with_checks(
    [
        Nystrom(n_components=10),
        IncompleteCholeskyFeatures(),
        RandomFourierFeatures(n_components=7),
        ExplicitFeatures(degree=2, coef0=1.0),
        TaylorFeatures(degree=2),
        MonomialFeatures(),
        LogFeatures(shift=1.0),
        RelevantColumns(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# -- Nystrom ------------------------------------------------------------------------------------


@given(strategies.kernels, strategies.vectors(), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_nystrom_is_exact_at_the_landmarks_and_below_the_kernel_elsewhere(kernel, A, m):
    K = kernel(A)
    if np.abs(K).max() < 1e-8:
        return
    nystrom = Nystrom(kernel, n_components=m, random_state=0)
    drawn = np.random.default_rng(0).choice(len(A), min(m, len(A)), replace=False)
    if not np.diagonal(K)[drawn].any():
        with pytest.raises(ValueError, match="landmarks have length 0 in feature space"):
            nystrom.fit(A)
        return
    features = nystrom.fit(A)
    F = features.transform(A)
    scale = np.abs(K).max()
    at = features.landmark_indices_
    np.testing.assert_allclose((F @ F.T)[at], K[at], atol=1e-4 * scale)
    assert np.linalg.eigvalsh(K - F @ F.T).min() >= -1e-4 * scale


@pytest.mark.parametrize("selection", ["uniform", "greedy"])
def test_nystrom_errs_at_the_landmarks_by_what_rounding_hides(selection):
    """A smooth kernel: double precision loses the smallest eigenvalues of its matrix."""
    kernel, A = RBF(0.01), np.random.default_rng(0).normal(size=(150, 2))
    nystrom = Nystrom(kernel, n_components=80, selection=selection, random_state=0).fit(A)
    off = nystrom.transform(A) @ nystrom.transform(A).T - kernel(A)
    at = nystrom.landmark_indices_
    left_out = 80 * nystrom.rank_tol * nystrom.eigenvalues_[0]
    assert nystrom.n_components_ < 80
    assert np.abs(off[np.ix_(at, at)]).max() < left_out
    assert np.abs(off[at]).max() < np.sqrt(left_out)


@pytest.mark.spec("SS-12", "CS-B.08")
def test_all_objects_as_landmarks_give_the_eigenfeatures():
    kernel = RBF(0.3)
    features = Nystrom(kernel, n_components=1000, rank_tol=1e-14).fit(X)
    F, K = features.transform(X), kernel(X)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-8)
    # Columns are sqrt(eigenvalue) times eigenvectors: orthogonal, falling, and they rebuild K.
    np.testing.assert_allclose(F.T @ F, np.diag(features.eigenvalues_), atol=1e-7)
    np.testing.assert_allclose(features.eigenvalues_, np.linalg.eigvalsh(K)[::-1], rtol=1e-6)
    V = F / np.sqrt(features.eigenvalues_)
    np.testing.assert_allclose(K @ V, V * features.eigenvalues_, atol=1e-7)


@pytest.mark.spec("CS-B.08")
def test_the_spectrum_of_a_gaussian_decays_and_is_that_of_a_positive_operator():
    t = np.linspace(-1, 1, 60)[:, None]
    values = Nystrom(RBF(1.0), n_components=60, rank_tol=1e-15).fit(t).eigenvalues_
    assert (np.diff(values) <= 0).all()
    assert values.min() > 0
    assert values[8] < 1e-6 * values[0]
    assert values.sum() == pytest.approx(60, rel=1e-12)  # the trace


@pytest.mark.parametrize("selection", ["uniform", "random_pivots", "greedy"])
def test_landmarks_repeat_with_the_seed_and_more_of_them_err_less(selection):
    few, again, more = (
        Nystrom(RBF(0.2), n_components=m, selection=selection, random_state=1).fit(X)
        for m in (8, 8, 30)
    )
    np.testing.assert_array_equal(few.landmark_indices_, again.landmark_indices_)
    np.testing.assert_array_equal(few.transform(Z), again.transform(Z))
    assert more.approximation_error(X).spectral < few.approximation_error(X).spectral
    assert len(set(few.landmark_indices_)) == 8


def test_pivots_follow_clusters_that_a_uniform_draw_misses():
    A = np.vstack([rng.normal(size=(500, 2)) * 0.01, [[5.0, 5.0], [-5.0, 5.0], [5.0, -5.0]]])
    uniform = Nystrom(RBF(1.0), n_components=6, random_state=0).fit(A)
    pivoted = Nystrom(RBF(1.0), n_components=6, selection="greedy").fit(A)
    assert uniform.approximation_error(A).max == pytest.approx(1.0, abs=1e-3)
    assert pivoted.approximation_error(A).max < 1e-3


def test_strings_matrices_and_sparse_rows():
    features = Nystrom(common, n_components=6).fit(WORDS)
    F = features.transform(WORDS)
    np.testing.assert_allclose(F @ F.T, common(WORDS), atol=1e-9)
    by_matrix = Nystrom("precomputed", n_components=6).fit(common(WORDS))
    np.testing.assert_allclose(
        by_matrix.transform(common(["berry"], WORDS)), features.transform(["berry"]), atol=1e-9
    )
    with pytest.raises(ValueError, match="nothing to compare"):
        by_matrix.approximation_error(common(WORDS))
    for make in (
        lambda: Nystrom(gamma=0.3, n_components=20, random_state=0),
        lambda: IncompleteCholeskyFeatures(gamma=0.3, tol=1e-4),
        lambda: RandomFourierFeatures(gamma=0.3, random_state=0),
        lambda: TaylorFeatures(gamma=0.1),
        lambda: MonomialFeatures(3),
        lambda: ExplicitFeatures(Polynomial(2, 0.3, 1.0)),
    ):
        dense, sparse = make().fit(X).transform(Z), make().fit(sp.csr_matrix(X))
        for rows in (sp.csr_matrix(Z), sp.csr_array(Z), Z):
            out = sparse.transform(rows)
            np.testing.assert_allclose(
                out.toarray() if sp.issparse(out) else out, dense, rtol=1e-7, atol=1e-7
            )


# -- incomplete Cholesky -------------------------------------------------------------------------


def test_cholesky_features_carry_their_proof():
    features = IncompleteCholeskyFeatures(gamma=0.2, tol=1e-2).fit(X)
    error = features.approximation_error(X)
    assert features.status_ == "tolerance"
    assert features.relative_error_ <= 1e-2
    assert error.max <= features.largest_residual_ + 1e-12
    assert error.spectral <= error.frobenius + 1e-12 <= features.trace_residual_ + 1e-9
    np.testing.assert_allclose(
        features.fit_transform(X), features.transform(X), rtol=1e-7, atol=1e-9
    )
    limited = IncompleteCholeskyFeatures(gamma=0.2, tol=0.0, n_components=4).fit(X)
    assert (limited.status_, limited.n_components_) == ("rank", 4)
    assert limited.get_feature_names_out().tolist() == [
        f"incompletecholeskyfeatures{i}" for i in range(4)
    ]
    words = IncompleteCholeskyFeatures(common, tol=1e-12).fit(WORDS)
    F = words.transform(WORDS)
    np.testing.assert_allclose(F @ F.T, common(WORDS), atol=1e-9)


# -- random Fourier features ---------------------------------------------------------------------

INVARIANT = [
    RBF(0.4),
    Laplacian(0.3),
    2 * RBF(0.4) + 0.5 * Laplacian(0.3),
    RBF(0.1) * Laplacian(0.2) + 1,
    RBF(0.2) ** 3,
    exp(0.5 * RBF(0.3)),
    polynomial(RBF(0.3), [0.5, 0, 2.0]),
    normalize(3 * RBF(0.3)),
    RBF(0.4).on_columns([0, 2]) + Laplacian(0.5).on_columns([1]),
    RBF(0.4).on_columns([1, 1]),
    Exponential(0.4),
    Matern(1.5, 0.7),
    Matern(3.2, 2.0),
    RationalQuadratic(0.7, 1.5),
]


@pytest.mark.parametrize("kernel", INVARIANT, ids=repr)
def test_cosines_of_the_frequencies_average_to_the_kernel(kernel):
    w, mass = draw_frequencies(kernel, 40000, 3, np.random.default_rng(1))
    difference = X[:6] - Z[:6]
    terms = mass * np.cos(difference @ w.T)
    exact = np.array([kernel(x[None], z[None])[0, 0] for x, z in zip(X[:6], Z[:6], strict=True)])
    assert mass == pytest.approx(kernel.diag(X[:1])[0], rel=1e-12)
    deviation = terms.std(axis=1) / np.sqrt(40000)
    assert (np.abs(terms.mean(axis=1) - exact) <= 4.5 * deviation + 1e-12).all()


@pytest.mark.parametrize("n", [1, 2, 7, 500])
def test_the_features_have_the_right_length_and_no_bias(n):
    kernel = 2 * RBF(0.4)
    F = RandomFourierFeatures(kernel, n_components=n, random_state=0).fit(X).transform(X)
    assert F.shape == (40, n)
    if n % 2 == 0:
        np.testing.assert_allclose((F * F).sum(axis=1), 2.0, rtol=1e-12)
    estimates = []
    for seed in range(300 if n < 10 else 20):
        features = RandomFourierFeatures(kernel, n_components=n, random_state=seed).fit(X)
        left, right = features.transform(X[:2])
        estimates.append(left @ right)
    error = np.mean(estimates) - kernel(X[:1], X[1:2])[0, 0]
    assert abs(error) <= 4.5 * np.std(estimates) / np.sqrt(len(estimates))


def test_hoeffding_holds_and_the_error_falls_with_the_root_of_the_number():
    kernel = RBF(0.3)
    exact = kernel(X)
    for n in (50, 51):
        missed = []
        for seed in range(40):
            features = RandomFourierFeatures(kernel, n_components=n, random_state=seed).fit(X)
            F = features.transform(X)
            missed.append(np.abs(F @ F.T - exact) > features.pointwise_bound(0.1))
        assert np.mean(missed) <= 0.1
    few, many = (
        RandomFourierFeatures(kernel, n_components=n, random_state=0).fit(X) for n in (100, 10000)
    )
    ratio = few.approximation_error(X).frobenius / many.approximation_error(X).frobenius
    assert 5 < ratio < 20
    assert many.pointwise_bound(0.05) == pytest.approx(few.pointwise_bound(0.05) / 10)


def test_what_has_no_spectrum_is_refused():
    for kernel in (Linear(), RBF(1.0) * Polynomial(2, 1.0)):
        with pytest.raises(ValueError, match="no spectrum to draw from"):
            RandomFourierFeatures(kernel).fit(X)
    with pytest.raises(ValueError, match="on vectors"):
        RandomFourierFeatures(common).fit(WORDS)
    with pytest.raises(ValueError, match="on vectors"):
        RandomFourierFeatures("precomputed").fit(np.eye(3))
    with pytest.raises(ValueError, match="probability"):
        RandomFourierFeatures().fit(X).pointwise_bound(2)

    class Wrong(RBF):
        def sample_spectrum(self, n, d, rng):
            return np.zeros(3)

    with pytest.raises(ValueError, match="sample_spectrum must return"):
        RandomFourierFeatures(Wrong(1.0)).fit(X)


# -- how the error is measured -------------------------------------------------------------------


def test_the_error_is_the_norm_of_the_matrix_of_errors():
    kernel = RBF(0.4)
    A = rng.normal(size=(300, 3))
    F = rng.normal(size=(300, 5)) * 0.3
    E = kernel(A) - F @ F.T
    for features in (F, sp.csr_matrix(F)):
        error = approximation_error(kernel, A, lambda _, f=features: f)
        assert error.exact
        assert error.max == pytest.approx(np.abs(E).max(), rel=1e-9)
        assert error.frobenius == pytest.approx(np.linalg.norm(E), rel=1e-9)
        assert error.spectral == pytest.approx(np.linalg.norm(E, 2), rel=1e-5)
        assert error.relative_frobenius == pytest.approx(
            np.linalg.norm(E) / np.linalg.norm(kernel(A)), rel=1e-9
        )
    small = approximation_error(kernel, A[:20], lambda B: F[: len(B)])
    assert small.spectral == pytest.approx(np.linalg.norm(E[:20, :20], 2), rel=1e-9)


def test_many_objects_are_sampled_and_it_says_so():
    features = Nystrom(gamma=0.2, n_components=10, random_state=0).fit(X)
    error = features.approximation_error(X, n_sample=15)
    assert not error.exact
    assert error.how == "on all pairs of 15 objects drawn from 40"
    assert error == features.approximation_error(X, n_sample=15)
    assert error != features.approximation_error(X, n_sample=15, random_state=1)
    whole = features.approximation_error(X, n_sample=None)
    assert whole.exact
    assert error.max <= whole.max
    assert "measured           on all pairs of 40 objects" in str(whole)
    with pytest.raises(ValueError, match="n_sample"):
        features.approximation_error(X, n_sample=0)


# -- in use --------------------------------------------------------------------------------------


def test_a_linear_machine_on_the_features_does_the_kernels_work():
    A, y = rings(200, random_state=0)
    for features in (
        Nystrom(gamma=1.0, n_components=40, random_state=0),
        IncompleteCholeskyFeatures(gamma=1.0),
        RandomFourierFeatures(gamma=1.0, n_components=200, random_state=0),
        TaylorFeatures(gamma=0.3, degree=4),
        MonomialFeatures(2),
        ExplicitFeatures("poly", degree=2),
    ):
        assert SVC(kernel="linear").fit(A, y).score(A, y) < 0.8
        model = make_pipeline(features, SVC(kernel="linear", C=10)).fit(A, y)
        assert model.score(A, y) > 0.98, features
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(A), model.predict(A))
        assert repr(clone(features)) == repr(features)


def test_a_grid_search_reaches_into_the_kernel():
    A, y = rings(80, random_state=0)
    pipeline = make_pipeline(Nystrom(RBF(1.0), random_state=0), LogisticRegression())
    search = GridSearchCV(pipeline, {"nystrom__kernel__gamma": [1e-6, 1.0]}, cv=3).fit(A, y)
    assert search.best_params_ == {"nystrom__kernel__gamma": 1.0}


def test_column_names_reach_kernel_and_features():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    kernel = RBF(0.5).on_columns(["c", "a"])
    features = Nystrom(kernel, n_components=40).fit(frame)
    F = features.transform(frame)
    np.testing.assert_allclose(F @ F.T, RBF(0.5)(X[:, [2, 0]]), atol=1e-6)
    assert features.get_feature_names_out()[0] == "nystrom0"
    assert MonomialFeatures(2).fit(frame).get_feature_names_out()[:4].tolist() == [
        "a", "b", "c", "a^2",
    ]  # fmt: skip
    out = Nystrom(kernel, n_components=4).set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["nystrom0", "nystrom1", "nystrom2", "nystrom3"]


def test_seeds_of_every_kind():
    kinds = [0, np.random.default_rng(0), np.random.RandomState(0), None]
    for seed in kinds:
        assert RandomFourierFeatures(random_state=seed).fit(X).transform(Z).shape == (9, 100)


def test_what_is_refused():
    for estimator, message in [
        (Nystrom(n_components=0), "n_components"),
        (Nystrom(selection="best"), "selection must be one of"),
        (Nystrom(rank_tol=-1), "rank_tol"),
        (Nystrom(Polynomial(1, 1.0, -50.0)), "not positive semidefinite"),
        (Nystrom(RBF(1.0), gamma=2.0), "parameters of its own"),
        (
            IncompleteCholeskyFeatures(pivoting="given"),
            "pivoting must be one of 'largest', 'random'",
        ),
        (IncompleteCholeskyFeatures(tol=-1), "tol"),
        (RandomFourierFeatures(n_components=2.5), "integer"),
        (TaylorFeatures(degree=-1), "degree"),
        (TaylorFeatures(gamma="median"), "gamma must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.fit(X)
    for estimator in (Nystrom("linear"), IncompleteCholeskyFeatures("linear")):
        with pytest.raises(ValueError, match="there are no features"):
            estimator.fit(np.zeros((3, 2)))
    with pytest.raises(NotImplementedError, match="no explicit feature map"):
        ExplicitFeatures("rbf").fit(X)
    changing = ExplicitFeatures(FromFeatureMap(lambda A: np.ones((len(A), len(A)))))
    with pytest.raises(ValueError, match="must not depend on the other objects"):
        changing.fit(WORDS).transform(WORDS)
    with pytest.raises(ValueError, match="3 features"):
        Nystrom().fit(X).transform(np.ones((2, 5)))
