"""scikit-learn's checks of estimators, for the unsupervised transformers."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelPCA


@parametrize_with_checks([KernelPCA(), KernelPCA(n_components=2, kernel="rbf", center=False)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
