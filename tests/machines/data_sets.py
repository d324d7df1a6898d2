"""Small data sets and the machines on them, shared by the tests of this folder."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import make_classification, make_regression

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM

MACHINES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM)

TOY = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]]), np.array([-1, -1, 1, 1])
"""Four points whose hard margin is w = (1, -1), b = -1, with multipliers (1/2, 1/2, 1, 0)."""


def classes(n=90, k=2, seed=0, flip=0.1):
    return make_classification(
        n,
        n_features=5,
        n_informative=4,
        n_redundant=0,
        n_classes=k,
        flip_y=flip,
        random_state=seed,
    )


def regression(n=80, seed=0):
    X, y = make_regression(n, 4, noise=20.0, random_state=seed)
    return X, y / 50.0


def data_for(machine, n=80, k=2):
    """Return (X, y) that suits a machine class or instance."""
    kind = machine if isinstance(machine, type) else type(machine)
    return classes(n, k) if issubclass(kind, ClassifierMixin) else regression(n)


def scores(model, X):
    """Return the decision values of a classifier or one-class machine, or the predictions."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict(X)
