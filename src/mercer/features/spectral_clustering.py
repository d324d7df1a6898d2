r"""Spectral clustering with the values of any kernel as affinities.

Problem: labels with the smallest normalised cut, with D the diagonal of the row sums of K,

.. math:: \mathrm{Ncut} = \sum_c \frac{\mathrm{cut}(c)}{\mathrm{vol}(c)}
          = k - \sum_c \frac{1_c' K 1_c}{1_c' D 1_c} .

Method: the indicators relaxed to orthonormal vectors are the k leading eigenvectors of
:math:`D^{-1/2} K D^{-1/2}` (block Krylov, without the matrix); their rows, scaled to length 1, are
clustered by k-means (J. Shi, J. Malik, IEEE Trans. PAMI 22, 2000; A. Ng, M. Jordan, Y. Weiss, NIPS
2001). k-means starts at the pivots of a QR factorisation of the rows (A. Damle, V. Minden, L. Ying,
"Simple, direct and efficient multi-way spectral clustering", Information and Inference 8, 2019),
of which the order of the objects, their repetition and the basis of the eigenvectors change
nothing. The relaxation bounds every clustering: Ncut >= k minus the sum of the k largest
eigenvalues.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.gram import Gram, Prepared
from mercer.kernels import Kernel
from mercer.kernels.resolve import KernelLike
from mercer.machines.conventions import ClusterMixin
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.machines.progress import running
from mercer.numerics.block_krylov import RitzPairs
from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    declared,
    integer_from,
    optional,
    parameter,
    positive,
    real_from,
    seed,
    threads,
    verbosity,
)
from mercer.objects.validation import stored_alike
from mercer.run import Run
from mercer.solvers.prove import bounded, eigenvalues_at_most

from .projected_gram import ProjectedGram
from .seeds import generator

Labels = NDArray[np.intp]

_NEGATIVE = -1e-12  # relative to the largest: a smaller negative affinity is rounding
_ZERO = 1e-10  # of eigenvalues, the largest of which is 1
_SAME = 1e-9  # squared length of what is left of a row of length 1 that the pivots span
_QUICK = 2e7  # kernel values that may still be computed after Ctrl-C
_HURRIED = 5  # steps of k-means where more would have to be
_GAIN = 1e-12  # in squared distance: an object moves to a centre that is nearer by more


@declared
class KernelSpectralClustering(ClusterMixin, NamedKernelEstimator):
    """Spectral clustering of any objects, with a lower bound on the best normalised cut.

    Above 500 objects the eigenvectors come from the iteration of :class:`KernelPCA`, in its memory:
    at most 1 GB of kernel values are kept, and no matrix where that does not suffice.

    Attributes
    ----------
    labels_ : array of int
        The cluster of every object. Clusters are numbered by falling volume, the sum of the
        affinities of their objects; of fewer distinct objects than clusters the last are empty.
    eigenvalues_ : array of shape (n_clusters,)
        Leading eigenvalues of the normalised kernel matrix, the first one 1; a gap after the k-th
        speaks for k clusters.
    embedding_ : array of shape (n_samples, n_clusters)
        The rows that were clustered.
    ncut_ : float
        The normalised cut of the labels; NaN where a fit of more than 4,472 objects was
        interrupted, since it costs a product with the kernel matrix.
    certificate_ : Certificate
        Primal value: the normalised cut; dual value: a lower bound on that of every clustering.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> from mercer import KernelSpectralClustering
    >>> from mercer.data import rings
    >>> X, y = rings(100, noise=0.05, random_state=0)
    >>> labels = KernelSpectralClustering(2, gamma=20.0, random_state=0).fit_predict(X)
    >>> bool(((labels == labels[0]) == (y == y[0])).all())
    True
    """

    n_clusters: int = parameter(integer_from(1), default=8)
    """Number of clusters."""
    _: KW_ONLY
    kernel: KernelLike = parameter(default="rbf")
    """A kernel, as for the machines; its values are the affinities and must not be negative."""
    tol: float = parameter(real_from(0.0), default=1e-6)
    """Accepted residual of the eigenvectors."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the iteration for the eigenvectors; the clusters do not depend on it otherwise."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which the iteration ends with the eigenvectors found so far; raises
    TimeoutError where there are none because the first product with the kernel matrix took
    longer."""
    n_jobs: int | None = parameter(threads, default=None)
    """Threads."""
    verbose: bool | int = parameter(verbosity, default=False)
    """Whether to show progress of the iteration; 2 prints lines."""

    _sparse_means_sparse = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : objects
            Training objects; for ``kernel="precomputed"`` their square matrix of affinities.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; weight k counts as k copies in the cut, weight 0 as none.

        Returns
        -------
        self : KernelSpectralClustering
            The fitted model. After Ctrl-C in the iteration the clusters of the eigenvectors found
            so far are kept, with the status "interrupted", and KeyboardInterrupt is raised.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            self._fit(X, sample_weight, run)
        run.raise_interrupt()
        return self

    def _fit(self, X: Any, sample_weight: Any, run: Run) -> None:
        k = int(self.n_clusters)
        data, kernel = self._enter(X, None, sample_weight)
        if data.n < k:
            raise ValueError(
                f"n_clusters={k} needs at least as many objects; got n_samples={data.n}."
            )
        gram = self._gram(data, kernel)
        weight = np.ones(data.n) if data.weight is None else data.weight
        degrees = _degrees(gram, weight, self.n_jobs)
        # D^-1/2 K D^-1/2 of copies has the same non-zero eigenvalues as this matrix.
        matrix = ProjectedGram(gram, weight / degrees, np.empty((data.n, 0)), self.n_jobs, run)
        found = matrix.leading(k, generator(self.random_state), float(self.tol))
        values = found.values[:k]
        # Copies of an object have different entries in vectors of eigenvalue 0.
        vectors = _signed(found.vectors[:, :k]) * (values > _ZERO)
        self._scale = np.where(values > _ZERO, 1.0 / np.maximum(values, _ZERO), 0.0)
        self._maps = (
            vectors * np.sqrt(weight / degrees)[:, None]
        )  # K (u / sqrt d) = lambda u sqrt d
        self.eigenvalues_, self.embedding_ = values, _unit_rows(vectors)
        labels, self._centres, self.ncut_ = _smallest_cut(
            vectors / np.sqrt(weight)[:, None],
            self.embedding_,
            weight,
            degrees,
            None if found.status == "interrupted" and data.n**2 > _QUICK else gram,
            self.n_jobs,
        )
        self.kernel_ = kernel
        kept = np.arange(data.n) if data.kept is None else data.kept.astype(np.int64)
        self._X_fit = kept if kernel.pairwise else data.X
        self.labels_ = labels
        if data.kept is not None:
            self.labels_ = self.predict(X)
            self.labels_[data.kept] = labels
        self._certify(found, matrix, kernel, k, run.seconds)

    def _certify(
        self, found: RitzPairs, matrix: ProjectedGram, kernel: Kernel, k: int, seconds: float
    ) -> None:
        upper = float(k)  # eigenvalues of a normalised matrix of affinities are at most 1
        if found.n_products == 0:
            upper = float(found.values.sum())
        elif found.exact and kernel.definiteness.is_psd:
            bounds = eigenvalues_at_most(found, k, matrix.trace())
            upper = float(np.minimum(bounds, 1.0).sum())
        rounding = 8.0 * np.finfo(float).eps * math.sqrt(matrix.n) * k
        ended = found.status in ("iteration_limit", "time_limit", "interrupted")
        self.certificate_ = bounded(
            found.status if ended else "stationary",
            max(self.ncut_, 0.0) + rounding,
            max(k - upper - rounding, 0.0),
            violation=0.0 if not ended else math.nan,
            n_iter=found.n_products,
            seconds=seconds,
            assumes=None if kernel.definiteness.is_psd else "psd",
            rounding=rounding,
        )
        if found.status in ("iteration_limit", "time_limit"):
            warn_caller(
                f"the eigenvectors had not converged at the {found.status.replace('_', ' ')}; the "
                f"largest residual is {found.residual_norms[:k].max():.2g}, tol={self.tol:g}.",
                ConvergenceWarning,
            )

    def predict(self, X: Any) -> Labels:
        """Return the positions of the clusters of objects, of shape (n_X,).

        They come from the extension of the eigenvectors to the objects. A precomputed kernel takes
        their affinities to all training objects.
        """
        X = self._objects(X)
        if self.kernel_.pairwise:
            values = Prepared(self.kernel_, self._X_fit).matmul(X, self._maps, self.n_jobs)
        else:
            rows, Z = stored_alike(X, self._X_fit)
            values = Prepared(self.kernel_, Z).matmul(rows, self._maps, self.n_jobs)
        rows = _unit_rows(values * self._scale)
        return _squares(rows, self._centres).argmin(axis=1)


def _signed(vectors: Array) -> Array:
    """Return vectors whose largest entries are positive."""
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)


def _smallest_cut(
    rows: Array, units: Array, weight: Array, degrees: Array, gram: Gram | None, n_jobs: int | None
) -> tuple[Labels, Array, float]:
    """Return the labels, centres and normalised cut of the better of two starts.

    `rows`: of the eigenvectors of single copies. Both starts take the longest of them as the first
    centre; the others are the pivots of these rows, or of the rows of length 1, `units`. `gram`:
    None after Ctrl-C, for a few steps from the first start and without the cut, NaN, which would
    cost a product with the matrix.
    """
    k = rows.shape[1]
    first = int(np.einsum("ij,ij->i", rows, rows).argmax())
    if gram is None:
        starts, steps = [rows], _HURRIED
    else:
        starts, steps = [rows, units], None
    found = [_lloyd(units, weight, units[_pivots(R, first)], steps) for R in starts]
    marks = np.hstack([np.eye(k)[labels] * weight[:, None] for labels, _ in found])
    volume = (degrees @ marks).reshape(-1, k)
    best, cut = 0, math.nan
    if gram is not None:
        within = np.einsum("ij,ij->j", marks, gram.matmul(marks, n_jobs)).reshape(2, k)
        cuts = k - (within / np.maximum(volume, 1e-300)).sum(axis=1)
        best = int(cuts[1] < cuts[0] - _GAIN)
        cut = float(cuts[best])
    labels, centres = found[best]
    order = np.argsort(-volume[best], kind="stable")  # empty clusters without a centre come last
    return np.argsort(order)[labels], centres[order[: len(centres)]], cut


def _pivots(rows: Array, first: int) -> list[int]:
    """Return the pivots of a QR factorisation, each the row farthest from the span of the others.

    Fewer than the columns where the rows span less.
    """
    left, smallest = rows.copy(), _SAME * float(rows[first] @ rows[first])
    pivots: list[int] = []
    while len(pivots) < rows.shape[1]:
        squares = np.einsum("ij,ij->i", left, left)
        pivot = int(squares.argmax()) if pivots else first
        if squares[pivot] <= smallest:
            break
        pivots.append(pivot)
        direction = left[pivot] / np.sqrt(squares[pivot])
        left -= np.outer(left @ direction, direction)
    return pivots


def _lloyd(rows: Array, weight: Array, centres: Array, steps: int | None) -> tuple[Labels, Array]:
    """Return labels and centres after assignment and averaging until no object moves.

    `steps`: the largest number of them, or None.
    """
    n, k = len(rows), len(centres)
    labels = _squares(rows, centres).argmin(axis=1)
    for step in itertools.count(1):
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, rows * weight[:, None])
        total = np.bincount(labels, weights=weight, minlength=k)[:, None]
        centres = np.where(total > 0.0, sums / np.where(total > 0.0, total, 1.0), centres)
        squares = _squares(rows, centres)
        nearest = squares.argmin(axis=1)
        moving = squares[np.arange(n), labels] - squares[np.arange(n), nearest] > _GAIN
        if not moving.any() or step == steps:
            break
        labels = np.where(moving, nearest, labels)
    return labels, centres


def _squares(rows: Array, centres: Array) -> Array:
    """Return squared distances minus the squared lengths of the rows.

    Not by BLAS: a label must not depend on how many objects come with it.
    """
    return (centres**2).sum(axis=1) - 2.0 * np.einsum("ij,kj->ik", rows, centres)


def _unit_rows(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    return np.divide(A, lengths, out=np.zeros_like(A), where=lengths > 0.0)


def _degrees(gram: Gram, weight: Array, n_jobs: int | None) -> Array:
    """Return the weighted row sums; negative affinities raise ValueError."""
    sums = np.empty(gram.n)
    step = max(1, 2**22 // gram.n)
    for first in range(0, gram.n, step):
        rows = np.arange(first, min(first + step, gram.n))
        tile = np.asarray(gram.tile(rows, n_jobs=n_jobs), dtype=np.float64)
        if tile.min() < _NEGATIVE * max(float(np.abs(tile).max()), 1e-300):
            raise ValueError(
                f"{gram.kernel!r} has negative values ({tile.min():.6g}), which are no affinities; "
                "use a kernel without negative values, such as RBF, or KernelKMeans."
            )
        sums[rows] = tile @ weight
    if not (sums > 0.0).all():
        raise ValueError("an object has affinity 0 to all objects, itself too; remove it.")
    return sums
