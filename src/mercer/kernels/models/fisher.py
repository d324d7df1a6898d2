"""The Fisher kernel: objects compared by their score under a generative model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh

from mercer.gram import evaluate
from mercer.gram.mapped_objects import Views
from mercer.gram.program import Composed, Mapping
from mercer.numerics.closest_pair import class_numbers, closest_opposite_distance
from mercer.objects.validation import VECTORS, count

from ..base import Kernel
from ..brief import Brief
from ..mapping import FeaturesOf
from ..vectors import RBF, Linear
from .generative import GenerativeKernel

METRICS = ("identity", "diagonal", "information")


class Fisher(GenerativeKernel):
    r"""The dot product of Fisher scores, or another kernel of them.

    .. math:: k(x, z) = U_x' \, I^{-1} \, U_z, \quad U_x = \nabla_\theta \log P(x | \theta)

    The score is the direction in which the parameters of the model should move to make the object
    more likely; objects with similar scores are similar. I is the identity or the Fisher
    information E[U U'] (T. Jaakkola and D. Haussler, NIPS 11, 1999), inverted on its range. With
    ``kernel=RBF(...)`` it is the Gaussian over the scores,

    .. math:: k(x, z) = \exp(-\gamma \, (U_x - U_z)' I^{-1} (U_x - U_z)).

    Positive semidefinite: a positive semidefinite kernel of explicit features.

    Parameters
    ----------
    model : object with a method ``fisher_scores(X)``
        The generative model, such as :class:`HiddenMarkov`. If it is not fitted, `bind` fits it to
        the training objects. A model of one class only, as for families of proteins, is fitted
        beforehand.
    metric : {"identity", "diagonal", "information"} or array, default="identity"
        The matrix I: the identity, the mean over the training objects of U U' (estimated by
        `bind`, weights counted), or its diagonal. An array is the matrix, or the diagonal.
    kernel : Kernel, optional
        A kernel on vectors, which is evaluated on :math:`I^{-1/2} U`; the dot product by default.

    Notes
    -----
    Use it where a generative model of the objects exists and classes differ in how the model would
    have to change: protein families with a hidden Markov model are the classical case. It costs one
    pass of the model per object, then dot products. Take metric="diagonal" where parameters differ
    in scale, and ``normalize`` where objects differ in length, as the scores of long sequences are
    long. Avoid it with a model that fits badly, and with many parameters and few objects.

    Examples
    --------
    >>> from mercer.kernels import Fisher, HiddenMarkov
    >>> model = HiddenMarkov.from_probabilities(
    ...     [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab"
    ... )
    >>> Fisher(model)(["aaaa", "bbbb", ""]).round(2)
    array([[24.5, -7.1,  0. ],
           [-7.1, 24.5,  0. ],
           [ 0. ,  0. ,  0. ]])
    """

    _asked_of_model: ClassVar[str] = "fisher_scores"
    _fixed: ClassVar[tuple[str, ...]] = ("metric",)

    def __init__(self, model: Any, metric: Any = "identity", kernel: Kernel | None = None) -> None:
        self.model = model
        self.metric = metric
        self.kernel = kernel
        self._check_all()

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.metric, str):
            self._inverse_root()
        elif self.metric not in METRICS:
            raise ValueError(
                f"metric must be one of {', '.join(METRICS)}, or an array; got {self.metric!r}."
            )

    @classmethod
    def gaussian(cls, model: Any, X: Any, y: Any, metric: Any = "identity") -> Self:
        r"""Return the Gaussian over the scores whose width the labels choose.

        :math:`\sigma` is the distance between the closest two objects of different label, and
        :math:`\gamma = 1 / (2 \sigma^2)`.

        Parameters
        ----------
        model : object with a method ``fisher_scores(X)``
            The generative model; fitted to all of `X` if it is not fitted.
        X : objects
            Labelled objects.
        y : array of shape (n_X,)
            Their labels, at least two different ones.
        metric : {"identity", "diagonal", "information"} or array, default="identity"
            The matrix I.

        Returns
        -------
        Fisher
            A bound kernel.
        """
        scores = cls(model, metric).bind(X)
        features = scores.features(scores.validate(X))
        sigma = closest_opposite_distance(features, class_numbers(y, len(features)))
        return scores.replace(kernel=RBF.from_sigma(sigma))

    @property
    def is_bound(self) -> bool:
        """Whether model, metric and kernel depend on no data."""
        known = not isinstance(self.metric, str) or self.metric == "identity"
        return known and super().is_bound

    def __repr__(self) -> str:
        if isinstance(self.metric, str):
            return super().__repr__()
        shape = "x".join(map(str, np.shape(self.metric)))
        return super(Fisher, self.replace(metric=Brief(f"<{shape} numbers>"))).__repr__()

    def _ready(self, views: Views, weight: np.ndarray | None) -> Self:
        ready = super()._ready(views, weight)
        if not isinstance(self.metric, str) or self.metric == "identity":
            return ready

        scores = views.images(ready._score_map)
        share = np.full(len(scores), 1.0 / len(scores)) if weight is None else weight / weight.sum()
        if self.metric == "diagonal":
            return ready.replace(metric=share @ scores**2)
        return ready.replace(metric=scores.T @ (share[:, None] * scores))

    def features(self, X: Any) -> np.ndarray:
        """Return the scores in the metric, one row per object; see `FeatureKernel.features`."""
        return self._in_metric(self._scores(X))

    @property
    def _map(self) -> Mapping:
        if isinstance(self.metric, str):
            return self._score_map

        return Composed(self._score_map, _InMetric(self.replace(kernel=None)))

    @property
    def _score_map(self) -> FeaturesOf:
        """The scores as a map, which does not depend on the metric."""
        return FeaturesOf(self.replace(metric="identity", kernel=None))

    def _in_metric(self, scores: np.ndarray) -> np.ndarray:
        """Return scores as vectors whose dot product is that in the metric."""
        if isinstance(self.metric, str):
            return scores
        root = self._inverse_root()
        if len(root) != scores.shape[1]:
            raise ValueError(
                f"metric is given for {len(root)} parameters, but the model has {scores.shape[1]}."
            )
        if root.ndim == 1:
            return scores * root

        # Not scores @ root: a row must not depend, in its last bits, on the number of rows.
        return evaluate(Linear(), scores, np.ascontiguousarray(root.T))

    def _scores(self, X: Any) -> np.ndarray:
        scores = np.asarray(self.model.fisher_scores(X), dtype=np.float64)
        if scores.ndim != 2 or len(scores) != count(X) or not np.isfinite(scores).all():
            raise ValueError(
                f"fisher_scores of {self.model!r} must return a finite array with one row for each "
                f"of {count(X)} objects; got shape {scores.shape}."
            )
        return scores

    def _inverse_root(self) -> np.ndarray:
        """Return R with R R' the inverse of the metric on its range, computed once."""
        known = self.__dict__.get("_root")
        if known is None or known[0] is not self.metric:
            known = self.__dict__["_root"] = (self.metric, _inverse_root(self.metric))
        return known[1]


@dataclass(frozen=True)
class _InMetric:
    """The metric as a map of scores."""

    kernel: Fisher
    takes = VECTORS

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.kernel._in_metric(X)


def _inverse_root(metric: Any) -> np.ndarray:
    matrix = np.asarray(metric)
    if matrix.dtype.kind not in "iuf" or matrix.ndim not in (1, 2) or not np.isfinite(matrix).all():
        raise ValueError("metric must be a finite matrix, or the numbers of its diagonal.")
    if matrix.ndim == 1:
        values, vectors = matrix.astype(np.float64), None
    elif matrix.shape[0] == matrix.shape[1] and np.allclose(matrix, matrix.T):
        values, vectors = eigh(matrix.astype(np.float64))
    else:
        raise ValueError(f"metric must be a symmetric matrix; got shape {matrix.shape}.")
    rounding = len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    if values.min(initial=0.0) < -rounding:
        raise ValueError(
            f"metric must be positive semidefinite; it has the eigenvalue {values.min():.6g}."
        )
    inside = values > rounding
    root = np.divide(1.0, np.sqrt(np.maximum(values, 0.0)), out=np.zeros_like(values), where=inside)
    return root if vectors is None else vectors[:, inside] * root[inside]
