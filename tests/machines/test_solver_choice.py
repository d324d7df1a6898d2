"""The parameter solver: interior points and pair steps find the same model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import ThinPlate

RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + X[:, 1] ** 2 + 0.4 * RNG.normal(size=90) > 0.5).astype(int)
T = X[:, 0] - 0.5 * X[:, 2] + 0.1 * RNG.normal(size=90)

MACHINES = [
    (SVC(C=3.0), Y),
    (SVC(C=3.0, penalty_norm=2), Y),
    (SVC(C=3.0, fit_intercept=False), Y + (X[:, 2] > 0.5)),
    (SVC(C=np.inf, gamma=5.0), Y),
    (NuSVC(nu=0.4), Y),
    (NuSVC(nu=0.4, fit_intercept=False), Y),
    (SVR(C=3.0), T),
    (SVR(C=np.inf, epsilon=0.4, gamma=1.0), T),
    (NuSVR(C=3.0), T),
    (OneClassSVM(nu=0.3), None),
]


@pytest.mark.parametrize(("machine", "target"), MACHINES, ids=lambda part: str(part)[:50])
def test_interior_points_find_the_model_of_pair_steps(machine: Any, target: Any) -> None:
    values = []
    for solver in ("decomposition", "interior_point"):
        model = machine.set_params(solver=solver, tol=1e-7).fit(X, target)
        assert model.certificate_.status == "optimal"
        values.append(model.predict(X) if target is T else model.decision_function(X))
    np.testing.assert_allclose(values[1], values[0], atol=1e-5)


def test_many_classes_by_interior_points() -> None:
    labels = np.arange(90) % 22
    model = SVC(solver="interior_point", decision_function_shape="ovo").fit(X, labels)
    other = SVC(decision_function_shape="ovo").fit(X, labels)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=5e-3)


def test_a_solver_that_does_not_fit_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="solver must be one of 'auto', 'decomposition'"):
        SVC(solver="simplex").fit(X, Y)
    with pytest.raises(
        ValueError, match=r"decomposition takes .* groups, not a basis of functions"
    ):
        SVR(kernel=ThinPlate(), solver="decomposition").fit(X, T)
    auto = SVR(kernel=ThinPlate()).fit(X, T)
    asked = SVR(kernel=ThinPlate(), solver="interior_point").fit(X, T)
    np.testing.assert_array_equal(asked.predict(X), auto.predict(X))
    with pytest.raises(ValueError, match='use solver="decomposition"'):
        SVC(solver="interior_point", cache_size=1e-3, gamma=10.0).fit(X, Y)
