"""Base classes of scikit-learn with the types of what they add, which scikit-learn does not state.

At run time these are scikit-learn's own classes. Without these types mypy would accept any argument
of an estimator.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import base

MYPY = False  # which mypy takes for True

if MYPY:

    class BaseEstimator:
        """Adds the parameters by name, and the routing of metadata."""

        n_features_in_: int
        feature_names_in_: NDArray[Any]

        def get_metadata_routing(self) -> Any:
            """Return which metadata the methods ask for."""

        def set_fit_request(self, **routes: bool | str | None) -> Self:
            """Choose which metadata a meta-estimator passes to ``fit``."""

        set_partial_fit_request = set_predict_request = set_fit_request
        set_transform_request = set_score_request = set_fit_request

        def __sklearn_tags__(self) -> Any: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...

    class ClassifierMixin:
        """Adds the mean accuracy."""

        classes_: NDArray[Any]

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Return the mean accuracy of the predictions."""

    class RegressorMixin:
        """Adds the coefficient of determination."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Return the coefficient of determination of the predictions."""

    class MultiOutputMixin:
        """Says that targets may have several columns."""

    class OutlierMixin:
        """Adds labels of the training rows."""

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]:
            """Fit, and return 1 for inliers and -1 for outliers."""

    class ClusterMixin:
        """Adds labels of the training rows."""

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]:
            """Fit, and return the cluster of every row."""

    class TransformerMixin:
        """Adds the features of the training rows."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
            """Fit, and return the features."""

        def set_output(self, *, transform: Any = None) -> Self:
            """Choose arrays or frames for the features."""

    class ClassNamePrefixFeaturesOutMixin:
        """Adds names of the features."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
            """Return the name of the class with the number of each feature."""

    class CallbackSupportMixin:
        """Adds callbacks of scikit-learn."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set the callbacks."""

else:
    BaseEstimator = base.BaseEstimator
    ClassifierMixin = base.ClassifierMixin
    RegressorMixin = base.RegressorMixin
    MultiOutputMixin = base.MultiOutputMixin
    OutlierMixin = base.OutlierMixin
    ClusterMixin = base.ClusterMixin
    TransformerMixin = base.TransformerMixin
    ClassNamePrefixFeaturesOutMixin = base.ClassNamePrefixFeaturesOutMixin
    try:  # scikit-learn 1.9 and later
        from sklearn.callback import CallbackSupportMixin
    except ImportError:
        CallbackSupportMixin = object
