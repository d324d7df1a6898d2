"""One classification problem of a Gaussian process: labels, covariance, mode of the posterior.

`BinaryProcess` has two classes, `SoftmaxProcess` any number; both have the same methods. Several
of the first are one-vs-rest and one-vs-one classification.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from mercer.gram import Gram
from mercer.kernels import Precomputed
from mercer.numerics.logistic_normal import logistic_normal_mean
from mercer.objects.validation import count, take
from mercer.solvers import Certificate
from mercer.solvers.certificate import GAP_LIMIT
from mercer.solvers.curvature import look_for_negative_curvature
from mercer.solvers.prove import bounded
from mercer.solvers.rounding import estimated, of_sum

from ..ridge.proof import convexity_of
from . import laplace, softmax_laplace
from .covariance import Covariance
from .search import NOWHERE, Found, Point, Stop, unhurried

Array = NDArray[np.float64]

_BLOCK = 1024  # objects at a time
_DRAWS = 10  # logarithm to base 2 of the points of the integral over the latent values
_START = np.zeros(1, dtype=np.intp)


class LatentProcess:
    """Base class: a covariance on training objects, with the mode of the posterior.

    `X`: validated training objects. `targets`: the problem whose mode is sought. `max_iter`: limit
    on the Newton steps.
    """

    covariance: Covariance
    certificate: Certificate
    evidence: float
    _mode: Any

    def __init__(self, X: Any, targets: Array, max_iter: int) -> None:
        self.X, self.targets, self.max_iter = X, targets, max_iter
        self.start: Array | None = None

    def _find(self, K: Array, start: Array | None, stop: Stop, polish: bool = False) -> Any:
        """Return the mode for a covariance matrix, or the point at which `stop` ended the way."""
        raise NotImplementedError

    def _gradient(self, mode: Any, K: Array) -> Array:
        """Return the gradient of the evidence by the entries of K."""
        raise NotImplementedError

    def point(self, covariance: Covariance, stop: Stop = unhurried) -> Point:
        """Return the log evidence, its gradient by theta and the mode.

        Newton's method starts from the last mode, and the next one from this one.
        """
        found = self._evaluated(covariance, self.start, stop)
        if found[2] is not None:
            self.start = found[2].coef
        return found

    def afresh(self, covariance: Covariance) -> Point:
        """Return the same as a function of the covariance alone, whatever was evaluated before.

        The mode is sought from 0 and polished: the determinant in the evidence is wrong by the
        error of the mode, which is the root of the gap.
        """
        return self._evaluated(covariance, None, unhurried, polish=True)

    def _evaluated(
        self, covariance: Covariance, start: Array | None, stop: Stop, polish: bool = False
    ) -> Point:
        try:
            K = covariance.matrix(self.X, True)
            stop()
            mode = self._find(K, start, stop, polish)
        except (np.linalg.LinAlgError, FloatingPointError):
            return NOWHERE

        def gradient() -> Array:
            weights = self._gradient(mode, K)
            stop()
            return covariance.contract(self.X, weights)

        return mode.evidence, gradient, mode

    def keep(self, covariance: Covariance, found: Found | None, seconds: float) -> None:
        """Keep the mode at the hyper-parameters found, with its certificate.

        After an interrupt of another problem, with no evaluation of this one, the first point of
        Newton's method has to do.
        """
        K = covariance.matrix(self.X, True)
        mode, status = (None, "") if found is None else (found.at, found.status)
        stopped = status in ("time_limit", "interrupted")
        if mode is None or not stopped:
            self.start = self.start if mode is None else mode.coef
            mode = self._find(K, self.start, lambda: status == "interrupted", not stopped)
        self.covariance, self._mode = covariance, mode
        self.evidence = self._mode.evidence
        violation, status, n_iter = 0.0, "optimal", 0
        if found is not None:
            violation = found.violation(
                covariance.bounds,
                lambda: covariance.contract(self.X, self._gradient(self._mode, K)),
            )
            status, n_iter = found.status, found.n_iter
        self.certificate = self._certified(K, status, violation, n_iter, seconds)

    def _certified(
        self, K: Array, status: str, violation: float, n_iter: int, seconds: float
    ) -> Certificate:
        """Return the gap of the penalised logistic problem, widened by rounding."""
        mode, n = self._mode, len(K)
        errors = estimated(np.sqrt(np.maximum(np.diagonal(K), 0.0)))
        rounding = 0.0
        for a, b, f in zip(*(np.atleast_2d(v.T) for v in (mode.coef, mode.slope, mode.latent)),
                           strict=True):  # fmt: skip
            slip, of_dual = errors.of(a, None, _START), errors.of(b, None, _START)
            rounding += float(0.5 * np.abs(a) @ slip + slip.sum() + 0.5 * np.abs(b) @ of_dual)
            rounding += float(of_sum(np.concatenate([np.abs(a * f), np.abs(f) + 1.0]), _START)[0])
        primal, dual = mode.primal + rounding, mode.dual - rounding
        convexity = convexity_of(self.covariance.gram(self.X).kernel, False)
        eigenvalue = None
        if convexity == "not ruled out":
            found = look_for_negative_curvature(
                Gram(Precomputed(), K, "float64"),
                np.arange(n),
                sum_zero=False,
                seconds=np.inf,
                value_seconds=0.0,
            )
            convexity = "checked" if found.negative is None else "refuted"
            eigenvalue = None if found.negative is None else found.negative.eigenvalue
        return bounded(
            status,
            primal,
            dual,
            size=mode.primal,
            violation=violation,
            gap_limit=GAP_LIMIT,
            n_iter=n_iter,
            n_kernel_values=n * n * max(1, n_iter),
            seconds=seconds,
            assumes="psd" if convexity == "checked" else None,
            rounding=rounding,
            convexity=convexity,
            eigenvalue=eigenvalue,
        )

    def _in_blocks(self, X: Any) -> Any:
        """Go through new objects: blocks of them and their kernel values with the old ones."""
        total = count(X)
        for first in range(0, total, _BLOCK):
            whole = total <= _BLOCK
            block = X if whole else take(X, slice(first, min(first + _BLOCK, total)))
            yield block, self.covariance.cross(block, self.X)

    def probabilities(self, X: Any) -> Array:
        """Return the probabilities of the classes, of shape (m, C)."""
        raise NotImplementedError


class BinaryProcess(LatentProcess):
    """Two classes; the targets are -1 and +1."""

    _mode: laplace.Mode

    def _find(
        self, K: Array, start: Array | None, stop: Stop, polish: bool = False
    ) -> laplace.Mode:
        return laplace.posterior_mode(K, self.targets, start, self.max_iter, stop, polish)

    def _gradient(self, mode: laplace.Mode, K: Array) -> Array:
        return laplace.evidence_gradient(mode, K)

    def means(self, X: Any) -> Array:
        """Return the means of the latent function."""
        return np.concatenate([rows @ self._mode.slope for _, rows in self._in_blocks(X)])

    def moments(self, X: Any) -> tuple[Array, Array]:
        """Return means and variances of the latent function."""
        means, variances = [], []
        for block, rows in self._in_blocks(X):
            prior = self.covariance.diagonal(block, True)
            means.append(rows @ self._mode.slope)
            variances.append(
                laplace.latent_variance(self._mode.root, self._mode.factor, prior, rows)
            )
        return np.concatenate(means), np.concatenate(variances)

    def probabilities(self, X: Any) -> Array:
        """Return the probabilities of both classes."""
        p = logistic_normal_mean(*self.moments(X))
        return np.column_stack([1.0 - p, p])


class SoftmaxProcess(LatentProcess):
    """Any number of classes; the targets are their indicators, of shape (n, C)."""

    _mode: softmax_laplace.SoftmaxMode

    def _find(
        self, K: Array, start: Array | None, stop: Stop, polish: bool = False
    ) -> softmax_laplace.SoftmaxMode:
        return softmax_laplace.softmax_mode(K, self.targets, start, self.max_iter, stop, polish)

    def _gradient(self, mode: softmax_laplace.SoftmaxMode, K: Array) -> Array:
        return softmax_laplace.evidence_gradient(mode, K)

    def probabilities(self, X: Any) -> Array:
        """Return the mean of softmax(f) over f, by the same quasi-random points for all objects."""
        from scipy.stats import norm, qmc

        n_classes = self.targets.shape[1]
        points = qmc.Sobol(n_classes, scramble=True, seed=0).random_base2(_DRAWS)
        draws = norm.ppf(np.clip(points, 1e-12, 1.0 - 1e-12)).T
        found = []
        for block, rows in self._in_blocks(X):
            means = rows @ self._mode.slope
            prior = self.covariance.diagonal(block, True)
            V = softmax_laplace.latent_covariances(
                self._mode.blocks, self._mode.factor, prior, rows
            )
            values, vectors = np.linalg.eigh(V)
            roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
            latent = means[:, :, None] + roots @ draws
            found.append(softmax(latent, axis=1).mean(axis=2))
        return np.concatenate(found)
