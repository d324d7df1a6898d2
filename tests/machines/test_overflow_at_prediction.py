"""Kernel values that overflow at new objects are refused by name, in every prediction."""

import numpy as np
import pytest

from mercer import SVC, SVR, OneClassSVM
from mercer.kernels import ExponentialDot

X = np.random.default_rng(0).normal(size=(60, 3))
FAR = 1e4 * X[:5]
THREE = np.arange(60) % 3
WORDS = r"object 0 under ExponentialDot\(gamma=1.0\) are too large for a number; use a smaller"


@pytest.mark.parametrize("classes", [THREE, THREE > 0], ids=["three classes", "two classes"])
@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_classifiers(classes, method):
    machine = SVC(kernel=ExponentialDot(1.0), probability=method == "predict_proba")
    machine.fit(X, classes.astype(int))
    assert np.isfinite(getattr(machine, method)(X[:5])).all()
    with pytest.raises(OverflowError, match=WORDS):
        getattr(machine, method)(FAR)


def test_regression_and_novelty():
    for machine in (SVR(kernel=ExponentialDot(1.0)), OneClassSVM(kernel=ExponentialDot(1.0))):
        machine.fit(X, X[:, 0])
        with pytest.raises(OverflowError, match=WORDS):
            machine.predict(FAR)
