r"""Spectral clustering with the values of any kernel as affinities.

Problem: labels with the smallest normalised cut, with D the diagonal of the row sums of K,

.. math:: \mathrm{Ncut} = \sum_c \frac{\mathrm{cut}(c)}{\mathrm{vol}(c)}
          = k - \sum_c \frac{1_c' K 1_c}{1_c' D 1_c} .

Method: the indicators relaxed to orthonormal vectors are the k leading eigenvectors of
:math:`D^{-1/2} K D^{-1/2}` (block Krylov, without the matrix); their rows, scaled to length 1, are
clustered by k-means (J. Shi, J. Malik, IEEE Trans. PAMI 22, 2000; A. Ng, M. Jordan, Y. Weiss, NIPS
2001). The relaxation bounds every clustering: Ncut >= k minus the sum of the k largest eigenvalues.
"""

from __future__ import annotations

import math
import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.gram import Gram, Prepared
from mercer.kernels import Kernel
from mercer.machines.conventions import ClusterMixin
from mercer.machines.estimator import KernelEstimator
from mercer.numerics.block_krylov import RitzPairs
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import integer, positive
from mercer.objects.validation import stored_alike
from mercer.solvers import Certificate

from .kernel_kmeans import KernelKMeans
from .projected_gram import ProjectedGram
from .seeds import generator
from .spectrum_bounds import upper_bounds

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_NEGATIVE = -1e-12  # relative to the largest: a smaller negative affinity is rounding


class KernelSpectralClustering(ClusterMixin, KernelEstimator):
    """Spectral clustering of any objects, with a lower bound on the best normalised cut.

    Above 500 objects the eigenvectors come from the iteration of :class:`KernelPCA`, in its memory:
    at most 1 GB of kernel values are kept, and no matrix where that does not suffice.

    Parameters
    ----------
    n_clusters : int >= 1, default=8
        Number of clusters.
    kernel : str, Kernel or callable, default="rbf"
        A kernel, as for the machines; its values are the affinities and must not be
        negative.
    gamma, degree, coef0 : float or str, int, float
        Parameters of a named kernel; see :class:`mercer.SVC`.
    n_init : int >= 1, default=10
        Starts of k-means in the space of the eigenvectors.
    tol : float >= 0, default=1e-6
        Accepted residual of the eigenvectors.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    time_limit : float > 0 or None, default=None
        Seconds after which the iteration ends with the eigenvectors found so far.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    labels_ : array of int
        The cluster of every object.
    eigenvalues_ : array of shape (n_clusters,)
        Leading eigenvalues of the normalised kernel matrix, the first one 1; a gap after the k-th
        speaks for k clusters.
    embedding_ : array of shape (n_samples, n_clusters)
        The rows that were clustered.
    ncut_ : float
        The normalised cut of the labels.
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

    _sparse_means_sparse = False

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_init: int = 10,
        tol: float = 1e-6,
        random_state: Any = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.tol = tol
        self.random_state = random_state
        self.time_limit = time_limit
        self.n_jobs = n_jobs

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
        with self._all_or_nothing():
            self._fit(X, sample_weight)
        if self.certificate_.status == "interrupted":
            raise KeyboardInterrupt
        return self

    def _fit(self, X: Any, sample_weight: Any) -> None:
        begun = time.monotonic()
        k = integer(self.n_clusters, "n_clusters", minimum=1)
        integer(self.n_init, "n_init", minimum=1)
        if self.time_limit is not None:
            positive(self.time_limit, "time_limit")
        data, kernel = self._enter(X, None, sample_weight)
        if data.n < k:
            raise ValueError(
                f"n_clusters={k} needs at least as many objects; got n_samples={data.n}."
            )
        gram = self._gram(data, kernel)
        weight = np.ones(data.n) if data.weight is None else data.weight
        degrees = _degrees(gram, weight, self.n_jobs)
        # D^-1/2 K D^-1/2 of copies has the same non-zero eigenvalues as this matrix.
        matrix = ProjectedGram(
            gram, weight / degrees, np.empty((data.n, 0)), self.n_jobs, self.time_limit
        )
        found = matrix.leading(k, generator(self.random_state), float(self.tol))
        values, vectors = found.values[:k], _signed(found.vectors[:, :k])
        self._scale = 1.0 / np.maximum(values, 1e-12)
        self._maps = (
            vectors * np.sqrt(weight / degrees)[:, None]
        )  # K (u / sqrt d) = lambda u sqrt d
        embedding = _unit_rows(vectors)
        means = KernelKMeans(
            k, kernel="linear", n_init=int(self.n_init), random_state=self.random_state
        ).fit(embedding, sample_weight=data.weight)
        self.eigenvalues_, self.embedding_ = values, embedding
        self._centres = means.coef_.T @ embedding
        self.kernel_ = kernel
        kept = np.arange(data.n) if data.kept is None else data.kept.astype(np.int64)
        self._X_fit = kept if kernel.pairwise else data.X
        self.labels_ = means.labels_
        if data.kept is not None:
            self.labels_ = self.predict(X)
            self.labels_[data.kept] = means.labels_
        marks = np.eye(k)[means.labels_] * weight[:, None]
        within = np.einsum("ij,ij->j", marks, gram.matmul(marks, self.n_jobs))
        volume = degrees @ marks
        self.ncut_ = float(k - (within / np.maximum(volume, 1e-300)).sum())
        self._certify(found, matrix, kernel, k, time.monotonic() - begun)

    def _certify(
        self, found: RitzPairs, matrix: ProjectedGram, kernel: Kernel, k: int, seconds: float
    ) -> None:
        upper = float(k)  # eigenvalues of a normalised matrix of affinities are at most 1
        if found.n_products == 0:
            upper = float(found.values.sum())
        elif found.exact and kernel.definiteness.is_psd:
            bounds = upper_bounds(found.values, found.residual_norms, k, matrix.trace())
            upper = float(np.minimum(bounds, 1.0).sum())
        rounding = 8.0 * np.finfo(float).eps * math.sqrt(matrix.n) * k
        dual = max(k - upper - rounding, 0.0)
        primal = max(self.ncut_, 0.0) + rounding
        ended = found.status in ("iteration_limit", "time_limit", "interrupted")
        self.certificate_ = Certificate(
            found.status if ended else "stationary",
            primal=primal,
            dual=dual,
            gap=primal - dual,
            relative_gap=(primal - dual) / primal,
            kkt_violation=0.0 if not ended else math.nan,
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
        """Return the clusters of objects, from the extension of the eigenvectors to them.

        Parameters
        ----------
        X : objects
            Objects; for a precomputed kernel their affinities to all training objects.

        Returns
        -------
        array of int of shape (n_X,)
            Positions of the clusters.
        """
        X = self._objects(X)
        if self.kernel_.pairwise:
            values = Prepared(self.kernel_, self._X_fit).matmul(X, self._maps, self.n_jobs)
        else:
            rows, Z = stored_alike(X, self._X_fit)
            values = Prepared(self.kernel_, Z).matmul(rows, self._maps, self.n_jobs)
        rows = _unit_rows(values * self._scale)
        squares = ((rows[:, None, :] - self._centres) ** 2).sum(axis=2)
        return np.argmin(squares, axis=1)


def _signed(vectors: Array) -> Array:
    """Return vectors whose largest entries are positive."""
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)


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
