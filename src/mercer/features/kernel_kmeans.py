r"""k-means in feature space.

Problem: choose cluster labels c(i) that minimise, with weights w,

.. math:: J = \sum_i w_i |\phi(x_i) - m_{c(i)}|^2, \qquad
          m_c = \sum_{c(i)=c} w_i \phi(x_i) / W_c.

Method: assignment and averaging in turn (Lloyd), from centres drawn by k-means++ (D. Arthur,
S. Vassilvitskii, 2007), all starts at once: an iteration is one product of the kernel matrix, which
is not stored, with the columns of every start. J never rises for kernels that have distances.

Lower bound: relaxing the cluster indicators to orthonormal vectors gives
:math:`J \ge \mathrm{tr} A - \lambda_1 - \ldots - \lambda_{k-1}` with the eigenvalues of the centred
weighted kernel matrix A (C. Ding, X. He, "K-means clustering via principal component analysis",
ICML 2004). It comes from upper bounds on the eigenvalues, so it holds for unconverged ones too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.geometry.squared_lengths import require_distances
from mercer.gram import Gram, Prepared
from mercer.kernels import Kernel
from mercer.kernels.resolve import KernelLike
from mercer.machines.conventions import (
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.machines.progress import running
from mercer.machines.weights import check_sample_weight
from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    declared,
    integer_from,
    optional,
    parameter,
    positive,
    seed,
    threads,
    verbosity,
)
from mercer.objects.validation import count, stored_alike
from mercer.run import Run
from mercer.solvers.centring import centring, translated
from mercer.solvers.prove import bounded, eigenvalues_at_most
from mercer.solvers.rounding import value_sizes

from .projected_gram import ProjectedGram
from .seeds import generator

Labels = NDArray[np.intp]


@declared
class KernelKMeans(
    ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, NamedKernelEstimator
):
    """k-means clustering in feature space, with a lower bound on the best possible inertia.

    Clusters are separated by hyperplanes in feature space and need not be convex in input space.

    Attributes
    ----------
    labels_ : array of int
        The cluster of every object.
    inertia_ : float
        The weighted sum of squared distances to the centres.
    coef_ : array of shape (n_samples, n_clusters)
        The coefficients of the centres in the training objects.
    n_iter_ : int
        Iterations.
    certificate_ : Certificate
        Primal value: the inertia; dual value: a lower bound on the inertia of every clustering into
        so many clusters. The status is "stationary": no single step improves the labels.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> from mercer import KernelKMeans
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> model = KernelKMeans(n_clusters=2, kernel="linear", random_state=0).fit(X)
    >>> bool(model.labels_[0] != model.labels_[3]), round(model.inertia_, 6)
    (True, 0.04)
    >>> model.certificate_.dual <= model.inertia_
    True
    """

    n_clusters: int = parameter(integer_from(1), default=8)
    """Number of clusters."""
    _: KW_ONLY
    kernel: KernelLike = parameter(default="rbf")
    """A kernel on any objects, as for the machines. It must have distances: be positive
    semidefinite, or conditionally so of order 1."""
    n_init: int = parameter(integer_from(1), default=10)
    """Number of starts, of which the best result is kept."""
    max_iter: int = parameter(integer_from(1), default=300)
    """Largest number of iterations."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the starts."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which the iterations end with the labels found so far."""
    n_jobs: int | None = parameter(threads, default=None)
    """Threads."""
    verbose: bool | int = parameter(verbosity, default=False)
    """Whether to print a line for every iteration, with the share of objects that moved as the
    violation and the inertia as the objective."""

    _sparse_means_sparse = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the objects in the inertia and in the centres.

        Returns
        -------
        self : KernelKMeans
            The fitted model. After Ctrl-C the labels found so far are kept, with the status
            "interrupted", and KeyboardInterrupt is raised.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            self._fit(X, sample_weight, run)
        run.raise_interrupt()
        return self

    def _fit(self, X: Any, sample_weight: Any, run: Run) -> None:
        k = int(self.n_clusters)
        data, kernel = self._enter(X, None, sample_weight)
        require_distances(kernel)
        if data.n < k:
            raise ValueError(
                f"n_clusters={k} needs at least as many objects of positive weight; got "
                f"n_samples={data.n}."
            )
        moved = centring(kernel, data.X, True)
        gram = self._gram(data, kernel) if moved is None else Gram(kernel, moved.rows, "float64")
        # Near the rows of a linear kernel that are far from the origin.
        self._point: NDArray[Any] | None = None if moved is None else moved.point
        weight = np.ones(data.n) if data.weight is None else data.weight
        plain = ProjectedGram(gram, None, np.empty((data.n, 0)), self.n_jobs, run)
        found = _lloyd(
            gram,
            weight,
            _starts(gram, weight, k, int(self.n_init), generator(self.random_state)),
            k,
            plain.exact,
            run.branch(steps=int(self.max_iter)),
        )
        self.kernel_ = kernel
        self.inertia_, self.n_iter_ = found.inertia, found.n_iter
        self.coef_, self._squares = found.coef, found.squares
        if kernel.pairwise:
            self._X_fit = np.arange(data.n) if data.kept is None else data.kept.astype(np.int64)
        else:
            self._X_fit = data.X
        self.labels_ = found.labels
        if data.kept is not None:
            self.labels_ = self.predict(X)
            self.labels_[data.kept] = found.labels
        self._certify(found, gram, data.weight, kernel, k, run)

    def predict(self, X: Any) -> Labels:
        """Return the positions of the clusters whose centres are nearest, of shape (n_X,).

        A precomputed kernel takes the values of the objects against all training objects.
        """
        return self._nearest(self._values(self._objects(X)))

    def transform(self, X: Any) -> Array:
        """Return the distances to the centres in feature space, of shape (n_X, n_clusters).

        Needs objects: a precomputed matrix does not hold k(x, x).
        """
        X = self._objects(X)
        return np.sqrt(self._squared_distances(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the weighted sum of squared distances of objects to the nearest centres."""
        X = self._objects(X)
        nearest = self._squared_distances(X).min(axis=1)
        weight = check_sample_weight(sample_weight, count(X))
        return -float(nearest.sum() if weight is None else nearest @ weight)

    def _values(self, X: Any) -> Array:
        """Return the products of the images of objects with the centres."""
        if self.kernel_.pairwise:
            return Prepared(self.kernel_, self._X_fit).matmul(X, self.coef_, self.n_jobs)
        rows, Z = (translated(self._point, A) for A in stored_alike(X, self._X_fit))
        return Prepared(self.kernel_, Z).matmul(rows, self.coef_, self.n_jobs)

    def _nearest(self, values: Array) -> Labels:
        return np.argmin(self._squares - 2.0 * values, axis=1)

    def _squared_distances(self, X: Any) -> Array:
        if self.kernel_.pairwise:
            raise ValueError(
                "a precomputed matrix of new objects does not hold k(x, x), so there are no "
                "distances to the centres; use predict, or a kernel on objects."
            )
        lengths = self.kernel_.diag(translated(self._point, X))
        squares = lengths[:, None] - 2.0 * self._values(X) + self._squares
        return np.maximum(squares, 0.0)

    def _certify(
        self,
        found: _Clusters,
        gram: Gram,
        weight: Array | None,
        kernel: Kernel,
        k: int,
        run: Run,
    ) -> None:
        squares = np.square(value_sizes(gram))
        size = float(squares.sum() if weight is None else squares @ weight)
        rounding = 8.0 * np.finfo(float).eps * math.sqrt(gram.n) * size
        status, bound = found.status, 0.0
        if status in ("stationary", "iteration_limit"):
            part = run.branch(after=found.n_iter)
            matrix = ProjectedGram(gram, weight, np.ones((gram.n, 1)), self.n_jobs, part)
            with part.until_stopped():
                bound = _lower_bound(matrix, k - 1)
            status = "interrupted" if run.interrupted else status
        self.certificate_ = bounded(
            status,
            self.inertia_ + rounding,
            max(bound - rounding, 0.0),
            violation=0.0 if found.status == "stationary" else math.nan,
            n_iter=found.n_iter,
            seconds=run.seconds,
            assumes=None if kernel.definiteness.order is not None else "cpd",
            rounding=rounding,
        )
        if found.status in ("iteration_limit", "time_limit"):
            warn_caller(
                f"labels still changed at the {found.status.replace('_', ' ')}; increase max_iter "
                "or time_limit.",
                ConvergenceWarning,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.coef_.shape[1])


class _Clusters(NamedTuple):
    labels: Labels
    coef: Array  # of the centres
    squares: Array  # their squared lengths
    inertia: float
    n_iter: int
    status: str


def _starts(
    gram: Gram, weight: Array, k: int, n_init: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the labels of several starts (n_init, n), by greedy k-means++.

    Each centre is the best of a few objects, drawn in proportion to their weighted squared
    distance to the centres so far.
    """
    diagonal = gram.diag()
    tries = 2 + int(math.log(k))
    labels = np.empty((n_init, gram.n), dtype=np.intp)
    for s in range(n_init):
        first = int(rng.choice(gram.n, p=weight / weight.sum()))
        nearest = _squares(gram, diagonal, np.array([first]))[0]
        label = np.zeros(gram.n, dtype=np.intp)
        for c in range(1, k):
            mass = weight * nearest
            total = float(mass.sum())
            p = mass / total if total > 0.0 else weight / weight.sum()
            candidates = rng.choice(gram.n, tries, p=p)
            squares = _squares(gram, diagonal, candidates)
            best = int(np.argmin(np.minimum(squares, nearest) @ weight))
            closer = squares[best] < nearest
            label[closer] = c
            nearest = np.where(closer, squares[best], nearest)
        labels[s] = label
    return labels


def _squares(gram: Gram, diagonal: Array, rows: NDArray[np.intp]) -> Array:
    values = np.asarray(gram.tile(rows), dtype=np.float64)
    return np.maximum(diagonal[rows][:, None] - 2.0 * values + diagonal, 0.0)


def _lloyd(
    gram: Gram,
    weight: Array,
    labels: NDArray[np.intp],
    k: int,
    product: Callable[[Array], Array],
    run: Run,
) -> _Clusters:
    """Return the best of several starts after assignment and averaging until nothing changes.

    `product`: the function V -> K V, which asks the whole run whether to stop.
    """
    diagonal, n = gram.diag(), gram.n
    active = list(range(len(labels)))
    best: _Clusters | None = None
    iteration = 0
    with run.until_stopped():
        while active:
            iteration += 1
            for s in active:
                _fill_empty(labels[s], k, weight, gram, diagonal)
            coef = np.hstack([_coefficients(labels[s], k, weight) for s in active])
            products = product(coef)
            still, moved = [], 0
            for position, s in enumerate(active):
                columns = slice(position * k, (position + 1) * k)
                C, values = coef[:, columns], products[:, columns]
                squares = np.einsum("ij,ij->j", C, values)
                distances = diagonal[:, None] - 2.0 * values + squares
                inertia = float(weight @ distances[np.arange(n), labels[s]])
                if best is None or inertia < best.inertia:
                    best = _Clusters(labels[s].copy(), C.copy(), squares, max(inertia, 0.0), 0, "")
                nearest = np.argmin(distances, axis=1)
                # An object moves only to a centre that is nearer by more than rounding.
                gain = distances[np.arange(n), labels[s]] - distances[np.arange(n), nearest]
                moving = gain > 1e-12 * (np.abs(diagonal) + squares.max())
                moved = max(moved, int(moving.sum()))
                if moving.any():
                    labels[s] = np.where(moving, nearest, labels[s])
                    still.append(s)
            active = still
            assert best is not None
            if run.stop(iteration, moved / n, objective=best.inertia) is not None:
                break
    if best is None:
        run.raise_interrupt()
        raise TimeoutError(
            "time_limit ended before the first product with the kernel matrix, so there are no "
            "clusters; use a larger time_limit."
        )
    status = (run.status if active else None) or "stationary"
    return best._replace(n_iter=iteration, status=status)


def _coefficients(labels: Labels, k: int, weight: Array) -> Array:
    coef = np.zeros((len(labels), k))
    coef[np.arange(len(labels)), labels] = weight
    return coef / coef.sum(axis=0)


def _fill_empty(labels: Labels, k: int, weight: Array, gram: Gram, diagonal: Array) -> None:
    """Give every empty cluster the object that is farthest from its own centre."""
    for c in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        sizes = np.bincount(labels, minlength=k)
        sums = np.zeros((len(labels), k))
        sums[np.arange(len(labels)), labels] = weight
        coef = sums / np.where(sizes > 0, np.maximum(sums.sum(axis=0), 1e-300), 1.0)
        values = gram.matmul(coef)
        squares = np.einsum("ij,ij->j", coef, values)
        own = diagonal - 2.0 * values[np.arange(len(labels)), labels] + squares[labels]
        own = np.where(sizes[labels] > 1, weight * own, -math.inf)
        labels[int(np.argmax(own))] = c


def _lower_bound(matrix: ProjectedGram, number: int) -> float:
    """Return the trace minus bounds on the largest eigenvalues, 0 where there was no time."""
    trace = matrix.trace()
    if number == 0:
        return trace
    try:
        found = matrix.leading(number, np.random.default_rng(0), tol=1e-4)
    except TimeoutError:
        return 0.0
    return trace - float(eigenvalues_at_most(found, number, trace).sum()) if found.exact else 0.0
