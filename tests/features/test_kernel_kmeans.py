"""k-means in feature space."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from mercer import KernelKMeans
from mercer.kernels import RBF, Linear, NegativeDistance, Polynomial, Spectrum, ThinPlate, normalize

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [5.0, 5.0]])
X = np.repeat(CENTRES, 30, axis=0) + 0.5 * RNG.normal(size=(120, 2))


@pytest.mark.spec("SM-5.23")
def test_linear_kernel_is_ordinary_k_means():
    ours = KernelKMeans(4, kernel="linear", random_state=0).fit(X)
    theirs = KMeans(4, n_init=10, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    assert ours.score(X) == pytest.approx(-ours.inertia_)
    np.testing.assert_allclose(
        np.sort(ours.transform(X), axis=1), np.sort(theirs.transform(X), axis=1)
    )


@pytest.mark.spec("SM-5.22")
def test_one_cluster_is_the_mean_and_its_inertia_the_variance():
    model = KernelKMeans(1, kernel="linear").fit(X)
    np.testing.assert_allclose(model.coef_[:, 0] @ X, X.mean(axis=0))
    assert model.inertia_ == pytest.approx(X.var(axis=0).sum() * 120)
    assert model.certificate_.relative_gap < 1e-10


def test_lower_bound_holds_for_every_clustering():
    few = X[::15]  # 8 objects, 2**8 clusterings
    kernel = RBF(0.1)
    K = kernel(few)
    model = KernelKMeans(2, kernel=kernel, random_state=0).fit(few)

    def inertia(labels):
        total = 0.0
        for c in set(labels):
            inside = np.flatnonzero(np.array(labels) == c)
            block = K[np.ix_(inside, inside)]
            total += np.trace(block) - block.mean() * len(inside)
        return total

    best = min(inertia(labels) for labels in itertools.product((0, 1), repeat=8))
    assert model.certificate_.status == "stationary"
    assert model.certificate_.dual <= best
    assert model.inertia_ == pytest.approx(best)


def test_bound_of_the_iterative_route_is_that_of_the_whole_spectrum():
    many = np.repeat(CENTRES, 150, axis=0) + 0.5 * RNG.normal(size=(600, 2))
    kernel = RBF(0.05)
    K = kernel(many)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    exact = np.trace(centred) - np.linalg.eigvalsh(centred)[-3:].sum()
    certificate = KernelKMeans(4, kernel=kernel, random_state=0).fit(many).certificate_
    assert certificate.dual <= exact <= certificate.dual * (1.0 + 1e-3)


def test_clusters_need_not_be_convex():
    t = RNG.uniform(0.5, 1.5, 80) * RNG.choice([-1.0, 1.0], 80)
    noise = 0.1 * RNG.normal(size=80)
    cross = np.where((np.arange(80) < 40)[:, None], np.c_[t, noise], np.c_[noise, t])
    y = np.arange(80) < 40
    axes = KernelKMeans(2, kernel=normalize(Polynomial(2, 1.0, 0.0)), random_state=0).fit(cross)
    assert adjusted_rand_score(y, axes.labels_) == 1.0
    assert adjusted_rand_score(y, KernelKMeans(2, kernel="linear").fit(cross).labels_) < 0.5


def test_weights():
    weight = np.arange(120) % 3
    weighted = KernelKMeans(4, kernel=Linear(), n_init=20, random_state=0)
    weighted.fit(X, sample_weight=weight)
    repeated = KernelKMeans(4, kernel=Linear(), n_init=20, random_state=0)
    repeated.fit(np.repeat(X, weight, axis=0))
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)
    assert weighted.certificate_.dual == pytest.approx(repeated.certificate_.dual)
    np.testing.assert_array_equal(weighted.labels_, weighted.predict(X))


def test_strings_and_matrices():
    words = ["banana", "bandana", "ananas", "kernel", "colonel", "kernels"]
    model = KernelKMeans(2, kernel=Spectrum(2), random_state=0).fit(words)
    assert adjusted_rand_score(model.labels_, [0, 0, 0, 1, 1, 1]) == 1.0
    K = Spectrum(2)(words)
    matrix = KernelKMeans(2, kernel="precomputed", random_state=0).fit(K)
    np.testing.assert_array_equal(matrix.predict(K), model.labels_)
    with pytest.raises(ValueError, match="does not hold k"):
        matrix.transform(K)


def test_duplicates_leave_no_cluster_empty():
    model = KernelKMeans(3, kernel="linear", random_state=0).fit([[0.0], [0.0], [0.0], [1.0]])
    assert len(set(model.labels_)) == 3
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="n_clusters=5 needs"):
        KernelKMeans(5).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="distance"):
        KernelKMeans(2, kernel=ThinPlate()).fit(X)


def test_a_linear_kernel_far_from_the_origin_keeps_its_digits():
    grid = np.round(X * 2**12) / 2**12
    options = {"n_clusters": 4, "kernel": "linear", "random_state": 0}
    near, far = (KernelKMeans(**options).fit(grid + shift) for shift in (0.0, 2.0**33))
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-12)
    np.testing.assert_allclose(far.transform(grid + 2.0**33), near.transform(grid), atol=1e-7)
    assert far.certificate_.dual == pytest.approx(near.certificate_.dual)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("last", [2, 4])  # in an iteration, and in the bound behind the last one
def test_an_interrupt_keeps_the_labels_found_so_far(monkeypatch, last):
    from mercer.features.projected_gram import ProjectedGram

    points = np.random.default_rng(0).normal(size=(600, 2))
    calls = []

    def interrupted(self, V, product=ProjectedGram.exact):
        calls.append(len(V))
        if len(calls) == last:
            raise KeyboardInterrupt
        return product(self, V)

    model = KernelKMeans(3, kernel=RBF(0.5), max_iter=3, n_init=2, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(ProjectedGram, "exact", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(points)
    assert model.certificate_.status == "interrupted"
    assert len(calls) == last
    assert 0.0 <= model.certificate_.dual <= model.inertia_
    np.testing.assert_array_equal(model.predict(points)[:5] >= 0, True)


def test_a_time_limit_without_any_labels_raises():
    with pytest.raises(TimeoutError, match="no clusters"):
        KernelKMeans(3, time_limit=1e-9).fit(np.random.default_rng(0).normal(size=(600, 2)))


def test_values_of_conditional_kernels_include_their_rounding():
    # k(x, x) = 0, but the values of distinct rows are rounded.
    for seed in range(8):
        x = np.random.default_rng(seed).normal(size=7)
        model = KernelKMeans(1, kernel=NegativeDistance()).fit(x[:, None])
        exact = [Fraction(v) for v in x.tolist()]
        inertia = sum(abs(a - b) for a in exact for b in exact) / len(exact)
        assert model.certificate_.dual <= inertia <= model.certificate_.primal
