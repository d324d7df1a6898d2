"""The covariance of random functions as a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.validation import Objects, count

from .base import Kernel
from .definiteness import PSD
from .function import checked, require_callable
from .mapping import FeaturesOf


class Covariance(Kernel):
    r"""The second moment of sampled functions.

    .. math:: k(x, z) = \frac{1}{m} \sum_{j=1}^{m} f_j(x) \, f_j(z)

    It estimates :math:`\mathrm{E}[f(x) f(z)]` over random functions f, with an error of the order
    of :math:`1 / \sqrt{m}`, and is positive semidefinite for any functions.

    Parameters
    ----------
    functions : sequence of callable, or callable
        Functions of a collection of n objects that return n numbers each; or one function that
        returns an array of shape (n, m).
    centered : bool, default=False
        Whether to subtract the mean of the functions first: the covariance proper, instead of
        the second moment.

    Notes
    -----
    Use it when functions like the target can be sampled, from simulations or from past seasons:
    directions in which they vary together are cheap. It costs m numbers per object, and its rank is
    at most m, so take several times as many functions as there are features to tell apart. Avoid it
    with few functions and no bias: what they do not span cannot be learned; add an RBF.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Covariance
    >>> W = np.random.default_rng(0).normal(size=(2, 1000))
    >>> k = Covariance(lambda X: np.asarray(X) @ W)  # f(x) = w . x, with w ~ N(0, 1)
    >>> k([[1.0, 0.0], [0.0, 1.0]]).round(1)
    array([[1. , 0.1],
           [0.1, 1. ]])
    """

    functions: Sequence[Callable[[Any], Any]] | Callable[[Any], Any]
    centered: bool = False

    _objects: ClassVar[Objects] = Objects("any objects its functions accept", accepts_sparse=True)
    definiteness = PSD  # a dot product

    def _check(self) -> None:
        if callable(self.functions):
            return
        if not isinstance(self.functions, Sequence) or len(self.functions) == 0:
            raise TypeError(
                "functions must be a function or a sequence of at least one function; got "
                f"{self.functions!r}."
            )
        for function in self.functions:
            require_callable(function, "every entry of functions")

    def features(self, X: Any) -> np.ndarray:
        """Return the values of the functions over sqrt(m) at validated objects."""
        if callable(self.functions):
            values = checked(self.functions(X), (count(X), None), self.functions)
        else:
            values = np.column_stack([checked(f(X), (count(X),), f) for f in self.functions])
        if self.centered:
            values = values - values.mean(axis=1, keepdims=True)
        return values / sqrt(values.shape[1])

    def feature_map(self, X: Any) -> np.ndarray:
        """Return the values of the functions over sqrt(m); see :meth:`Kernel.feature_map`."""
        return self.features(self.validate(X))

    def compile(self, builder: Builder) -> None:
        with builder.through(FeaturesOf(self)):
            builder.leaf("dot")
