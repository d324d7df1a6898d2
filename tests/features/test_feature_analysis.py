"""Kernel feature analysis: admissible sets, contrasts, deflation."""

import numpy as np
import pytest
import scipy.stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import KernelFeatureAnalysis, KernelPCA, RegularizedPrincipalManifold
from mercer.features.contrasts import CONTRASTS, friedman_tukey, kurtosis
from mercer.kernels import RBF, Linear, Spectrum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [2.0, 1.0, 0.5]
KERNEL = RBF(0.2)
SIDES = np.where(np.arange(200) < 100, -1.0, 1.0)
BLOBS = np.c_[3.0 * RNG.normal(size=200), SIDES + 0.2 * RNG.normal(size=200)]


@pytest.mark.spec("SM-5.14")
def test_l2_with_the_variance_is_kernel_pca():
    ours = KernelFeatureAnalysis(4, kernel=KERNEL, constraint="l2", center=True).fit(X)
    pca = KernelPCA(4, kernel=KERNEL).fit(X)
    np.testing.assert_allclose(ours.transform(X), pca.transform(X), atol=1e-10)
    np.testing.assert_allclose(ours.contrasts_, pca.explained_variance_)
    assert ours.certificate_.status == "optimal"
    raw = KernelFeatureAnalysis(3, kernel=KERNEL, constraint="l2").fit(X)
    values = np.linalg.eigvalsh(KERNEL(X))[::-1][:3] / 60
    np.testing.assert_allclose(raw.contrasts_, values)


@pytest.mark.spec("SM-5.15")
@pytest.mark.parametrize("contrast", ["variance", "kurtosis"])
def test_coefficients_satisfy_their_constraint(contrast):
    K = KERNEL(X)
    sparse = KernelFeatureAnalysis(5, kernel=KERNEL, contrast=contrast).fit(X)
    np.testing.assert_allclose(np.abs(sparse.dual_coef_).sum(axis=0), 1.0)
    unit = KernelFeatureAnalysis(
        2, kernel=KERNEL, constraint="l2", contrast=contrast, n_basis=4, random_state=0
    ).fit(X)
    np.testing.assert_allclose(unit.dual_coef_.T @ K @ unit.dual_coef_, np.eye(2), atol=1e-8)


@pytest.mark.spec("SM-5.16")
def test_no_coefficients_of_unit_l1_norm_beat_the_vertex():
    K = KERNEL(X)
    model = KernelFeatureAnalysis(1, kernel=KERNEL).fit(X)
    assert model.indices_.tolist() == [int((K**2).mean(axis=1).argmax())]
    assert model.dual_coef_.tolist() == [[1.0]]
    alpha = RNG.laplace(size=(20000, 60)) * (RNG.uniform(size=(20000, 60)) < 0.1)
    alpha = alpha[np.abs(alpha).sum(axis=1) > 0.0]
    alpha /= np.abs(alpha).sum(axis=1, keepdims=True)
    assert ((alpha @ K) ** 2).mean(axis=1).max() <= model.contrasts_[0]
    assert model.contrasts_[0] == pytest.approx((K**2).mean(axis=1).max())


@pytest.mark.spec("SM-5.17")
def test_contrasts_of_the_users_own():
    squares = KernelFeatureAnalysis(3, kernel=KERNEL, contrast=lambda p: (p**2).mean()).fit(X)
    variance = KernelFeatureAnalysis(3, kernel=KERNEL).fit(X)
    np.testing.assert_array_equal(squares.indices_, variance.indices_)
    # Objects whose features lie in the span of those before have no projections to measure.
    kurtoses = KernelFeatureAnalysis(
        4, kernel=KERNEL, contrast=lambda p: abs((((p - p.mean()) / p.std()) ** 4).mean() - 3.0)
    ).fit(X)
    expected = KernelFeatureAnalysis(4, kernel=KERNEL, contrast="kurtosis").fit(X)
    np.testing.assert_array_equal(kurtoses.indices_, expected.indices_)
    # With the identity map and the variance: principal component analysis.
    search = KernelFeatureAnalysis(
        1, kernel="linear", constraint="l2", contrast=lambda p: (p**2).mean(), random_state=0
    ).fit(X)
    largest = np.linalg.eigvalsh(X.T @ X / 60)[-1]
    assert search.contrasts_[0] == pytest.approx(largest, rel=1e-6)
    with pytest.raises(ValueError, match="finite number"):
        KernelFeatureAnalysis(1, contrast=lambda p: np.nan).fit(X)


@pytest.mark.spec("SM-5.18")
def test_deflation_makes_orthogonal_directions_until_nothing_is_left():
    K = KERNEL(X)
    model = KernelFeatureAnalysis(6, kernel=KERNEL).fit(X)
    coef = np.zeros((60, 6))
    coef[model.indices_] = model.dual_coef_
    products = coef.T @ K @ coef
    scale = np.sqrt(np.diag(products))
    np.testing.assert_allclose(products / np.outer(scale, scale), np.eye(6), atol=1e-8)
    # d features need d objects: the coefficients are triangular.
    assert np.allclose(np.tril(model.dual_coef_, -1), 0.0)
    # The residual kernel after one step, by the printed formula, chooses the second object.
    i = model.indices_[0]
    residual = K - np.outer(K[:, i], K[i]) / K[i, i]
    assert model.indices_[1] == (residual**2).mean(axis=1).argmax()
    whole = KernelFeatureAnalysis(10, kernel="linear").fit(X)
    assert whole.n_components_ == 3  # the rank


@pytest.mark.spec("SM-5.19")
def test_contrasts_of_gaussian_and_bimodal_samples():
    normal = scipy.stats.norm.ppf((np.arange(4000) + 0.5) / 4000)[None]
    two = np.repeat([[-1.0, 1.0]], 2000, axis=1) + 0.3 * normal
    for name in ("kurtosis", "negentropy", "fisher"):
        assert abs(CONTRASTS[name](normal)[0]) < 0.02, name
        assert CONTRASTS[name](two)[0] > 0.05, name
    # The integral of the squared standard normal density is 1 / (2 sqrt(pi)).
    least = 3.0 / (5.0 * np.sqrt(5.0))
    assert friedman_tukey(normal)[0] == pytest.approx(0.5 / np.sqrt(np.pi) - least, abs=1e-3)
    assert friedman_tukey(two)[0] > friedman_tukey(normal)[0]
    assert kurtosis(np.ones((1, 5)))[0] == 0.0
    for scale in (1e-3, 1e3):
        for name in ("kurtosis", "negentropy", "friedman_tukey", "fisher"):
            np.testing.assert_allclose(CONTRASTS[name](scale * two + 1.0), CONTRASTS[name](two))


@pytest.mark.spec("SM-5.19")
@pytest.mark.parametrize("contrast", ["kurtosis", "negentropy", "friedman_tukey", "fisher"])
def test_bimodal_direction_is_found_where_the_variance_is_small(contrast):
    model = KernelFeatureAnalysis(
        1, kernel="linear", constraint="l2", contrast=contrast, center=True, random_state=0
    ).fit(BLOBS)
    feature = model.transform(BLOBS)[:, 0]
    assert abs(np.corrcoef(feature, SIDES)[0, 1]) > 0.9
    pca = KernelPCA(1, kernel="linear").fit_transform(BLOBS)[:, 0]
    assert abs(np.corrcoef(pca, SIDES)[0, 1]) < 0.3


@pytest.mark.spec("SM-5.20")
def test_more_restarts_never_find_less():
    values = [
        KernelFeatureAnalysis(
            1, kernel=KERNEL, constraint="l2", contrast="kurtosis", n_restarts=n, random_state=0,
            n_basis=6,
        ).fit(X).contrasts_[0]
        for n in (1, 3, 6)
    ]  # fmt: skip
    assert values == sorted(values)
    assert KernelFeatureAnalysis(contrast="kurtosis").fit(X).certificate_.status == "stationary"


@pytest.mark.spec("SM-5.01")
def test_feature_extraction_and_data_description_agree_on_the_first_direction():
    features = KernelFeatureAnalysis(1, kernel="linear", constraint="l2", center=True).fit(X)
    weights = features.dual_coef_[:, 0] @ (X - X.mean(axis=0))
    line = RegularizedPrincipalManifold(1, 1e9, linear_term=True, n_nodes=5).fit(X)
    cosine = weights @ line.linear_coef_[0]
    cosine /= np.linalg.norm(weights) * np.linalg.norm(line.linear_coef_[0])
    assert abs(cosine) == pytest.approx(1.0, abs=1e-6)


def test_simultaneous_search():
    options = {"kernel": "linear", "constraint": "l2", "contrast": "kurtosis", "center": True}
    both = KernelFeatureAnalysis(2, order="simultaneous", random_state=0, **options).fit(X)
    each = KernelFeatureAnalysis(2, random_state=0, **options).fit(X)
    assert both.contrasts_.sum() >= each.contrasts_.sum() - 1e-6
    at_once = KernelFeatureAnalysis(3, kernel=KERNEL, order="simultaneous").fit(X)
    expected = np.argsort(-(KERNEL(X) ** 2).mean(axis=1), kind="stable")[:3]
    np.testing.assert_array_equal(at_once.indices_, expected)


def test_strings_matrices_and_files(tmp_path):
    words = ["banana", "bandana", "ananas", "kernel", "colonel", "kernels"]
    model = KernelFeatureAnalysis(2, kernel=Spectrum(2)).fit(words)
    matrix = KernelFeatureAnalysis(2, kernel="precomputed").fit(Spectrum(2)(words))
    np.testing.assert_array_equal(model.indices_, matrix.indices_)
    np.testing.assert_allclose(matrix.transform(Spectrum(2)(words)), model.transform(words))
    for center in (False, True):
        model = KernelFeatureAnalysis(2, kernel=Linear(), center=center).fit(X)
        mercer.save(model, tmp_path / "model")
        np.testing.assert_array_equal(
            mercer.load(tmp_path / "model").transform(X), model.transform(X)
        )
        assert abs(model.transform(X).mean(axis=0)).max() < 1e-10 or not center


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraint": "l3"}, "constraint must be one of 'l1', 'l2'"),
        ({"contrast": "entropy"}, "contrast must be one of"),
        ({"order": "random"}, "order must be one of"),
        ({"n_components": 0}, "n_components must be"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        KernelFeatureAnalysis(**options).fit(X)
    with pytest.raises(ValueError, match="same image"):
        KernelFeatureAnalysis(center=True).fit(np.ones((5, 2)))


@pytest.mark.parametrize("contrast", ["variance", "kurtosis", "negentropy", "fisher"])
@pytest.mark.parametrize(("constraint", "center"), [("l1", False), ("l1", True), ("l2", True)])
def test_weights_are_repetition_and_zero_is_removal(contrast, constraint, center):
    rng = np.random.default_rng(3)
    points, new = rng.normal(size=(24, 2)) ** 3, rng.normal(size=(5, 2))
    weight = np.array([1, 2, 0, 3] * 6)
    model = KernelFeatureAnalysis(
        2,
        kernel=RBF(0.3),
        constraint=constraint,
        contrast=contrast,
        center=center,
        n_basis=3,
        n_restarts=1,
        random_state=0,
    )
    weighted = clone(model).fit(points, sample_weight=weight)
    repeated = model.fit(np.repeat(points, weight, axis=0))
    np.testing.assert_allclose(weighted.contrasts_, repeated.contrasts_, rtol=1e-5)
    np.testing.assert_allclose(
        abs(weighted.transform(new)), abs(repeated.transform(new)), atol=2e-4
    )


def test_components_of_many_objects_come_from_an_iteration():
    points = np.random.default_rng(0).normal(size=(600, 3)) * [1.0, 0.7, 0.4]
    model = KernelFeatureAnalysis(3, kernel=RBF(0.2), constraint="l2", center=True).fit(points)
    whole = KernelPCA(3, kernel=RBF(0.2), eigen_solver="dense").fit(points)
    assert model.certificate_.n_iter > 0
    np.testing.assert_allclose(model.contrasts_, whole.explained_variance_, rtol=1e-8)
    scores = abs(whole.transform(points[:9]))
    np.testing.assert_allclose(abs(model.transform(points[:9])), scores, atol=1e-6)


def test_an_interrupt_keeps_the_features_found_so_far():
    points = np.random.default_rng(0).normal(size=(20, 2))
    calls = []

    def contrast(projections):
        calls.append(len(projections))
        if len(calls) == 50:  # in the third scan
            raise KeyboardInterrupt
        return float(np.abs(projections).mean())

    model = KernelFeatureAnalysis(5, kernel=RBF(0.5), contrast=contrast)
    with pytest.raises(KeyboardInterrupt):
        model.fit(points)
    assert model.certificate_.status == "interrupted"
    assert model.transform(points).shape == (20, 2)


def test_an_indefinite_kernel_of_the_user_is_not_called_optimal():
    rows = np.random.default_rng(0).normal(size=(30, 3))

    def indefinite(A, B):
        return RBF(0.5)(A, B) - 0.2 * A @ B.T

    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = KernelFeatureAnalysis(kernel=indefinite).fit(rows)
    proof = model.certificate_
    assert (proof.status, proof.convexity) == ("stationary", "refuted")
    assert np.isnan(proof.gap)
    assert proof.eigenvalue < 0.0
