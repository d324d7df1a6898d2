"""Estimators without a kernel, written with what CONTRIBUTING.md says and nothing else."""

from __future__ import annotations

import inspect
import pickle
from typing import Any, Self

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.machines import ParameterError
from mercer.machines.estimator import Estimator
from mercer.machines.input_validation import check_labels, check_targets
from mercer.objects.parameters import declared, integer_from, parameter, positive


def with_constant(X: Any) -> Any:
    return np.hstack([X, np.ones((len(X), 1))])


@declared
class Perceptron(ClassifierMixin, Estimator):
    """Rosenblatt's perceptron, with a weight vector for each class."""

    n_passes: int = parameter(integer_from(1), default=100)
    """Passes over the samples."""

    def _check_target(self, y: Any, n_samples: int) -> Any:
        return check_labels(self, y, n_samples)

    def fit(self, X: Any, y: Any) -> Self:
        self._check_parameters()
        with self._transaction():
            data = self._enter_rows(X, y)
            self.classes_, codes = np.unique(data.y, return_inverse=True)
            W = np.zeros((len(self.classes_), data.X.shape[1] + 1))
            for _ in range(self.n_passes):
                for x, code in zip(with_constant(data.X), codes, strict=True):
                    found = int(np.argmax(W @ x))
                    if found != code:
                        W[code] += x
                        W[found] -= x
            self.coef_ = W
        return self

    def predict(self, X: Any) -> Any:
        X = self._rows(X)
        return self.classes_[np.argmax(with_constant(X) @ self.coef_.T, axis=1)]


@declared
class LeastMeanSquares(RegressorMixin, Estimator):
    """The rule of Widrow and Hoff with normalised steps, one sample after the other."""

    rate: float = parameter(positive, default=0.5)
    """Share of the error of a sample that its step removes."""

    def _check_target(self, y: Any, n_samples: int) -> Any:
        return check_targets(self, y, n_samples)

    def fit(self, X: Any, y: Any) -> Self:
        return self._follow(self._enter_rows, X, y, None)

    def partial_fit(self, X: Any, y: Any) -> Self:
        return self._follow(self._enter_batch, X, y, getattr(self, "coef_", None))

    def _follow(self, enter: Any, X: Any, y: Any, start: Any) -> Self:
        self._check_parameters()
        with self._transaction():
            data = enter(X, y)
            w = np.zeros(data.X.shape[1] + 1) if start is None else start
            for x, target in zip(with_constant(data.X), data.y, strict=True):
                w = w + self.rate * (target - w @ x) / (x @ x) * x
            self.coef_ = w
        return self

    def predict(self, X: Any) -> Any:
        return with_constant(self._rows(X)) @ self.coef_


ESTIMATORS = [Perceptron(), LeastMeanSquares()]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 0.5] + 3.0


@parametrize_with_checks(ESTIMATORS)
def test_they_pass_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_they_have_their_declared_parameters_and_no_kernel(estimator: Any) -> None:
    name = {Perceptron: "n_passes", LeastMeanSquares: "rate"}[type(estimator)]
    assert list(estimator.get_params()) == list(inspect.signature(type(estimator)).parameters)
    assert list(estimator.get_params()) == [name]
    assert f"{name} : " in (inspect.getdoc(estimator) or "")
    assert not hasattr(estimator, "kernel")
    with pytest.raises(ParameterError, match=f"{name} must be"):
        clone(estimator).set_params(**{name: -1}).fit(X, Y > 0.0)


def test_a_perceptron_separates_classes_that_a_line_separates() -> None:
    model = Perceptron().fit(X, Y > 3.0)
    assert model.score(X, Y > 3.0) == 1.0
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_batches_one_after_the_other_are_one_fit() -> None:
    whole, online = LeastMeanSquares().fit(X, Y), LeastMeanSquares()
    with pytest.raises(NotFittedError):
        online.predict(X)
    for part in np.split(np.arange(60), 4):
        online.partial_fit(X[part], Y[part])
    assert_array_equal(online.coef_, whole.coef_)
    assert_allclose(online.predict(X), Y, atol=0.05)
    assert_array_equal(
        online.fit(X[:10], Y[:10]).coef_, LeastMeanSquares().fit(X[:10], Y[:10]).coef_
    )


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (X[:, :2], "2 features"),
        (np.full((60, 3), np.nan), "NaN"),
        (sp.csr_array(X), "Sparse rows are not supported by LeastMeanSquares"),
        (["a"] * 60, "LeastMeanSquares"),
    ],
)
def test_a_batch_that_is_refused_leaves_the_model_as_it_was(bad: Any, message: str) -> None:
    model = LeastMeanSquares().partial_fit(X, Y)
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError), match=message):
        model.partial_fit(bad, Y)
    assert vars(model) == before
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0] = 0.0
