r"""Calibrated novelty scores: conformal p-values.

Of the objects a part trains a machine with scores (large for ordinary objects), the rest calibrates
them: with calibration scores :math:`a_1, \ldots, a_m`,

.. math:: p(x) = \frac{1 + \#\{j : a_j \le a(x)\}}{1 + m} .

Where x and the calibration objects are exchangeable, :math:`P(p(x) \le \alpha) \le \alpha` for
every alpha, number of objects and machine (V. Vovk, A. Gammerman, G. Shafer, "Algorithmic learning
in a random world", 2005; R. Laxhammar, G. Falkman, 2010): calling x novel at p <= alpha raises at
most the fraction alpha of false alarms.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import declared, open_fraction, parameter, seed
from mercer.objects.validation import count, refuse_masked, take

from ..conventions import OutlierMixin
from ..estimator import Estimator
from ..support_vector.one_class import OneClassSVM


@declared
class ConformalNovelty(OutlierMixin, Estimator):
    """Novelty detection with a guaranteed rate of false alarms.

    Attributes
    ----------
    estimator_ : estimator
        The machine, fitted to its part.
    calibration_scores_ : array
        Scores of the calibration objects, rising.
    offset_ : float
        alpha: ``decision_function = score_samples - offset_``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ConformalNovelty
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = ConformalNovelty(alpha=0.05, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    """

    estimator: Any = parameter(default=None, kind="estimator or None")
    """A machine with `score_samples`, such as :class:`SVDD`, :class:`OneClassSVM` or
    :class:`ParzenDensity`, on any objects; None for ``OneClassSVM(nu=0.1)``."""
    _: KW_ONLY
    alpha: float = parameter(open_fraction, default=0.05)
    """Objects with p-values up to alpha are novel: the largest rate of false alarms. The smallest
    p-value of m calibration objects is 1 / (m + 1), so `fit` warns where that exceeds alpha."""
    calibration: float = parameter(open_fraction, default=0.5)
    """The share of the objects that calibrates."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the split."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        machine = OneClassSVM(nu=0.1) if self.estimator is None else self.estimator
        tags.input_tags = get_tags(machine).input_tags
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on a part of the objects and calibrate on the rest.

        Parameters
        ----------
        X : objects
            Ordinary objects.
        y : ignored
            Present for consistency.

        Returns
        -------
        self : ConformalNovelty
            The fitted detector.
        """
        self._check_parameters()
        alpha = float(self.alpha)
        machine = OneClassSVM(nu=0.1) if self.estimator is None else self.estimator
        if not hasattr(machine, "score_samples"):
            raise TypeError(
                f"the estimator {type(machine).__name__} has no score_samples; use SVDD, "
                "OneClassSVM, ParzenDensity or another machine with scores."
            )
        machine, X = clone(machine), _collection(X)
        if getattr(X, "ndim", 2) == 1 and X.dtype.kind in "biuf":
            machine.fit(X)  # which refuses numbers that are no rows, in its own words
        n = count(X)
        m = round(float(self.calibration) * n)
        if not 1 <= m < n:
            raise ValueError(
                f"n_samples={n} is too few (1 sample at least for training and 1 for calibration, "
                f"at calibration={self.calibration})."
            )
        if alpha * (m + 1) < 1.0:
            needed = math.ceil(1.0 / alpha) - 1
            warn_caller(
                f"With {m} calibration objects the smallest p-value is 1 / {m + 1}, above "
                f"alpha={alpha:g}: no object will be called novel. Use at least {needed:,} "
                f"calibration objects ({math.ceil(needed / self.calibration):,} in all at "
                f"calibration={self.calibration:g}), or a larger alpha.",
                UserWarning,
            )
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31 - 1)
        order = np.random.default_rng(seed).permutation(n)
        self.estimator_ = machine.fit(_some(X, np.sort(order[m:])))
        self.calibration_scores_ = np.sort(machine.score_samples(_some(X, np.sort(order[:m]))))
        self.offset_ = alpha
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))
        return self

    def score_samples(self, X: Any) -> Array:
        """Return the p-values of objects; small ones are novel.

        Parameters
        ----------
        X : objects
            Objects.

        Returns
        -------
        array of shape (n_X,)
            p-values in [1 / (m + 1), 1] of m calibration objects.
        """
        check_is_fitted(self, "estimator_")
        scores = self.estimator_.score_samples(X)
        m = len(self.calibration_scores_)
        below = np.searchsorted(self.calibration_scores_, scores, side="right")
        return np.asarray((1.0 + below) / (1.0 + m))

    def decision_function(self, X: Any) -> Array:
        """Return p-values minus alpha.

        Parameters
        ----------
        X : objects
            Objects.

        Returns
        -------
        array of shape (n_X,)
            Signed scores, not positive for novel objects.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return -1 for novel objects, whose p-value is at most alpha, and +1 for others.

        Parameters
        ----------
        X : objects
            Objects.

        Returns
        -------
        array of shape (n_X,)
            Labels.
        """
        return np.where(self.decision_function(X) > 0.0, 1, -1).astype(np.intp)


def _collection(X: Any) -> Any:
    """Return objects that can be divided: rows as arrays, others as they are."""
    if sp.issparse(X):
        return X.tocsr()
    if hasattr(X, "iloc") or isinstance(X, np.ndarray):
        refuse_masked(X, "X")  # a mask of the rows for calibration would be lost on the way
        return X
    if isinstance(X, list | tuple) and not (X and isinstance(X[0], list | tuple)):
        return list(X)
    return np.asarray(X)


def _some(X: Any, rows: NDArray[np.intp]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[i] for i in rows] if isinstance(X, list) else take(X, rows)
