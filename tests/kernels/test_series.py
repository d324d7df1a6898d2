"""The global alignment kernel of series."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import SVC, SVR
from mercer.kernels import GlobalAlignment, normalize
from tests.kernels import string_definitions as defined
from tests.kernels.agreement import agrees

numbers = st.integers(-8, 8).map(lambda n: n / 4)
series = st.lists(st.lists(numbers, min_size=1, max_size=5), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None)
@given(series, st.sampled_from([0.1, 1.0, 4.0]), st.sampled_from([None, 1, 2, 4]))
def test_sum_over_all_alignments(X, gamma, band):
    kernel = GlobalAlignment(gamma, band)
    agrees(kernel, X, lambda x, z: defined.global_alignment(x, z, gamma, band))
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)


def test_points_of_several_variables():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in (1, 2, 4, 5, 3)]
    agrees(GlobalAlignment(0.3), X, lambda x, z: defined.global_alignment(x, z, 0.3))


def test_equal_points_count_the_alignments():
    # Delannoy numbers: all similarities are 1.
    X = [np.zeros(n) for n in (1, 2, 3, 4)]
    K = GlobalAlignment(1.0)(X)
    expected = [[1, 1, 1, 1], [1, 3, 5, 7], [1, 5, 13, 25], [1, 7, 25, 63]]
    np.testing.assert_allclose(K, expected, rtol=1e-14)


def test_the_condition_of_definiteness():
    """kappa / (1 + kappa) is half a Gaussian; that of the Gaussian itself is indefinite."""
    x = np.arange(30) * 0.2
    g = np.exp(-((x[:, None] - x) ** 2))
    kappa = g / (2 - g)
    np.testing.assert_allclose(kappa / (1 + kappa), g / 2, rtol=1e-14)
    assert np.linalg.eigvalsh(g / (1 + g))[0] < -1e-3
    rng = np.random.default_rng(0)
    for _ in range(50):
        X = [np.round(rng.normal(size=n), 1) for n in rng.integers(1, 9, size=12)]
        K = normalize(GlobalAlignment(0.3))(X)
        assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_long_series_are_compared_by_logarithms():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=1200))
    X = [walk[:1000], walk[100:], walk[:500]]
    with pytest.raises(OverflowError, match="normalize"):
        GlobalAlignment(1e-4)(X)
    K = normalize(GlobalAlignment(1e-4))(X)
    assert np.isfinite(K).all()
    np.testing.assert_allclose(np.diagonal(K), 1, rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_allclose(K, normalize(GlobalAlignment(1e-4))(X[::-1])[::-1, ::-1], rtol=1e-12)


def test_gamma_follows_the_data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (3, 5, 9)]
    points = np.concatenate(X)
    squares = ((points[:, None] - points) ** 2).sum(axis=2).mean()
    expected = 1 / (2 * squares * np.mean([3, 5, 9]))
    assert GlobalAlignment().bind(X).gamma == pytest.approx(expected, rel=1e-12)
    repeated = GlobalAlignment().bind([X[0], X[0], X[2]]).gamma
    assert GlobalAlignment().bind(X, [2, 0, 1]).gamma == pytest.approx(repeated, rel=1e-12)
    assert GlobalAlignment().bind([[1.0, 1.0], [1.0]]).gamma == 1.0
    with pytest.raises(ValueError, match="bind"):
        GlobalAlignment()(X, X)


def test_series_without_points_and_outside_the_band():
    K = GlobalAlignment(1.0, band=2)([[], [0.0], [0.0, 0.0, 0.0]])
    assert K[0].tolist() == [0, 0, 0]
    assert K[1, 2] == 0  # every path leaves the band
    assert normalize(GlobalAlignment(1.0))([[], [0.0]]).tolist() == [[0, 0], [0, 1]]


def test_forms_of_input():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 6))
    kernel = GlobalAlignment(0.2)
    expected = kernel(list(A))
    for form in (A, A.tolist(), A[:, :, None], [tuple(a) for a in A]):
        np.testing.assert_array_equal(kernel(form), expected)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (["abc"], TypeError, "object 0 is of type str"),
        ([1.0, 2.0], TypeError, "0 dimensions"),
        ([[0.0], [np.nan]], ValueError, "object 1 contains NaN"),
        ([[[0.0, 1.0]], [[0.0]]], ValueError, "object 0 has 2, object 1 has 1"),
        ([], ValueError, "no objects"),
        (np.zeros((2, 2, 2, 2)), TypeError, "3 dimensions"),
        (3.0, TypeError, "collection"),
    ],
)
def test_bad_series(X, error, message):
    with pytest.raises(error, match=message):
        GlobalAlignment(1.0)(X)
    with pytest.raises(error, match=message):
        SVC(kernel=GlobalAlignment()).fit(X, [0, 1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"gamma": 0.0}, ValueError, "positive"),
        ({"gamma": -1.0}, ValueError, "at least 0"),
        ({"gamma": "auto"}, ValueError, "'scale' or a number"),
        ({"band": 0}, ValueError, "at least 1"),
        ({"band": 1.5}, ValueError, "integer"),
    ],
)
def test_bad_parameters(arguments, error, message):
    with pytest.raises(error, match=message):
        GlobalAlignment(**arguments)


def test_new_series_must_have_the_same_variables():
    kernel = GlobalAlignment(1.0)
    with pytest.raises(ValueError, match="cannot be compared"):
        kernel([np.zeros((3, 2))], [np.zeros((3, 1))])


def test_the_derivative_for_series_whose_values_are_no_numbers():
    X = [np.sin(np.linspace(0, 6, n)) for n in (450, 430)]
    gamma, step = 0.01, 1e-7
    with pytest.raises(OverflowError, match="normalize"):
        GlobalAlignment(gamma).gradient(X)
    up, down = (normalize(GlobalAlignment(gamma + h))(X) for h in (step, -step))
    slope = normalize(GlobalAlignment(gamma)).gradient(X)["kernel__gamma"]
    assert abs(slope[0, 1]) > 1e-3
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-4, atol=1e-5)


def test_machines_learn_from_series():
    rng = np.random.default_rng(0)
    X = [np.sin(np.linspace(0, 6, n)) + 0.1 * rng.normal(size=n) for n in range(20, 40)]
    X += [np.cos(np.linspace(0, 6, n)) + 0.1 * rng.normal(size=n) for n in range(20, 40)]
    y = np.repeat([0, 1], 20)
    machine = SVC(kernel=normalize(GlobalAlignment())).fit(X[::2], y[::2])
    assert machine.score(X[1::2], y[1::2]) == 1
    assert machine.certify(X[::2], y[::2]).status == "optimal"
    lengths = np.array([len(x) for x in X], dtype=float)
    assert SVR(kernel=normalize(GlobalAlignment()), C=100).fit(X, lengths).score(X, lengths) > 0.5
