"""Spectral clustering on kernel values."""

import itertools

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

import mercer
from mercer import KernelSpectralClustering
from mercer.data import rings
from mercer.kernels import RBF, Jaccard

X, Y = rings(120, noise=0.05, random_state=0)


def ncut(K, labels):
    total = 0.0
    for c in set(labels):
        inside = np.array(labels) == c
        total += K[inside][:, ~inside].sum() / K[inside].sum()
    return total


def test_rings_are_separated_and_new_points_follow():
    model = KernelSpectralClustering(2, kernel=RBF(20.0), random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, Y) == 1.0
    peer = SpectralClustering(2, gamma=20.0, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, peer.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    Z, z = rings(60, noise=0.05, random_state=1)
    assert adjusted_rand_score(model.predict(Z), z) == 1.0
    assert model.ncut_ == pytest.approx(ncut(RBF(20.0)(X), model.labels_))
    assert model.eigenvalues_[0] == pytest.approx(1.0)


def test_bound_holds_for_every_clustering():
    few = X[:9]
    K = RBF(1.0)(few)
    model = KernelSpectralClustering(2, kernel=RBF(1.0), random_state=0).fit(few)
    best = min(
        ncut(K, labels) for labels in itertools.product((0, 1), repeat=9) if 0 < sum(labels) < 9
    )
    assert model.certificate_.dual <= best <= model.ncut_ + 1e-12
    assert model.certificate_.dual > 0.3 * best


def test_iteration_and_whole_spectrum_agree(monkeypatch):
    from mercer.features import projected_gram

    whole = KernelSpectralClustering(3, kernel=RBF(2.0), random_state=0).fit(X)
    monkeypatch.setattr(projected_gram, "DENSE_UP_TO", 10)
    iterated = KernelSpectralClustering(3, kernel=RBF(2.0), random_state=0).fit(X)
    np.testing.assert_allclose(iterated.eigenvalues_, whole.eigenvalues_, atol=1e-8)
    assert iterated.ncut_ == pytest.approx(whole.ncut_, rel=1e-3)
    assert iterated.certificate_.dual <= whole.certificate_.dual + 1e-9


def test_sets_matrices_and_files(tmp_path):
    sets = [{"a", "b"}, {"a", "b", "c"}, {"b", "c"}, {"x", "y"}, {"y", "z"}, {"x", "y", "z"}]
    model = KernelSpectralClustering(2, kernel=Jaccard(), random_state=0).fit(sets)
    assert adjusted_rand_score(model.labels_, [0, 0, 0, 1, 1, 1]) == 1.0
    matrix = KernelSpectralClustering(2, kernel="precomputed", random_state=0).fit(Jaccard()(sets))
    assert adjusted_rand_score(matrix.labels_, model.labels_) == 1.0
    mercer.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model").predict(sets), model.labels_)


def test_bad_input():
    with pytest.raises(ValueError, match="negative values"):
        KernelSpectralClustering(2, kernel="linear").fit(X)
    with pytest.raises(ValueError, match="n_clusters=9 needs"):
        KernelSpectralClustering(9).fit(X[:5])


def test_weights_are_repetition_and_zero_is_removal():
    few, weight = X[:40], np.array([1, 2, 0, 3] * 10)
    options = {"n_clusters": 3, "kernel": RBF(3.0)}
    weighted = KernelSpectralClustering(**options).fit(few, sample_weight=weight)
    shuffled = np.random.default_rng(0).permutation(np.repeat(few, weight, axis=0))
    repeated = KernelSpectralClustering(**options).fit(shuffled)
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, atol=1e-10)
    assert weighted.ncut_ == pytest.approx(repeated.ncut_)
    assert weighted.certificate_.dual == pytest.approx(repeated.certificate_.dual)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_array_equal(weighted.labels_, repeated.predict(few))


def test_fewer_distinct_objects_than_clusters_leave_the_last_ones_empty():
    K = np.repeat(np.repeat(RBF(1.0)([[0.0], [1.0], [3.0]]), 3, axis=0), 3, axis=1)
    model = KernelSpectralClustering(5, kernel="precomputed").fit(K)
    assert sorted(set(model.labels_)) == [0, 1, 2]
    np.testing.assert_array_equal(model.predict(K), model.labels_)
    # Copies can be split without a change of the sum, so that a clustering has this cut.
    split = model.labels_.copy()
    split[[0, 3]] = 3, 4
    assert model.ncut_ == pytest.approx(ncut(K, split))


@pytest.mark.parametrize("quick", [2e7, 0.0])
def test_an_interrupt_keeps_the_clusters_of_the_vectors_found_so_far(monkeypatch, quick):
    from mercer.features import spectral_clustering
    from mercer.features.projected_gram import ProjectedGram

    points = np.random.default_rng(0).normal(size=(600, 2)) + 6.0 * np.arange(600)[:, None] // 200
    calls = []

    def interrupted(self, V, product=ProjectedGram.exact):
        calls.append(len(V))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return product(self, V)

    model = KernelSpectralClustering(3, kernel=RBF(0.02), tol=0.0, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(ProjectedGram, "exact", interrupted)
        patch.setattr(spectral_clustering, "_QUICK", quick)
        with pytest.raises(KeyboardInterrupt):
            model.fit(points)
    assert model.certificate_.status == "interrupted"
    # Of many objects the cut, which costs a product with the kernel matrix, is not computed.
    assert model.certificate_.dual <= model.ncut_ if quick else np.isnan(model.ncut_)
    assert len(model.labels_) == 600
    with pytest.raises(TimeoutError, match="time_limit"):
        model.set_params(time_limit=1e-9).fit(points)
