"""Base class of Gaussian process estimators: the door, the covariance, the evidence search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from mercer.kernels import RBF, Kernel
from mercer.kernels.hyperparameters import DEFAULT_BOUNDS, checked_pair, hyperparameters
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    declared,
    integer_from,
    optional,
    parameter,
    positive,
    require_choice,
    seed,
    verbosity,
)
from mercer.objects.validation import validated
from mercer.run import Run

from ..input_validation import plain_rows
from ..kernel_estimator import KernelEstimator
from .covariance import Covariance, MercerCovariance, SklearnCovariance
from .search import NOWHERE, Found, Point, Stop, evaluated, maximise, unhurried

Array = NDArray[np.float64]
Value = Callable[[Covariance, Stop], Point]


def _optimizer(value: Any, name: str) -> None:
    if not (value is None or callable(value)):
        require_choice(value, name, ("fmin_l_bfgs_b",))


@declared
class ProcessEstimator(KernelEstimator):
    """Base class of Gaussian processes with kernels of mercer or of scikit-learn."""

    _: KW_ONLY
    kernel: Any = None  # also of scikit-learn
    optimizer: Any = parameter(
        _optimizer, default="fmin_l_bfgs_b", kind='"fmin_l_bfgs_b", callable or None'
    )
    """None keeps the hyper-parameters. A callable has scikit-learn's signature."""
    n_restarts_optimizer: int = parameter(integer_from(0), default=0)
    """Further starting points, drawn log-uniformly within the bounds."""
    random_state: Any = parameter(seed, default=None, kind="int, RandomState or None")
    """Draws the starting points."""
    bounds: Any = parameter(default=None, kind='None, "fixed" or dict')
    """Bounds for parameters of a mercer kernel by name, such as ``{"kernel__gamma": (1e-3, 1e3),
    "scale": "fixed"}``; see :meth:`Kernel.with_bounds`."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds for the search; the best point so far is kept. The clock is read between the
    factorisations, of which each problem has at least one. Ctrl-C is heard there too: it leaves the
    best point so far, or before the first factorisation the model of an earlier fit."""
    verbose: bool | int = parameter(verbosity, default=False)
    """2 prints a line per evaluation of the evidence."""

    tol = 1e-5  # of the search, for its progress bar

    @property
    def _foreign(self) -> bool:
        """Whether the kernel is scikit-learn's."""
        kernel: Any = self.kernel
        if kernel is None:
            return not self._asks_for_mercer
        return (
            not isinstance(kernel, Kernel)
            and hasattr(kernel, "clone_with_theta")
            and hasattr(kernel, "hyperparameters")
        )

    @property
    def _asks_for_mercer(self) -> bool:
        """Whether kernel=None comes with a parameter that only kernels of mercer have."""
        return False

    def _resolved_kernel(self) -> Kernel:
        return 1.0 * RBF() if self.kernel is None else super()._resolved_kernel()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._foreign:
            tags.input_tags.sparse = False
            tags.input_tags.pairwise = False
        return tags

    # -- the door ---------------------------------------------------------------------------

    def _sklearn_rows(self, X: Any, y: Any = None, *, reset: bool, **of_targets: Any) -> Any:
        """Return rows, and targets with them, as scikit-learn checks them."""
        kernel: Any = self.kernel
        vectors = kernel is None or kernel.requires_vector_input
        form: dict[str, Any] = (
            {"dtype": "numeric", "ensure_2d": True}
            if vectors
            else {"dtype": None, "ensure_2d": False}
        )
        if not reset:
            plain = plain_rows(self, X, reset=False) if vectors else None
            return validated(self, X, reset=False, **form) if plain is None else plain
        rows, targets = validated(self, X, y, **of_targets, **form)
        if vectors and len(rows) > 1 and (rows[1:] == rows[0]).all():
            warn_caller(
                f"all {len(rows)} training rows are equal, so no kernel tells them apart: the mean "
                "of the process is a constant. Check the columns of X."
            )
        return rows, targets

    def _own_sklearn_kernel(self, *, fixed: bool) -> Any:
        """Return a copy of the kernel of scikit-learn, or its default, optimised or `fixed`."""
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel

        if self.kernel is None:
            bounds: Any = "fixed" if fixed else (1e-5, 1e5)
            return ConstantKernel(1.0, bounds) * RBF(1.0, bounds)
        return clone(self.kernel)

    def _objects(self, X: Any) -> Any:
        """Return checked objects to predict."""
        if self._foreign:
            return self._sklearn_rows(X, reset=False)
        return super()._objects(X)

    # -- the search -------------------------------------------------------------------------

    def _covariance_of(self, kernel: Any, noise: float | None = None) -> Covariance:
        """Return the kernel with the hyper-parameters that are optimised.

        `noise`: the starting value of the noise variance; None: there is none.
        """
        if self._foreign:
            self.fixed_parameters_: list[str] = []
            return SklearnCovariance(kernel, getattr(self, "n_features_in_", None))
        limits: Any = self.bounds
        of_noise: Any = DEFAULT_BOUNDS
        if isinstance(limits, dict):
            limits = dict(limits)
            of_noise = checked_pair("noise", limits.pop("noise", of_noise))
        free, self.fixed_parameters_ = hyperparameters(kernel, limits)
        if self.optimizer is not None:
            _warn_of_fixed(kernel, self.fixed_parameters_)
        fixed = noise is None or isinstance(limits, str) or isinstance(of_noise, str)
        return MercerCovariance(kernel, free, noise, None if fixed else of_noise)

    def _starts(self, covariance: Covariance, rng: Any) -> list[Array]:
        """Return the kernel's own hyper-parameters and those of the restarts."""
        start, bounds = covariance.theta, covariance.bounds
        if not self._foreign and ((start < bounds[:, 0]) | (start > bounds[:, 1])).any():
            outside = [
                label[0]
                for label, t, (low, high) in zip(covariance.labels, start, bounds, strict=True)
                if not low <= t <= high
            ]
            raise ValueError(
                f"the starting value of {', '.join(outside)} lies outside its bounds; change the "
                "kernel's parameter or the bounds."
            )
        if self.n_restarts_optimizer <= 0:
            return [start]
        if not np.isfinite(bounds).all():
            raise ValueError(
                "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds "
                "are finite."
            )
        drawn = (rng.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(self.n_restarts_optimizer))
        return [start, *drawn]

    def _search(
        self,
        covariance: Covariance,
        value: Value,
        run: Run,
        rng: Any = None,
        restarts: bool = True,
        precision: float | None = None,
    ) -> Found | None:
        """Maximise value(covariance, stop); None where there is nothing to optimise."""
        bounds = covariance.bounds
        if self.optimizer is None or not len(bounds):
            return None
        rng = check_random_state(self.random_state) if rng is None else rng
        starts = self._starts(covariance, rng) if restarts else [covariance.theta]

        def objective(theta: Array, stop: Stop) -> Point:
            try:
                there = covariance.with_theta(theta)
            except ValueError:  # outside the range of a parameter, which bounds may not know
                return NOWHERE
            return value(there, stop)

        def plain(theta: Array, eval_gradient: bool = True) -> Any:
            point = value(covariance.with_theta(theta), unhurried)
            found, slope = evaluated(point, len(theta), eval_gradient)
            return (-found, -slope) if eval_gradient else -found

        part, units = run.branch(), covariance.units
        return maximise(objective, starts, bounds, self.optimizer, part, plain, precision, units)


def _warn_of_fixed(kernel: Kernel, names: list[str]) -> None:
    """Warn of the parameters that could be optimised if the kernel stated their derivatives."""
    params = kernel.get_params()
    positive = [name for name in names if np.all(np.asarray(params[name]) > 0.0)]
    if positive:
        warn_caller(
            f"{', '.join(positive)} of {kernel!r} stay as they are: the kernel states no "
            "derivatives by them. Choose them by GridSearchCV, or fix them by bounds.",
            UserWarning,
        )
