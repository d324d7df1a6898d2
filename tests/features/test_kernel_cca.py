"""Canonical correlation analysis in feature space."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import KernelCCA
from mercer.kernels import RBF, Linear, Spectrum

RNG = np.random.default_rng(0)
Z = RNG.normal(size=80)
X = np.c_[Z + 0.3 * RNG.normal(size=80), RNG.normal(size=80)]
Y = np.c_[RNG.normal(size=80), -Z + 0.3 * RNG.normal(size=80), RNG.normal(size=80)]


def test_linear_kernels_give_ordinary_canonical_correlations():
    model = KernelCCA(2, kernel="linear", kernel_y="linear", reg=1e-10).fit(X, Y)
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    exact = np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0])[1]
    np.testing.assert_allclose(model.correlations_, exact, rtol=1e-6)
    x, y = model.transform(X, Y)
    np.testing.assert_allclose(x.T @ x / 80, np.eye(2), atol=1e-6)
    np.testing.assert_allclose(x.T @ y / 80, np.diag(exact), atol=1e-6)
    assert model.score(X, Y) == pytest.approx(exact[0], rel=1e-6)


def test_directions_satisfy_the_regularised_problem():
    kernel, other, reg = RBF(0.3), RBF(0.5), 0.2
    model = KernelCCA(3, kernel=kernel, kernel_y=other, reg=reg).fit(X, Y)
    H = np.eye(80) - 1.0 / 80
    K, L = H @ kernel(X) @ H, H @ other(Y) @ H
    for C, M in ((model.x_coef_, K), (model.y_coef_, L)):
        kappa = reg * np.trace(M) / 80
        metric = M @ M / 80 + kappa * M
        np.testing.assert_allclose(C.T @ metric @ C, np.eye(3), atol=1e-8)
    cross = model.x_coef_.T @ K @ L @ model.y_coef_ / 80
    np.testing.assert_allclose(cross, np.diag(model.correlations_), atol=1e-8)
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert certificate.dual <= -model.correlations_.sum() <= certificate.primal + 1e-15
    assert certificate.gap < 1e-10
    # No random pair of directions does better.
    for _ in range(200):
        a, b = RNG.normal(size=(2, 80))
        a /= np.sqrt(a @ (K @ K / 80 + reg * np.trace(K) / 80 * K) @ a)
        b /= np.sqrt(b @ (L @ L / 80 + reg * np.trace(L) / 80 * L) @ b)
        assert a @ K @ L @ b / 80 <= model.correlations_[0]


def test_dependence_without_correlation_is_found_and_independence_is_not():
    t = RNG.uniform(-1.0, 1.0, 150)
    dependent = KernelCCA(1, gamma=2.0).fit(t[:100, None], t[:100] ** 2)
    assert dependent.score(t[100:, None], t[100:] ** 2) > 0.9
    noise = RNG.uniform(size=150)
    independent = KernelCCA(1, gamma=2.0).fit(t[:100, None], noise[:100])
    assert abs(independent.score(t[100:, None], noise[100:])) < 0.5


def test_strings_against_numbers_and_files(tmp_path):
    words = ["aaa", "aab", "abb", "bbb", "bba", "baa"] * 3
    counts = np.array([w.count("a") for w in words])
    model = KernelCCA(1, kernel=Spectrum(1), kernel_y=Linear(), reg=1e-6).fit(words, counts)
    assert model.correlations_[0] > 0.99
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(words), model.transform(words))


def test_bad_input():
    with pytest.raises(ValueError, match="reg must be a number > 0"):
        KernelCCA(reg=0.0).fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        KernelCCA().fit(X, Y[:10])
    with pytest.raises(ValueError, match="constant in feature space"):
        KernelCCA().fit(X, np.ones(80))


def test_weights_are_repetition_and_zero_is_removal():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(30, 2))
    b = np.c_[a[:, 0] ** 2, rng.normal(size=30)]
    weight = np.array([1, 2, 0, 3, 1] * 6)
    weighted = KernelCCA(2).fit(a, b, sample_weight=weight)
    repeated = KernelCCA(2).fit(np.repeat(a, weight, axis=0), np.repeat(b, weight, axis=0))
    np.testing.assert_allclose(weighted.correlations_, repeated.correlations_, atol=1e-9)
    pairs = zip(weighted.transform(a, b), repeated.transform(a, b), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, atol=1e-6)  # with their signs


def test_memory_that_will_not_suffice_is_refused(monkeypatch):
    monkeypatch.setattr("mercer.features.kernel_cca.available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="30 pairs need"):
        KernelCCA().fit(np.eye(30), np.eye(30))


def test_linear_kernels_far_from_the_origin_keep_their_digits():
    options = {"n_components": 2, "kernel": "linear", "kernel_y": "linear"}
    A, B = np.round(X * 2**12) / 2**12, np.round(Y * 2**12) / 2**12
    near = KernelCCA(**options).fit(A, B)
    far = KernelCCA(**options).fit(A + 2.0**33, B - 2.0**30)
    np.testing.assert_allclose(far.correlations_, near.correlations_, rtol=1e-10)
    pairs = zip(far.transform(A + 2.0**33, B - 2.0**30), near.transform(A, B), strict=True)
    for moved, there in pairs:
        np.testing.assert_allclose(moved, there, atol=1e-8)


def test_an_indefinite_kernel_of_the_user_is_not_called_optimal():
    rows = np.random.default_rng(0).normal(size=(30, 3))

    def indefinite(A, B):
        return RBF(0.5)(A, B) - 0.2 * A @ B.T

    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = KernelCCA(kernel=indefinite, kernel_y="linear").fit(rows, rows)
    proof = model.certificate_
    assert (proof.status, proof.convexity) == ("stationary", "refuted")
    assert np.isnan(proof.gap)
    assert proof.eigenvalue < 0.0
