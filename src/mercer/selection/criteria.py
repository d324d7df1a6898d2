r"""Information criteria of machines whose values are linear in the targets, f = H y.

Ridge machines and the posterior mean of Gaussian processes are such: with N the variances of the
noise (up to a factor) and G the map from the targets to the coefficients, a = G y, the residuals
are r = N a and the hat matrix is H = I - N G. Its trace is the number of effective parameters, the
degrees of freedom df. With noise of variance v_i on row i,

    -2 log L = sum_i [ log(2 pi v_i) + r_i^2 / v_i ],

    AIC = -2 log L + 2 p,   BIC = -2 log L + p ln n,   NIC = -2 log L + 2 q,

p = df plus 1 if the variance is estimated from the same rows. NIC replaces p by
q = tr(V U^-1), with U the Hessian of the penalised loss and V the covariance of its gradients over
the rows; for squared losses

    q = sum_i r_i^2 H_ii / v_i - sum_i (r_i / v_i) (H r)_i / n,

and a variance that is estimated adds half the mean of r_i^4 / v_i^2 - 1.

The assumptions of each criterion:

- AIC (H. Akaike, 1974): the noise is Gaussian with variances as stated and the true function is in
  the model; it estimates twice the expected negative log-likelihood of new targets at the same x;
- BIC (G. Schwarz, 1978): the model is one of several with equal prior probabilities, and n is large
  beside p; it approximates -2 log of the evidence and, with growing n, finds the true model;
- NIC (N. Murata, S. Yoshizawa, S. Amari, "Network information criterion", 1994): AIC without the
  assumption that the model is true; the penalty is part of the loss, n is large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram.shifted import Factorised
from mercer.machines.gaussian_process import GaussianProcessRegressor
from mercer.machines.ridge.base import unpenalised
from mercer.machines.ridge.regression import RidgeRegressor

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InformationCriteria:
    """Likelihood and criteria of one model; made by `information_criteria`.

    Attributes
    ----------
    n : int
        Number of rows.
    degrees_of_freedom : float
        Trace of the hat matrix.
    noise_variance : float or array
        Variance of the noise, that of a unit of weight for ridge machines.
    variance_estimated : bool
        Whether it comes from the residuals of the same rows, and counts as a parameter.
    deviance : float
        -2 log L.
    network_parameters : float
        The number q of NIC.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection import information_criteria
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 7.0]
    >>> found = information_criteria(KernelRidge(alpha=1.0).fit(X, y), X, y)
    >>> round(found.degrees_of_freedom, 4), round(found.aic - found.deviance, 4)
    (0.9333, 3.8667)
    """

    n: int
    degrees_of_freedom: float
    noise_variance: Any
    variance_estimated: bool
    deviance: float
    network_parameters: float

    @property
    def n_parameters(self) -> float:
        """Degrees of freedom, plus 1 for a variance that is estimated."""
        return self.degrees_of_freedom + float(self.variance_estimated)

    @property
    def aic(self) -> float:
        """Akaike's information criterion."""
        return self.deviance + 2.0 * self.n_parameters

    @property
    def bic(self) -> float:
        """Schwarz' Bayesian information criterion."""
        return self.deviance + math.log(self.n) * self.n_parameters

    @property
    def nic(self) -> float:
        """Network information criterion of Murata, Yoshizawa and Amari."""
        return self.deviance + 2.0 * self.network_parameters


def information_criteria(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, noise_variance: float | None = None
) -> InformationCriteria:
    """Return AIC, BIC and NIC of a ridge machine or a Gaussian process.

    Parameters
    ----------
    model : RidgeRegressor or GaussianProcessRegressor
        Fitted to these data, with one target; KernelRidge, KernelRidgeCV, LSSVR are ridge machines.
    X, y, sample_weight : array-like
        Training data of the model. Row i has noise of variance v / s_i.
    noise_variance : float, default=None
        The variance v where it is known. None is the maximum-likelihood estimate from the residuals
        for ridge machines, and the variance that the process itself assumes (``alpha`` plus
        ``noise``) for a Gaussian process.

    Returns
    -------
    InformationCriteria
        The criteria with their ingredients.

    Notes
    -----
    The criteria compare models on the same rows; smaller is better. For a Gaussian process they
    are conditional: the likelihood is that of the targets given the posterior mean. The evidence,
    ``log_marginal_likelihood_value_``, is its own criterion for kernel parameters.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.data import noisy_sinc
    >>> from mercer.selection import information_criteria
    >>> X, y = noisy_sinc(60, random_state=0)
    >>> models = [KernelRidge(alpha=a, kernel="rbf").fit(X, y) for a in (1e-4, 0.1, 100.0)]
    >>> values = [information_criteria(model, X, y).aic for model in models]
    >>> values.index(min(values))
    1
    """
    if noise_variance is not None and not 0.0 < noise_variance < math.inf:
        raise ValueError(f"noise_variance must be positive and finite; got {noise_variance!r}.")
    if isinstance(model, RidgeRegressor):
        residual, H, relative = _ridge_smoother(model, X, y, sample_weight)
        estimated = noise_variance is None
        scale = float(np.mean(residual**2 / relative)) if estimated else float(noise_variance or 0)
        kept: Any = scale
    elif isinstance(model, GaussianProcessRegressor):
        if sample_weight is not None:
            raise ValueError("Gaussian processes take no weights; give them alpha for each row.")
        residual, H, relative = _process_smoother(model, X, y)
        estimated, scale = "noise" in model.parameter_names_, 1.0
        if noise_variance is not None:
            relative, estimated = np.full(len(residual), float(noise_variance)), False
        kept = relative[0] if (relative == relative[0]).all() else relative
    else:
        raise TypeError(
            "information criteria are for machines with a hat matrix: KernelRidge, KernelRidgeCV, "
            f"LSSVR and GaussianProcessRegressor; got {type(model).__name__}."
        )
    variances = scale * relative
    if not variances.min() > 0.0:
        raise ValueError(
            "the model interpolates the targets, or assumes no noise: its likelihood is infinite. "
            "Use a positive alpha, or pass noise_variance."
        )
    return _criteria(residual, H, variances, kept, estimated)


def _criteria(
    residual: Array, H: Array, variances: Array, kept: Any, estimated: bool
) -> InformationCriteria:
    n = len(residual)
    standard = residual**2 / variances
    deviance = float(np.sum(np.log(2.0 * math.pi * variances) + standard))
    network = float(np.sum(standard * np.diagonal(H)))
    # Gradients are centred: with a penalty their mean over the rows is not 0.
    network -= float((residual / variances) @ (H @ residual)) / n
    if estimated:
        network += 0.5 * float(np.mean(standard**2) - 1.0)
    trace = float(np.trace(H))
    return InformationCriteria(n, trace, kept, bool(estimated), deviance, network)


def _ridge_smoother(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Return residuals, hat matrix and the noise of every row in units of that of weight 1."""
    data, Y, weight, alphas, coef = model._posed_again(X, y, sample_weight)
    if Y.shape[1] > 1:
        raise ValueError(
            f"information criteria are for one target; the model has {Y.shape[1]}. Fit one model "
            "for each."
        )
    if not alphas[0] > 0.0:
        raise ValueError("alpha=0 interpolates: the model has no finite likelihood.")
    gram = model._gram(data, model.kernel_)
    noise = alphas[0] / weight
    basis = unpenalised(model.kernel_, model.fit_intercept, gram.n)
    system = gram.shifted(noise, basis, "cholesky", refined=False)
    return noise * coef[:, 0], _hat(system, noise), 1.0 / weight


def _process_smoother(model: Any, X: Any, y: Any) -> tuple[Array, Array, Array]:
    """Return residuals, hat matrix and variances in the units of the targets."""
    if model._targets.shape[1] > 1:
        raise ValueError("information criteria are for one target; fit one process for each.")
    if len(np.asarray(y)) != len(model.y_train_):
        raise ValueError(
            f"the process was fitted on {len(model.y_train_)} rows; got {len(np.asarray(y))}."
        )
    at = model._evaluate(model._covariance)
    noise = at.system.shift.noise
    unit = float(np.ravel(model._y_train_std)[0])
    return unit * noise * at.coef[:, 0], _hat(at.system, noise), unit**2 * noise


def _hat(system: Any, noise: Array) -> Array:
    assert isinstance(system, Factorised)
    H: Array = -noise[:, None] * system.inverse
    H[np.diag_indices_from(H)] += 1.0
    return H


def aic(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return Akaike's information criterion of a ridge machine or a Gaussian process.

    Parameters
    ----------
    model, X, y, sample_weight
        As in :func:`information_criteria`.

    Returns
    -------
    float
        -2 log L + 2 p; assumes Gaussian noise and that the true function is in the model.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection import aic
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 7.0]
    >>> round(aic(KernelRidge(alpha=1.0).fit(X, y), X, y), 3)
    11.706
    """
    return information_criteria(model, X, y, sample_weight).aic


def bic(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return Schwarz' Bayesian information criterion of a ridge machine or a Gaussian process.

    Parameters
    ----------
    model, X, y, sample_weight
        As in :func:`information_criteria`.

    Returns
    -------
    float
        -2 log L + p ln n; assumes that n is large beside p and models are equally likely a priori.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection import bic
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 7.0]
    >>> round(bic(KernelRidge(alpha=1.0).fit(X, y), X, y), 3)
    10.519
    """
    return information_criteria(model, X, y, sample_weight).bic


def nic(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the network information criterion of a ridge machine or a Gaussian process.

    Parameters
    ----------
    model, X, y, sample_weight
        As in :func:`information_criteria`.

    Returns
    -------
    float
        -2 log L + 2 tr(V U^-1); the model need not be true, n must be large.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection import nic
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 7.0]
    >>> round(nic(KernelRidge(alpha=1.0).fit(X, y), X, y), 3)
    10.41
    """
    return information_criteria(model, X, y, sample_weight).nic
