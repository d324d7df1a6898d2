"""Kernel principal component analysis."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mercer.gram import Gram, Prepared
from mercer.kernels import FromFunction, Kernel, Linear, normalize, resolve
from mercer.kernels.conditional import polynomial_basis
from mercer.kernels.resolve import KernelLike
from mercer.machines.conventions import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from mercer.machines.kernel_estimator import NamedKernelEstimator, TrainingData
from mercer.machines.progress import running
from mercer.numerics.block_krylov import RitzPairs
from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    ParameterError,
    declared,
    integer,
    integer_from,
    is_number,
    one_of,
    optional,
    parameter,
    positive,
    real_from,
    seed,
    show,
    threads,
    truth,
    verbosity,
)
from mercer.objects.validation import count, stored_alike
from mercer.run import Run
from mercer.solvers.centring import centring, translated
from mercer.solvers.certificate import GAP_LIMIT
from mercer.solvers.prove import bounded, eigenvalues_at_most, local

from .base import as_precise, is_single
from .preimages import preimages, refuse_without_rows
from .projected_gram import DENSE_UP_TO, FEW, ProjectedGram
from .seeds import generator

SOLVERS = ("auto", "dense", "krylov", "arpack", "randomized")
PREIMAGES = ("learned", "fixed_point", "gradient")

_NEGATIVE = 1e-5  # relative to the largest: a smaller negative eigenvalue is rounding
_ZERO = 2e-12  # relative to the largest: a smaller eigenvalue is zero
_ZERO_SINGLE = 2e-7  # the same for rows in single precision
_ULPS = 8.0  # rounding of kernel values and of the decomposition, in units of the last place
# What `_derive` sets; pickles and files hold none of it.
_DERIVED = (
    "X_transformed_fit_",
    "_mean_coef",
    "_scores",
    "explained_variance_",
    "explained_variance_ratio_",
    "feature_box_",
    "scores_coef_",
    "signature_",
)


class _OfPairs:
    """A function of two objects as a function of two collections."""

    def __init__(self, function: Callable[..., Any], parameters: dict[str, Any]) -> None:
        self.function, self.parameters = function, parameters

    def __call__(self, A: Any, B: Any) -> Any:
        return [[self.function(a, b, **self.parameters) for b in B] for a in A]


def _components(value: Any, name: str) -> None:
    if isinstance(value, float) and not 0.0 < value < 1.0:
        raise ParameterError(
            f"{name} must be an integer of at least 1, a share of the variance in (0, 1) or None; "
            f"got {show(value)}."
        )
    if value is not None and not (is_number(value) and 0.0 < value < 1.0):
        integer(value, name, minimum=1)


def _projection(value: Any, name: str) -> None:
    if not (value is None or callable(value) or (isinstance(value, str) and value == "linear")):
        raise ParameterError(f"{name} must be None, 'linear' or a function; got {show(value)}.")


@declared
class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NamedKernelEstimator):
    r"""Kernel principal component analysis: the directions of largest variance in feature space.

    With the centred kernel matrix :math:`\tilde K` and its eigenpairs
    :math:`\tilde K a^j = \lambda_j a^j`, :math:`|a^j| = 1`, the principal directions are
    :math:`v_j = \lambda_j^{-1/2} \sum_i a_i^j \tilde\phi(x_i)`, of length 1, and the features of x
    are :math:`\langle \tilde\phi(x), v_j \rangle = \lambda_j^{-1/2} \sum_i a_i^j \tilde k(x_i, x)`.
    With the linear kernel this is ordinary PCA.

    Few components of many objects are found by an iteration on products with the kernel matrix. Its
    lower triangle is kept in single precision while that is small (256 MB, or 1 GB of values that
    are costly); otherwise its values are computed in tiles. The last products are in double
    precision, and ``certificate_`` says how much more variance any other directions could capture.
    B. Schoelkopf, A. Smola, K.-R. Mueller,
    "Nonlinear component analysis as a kernel eigenvalue problem", Neural Computation 10, 1998.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components_,)
        Eigenvalues of the centred kernel matrix, falling. Of rows in single precision those below
        2e-7 of the largest are zero, as in scikit-learn.
    eigenvectors_ : array of shape (n_samples, n_components_)
        Its eigenvectors, of length 1; the largest absolute feature of a component is positive.
    eigenvalue_bounds_ : array of shape (n_components_, 2)
        Intervals that contain the exact eigenvalues, up to rounding. Of an indefinite kernel: each
        contains some eigenvalue.
    explained_variance_ : array of shape (n_components_,)
        The eigenvalues over the sum of weights: variances of the components.
    explained_variance_ratio_ : array of shape (n_components_,)
        Their shares of the whole variance.
    total_variance_ : float
        The variance in feature space.
    feature_box_ : array of shape (n_components_,)
        The features of training objects are at most this large.
    signature_ : array of shape (n_components_,)
        1 or -1, the sign of the eigenvalue; -1 occurs with ``allow_indefinite=True`` only.
    scores_coef_ : array of shape (n_samples, n_components_)
        Matrix by which kernel values against the training objects are multiplied.
    X_fit_ : objects
        The training objects of positive weight; for a precomputed kernel their positions.
    dual_coef_, X_transformed_fit_ : array
        Coefficients of the learned inverse transform and the features they belong to.
    n_components_ : int
        Number of components.
    certificate_ : Certificate
        Primal value: the variance (sum over the weights) that the components leave unexplained;
        dual value: the least variance that any such number of directions can leave.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> from mercer import KernelPCA
    >>> X = [[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]
    >>> pca = KernelPCA(n_components=2).fit(X)
    >>> pca.eigenvalues_.round(6).tolist(), pca.explained_variance_.round(6).tolist()
    ([8.0, 2.0], [2.0, 0.5])
    >>> abs(pca.transform([[0.0, 2.0]])).round(6).tolist()
    [[2.0, 0.0]]
    """

    n_components: Any = parameter(
        _components, default=None, kind="int >= 1, float in (0, 1) or None"
    )
    """Number of components; a share of the variance, of which as many are taken as needed; or None
    for all whose eigenvalue is not zero."""
    _: KW_ONLY
    kernel: KernelLike = parameter(default="linear", kind="str, Kernel or callable")
    """A name ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "precomputed"), a Kernel,
    or, as in scikit-learn's class, a function of two objects that returns a number. Functions of
    two collections are faster: pass ``FromFunction(function)``. Kernels that are conditionally
    positive definite of order 1 are made definite by centring, those of order 2 by
    ``project_out="linear"``."""
    gamma: Any = parameter(default=None, kind='float, "scale", "auto" or None')
    """Width of a named kernel; None and "auto" are 1 / n_features."""
    coef0: float = parameter(default=1)
    """Constant of "poly" and "sigmoid"."""
    kernel_params: Any = parameter(default=None, kind="dict or None")
    """Keyword arguments of a kernel that is a function."""
    alpha: float = parameter(real_from(0.0), default=1.0)
    """Ridge of the learned inverse transform."""
    fit_inverse_transform: bool = parameter(truth, default=False)
    """Whether `inverse_transform` is needed."""
    preimage: str = parameter(one_of(*PREIMAGES), default="learned")
    """How `inverse_transform` works: by kernel ridge regression from the features to the rows; by
    the fixed point iteration for Gaussian kernels; or by descent in input space, for every kernel
    on rows of numbers."""
    eigen_solver: str = parameter(one_of(*SOLVERS), default="auto")
    """"dense" takes the whole spectrum; "krylov" iterates on products. "arpack" and "randomized"
    are scikit-learn's names for iterations and mean "krylov"."""
    tol: float = parameter(real_from(0.0), default=1e-5)
    """Accepted residual of the iteration, relative to the largest eigenvalue. Errors of the
    eigenvalues go with its square where the spectrum has gaps. 0: as small as rounding allows."""
    max_iter: int | None = parameter(optional(integer_from(1)), default=None)
    """Largest number of products of the iteration with a block; None for 1000."""
    iterated_power: Any = parameter(default="auto", kind="ignored")
    """Present for consistency with scikit-learn."""
    remove_zero_eig: bool = parameter(truth, default=False)
    """Whether components with eigenvalue zero are left out although `n_components` counts them."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the iteration's start."""
    copy_X: bool = parameter(truth, default=True)  # noqa: N815 - scikit-learn's name
    """Whether the training rows are copied, so that later changes of them do no harm."""
    n_jobs: int | None = parameter(threads, default=None)
    """Threads."""
    center: bool = parameter(truth, default=True)
    """Whether features are centred. Otherwise components capture squares, not variance."""
    project_out: Any = parameter(_projection, default=None, kind='{None, "linear"} or callable')
    """Functions whose span is removed from the features, by regression: "linear" for constants and
    coordinates; or a function of the objects that returns a column for each function, such as
    ``other.transform`` of an earlier stage, for features that are uncorrelated with its own."""
    allow_indefinite: bool = parameter(truth, default=False)
    """Whether components with negative eigenvalues, of kernels that are not positive semidefinite,
    are kept. Components are then ordered by the absolute eigenvalue."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which the iteration ends with the components found so far; raises TimeoutError
    where there are none because the first product with the kernel matrix took longer."""
    verbose: bool | int = parameter(verbosity, default=False)
    """Whether to show progress of the iteration; 2 prints lines."""

    _sparse_means_sparse = False

    # -- fit ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the principal components.

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
        self : KernelPCA
            The fitted transformer. After Ctrl-C the components found so far are kept, with the
            status "interrupted", and KeyboardInterrupt is raised.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            data, kernel = self._enter(X, None, sample_weight)
            self._refuse_indefinite_order(kernel)
            self._fit(data, kernel, run)
        run.raise_interrupt()
        return self

    def _fit(self, data: TrainingData, kernel: Kernel, run: Run) -> None:
        functions = self._functions(data.X, data.n)
        moved = centring(kernel, data.X, self.center)
        gram = self._gram(data, kernel) if moved is None else Gram(kernel, moved.rows, "float64")
        matrix = ProjectedGram(gram, data.weight, functions, self.n_jobs, run)
        found = self._decompose(matrix)
        trace = matrix.trace()
        k = self._number(found.values, found, trace)
        share = _ZERO_SINGLE if is_single(data.X) else _ZERO
        values = self._cleaned(found.values[:k], matrix.scale, share)
        if self.n_components is None or self.remove_zero_eig:
            values = values[values != 0.0]
        k = len(values)
        vectors = found.vectors[:, :k]
        root = matrix.root
        # Fit for the scores, which are sqrt(lambda) a / sqrt(w): their largest one is positive.
        scores = vectors if root is None else vectors / root[:, None]
        first = np.abs(scores).argmax(axis=0)
        signs = np.where(scores[first, np.arange(k)] < 0.0, -1.0, 1.0)
        vectors = vectors * signs
        total = float(data.n if data.weight is None else data.weight.sum())

        self.eigenvalues_, self.eigenvectors_ = values, vectors
        self.total_variance_ = trace / total
        self._root, self._total = root, total
        self._derive()
        self._offsets = self._regression(matrix, functions)
        # Near the rows of a linear kernel that are far from the origin.
        self._point: NDArray[Any] | None = None if moved is None else moved.point
        self.n_components_ = k
        self.kernel_ = kernel
        self._n_left_out = data.n_total - data.n
        self._set_objects(data, kernel)
        self._certify(found, trace, matrix.scale, kernel, run.seconds)
        self._learn_inverse(data, kernel)

    def _derive(self) -> None:
        """Set what follows from eigenvalues, eigenvectors, roots of weights and variance."""
        values, vectors, root = self.eigenvalues_, self.eigenvectors_, self._root
        column = None if root is None else root[:, None]
        lengths = np.sqrt(np.abs(values))
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        coef = vectors * inverse
        self.scores_coef_ = coef if column is None else coef * column
        self.signature_ = np.where(values < 0.0, -1.0, 1.0)
        scores = self.signature_ * lengths * vectors
        self._scores = scores if column is None else scores / column
        weight = np.ones(len(vectors)) if root is None else root**2
        self._mean_coef = weight / self._total if self.center else None
        self.feature_box_ = lengths if root is None else lengths / float(root.min())
        self.explained_variance_ = variance = values / self._total
        shares = variance / self.total_variance_ if self.total_variance_ > 0.0 else 0.0 * variance
        self.explained_variance_ratio_ = shares

    def fit_transform(  # type: ignore[override]
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Array:
        """Find the components as `fit`, and return the features of the training objects."""
        self.fit(X, y, sample_weight)
        if self._n_left_out:  # objects of weight 0 took no part
            return self.transform(X)
        return as_precise(self._scores, self.X_fit_ if not self.kernel_.pairwise else X)

    # -- use ----------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features of objects, of shape (n_X, n_components_), in tiles.

        A precomputed kernel takes their values against all training objects. Features of rows in
        single precision are in single precision.
        """
        X = self._objects(X)
        if self.kernel_.pairwise:
            prepared, rows = Prepared(self.kernel_, self.X_fit_), X
        else:
            rows, Z = (translated(self._point, A) for A in stored_alike(X, self.X_fit_))
            prepared = Prepared(self.kernel_, Z)
        scores = prepared.matmul(rows, self.scores_coef_, self.n_jobs)
        functions = self._functions(X, count(X))
        if functions.shape[1]:
            # Not functions @ offsets: a value must not depend on how many objects come with it.
            for column, offset in zip(functions.T, self._offsets, strict=True):
                scores -= column[:, None] * offset
        return as_precise(scores, X)

    def inverse_transform(self, X: Any) -> Array:
        """Return rows (n_X, n_features) whose features are near given ones: approximate pre-images.

        Needs ``fit_inverse_transform=True``.
        """
        self._require_fit()
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and "
                "hence the inverse transform is not available."
            )
        scores = np.asarray(X, dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            raise ValueError(
                f"inverse_transform needs the {self.n_components_} features of each object; got an "
                f"array of shape {scores.shape}."
            )
        if self.preimage == "learned":
            found = self.kernel_(scores, self.X_transformed_fit_) @ self.dual_coef_
            return np.asarray(found + self._rows_mean)
        coefficients = scores @ (self.signature_ * self.scores_coef_).T
        if self._mean_coef is not None:
            coefficients += self._mean_coef
        return preimages(self.kernel_, self.X_fit_, coefficients, self.preimage)

    # -- parts of the fit ---------------------------------------------------------------------

    def _check(self) -> None:
        if self.fit_inverse_transform and (
            self.kernel == "precomputed" or getattr(self.kernel, "pairwise", False)
        ):
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        if self.fit_inverse_transform and self.preimage != "learned" and self.project_out:
            raise ValueError(
                "what project_out removed is unknown for given features, so there is no point of "
                "feature space to find a pre-image of; use preimage='learned'."
            )

    def _resolved_kernel(self) -> Kernel:
        kernel, gamma, coef0 = self.kernel, self.gamma, self.coef0
        if isinstance(kernel, Kernel):
            return resolve(kernel, "scale" if gamma is None else gamma, self.degree, coef0 - 1)
        if callable(kernel):
            return FromFunction(_OfPairs(kernel, dict(self.kernel_params or {})))
        if isinstance(kernel, str) and kernel == "cosine":
            return normalize(Linear())
        return resolve(kernel, "auto" if gamma is None else gamma, self.degree, coef0)

    def _refuse_indefinite_order(self, kernel: Kernel) -> None:
        order = kernel.definiteness.order
        if order is None or self.allow_indefinite:
            return
        removed = 2 if self.project_out == "linear" else int(self.center)
        if order > removed and not callable(self.project_out):
            needed = "center=True" if order == 1 else "project_out='linear'"
            raise ValueError(
                f"{kernel!r} is {kernel.definiteness}, so its matrix has negative eigenvalues "
                f"unless polynomials of degree below {order} are removed; set {needed}."
            )

    def _functions(self, X: Any, n: int) -> Array:
        """Return the functions that are removed, at objects."""
        if self.project_out == "linear":
            if self.center:
                return polynomial_basis(X, 2)
            return polynomial_basis(X, 2)[:, 1:]
        constant = np.ones((n, int(self.center)))
        if self.project_out is None:
            return constant
        values = np.asarray(self.project_out(X), dtype=np.float64)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != n or not np.isfinite(values).all():
            raise ValueError(
                f"project_out must return finite values with a row for each of the {n} objects; "
                f"got shape {values.shape}."
            )
        return np.hstack([constant, values])

    def _regression(self, matrix: ProjectedGram, functions: Array) -> Array:
        """Return the coefficients of the functions in the regression of K c on them."""
        if 0 in (functions.shape[1], self.scores_coef_.shape[1]):
            return np.zeros((functions.shape[1], self.scores_coef_.shape[1]))
        # The part of D^1/2 K c in the span of the basis B of the functions is BB' D^1/2 K c.
        coef = self.scores_coef_
        if matrix.root is not None:
            coef = coef / matrix.root[:, None]
            functions = functions * matrix.root[:, None]
        in_functions = np.linalg.lstsq(functions, matrix.basis, rcond=None)[0]
        return in_functions @ (matrix.image_of_basis().T @ coef)

    def _decompose(self, matrix: ProjectedGram) -> RitzPairs:
        n, wanted = matrix.n, self.n_components
        share = wanted is not None and 0.0 < float(wanted) < 1.0
        k = 32 if share else (n if wanted is None else min(int(wanted), n))
        rng = generator(self.random_state)
        while True:
            few = n > DENSE_UP_TO and k <= FEW * n
            iterative = few if self.eigen_solver in ("auto",) or share else k < n
            if self.eigen_solver == "dense" or not iterative:
                return self._whole(matrix)
            found = matrix.iterated(
                k,
                rng,
                float(self.tol),
                1000 if self.max_iter is None else int(self.max_iter),
                self.allow_indefinite,
            )
            enough = not share or found.values[:k].sum() >= float(wanted) * matrix.trace()
            if enough or found.status not in ("optimal", "precision_limit"):
                return found
            k *= 2

    def _whole(self, matrix: ProjectedGram) -> RitzPairs:
        n, wanted = matrix.n, self.n_components
        A = matrix.dense()
        if wanted is None or float(wanted) < 1.0 or self.allow_indefinite:
            chosen = None
        else:
            chosen = (max(0, n - int(wanted)), n - 1)
        values, vectors = scipy.linalg.eigh(A, subset_by_index=chosen, overwrite_a=True)
        order = np.argsort(-np.abs(values) if self.allow_indefinite else -values, kind="stable")
        values, vectors = values[order], vectors[:, order]
        return RitzPairs(values, vectors, np.zeros_like(vectors), "optimal", 0, True)

    def _number(self, values: Array, found: RitzPairs, trace: float) -> int:
        """Return how many components are taken."""
        wanted = self.n_components
        if wanted is None:
            return len(values)
        if float(wanted) >= 1.0:
            return min(int(wanted), len(values))
        reached = np.cumsum(values) >= float(wanted) * trace * (1.0 - 1e-12)
        return int(reached.argmax()) + 1 if reached.any() else len(values)

    def _cleaned(self, values: Array, scale: float, share: float) -> Array:
        """Return eigenvalues with those that are rounding set to zero.

        `scale`: the trace before functions were removed, of which little may be left. `share`: of
        the largest eigenvalue, below which others are rounding of the rows.
        """
        largest = float(np.abs(values).max(initial=0.0))
        zero = max(share * largest, 4.0 * np.finfo(float).eps * scale)
        values = np.where(np.abs(values) < zero, 0.0, values)
        if not self.allow_indefinite and values.min(initial=0.0) < -_NEGATIVE * largest:
            raise ValueError(
                "There are significant negative eigenvalues: the kernel is not positive "
                f"semidefinite on these objects (the largest eigenvalue is {largest:.6g}, one of "
                f"the {len(values)} components has {values.min():.6g}). Ask for fewer components, "
                "use another kernel, or set allow_indefinite=True."
            )
        return values if self.allow_indefinite else np.maximum(values, 0.0)

    def _set_objects(self, data: TrainingData, kernel: Kernel) -> None:
        if kernel.pairwise:
            self.X_fit_: Any = (
                np.arange(data.n) if data.kept is None else data.kept.astype(np.int64)
            )
            return
        X = data.X
        copied = self.copy_X and data.kept is None and (isinstance(X, np.ndarray) or sp.issparse(X))
        self.X_fit_ = X.copy() if copied else X

    def _certify(
        self,
        found: RitzPairs,
        trace: float,
        scale: float,
        kernel: Kernel,
        seconds: float,
    ) -> None:
        values, norms, k = found.values, found.residual_norms, len(self.eigenvalues_)
        n, eps = len(found.vectors), np.finfo(float).eps
        size = float(np.abs(values).max(initial=0.0))
        # Kernel values are wrong by some eps sqrt(k(x, x) k(z, z)), before functions are removed,
        # so their matrix by that times the trace. The k largest eigenvalues of such a matrix, whose
        # squares sum to the square of its norm, are what rounding adds to a sum of k.
        rounding = _ULPS * eps * (scale + math.sqrt(n) * size)
        of_sums = (1.0 + math.sqrt(k)) * rounding
        definite = not self.allow_indefinite and (values >= -_NEGATIVE * size).all()
        violation = float(norms[:k].max(initial=0.0)) / size if size > 0.0 else 0.0
        work: dict[str, Any] = {
            "n_iter": found.n_products,
            "seconds": seconds,
            "precision": "float64" if found.exact else "float32, by the solver",
            "assumes": None if kernel.definiteness.is_psd or not definite else "psd",
            "rounding": of_sums,
        }
        if definite and found.exact:
            upper = eigenvalues_at_most(found, k, trace)
            self.eigenvalue_bounds_ = np.stack([values[:k] - rounding, upper + rounding], axis=1)
            # A component whose eigenvalue is taken as zero explains nothing.
            primal = max(trace - float(self.eigenvalues_.sum()), 0.0) + of_sums
            dual = max(trace - float(upper.sum()) - of_sums, 0.0)
            self.certificate_ = bounded(
                found.status,
                primal,
                dual,
                size=trace,
                violation=violation,
                gap_limit=GAP_LIMIT,
                too_wide="precision_limit" if of_sums > 0.5 * (primal - dual) else "stationary",
                **work,
            )
        else:
            errors = norms[:k] + rounding
            self.eigenvalue_bounds_ = np.stack([values[:k] - errors, values[:k] + errors], axis=1)
            status = "stationary" if found.status == "optimal" else found.status
            self.certificate_ = local(status, math.nan, violation, **work)
        status = self.certificate_.status
        if status in ("iteration_limit", "time_limit"):
            warn_caller(
                f"the iteration ended by its {status.replace('_', ' ')}; the largest residual is "
                f"{violation:.2g} of the largest eigenvalue, tol={self.tol:g}.",
                ConvergenceWarning,
            )

    def _learn_inverse(self, data: TrainingData, kernel: Kernel) -> None:
        if not self.fit_inverse_transform:
            return
        refuse_without_rows(kernel, self.X_fit_)
        if self.preimage != "learned":
            return
        K = Gram(kernel, np.ascontiguousarray(self._scores), "float64").tile()
        ridge = float(self.alpha) / (np.ones(data.n) if data.weight is None else data.weight)
        K[np.diag_indices_from(K)] += ridge
        self.X_transformed_fit_ = self._scores
        # Linear functions of centred features have mean 0, so the rows are regressed around theirs.
        around = self.center and isinstance(kernel, Linear)
        mean = np.average(self.X_fit_, axis=0, weights=data.weight)
        self._rows_mean: Array = mean if around else np.zeros_like(mean)
        targets = self.X_fit_ - self._rows_mean
        self.dual_coef_: Array = scipy.linalg.solve(K, targets, assume_a="pos")

    # -- pickles and files --------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in _DERIVED}

    def _restored(self) -> None:
        if "eigenvalues_" in self.__dict__:
            self._refuse_misfits()
            self._derive()
            if "dual_coef_" in self.__dict__:
                self.X_transformed_fit_ = self._scores
        super()._restored()

    def _refuse_misfits(self) -> None:
        """Raise if arrays that were read do not fit together: their products could be huge."""
        n, root = len(self.eigenvectors_), self._root
        fits = self.eigenvectors_.shape == (n, len(self.eigenvalues_))
        fits = fits and (root is None or root.shape == (n,))
        if not (fits and np.ndim(self._total) == np.ndim(self.total_variance_) == 0):
            raise ValueError("eigenvectors and eigenvalues do not fit together")

    # -- scikit-learn -------------------------------------------------------------------------

    @property
    def gamma_(self) -> float:
        """The width of the kernel, where it has one."""
        self._require_fit()
        params = self.kernel_.get_params()
        if "gamma" not in params:
            raise AttributeError(f"the kernel {self.kernel_!r} has no width gamma.")
        return float(params["gamma"])

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse &= not self.fit_inverse_transform  # pre-images are dense rows
        return tags
