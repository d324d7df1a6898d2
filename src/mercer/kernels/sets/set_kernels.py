"""Kernels on sets: functions of the size or the measure of the intersection."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np

from mercer.gram.object_norms import LARGEST_LOG
from mercer.gram.program import Builder
from mercer.objects.hashables import as_collections, counts, distinct, elements
from mercer.objects.parameters import parameter, real, truth
from mercer.objects.rows import squared_norms
from mercer.objects.validation import Objects
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..algebra.over_feature_space import OverFeatureSpace
from ..base import Kernel
from ..definiteness import PD, PSD, Definiteness
from .subsets import chosen_parts, part_names, register

SETS = Objects(
    "sets: Python sets, frozensets, Counters or lists of hashable elements", structured=True
)


def check_measure(weights: Any, name: str) -> None:
    """Reject weights that are no mapping to finite numbers >= 0."""
    if weights is None:
        return
    if not isinstance(weights, Mapping):
        raise TypeError(
            f"{name} must be a mapping from elements to numbers; got {type(weights).__name__}."
        )
    for element, weight in weights.items():
        real(weight, f"the weight of {element!r}", minimum=0)


class SetKernel(Kernel):
    """Base of the kernels on sets: their objects, and a measure of the elements."""

    _objects: ClassVar[Objects] = SETS

    weights: Mapping[Hashable, float] | None = parameter(check_measure, default=None)

    def validate(self, X: Any, against: Any = None) -> Any:
        return as_collections(X, type(self).__name__)

    def _weight(self, element: Hashable) -> float:
        return 1.0 if self.weights is None else float(self.weights.get(element, 1.0))

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        register(map(elements, X), vocabulary)
        if self.weights is None:
            return vocabulary.counts(elements(x) for x in X)
        return vocabulary.counts({v: math.sqrt(self._weight(v)) for v in elements(x)} for x in X)


class SetIntersection(SetKernel):
    r"""The number of common elements of two sets, or their weight.

    .. math:: k(A, B) = \mu(A \cap B) = \sum_{v \in A \cap B} w_v

    Positive semidefinite: the dot product of the indicators of the elements, each scaled by
    :math:`\sqrt{w_v}`. The empty set has the value 0 with every set.

    Parameters
    ----------
    weights : mapping from elements to numbers >= 0, optional
        The weights w; elements that it does not name, and all by default, weigh 1.

    Notes
    -----
    Use it for sets of tags, of bought items or of mutations, where the common elements matter.
    It costs the common elements, and weights let rare elements count more. Avoid it where sets
    differ much in size: use Jaccard, or ``normalize``, which gives the cosine.

    Examples
    --------
    >>> from mercer.kernels import SetIntersection
    >>> SetIntersection()([{"a", "b", "c"}], [{"b", "c", "d"}, set()])
    array([[2., 0.]])
    """

    definiteness = PSD  # a dot product

    def compile(self, builder: Builder) -> None:
        builder.mapped(self, "dot")

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the indicators of the elements that are met; see :meth:`Kernel.map_features`."""
        X = self.validate(X)
        features = self.map_objects(X, vocabulary)
        vocabulary.fix()
        return features

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return [str(element) for element in vocabulary.features] or ["nothing"]


class SetPower(SetKernel):
    r"""A number raised to the number of common elements of two sets.

    .. math:: k(A, B) = b^{\mu(A \cap B)}, \quad \mu(A \cap B) = \sum_{v \in A \cap B} w_v

    With b = 2 and unit weights it is the number of sets that are subsets of both A and B
    (V. Honavar's set kernel). Positive definite for b > 1 and positive weights: over all subsets
    of n elements its matrix is the Kronecker product of n matrices [[1, 1], [1, b^w]], whose
    determinants are positive. The empty set has the value 1 with every set, the empty set being
    the one common subset.

    Parameters
    ----------
    base : float >= 1, default=2.0
        The number b; with b = 1 the kernel is the constant 1.
    weights : mapping from elements to numbers >= 0, optional
        The weights w; elements that it does not name, and all by default, weigh 1.

    Notes
    -----
    Use it for small sets where combinations of elements matter and not single ones: every common
    subset is a feature. Take a base barely above 1, such as 1.1, or ``normalize``: with base 2 each
    further common element doubles the value, and the values of sets of twenty elements are
    dominated by the diagonal. Avoid it for large sets without ``normalize``: near a thousand common
    elements the values exceed the range of float64, which raises OverflowError.

    Examples
    --------
    >>> from mercer.kernels import SetPower
    >>> SetPower()([{"a", "b", "c"}], [{"b", "c", "d"}, set()])
    array([[4., 1.]])
    """

    def __init__(self, base: float = 2.0, weights: Mapping[Hashable, float] | None = None) -> None:
        self.base = base
        self.weights = weights
        self._check_all()

    def _check(self) -> None:
        real(self.base, "base", minimum=1)

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite, unless the base is 1 or a weight is 0."""
        return PD if self.base > 1 and is_positive(self.weights) else PSD

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        features = super().map_objects(X, vocabulary)
        refuse_overflow(squared_norms(features) * math.log(self.base), type(self).__name__)
        return features

    def compile(self, builder: Builder) -> None:
        builder.mapped(self, "dot")
        builder.affine(math.log(self.base), 0.0)
        builder.exp()

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return one feature for every subset; see :meth:`Kernel.map_features`.

        The subset S has the value prod_v sqrt(b^w_v - 1) over its elements v, since
        b^w = 1 + (b^w - 1). Sets of more than 16 elements are refused.
        """
        return chosen_parts(
            [
                [[(v, math.sqrt(math.expm1(self._weight(v) * math.log(self.base))))] for v in x]
                for x in map(elements, self.validate(X))
            ],
            vocabulary,
            type(self).__name__,
        )

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return part_names(vocabulary)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        exponent = SetIntersection(self.weights)._values(X, Z)
        return {"base": exponent * self._values(X, Z) / float(self.base)}

    def _normalized_form(self) -> OverFeatureSpace:
        # log b times the measure of the intersection, less half of those of both sets
        return OverFeatureSpace(SetIntersection(self.weights), 0.5 * math.log(self.base))

    def _by_own_parameters(self, slopes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"base": 0.5 * slopes["gamma"] / float(self.base)}


class Jaccard(SetKernel):
    r"""The share of their union that two sets, or multisets, have in common.

    .. math:: k(A, B) = \frac{\mu(A \cap B)}{\mu(A \cup B)}

    also known as Tanimoto's similarity; 1 for two empty sets, 0 for the empty set and another.
    With ``multisets=True`` it is the sum of the smaller over the sum of the larger counts.

    Positive definite for positive weights. In :math:`1/\mu(A \cup B) = \int_0^\infty
    e^{-t \mu(A \cup B)} dt` the integrand is, with the complements A' and B' in a finite set V of
    elements, :math:`e^{-t\mu(V)} e^{t \mu(A' \cap B')}`, a positive definite kernel (see
    :class:`SetPower`), hence so is the integral, and also its product with the intersection, which
    is positive semidefinite with a positive diagonal (M. Bouchard, A.-L. Jousselme and P.-E. Dore,
    Int. J. Approx. Reasoning 54, 2013).

    Parameters
    ----------
    weights : mapping from elements to numbers >= 0, optional
        The weights of the measure; elements that it does not name, and all by default, weigh 1. A
        set of measure 0 counts as empty.
    multisets : bool, default=False
        Whether an element of a list or Counter counts as often as it occurs.

    Notes
    -----
    Use it as the first kernel on sets: it lies between 0 and 1, sizes are accounted for, and there
    is nothing to tune. Fingerprints of molecules are its classical use (as Tanimoto's similarity).
    It costs the common elements. Avoid it where a small subset of a large set should count as
    similar: their quotient is small.

    Examples
    --------
    >>> from mercer.kernels import Jaccard
    >>> Jaccard()([{"a", "b", "c"}], [{"b", "c", "d"}, set()])
    array([[0.5, 0. ]])
    """

    multisets: bool = parameter(truth, default=False)

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite, unless sets differ only in elements of weight 0."""
        return PD if is_positive(self.weights) else PSD

    def compile(self, builder: Builder) -> None:
        """Push I / (m(A) + m(B) - I), I the measure of the intersection."""
        common = Common(self.weights, self.multisets)
        common.compile(builder)
        builder.dup()
        builder.affine(-1.0, 0.0)
        builder.add_diagonal(common)
        builder.reciprocal()
        builder.mul()


class Common(SetKernel):
    """The measure of the intersection of two sets or multisets; that of two empty ones is 1.

    A set of measure 0 has one feature, which no other set has, and so the measure 1: its ratio of
    intersection to union is 1 with itself and 0 with others, as that of any set. A part of
    :class:`Jaccard`.

    `multisets`: whether the copies of an element are different elements.
    """

    weights: Mapping[Hashable, float] | None = None
    multisets: bool = False

    def compile(self, builder: Builder) -> None:
        """Push the measure of the intersection; see :meth:`Kernel.compile`.

        The sum of the smaller weights adds those of the common elements and nothing else, in the
        order of the columns, which is the same whatever other sets there are; so a set has the
        same bits with its equals as in `diag`.
        """
        builder.mapped(self, "minimum")

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        features = [self._features(x) for x in X]
        register(features, vocabulary)
        return vocabulary.counts(features)

    def diag(self, X: Any) -> np.ndarray:
        """Return the measures of sets."""
        measures = []
        for x in X:
            features = self._features(x)
            measures.append(sum(features[f] for f in distinct([features])))
        return np.array(measures, dtype=np.float64)

    def _features(self, x: Any) -> dict[Hashable, float]:
        weighed = ((v, n, self._weight(v)) for v, n in counts(x).items())
        features: dict[Hashable, float] = {
            (v, j): weight
            for v, number, weight in weighed
            if weight > 0
            for j in range(number if self.multisets else 1)
        }
        return features or {(): 1.0}  # no pair of an element and a number


def is_positive(weights: Mapping[Hashable, float] | None) -> bool:
    """Return whether no element has weight 0."""
    return weights is None or all(weight > 0 for weight in weights.values())


def refuse_overflow(exponents: np.ndarray, owner: str) -> None:
    """Reject objects whose value with themselves, exp(exponent), is too large for a float."""
    if exponents.size and exponents.max() > LARGEST_LOG:
        raise OverflowError(
            f"{owner}: the value of object {int(np.argmax(exponents))} with itself is larger than "
            "a float can hold; use normalize(kernel), a smaller base or smaller weights."
        )
