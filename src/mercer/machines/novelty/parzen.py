r"""Kernel density estimation with Gaussian windows, and the choice of their width."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.base import DensityMixin

from mercer.gram import Gram, Prepared
from mercer.kernels import RBF
from mercer.objects.arrays import Array
from mercer.objects.parameters import (
    ParameterError,
    declared,
    is_number,
    parameter,
    positive,
    show,
    threads,
)
from mercer.run import Run
from mercer.solvers.prove import local

from ..estimator import Estimator
from ..progress import running

RULES = ("likelihood", "silverman", "scott")

_TINY = 1e-250  # sums below this are taken again in logarithms
_CANCELLED = 1e-6  # sums without the own window, relative to it, that are taken in logarithms
_VALUES = 2**22  # distances that are held at once
_SPAN = (1e-3, 30.0)  # widths that are searched, relative to Scott's


def _bandwidth(value: Any, name: str) -> None:
    if is_number(value):
        positive(value, name)
    elif not isinstance(value, str) or value not in RULES:
        raise ParameterError(
            f"{name} must be a number or one of {', '.join(RULES)}; got {show(value)}."
        )


@declared
class ParzenDensity(DensityMixin, Estimator):
    r"""The Parzen window estimate of a density.

    .. math:: p(x) = \frac{1}{W} \sum_i w_i \prod_j \frac{1}{h s_j \sqrt{2\pi}}
              e^{-(x_j - x_{ij})^2 / 2 h^2 s_j^2}

    with weights w, their sum W, and the scales s_j of the columns.

    Attributes
    ----------
    bandwidth_ : float
        The factor h.
    scale_ : array of shape (n_features,)
        The scales s_j; 1 where `bandwidth` is a number.
    loo_log_likelihood_ : float
        The sum of log densities of the training rows, each without its own window.
    certificate_ : Certificate
        For "likelihood": "stationary", the width is a local maximum inside the searched range, or
        "infeasible" where the likelihood grows without bound as h tends to 0, because rows repeat.
    kernel_ : Kernel
        The Gaussian kernel of width h on scaled rows.

    Examples
    --------
    >>> from mercer import ParzenDensity
    >>> density = ParzenDensity(1.0).fit([[-1.0], [1.0]])
    >>> density.score_samples([[0.0]]).round(4).tolist()  # log of exp(-1/2) / sqrt(2 pi)
    [-1.4189]
    """

    bandwidth: Any = parameter(
        _bandwidth, default="likelihood", kind='float > 0 or {"likelihood", "silverman", "scott"}'
    )
    """A number is the width in the units of the data, for all columns. The rules take the standard
    deviations of the columns as their scales and choose the factor h: Scott's W^(-1/(d+4)),
    Silverman's (W (d + 2) / 4)^(-1/(d+4)), or the one with the largest leave-one-out likelihood."""
    _: KW_ONLY
    n_jobs: int | None = parameter(threads, default=None)
    """Threads."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows and choose the width.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; weight k counts as k copies, weight 0 as none.

        Returns
        -------
        self : ParzenDensity
            The fitted density. After Ctrl-C in the search for the width it has the best one so
            far, with the status "interrupted", and KeyboardInterrupt is raised.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            data = self._enter_rows(X, None, sample_weight)
            self._choose(np.asarray(data.X, dtype=np.float64), data.weights, run)
        run.raise_interrupt()
        return self

    def _choose(self, X: Array, weight: Array, run: Run) -> None:
        total, d = float(weight.sum()), X.shape[1]
        scale = np.ones(d)
        n_iter, status = 0, "optimal"
        if is_number(self.bandwidth):
            h = float(self.bandwidth)
        else:
            mean = weight @ X / total
            spread = np.sqrt(weight @ (X - mean) ** 2 / total)
            if not (spread > 0.0).any() or total <= 1.0:
                raise ValueError(
                    "a rule for the bandwidth needs at least 2 different rows (n_samples="
                    f"{len(X)}); give a number."
                )
            scale = np.where(spread > 0.0, spread, spread[spread > 0.0].min())
            scott = total ** (-1.0 / (d + 4))
            h = scott if self.bandwidth != "silverman" else scott * ((d + 2) / 4) ** (-1 / (d + 4))
            if self.bandwidth == "likelihood":
                h, n_iter, status = self._most_likely(X / scale, weight, scott, run)
        self.bandwidth_, self.scale_ = h, scale
        self._rows_fit, self._weight_fit = X / scale, weight
        self.kernel_ = RBF(0.5 / h**2)
        value = _leave_one_out(self._rows_fit, weight, h, self.n_jobs) - total * float(
            np.log(scale).sum()
        )
        self.loo_log_likelihood_ = value
        self.certificate_ = local(status, -value, n_iter=n_iter, seconds=run.seconds)

    def _most_likely(
        self, Z: Array, weight: Array, scott: float, run: Run
    ) -> tuple[float, int, str]:
        """Return the width of the largest leave-one-out likelihood, by a grid and a refinement."""
        low, high = (math.log(factor * scott) for factor in _SPAN)
        grid = np.linspace(low, high, 25)
        values = np.full(len(grid), math.inf)
        nearest = _nearest_squares(Z, weight)
        tried: list[tuple[float, float]] = []

        def cost(u: float) -> float:
            value = -_leave_one_out(Z, weight, math.exp(u), self.n_jobs)
            tried.append((value, u))
            run.report(len(tried), objective=value)
            run.check()
            return value

        width, n_iter, status = math.nan, 0, "stationary"
        with run.until_stopped():
            for i in reversed(range(len(grid))):
                h = math.exp(grid[i])
                # No window reaches a row from nearer than its nearest neighbour.
                exponents = math.log(weight.sum()) - 0.5 * nearest / h**2
                if -float(weight @ (exponents - _log_size(Z, weight, h))) < values.min():
                    values[i] = cost(grid[i])
            best = int(np.argmin(values))
            if best == 0:
                return math.exp(low), len(grid), "infeasible"
            bracket = (grid[best - 1], grid[min(best + 1, len(grid) - 1)])
            found = scipy.optimize.minimize_scalar(
                cost, bounds=bracket, method="bounded", options={"xatol": 1e-4}
            )
            width, n_iter = math.exp(float(found.x)), len(grid) + int(found.nfev)
        if run.status is not None:
            if not tried:
                run.raise_interrupt()
            width, n_iter, status = math.exp(min(tried)[1]), len(tried), run.status
        return width, n_iter, status

    def score_samples(self, X: Any) -> Array:
        """Return the logarithms of the density at rows, of shape (n_X,)."""
        Z = np.asarray(self._rows(X), dtype=np.float64) / self.scale_
        sums = Prepared(self.kernel_, self._rows_fit).matmul(Z, self._weight_fit, self.n_jobs)
        far = sums < _TINY
        with np.errstate(divide="ignore"):
            logs = np.log(sums)
        if far.any():  # windows that underflow: once more in logarithms
            exponents = -0.5 * cdist(Z[far], self._rows_fit, "sqeuclidean") / self.bandwidth_**2
            logs[far] = logsumexp(exponents, axis=1, b=self._weight_fit)
        d = self._rows_fit.shape[1]
        size = d * math.log(self.bandwidth_ * math.sqrt(2.0 * math.pi)) + np.log(self.scale_).sum()
        return np.asarray(logs - math.log(float(self._weight_fit.sum())) - size)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log likelihood of rows, the sum of their log densities."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the density, of shape (n_samples, n_features)."""
        self._require_fit()
        rng = np.random.default_rng(random_state)
        share = self._weight_fit / self._weight_fit.sum()
        chosen = self._rows_fit[rng.choice(len(share), n_samples, p=share)]
        return np.asarray((chosen + self.bandwidth_ * rng.normal(size=chosen.shape)) * self.scale_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _leave_one_out(Z: Array, weight: Array, h: float, n_jobs: int | None) -> float:
    """Return the weighted sum of log densities, each without one copy of its own window."""
    total = float(weight.sum())
    if total <= 1.0:
        return -math.inf
    own = np.minimum(weight, 1.0)
    sums = Gram(RBF(0.5 / h**2), Z, "float64").matmul(weight, n_jobs) - own
    far = np.flatnonzero(sums <= _CANCELLED * own)
    logs = np.log(np.where(sums > 0.0, sums, 1.0))
    for rows in _chunks(far, len(Z)):
        left = np.tile(weight, (len(rows), 1))
        left[np.arange(len(rows)), rows] -= own[rows]
        exponents = -0.5 * cdist(Z[rows], Z, "sqeuclidean") / h**2
        logs[rows] = logsumexp(exponents, axis=1, b=left)
    return float(weight @ (logs - _log_size(Z, weight, h)))


def _log_size(Z: Array, weight: Array, h: float) -> float:
    """Return the logarithm of what divides the sum of the windows of all other rows."""
    constant = Z.shape[1] * math.log(h * math.sqrt(2.0 * math.pi))
    return math.log(float(weight.sum()) - 1.0) + constant


def _nearest_squares(Z: Array, weight: Array) -> Array:
    """Return squared distances to the nearest other row, 0 where a row has copies."""
    squares = np.zeros(len(Z))
    for rows in _chunks(np.flatnonzero(weight <= 1.0), len(Z)):
        distances = cdist(Z[rows], Z, "sqeuclidean")
        distances[np.arange(len(rows)), rows] = math.inf
        squares[rows] = distances.min(axis=1)
    return squares


def _chunks(rows: NDArray[np.intp], n: int) -> list[NDArray[np.intp]]:
    step = max(1, _VALUES // n)
    return [rows[first : first + step] for first in range(0, len(rows), step)]
