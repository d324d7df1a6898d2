r"""Canonical correlation analysis in feature space.

Problem: for paired objects with centred kernel matrices K and L find directions
:math:`u = \sum_i a_i \phi(x_i)`, :math:`v = \sum_i b_i \psi(y_i)` with the largest covariance
:math:`a' K L b / n` subject to :math:`a' K^2 a / n + \kappa a' K a = 1` and the same for b: the
variance of a projection plus kappa times its squared length. Without kappa every correlation would
be 1 (F. Bach, M. Jordan, "Kernel independent component analysis", JMLR 3, 2002; D. Hardoon,
S. Szedmak, J. Shawe-Taylor, Neural Computation 16, 2004).

Method: with :math:`K = U \Lambda U'` the substitution :math:`a = U (\Lambda (\Lambda + n \kappa) /
n)^{-1/2} p` turns the problem into the singular value decomposition of :math:`R_x' R_y`,
:math:`R_x = U (\Lambda / (\Lambda + n \kappa))^{1/2}`.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, Self, overload

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.gram.available_memory import available_bytes
from mercer.gram.mapped_objects import Views
from mercer.kernels import Kernel, resolve
from mercer.kernels.resolve import KernelLike
from mercer.machines.conventions import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from mercer.machines.input_validation import check_several_targets
from mercer.machines.kernel_estimator import NamedKernelEstimator, TrainingData
from mercer.machines.progress import running
from mercer.objects.arrays import Array
from mercer.objects.parameters import declared, integer_from, parameter, positive, threads
from mercer.objects.validation import count, stored_alike, take
from mercer.solvers.centring import centring, translated
from mercer.solvers.certificate import CONVEXITY, GAP_LIMIT
from mercer.solvers.prove import bounded, local

from .indefinite import checked_convexity
from .projected_gram import ProjectedGram

_BYTES = 48  # of a pair of samples: two matrices, their eigenvectors, and work space
_SMALLEST_EIGENVALUE = 1e-12  # relative to the largest eigenvalue: smaller ones are rounding


@declared
class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NamedKernelEstimator):
    """Canonical correlation analysis of two kinds of objects, in feature space.

    Finds pairs of directions along which paired objects are most correlated, regularised by the
    lengths of the directions. The solution is direct: both kernel matrices and their eigenvectors
    are held in double precision, 48 n^2 bytes in all (1.2 GB for 5,000 pairs), and a fit for which
    there is no such memory raises MemoryError at once. There is no `time_limit`: a decomposition
    that was cut short has no approximate result. The time grows with the cube of the pairs.

    Attributes
    ----------
    correlations_ : array of shape (n_components_,)
        The regularised correlations, falling, between 0 and 1.
    x_coef_, y_coef_ : array of shape (n_samples, n_components_)
        Coefficients of the directions.
    n_components_ : int
        Number of pairs.
    certificate_ : Certificate
        Primal value: minus the sum of the correlations; dual value: a lower bound on it for all
        directions, from the residual of the whole singular value decomposition; NaN where a kernel
        matrix has a negative eigenvalue.
    kernel_, kernel_y_ : Kernel
        The kernels with all parameters resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelCCA
    >>> t = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> model = KernelCCA(1, reg=0.01).fit(t, t**2)  # uncorrelated, but dependent
    >>> bool(model.correlations_[0] > 0.9)
    True
    """

    n_components: int = parameter(integer_from(1), default=2)
    """Number of pairs of directions; fewer where the kernel matrices have a lower rank."""
    _: KW_ONLY
    kernel: KernelLike = parameter(default="rbf")
    """The kernel on the objects of X; the parameters of named kernels are those of both."""
    kernel_y: Any = parameter(default="rbf", kind="str, Kernel or callable")
    """The kernel on the objects of Y."""
    reg: float = parameter(positive, default=0.1)
    """The constant kappa, for kernels with k(x, x) = 1. Values are multiplied by the mean variance
    in feature space, so that it does not depend on the scale of a kernel."""
    n_jobs: int | None = parameter(threads, default=None)
    """Threads."""

    _sparse_means_sparse = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : objects
            Objects of the first kind; for ``kernel="precomputed"`` their square kernel matrix.
        y : objects
            The objects paired with them; a one-dimensional array of numbers is one column.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the pairs; weight k counts as k copies, weight 0 as none.

        Returns
        -------
        self : KernelCCA
            The fitted transformer.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            wanted, reg = int(self.n_components), float(self.reg)
            data, kernel = self._enter(X, None, sample_weight)
            kernel_y = resolve(self.kernel_y, self.gamma, self.degree, self.coef0)
            kernel_y, other = self._paired(y, kernel_y, data)
            _refuse_without_memory(data.n)
            moved, moved_y = centring(kernel, data.X, True), centring(kernel_y, other, True)
            gram = self._gram(data, kernel)
            if moved is not None:
                gram = Gram(kernel, moved.rows, "float64")
            first = _View(gram, data.weight, reg, self.n_jobs)
            gram = Gram(kernel_y, other if moved_y is None else moved_y.rows, "float64")
            second = _View(gram, data.weight, reg, self.n_jobs)
            M = first.root.T @ second.root
            P, values, Q = scipy.linalg.svd(M, full_matrices=False)
            left = M - (P * values) @ Q
            k = min(wanted, int(np.count_nonzero(values > 1e-12)))
            if not k:
                raise ValueError(
                    "one of the two sides is constant in feature space (at least 2 different "
                    f"objects are needed; n_samples={data.n}), so nothing correlates with it."
                )
            # The largest absolute projection is positive; sums of projections are rounding.
            scores = first.root @ P[:, :k] / np.sqrt(first.weight)[:, None]
            largest = scores[np.abs(scores).argmax(axis=0), np.arange(k)]
            signs = np.where(largest < 0.0, -1.0, 1.0)
            P, Q = P[:, :k] * signs, Q[:k].T * signs
            self.correlations_: Array = values[:k]
            self.n_components_ = k
            self.x_coef_, self._x_offsets = first.directions(P)
            self.y_coef_, self._y_offsets = second.directions(Q)
            self.kernel_, self.kernel_y_ = kernel, kernel_y
            kept = np.arange(data.n) if data.kept is None else data.kept.astype(np.int64)
            self._x_fit = kept if kernel.pairwise else data.X
            self._y_fit = other
            # Near the rows of a linear kernel that are far from the origin.
            self._x_point: NDArray[Any] | None = None if moved is None else moved.point
            self._y_point: NDArray[Any] | None = None if moved_y is None else moved_y.point
            residual = float(np.linalg.norm(left))
            # The k largest singular values of `left`, of norm `residual`, are all that M can add;
            # rounding of a kernel matrix changes M by its norm over the regularisation.
            rounding = 8.0 * np.finfo(float).eps * math.sqrt(data.n)
            error = float((residual + rounding + first.error + second.error) * math.sqrt(k))
            total = float(values[:k].sum())
            # A search for negative eigenvalues costs less than the eigenvectors did.
            sides = [checked_convexity(view.gram, True, math.inf) for view in (first, second)]
            convexity = max((known for known, _ in sides), key=CONVEXITY.index)
            known: dict[str, Any] = {
                "violation": residual,
                "convexity": convexity,
                "eigenvalue": min((least for _, least in sides if least is not None), default=None),
                "seconds": run.seconds,
            }
            if convexity == "refuted":
                self.certificate_ = local("stationary", -total, rounding=math.nan, **known)
            else:
                self.certificate_ = bounded(
                    "optimal",
                    -total,
                    -total - error,
                    size=total,
                    rounding=error,
                    assumes=None if convexity == "theorem" else "psd",
                    gap_limit=GAP_LIMIT,
                    too_wide="precision_limit",
                    **known,
                )
        return self

    @overload
    def transform(self, X: Any, y: None = None) -> Array: ...
    @overload
    def transform(self, X: Any, y: Any) -> tuple[Array, Array]: ...

    def transform(self, X: Any, y: Any = None) -> Array | tuple[Array, Array]:
        """Return the projections (n_X, n_components_) of objects X, with y also those of y."""
        X = self._objects(X)
        point, coef = self._x_point, self.x_coef_
        x_scores = self._project(self.kernel_, self._x_fit, X, point, coef) - self._x_offsets
        if y is None:
            return x_scores
        n = len(y) if isinstance(y, list | tuple) else count(y)
        Y = self.kernel_y_.validate(self._second(y, self.kernel_y_, n))
        point, coef = self._y_point, self.y_coef_
        y_scores = self._project(self.kernel_y_, self._y_fit, Y, point, coef) - self._y_offsets
        return x_scores, y_scores

    def fit_transform(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> Array:
        """Find the directions as `fit`, and return the projections of the objects X."""
        return np.asarray(self.fit(X, y, sample_weight).transform(X))

    def score(self, X: Any, y: Any) -> float:
        """Return the correlation of the first pair of projections on pairs of objects."""
        x_scores, y_scores = self.transform(X, y)
        return float(np.corrcoef(x_scores[:, 0], y_scores[:, 0])[0, 1])

    def _paired(self, y: Any, kernel: Kernel, data: TrainingData) -> tuple[Kernel, Any]:
        """Return the bound kernel of y, and the objects that are paired with those of a fit."""
        others = kernel.validate(self._second(y, kernel, data.n_total))
        if count(others) != data.n_total:
            raise ValueError(
                f"X and y have inconsistent numbers of samples: {data.n_total} and {count(others)}."
            )
        if data.kept is not None:
            others = take(others, data.kept)
        if kernel.is_bound:
            return kernel, others
        return kernel.bound_to_valid(Views(others), data.weight, None), others

    def _second(self, y: Any, kernel: Kernel, n: int) -> Any:
        """Return the objects y; numbers in one dimension as a column."""
        if kernel.takes.pairwise:
            raise ValueError("kernel_y is evaluated on objects; a precomputed matrix has none.")
        if kernel.takes.structured:
            return y
        rows = check_several_targets(self, y, n)
        return rows[:, None] if rows.ndim == 1 else rows

    def _project(self, kernel: Kernel, fitted: Any, X: Any, point: Any, coef: Array) -> Array:
        if kernel.pairwise:
            return np.asarray(Prepared(kernel, fitted).matmul(X, coef, self.n_jobs))
        rows, Z = (translated(point, A) for A in stored_alike(X, fitted))
        return np.asarray(Prepared(kernel, Z).matmul(rows, coef, self.n_jobs))

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class _View:
    """One side: its eigenvectors, damped and scaled."""

    def __init__(self, gram: Gram, weight: Array | None, reg: float, n_jobs: int | None) -> None:
        self.gram, matrix = gram, ProjectedGram(gram, weight, np.ones((gram.n, 1)), n_jobs)
        self.weight = np.ones(gram.n) if weight is None else weight
        self.total = float(self.weight.sum())
        self.means = gram.matmul(self.weight / self.total, n_jobs)
        values, vectors = scipy.linalg.eigh(matrix.dense(), overwrite_a=True)
        rounding = 4.0 * np.finfo(float).eps * matrix.scale  # of a constant, which centring removed
        kept = values > max(_SMALLEST_EIGENVALUE * float(values[-1]), rounding, 1e-300)
        self.values, self.vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
        # reg times the mean variance, times the sum of weights
        self.shift = reg * float(self.values.sum())
        self.root = self.vectors * np.sqrt(self.values / (self.values + self.shift))
        self.error = 2.0 * rounding / self.shift if self.shift > 0.0 else 0.0

    def directions(self, P: Array) -> tuple[Array, Array]:
        """Return coefficients of directions on uncentred values, and what is subtracted."""
        scale = np.sqrt(self.total / (self.values * (self.values + self.shift)))
        coef = np.sqrt(self.weight)[:, None] * ((self.vectors * scale) @ P)
        coef = coef - np.outer(self.weight / self.total, coef.sum(axis=0))
        return coef, self.means @ coef


def _refuse_without_memory(n: int) -> None:
    needed, free = _BYTES * n * n, available_bytes()
    if needed > free:
        raise MemoryError(
            f"kernel canonical correlations of {n} pairs need {needed / 2**30:.1f} GB, and "
            f"{free / 2**30:.1f} GB are free; use fewer pairs, or sklearn.cross_decomposition.CCA "
            "on Nystrom features of both sides."
        )
