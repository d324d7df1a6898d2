"""Features from a few landmarks: the Nystrom approximation of a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.geometry import pivoted_cholesky
from mercer.gram import Gram, Prepared
from mercer.kernels import Kernel
from mercer.kernels.resolve import KernelLike
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.numerics.symmetric_matrices import oriented
from mercer.objects.parameters import (
    declared,
    integer_from,
    one_of,
    parameter,
    real_from,
    seed,
)
from mercer.objects.validation import count, stored_alike, take

from .base import KernelFeatures
from .seeds import generator

SELECTIONS = ("uniform", "random_pivots", "greedy")


@declared
class Nystrom(KernelFeatures, NamedKernelEstimator):
    r"""Features of a kernel from its values against a few landmarks.

    With landmarks :math:`z_1, \ldots, z_m` and the eigenvectors of their kernel matrix,
    :math:`K_{mm} = U \Lambda U'`, the features of x are :math:`\Lambda^{-1/2} U' k(z, x)`. Their
    dot products are the kernel exactly where one of the objects is a landmark, and never larger
    in the sense of matrices. With all training objects as landmarks they are the empirical
    eigenfeatures of the kernel and rebuild its training matrix.

    C. Williams, M. Seeger, "Using the Nystrom method to speed up kernel machines", NIPS 2001.

    Attributes
    ----------
    landmark_indices_ : array of int
        Positions of the landmarks among the training objects.
    landmarks_ : objects
        The landmarks; for a precomputed kernel their positions.
    eigenvalues_ : array of shape (n_components_,)
        Eigenvalues of the kernel matrix of the landmarks, falling.
    normalization_ : array of shape (n_landmarks, n_components_)
        Matrix by which kernel values against the landmarks are multiplied.
    n_components_ : int
        Number of features, the numerical rank.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import Nystrom
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> features = Nystrom(gamma=0.1, n_components=60, selection="greedy").fit(X)
    >>> features.transform(X).shape[0], bool(features.approximation_error(X).max < 1e-6)
    (500, True)
    """

    kernel: KernelLike = parameter(default="rbf", kind="str, Kernel or callable")
    """A kernel, as for the machines; it must be positive semidefinite."""
    _: KW_ONLY
    n_components: int = parameter(integer_from(1), default=100)
    """Number of landmarks (fewer, if there are fewer objects)."""
    selection: str = parameter(one_of(*SELECTIONS), default="uniform")
    """How landmarks are drawn: uniformly; in proportion to what the landmarks so far leave
    unexplained; or the object farthest from their span. The last two cost one kernel row per
    landmark and follow the data better."""
    rank_tol: float = parameter(real_from(0.0), default=1e-14)
    """Eigenvalues below this share of the largest are rounding, and their features are left out.
    The features of two landmarks reproduce their kernel value up to the sum s of what is left out,
    those of a landmark and another object x up to the root of s k(x, x)."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of the draw."""

    def _choose(self, kernel: Kernel, X: Any) -> None:
        chosen = self._landmarks(kernel, X)
        if kernel.pairwise:
            K = np.asarray(X[np.ix_(chosen, chosen)], dtype=np.float64)
        else:
            K = Gram(kernel, take(X, chosen), "float64").tile()
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        values, vectors = values[::-1], vectors[:, ::-1]
        if values[-1] < -1e-8 * values[0]:
            raise ValueError(
                f"{kernel!r} is not positive semidefinite on these objects: the kernel matrix of "
                f"the landmarks has the eigenvalue {values[-1]:.6g}, and no features have such a "
                "matrix as their dot products."
            )
        kept = values > self.rank_tol * max(values[0], 0.0)
        if not kept.any():
            raise ValueError(
                f"all {len(chosen)} landmarks have length 0 in feature space, so there are no "
                "features; draw more of them, or use selection='greedy'."
            )
        values, vectors = values[kept], oriented(vectors[:, kept])
        self.landmark_indices_ = chosen
        self.landmarks_ = chosen.astype(np.int64) if kernel.pairwise else take(X, chosen)
        self.eigenvalues_: NDArray[np.float64] = values
        self.normalization_: NDArray[np.float64] = vectors / np.sqrt(values)
        self.n_components_ = len(values)

    def _features(self, X: Any) -> np.ndarray:
        if self.kernel_.pairwise:
            return Prepared(self.kernel_, self.landmarks_).matmul(X, self.normalization_)
        X, Z = stored_alike(X, self.landmarks_)
        return Prepared(self.kernel_, Z).matmul(X, self.normalization_)

    def _landmarks(self, kernel: Kernel, X: Any) -> np.ndarray:
        n = count(X)
        m = min(int(self.n_components), n)
        rng = generator(self.random_state)
        if m == n:
            return np.arange(n)
        if self.selection == "uniform":
            return np.sort(rng.choice(n, m, replace=False))
        pivoting = "largest" if self.selection == "greedy" else "random"
        found = pivoted_cholesky(
            kernel, X, tol=0.0, max_rank=m, pivoting=pivoting, random_state=rng
        )
        return found.pivots
