"""Fits that enter with a Gram matrix: the objects are not checked, bound or packed again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Spectrum
from mercer.machines.support_vector.fitting import fit_on
from mercer.run import Run
from mercer.solvers import Settings

RNG = np.random.default_rng(2)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
T = X[:, 0] - 0.5 * X[:, 2]
WEIGHT = RNG.integers(0, 4, size=80).astype(float)


@pytest.mark.parametrize(
    ("machine", "target"),
    [(SVC(C=2.0), Y), (NuSVC(nu=0.3), Y), (SVR(), T), (OneClassSVM(nu=0.2), None)],
)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_a_gram_gives_the_model_of_its_objects(machine: Any, target: Any, weight: Any) -> None:
    kernel = RBF(0.3)
    from_gram = machine.fit(Gram(kernel, X), target, sample_weight=weight)
    found = from_gram.decision_function(X) if target is not T else from_gram.predict(X)
    assert from_gram.kernel_ == kernel
    assert from_gram.n_features_in_ == 4
    other = type(machine)(**machine.get_params() | {"kernel": kernel})
    other.fit(X, target, sample_weight=weight)
    expected = other.decision_function(X) if target is not T else other.predict(X)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(from_gram.support_, other.support_)


def test_folds_of_one_gram_and_other_objects() -> None:
    rows = np.arange(0, 80, 2)
    fold = SVC().fit(Gram(RBF(0.3), X).take(rows), Y[rows])
    alone = SVC(kernel=RBF(0.3)).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(fold.decision_function(X), alone.decision_function(X))
    words, label = ["banana", "bandana", "kernel", "kennel"], [1, 1, 0, 0]
    assert SVC().fit(Gram(Spectrum(2), words), label).predict(["ananas"]) == [1]
    sparse = sp.csr_array(X)
    np.testing.assert_array_equal(
        SVC().fit(Gram(Linear(), sparse), Y).decision_function(sparse),
        SVC(kernel="linear").fit(sparse, Y).decision_function(sparse),
    )


def test_parameters_of_another_kernel_are_refused() -> None:
    gram = Gram(RBF(0.3), X)
    with pytest.raises(ValueError, match="gamma would have no effect, because X is a Gram matrix"):
        SVC(gamma=0.5).fit(gram, Y)
    with pytest.raises(ValueError, match="kernel would have no effect"):
        SVC(kernel="linear").fit(gram, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVC().fit(gram, Y[:-1])


@pytest.mark.parametrize(
    ("machine", "target"),
    [
        (SVC(C=2.0), Y),
        (SVC(C=2.0, probability=True, random_state=0), Y + (X[:, 2] > 1.0)),
        (NuSVC(nu=0.3), Y),
        (SVR(), T),
        (OneClassSVM(nu=0.2), None),
    ],
)
def test_a_fit_behind_the_door_is_the_fit_without_the_other_samples(
    machine: Any, target: Any
) -> None:
    rows, weight = np.arange(0, 80, 3), np.zeros(80)
    weight[rows] = WEIGHT[rows] + 1.0
    through = type(machine)(**machine.get_params() | {"kernel": RBF(0.3)})
    through.fit(X, target, sample_weight=weight)
    data, _ = machine._enter(X, target, WEIGHT + 1.0)
    gram = Gram(RBF(0.3), X)
    behind = fit_on(machine, data.take(rows), gram.take(rows))
    assert behind is machine
    assert behind.kernel_ == RBF(0.3)
    assert sorted(behind.support_) == sorted(through.support_)
    predict = "predict_proba" if machine.get_params().get("probability") else "predict"
    np.testing.assert_allclose(getattr(behind, predict)(X), getattr(through, predict)(X), atol=1e-9)


def test_a_fit_behind_the_door_starts_from_another_model() -> None:
    data, kernel = SVC()._enter(X, Y)
    gram = SVC()._gram(data, kernel)
    whole = fit_on(SVC(tol=1e-6), data, gram)
    for rows in (np.arange(80), np.delete(np.arange(80), whole.support_[0])):
        cold = fit_on(SVC(C=1.01, tol=1e-6), data.take(rows), gram.take(rows))
        warm = fit_on(SVC(C=1.01, tol=1e-6), data.take(rows), gram.take(rows), start=whole)
        np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-5)
        assert warm.n_iter_[0] < cold.n_iter_[0]


def test_a_fit_behind_the_door_keeps_columns_limits_and_failures() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    data, kernel = SVC()._enter(frame, Y)
    gram = SVC()._gram(data, kernel)
    model = fit_on(SVC(), data, gram)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.warns(ConvergenceWarning):
        fit_on(SVC(), data, gram, settings=Settings(), run=Run(max_iter=3))
    with pytest.raises(ValueError, match="80 rows, but there are 2 samples"):
        fit_on(model, data.take(np.array([0, 1])), gram)
    with pytest.raises(ValueError, match="C must be"):
        fit_on(model.set_params(C=-1.0), data, gram)
    assert len(model.predict(frame)) == 80
    K = RBF(0.3)(X)
    whole, rows = SVC(kernel="precomputed"), np.arange(0, 80, 2)
    data, kernel = whole._enter(K, Y)
    part = fit_on(SVC(), data.take(rows), Gram(kernel, K).take(rows))
    other = SVC(kernel=RBF(0.3)).fit(X[rows], Y[rows])
    np.testing.assert_allclose(part.decision_function(K), other.decision_function(X), atol=1e-9)
