"""Kernel principal component analysis."""

import pickle

import numpy as np
import pytest
import scipy.linalg
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPCA
from mercer.features.projected_gram import ProjectedGram
from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Polynomial, Sigmoid, Spectrum, ThinPlate
from mercer.solvers.prove.eigenvalue_bounds import upper_bounds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [3.0, 1.0, 0.5]
NEW = RNG.normal(size=(7, 3))


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


# -- the method ---------------------------------------------------------------------------------


@pytest.mark.spec("SM-5.02", "SM-5.08", "CS-3.52")
def test_linear_kernel_is_ordinary_pca():
    ours, theirs = KernelPCA(3).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(abs(ours.transform(NEW)), abs(theirs.transform(NEW)), atol=1e-12)
    # scikit-learn's PCA divides by n - 1.
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_ * 39 / 40)
    np.testing.assert_allclose(ours.explained_variance_.sum(), ours.total_variance_)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)


@pytest.mark.parametrize("center", [True, False])
def test_inverse_of_the_linear_kernel_is_that_of_pca(center):
    """The rows have a mean of their own, which scikit-learn's inverse of this kernel loses."""
    rows = X + [5.0, -3.0, 100.0]
    settings = {"kernel": "linear", "center": center, "fit_inverse_transform": True, "alpha": 1e-5}
    ours, theirs = (
        KernelPCA(2 + (not center), **settings).fit(rows),
        PCA(2 + (not center)).fit(rows),
    )
    expected = theirs.inverse_transform(theirs.transform(rows))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(rows)), expected, atol=1e-5)


def test_weighted_rows_are_inverted_around_their_weighted_mean():
    weight = np.arange(40) % 3
    settings = {"kernel": "linear", "fit_inverse_transform": True}
    weighted = KernelPCA(2, **settings).fit(X + 5.0, sample_weight=weight)
    repeated = KernelPCA(2, **settings).fit(np.repeat(X + 5.0, weight, axis=0))
    found, expected = (pca.inverse_transform(pca.transform(X)) for pca in (weighted, repeated))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.spec("SM-5.03", "SM-5.04", "SM-5.05", "SM-5.09")
def test_directions_are_orthonormal_and_scores_agree_on_training_data():
    pca = KernelPCA(6, kernel=RBF(0.3))
    scores = pca.fit_transform(X)
    np.testing.assert_allclose(pca.transform(X), scores, atol=1e-12)
    c = pca.scores_coef_
    np.testing.assert_allclose(c.T @ centred(RBF(0.3)(X)) @ c, np.eye(6), atol=1e-12)
    np.testing.assert_allclose((scores**2).mean(axis=0), pca.explained_variance_)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-14)
    assert (np.abs(scores) <= pca.feature_box_).all()
    assert (scores.max(axis=0) >= -scores.min(axis=0)).all()  # the sign convention


@pytest.mark.spec("SS-24")
def test_worked_numbers_without_centring():
    points = [[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]
    pca = KernelPCA(2, center=False).fit(points)
    np.testing.assert_allclose(pca.eigenvalues_, [8.0, 2.0])
    np.testing.assert_allclose(pca.explained_variance_, [2.0, 0.5])
    np.testing.assert_allclose(abs(pca.scores_coef_[:, 0]), [0.0, 0.0, 0.25, 0.25], atol=1e-15)
    assert abs(pca.transform([[0.0, 2.0]])[0, 0]) == pytest.approx(2.0)
    scores = pca.transform(points)
    np.testing.assert_allclose((scores**2).sum(axis=1), [1.0, 1.0, 4.0, 4.0])


@pytest.mark.spec("SS-24")
def test_components_split_clusters_first_and_then_halve_them():
    rng = np.random.default_rng(1)
    centres = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
    label = np.repeat(np.arange(3), 30)
    points = centres[label] + 0.1 * rng.normal(size=(90, 2))
    scores = KernelPCA(8, kernel=RBF(20.0)).fit_transform(points)
    means = np.array([scores[label == c].mean(axis=0) for c in range(3)])
    between = (means**2).mean(axis=0) / (scores**2).mean(axis=0)
    assert (between[:2] > 0.85).all()
    assert (between[2:] < 0.05).all()
    within = np.array([scores[label == c].var(axis=0) for c in range(3)])
    assert (within[:, 2:5].max(axis=0) / within[:, 2:5].sum(axis=0) > 0.95).all()


@pytest.mark.spec("SM-5.06")
def test_components_of_eigenvalue_zero_are_dropped():
    flat = X @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]  # rank 2
    assert KernelPCA().fit(flat).n_components_ == 2
    assert KernelPCA(3).fit_transform(flat).shape == (40, 3)
    assert KernelPCA(3, remove_zero_eig=True).fit_transform(flat).shape == (40, 2)


@pytest.mark.spec("SM-5.07")
def test_indefinite_kernels():
    kernel = Sigmoid(gamma=1.0, coef0=-1.0)
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        KernelPCA(kernel=kernel).fit(X)
    pca = KernelPCA(8, kernel=kernel, allow_indefinite=True)
    scores = pca.fit_transform(X)
    values = scipy.linalg.eigvalsh(centred(kernel(X)))
    largest = values[np.argsort(-abs(values))][:8]
    np.testing.assert_allclose(pca.eigenvalues_, largest, rtol=1e-9)
    assert set(pca.signature_) == {-1.0, 1.0}
    np.testing.assert_allclose(pca.transform(X), scores, atol=1e-10)
    c = pca.scores_coef_
    form = c.T @ centred(kernel(X)) @ c
    np.testing.assert_allclose(form, np.diag(pca.signature_), atol=1e-10)
    assert np.isnan(pca.certificate_.gap)
    assert pca.certificate_.status == "stationary"


@pytest.mark.spec("SM-5.10")
def test_projected_functions_are_uncorrelated_with_the_features():
    pca = KernelPCA(5, kernel=RBF(0.5), project_out="linear")
    scores = pca.fit_transform(X)
    functions = np.hstack([np.ones((40, 1)), X])
    np.testing.assert_allclose(functions.T @ scores, 0.0, atol=1e-12)
    np.testing.assert_allclose(pca.transform(X), scores, atol=1e-12)
    assert KernelPCA(project_out="linear").fit(X).n_components_ == 0  # nothing is left of PCA
    squares = KernelPCA(4, kernel=RBF(0.5), project_out=lambda A: A**2).fit(X)
    assert abs((X**2).T @ squares.transform(X)).max() < 1e-11


@pytest.mark.spec("SM-5.11")
def test_stages_of_a_hierarchy_are_uncorrelated():
    first = KernelPCA(2).fit(X)
    second = KernelPCA(3, kernel=Polynomial(2, 1.0, 0.0), project_out=first.transform).fit(X)

    def both(A):
        return np.hstack([first.transform(A), second.transform(A)])

    third = KernelPCA(3, kernel=RBF(0.5), project_out=both).fit(X)
    features = np.hstack([both(X), third.transform(X)])
    features /= np.linalg.norm(features, axis=0)
    np.testing.assert_allclose(features.T @ features, np.eye(8), atol=1e-10)
    # Each stage captures what the ones before left: less than it would without them.
    assert (
        second.total_variance_ < KernelPCA(3, kernel=Polynomial(2, 1.0, 0.0)).fit(X).total_variance_
    )


def test_conditionally_definite_kernel_of_order_two_needs_linear_functions_removed():
    with pytest.raises(ValueError, match="project_out='linear'"):
        KernelPCA(kernel=ThinPlate()).fit(X)
    pca = KernelPCA(4, kernel=ThinPlate(), project_out="linear").fit(X)
    assert (pca.eigenvalues_ > 0).all()


@pytest.mark.spec("SM-5.12")
def test_polynomial_kernel_is_pca_of_monomials():
    i, j = np.triu_indices(3)
    monomials = X[:, i] * X[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))
    pca = KernelPCA(4, kernel=Polynomial(2, 1.0, 0.0)).fit(X)
    explicit = PCA(4).fit(monomials)
    np.testing.assert_allclose(pca.explained_variance_, explicit.explained_variance_ * 39 / 40)


@pytest.mark.spec("SM-5.13")
def test_homogeneous_polynomials_are_invariant_under_rotations():
    rotation = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]

    def spectrum(kernel, points):
        return KernelPCA(5, kernel=kernel).fit(points).eigenvalues_

    kernel = Polynomial(2, 1.0, 0.0)
    np.testing.assert_allclose(spectrum(kernel, X @ rotation), spectrum(kernel, X))

    def unscaled(points):  # each product of two coordinates once: another diagonal weighting
        i, j = np.triu_indices(3)
        return points[:, i] * points[:, j]

    before = spectrum(Linear(), unscaled(X))[0]
    assert abs(spectrum(Linear(), unscaled(X @ rotation))[0] / before - 1.0) > 0.01


# -- weights, shares, objects -------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_weights_are_repetition(solver):
    weight = np.arange(40) % 4
    options = {"kernel": RBF(0.5), "n_components": 3, "eigen_solver": solver, "tol": 0.0}
    weighted = KernelPCA(**options, random_state=0).fit(X, sample_weight=weight)
    repeated = KernelPCA(**options, random_state=0).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_)
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_)
    np.testing.assert_allclose(weighted.transform(NEW), repeated.transform(NEW), atol=1e-9)
    assert len(weighted.fit_transform(X, sample_weight=weight)) == 40


def test_a_share_of_the_variance_chooses_the_number_of_components():
    shares = np.cumsum(PCA().fit(X).explained_variance_ratio_)
    for share in (0.5, 0.95, 0.999):
        assert KernelPCA(share).fit(X).n_components_ == np.searchsorted(shares, share) + 1
    many = np.random.default_rng(0).normal(size=(700, 4))
    by_iteration = KernelPCA(0.9, kernel=RBF(0.02), random_state=0).fit(many)
    whole = KernelPCA(0.9, kernel=RBF(0.02), eigen_solver="dense").fit(many)
    assert by_iteration.certificate_.n_iter > 0
    assert by_iteration.n_components_ == whole.n_components_


def test_strings_and_matrices():
    words = ["banana", "bandana", "ananas", "kernel", "colonel", "kernels"]
    pca = KernelPCA(2, kernel=Spectrum(2))
    scores = pca.fit_transform(words)
    assert abs(scores[:3, 0].mean() - scores[3:, 0].mean()) > 1.0
    K = Spectrum(2)(words)
    matrix = KernelPCA(2, kernel="precomputed").fit(K, sample_weight=[1, 1, 1, 1, 1, 0])
    without = KernelPCA(2, kernel=Spectrum(2)).fit(words[:5])
    np.testing.assert_allclose(matrix.transform(K), without.transform(words), atol=1e-12)
    assert list(pca.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]


# -- the iteration ------------------------------------------------------------------------------

MANY = np.random.default_rng(2).normal(size=(800, 5)) * np.linspace(1.0, 0.3, 5)


@pytest.mark.parametrize("d", [1, 3])
def test_rows_in_single_precision_lose_no_digits_of_features(d):
    """Nor are eigenvectors rounded: they have length 1 in double precision."""
    rows, new = MANY[:150, :d].astype(np.float32), MANY[150:200, :d].astype(np.float32)
    settings = {"kernel": "rbf", "fit_inverse_transform": True}
    single = KernelPCA(**settings).fit(rows)
    assert single.eigenvalues_[-1] > 2e-7 * single.eigenvalues_[0]
    exact = KernelPCA(single.n_components_, **settings).fit(rows.astype(np.float64))
    expected = exact.transform(new.astype(np.float64))
    atol = 4 * np.finfo(np.float32).eps
    np.testing.assert_allclose(single.transform(new), expected, rtol=0, atol=atol)
    np.testing.assert_allclose(
        single.inverse_transform(expected),
        exact.inverse_transform(expected),
        rtol=0,
        atol=atol * np.abs(rows).max(),
    )
    np.testing.assert_allclose(np.linalg.norm(single.eigenvectors_, axis=0), 1.0, rtol=1e-14)


@pytest.mark.parametrize("gamma", [0.01, 0.3])
def test_iteration_agrees_with_the_whole_spectrum_within_its_bounds(gamma):
    whole = KernelPCA(8, kernel=RBF(gamma), eigen_solver="dense").fit(MANY)
    pca = KernelPCA(8, kernel=RBF(gamma), eigen_solver="krylov", random_state=0).fit(MANY)
    error = abs(pca.eigenvalues_ - whole.eigenvalues_)
    assert error.max() <= 1e-8 * whole.eigenvalues_[0]
    low, high = pca.eigenvalue_bounds_.T
    assert ((low <= whole.eigenvalues_) & (whole.eigenvalues_ <= high)).all()
    certificate = pca.certificate_
    left = whole.total_variance_ * 800 - whole.eigenvalues_.sum()
    assert certificate.dual <= left <= certificate.primal
    assert certificate.kkt_violation <= 1e-5
    np.testing.assert_allclose(pca.transform(MANY), whole.transform(MANY), atol=2e-4)


def test_rounding_ends_the_iteration_where_no_tolerance_is_given():
    whole = KernelPCA(4, kernel=RBF(0.3), eigen_solver="dense").fit(MANY)
    pca = KernelPCA(4, kernel=RBF(0.3), eigen_solver="krylov", tol=0.0, random_state=0).fit(MANY)
    np.testing.assert_allclose(pca.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(
        pca.transform(NEW[:, [0, 1, 2, 0, 1]]), whole.transform(NEW[:, [0, 1, 2, 0, 1]]), atol=1e-9
    )


def test_a_repeated_eigenvalue_is_found_as_often_as_it_occurs():
    blocks = scipy.linalg.block_diag(*[np.ones((30, 30))] * 20)  # 20 eigenvalues of 30
    pca = KernelPCA(25, kernel="precomputed", center=False, eigen_solver="krylov").fit(blocks)
    np.testing.assert_allclose(pca.eigenvalues_[:20], 30.0)
    np.testing.assert_allclose(pca.eigenvalues_[20:], 0.0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decay", [1.0, 10.0**-3.2, 10.0**-5.8])
def test_primal_value_bounds_the_variance_that_the_model_leaves_unexplained(decay, dtype):
    # Eigenvectors that are rounded, and components whose small eigenvalues are taken as zero.
    rows = (RNG.normal(size=(30, 5)) * decay ** np.arange(5)).astype(dtype)
    model = KernelPCA(4).fit(rows)
    wide = rows.astype(np.longdouble)
    left = wide - wide.mean(axis=0)
    directions = []
    for a in model.scores_coef_.T.astype(np.longdouble):
        for u in directions:
            a = a - u * (u @ a)
        if a.any():
            directions.append(a / np.sqrt(a @ a))
            left = left - np.outer(directions[-1], directions[-1] @ left)
    assert model.certificate_.dual <= np.square(left).sum() <= model.certificate_.primal


def test_upper_bounds_hold_for_unconverged_pairs():
    rng = np.random.default_rng(5)
    values = np.sort(rng.exponential(size=30))[::-1] ** 3
    A = np.diag(values)
    for seed in range(20):
        Q = np.linalg.qr(
            np.eye(30)[:, :9] + 0.3 * np.random.default_rng(seed).normal(size=(30, 9))
        )[0]
        theta, rotation = np.linalg.eigh(Q.T @ A @ Q)
        theta, V = theta[::-1], Q @ rotation[:, ::-1]
        norms = np.linalg.norm(A @ V - V * theta, axis=0)
        bounds = upper_bounds(theta, norms, 4, float(values.sum()))
        assert (bounds >= values[:4]).all()
        assert (theta[:4] <= values[:4]).all()


GRID = np.round(X * 2**12) / 2**12  # translations by powers of two are exact


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_a_linear_kernel_far_from_the_origin_keeps_its_digits(solver):
    options = {"n_components": 2, "eigen_solver": solver, "random_state": 0}
    near = KernelPCA(**options).fit(GRID)
    far = KernelPCA(**options).fit(GRID + 2.0**33)
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(far.transform(GRID + 2.0**33), near.transform(GRID), atol=1e-9)
    np.testing.assert_allclose(far.transform(GRID + 2.0**33), far._scores, atol=1e-9)


def test_bounds_include_the_rounding_of_values_that_centring_cancels():
    # A kernel on squares: exact in integers, of which 2^50 is subtracted.
    K = 2.0**50 * np.ones((40, 40)) + np.round(2**6 * centred(Linear()(GRID)))
    exact = KernelPCA(3, kernel="precomputed").fit(K - 2.0**50)
    model = KernelPCA(3, kernel="precomputed").fit(K)
    low, high = model.eigenvalue_bounds_.T
    assert (low <= exact.eigenvalues_).all()
    assert (exact.eigenvalues_ <= high).all()
    left = exact.certificate_.primal
    assert model.certificate_.dual <= left <= model.certificate_.primal
    with pytest.warns(UserWarning, match="ill-conditioned"):
        hidden = KernelPCA(3, kernel="poly", gamma=1.0).fit(GRID + 1e7)
    assert hidden.certificate_.status == "precision_limit"


def test_limits_keep_what_was_found():
    pca = KernelPCA(5, kernel=RBF(0.3), eigen_solver="krylov", max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        pca.fit(MANY)
    assert pca.certificate_.status == "iteration_limit"
    assert pca.transform(MANY[:3]).shape == (3, 5)
    for points in (MANY, np.tile(MANY, (2, 1))):  # the second start from columns of the matrix
        with pytest.raises(TimeoutError, match="time_limit"):
            KernelPCA(5, kernel=RBF(0.3), eigen_solver="krylov", time_limit=1e-9).fit(points)


# Above 1,000 objects the iteration starts from columns of the matrix, in single precision.
MORE = np.random.default_rng(3).normal(size=(1_100, 5)) * np.linspace(1.0, 0.3, 5)


def test_an_interrupt_keeps_the_components_found_so_far(monkeypatch):
    pca = KernelPCA(5, kernel=RBF(0.3), random_state=0)
    finished = pca.fit(MORE).eigenvalues_
    calls = []
    product = ProjectedGram.cheap

    def interrupted(self, V):
        calls.append(V.dtype)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return product(self, V)

    monkeypatch.setattr(ProjectedGram, "cheap", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pca.fit(MORE)
    assert calls == [np.float32, np.float32]
    assert pca.certificate_.status == "interrupted"
    assert pca.certificate_.precision == "float32, by the solver"
    np.testing.assert_allclose(pca.eigenvalues_, finished, rtol=0.05)


def test_values_found_in_single_precision_are_finished_in_double():
    weight = np.random.default_rng(4).integers(1, 4, size=len(MORE)).astype(float)
    pca = KernelPCA(6, kernel=RBF(0.05), project_out="linear", random_state=0)
    pca.fit(MORE, sample_weight=weight)
    A = ProjectedGram(
        Gram(RBF(0.05), MORE), weight, np.column_stack([np.ones(len(MORE)), MORE])
    ).dense()
    values = scipy.linalg.eigh(A, eigvals_only=True, subset_by_index=(len(A) - 6, len(A) - 1))[::-1]
    assert pca.certificate_.precision == "float64"
    low, high = pca.eigenvalue_bounds_.T
    assert ((low <= values) & (values <= high)).all()
    np.testing.assert_allclose(pca.eigenvalues_, values, atol=1e-8 * values[0])
    residuals = A @ pca.eigenvectors_ - pca.eigenvectors_ * pca.eigenvalues_
    worst = np.linalg.norm(residuals, axis=0).max() / values[0]
    assert worst == pytest.approx(pca.certificate_.kkt_violation, rel=1e-3)
    assert pca.total_variance_ == pytest.approx(np.trace(A) / weight.sum(), rel=1e-10)
    np.testing.assert_allclose(
        pca.transform(MORE[:9]), pca.fit_transform(MORE, None, weight)[:9], atol=1e-4
    )


def test_a_failed_fit_keeps_the_model_before():
    pca = KernelPCA(2).fit(X)
    before = pca.transform(NEW)
    with pytest.raises(ValueError, match="NaN"):
        pca.fit([[np.nan, 0.0, 1.0]])
    np.testing.assert_array_equal(pca.transform(NEW), before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pca)).transform(NEW), before)


# -- pre-images ---------------------------------------------------------------------------------


@pytest.mark.parametrize("preimage", ["fixed_point", "gradient"])
def test_pre_images_of_all_components_are_the_points(preimage):
    points = X[:12]
    pca = KernelPCA(kernel=RBF(0.1), fit_inverse_transform=True, preimage=preimage).fit(points)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(points)), points, atol=1e-4)


@pytest.mark.parametrize("preimage", ["fixed_point", "gradient"])
def test_denoising_brings_points_nearer_to_the_curve(preimage):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 120)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    noisy = circle + 0.12 * rng.normal(size=circle.shape)
    pca = KernelPCA(4, kernel=RBF(0.5), fit_inverse_transform=True, preimage=preimage).fit(noisy)
    clean = pca.inverse_transform(pca.transform(noisy))

    def off_the_circle(points):
        return np.mean((np.linalg.norm(points, axis=1) - 1.0) ** 2)

    assert off_the_circle(clean) < 0.4 * off_the_circle(noisy)


def test_pre_images_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="Gaussian"):
        KernelPCA(
            2, kernel=Polynomial(2, 1.0), fit_inverse_transform=True, preimage="fixed_point"
        ).fit(X).inverse_transform([[0.0, 0.0]])
    with pytest.raises(ValueError, match="dense rows of numbers"):
        KernelPCA(1, kernel=Spectrum(2), fit_inverse_transform=True).fit(["aab", "abb"])
    with pytest.raises(ValueError, match="the 2 features of each object"):
        KernelPCA(2, fit_inverse_transform=True).fit(X).inverse_transform([[0.0]])
