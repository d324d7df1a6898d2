"""Base class of Gaussian process regressors: targets, noise, predictions, samples, densities."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal, overload

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer.expansion import Expansion
from mercer.kernels import Kernel
from mercer.kernels.white import contains_white
from mercer.objects.parameters import (
    ParameterError,
    declared,
    fraction,
    is_number,
    numbers,
    parameter,
    positive,
    show,
    truth,
)
from mercer.objects.validation import count

from ..conventions import MultiOutputMixin, RegressorMixin
from ..input_validation import check_several_targets
from .covariance import Covariance, MercerCovariance, SklearnCovariance
from .mean_basis import mean_basis
from .posterior import predict_in_blocks
from .process import ProcessEstimator

Array = NDArray[np.float64]

INTERPOLATION = 1e-10  # alpha of scikit-learn: no noise, but for what float64 needs


def _variances(value: Any, name: str) -> None:
    """Reject variances of the noise that have no meaning."""
    alpha = numbers(value, name)
    if not (np.isfinite(alpha).all() and (alpha >= 0.0).all()):
        raise ParameterError(f"{name} must be finite and at least 0.")


def _normalize(value: Any, name: str) -> None:
    if not (isinstance(value, str) and value == "auto"):
        truth(value, name)


def _log_prior(value: Any, name: str) -> None:
    if not (value is None or callable(value)):
        raise ParameterError(
            f"{name} must be None or a function of theta that returns a log density and its "
            f"gradient; got {show(value)}."
        )


def usual_noise(y: Array) -> float:
    """Return the noise variance at which a search starts: a tenth of that of the targets."""
    return 0.1 * (float(np.var(y, axis=0).mean()) or 1.0)


@declared
class RegressionParameters:
    """The parameters of Gaussian process regressors."""

    _: KW_ONLY
    alpha: Any = parameter(
        _variances, default=INTERPOLATION, kind="float or array of shape (n_samples,)"
    )
    """Variance of the noise of each sample, which is not optimised."""
    normalize_y: bool | str = parameter(_normalize, default="auto", kind='bool or "auto"')
    """Whether to centre the targets and scale them to unit variance for the fit: ``alpha`` and
    ``noise_`` are in these units, predictions in those of the targets. "auto" does so where
    nobody can have stated the unit: with a noise variance that is found ("auto" too) or mercer's
    own kernel (None), unless there is a ``basis`` or a ``log_prior``; never with scikit-learn's
    kernels."""
    log_prior: Any = parameter(_log_prior, default=None, kind="callable")
    """A function of theta (the logarithms of the hyper-parameters) that returns a log density and
    its gradient, which is added to the objective."""


class ProcessRegressor(MultiOutputMixin, RegressorMixin, ProcessEstimator):
    """Base class of Gaussian process regressors.

    A subclass keeps in `_posterior` what predictions need (see `Posterior`), in `_covariance` its
    kernel, and names the objects whose kernel values it is a function of (`_centres`).
    """

    alpha: Any
    normalize_y: bool | str
    noise: Any = None
    log_prior: Any
    n_targets: int | None = None
    basis: Any = None
    y_train_: Array
    kernel_: Kernel | Any  # of mercer, or of scikit-learn
    _posterior: Any
    _covariance: Covariance
    _lazy: dict[str, Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # before a fit the prior is predicted
        return tags

    @property
    def _centres(self) -> Any:
        """The objects whose kernel values predictions are made of."""
        raise NotImplementedError

    # -- targets and noise ------------------------------------------------------------------

    def _training_data(self, X: Any, y: Any) -> tuple[Any, Array, Any]:
        """Return checked objects, targets and the kernel bound to the objects."""
        self._lazy = {}
        if not self._foreign:
            data, kernel = self._enter(X, y)
            assert data.y is not None
            self._check_definiteness(kernel)
            return data.X, data.y, kernel
        X, y = self._sklearn_rows(X, y, reset=True, multi_output=True, y_numeric=True)
        return X, np.asarray(y, dtype=np.float64), self._own_sklearn_kernel(fixed=False)

    def _check_definiteness(self, kernel: Kernel) -> None:
        refuse_unpenalised(kernel, self.basis)

    def _check_noise(self) -> None:
        """Reject variances of the noise that have no meaning."""
        if is_number(self.noise):
            positive(self.noise, "noise")
            if self._foreign:
                raise ParameterError(
                    "noise needs a kernel of mercer, such as kernel=RBF() of mercer.kernels; to a "
                    "kernel of scikit-learn add a WhiteKernel."
                )
        elif self.noise is not None and not self._noise_is_auto:
            raise ParameterError(
                f'noise must be a positive number, "auto" or None; got {self.noise!r}.'
            )

    @property
    def _noise_is_auto(self) -> bool:
        return isinstance(self.noise, str) and self.noise == "auto"

    def _finds_noise(self, kernel: Any) -> bool:
        """Return whether the noise variance is one that nobody has named."""
        return self._noise_is_auto and not self._foreign and not contains_white(kernel)

    def _first_noise(self, kernel: Any, y: Array) -> float | None:
        """Return the starting value of the noise variance, of the normalised targets."""
        if not self._noise_is_auto:
            return self.noise
        if not self._finds_noise(kernel):
            return None
        return usual_noise(y)

    def _normalises(self, kernel: Any) -> bool:
        """Return whether the targets are centred and scaled."""
        if not isinstance(self.normalize_y, str):
            return self.normalize_y
        if self._foreign or self.basis is not None or self.log_prior is not None:
            return False
        return self.kernel is None or self._finds_noise(kernel)

    def _check_target(self, y: Any, n_samples: int) -> Array:
        return check_several_targets(self, y, n_samples)

    def _normalised(self, y: Array, kernel: Any) -> Array:
        """Return the targets as they are fitted, and keep mean and scale."""
        seen = y.shape[1] if y.ndim == 2 else 1
        if self.n_targets is not None and seen != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter "
                f"`n_targets`. Got {seen} != {self.n_targets}."
            )
        shape: Any = (y.shape[1],) if y.ndim == 2 else 1
        self._y_train_mean, self._y_train_std = np.zeros(shape), np.ones(shape)
        if not self._normalises(kernel):
            return np.copy(y)
        mean, std = np.mean(y, axis=0), np.atleast_1d(np.std(y, axis=0))
        std[std <= 10.0 * np.finfo(float).eps * np.abs(np.atleast_1d(mean))] = 1.0
        std[std == 0.0] = 1.0
        self._y_train_mean, self._y_train_std = mean, std if y.ndim == 2 else std[0]
        return (y - self._y_train_mean) / self._y_train_std

    def _checked_alpha(self, n: int) -> Array:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim > 1 or (alpha.ndim == 1 and len(alpha) not in (1, n)):
            raise ValueError(
                "alpha must be a scalar or an array with same number of entries as y. "
                f"({len(alpha)} != {n})"
            )
        return np.broadcast_to(alpha, (n,)).astype(np.float64)

    # -- predictions ------------------------------------------------------------------------

    @overload
    def predict(
        self,
        X: Any,
        return_std: Literal[False] = False,
        return_cov: Literal[False] = False,
        include_noise: bool = True,
    ) -> Array: ...

    @overload
    def predict(
        self,
        X: Any,
        return_std: Literal[True],
        return_cov: Literal[False] = False,
        include_noise: bool = True,
    ) -> tuple[Array, Array]: ...

    @overload
    def predict(
        self,
        X: Any,
        return_std: Literal[False] = False,
        *,
        return_cov: Literal[True],
        include_noise: bool = True,
    ) -> tuple[Array, Array]: ...

    @overload
    def predict(
        self, X: Any, return_std: bool = ..., return_cov: bool = ..., include_noise: bool = True
    ) -> Any: ...

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        include_noise: bool = True,
    ) -> Any:
        """Return the posterior mean, with standard deviations or covariances; or the prior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Objects.
        return_std, return_cov : bool, default=False
            Whether to return the standard deviation or the covariance in addition to the mean; at
            most one of them.
        include_noise : bool, default=True
            Whether the variance is that of a new observation, which contains ``noise`` and a
            WhiteKernel (as in scikit-learn, but not alpha), or that of the latent function.

        Returns
        -------
        mean, std or cov : arrays
            Of shape (n_samples,) or (n_samples, n_targets); covariances of shape
            (n_samples, n_samples) or (n_samples, n_samples, n_targets).
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        if "_posterior" not in self.__dict__:
            return self._prior(X, return_std, return_cov, include_noise)
        X = self._objects(X)
        functions = mean_basis(self.basis, X)
        covariance, posterior = self._covariance, self._ready_posterior()
        if (return_std or return_cov) and getattr(covariance.kernel, "pairwise", False):
            raise ValueError(
                "standard deviations and covariances need k(x, x) of new objects, which a "
                "precomputed matrix does not hold; pass the kernel."
            )
        if return_cov:
            rows = self._rows(X)
            mean = posterior.mean(rows, functions)
            spread = posterior.covariance(covariance.matrix(X, include_noise), rows, functions)
            return self._unscaled(mean), _by_target(spread, self._y_train_std)
        mean, variance = predict_in_blocks(
            posterior,
            covariance,
            X,
            self._rows,
            functions,
            variances=return_std,
            noise=include_noise,
        )
        if variance is None:
            return self._unscaled(mean)
        return self._unscaled(mean), np.sqrt(_by_target(variance, self._y_train_std))

    @property
    def expansion_(self) -> Expansion:
        """The posterior mean as a kernel expansion, in the units of the targets."""
        check_is_fitted(self, "_posterior")
        covariance: Any = self._covariance
        values = covariance._values if isinstance(covariance, SklearnCovariance) else covariance
        if values is None:
            raise AttributeError(
                f"the kernel {covariance.kernel!r} of scikit-learn has no counterpart in mercer, "
                "so that the mean is no expansion; use a kernel of mercer.kernels."
            )
        if callable(self.basis):
            raise AttributeError("the mean has a basis that is a Python function.")
        std, coef = self._y_train_std, self._posterior.coef
        intercept, slopes = np.broadcast_to(self._y_train_mean, coef.shape[1:]), None
        if self.basis is not None:
            a = std * self._posterior.basis_coef
            intercept, slopes = intercept + a[0], a[1:] if self.basis == "linear" else None
        f = Expansion(
            values.latent,
            np.arange(len(coef)) if values.latent.pairwise else self._centres,
            std * coef,
            intercept,
            poly_coef=slopes,
            poly_columns=None if slopes is None else range(len(slopes)),
            feature_names=getattr(self, "feature_names_in_", None),
        )
        return f if f.n_outputs > 1 else f[0]

    def _rows(self, X: Any) -> Array:
        """Return kernel values between checked objects and the centres, which stay prepared."""
        covariance, centres = self._covariance, self._centres
        kept = self._lazy.get("rows")
        if kept is None or kept[0] is not covariance or kept[1] is not centres:
            kept = self._lazy["rows"] = covariance, centres, covariance.against(centres)
        return kept[2](X)

    def _unscaled(self, mean: Array) -> Array:
        mean = self._y_train_std * mean + self._y_train_mean
        return mean[:, 0] if mean.shape[1] == 1 else mean

    def _ready_posterior(self) -> Any:
        """Return what predictions need."""
        return self._posterior

    def _prior_noise(self) -> float | None:
        """Return the noise variance before a fit."""
        return None if self._noise_is_auto else self.noise

    def _prior(self, X: Any, std: bool, cov: bool, noise: bool) -> Any:
        """Return mean 0 and the covariances of the prior."""
        if self._foreign:
            X = self._sklearn_rows(X, reset=False)
            kernel = self._own_sklearn_kernel(fixed=True)
            covariance: Covariance = SklearnCovariance(kernel, np.shape(X)[-1])
        else:
            kernel, X = self._resolved_kernel().bound_to(X)
            covariance = MercerCovariance(kernel, [], self._prior_noise())
        m = 1 if self.n_targets is None else self.n_targets
        mean = np.zeros((count(X), m))
        mean = mean[:, 0] if m == 1 else mean
        ones = np.ones(m)
        if cov:
            return mean, _by_target(covariance.matrix(X, noise), ones)
        if std:
            return mean, np.sqrt(_by_target(covariance.diagonal(X, noise), ones))
        return mean

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, include_noise: bool = True
    ) -> Array:
        """Draw functions from the posterior, or from the prior before a fit.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features), or objects
            Where the functions are evaluated.
        n_samples : int, default=1
            Number of functions.
        random_state : int, RandomState or None, default=0
            Draws the functions.
        include_noise : bool, default=True
            Whether to draw observations, with ``noise`` and a WhiteKernel, or latent functions.

        Returns
        -------
        array of shape (n_X, n_samples) or (n_X, n_targets, n_samples)
            Values.
        """
        rng = check_random_state(random_state)
        mean, cov = self.predict(X, return_cov=True, include_noise=include_noise)
        if mean.ndim == 1:
            return _draws(rng, mean, cov, n_samples)
        parts = [
            _draws(rng, mean[:, t], cov[..., t], n_samples)[:, None] for t in range(mean.shape[1])
        ]
        return np.hstack(parts)

    def predict_interval(
        self, X: Any, level: float = 0.9, include_noise: bool = True
    ) -> tuple[Array, Array]:
        """Return the central intervals of the predictive distribution, mean +- z std.

        z is the quantile of the normal distribution at (1 + level) / 2. A new target is inside
        with probability ``level`` if the model holds: the kernel with its hyper-parameters, and
        normal noise. The hyper-parameters count as known, so intervals of few samples are somewhat
        narrow; nothing is guaranteed for other distributions. :func:`mercer.plots.coverage` draws
        the coverage on samples that were held out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Objects.
        level : float, default=0.9
            Between 0 and 1.
        include_noise : bool, default=True
            Whether the interval is that of a new observation, with all its noise (alpha where it
            is a number), or that of the latent function.

        Returns
        -------
        lower, upper : arrays of shape (n_samples,) or (n_samples, n_targets)
            The ends.

        Examples
        --------
        >>> from mercer import GaussianProcessRegressor
        >>> from mercer.kernels import RBF
        >>> model = GaussianProcessRegressor(RBF(0.5), alpha=0.25, optimizer=None)
        >>> low, high = model.fit([[0.0]], [1.0]).predict_interval([[0.0]], level=0.95)
        >>> low.round(2), high.round(2)
        (array([-0.51]), array([2.11]))
        """
        level = fraction(level, "level")
        mean, variance = self._observed(X, include_noise)
        half = float(ndtri(0.5 + 0.5 * level)) * np.sqrt(variance)
        return mean - half, mean + half

    def _observed(self, X: Any, include_noise: bool = True) -> tuple[Array, Array]:
        """Return means and variances of new observations, with alpha where it is a number."""
        self._require_fit()
        mean, std = self.predict(X, return_std=True, include_noise=include_noise)
        extra = float(self.alpha) if include_noise and np.ndim(self.alpha) == 0 else 0.0
        scale = self._y_train_std if mean.ndim == 2 else np.ravel(self._y_train_std)[0]
        return mean, std**2 + extra * np.square(scale)

    def score_samples(self, X: Any, y: Any = None) -> Array:
        """Return the log predictive density of each target, or its expected value without targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Objects.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets; None gives the expected value -1/2 log(2 pi e variance), minus the entropy of
            the prediction.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
            Log densities, with the noise of a new observation; alpha counts where it is a number.
        """
        mean, variance = self._observed(X)
        if y is None:
            return -0.5 * (np.log(2.0 * np.pi * variance) + 1.0)
        y = check_several_targets(self, y, len(mean)).reshape(mean.shape)
        return -0.5 * (np.log(2.0 * np.pi * variance) + (y - mean) ** 2 / variance)


def refuse_unpenalised(kernel: Kernel, basis: Any) -> None:
    """Reject a conditionally definite kernel whose polynomials are not in the basis."""
    order = kernel.definiteness.order
    enough = order in (0, None) or callable(basis) or basis == "linear"
    if not enough and not (order == 1 and basis == "constant"):
        needed = "constant" if order == 1 else "linear"
        raise ValueError(
            f"{kernel!r} is {kernel.definiteness}: it is a covariance only together with an "
            f'unpenalised mean. Use basis="{needed}".'
        )


def _by_target(values: Array, std: Any) -> Array:
    """Return variances or covariances in the units of the targets, a last axis for several."""
    scaled = values[..., None] * np.square(np.atleast_1d(std))
    return scaled[..., 0] if scaled.shape[-1] == 1 else scaled


def _draws(rng: Any, mean: Array, cov: Array, n: int) -> Array:
    """Return samples of a normal distribution whose covariance may be singular."""
    values, vectors = scipy.linalg.eigh(cov, check_finite=False)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return mean[:, None] + root @ rng.standard_normal((len(mean), n))
