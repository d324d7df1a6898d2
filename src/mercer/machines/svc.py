"""C-SVC: the soft-margin and the hard-margin classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.losses import CombinedHinge, Hinge, Loss, SquaredHinge
from mercer.machines.classifier import KernelClassifier
from mercer.machines.formulation import Formulation, LossFormulation
from mercer.machines.hard_formulation import HardMargin
from mercer.machines.parameters import ParameterError, check_choice, check_positive, cost_constant
from mercer.machines.proving import Fitting


class SVC(KernelClassifier):
    """Support vector classifier.

    Two classes, y = -1 or +1: minimise over f = sum_j beta_j k(x_j, .) + b

        1/2 |f|^2 + C sum_i s_i max(0, 1 - y_i f(x_i)),

    with s_i the product of sample weight and class weight. More classes are put together from
    binary machines that share one kernel matrix.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of slack. ``inf`` demands that every training point lies outside the
        margin (hard margin), and raises :class:`NotSeparableError` where that is impossible.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel of
        `mercer.kernels`, or a function of two collections of objects.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        Width of a named kernel. "scale" is 1 / (n_features * variance of X), weighted.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    shrinking : bool, default=True
        Whether the solver sets variables aside that will stay at their bounds.
    probability : bool, default=False
        Whether to calibrate probabilities, which trains five more machines.
    tol : float, default=1e-3
        Largest violation of the optimality conditions that is accepted.
    cache_size : float, default=200
        Megabytes for kernel values.
    class_weight : dict or "balanced", default=None
        Weights of the classes; "balanced" gives all classes the same weighted sum.
    verbose : bool or int, default=False
        1 shows a progress bar, 2 prints a line per report of the solver.
    max_iter : int, default=-1
        Limit on pair updates of each binary problem, -1 for none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether ``decision_function`` has one column per class or per pair of classes.
    break_ties : bool, default=False
        Whether ties between classes of equally many votes go to the highest score.
    random_state : int, RandomState or None, default=None
        Draws the folds of the calibration.
    penalty_norm : {1, 2}, default=1
        Power of the slack: 1 is a box for the coefficients, 2 a weighted diagonal
        (C sum_i s_i max(0, 1 - y_i f(x_i))^2).
    C2 : float, default=None
        Price of a squared unit of slack in addition to that of ``C``:
        sum_i s_i (C xi_i + C2 xi_i^2).
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    fit_intercept : bool, default=True
        Whether f has an intercept b.
    lam : float, default=None
        The constant as lam = 1 / (2 C W), W the sum of the weights; replaces ``C``.
    gap_tol : float, default=None
        Stop when the relative duality gap is this small, instead of by ``tol``.
    time_limit : float, default=None
        Seconds after which the best model so far is returned.
    warm_start : bool, default=False
        Whether a new fit on as many samples starts from the previous solution.
    n_jobs : int, default=None
        Threads; None for all cores that the process may use.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of kernel values.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels.
    support_, support_vectors_, n_support_ : array
        Training rows with a coefficient other than 0, sorted by class; their number per class.
    dual_coef_ : array of shape (n_classes - 1, n_support)
        Signed coefficients; the layout for several classes is that of scikit-learn.
    intercept_ : array of shape (n_problems,)
        Intercepts.
    coef_ : array of shape (n_problems, n_features)
        Weight vectors, for the linear kernel.
    kernel_ : Kernel
        The kernel with all parameters resolved.
    certificate_, certificates_ : Certificate, list of Certificate
        The proof of the whole model, and of each binary problem.
    margin_, slack_, point_status_, alpha_, free_support_, bounded_support_ : float or array
        Geometry of the training points; see :class:`mercer.machines.fitted.FittedAttributes`.
    intercept_range_ : array
        The interval of optimal intercepts.
    nu_ : float or array
        The nu for which :class:`NuSVC` gives the same machine (``penalty_norm=1``).
    n_iter_ : array of int
        Pair updates of each binary problem.
    fit_status_ : int
        0 if the tolerance was reached, 1 otherwise.

    Examples
    --------
    >>> from mercer import SVC
    >>> X, y = [[-2, -1], [-1, -1], [1, 1], [2, 1]], [0, 0, 1, 1]
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> model.predict([[-0.5, -1.0]]).tolist()
    [0]
    >>> model.certificate_.status
    'optimal'
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        penalty_norm: int = 1,
        C2: float | None = None,
        multiclass: str = "ovo",
        fit_intercept: bool = True,
        lam: float | None = None,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        dtype: str = "auto",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.penalty_norm = penalty_norm
        self.C2 = C2
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.lam = lam
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.dtype = dtype

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("C", self.C, infinite=True)
        check_choice("penalty_norm", self.penalty_norm, (1, 2))
        if self.C2 is not None:
            check_positive("C2", self.C2)
            if self.penalty_norm == 2 or not np.isfinite(self.C):
                raise ParameterError(
                    "C2 adds a squared slack to the linear one; it needs penalty_norm=1 and a "
                    "finite C."
                )

    def _formulation(
        self, total_weight: float, kept: NDArray[np.intp] | None, extra: Any, *, fitting: bool
    ) -> Formulation:
        if fitting:
            self.C_ = cost_constant(self.C, self.lam, total_weight)
        if np.inf == self.C_:
            return HardMargin(bool(self.fit_intercept))
        return LossFormulation(self._loss(), self.C_, bool(self.fit_intercept))

    def _loss(self) -> Loss:
        if self.C2 is not None:
            return CombinedHinge(float(self.C2) / self.C_)
        if self.penalty_norm == 2:
            return SquaredHinge()
        return Hinge()

    def _keep_outcomes(
        self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None
    ) -> None:
        self._alpha_shares = np.array(
            [
                float(np.abs(outcome.beta).sum()) / float(task.weight.sum())
                for task, outcome in zip(fitting.tasks, fitting.outcomes, strict=True)
            ]
        )

    @property
    def nu_(self) -> Any:
        """The nu with which :class:`NuSVC` gives the same machine: sum_i alpha_i / (C W)."""
        shares = self._fitted("_alpha_shares")
        if self.penalty_norm != 1 or self.C2 is not None or not np.isfinite(self.C_):
            raise AttributeError("nu_ is defined for a linear price of the slack and a finite C.")
        return self._per_problem(shares / self.C_)

    def _refit_parameters(self) -> dict[str, Any]:
        weights = dict(zip(self.classes_.tolist(), self.class_weight_.tolist(), strict=True))
        return {"C": self.C_, "lam": None, "class_weight": weights}
