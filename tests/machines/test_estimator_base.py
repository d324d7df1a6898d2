"""The estimator base carries estimators that owe nothing to support vectors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import RegressorMixin, TransformerMixin
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import (
    SVC,
    SVR,
    ConformalNovelty,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelCCA,
    KernelPCA,
    KernelRidge,
    KernelSpectralClustering,
    MultipleKernelSVC,
    OneClassSVM,
    SparseGaussianProcessRegressor,
)
from mercer.features import KernelCenterer, Nystrom
from mercer.gram import Prepared
from mercer.kernels import RBF, FromFunction, Spectrum
from mercer.machines.estimator import Estimator
from mercer.machines.input_validation import check_targets
from mercer.machines.kernel_estimator import KernelEstimator


class Ridge(RegressorMixin, KernelEstimator):
    def __init__(self, kernel: Any = "rbf", alpha: float = 1.0) -> None:
        self.kernel, self.alpha = kernel, alpha

    def _check_target(self, y: Any, n_samples: int) -> Any:
        return check_targets(self, y, n_samples)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Ridge:
        data, self.kernel_ = self._enter(X, y, sample_weight)
        K = self._gram(data, self.kernel_).tile()
        noise = self.alpha / (np.ones(data.n) if data.weight is None else data.weight)
        self.objects_, self.coef_ = data.X, np.linalg.solve(K + np.diag(noise), data.y)
        return self

    def predict(self, X: Any) -> Any:
        X = self._objects(X)
        return Prepared(self.kernel_, self.objects_).matmul(X, self.coef_)


class MeanAndVariance(TransformerMixin, KernelEstimator):
    """The value of the mean of the training objects in feature space, and the distance to it."""

    def __init__(self, kernel: Any = "rbf") -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> MeanAndVariance:
        data, self.kernel_ = self._enter(X)
        gram = self._gram(data, self.kernel_)
        self.objects_, self.weight_ = data.X, np.full(data.n, 1.0 / data.n)
        self.square_ = float(self.weight_ @ gram.matmul(self.weight_))
        return self

    def transform(self, X: Any) -> Any:
        X = self._objects(X)
        mean = Prepared(self.kernel_, self.objects_).matmul(X, self.weight_)
        return np.stack([mean, self.kernel_.diag(X) - 2.0 * mean + self.square_], axis=1)


@parametrize_with_checks([Ridge(), MeanAndVariance()])
def test_small_estimators_pass_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_targets_that_an_estimator_does_not_check_are_refused() -> None:
    class Careless(MeanAndVariance):
        def fit(self, X: Any, y: Any = None) -> Careless:
            self._enter(X, y)
            return self

    with pytest.raises(
        TypeError, match="Careless takes no targets: it has no method _check_target"
    ):
        Careless().fit([[0.0], [1.0]], [1.0, 2.0])


def test_ridge_takes_strings_and_weights_as_repetition() -> None:
    words, y = ["banana", "bandana", "kernel", "colonel"], [1.0, 0.9, -1.0, -0.8]
    twice = Ridge(kernel=Spectrum(2)).fit(words, y, sample_weight=[1.0, 2.0, 0.0, 1.0])
    again = Ridge(kernel=Spectrum(2)).fit(
        ["banana", "bandana", "bandana", "colonel"], [1.0, 0.9, 0.9, -0.8]
    )
    np.testing.assert_allclose(twice.predict(words), again.predict(words), atol=1e-12)


@pytest.mark.parametrize("kind", [SVC, Nystrom, KernelCenterer])
def test_every_estimator_tells_scikit_learn_which_objects_it_takes(kind: Any) -> None:
    tags = kind(kernel=Spectrum(3)).__sklearn_tags__().input_tags
    assert (tags.string, tags.one_d_array, tags.two_d_array) == (True, True, False)
    assert kind(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
    assert not kind(kernel=RBF(1.0)).__sklearn_tags__().input_tags.string


def test_a_pickle_of_another_version_is_refused() -> None:
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    state = model.__getstate__() | {"_mercer_version": "0.0.9"}
    with pytest.raises(ValueError, match=r"pickled by mercer 0\.0\.9"):
        SVC().__setstate__(state)
    assert pickle.loads(pickle.dumps(model)).predict([[0.9]]) == [1]


def _subclasses(cls: type) -> list[type]:
    return [cls, *(c for child in cls.__subclasses__() for c in _subclasses(child))]


def test_every_default_is_in_its_declared_range() -> None:
    """A fit does not check parameters that have their default."""
    for name in mercer.__all__:
        getattr(mercer, name)  # modules are imported when a name is first asked for
    checked = 0
    for cls in dict.fromkeys(_subclasses(Estimator)):
        for name, check in cls._checks.items():
            check(cls._parameters[name].default, name)
            checked += 1
    assert checked > 300


@pytest.mark.parametrize("model", [KernelRidge(), KernelPCA(), GaussianProcessRegressor(), SVR()])
def test_errors_of_memory_have_a_message(model: Any) -> None:
    def exhausting(A: Any, B: Any) -> Any:
        raise MemoryError

    X = np.arange(12.0)[:, None]
    with pytest.raises(MemoryError, match=f"{type(model).__name__}.* ran out of memory"):
        model.set_params(kernel=FromFunction(exhausting)).fit(X, X[:, 0])
    assert not hasattr(model, "n_features_in_")


MODELS = [
    SVC(),
    SVC(kernel="precomputed"),
    OneClassSVM(),
    KernelCCA(),
    KernelSpectralClustering(random_state=0),
    ConformalNovelty(random_state=0),
    MultipleKernelSVC(),
    GaussianProcessClassifier(),
    GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None),
    GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None, solver="cg"),
    SparseGaussianProcessRegressor(RBF(1.0), optimizer=None),
    KernelRidge(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_copies_of_a_fitted_model_have_its_joblib_hash(model: Any) -> None:
    """So that `joblib.Memory` finds what it computed for a model that comes out of a pickle."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    X = X @ X.T if getattr(model, "kernel", "") == "precomputed" else X
    model.fit(X, np.arange(30) % 2)
    expected = joblib.hash(model)
    assert joblib.hash(copy.deepcopy(model)) == expected
    assert joblib.hash(pickle.loads(pickle.dumps(model))) == expected
