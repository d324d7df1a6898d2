"""Taylor features of the Gaussian kernel in any number of dimensions."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammainc
from sklearn.utils.validation import check_is_fitted

from mercer import sklearn_internals
from mercer.kernels import RBF, Kernel
from mercer.kernels.vectors.monomial_features import monomial_name
from mercer.objects.parameters import declared, integer_from, parameter
from mercer.objects.rows import squared_norms

from .base import KernelFeatures
from .monomials import kernel_blocks, n_monomials


@declared
class TaylorFeatures(KernelFeatures):
    r"""Features of the Gaussian kernel from the power series of the exponential.

    .. math::
        e^{-\gamma \|x - z\|^2} = e^{-\gamma \|x\|^2} e^{-\gamma \|z\|^2}
        \sum_k \frac{(2 \gamma)^k}{k!} (x \cdot z)^k

    Cut off after degree r, the features are :math:`e^{-\gamma \|x\|^2}` times all monomials of
    degree at most r with weights :math:`\sqrt{(2 \gamma)^k / (m_1! m_2! \cdots)}`. In one
    dimension and for :math:`\gamma = 1` they are the features of *Learning From Data*, chapter 8.
    They are good near the origin: the error grows with :math:`2 \gamma \|x\| \|z\|`.

    A. Cotter, J. Keshet, N. Srebro, "Explicit approximations of the Gaussian kernel", 2011.

    Attributes
    ----------
    kernel_ : RBF
        The kernel with its width resolved.
    n_components_ : int
        Number of features, C(n_features_in_ + degree, degree).

    Examples
    --------
    >>> from mercer.features import TaylorFeatures
    >>> features = TaylorFeatures(gamma=1.0, degree=4).fit([[0.5], [1.0]])
    >>> left, right = features.transform([[0.5], [1.0]])
    >>> round(float(left @ right), 6), round(features.error_bound([[0.5], [1.0]]), 3)
    (0.77595, 0.053)
    """

    _: KW_ONLY
    gamma: float | str = parameter(default="scale", kind='{"scale", "auto"} or float >= 0')
    """The inverse squared width of the kernel."""
    degree: int = parameter(integer_from(0), default=4)
    """The highest degree r."""

    def _choose(self, kernel: Kernel, X: Any) -> None:
        self.n_components_ = n_monomials(X.shape[1], int(self.degree), lower=True)

    def _features(self, X: Any) -> Any:
        X = X.astype(np.float64, copy=False)
        gamma = self._width()
        series = [(2.0 * gamma) ** k / math.factorial(k) for k in range(int(self.degree) + 1)]
        features = kernel_blocks(X, series)
        damping = np.exp(-gamma * squared_norms(X))[:, None]
        return sp.csr_array(features.multiply(damping)) if sp.issparse(X) else features * damping

    def error_bound(self, X: Any) -> float:
        """Return a proved bound on the error, for all pairs of rows.

        With u = 2 gamma |x| |z| the terms that are left out sum to at most exp(-gamma (|x| -
        |z|)^2) P(r + 1, u), P the regularised incomplete gamma function. For rows no longer than R
        this is at most P(r + 1, 2 gamma R^2), attained by a longest row with itself.
        """
        X = self._objects(X)
        longest = 2.0 * self._width() * float(squared_norms(X).max())
        return float(gammainc(int(self.degree) + 1, longest))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the monomials in the features, such as ``gauss(x0 x1^2)``."""
        check_is_fitted(self)
        columns = sklearn_internals.check_feature_names_in(self, input_features)
        indices = range(self.n_features_in_)
        return np.array(
            [
                f"gauss({monomial_name(columns, factors)})"
                for k in range(int(self.degree) + 1)
                for factors in combinations_with_replacement(indices, k)
            ],
            dtype=object,
        )

    def _width(self) -> float:
        return float(self.kernel_.get_params()["gamma"])

    def _resolved_kernel(self) -> RBF:
        return RBF(self.gamma)
