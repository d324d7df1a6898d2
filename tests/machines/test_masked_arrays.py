"""Masked entries of NumPy's masked arrays are missing values, not the numbers below the mask."""

import numpy as np
import pytest
from sklearn.base import is_classifier

from mercer import SVC, SVR, KernelPCA, KernelRidge
from mercer.kernels import RBF, FromFunction
from mercer.persistence.classes import estimator_classes

X = np.abs(np.random.default_rng(0).normal(size=(24, 3)))
Y = X[:, 0] > 0.5
MASKED = np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == 10)
BEGIN = "contains NaN or missing values: 1 of its"


@pytest.mark.parametrize("name", sorted(estimator_classes()))
@pytest.mark.filterwarnings("ignore")
def test_masked_rows_are_refused(name):
    model = estimator_classes()[name]()
    y = Y if is_classifier(model) else X[:, 0]
    with pytest.raises(ValueError, match=f"Input X {BEGIN} \\d+ entries are masked"):
        model.fit(MASKED, y)


def test_masked_targets_and_weights_are_refused():
    labels = np.ma.masked_array(Y, mask=np.arange(len(Y)) == 3)
    numbers = np.ma.masked_array(X[:, 0], mask=np.arange(len(Y)) == 3)
    for model, y in ((SVC(), labels), (SVR(), numbers), (KernelRidge(), MASKED)):
        with pytest.raises(ValueError, match=f"Input y {BEGIN}"):
            model.fit(X, y)
    with pytest.raises(ValueError, match=f"Input sample_weight {BEGIN}"):
        SVC().fit(X, Y, sample_weight=numbers)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: SVC().fit(X, Y).predict(MASKED),
        lambda: SVC().fit(X, Y).predict(MASKED[3:4]),
        lambda: KernelPCA().fit(X).transform(MASKED),
        lambda: SVC(kernel="precomputed").fit(np.ma.masked_array(X @ X.T, np.eye(24)), Y),
        lambda: RBF(1.0)(MASKED),
        lambda: RBF(1.0)(X, MASKED),
        lambda: RBF(1.0).diag(MASKED),
        lambda: FromFunction(lambda A, B: np.asarray(A) @ np.asarray(B).T)(MASKED),
    ],
)
def test_masked_rows_are_refused_in_prediction_and_by_kernels(ask):
    with pytest.raises(ValueError, match=r"Input X contains NaN or missing values: \d+ of its"):
        ask()


def test_masked_arrays_without_a_masked_entry_are_arrays():
    plain = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    found = SVC().fit(plain, np.ma.masked_array(Y)).decision_function(plain)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, SVC().fit(X, Y).decision_function(X))
