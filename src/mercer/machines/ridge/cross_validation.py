"""Kernel ridge regression whose penalty is chosen by exact leave-one-out errors or by GCV."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.numerics.blas import product
from mercer.objects.parameters import ParameterError, declared, numbers, one_of, parameter, truth
from mercer.run import Run
from mercer.solvers import Certificate

from ..kernel_estimator import TrainingData
from .base import KernelRidgeParameters
from .direct import Spectrum
from .problem import RidgeProblem
from .proof import certificates
from .regression import RidgeRegressor

Array = NDArray[np.float64]

DEFAULT = np.logspace(-6.0, 3.0, 20)
_BLOCK = 1024  # rows at a time


@declared
class KernelRidgeCV(KernelRidgeParameters, RidgeRegressor):
    """Kernel ridge regression with a built-in choice of alpha.

    One eigendecomposition of the kernel matrix gives the coefficients, the leave-one-out errors and
    the effective degrees of freedom of every alpha. With G mapping y to the coefficients a, the
    error of the function that was fitted without sample i is a_i / G_ii, exactly; nothing is fitted
    again. The kernel and its width are the same for all of these functions.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
        The penalty chosen.
    best_score_ : float or array of shape (n_targets,)
        Minus the criterion at ``alpha_``: larger is better, as everywhere in scikit-learn.
    cv_results_ : dict of arrays
        "alpha" of shape (n_alphas,), and "score" (minus the criterion) and "degrees_of_freedom",
        one value for each alpha; "score" has a column for each target with ``alpha_per_target``.
    loo_residuals_ : array of shape (n_samples,) or (n_samples, n_targets)
        Leave-one-out errors y_i - f_-i(x_i) at ``alpha_``; NaN for samples of weight 0.
    dual_coef_, intercept_, expansion_, kernel_, noise_variance_ : object
        As for :class:`KernelRidge`.
    certificate_, certificates_, solver_, n_iter_ : object
        As for :class:`KernelRidge`.

    Notes
    -----
    scikit-learn's `RidgeCV` has parameters that this class lacks. `scoring` and `cv`: the closed
    form gives squared leave-one-out errors; for another metric or splitter search over `alpha` of
    :class:`KernelRidge` with :class:`mercer.selection.GridSearchCV`, which computes the kernel
    matrix once for all folds and penalties. `gcv_mode`: the eigendecomposition of the kernel matrix
    is the only one. `store_cv_results`: `cv_results_` and `loo_residuals_` are always kept.

    The intervals of :meth:`predict_interval` have their guarantee for an alpha that was fixed
    beforehand. Here alpha was chosen on the same samples, so the guarantee is lost.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeCV
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> model = KernelRidgeCV([0.1, 1.0, 10.0], kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.alpha_
    0.1
    """

    alphas: Any = parameter(default=None, kind="array-like of float")
    """Penalties to choose from, positive; None is 20 values from 1e-6 to 1e3, evenly spaced in the
    logarithm."""
    _: KW_ONLY
    criterion: str = parameter(one_of("loo", "gcv"), default="loo")
    """"loo": the weighted mean of the squared leave-one-out errors. "gcv": generalised
    cross-validation, n |y - f|^2 / (n - degrees of freedom)^2, which does not change when the
    coordinate system of the samples is rotated."""
    alpha_per_target: bool = parameter(truth, default=False)
    """Whether every target has a separate alpha."""

    solver = "eigh"
    tol = 1e-9
    max_iter = None
    time_limit = None
    verbose = False

    def _candidates(self) -> Array:
        if self.alphas is None:
            return DEFAULT
        alphas = np.atleast_1d(numbers(self.alphas, "alphas"))
        if alphas.ndim != 1 or not len(alphas):
            raise ParameterError("alphas must be a list of positive numbers.")
        if not (np.isfinite(alphas).all() and (alphas > 0.0).all()):
            raise ParameterError(
                "alphas must be positive and finite: leave-one-out errors of an interpolating "
                f"function (alpha = 0) have no closed form; got {self.alphas!r}."
            )
        return alphas

    def _pose(self, data: TrainingData, *, fitting: bool) -> tuple[Array, Array, Array, bool]:
        if fitting and data.n < 2:
            raise ValueError(
                f"n_samples={data.n}: leaving one out needs at least 2 samples of positive weight."
            )
        self._flat, self._of_kept = data.y is not None and data.y.ndim == 1, data.kept
        self._n_before = data.n_total
        return super()._pose(data, fitting=fitting)

    def _penalties(self, n_targets: int) -> Array:
        return np.broadcast_to(getattr(self, "alpha_", 1.0), (n_targets,)).astype(np.float64)

    def _solved(
        self,
        gram: Gram,
        Y: Array,
        weight: Array,
        alphas: Array,
        basis: Array | None,
        run: Run,
    ) -> tuple[Array, Array]:
        candidates = self._candidates()
        spectrum = Spectrum(RidgeProblem(gram, Y, weight, 1.0, basis))
        scores, errors, freedom = leave_one_out(spectrum, candidates, self.criterion)
        m = Y.shape[1]
        per_target = self.alpha_per_target and m > 1
        shown = scores if per_target else scores.mean(axis=1)
        best = np.broadcast_to(shown.argmax(axis=0), (m,))
        seconds = run.seconds
        coef, intercept = np.empty_like(Y), np.zeros(m)
        proofs: list[Certificate] = []
        for t in range(m):
            alpha = float(candidates[best[t]])
            solution = spectrum.solution(alpha, [t])
            problem = RidgeProblem(gram, Y[:, [t]], weight, alpha, basis)
            proofs += certificates(problem, solution, seconds / m, None)
            coef[:, t] = solution.coef[:, 0]
            if basis is not None:
                intercept[t] = solution.basis_coef[0, 0]
        self.certificates_ = proofs
        self.certificate_ = Certificate.combine(self.certificates_)
        self.solver_, self.n_iter_ = "eigh", 1
        self._keep_choice(candidates, best, shown, freedom, errors, per_target)
        return coef, intercept

    def _keep_choice(
        self,
        candidates: Array,
        best: NDArray[np.intp],
        scores: Array,
        freedom: Array,
        errors: Array,
        per_target: bool,
    ) -> None:
        m = len(best)
        chosen = candidates[best]
        self.alpha_ = chosen if per_target else float(chosen[0])
        self.best_score_ = scores[best, np.arange(m)] if per_target else float(scores[best[0]])
        self.noise_variance_ = self.alpha_
        self.cv_results_ = {"alpha": candidates, "score": scores, "degrees_of_freedom": freedom}
        residuals = np.full((self._n_before, m), np.nan)
        kept = slice(None) if self._of_kept is None else self._of_kept
        residuals[kept] = errors[best, :, np.arange(m)].T
        self.loo_residuals_ = residuals[:, 0] if self._flat else residuals
        for name in ("_flat", "_of_kept", "_n_before"):
            del self.__dict__[name]


def leave_one_out(spectrum: Spectrum, alphas: Array, criterion: str) -> tuple[Array, Array, Array]:
    """Return scores (n_alphas, m), leave-one-out errors (n_alphas, n, m), degrees of freedom.

    Parameters
    ----------
    spectrum : Spectrum
        The eigendecomposition.
    alphas : array of shape (n_alphas,)
        Penalties, positive.
    criterion : {"loo", "gcv"}
        The values that are scored.
    """
    U, target, Q = spectrum.vectors, spectrum.target, spectrum.complement.Q
    n, m = target.shape
    filters = np.stack([spectrum.filtered(float(alpha)) for alpha in alphas], axis=1)
    # What the directions of the basis add to the inverse is taken away.
    inside = np.einsum("ij,ij->i", Q, Q)[:, None] / (spectrum.of_basis + alphas)
    diagonal = np.empty((n, len(alphas)))
    for first in range(0, n, _BLOCK):
        block = U[first : first + _BLOCK]
        diagonal[first : first + _BLOCK] = product(block * block, filters)
    diagonal -= inside
    coef = product(U, (filters[:, :, None] * target[:, None, :]).reshape(n, -1))
    coef = spectrum.complement.project(coef).reshape(n, len(alphas), m)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = coef / diagonal[:, :, None]  # of the samples scaled by the roots of the weights
    freedom = n - (diagonal * alphas).sum(axis=0)
    if criterion == "loo":
        total = spectrum.problem.weight.sum()
        scores = -np.einsum("iam,iam->am", errors, errors) / total
    else:
        residual = coef * alphas[:, None]
        left = (n - freedom)[:, None] / n
        scores = -np.einsum("iam,iam->am", residual, residual) / n / (left * left)
    scores = np.where(np.isfinite(scores), scores, -np.inf)
    unscaled = (errors / spectrum.root[:, None, None]).transpose(1, 0, 2)
    return scores, unscaled, freedom
