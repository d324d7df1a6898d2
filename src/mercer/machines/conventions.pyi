from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

class BaseEstimator:
    """Adds the parameters by name, and the routing of metadata."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def get_metadata_routing(self) -> Any: ...
    def set_fit_request(self, **routes: bool | str | None) -> Self: ...

    set_partial_fit_request = set_predict_request = set_fit_request
    set_transform_request = set_score_request = set_fit_request

    def __sklearn_tags__(self) -> Any: ...
    def __setstate__(self, state: dict[str, Any]) -> None: ...

class ClassifierMixin:
    """Adds the mean accuracy."""

    classes_: NDArray[Any]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

class RegressorMixin:
    """Adds the coefficient of determination."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

class MultiOutputMixin:
    """Says that targets may have several columns."""

class OutlierMixin:
    """Adds labels of the training rows."""

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]: ...

class ClusterMixin:
    """Adds labels of the training rows."""

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]: ...

class TransformerMixin:
    """Adds the features of the training rows."""

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]: ...
    def set_output(self, *, transform: Any = None) -> Self: ...

class ClassNamePrefixFeaturesOutMixin:
    """Adds names of the features."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...

class CallbackSupportMixin:
    """Adds callbacks of scikit-learn."""

    def set_callbacks(self, *callbacks: Any) -> Self: ...
