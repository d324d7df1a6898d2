"""The explicit features of a kernel that has finitely many, as a transformer."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from mercer.feature_space.estimators import checked_objects
from mercer.kernels.objects import take

from .base import KernelFeatures


class ExplicitFeatures(KernelFeatures):
    """The features phi(x) of a kernel with k(x, z) = phi(x) . phi(z), listed.

    A linear machine on these features is the kernel machine: f(x) = sum_j w_j phi_j(x) + b in
    place of sum_i a_i k(x_i, x) + b. They exist for the linear and the polynomial kernel, for
    kernels from a feature map, and for sums, products and powers of such; `approximation_error`
    is rounding.

    Parameters
    ----------
    kernel : str or Kernel, default="poly"
        A kernel with a `feature_map`.
    gamma, degree, coef0 : float or str, int, float
        Parameters of a named kernel; see :class:`mercer.SVC`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved.
    n_components_ : int
        Number of features.

    Examples
    --------
    >>> from mercer.features import ExplicitFeatures
    >>> from mercer.kernels import Polynomial
    >>> features = ExplicitFeatures(Polynomial(degree=2, gamma=1.0)).fit([[1.0, 2.0]])
    >>> left, right = features.transform([[1.0, 2.0], [3.0, 4.0]])
    >>> round(float(left @ right), 9)
    121.0
    """

    def __init__(
        self,
        kernel: Any = "poly",
        *,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any = None) -> ExplicitFeatures:
        """Bind the kernel to the data and count its features.

        Parameters
        ----------
        X : objects
            Training objects.
        y : ignored
            Present for consistency.

        Returns
        -------
        self : ExplicitFeatures
            The fitted transformer.
        """
        self.kernel_, X = self._training_objects(X)
        self.n_components_ = self.kernel_.feature_map(take(X, slice(0, 1))).shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of objects.

        Parameters
        ----------
        X : objects
            Objects.

        Returns
        -------
        array or CSR matrix of shape (n_X, n_components_)
            The features.
        """
        check_is_fitted(self)
        features = self.kernel_.feature_map(checked_objects(self, X, self.kernel_, reset=False))
        if features.shape[1] != self.n_components_:
            raise ValueError(
                f"the feature map of {self.kernel_!r} returned {features.shape[1]} features, but "
                f"{self.n_components_} at the fit; a map must not depend on the other objects."
            )
        return features
