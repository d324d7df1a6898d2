"""The mixins of scikit-learn with the types of what they add, which scikit-learn does not state.

At run time these are scikit-learn's own classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn import base

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    class ClassifierMixin(base.ClassifierMixin):
        """Adds the mean accuracy."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Return the mean accuracy of the predictions."""

    class RegressorMixin(base.RegressorMixin):
        """Adds the coefficient of determination."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Return the coefficient of determination of the predictions."""

    class OutlierMixin(base.OutlierMixin):
        """Adds labels of the training rows."""

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]:
            """Fit, and return 1 for inliers and -1 for outliers."""

    class ClusterMixin(base.ClusterMixin):
        """Adds labels of the training rows."""

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]:
            """Fit, and return the cluster of every row."""

    class TransformerMixin(base.TransformerMixin):
        """Adds the features of the training rows."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
            """Fit, and return the features."""

        def set_output(self, *, transform: Any = None) -> Self:
            """Choose arrays or frames for the features."""

    class ClassNamePrefixFeaturesOutMixin(base.ClassNamePrefixFeaturesOutMixin):
        """Adds the names of the features."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
            """Return the names of the features."""

else:
    ClassifierMixin = base.ClassifierMixin
    RegressorMixin = base.RegressorMixin
    OutlierMixin = base.OutlierMixin
    ClusterMixin = base.ClusterMixin
    TransformerMixin = base.TransformerMixin
    ClassNamePrefixFeaturesOutMixin = base.ClassNamePrefixFeaturesOutMixin
