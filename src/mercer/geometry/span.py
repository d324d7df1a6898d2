"""The span of objects in feature space: orthonormal bases, projections, independence.

Gram-Schmidt on phi(x_1), phi(x_2), ... is the Cholesky factorisation K = RR' of their kernel
matrix: the orthonormal vectors are e_j = sum_i (R^-T)_ij phi(x_i), the coordinates of phi(z) are
R^-1 k(., z), and the nearest point to phi(z) in the span is sum_j <phi(z), e_j> e_j, with a
remainder orthogonal to the span (Bessel, Parseval).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.objects.arrays import Array

from .cholesky import pivoted_cholesky
from .functions import RKHSFunction
from .squared_lengths import nonnegative

_TOL = 1e-10
_SOLVED = 1e-5  # relative error of squares of coordinates, of which a pivot may be as small as _TOL


class Span:
    """The linear span of the images of objects in feature space.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, bound to `X` if it has to be.
    X : objects
        The objects.
    tol : float >= 0, default=1e-10
        An object whose squared distance to the span of the earlier ones is at most ``tol`` times
        its squared length is dependent on them and adds nothing.

    Examples
    --------
    The third vector lies in the plane of the first two, and the plane leaves out what sticks out
    of it:

    >>> from mercer.geometry import Span
    >>> from mercer.kernels import Linear
    >>> plane = Span(Linear(), [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [5.0, 7.0, 0.0]])
    >>> plane.rank, plane.independent.tolist()
    (2, [0, 1])
    >>> plane.coordinates([[3.0, 4.0, 6.0]]), plane.distance([[3.0, 4.0, 6.0]])
    (array([[3., 4.]]), array([6.]))
    """

    def __init__(self, kernel: Kernel, X: Any, tol: float = _TOL) -> None:
        if kernel.pairwise:
            raise ValueError(
                "a precomputed matrix holds no objects to span a space; factorise it with "
                "pivoted_cholesky instead."
            )
        self._factor = pivoted_cholesky(kernel, X, tol=tol, pivoting="given")
        if self.rank == 0:
            raise ValueError("all objects have length 0 in feature space, so they span nothing.")

    @property
    def kernel(self) -> Kernel:
        """The kernel, bound."""
        return self._factor.kernel

    @property
    def rank(self) -> int:
        """Dimension of the span."""
        return self._factor.rank

    @property
    def independent(self) -> NDArray[np.intp]:
        """Positions of the objects that are independent of the ones before them."""
        return self._factor.pivots

    @property
    def basis(self) -> list[RKHSFunction]:
        """The orthonormal functions e_1, e_2, ..., each in the span of the first objects."""
        return [self._combination(row) for row in np.eye(self.rank)]

    def coordinates(self, Z: Any) -> Array:
        """Return the inner products with the orthonormal basis: <phi(z), e_j>, or <f, e_j>.

        `Z`: objects z, which gives shape (n_Z, rank), or an RKHSFunction f, which gives (rank,).
        """
        if isinstance(Z, RKHSFunction):
            self._require_same_space(Z)
            return Z.coef @ self._factor.transform(Z.centres)
        return self._factor.transform(Z)

    def project(self, f: RKHSFunction) -> RKHSFunction:
        """Return sum_j <f, e_j> e_j, the function of the span that is nearest to f.

        It takes the values of f at all objects that span the space. `f` is a function over the same
        kernel.
        """
        return self._combination(self.coordinates(f))

    def distance(self, Z: Any) -> Array | float:
        """Return the distance to the span: the norm of the residual of the projection.

        `Z`: objects, or an RKHSFunction, which has one distance. Those below about 1e-8 of the
        length are rounding.
        """
        inside = self.coordinates(Z)
        if isinstance(Z, RKHSFunction):
            own, part = Z.norm() ** 2, float(inside @ inside)
            return math.sqrt(self._nonnegative(own - part, own + part, "of the function"))
        squares, parts = self.kernel.diag(Z), np.einsum("ij,ij->i", inside, inside)
        return np.sqrt(self._nonnegative(squares - parts, np.abs(squares) + parts, "of z_{0}"))

    def _nonnegative(self, squares: Any, size: Any, of: str) -> Any:
        what = f"the squared distance {of} to the span"
        return nonnegative(squares, size, self.kernel, what, _SOLVED)

    def _combination(self, coordinates: Array) -> RKHSFunction:
        """Return sum_j coordinates_j e_j as an expansion over the independent objects."""
        coef = scipy.linalg.solve_triangular(
            self._factor.triangle, coordinates, lower=True, trans="T"
        )
        return RKHSFunction(self.kernel, self._factor.landmarks, coef)

    def _require_same_space(self, f: RKHSFunction) -> None:
        if f.kernel != self.kernel:
            raise ValueError(
                f"the function belongs to the space of {f.kernel!r}, the span to that of "
                f"{self.kernel!r}; only elements of one space can be projected."
            )

    def __repr__(self) -> str:
        return f"<Span of {len(self._factor.residual)} objects, rank {self.rank}>"


@kernel_first
def independent_subset(kernel: Kernel, X: Any, tol: float = _TOL) -> NDArray[np.intp]:
    """Return objects that are linearly independent in feature space and span all the others.

    The choice is greedy: the object farthest from the span of the ones chosen so far comes next,
    until no squared distance exceeds ``tol`` times the largest k(x, x).

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, bound to `X` if it has to be.
    X : objects
        The objects; for a precomputed kernel its matrix.
    tol : float >= 0, default=1e-10
        Tolerance below which a value counts as 0.

    Returns
    -------
    ndarray of int
        Positions, in the order of choice.

    Examples
    --------
    >>> from mercer.geometry import independent_subset
    >>> from mercer.kernels import Linear
    >>> independent_subset(Linear(), [[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]]).tolist()
    [1, 2]
    """
    kernel, X = kernel.bound_to(X)
    found = pivoted_cholesky(kernel, X, tol=0.0)
    # A pivot's residual, when it is chosen, is the square of its diagonal entry; they fall.
    heights = np.diagonal(found.triangle) ** 2
    return found.pivots[heights > tol * float(kernel.diag(X).max())]


@kernel_first
def numerical_rank(kernel: Kernel, X: Any, tol: float = _TOL) -> int:
    """Return the dimension of the span of objects in feature space, up to a tolerance.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, bound to `X` if it has to be.
    X : objects
        The objects; for a precomputed kernel its matrix.
    tol : float >= 0, default=1e-10
        Tolerance for 0, relative to the largest k(x, x); see :func:`independent_subset`.

    Returns
    -------
    int
        The rank of the kernel matrix.

    Examples
    --------
    >>> from mercer.geometry import numerical_rank
    >>> from mercer.kernels import Linear
    >>> numerical_rank(Linear(), [[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]])
    2
    """
    return len(independent_subset(kernel, X, tol))
