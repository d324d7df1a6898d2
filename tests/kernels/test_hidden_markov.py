"""Hidden Markov models: probabilities and scores against enumeration, training by EM."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from mercer.kernels import HiddenMarkov
from tests.kernels.enumeration import (
    all_strings,
    joint_probabilities,
    probability,
    random_model,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*steps of EM:sklearn.exceptions.ConvergenceWarning"
)

strings = st.lists(st.text("abc", max_size=5), min_size=1, max_size=4)
models = st.builds(random_model, st.integers(0, 10**6), st.integers(1, 3), st.just("abc"))
TRAINING = random_model(3, 2, "ab").sample([12] * 20, random_state=0)


# -------------------------------------------------------------------------- probabilities


@settings(max_examples=30, deadline=None)
@given(models, strings)
def test_probabilities_are_sums_over_hidden_paths(model, X):
    expected = np.log([probability(model, x) for x in X])
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-11, atol=1e-14)
    assert model.score(X) == pytest.approx(expected.mean())


def test_probabilities_of_all_sequences_of_a_length_sum_to_one():
    model = random_model(0, 3, "abc")
    for length in range(5):
        total = np.exp(model.score_samples(all_strings("abc", length))).sum()
        assert total == pytest.approx(1.0, rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(models, st.text("abc", min_size=1, max_size=5))
def test_posteriors_are_shares_of_hidden_paths(model, x):
    expected = np.zeros((len(x), len(model.initial_)))
    for path, p in joint_probabilities(model, x):
        expected[range(len(x)), path] += p
    np.testing.assert_allclose(model.posterior(x), expected / expected[0].sum(), rtol=1e-10)


def test_long_sequences_do_not_underflow():
    model = random_model(1, 4, "ab")
    x = "abbab" * 4000
    halves = [model.score_samples([x[:n]])[0] for n in (10_000, 20_000)]
    assert -30_000 < halves[1] < halves[0] < -5000
    assert np.isfinite(model.fisher_scores([x])).all()
    assert model.posterior(x).sum(axis=1) == pytest.approx(np.ones(20_000))


def test_states_that_cannot_be_reached_take_no_part():
    # From left to right: the second state explains a long future far better than the first, and
    # is out of reach until the first letter b.
    model = HiddenMarkov.from_probabilities(
        [1.0, 0.0], [[1.0, 0.0], [0.5, 0.5]], [[0.01, 0.99], [1.0, 0.0]], "ab"
    )
    x = "a" * 2000
    assert model.score_samples([x])[0] == pytest.approx(2000 * np.log(0.01))
    np.testing.assert_array_equal(model.posterior(x)[:, 0], np.ones(2000))
    assert np.isfinite(model.fisher_scores([x])).all()


def test_impossible_sequences():
    model = HiddenMarkov.from_probabilities([1.0], [[1.0]], [[1.0, 0.0]], "ab")
    np.testing.assert_array_equal(model.score_samples(["a", "b"]), [0.0, -np.inf])
    for method in (model.fisher_scores, model.expected_counts):
        with pytest.raises(ValueError, match=r"sequence 1 has probability 0.*pseudocount"):
            method(["a", "b"])
    with pytest.raises(ValueError, match="sequence 0 has probability 0"):
        model.posterior("b")


def test_sequences_of_any_hashable_symbols():
    model = random_model(2, 2, "ab")
    expected = model.score_samples(["aab", "b"])
    for X in ([list("aab"), ("b",)], [np.array(list("aab")), ["b"]], np.array(["aab", "b"])):
        np.testing.assert_array_equal(model.score_samples(X), expected)
    other = HiddenMarkov.from_probabilities(
        model.initial_, model.transition_, model.emission_, [("x", 1), None]
    )
    np.testing.assert_array_equal(
        other.score_samples([[("x", 1), ("x", 1), None], [None]]), expected
    )
    numbers = HiddenMarkov.from_probabilities(
        model.initial_, model.transition_, model.emission_, [0, 1]
    )
    np.testing.assert_array_equal(numbers.score_samples(np.array([[0, 0, 1]])), expected[:1])


# -------------------------------------------------------------------------- scores


def moved(model, table, row, column, step, coordinates):
    """Return the model with one unnormalised entry (or its logarithm) moved and rows rescaled."""
    tables = {t: np.array(getattr(model, t + "_")) for t in ("initial", "transition", "emission")}
    line = tables[table] if row is None else tables[table][row]
    line[column] = line[column] * np.exp(step) if coordinates == "softmax" else line[column] + step
    line /= line.sum()
    return HiddenMarkov.from_probabilities(*tables.values(), model.alphabet_)


@pytest.mark.spec("CS-8.18")
@pytest.mark.parametrize("coordinates", ["simplex", "softmax"])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_derivatives_of_the_log_likelihood(coordinates, seed):
    model = random_model(seed, 3, "abc", coordinates=coordinates)
    X = ["abcab", "ccb", "a", ""]
    entries = [("initial", None, j) for j in range(3)]
    entries += [("transition", i, j) for i in range(3) for j in range(3)]
    entries += [("emission", i, j) for i in range(3) for j in range(3)]
    step = 1e-5
    expected = np.array(
        [
            (
                moved(model, *entry, step, coordinates).score_samples(X)
                - moved(model, *entry, -step, coordinates).score_samples(X)
            )
            / (2 * step)
            for entry in entries
        ]
    ).T
    scores = model.fisher_scores(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(scores[3], np.zeros(21))
    some = random_model(seed, 3, "abc", coordinates=coordinates, scored=("emission",))
    np.testing.assert_array_equal(some.fisher_scores(X), scores[:, 12:])


@pytest.mark.spec("CS-8.18")
@pytest.mark.parametrize("coordinates", ["simplex", "softmax"])
def test_scores_have_mean_zero_under_the_model(coordinates):
    model = random_model(7, 3, "ab", coordinates=coordinates)
    X = all_strings("ab", 5)
    scores, p = model.fisher_scores(X), np.exp(model.score_samples(X))
    np.testing.assert_allclose(p @ scores, 0.0, atol=1e-13)
    assert np.abs(scores).max() > 0.1


def test_scores_of_a_sequence_do_not_depend_on_its_company():
    model = random_model(4, 3, "ab")
    X = model.sample([5, 40, 0, 17], random_state=2)
    together = model.fisher_scores(X)
    for i, x in enumerate(X):
        np.testing.assert_array_equal(model.fisher_scores([x])[0], together[i])


# -------------------------------------------------------------------------- training


def test_training_never_lowers_the_likelihood():
    for pseudocount in (0.0, 0.5):
        model = HiddenMarkov(3, pseudocount=pseudocount, random_state=0, max_iter=50).fit(TRAINING)
        trace = model.certificate_.trace
        assert model.certificate_.monotone
        assert len(trace) == model.certificate_.n_iter + 1 > 10
        assert trace[-1] > trace[0] + 0.1
        assert model.score_samples(TRAINING).sum() == pytest.approx(
            model.certificate_.log_likelihood
        )
        for table in (model.initial_, model.transition_, model.emission_):
            np.testing.assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-12)


def test_one_step_of_training_is_the_expected_counts_over_all_paths():
    start = random_model(5, 2, "ab")
    given_tables = {
        "initial": start.initial_,
        "transition": start.transition_,
        "emission": start.emission_,
    }
    X = ["abb", "ba", "aab"]
    model = HiddenMarkov(2, max_iter=1, pseudocount=0.25, **given_tables).fit(X)
    initial, transition, emission = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2))
    for x in X:
        total = probability(start, x)
        for path, p in joint_probabilities(start, x):
            initial[path[0]] += p / total
            for t, state in enumerate(path):
                emission[state, "ab".index(x[t])] += p / total
                if t:
                    transition[path[t - 1], state] += p / total
    for table, counts in (
        (model.initial_, initial),
        (model.transition_, transition),
        (model.emission_, emission),
    ):
        counts += 0.25
        np.testing.assert_allclose(table, counts / counts.sum(axis=-1, keepdims=True), rtol=1e-12)


def test_a_converged_model_is_stationary():
    options = {"random_state": 3, "tol": 1e-12, "max_iter": 20_000, "pseudocount": 0.1}
    model = HiddenMarkov(2, **options).fit(TRAINING)
    certificate = model.certificate_
    assert certificate.status == "stationary"
    assert 0 <= certificate.stationarity < 1e-4
    with pytest.warns(ConvergenceWarning, match="3 steps of EM did not reach tol=1e-12"):
        rough = HiddenMarkov(2, **{**options, "max_iter": 3}).fit(TRAINING).certificate_
    assert rough.status == "iteration_limit"
    assert rough.stationarity > 10 * certificate.stationarity


def test_structural_zeros_stay():
    transition = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]
    model = HiddenMarkov(3, transition=transition, pseudocount=0.1, random_state=0).fit(TRAINING)
    assert (model.transition_[np.tril_indices(3, -1)] == 0).all()
    assert model.transition_[0, 2] == 0
    scores = model.fisher_scores(TRAINING)[:, 3:12].reshape(-1, 3, 3)
    assert (scores[:, np.array(transition) == 0] == 0).all()


def test_weights_are_repetitions():
    weight = np.array([2.0, 0, 1, 3])
    X = ["aabb", "cccc", "abab", "bb"]
    repeated = [x for x, w in zip(X, weight, strict=True) for _ in range(int(w))]
    a = HiddenMarkov(2, random_state=0, max_iter=30, tol=0).fit(X, sample_weight=weight)
    b = HiddenMarkov(2, random_state=0, max_iter=30, tol=0).fit(repeated)
    assert a.alphabet_ == b.alphabet_ == ("a", "b")
    np.testing.assert_allclose(a.transition_, b.transition_, rtol=1e-9)
    np.testing.assert_allclose(a.emission_, b.emission_, rtol=1e-9)


def test_several_starts_keep_the_best():
    ends = [
        HiddenMarkov(3, random_state=0, max_iter=15, n_init=n).fit(TRAINING).certificate_.trace[-1]
        for n in (1, 2, 4)
    ]
    assert ends[0] <= ends[1] <= ends[2]
    again = HiddenMarkov(3, random_state=0, max_iter=15, n_init=4).fit(TRAINING)
    assert again.certificate_.trace[-1] == ends[2]


def test_pseudocounts_make_unseen_symbols_possible():
    model = HiddenMarkov(2, alphabet="abc", pseudocount=0.1, random_state=0).fit(TRAINING)
    assert np.isfinite(model.score_samples(["abc"])).all()
    without = HiddenMarkov(2, alphabet="abc", random_state=0).fit(TRAINING)
    assert without.score_samples(["abc"])[0] == -np.inf


def test_sampling_follows_the_model():
    model = random_model(11, 2, "ab")
    X = model.sample([1] * 3000, random_state=0)
    share = sum(x == "a" for x in X) / 3000
    assert share == pytest.approx(np.exp(model.score_samples(["a"])[0]), abs=0.04)
    assert model.sample([0, 2], random_state=1)[0] == ""
    lists = HiddenMarkov.from_probabilities([1.0], [[1.0]], [[1.0]], ["word"])
    assert lists.sample([2]) == [["word", "word"]]


# -------------------------------------------------------------------------- as an estimator


def test_copies():
    model = HiddenMarkov(2, random_state=0).fit(TRAINING)
    fresh = clone(model)
    assert not hasattr(fresh, "transition_")
    assert fresh != model
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded == model
    assert len({loaded, model}) == 1
    np.testing.assert_array_equal(loaded.score_samples(TRAINING), model.score_samples(TRAINING))
    loaded.set_params(n_states=3)
    assert not hasattr(loaded, "transition_")
    with pytest.raises(NotFittedError):
        loaded.score_samples(TRAINING)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_states": 0}, ValueError, "n_states"),
        ({"n_states": 1.5}, ValueError, "n_states"),
        ({"max_iter": -1}, ValueError, "max_iter"),
        ({"n_init": 0}, ValueError, "n_init"),
        ({"pseudocount": -0.1}, ValueError, "pseudocount"),
        ({"tol": -1.0}, ValueError, "tol"),
        ({"coordinates": "polar"}, ValueError, "coordinates must be one of 'simplex', 'softmax'"),
        ({"scored": ()}, ValueError, "scored must name some of"),
        ({"scored": "emission"}, ValueError, "scored must name some of"),
        ({"scored": ["states"]}, ValueError, "scored must name some of"),
        ({"alphabet": "aa"}, ValueError, "each of them once"),
        ({"alphabet": []}, ValueError, "at least one symbol"),
        ({"alphabet": [["a"]]}, TypeError, "must be hashable"),
        ({"alphabet": "a"}, ValueError, "contains the symbol 'b', which the model does not know"),
        ({"initial": [0.5, 0.6]}, ValueError, "the rows of initial must be probabilities"),
        ({"initial": [1.5, -0.5]}, ValueError, "the rows of initial must be probabilities"),
        ({"transition": np.eye(3)}, ValueError, r"transition must have shape \(2, 2\)"),
        ({"emission": [[1.0, 0], [1.0, 0]]}, ValueError, "probability 0 under the starting"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        HiddenMarkov(**parameters).fit(["ab", "b"])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (["", ""], ValueError, "all training sequences are empty"),
        ([], ValueError, "got no objects"),
        ("ab", TypeError, "Put the objects into a list"),
        ([{"a"}], TypeError, "object 0 is .* of type set"),
        ([3], TypeError, "object 0 is 3 of type int"),
        ([None], TypeError, "A missing value"),
        ([[["a"]]], TypeError, "must be hashable"),
        ([[0.5, 1.5]], TypeError, "real number 0.5"),
        (["ab", b"ab"], TypeError, "sequences of one kind"),
    ],
)
def test_what_is_no_sequence_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        HiddenMarkov().fit(X)


def test_weights_that_are_none_are_refused():
    for weight in ([1.0], [-1.0, 1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="sample_weight must"):
            HiddenMarkov().fit(["ab", "b"], sample_weight=weight)


def test_orders_of_counts():
    model = random_model(0, 2, "ab")
    with pytest.raises(ValueError, match="order must be 1 or 2"):
        model.expected_counts(["ab"], order=3)
    with pytest.raises(ValueError, match="lengths"):
        model.sample([-1])


# ------------------------------------------------------------------------------ scikit-learn


def test_tags_are_those_of_sequences():
    """The estimator checks, which fit rows of numbers, have nothing to check."""
    tags = HiddenMarkov().__sklearn_tags__().input_tags
    assert (tags.string, tags.one_d_array, tags.two_d_array) == (True, True, False)
    with pytest.warns(SkipTestWarning, match="HiddenMarkov"):
        check_estimator(HiddenMarkov())
