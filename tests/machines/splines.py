"""Data for thin plate splines, and a machine trained on them."""

import numpy as np

from mercer import SVR
from mercer.kernels import ThinPlate

rng = np.random.default_rng(11)
X = rng.normal(size=(60, 2))
NEW = rng.normal(size=(25, 2))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=60)
SLOPE, LEVEL = np.array([5.0, -7.0]), 20.0
LABELS = np.where(X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=60) > 0.7, 1, 0)
THREE = LABELS + (X[:, 1] > 0.8)


def fitted(**parameters):
    return SVR(kernel=ThinPlate(), **({"C": 2.0, "epsilon": 0.05} | parameters)).fit(X, Y)
