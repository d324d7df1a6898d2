"""Kernel ridge regression."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.kernels.resolve import KernelLike
from mercer.objects.parameters import declared, explaining, fraction, parameter, positive, truth

from ..conventions import MultiOutputMixin, RegressorMixin
from ..input_validation import check_several_targets
from ..kernel_estimator import TrainingData
from .base import KernelRidgeParameters, RidgeMachine, SolverParameters
from .intervals import LeaveOneOut, jackknife_plus
from .penalties import penalties

Array = NDArray[np.float64]


_WITHOUT_SPREAD = dict.fromkeys(
    ("return_std", "return_cov"),
    "a ridge machine predicts values without standard deviations: predict_interval gives intervals "
    "by leave-one-out, and GaussianProcessRegressor, the same function, standard deviations.",
)


class RidgeRegressor(MultiOutputMixin, RegressorMixin, RidgeMachine):
    """Base class of the regressors: one or several real targets."""

    _lazy: dict[str, Any]

    def _check_target(self, y: Any, n_samples: int) -> Array:
        return check_several_targets(self, y, n_samples)

    def _penalties(self, n_targets: int) -> Array:
        raise NotImplementedError

    def _pose(self, data: TrainingData, *, fitting: bool) -> tuple[Array, Array, Array, bool]:
        y = data.y
        assert y is not None
        flat = y.ndim == 1
        Y = y[:, None] if flat else y
        weight = np.ones(data.n) if data.weight is None else data.weight
        alphas = self._penalties(Y.shape[1])
        if fitting:
            self._weight, self._lazy = data.weight, {}
            # A unit of weight has noise of this variance in the view of a Gaussian process.
            self.noise_variance_ = float(alphas[0]) if (alphas == alphas[0]).all() else alphas
        return Y, weight, alphas, flat

    @explaining(_WITHOUT_SPREAD)
    def predict(self, X: Any) -> Array:
        """Return the values of the regression function.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was fitted on.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
            Values.
        """
        return self._values(X)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return jackknife+ prediction intervals for new targets.

        They cover a new target with probability at least 2 level - 1, and with about ``level`` in
        practice, if the samples are exchangeable, of equal weight, and alpha and the kernel with
        its parameters were fixed beforehand. :class:`KernelRidgeCV` chooses alpha on the training
        samples, so its intervals have no guarantee. The first call costs a factorisation of the
        kernel matrix, which is kept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was fitted on.
        level : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        lower, upper : arrays of shape (n_samples,) or (n_samples, n_targets)
            The ends; infinite where there are too few training samples for the level.
        """
        X = self._objects(X)
        level = fraction(level, "level")
        if self.kernel_.pairwise:
            raise ValueError(
                "intervals need the kernel matrix of the training objects, which a model with "
                'kernel="precomputed" does not keep. Use a kernel on the objects.'
            )
        expansion = self.expansion_
        if "leave_one_out" not in self._lazy:
            self._lazy["leave_one_out"] = self._left_out()
        parts = self._lazy["leave_one_out"]
        prepared = Prepared(self.kernel_, expansion.vectors)
        ends = [jackknife_plus(model, prepared, X, level, self.fit_intercept) for model in parts]
        low, high = (np.concatenate([pair[k] for pair in ends], axis=1) for k in (0, 1))
        return (low[:, 0], high[:, 0]) if expansion.coef.ndim == 1 else (low, high)

    def _left_out(self) -> list[LeaveOneOut]:
        """Return the leave-one-out functions, in one group where all targets have one alpha."""
        expansion = self.expansion_
        coef = expansion.coef.reshape(expansion.n_terms, -1)
        alphas = np.broadcast_to(self.noise_variance_, (coef.shape[1],))
        if not (alphas > 0.0).all():
            raise ValueError("alpha=0 interpolates: its leave-one-out errors have no closed form.")
        gram = Gram(self.kernel_, expansion.vectors, dtype="float64")
        basis = np.ones((gram.n, 1)) if self.fit_intercept else None
        same = (alphas == alphas[0]).all()
        groups = [slice(None)] if same else [slice(t, t + 1) for t in range(len(alphas))]
        found = []
        for group in groups:
            noise = alphas[group][0] / (np.ones(gram.n) if self._weight is None else self._weight)
            # The targets are what the equation (K + N) a + b = y says.
            Y = gram.matmul(coef[:, group]) + noise[:, None] * coef[:, group]
            Y += np.reshape(self.intercept_, (1, -1))[:, group] if self.fit_intercept else 0.0
            found.append(LeaveOneOut(gram, noise, basis, Y))
        return found


@declared
class KernelRidge(KernelRidgeParameters, SolverParameters, RidgeRegressor):
    """Kernel ridge regression.

    Minimise over f = sum_j a_j k(x_j, .) + b

        alpha |f|^2 + sum_i s_i (y_i - f(x_i))^2,

    with sample weights s_i and, with ``fit_intercept``, an intercept b that is not penalised. The
    function is the mean of a Gaussian process with noise of variance alpha / s_i. In the constants
    of the other machines C = 1 / (2 alpha).

    Attributes
    ----------
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_targets)
        The coefficients a, (K + alpha / s)^-1 y without an intercept. The multipliers of some
        textbooks are 2 alpha times these.
    intercept_ : float or array of shape (n_targets,)
        The intercept b; 0 without one.
    expansion_ : Expansion
        The function f.
    coef_ : array of shape (n_targets, n_features)
        Weights of the columns with the linear kernel, of named features with others that have
        them, such as TfIdf; see `top_features`.
    kernel_ : Kernel
        The kernel with all parameters resolved.
    noise_variance_ : float or array of shape (n_targets,)
        alpha = 1 / (2 C), the noise variance of a sample of weight 1.
    certificate_, certificates_ : Certificate, list of Certificate
        The proof of the whole model, and of each target; in the units of
        1/2 |f|^2 + C sum_i s_i (y_i - f(x_i))^2.
    solver_ : str
        The method used.
    n_iter_ : int
        Iterations, or refinements of a float32 factor; 1 for other direct methods.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> model = KernelRidge(alpha=1.0).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> model.dual_coef_.round(6), model.predict([[3.0]]).round(6)
    (array([1.      , 0.333333, 0.666667]), array([5.]))
    >>> model.certificate_.gap < 1e-12
    True

    An intercept that is not penalised:

    >>> model = KernelRidge(fit_intercept=True).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> round(model.intercept_, 6)
    1.333333
    """

    alpha: Any = parameter(default=1.0, kind="float or array-like of shape (n_targets,)")
    """The penalty, at least 0. 0 gives the function of smallest norm among those of least squared
    error, which interpolates wherever that is possible."""

    def _penalties(self, n_targets: int) -> Array:
        return penalties(self.alpha, n_targets)


@declared
class LSSVR(SolverParameters, RidgeRegressor):
    """Least-squares support vector regression: ridge regression with an intercept, priced by C.

    Minimise over f = sum_j a_j k(x_j, .) + b

        1/2 |f|^2 + C sum_i s_i (y_i - f(x_i))^2,

    which is :class:`KernelRidge` with alpha = 1 / (2 C) and an intercept. The constant gamma of
    Suykens' formulation is 2 C. J. Suykens et al., *Least Squares Support Vector Machines*, 2002.

    Attributes
    ----------
    dual_coef_, intercept_, expansion_, kernel_, noise_variance_ : object
        As for :class:`KernelRidge`.
    certificate_, certificates_, solver_, n_iter_ : object
        As for :class:`KernelRidge`.

    Examples
    --------
    >>> from mercer import LSSVR
    >>> model = LSSVR(kernel="linear", C=0.5).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> round(model.intercept_, 6), model.predict([[3.0]]).round(6)
    (1.333333, array([4.333333]))
    """

    _: KW_ONLY
    C: float = parameter(positive, default=1.0)
    """Price of a unit of squared error."""
    kernel: KernelLike = parameter(default="rbf")
    """As for :class:`KernelRidge`."""
    fit_intercept: bool = parameter(truth, default=True)
    """Whether f has an intercept b."""

    def _penalties(self, n_targets: int) -> Array:
        return np.full(n_targets, 0.5 / float(self.C))
