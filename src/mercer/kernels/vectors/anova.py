"""The ANOVA kernel."""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from math import comb
from typing import Any, Self

import numpy as np

from mercer.gram import coordinate_statistics
from mercer.gram.coordinate_statistics import MAX_ORDER, Coordinates, combined
from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.parameters import integer, show
from mercer.objects.rows import dense
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..algebra.operands import concatenated, nested, outer, product_names, require_kernel
from ..base import Kernel
from ..definiteness import PSD, UNKNOWN, Definiteness
from .fourier_series import FourierSeries
from .histogram import HistogramIntersection
from .laplacian import Laplacian
from .linear import Linear
from .rbf import RBF
from .vector import CoordinateKernel, VectorKernel

_MOST_PRODUCTS = 2**20  # of columns that are listed as features


class ANOVA(VectorKernel):
    r"""The sum over all sets of D columns of the product of a kernel on single columns.

    .. math:: k_D(x, z) = \sum_{i_1 < \cdots < i_D} \prod_{j=1}^D k(x_{i_j}, z_{i_j})

    Functions of a machine are sums of functions of D columns at a time, so D is the order of
    interaction. Computed by the recursion over the columns m

    .. math:: k_D^m = k_D^{m-1} + k(x_m, z_m) \, k_{D-1}^{m-1}, \quad k_0 = 1

    in D operations a column. Positive semidefinite if the kernel on single columns is. Sums over
    several orders are sums of kernels: ``ANOVA(1, k) + ANOVA(2, k)``.

    Parameters
    ----------
    order : int >= 1, default=2
        The order D, at most the number of columns.
    base : Kernel, optional
        The kernel on single columns, by default RBF(gamma=1.0). RBF, Laplacian, Linear, Spline,
        BSpline, Dirichlet, PeriodicGaussian, FourierSeries and HistogramIntersection are
        evaluated natively; any other kernel on vectors is called once per tile and column.

    Notes
    -----
    Use it for many columns of which few act together: order 1 is an additive model, order 2 adds
    all pairs. Give all columns the same scale, take RBF or Spline as base, and add up the orders
    that are wanted. A value costs D operations and a value of the base per column, several times an
    RBF of all columns. Values grow with the number of sets of columns, so use ``normalize`` or let
    C follow. Avoid it where interactions of all orders matter; that is RBF.

    Examples
    --------
    >>> from mercer.kernels import ANOVA, Linear
    >>> ANOVA(order=2, base=Linear())([[1.0, 1.0, 1.0, 1.0]], [[1.0, 2.0, 3.0, 4.0]])
    array([[35.]])
    """

    order: int = 2
    base: Kernel | None = None

    grows_with = ("order",)

    def _check(self) -> None:
        if integer(self.order, "order", minimum=1) > MAX_ORDER:
            raise ValueError(f"order must be at most {MAX_ORDER}; got {show(self.order)}.")
        if self.base is None:
            return
        require_kernel(self.base, "base", "ANOVA")
        if not self.base.requires_vectors:
            raise ValueError(
                f"the base of ANOVA is a kernel on single columns; {self.base!r} is defined on "
                f"{self.base.domain}."
            )

    @property
    def kernel(self) -> Kernel:
        """The kernel on single columns."""
        return RBF(gamma=1.0) if self.base is None else self.base

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite if the base is: sums of products of kernels."""
        return PSD if self.kernel.definiteness.is_psd else UNKNOWN

    @property
    def translation_invariant(self) -> bool:
        """Whether k(x + a, z + a) = k(x, z): if the base is."""
        return self.kernel.translation_invariant

    @property
    def is_bound(self) -> bool:
        """Whether the parameters of the base are numbers."""
        return self.kernel.is_bound

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        base = None if self.base is None else self.base._bound(views, weight, names)
        return self.replace(base=base)

    _is_restricted = True

    def check_domain(self, X: Any) -> None:
        """Reject fewer columns than the order, and rows outside the base's domain; see the base."""
        if X.shape[1] < self.order:
            raise ValueError(
                f"ANOVA of order {show(self.order)} adds up products over {show(self.order)} "
                f"different columns; X has {X.shape[1]}. Use an order of at most {X.shape[1]}."
            )
        self.kernel.check_domain(X)

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of vectors")
        function = function_of(self.kernel)
        if function is None:
            builder.python(self)
        else:
            builder.coordinates(function, "anova", int(self.order))

    def tile(self, A: Any, B: Any) -> np.ndarray:
        columns = (self.kernel._values(A[:, [j]], B[:, [j]]) for j in range(A.shape[1]))
        return combined(columns, "anova", int(self.order))

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return products of features of D columns; see :meth:`Kernel.map_features`.

        With the base Linear() they are the products of D different columns, in the order of the
        columns. Other bases need a feature map. More than a million raise ValueError.
        """
        self.require_bound("as explicit features")
        X = self.validate(X)
        self.check_domain(X)
        X = dense(X)
        sets = comb(X.shape[1], int(self.order))
        if sets > _MOST_PRODUCTS:
            raise ValueError(
                f"ANOVA of order {show(self.order)} multiplies {sets:,} sets of columns, more than "
                f"the {_MOST_PRODUCTS:,} that are listed; use its values k(X, Z)."
            )
        columns = [
            self.kernel.map_features(X[:, [j]], vocabulary.part(str(j))) for j in range(X.shape[1])
        ]
        chosen = combinations(columns, int(self.order))
        return concatenated([reduce(outer, factors) for factors in chosen])

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        if columns is None:
            return None
        own = [
            self.kernel.feature_names([name], vocabulary.part(str(j)))
            for j, name in enumerate(columns)
        ]
        products = [product_names(list(names)) for names in combinations(own, int(self.order))]
        return None if None in products else [name for names in products for name in names or ()]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        """Return the derivatives by the recursion, differentiated."""
        order, shape = int(self.order), (X.shape[0], Z.shape[0])
        if self.base is None:
            return {}
        sums = [np.ones(shape)] + [np.zeros(shape)] * order
        slopes: dict[str, list[np.ndarray]] = {}
        for j in range(X.shape[1]):
            x, z = X[:, [j]], Z[:, [j]]
            factor = self.base._values(x, z)
            for name, own in self.base._gradient(x, z).items():
                slope = slopes.setdefault(name, [np.zeros_like(own)] * (order + 1))
                for k in range(order, 0, -1):
                    slope[k] = slope[k] + own * sums[k - 1] + factor * slope[k - 1]
            for k in range(order, 0, -1):
                sums[k] = sums[k] + factor * sums[k - 1]
        return nested("base", {name: slope[order] for name, slope in slopes.items()})


def function_of(kernel: Kernel) -> Coordinates | None:
    """Return a kernel on single columns as a native function, None where there is none."""
    if isinstance(kernel, CoordinateKernel):
        return kernel.coordinate_function()
    if type(kernel) is RBF:
        return Coordinates("gaussian", kernel._width())
    if type(kernel) is Laplacian:
        return Coordinates("laplacian", kernel._width())
    if type(kernel) is FourierSeries:
        return coordinate_statistics.cosines(kernel.coefficients, float(kernel.period))
    if type(kernel) is HistogramIntersection:
        return Coordinates("minimum")
    return Coordinates("product") if type(kernel) is Linear else None
