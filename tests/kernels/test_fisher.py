"""The Fisher and the marginalised kernel against enumeration over hidden paths."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC, Expansion
from mercer.gram import Gram
from mercer.kernels import (
    RBF,
    Fisher,
    FromFunction,
    HiddenMarkov,
    Linear,
    Marginalized,
    Polynomial,
    Precomputed,
    SetPower,
    normalize,
)
from tests.kernels.agreement import agrees
from tests.kernels.enumeration import all_strings, counted, random_model, score

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*steps of EM:sklearn.exceptions.ConvergenceWarning"
)

strings = st.lists(st.text("ab", max_size=4), min_size=1, max_size=5)
MODEL = random_model(0, 2, "ab")
X = ["abba", "a", "", "babab", "bb", "aabba"]


class Normal(BaseEstimator):
    """N(mu, 1) on the real line, a model with one parameter."""

    def __init__(self, start=0.0):
        self.start = start

    def fit(self, X, y=None, sample_weight=None):
        self.mu_ = float(np.average(np.asarray(X, dtype=float), weights=sample_weight))
        return self

    def fisher_scores(self, X):
        return np.asarray(X, dtype=float)[:, None] - self.mu_


class Gradient:
    """A model that is ready: its scores are given."""

    def __init__(self, scores):
        self.scores = scores

    def fisher_scores(self, X):
        return self.scores(X)


# -------------------------------------------------------------------------- the Fisher kernel


@pytest.mark.spec("CS-3.43", "CS-8.18")
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), strings)
def test_dot_products_of_scores_found_by_enumeration(seed, strings):
    for options in (
        {"scored": ("emission",), "coordinates": "softmax"},
        {"scored": ("initial", "transition", "emission"), "coordinates": "simplex"},
    ):
        model = random_model(seed, 2, "ab", **options)
        agrees(Fisher(model), strings, lambda x, z, m=model: score(m, x) @ score(m, z), rtol=1e-9)


@pytest.mark.spec("CS-3.43", "CS-8.18", "HO-15")
def test_a_normal_distribution():
    x = [0.3, -1.0, 2.5]
    mu = np.mean(x)
    score = np.array(x) - mu
    kernel = Fisher(Normal()).bind(x)
    assert kernel.model.mu_ == pytest.approx(mu)
    np.testing.assert_allclose(kernel(x), np.outer(score, score), rtol=1e-13)
    gaussian = Fisher(Normal(), kernel=RBF.from_sigma(0.7))
    np.testing.assert_allclose(
        gaussian(x), np.exp(-(np.subtract.outer(x, x) ** 2) / (2 * 0.49)), rtol=1e-12
    )
    information = Fisher(Normal(), metric="information")
    np.testing.assert_allclose(information(x), np.outer(score, score) / np.var(x), rtol=1e-13)


@pytest.mark.spec("CS-8.18")
def test_the_information_is_the_covariance_of_the_scores():
    Y = all_strings("ab", 4)
    p, scores = np.exp(MODEL.score_samples(Y)), MODEL.fisher_scores(Y)
    kernel = Fisher(MODEL, metric="information").bind(Y, sample_weight=p)
    np.testing.assert_allclose(kernel.metric, scores.T @ (p[:, None] * scores), atol=1e-14)
    inverse = np.linalg.pinv(kernel.metric, rcond=1e-10, hermitian=True)
    np.testing.assert_allclose(kernel(Y), scores @ inverse @ scores.T, rtol=1e-7, atol=1e-7)
    # E[U' I^-1 U] is the number of free parameters that the sequences tell apart.
    rank = np.linalg.matrix_rank(kernel.metric, tol=1e-9)
    assert p @ kernel.diag(Y) == pytest.approx(rank, rel=1e-6)
    diagonal = Fisher(MODEL, metric="diagonal").bind(Y, sample_weight=p)
    np.testing.assert_allclose(diagonal.metric, np.diagonal(kernel.metric), atol=1e-14)
    np.testing.assert_allclose(
        diagonal(Y), scores @ np.diag(1 / diagonal.metric) @ scores.T, rtol=1e-9, atol=1e-9
    )


def test_in_the_information_metric_coordinates_do_not_matter():
    Y = random_model(1, 2, "ab").sample([8] * 40, random_state=0)
    kernels = [
        Fisher(random_model(0, 2, "ab", coordinates=c), metric="information")(Y)
        for c in ("simplex", "softmax")
    ]
    np.testing.assert_allclose(kernels[0], kernels[1], rtol=1e-5, atol=1e-6)


@pytest.mark.spec("CS-8.18", "CS-8.02")
def test_gaussian_over_scores_with_the_width_of_the_closest_opposite_pair():
    y = np.array([0, 0, 1, 1, 0, 1])
    scores = MODEL.fisher_scores(X)
    distance = cdist(scores, scores)
    sigma = min(distance[i, j] for i in range(6) for j in range(6) if y[i] != y[j])
    kernel = Fisher.gaussian(MODEL, X, y)
    assert kernel.is_bound
    np.testing.assert_allclose(kernel(X), np.exp(-(distance**2) / (2 * sigma**2)), rtol=1e-10)
    whitened = Fisher.gaussian(MODEL, X, y, metric="information")
    features = Fisher(MODEL, metric="information").bind(X).features(X)
    closest = min(
        cdist(features, features)[i, j] for i in range(6) for j in range(6) if y[i] != y[j]
    )
    assert whitened.kernel.gamma == pytest.approx(1 / (2 * closest**2), rel=1e-9)


def test_equal_objects_of_different_label_give_no_width():
    with pytest.raises(ValueError, match="objects 0 and 1 are equal but have different labels"):
        Fisher.gaussian(MODEL, ["ab", "ab"], [0, 1])
    with pytest.raises(ValueError, match="at least two classes"):
        Fisher.gaussian(MODEL, ["ab", "b"], [1, 1])
    with pytest.raises(ValueError, match="one label for each of the 2 objects"):
        Fisher.gaussian(MODEL, ["ab", "b"], [0, 1, 1])


@pytest.mark.parametrize(
    "inner",
    [
        RBF(0.3),
        RBF(),
        Polynomial(2, 0.1, 1.0),
        normalize(Linear()),
        2 * normalize(Polynomial(2, 1.0)) + RBF(0.1) * Linear(),
        FromFunction(lambda A, B: np.exp(np.minimum(A[:, None], B[None])).sum(axis=-1)),
        normalize(FromFunction(lambda A, B: A @ B.T)),
    ],
)
def test_any_vector_kernel_of_the_scores(inner):
    scores = MODEL.fisher_scores(X)
    kernel = Fisher(MODEL, kernel=inner)
    expected = inner(scores)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose((3 * normalize(kernel))(X), 3 * normalize(inner)(scores), atol=1e-10)
    assert kernel.definiteness == (
        "positive semidefinite" if inner.definiteness.is_psd else inner.definiteness
    )


def test_a_kernel_with_a_model_is_printed_in_one_line():
    kernel = Fisher(HiddenMarkov(3, random_state=0, pseudocount=0.1), "diagonal").bind(X)
    assert repr(kernel) == (
        "Fisher(model=HiddenMarkov(n_states=3, pseudocount=0.1, random_state=0), "
        "metric=<18 numbers>)"
    )
    assert "\n" not in repr(Marginalized(MODEL))


def test_explicit_features():
    kernel = Fisher(MODEL, metric="diagonal").bind(X)
    np.testing.assert_allclose(kernel.feature_map(X) @ kernel.feature_map(X).T, kernel(X))
    features = Fisher(MODEL, kernel=Polynomial(2, 1.0, 1.0)).feature_map(X)
    np.testing.assert_allclose(
        features @ features.T, Fisher(MODEL, kernel=Polynomial(2, 1.0, 1.0))(X), rtol=1e-10
    )


# -------------------------------------------------------------------------- the marginalised kernel


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("average", [True, False])
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 1000), strings=strings)
def test_joint_counts_averaged_over_hidden_paths(order, average, seed, strings):
    model = random_model(seed, 2, "ab")

    def kernel(x, z):
        a, b = (counted(model, s, order, average) for s in (x, z))
        return sum(value * b.get(key, 0.0) for key, value in a.items())

    agrees(Marginalized(model, order=order, average=average), strings, kernel, rtol=1e-9)


def test_context_tells_equal_symbols_apart():
    # Both strings have two a and two b; the model has a state for runs.
    model = HiddenMarkov.from_probabilities(
        [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab"
    )
    K = normalize(Marginalized(model))(["aabb", "abab", "bbaa"])
    assert K[0, 2] == pytest.approx(1.0)
    assert K[0, 1] < 0.999


# -------------------------------------------------------------------------- models inside kernels


def families(n=30):
    a = HiddenMarkov.from_probabilities([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], np.eye(2), "ab")
    b = HiddenMarkov.from_probabilities([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], np.eye(2), "ab")
    return a.sample([20] * n, 0) + b.sample([20] * n, 1), [0] * n + [1] * n


@pytest.mark.parametrize(
    "kernel",
    [
        Fisher(HiddenMarkov(2, pseudocount=0.1, random_state=0)),
        Fisher(HiddenMarkov(2, pseudocount=0.1, random_state=0), "information", RBF()),
        Marginalized(HiddenMarkov(2, pseudocount=0.1, random_state=0), order=2),
    ],
)
def test_a_machine_trains_the_model_with_itself(kernel):
    sequences, y = families()
    model = SVC(kernel=kernel, C=10.0).fit(sequences, y)
    assert model.certificate_.status == "optimal"
    assert model.kernel_.is_bound
    assert not kernel.is_bound
    assert cross_val_score(SVC(kernel=kernel, C=10.0), sequences, y, cv=2).mean() > 0.8
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        loaded.decision_function(sequences), model.decision_function(sequences)
    )


@pytest.mark.parametrize(
    "kernel",
    [
        Fisher(HiddenMarkov(2, pseudocount=0.1, random_state=np.random.RandomState(0))),
        normalize(Fisher(HiddenMarkov(2, pseudocount=0.1, random_state=0), "information", RBF())),
        Marginalized(HiddenMarkov(2, alphabet="abcd", pseudocount=0.1, random_state=0)) + 1.0,
    ],
    ids=["a generator", "normalised", "a sum"],
)
def test_a_machine_over_a_model_is_written_to_a_file_that_runs_no_code(kernel, tmp_path):
    sequences, y = families()
    model = SVC(kernel=kernel).fit(sequences, y)
    model.expansion_.save(tmp_path / "model")
    again = Expansion.load(tmp_path / "model")
    np.testing.assert_array_equal(again(sequences), model.decision_function(sequences))
    kept, trained = (
        next(v for v in k.get_params().values() if isinstance(v, HiddenMarkov))
        for k in (again.kernel, model.kernel_)
    )
    assert kept.certificate_ == trained.certificate_
    assert kept.certificate_.monotone
    assert kept.alphabet_ == trained.alphabet_
    np.testing.assert_array_equal(kept.score_samples(sequences), trained.score_samples(sequences))
    if isinstance(trained.random_state, int):
        assert again.kernel == model.kernel_


def test_models_of_others_have_no_form_in_a_file(tmp_path):
    class Shift:
        def fisher_scores(self, X):
            return np.asarray(X, dtype=float)

    f = Expansion(Fisher(Shift()), [[1.0], [2.0]], [1.0, 1.0])
    with pytest.raises(
        ValueError,
        match=r"Fisher\.model is of type Shift, which has no form",
    ):
        f.save(tmp_path / "f")


def test_a_fitted_model_stays_what_it_is():
    kernel = Fisher(MODEL, kernel=RBF(0.5))
    copy = clone(SVC(kernel=kernel)).kernel
    assert copy == kernel
    assert copy.model is not MODEL
    np.testing.assert_array_equal(copy(X), kernel(X))
    in_a_sum = clone(2 * kernel + Marginalized(MODEL))
    np.testing.assert_array_equal(in_a_sum(X), (2 * kernel + Marginalized(MODEL))(X))
    fresh = clone(Fisher(HiddenMarkov(3)))
    assert not fresh.is_bound
    assert fresh.model.n_states == 3
    bound = kernel.bind(X)
    assert bound.model == MODEL


def test_grid_search_reaches_the_model():
    sequences, y = families(12)
    machine = SVC(kernel=Fisher(HiddenMarkov(2, pseudocount=0.5, random_state=0)))
    assert "kernel__model__n_states" in machine.get_params()
    search = GridSearchCV(machine, {"kernel__model__n_states": [1, 2]}, cv=2).fit(sequences, y)
    assert search.best_estimator_.kernel_.model.transition_.shape == (2, 2)


def test_weights_reach_the_model_and_the_metric():
    sequences, _ = families(5)
    weight = np.array([2.0, 0, 1, 1, 3, 1, 1, 1, 0, 1])
    repeated = [s for s, w in zip(sequences, weight, strict=True) for _ in range(int(w))]
    kernel = Fisher(HiddenMarkov(2, pseudocount=0.1, random_state=0, max_iter=20), "information")
    a, b = kernel.bind(sequences, weight), kernel.bind(repeated)
    np.testing.assert_allclose(a.model.transition_, b.model.transition_, rtol=1e-9)
    np.testing.assert_allclose(a.metric, b.metric, rtol=1e-7, atol=1e-10)


def test_a_column_of_sequences_beside_numbers():
    sequences, y = families(10)
    frame = pd.DataFrame({"x": np.arange(20.0), "sequence": sequences})
    kernel = Fisher(HiddenMarkov(2, pseudocount=0.1, random_state=0), kernel=RBF())
    both = kernel.on_columns("sequence") + RBF(0.1).on_columns(["x"])
    np.testing.assert_allclose(both(frame), kernel(sequences) + RBF(0.1)(frame[["x"]]), rtol=1e-12)
    model = SVC(kernel=both).fit(frame, y)
    np.testing.assert_array_equal(
        model.decision_function(frame[4:6]), model.decision_function(frame)[4:6]
    )


def test_sequences_of_numbers_are_no_matrix():
    model = HiddenMarkov.from_probabilities(
        MODEL.initial_, MODEL.transition_, MODEL.emission_, alphabet=[0, 1]
    )
    numbers = [[0, 1, 1], [1, 0, 0]]
    for X in (numbers, tuple(map(tuple, numbers)), np.array(numbers)):
        np.testing.assert_array_equal(Fisher(model)(X), Fisher(MODEL)(["abb", "baa"]))


def test_values_do_not_depend_on_their_company():
    Y = MODEL.sample(range(70), random_state=3)
    for kernel in (
        Fisher(MODEL, "information", RBF(0.01)).bind(Y),
        Marginalized(MODEL, order=2),
    ):
        gram = Gram(kernel, Y)
        np.testing.assert_array_equal(gram.tile()[5:8], kernel(Y[5:8], Y))


# -------------------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Fisher(HiddenMarkov), TypeError, "must be an object with a method fisher_scores"),
        (lambda: Fisher(RBF(1.0)), TypeError, "must be an object with a method fisher_scores"),
        (lambda: Marginalized(Normal()), TypeError, "a method expected_counts"),
        (lambda: Fisher(MODEL, metric="euclid"), ValueError, "metric must be one of identity"),
        (lambda: Fisher(MODEL, metric=np.ones((2, 3))), ValueError, "symmetric matrix"),
        (lambda: Fisher(MODEL, metric=[[0, 1], [1, 0]]), ValueError, "eigenvalue -1"),
        (lambda: Fisher(MODEL, metric=[1.0, -1.0]), ValueError, "positive semidefinite"),
        (lambda: Fisher(MODEL, metric=[np.nan]), ValueError, "finite matrix"),
        (lambda: Fisher(MODEL, metric=["a"]), ValueError, "finite matrix"),
        (lambda: Fisher(MODEL, kernel="rbf"), TypeError, "kernel of Fisher must be a kernel"),
        (lambda: Fisher(MODEL, kernel=Precomputed()), ValueError, "kernel on whole vectors"),
        (lambda: Fisher(MODEL, kernel=SetPower()), ValueError, "kernel on whole vectors"),
        (lambda: Fisher(MODEL, kernel=RBF(1.0).on_columns([0])), ValueError, "whole vectors"),
        (lambda: Marginalized(MODEL, order=3), ValueError, "order must be 1 or 2"),
        (lambda: Fisher(MODEL, metric=np.ones(3))(X), ValueError, "3 parameters, but the model"),
        (lambda: Fisher(HiddenMarkov())(X, X), ValueError, "bind it first"),
        (lambda: Fisher(MODEL, metric="diagonal")(X, X), ValueError, "bind it first"),
        (lambda: Fisher(MODEL)(["abc"]), ValueError, "symbol 'c', which the model does not know"),
        (lambda: Fisher(MODEL)("ab"), TypeError, "a list or an array of objects"),
        (lambda: Fisher(MODEL)([]), ValueError, "got no objects"),
        (
            lambda: Fisher(Gradient(lambda X: np.ones(2)))(["a", "b"]),
            ValueError,
            "one row for each of 2 objects",
        ),
        (
            lambda: Fisher(Gradient(lambda X: np.full((2, 1), np.inf)))(["a", "b"]),
            ValueError,
            "finite array",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
