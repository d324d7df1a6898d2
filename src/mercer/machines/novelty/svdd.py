"""Support vector data description: the smallest ball that holds most of the data."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.geometry.ball import certificate_of, penalised_radius, solve_ball
from mercer.geometry.functions import cross_gram_product
from mercer.kernels.resolve import KernelLike
from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import declared, fraction, optional, parameter, positive, threads
from mercer.objects.validation import take
from mercer.solvers.centring import centring, translated

from ..conventions import OutlierMixin
from ..kernel_estimator import NamedKernelEstimator
from ..progress import running


@declared
class SVDD(OutlierMixin, NamedKernelEstimator):
    r"""Support vector data description: a ball in feature space, with outliers.

    Minimise over the centre c and the radius R

    .. math:: R^2 + \frac{1}{\nu W} \sum_i s_i \max(0, |\phi(x_i) - c|^2 - R^2)

    with the sample weights s and their sum W. At most the fraction nu of the weight lies outside.
    For a kernel whose values k(x, x) are constant the ball cuts the sphere of the data where the
    hyperplane of :class:`OneClassSVM` does: both accept the same objects. D. Tax, R. Duin, "Support
    vector data description", Machine Learning 54, 2004.

    Attributes
    ----------
    radius_ : float
        The radius R.
    support_ : array of int
        Positions of the objects with a coefficient: on the sphere or outside.
    support_vectors_ : objects
        These objects; for a precomputed kernel their positions.
    dual_coef_ : array of shape (n_support,)
        The coefficients of the centre, positive with sum 1.
    offset_ : float
        -R^2: ``decision_function = score_samples - offset_``.
    certificate_ : Certificate
        Primal and dual value of the problem, and their gap.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> from mercer import SVDD
    >>> model = SVDD(nu=0.5, kernel="linear").fit([[-1.0], [0.0], [0.5], [1.0], [9.0]])
    >>> model.predict([[0.5], [9.0]]).tolist(), model.certificate_.status
    ([1, -1], 'optimal')
    """

    nu: float = parameter(fraction, default=0.5)
    """The largest fraction of the weight outside, in (0, 1]. Below the smallest share of an object
    the ball holds all of them."""
    _: KW_ONLY
    kernel: KernelLike = parameter(default="rbf")
    """Kernels that the machine accepts: positive semidefinite, or conditionally so."""
    tol: float = parameter(positive, default=1e-6)
    """Largest duality gap, relative to the objective."""
    n_jobs: int | None = parameter(threads, default=None)
    """Threads."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds for the solver, which then returns the best ball so far."""

    _sparse_means_sparse = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the ball.

        Parameters
        ----------
        X : objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; weight k counts as k copies, weight 0 as none.

        Returns
        -------
        self : SVDD
            The fitted machine. After Ctrl-C it holds the best ball so far, with the status
            "interrupted", and KeyboardInterrupt is raised.
        """
        self._check_parameters()
        with self._transaction():
            data, kernel = self._enter(X, None, sample_weight)
            weight = np.ones(data.n) if data.weight is None else data.weight
            price = weight / (float(self.nu) * weight.sum())
            with running(self) as run:
                found = solve_ball(kernel, data.X, 0.0, self.tol, self.n_jobs, price, run)
            support = np.flatnonzero(found.coef)
            kept = support if data.kept is None else data.kept[support]
            self.kernel_ = kernel
            self.support_ = kept
            self.support_vectors_ = (
                kept.astype(np.int64) if kernel.pairwise else take(data.X, support)
            )
            self.dual_coef_ = found.coef[support]
            moved = centring(kernel, data.X, True)
            # Near the rows of a linear kernel that are far from the origin.
            self._point: NDArray[Any] | None = None if moved is None else moved.point
            self._centre_norm2 = found.centre
            if moved is not None:
                near = take(moved.rows, support)
                values = cross_gram_product(kernel, near, near, self.dual_coef_)
                self._centre_norm2 = float(self.dual_coef_ @ values)
            squares = self._squares(data.X, support if kernel.pairwise else None)
            radius2 = max(penalised_radius(squares, price)[1], 0.0)
            self.radius_, self.offset_ = math.sqrt(radius2), -radius2
            self.certificate_ = certificate_of(found, self.tol)
        run.raise_interrupt()
        if self.certificate_.status == "time_limit":
            warn_caller(
                f"SVDD stopped at time_limit={self.time_limit} with relative gap "
                f"{self.certificate_.relative_gap:.2g} (tol={self.tol}).",
                ConvergenceWarning,
            )
        return self

    def score_samples(self, X: Any) -> Array:
        """Return -|phi(x) - c|^2, minus the squared distances to the centre; large near it."""
        return self.decision_function(X) + self.offset_

    def decision_function(self, X: Any) -> Array:
        """Return R^2 - |phi(x) - c|^2, which is negative for outliers; what is only rounding is 0.

        A precomputed matrix of new objects does not hold k(x, x), so it is refused.
        """
        X = self._objects(X)
        if self.kernel_.pairwise:
            raise ValueError(
                "a precomputed matrix of new objects does not hold k(x, x), so there is no "
                "distance to the centre; use a kernel on objects."
            )
        squares = self._squares(X)
        values = -squares - self.offset_
        size = np.abs(squares) + abs(self.offset_) + abs(self._centre_norm2)
        values[np.abs(values) <= 1e-13 * size] = 0.0
        return values

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return +1 inside the ball and -1 outside."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1).astype(np.intp)

    def _squares(self, X: Any, columns: NDArray[np.intp] | None = None) -> Array:
        """Return squared distances to the centre; `columns` of a square matrix of training data."""
        if columns is not None:
            values = X[:, columns] @ self.dual_coef_
            diagonal = np.diagonal(X)
        else:
            X, Z = (translated(self._point, A) for A in (X, self.support_vectors_))
            values = cross_gram_product(self.kernel_, X, Z, self.dual_coef_)
            diagonal = self.kernel_.diag(X)
        return np.asarray(diagonal - 2.0 * values + self._centre_norm2)
