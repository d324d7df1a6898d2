"""Delay embedding, as a transformer and under vector kernels."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from mercer import SVC, SVR
from mercer.kernels import RBF, Delayed, DelayEmbedding, Laplacian, Linear, Precomputed, normalize
from tests.kernels.agreement import agrees

numbers = st.integers(-8, 8).map(lambda n: n / 4)
many = st.lists(st.lists(numbers, min_size=1, max_size=9), min_size=1, max_size=6)


def vector(x, t, dimension, delay):
    return [x[max(t - j * delay, 0)] for j in range(dimension)]


# -------------------------------------------------------------------------- the transformer


@settings(max_examples=40, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=12), st.integers(1, 4), st.integers(1, 3))
def test_rows_are_values_and_their_past(x, dimension, delay):
    column = np.array(x)[:, None]
    Z = DelayEmbedding(dimension, delay).fit_transform(column)
    np.testing.assert_array_equal(Z, [vector(x, t, dimension, delay) for t in range(len(x))])
    reach = (dimension - 1) * delay
    dropped = DelayEmbedding(dimension, delay, incomplete="drop").fit_transform(column)
    np.testing.assert_array_equal(dropped, Z[reach:])
    np.testing.assert_array_equal(DelayEmbedding(dimension, delay).windows(x), Z[reach:])


def test_channels_and_their_names():
    X = pd.DataFrame({"u": [1.0, 2.0, 3.0], "v": [10.0, 20.0, 30.0]})
    embedding = DelayEmbedding(dimension=2, delay=2)
    np.testing.assert_array_equal(
        embedding.fit_transform(X), [[1, 10, 1, 10], [2, 20, 1, 10], [3, 30, 1, 10]]
    )
    assert embedding.get_feature_names_out().tolist() == ["u(t)", "v(t)", "u(t-2)", "v(t-2)"]
    assert embedding.get_feature_names_out(["a", "b"])[2] == "a(t-2)"
    plain = DelayEmbedding(2).fit(np.zeros((3, 1)))
    assert plain.get_feature_names_out().tolist() == ["x0(t)", "x0(t-1)"]
    with pytest.raises(ValueError, match="must have 2 names; got 1"):
        embedding.get_feature_names_out(["a"])
    assert embedding.set_output(transform="pandas").fit_transform(X).columns[1] == "v(t)"


def test_the_next_value_of_a_chaotic_series_is_predicted():
    x = [0.1, 0.1]
    for _ in range(300):
        x.append(1 - 1.4 * x[-1] ** 2 + 0.3 * x[-2])  # Henon's map, which needs two values
    x = np.array(x)
    errors = []
    for dimension in (1, 2):
        model = make_pipeline(
            DelayEmbedding(dimension), SVR(kernel=RBF(1.0), C=100.0, epsilon=1e-3)
        )
        model.fit(x[:200, None], x[1:201])
        past = x[199:300, None]  # one more, so that the past of the first is known
        errors.append(np.abs(model.predict(past)[1:] - x[201:301]).max())
    assert errors[1] < 0.02 < 0.2 < errors[0]


def test_scikit_learn_takes_it_as_a_transformer():
    # A row depends on the rows before it, which is what it is for.
    check_estimator(
        DelayEmbedding(),
        expected_failed_checks={
            "check_methods_subset_invariance": "a row depends on its past",
            "check_methods_sample_order_invariance": "a row depends on its past",
        },
        on_skip=None,
    )


# -------------------------------------------------------------------------- under kernels


@settings(max_examples=25, deadline=None)
@given(many, st.integers(1, 3), st.integers(1, 2))
def test_the_kernel_of_the_last_values(X, dimension, delay):
    def distance(x, z):
        a, b = (np.array(vector(s, len(s) - 1, dimension, delay)) for s in (x, z))
        return np.exp(-0.5 * np.sum((a - b) ** 2))

    agrees(Delayed(RBF(0.5), dimension, delay), X, distance)


def test_series_of_different_length_and_several_channels():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (5, 1, 3)]
    last = np.array([np.r_[x[-1], x[max(len(x) - 2, 0)]] for x in X])
    for inner in (Linear(), RBF(), normalize(Laplacian(0.3))):
        np.testing.assert_allclose(Delayed(inner, 2)(X), inner(last), rtol=1e-12)
    assert Delayed(RBF(), 2).bind(X).kernel.gamma == pytest.approx(1 / (4 * last.var()))
    np.testing.assert_array_equal(Delayed(Linear(), 2).feature_map(X), last)
    assert Delayed(RBF(1.0)).definiteness == "positive semidefinite"


def test_lists_in_a_column_of_a_table_are_series():
    X = [[1.0, 2.0, 4.0], [3.0, 1.0], [5.0]]
    frame = pd.DataFrame({"id": [7, 8, 9], "history": X})
    kernel = Delayed(Linear(), 2)
    np.testing.assert_array_equal(kernel.on_columns("history")(frame), kernel(X))


def test_a_machine_learns_from_histories():
    rng = np.random.default_rng(1)
    X = [np.cumsum(rng.normal(size=n)) for n in rng.integers(3, 30, size=60)]
    y = [x[-1] > x[-2] for x in X]
    kernel = Delayed(Linear(), dimension=2)
    model = SVC(kernel=kernel, C=100.0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert cross_val_score(SVC(kernel=kernel, C=10.0), X, y, cv=3).mean() > 0.9
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert clone(kernel) == kernel
    assert kernel.set_params(dimension=3, kernel=RBF(2.0)).kernel.gamma == 2.0


# -------------------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"dimension": 0}, ValueError, "dimension must be an integer of at least 1"),
        ({"dimension": 1.5}, ValueError, "dimension must be an integer"),
        ({"delay": 0}, ValueError, "delay must be an integer of at least 1"),
        ({"delay": "1"}, TypeError, "delay must be an integer"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        DelayEmbedding(**parameters).fit([[1.0]])
    with pytest.raises(error, match=message):
        Delayed(RBF(1.0), **parameters)


def test_other_parameters_are_refused():
    with pytest.raises(ValueError, match="incomplete must be 'repeat' or 'drop'"):
        DelayEmbedding(incomplete="pad").fit([[1.0]])
    with pytest.raises(TypeError, match="kernel of Delayed must be a kernel"):
        Delayed("rbf")
    with pytest.raises(ValueError, match="kernel on whole vectors"):
        Delayed(Precomputed())


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[]], ValueError, "series 0 is empty"),
        ([[1.0], [np.nan]], ValueError, "object 1 contains NaN"),
        ([["a"]], TypeError, "object 0 is of type list"),
        (["abc"], TypeError, "object 0 is of type str"),
        ([3.0], TypeError, "object 0, of type float, has 0 dimensions"),
        ([[1.0], [[1.0, 2.0]]], ValueError, "same variables; object 0 has 1, object 1 has 2"),
        ([], ValueError, "got no objects"),
        (3.0, TypeError, "Put the objects into a list"),
    ],
)
def test_what_is_no_series_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        Delayed(RBF(1.0))(X)
