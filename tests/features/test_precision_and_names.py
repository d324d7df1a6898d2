"""Features of float32 rows are float32, and data frames go through without warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mercer.features import (
    ExplicitFeatures,
    IncompleteCholeskyFeatures,
    LogFeatures,
    MonomialFeatures,
    Nystrom,
    RandomFourierFeatures,
    TaylorFeatures,
)
from mercer.kernels import Linear, Spectrum

X = np.random.default_rng(9).uniform(0.5, 1.5, size=(30, 3))
OF_KERNELS = [
    RandomFourierFeatures(n_components=9, random_state=0),
    Nystrom(n_components=8, random_state=0),
    IncompleteCholeskyFeatures(),
    TaylorFeatures(degree=2),
    ExplicitFeatures("poly", degree=2),
    ExplicitFeatures(Linear()),
]
OTHERS = [MonomialFeatures(), LogFeatures()]


@pytest.mark.parametrize("transformer", OF_KERNELS + OTHERS, ids=lambda t: type(t).__name__)
def test_features_have_the_precision_of_the_rows(transformer):
    double = transformer.fit(X).transform(X)
    assert double.dtype == np.float64
    rows = X.astype(np.float32)
    for single in (transformer.fit(rows).transform(rows), transformer.fit_transform(rows)):
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-3)
    assert transformer.fit(rows).transform(X).dtype == np.float64
    if transformer.__sklearn_tags__().input_tags.sparse:
        assert transformer.transform(sp.csr_array(rows)).dtype == np.float32


@pytest.mark.parametrize("transformer", OF_KERNELS, ids=lambda t: type(t).__name__)
def test_errors_are_measured_on_data_frames_without_a_warning(transformer):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = transformer.fit(frame).approximation_error(frame, n_sample=20)
        in_frames = transformer.set_output(transform="pandas").fit(frame)
        assert in_frames.approximation_error(frame, n_sample=20) == error
    transformer.set_output(transform="default")
    assert error.n_used == 20
    with pytest.raises(ValueError, match="feature names"):
        transformer.approximation_error(frame[["c", "b", "a"]])


def test_single_precision_shows_in_the_error():
    features = ExplicitFeatures(Linear()).fit(X)
    assert features.approximation_error(X).max < 1e-14
    rough = ExplicitFeatures("poly", degree=2).fit(X.astype(np.float32))
    assert 1e-10 < rough.approximation_error(X.astype(np.float32)).relative_frobenius < 1e-6


def test_counts_of_strings_are_in_double_precision():
    assert ExplicitFeatures(Spectrum(1)).fit_transform(["ab", "b"]).dtype == np.float64


def test_columns_of_a_table_with_texts():
    """A kernel on some columns needs nothing of the others; the names are those of the table."""
    table = pd.DataFrame({"s": ["ab", "bc", "abc"], "v": [1.0, 2.0, 3.0], "w": [1.0, 0.0, 2.0]})
    numbers = ExplicitFeatures(Linear().on_columns(["v"])).set_output(transform="pandas")
    assert numbers.fit_transform(table)["v"].tolist() == [1.0, 2.0, 3.0]
    kernel = Spectrum(2).on_columns("s") + Linear().on_columns(["v", "w"])
    for features in (ExplicitFeatures(kernel), Nystrom(kernel, n_components=2)):
        features.fit(table)
        assert features.feature_names_in_.tolist() == ["s", "v", "w"]
        with pytest.raises(ValueError, match="same order"):
            features.transform(table[["w", "v", "s"]])
