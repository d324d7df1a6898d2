"""Fits that enter with a Gram matrix: the objects are not checked, bound or packed again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Spectrum

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
