r"""Kernel feature analysis: projection pursuit in feature space.

Problem: find directions v in an admissible set that maximise a contrast Q of the projections
:math:`\langle v, \phi(x_1) \rangle, \ldots, \langle v, \phi(x_n) \rangle`, each orthogonal to those
before:

- "l2": :math:`v = \sum_i \alpha_i \phi(x_i)` of length 1, :math:`\alpha' K \alpha = 1`. With the
  variance these are the directions of kernel PCA; otherwise the contrast is maximised by a
  quasi-Newton method on the sphere of the leading kernel principal components, from several starts.
- "l1": :math:`\sum_i |\alpha_i| = 1`. A convex function attains its maximum over this polytope at a
  vertex, :math:`v = \pm \phi(x_i)`, so for the variance a scan over the objects is the global
  maximum; for other contrasts the scan over the vertices is the definition of the method. The next
  direction is sought in the features without their part along those before,
  :math:`k \leftarrow k - k(\cdot, x_i) k(x_i, \cdot) / k(x_i, x_i)`, as in a pivoted Cholesky
  factorisation. So d features of an object cost d kernel values.

A. Smola, "Learning with kernels", 1998, 5.2; A. Smola, O. Mangasarian, B. Schoelkopf, "Sparse
kernel feature analysis", 1999.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.kernels.resolve import KernelLike
from mercer.machines.conventions import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.machines.progress import running
from mercer.objects.arrays import Array
from mercer.objects.parameters import (
    ParameterError,
    declared,
    integer_from,
    one_of,
    optional,
    parameter,
    positive,
    seed,
    show,
    threads,
    truth,
    verbosity,
)
from mercer.objects.validation import stored_alike, take
from mercer.run import Run
from mercer.solvers.prove import bounded, local

from .base import as_precise
from .contrasts import CONTRASTS, Contrast, of_rows
from .indefinite import checked_convexity
from .projected_gram import ProjectedGram
from .seeds import generator

CONSTRAINTS = ("l1", "l2")
ORDERS = ("sequential", "simultaneous")

_SMALLEST_RESIDUAL = 1e-10  # of the largest diagonal entry: a smaller residual is rounding
_BASIS = 20  # kernel principal components that a search over directions uses by default
_TOL = 1e-8  # residual of the components that a search combines, relative to the largest
_FIFTH = 0.2  # of the time of a fit, for the definiteness of the kernel matrix
_VALUES = 2**22  # kernel values that are held at once


def _contrast(value: Any, name: str) -> None:
    if not (callable(value) or (isinstance(value, str) and value in CONTRASTS)):
        raise ParameterError(
            f"{name} must be one of {', '.join(CONTRASTS)} or a function of the projections; got "
            f"{show(value)}."
        )


@declared
class KernelFeatureAnalysis(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, NamedKernelEstimator
):
    r"""Features that maximise a contrast, from kernel expansions of unit l1 or l2 norm.

    With ``constraint="l1"`` every direction is one object, made orthogonal to those before: d
    features cost d kernel values, and no eigenproblem is solved. With ``constraint="l2"`` and the
    variance this is kernel PCA; with other contrasts it is projection pursuit in feature space.
    Scans hold 4 million kernel values at a time. Principal components of more than 500 objects come
    from the iteration of :class:`KernelPCA`, in its memory.

    Attributes
    ----------
    dual_coef_ : array of shape (n_support, n_components_)
        Coefficients of the directions in the objects ``indices_``.
    indices_ : array of int
        Positions of the objects with a coefficient; with "l1" in the order of the features.
    contrasts_ : array of shape (n_components_,)
        The contrast of each feature when it was chosen.
    n_components_ : int
        Number of features.
    certificate_ : Certificate
        Primal value: minus the sum of the contrasts. "optimal" for the variance, where every
        direction is the global maximum; otherwise, where the components come from an iteration,
        and where the kernel matrix has a negative eigenvalue, "stationary", without a bound.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> from mercer import KernelFeatureAnalysis
    >>> X = [[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]
    >>> model = KernelFeatureAnalysis(2, kernel="linear").fit(X)
    >>> model.indices_.tolist(), model.transform([[0.5, 0.5]]).tolist()
    ([2, 0], [[1.0, 0.5]])
    """

    n_components: int = parameter(integer_from(1), default=2)
    """Number of features; fewer where the kernel matrix has a lower rank."""
    _: KW_ONLY
    kernel: KernelLike = parameter(default="rbf")
    """A positive semidefinite kernel on any objects, as for the machines."""
    constraint: str = parameter(one_of(*CONSTRAINTS), default="l1")
    """The admissible set: coefficients with absolute sum 1, or directions of length 1."""
    contrast: Any = parameter(_contrast, default="variance", kind="str or callable")
    """The contrast to maximise: "variance", "kurtosis", "negentropy", "friedman_tukey", "fisher",
    or a function of the array of projections that returns a number; in a fit with sample weights it
    is called with these as its second argument."""
    order: str = parameter(one_of(*ORDERS), default="sequential")
    """Whether each direction is the best one orthogonal to those before, or all are chosen at once:
    the objects with the largest contrasts, or the orthonormal directions with the largest sum of
    contrasts."""
    center: bool = parameter(truth, default=False)
    """Whether features are centred. An l1 feature then costs a kernel value for every training
    object."""
    n_basis: int | None = parameter(optional(integer_from(1)), default=None)
    """For the search with ``constraint="l2"``: number of kernel principal components that
    directions are combined of; None for 20. In more components, every projection can be had."""
    n_restarts: int = parameter(integer_from(1), default=5)
    """Starts of this search, the coordinate axes first, then random ones; the best is kept."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the starts."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which no further start or feature is begun."""
    n_jobs: int | None = parameter(threads, default=None)
    """Threads."""
    verbose: bool | int = parameter(verbosity, default=False)
    """Whether to print a line for every product, feature or start."""

    _sparse_means_sparse = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weights in the contrasts; weight k counts as k copies, weight 0 as none.

        Returns
        -------
        self : KernelFeatureAnalysis
            The fitted transformer. After Ctrl-C the features found so far are kept, if there are
            any, with the status "interrupted", and KeyboardInterrupt is raised.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            self._fit(X, sample_weight, run)
        run.raise_interrupt()
        return self

    def _fit(self, X: Any, sample_weight: Any, run: Run) -> None:
        data, kernel = self._enter(X, None, sample_weight)
        if kernel.definiteness.order not in (None, 0) and not self.center:
            raise ValueError(
                f"{kernel!r} is {kernel.definiteness}; set center=True, or use a positive "
                "semidefinite kernel."
            )
        matrix = _Matrix(self._gram(data, kernel), data.weight, self.center, self.n_jobs)
        search = _scanned if self.constraint == "l1" else _searched
        found = search(matrix, self._contrast(), self, run)
        if not found.coef.shape[1]:
            raise ValueError(
                "all objects have the same image in feature space, so there are no features; "
                "use another kernel or center=False."
            )
        coef = found.coef
        if self.center:
            coef = coef - np.outer(matrix.share, coef.sum(axis=0))
        support = np.arange(data.n)
        if found.pivots is not None and not self.center:
            support = found.pivots
        positions = support if data.kept is None else data.kept[support]
        self.dual_coef_ = np.ascontiguousarray(coef[support])
        self._offsets = matrix.row_means @ coef if self.center else np.zeros(coef.shape[1])
        self.indices_ = positions
        self.contrasts_, self.n_components_ = found.contrasts, int(coef.shape[1])
        self._objects_fit = positions.astype(np.int64) if kernel.pairwise else take(data.X, support)
        self.kernel_ = kernel
        total = -float(found.contrasts.sum())
        convexity, eigenvalue = checked_convexity(matrix.gram, self.center, _FIFTH * run.seconds)
        known: dict[str, Any] = {
            "violation": found.slope,
            "n_iter": found.n_iter,
            "seconds": run.seconds,
            "assumes": None if convexity in ("theorem", "refuted") else "psd",
            "convexity": convexity,
            "eigenvalue": eigenvalue,
        }
        if found.status == "optimal" and convexity != "refuted":
            self.certificate_ = bounded("optimal", total, total, **known)
        else:
            status = "stationary" if found.status == "optimal" else found.status
            self.certificate_ = local(status, total, **known)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the projections of objects on the directions, of shape (n_X, n_components_).

        A precomputed kernel takes their values against all training objects. Features of rows in
        single precision are in single precision.
        """
        X = self._objects(X)
        if self.kernel_.pairwise:
            values = Prepared(self.kernel_, self._objects_fit).matmul(
                X, self.dual_coef_, self.n_jobs
            )
        else:
            rows, Z = stored_alike(X, self._objects_fit)
            values = Prepared(self.kernel_, Z).matmul(rows, self.dual_coef_, self.n_jobs)
        return as_precise(values - self._offsets, X)

    def _contrast(self) -> Contrast:
        return (
            CONTRASTS[self.contrast] if isinstance(self.contrast, str) else of_rows(self.contrast)
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class _Found(NamedTuple):
    coef: Array  # of all objects
    contrasts: Array
    pivots: NDArray[np.intp] | None
    status: str
    n_iter: int
    slope: float


class _Matrix:
    """Rows of the kernel matrix, centred where asked."""

    def __init__(self, gram: Gram, weight: Array | None, center: bool, n_jobs: int | None) -> None:
        self.gram, self.weight, self.center, self.n_jobs = gram, weight, center, n_jobs
        self.n = gram.n
        self.share = np.full(self.n, 1.0 / self.n) if weight is None else weight / weight.sum()
        self.row_means = np.zeros(self.n)
        self.mean = 0.0
        if center:
            self.row_means = gram.matmul(self.share, n_jobs)
            self.mean = float(self.row_means @ self.share)

    def rows(self, rows: NDArray[np.intp]) -> Array:
        tile = np.asarray(self.gram.tile(rows, n_jobs=self.n_jobs), dtype=np.float64)
        return tile - self.row_means - self.row_means[rows][:, None] + self.mean

    def diag(self) -> Array:
        return np.asarray(self.gram.diag() - 2.0 * self.row_means + self.mean)

    def chunks(self) -> list[NDArray[np.intp]]:
        step = max(1, _VALUES // self.n)
        return [np.arange(a, min(a + step, self.n)) for a in range(0, self.n, step)]


def _scanned(matrix: _Matrix, contrast: Contrast, model: KernelFeatureAnalysis, run: Run) -> _Found:
    """Return directions at vertices of the l1 ball, by scans over the objects."""
    n, wanted = matrix.n, int(model.n_components)
    diagonal = matrix.diag()
    least = _SMALLEST_RESIDUAL * float(diagonal.max(initial=0.0))
    L = np.zeros((n, 0))  # features of the directions so far: k minus L L' is the residual
    coef = np.zeros((n, 0))  # of the orthonormal directions
    columns: list[Array] = []
    pivots: list[int] = []
    contrasts: list[float] = []
    values: Array | None = None
    status = "optimal" if model.contrast == "variance" else "stationary"
    while len(pivots) < wanted:
        left = diagonal - np.einsum("ij,ij->i", L, L)
        eligible = left > least
        if not eligible.any():
            break
        with run.until_stopped():
            if values is None or model.order == "sequential":
                values = _scan(matrix, contrast, L, eligible, run if pivots else None)
        if run.status is not None:
            if not pivots:
                run.raise_interrupt()
            status = run.status
            break
        assert values is not None
        i = int(np.argmax(np.where(eligible, values, -np.inf)))
        column = matrix.rows(np.array([i]))[0] - L @ L[i]
        length = math.sqrt(float(left[i]))
        own = -coef @ L[i]
        own[i] += 1.0
        L = np.column_stack([L, column / length])
        coef = np.column_stack([coef, own / length])
        columns.append(own / np.abs(own).sum())
        pivots.append(i)
        contrasts.append(float(values[i]))
        ended = run.stop(len(pivots), objective=-sum(contrasts))
        if ended is not None and len(pivots) < wanted:
            status = ended
            break
    found = np.stack(columns, axis=1) if columns else np.zeros((n, 0))
    return _Found(
        found, np.array(contrasts), np.array(pivots, dtype=np.intp), status, len(pivots), 0
    )


def _scan(
    matrix: _Matrix,
    contrast: Contrast,
    L: Array,
    eligible: NDArray[np.bool_],
    run: Run | None,
) -> Array:
    """Return the contrasts of eligible objects without the directions before."""
    values = np.full(matrix.n, -np.inf)
    for chunk in matrix.chunks():
        if run is not None:
            run.check()
        rows = chunk[eligible[chunk]]
        if len(rows):
            values[rows] = contrast(matrix.rows(rows) - L[rows] @ L.T, matrix.weight)
    return values


def _searched(
    matrix: _Matrix, contrast: Contrast, model: KernelFeatureAnalysis, run: Run
) -> _Found:
    """Return directions of length 1 in the span of the leading kernel principal components."""
    by_variance = model.contrast == "variance"
    wanted = int(model.n_components)
    n_basis = wanted if by_variance else max(wanted, int(model.n_basis or _BASIS))
    rng = generator(model.random_state)
    functions = np.ones((matrix.n, int(matrix.center)))
    projected = ProjectedGram(matrix.gram, matrix.weight, functions, matrix.n_jobs, run)
    pairs = projected.leading(n_basis, rng, _TOL)
    values, vectors = pairs.values[:n_basis], pairs.vectors[:, :n_basis]
    kept = values > _SMALLEST_RESIDUAL * max(float(matrix.diag().max(initial=0.0)), 1e-300)
    values, vectors = values[kept], vectors[:, kept]
    signs = np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))] < 0.0, -1, 1)
    vectors = vectors * signs
    scores, to_coef = vectors * np.sqrt(values), vectors / np.sqrt(values)
    if projected.root is not None:
        scores, to_coef = scores / projected.root[:, None], to_coef * projected.root[:, None]
    k = min(wanted, len(values))
    if by_variance:
        residual = float(pairs.residual_norms[:k].max(initial=0.0))
        slope = residual / float(values[0]) if k else 0.0
        total = float(matrix.n if matrix.weight is None else matrix.weight.sum())
        variances = values[:k] / total
        status = pairs.status
        if pairs.n_products and status in ("optimal", "precision_limit"):
            status = "stationary"  # KernelPCA bounds what an iteration leaves
        return _Found(to_coef[:, :k], variances, None, status, pairs.n_products, slope)
    run.raise_interrupt()
    search = _Search(
        scores, lambda P: contrast(P, matrix.weight), int(model.n_restarts), rng, run.branch()
    )
    if model.order == "sequential":
        directions = search.one_by_one(k)
    else:
        directions = search.together(k)
    contrasts = contrast((scores @ directions).T, matrix.weight)
    status = search.run.status or run.status or "stationary"
    return _Found(to_coef @ directions, contrasts, None, status, search.n_iter, search.slope)


class _Search:
    """Maximises the sum of contrasts over orthonormal directions."""

    def __init__(
        self,
        scores: Array,
        contrast: Callable[[Array], Array],
        n_restarts: int,
        rng: np.random.Generator,
        run: Run,
    ) -> None:
        self.scores, self.contrast, self.n_restarts, self.rng = scores, contrast, n_restarts, rng
        self.run, self.n_iter, self.slope = run, 0, 0.0

    def one_by_one(self, k: int) -> Array:
        """Return k directions (r, k), each the best one orthogonal to those before."""
        found = np.zeros((self.scores.shape[1], 0))
        with self.run.until_stopped():
            for _ in range(k):
                if found.shape[1]:
                    self.run.check()
                rest = scipy.linalg.null_space(found.T) if found.shape[1] else np.eye(len(found))
                found = np.column_stack([found, rest @ self._best(self.scores @ rest, 1)])
        return found

    def together(self, k: int) -> Array:
        """Return k orthonormal directions (r, k) with the largest sum of contrasts."""
        return self._best(self.scores, k)

    def _best(self, scores: Array, k: int) -> Array:
        r = scores.shape[1]
        single = self.contrast(scores.T)
        axes = np.argsort(-single, kind="stable")
        best, value, slope = np.eye(r)[:, axes[:k]], -math.inf, 0.0
        for start in range(self.n_restarts):
            A = np.eye(r)[:, axes[:k]]
            if start:
                A = np.linalg.qr(self.rng.normal(size=(r, k)))[0]
            with self.run.until_stopped():
                if start:
                    self.run.check()
                result = scipy.optimize.minimize(
                    lambda a: self._value_and_slope(scores, a, r, k), A.ravel(), jac=True
                )
            if self.run.status is not None:
                break
            self.n_iter += int(result.nit)
            if -result.fun > value:
                best, value = _orthonormal(result.x.reshape(r, k)), -float(result.fun)
                slope = float(np.abs(result.jac).max())
            self.run.report(self.n_iter, slope, -value)
        self.slope = max(self.slope, slope)
        return best

    def _value_and_slope(self, scores: Array, a: Array, r: int, k: int) -> tuple[float, Array]:
        """Return minus the sum of contrasts, and its gradient by central differences."""
        h = 1e-5
        A = a.reshape(r, k)
        frames = [_orthonormal(A)]
        for i in range(r * k):
            for sign in (h, -h):
                B = a.copy()
                B[i] += sign
                frames.append(_orthonormal(B.reshape(r, k)))
        P = np.concatenate([(scores @ F).T for F in frames])
        sums = self.contrast(P).reshape(-1, k).sum(axis=1)
        return -float(sums[0]), -(sums[1::2] - sums[2::2]) / (2.0 * h)


def _orthonormal(A: Array) -> Array:
    """Return the orthonormal frame nearest to A, its polar factor."""
    if A.shape[1] == 1:
        return A / max(float(np.linalg.norm(A)), 1e-300)
    U, _, V = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U @ V)
