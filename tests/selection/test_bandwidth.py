"""Widths from distances in the data, and parameters from a criterion."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

from mercer import SVC, SVR
from mercer.data import rings
from mercer.geometry import distance, shifted_gram, smallest_enclosing_ball
from mercer.kernels import (
    RBF,
    FromFunction,
    Laplacian,
    Linear,
    OverFeatureSpace,
    Polynomial,
    Precomputed,
    Spectrum,
)
from mercer.selection import adapt, bandwidth, kernel_grid, radius_margin

rng = np.random.default_rng(30)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, "a", "b")


def test_the_median_distance():
    assert bandwidth(X).distance == pytest.approx(np.median(pdist(X)), rel=1e-12)
    assert bandwidth(X).gamma == pytest.approx(0.5 / np.median(pdist(X)) ** 2, rel=1e-12)
    assert bandwidth(X).kernel == RBF(bandwidth(X).gamma)
    assert bandwidth(X).sigma == pytest.approx(np.median(pdist(X)), rel=1e-12)
    l1 = bandwidth(X, form="laplacian")
    assert l1.distance == pytest.approx(np.median(pdist(X, "cityblock")), rel=1e-12)
    assert l1.kernel == Laplacian(1 / l1.distance)
    assert l1.sigma == pytest.approx(l1.distance)
    sparse = bandwidth(sp.csr_matrix(X))
    assert sparse.distance == pytest.approx(bandwidth(X).distance, rel=1e-9)
    # Copies do not pull the median to 0.
    copies = np.vstack([X[:1]] * 50 + [X])
    assert bandwidth(copies).distance > 0.5


@pytest.mark.spec("CS-8.02")
def test_the_width_of_an_unbalanced_pair_of_clouds():
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.normal(1.2, 1, (8, 2)), rng.normal(-0.3, 1, (80, 2))])
    found = bandwidth(rows, np.repeat([1, -1], [8, 80]), "closest_opposite_pair")
    assert found.distance == pytest.approx(0.2051199, abs=5e-8)
    with pytest.raises(ValueError, match="equal but have different labels"):
        bandwidth([[0.0], [0.0], [1.0]], [1, -1, 1], "closest_opposite_pair")


@pytest.mark.spec("CS-8.02")
def test_the_closest_opposite_pair():
    a, b = X[y == "a"], X[y == "b"]
    for form, metric in [("rbf", "euclidean"), ("laplacian", "cityblock")]:
        expected = cdist(a, b, metric).min()
        for rows in (X, sp.csr_matrix(X)):
            found = bandwidth(rows, y, "closest_opposite_pair", form=form)
            assert found.distance == pytest.approx(expected, rel=1e-7)
    wide = np.hstack([X, np.zeros((60, 30))])  # too many columns for a search tree
    found = bandwidth(wide, y, "closest_opposite_pair")
    assert found.distance == pytest.approx(cdist(a, b).min(), rel=1e-9)
    three = np.arange(60) % 3
    expected = min(cdist(X[three == i], X[three == j]).min() for i, j in [(0, 1), (0, 2), (1, 2)])
    assert bandwidth(X, three, "closest_opposite_pair").distance == pytest.approx(expected)


@given(st.floats(0.01, 100), st.floats(-5, 5))
@settings(max_examples=25, deadline=None)
def test_widths_follow_the_scale_of_the_data_and_not_their_place(factor, shift):
    for rule in ("median", "closest_opposite_pair", "scale"):
        before = bandwidth(X, y, rule).gamma
        assert bandwidth(factor * X + shift, y, rule).gamma == pytest.approx(
            before / factor**2, rel=1e-6
        )
    assert bandwidth(factor * X, rule="auto").gamma == pytest.approx(1 / 3)


def test_scikit_learns_rules():
    assert bandwidth(X, rule="scale").gamma == pytest.approx(1 / (3 * X.var()), rel=1e-12)
    assert str(bandwidth(X, rule="auto")) == "gamma = 0.333333: one over the number of columns, 3"
    assert "times the variance" in bandwidth(X, rule="scale").how


def test_large_sets_are_sampled_and_it_says_so():
    found = bandwidth(X, n_sample=20)
    assert found.n_used == 20
    assert "drawn from 60" in found.how
    assert found == bandwidth(X, n_sample=20)
    assert found != bandwidth(X, n_sample=20, random_state=1)
    exact = bandwidth(X, y, "closest_opposite_pair", n_sample=20)  # a tree needs no sample
    assert exact.n_used == 60
    wide = np.hstack([X, np.zeros((60, 30))])
    assert bandwidth(wide, y, "closest_opposite_pair", n_sample=20).n_used == 20


def test_distances_in_a_feature_space():
    common = FromFunction(lambda A, B: [[len(set(s) & set(t)) for t in B] for s in A])
    words = ["ab", "cd", "abcd"]
    assert bandwidth(words, within=common).distance == pytest.approx(math.sqrt(2))
    found = bandwidth(words, [0, 1, 1], "closest_opposite_pair", within=common)
    assert found.distance == pytest.approx(math.sqrt(2))
    kernel = Polynomial(2, 0.5, 1.0)
    features = kernel.feature_map(X)
    assert bandwidth(X, within=kernel).distance == pytest.approx(np.median(pdist(features)))


@pytest.mark.parametrize("rule", ["median", "closest_opposite_pair"])
def test_a_width_within_a_feature_space_is_that_of_a_gaussian_over_it(rule):
    words = ["acca", "caca", "accc", "gtgt", "ttgg", "gttt"]
    labels = [0, 0, 0, 1, 1, 1]
    found = bandwidth(words, labels, rule, within=Spectrum(2))
    assert found.kernel == OverFeatureSpace(Spectrum(2), found.gamma)
    assert found.how.endswith("in the feature space of Spectrum(p=2)")
    # exp(-1/2) at the distance found: sigma is that distance.
    apart = distance(Spectrum(2), words)
    i, j = np.unravel_index(np.abs(apart - found.distance).argmin(), apart.shape)
    if rule == "closest_opposite_pair":
        assert apart[i, j] == pytest.approx(apart[:3, 3:].min())
        assert found.kernel(words)[i, j] == pytest.approx(math.exp(-0.5))
    assert SVC(kernel=found.kernel).fit(words, labels).predict(words).tolist() == labels
    # A rule inside is resolved as it was for the distances, on other data too.
    inner = Polynomial(2, "scale", 1.0)
    over = bandwidth(X, y, rule, within=inner).kernel
    assert over.is_bound
    assert over.kernel == inner.bind(X)
    features = inner.bind(X).feature_map(X)
    np.testing.assert_allclose(over(X), RBF(over.gamma)(features), rtol=1e-9)


def test_what_has_no_width():
    labels = np.arange(60) % 2
    for arguments, message in [
        ((np.ones((4, 2)),), "all objects are equal"),
        ((X, None, "closest_opposite_pair"), "needs labels"),
        ((X, X[:, 0], "closest_opposite_pair"), "class labels"),
        ((X, np.zeros(60), "closest_opposite_pair"), "two classes"),
        ((X, labels[:9], "closest_opposite_pair"), "one label for each"),
        ((X, labels[:, None], "closest_opposite_pair"), "one label per object"),
        ((np.vstack([X, X]), np.repeat([0, 1], 60), "closest_opposite_pair"), "are equal but"),
        ((X, None, "best"), "rule must be one of"),
        ((X[:1],), "at least two objects"),
    ]:
        with pytest.raises(ValueError, match=message):
            bandwidth(*arguments)
    for options, message in [
        ({"form": "cauchy"}, "form must be one of"),
        ({"n_sample": 1}, "n_sample"),
        ({"within": Linear(), "form": "laplacian"}, "Euclidean"),
        ({"within": Linear(), "rule": "scale"}, "needs columns"),
    ]:
        with pytest.raises(ValueError, match=message):
            bandwidth(X, **options)
    rare = np.zeros(60, dtype=int)
    rare[7] = 1
    wide = np.hstack([X, np.zeros((60, 30))])
    with pytest.raises(ValueError, match="raise n_sample"):
        bandwidth(wide, rare, "closest_opposite_pair", n_sample=5)


@pytest.mark.spec("SM-3.26")
def test_narrow_kernels_memorise_and_wide_ones_see_nothing():
    noise = rng.choice([-1, 1], size=60)
    K = RBF.from_sigma(1e-3)(X)
    np.testing.assert_allclose(K, np.eye(60), atol=1e-12)
    narrow = SVC(kernel=RBF.from_sigma(1e-3), C=1e3).fit(X, noise)
    assert narrow.score(X, noise) == 1.0
    wide = SVR(kernel=RBF.from_sigma(1e6), C=1.0).fit(X, X[:, 0])
    assert np.ptp(wide.predict(X)) < 1e-6
    middle = SVR(kernel=bandwidth(X).kernel, C=10.0).fit(X, X[:, 0])
    assert middle.score(X, X[:, 0]) > 0.95


@pytest.mark.spec("CS-3.45")
def test_the_adapted_width_minimises_radius_over_margin():
    A, labels = rings(40, noise=0.05, random_state=0)
    gammas = [0.03, 0.3, 3.0, 30.0]
    path = adapt(RBF(1.0), A, labels, "gamma", gammas, radius_margin)
    for gamma, value in zip(gammas, path.criteria, strict=True):
        kernel = RBF(gamma)
        margin = SVC(kernel=kernel, C=np.inf, tol=1e-6).fit(A, labels).margin_
        radius = smallest_enclosing_ball(kernel, A).radius
        assert value == pytest.approx(radius**2 / margin**2, rel=1e-4)
    assert path.best == RBF(path.best_value)
    assert path.best_value == gammas[int(np.argmin(path.criteria))]
    assert 0.03 < path.best_value < 30.0  # neither end
    nested = adapt(2 * RBF(1.0), A, labels, "kernel__gamma", gammas, radius_margin)
    assert nested.best_value == path.best_value  # the ratio does not depend on the factor
    soft, twice = (
        adapt(kernel, A, labels, name, gammas)
        for kernel, name in ((RBF(1.0), "gamma"), (2 * RBF(1.0), "kernel__gamma"))
    )
    assert soft.criteria == pytest.approx(twice.criteria, rel=1e-4)
    assert all(a <= b for a, b in zip(soft.criteria, path.criteria, strict=True))
    counted = adapt(RBF(1.0), A, labels, "gamma", gammas, criterion=lambda k, *_: k.gamma)
    assert counted.best == RBF(0.03)


def test_noisy_labels_are_not_told_apart_one_by_one():
    draw = np.random.default_rng(0)
    X, new = draw.normal(size=(80, 2)), draw.normal(size=(500, 2))
    y = (X.sum(axis=1) > 0.0) ^ (draw.random(80) < 0.15)
    gammas = [0.1, 1.0, 10.0, 100.0]
    soft, hard = (adapt(RBF(1.0), X, y, "gamma", gammas, c) for c in (None, radius_margin))
    assert soft.best_value <= 1.0 < 10.0 <= hard.best_value
    right = [SVC(kernel=p.best).fit(X, y).score(new, new.sum(axis=1) > 0.0) for p in (soft, hard)]
    assert right[0] > right[1] + 0.05


@pytest.mark.spec("CS-3.45")
def test_the_soft_ratio_is_the_hard_one_of_the_shifted_matrix():
    A = rng.normal(size=(20, 2))
    labels = rng.choice([-1, 1], size=20)
    C = 3.0
    K = shifted_gram(RBF(0.5), A, math.sqrt(0.5 / C))
    hard = SVC(kernel="precomputed", C=np.inf, tol=1e-8).fit(K, labels)
    radius = smallest_enclosing_ball(Precomputed(), K).radius
    assert radius_margin(RBF(0.5), A, labels, C) == pytest.approx(
        (radius / hard.margin_) ** 2, rel=1e-3
    )
    assert radius_margin(Linear(), [[0.0], [1.0], [2.0]], [0, 1, 0]) == math.inf
    with pytest.raises(ValueError, match="no kernel of the path separates"):
        adapt(Linear() * 1.0, A, labels, "scale", [1.0, 2.0], radius_margin)
    with pytest.raises(ValueError, match="values is empty"):
        adapt(RBF(1.0), A, labels, "gamma", [])
    with pytest.raises(ValueError, match="NaN"):
        adapt(RBF(1.0), A, labels, "gamma", [1.0], criterion=lambda *_: math.nan)
    with pytest.raises(ValueError, match="two classes"):
        radius_margin(RBF(5.0), A, np.arange(20) % 3)


@pytest.mark.spec("LFD-50")
def test_grids_stay_where_values_are_moderate():
    from sklearn.model_selection import ParameterGrid

    for rows in (X, 1000 * X, sp.csr_matrix(X)):
        grids = kernel_grid(rows, max_degree=12)
        assert [g["kernel"][0] for g in grids] == ["linear", "rbf", "poly"]
        assert max(grids[2]["degree"]) <= 10
        for parameters in ParameterGrid(grids[2]):
            kernel = Polynomial(parameters["degree"], parameters["gamma"], parameters["coef0"])
            assert kernel.diag(rows).max() <= 1e8
        assert grids[1]["gamma"][2] == pytest.approx(bandwidth(rows).gamma)
    SVC().set_params(**next(iter(ParameterGrid(kernel_grid(X))))).fit(X, y)
