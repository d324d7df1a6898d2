"""What all machines share: from data to a problem, from its solution to a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels import Kernel
from mercer.objects.validation import count, take
from mercer.solvers import Certificate

from . import conclusion
from .data import check_objects, keep
from .estimator import KernelEstimator
from .fitted import FittedAttributes
from .formulation import Formulation, Measure, Outcome, Task, feasible
from .linear_part import with_linear_part
from .multiclass import OneVsOne, Scheme
from .parameters import check_common
from .progress import watched
from .proving import Fitting, certificates, predicting_precision, prove
from .record import TrainingRecord
from .rounding import rounding_of_values
from .scale import check_definiteness, largest_square
from .solving import FINE_GAP, FINE_TOL, TrainingKernel, settings_for, solve_tasks
from .weights import check_sample_weight, positive_rows

Array = NDArray[np.float64]


class KernelMachine(FittedAttributes, KernelEstimator):
    """Base class of the machines that are trained by a decomposition solver.

    A subclass states its targets (`_check_target`), how they become tasks (`_pose`) and which
    problem each task is (`_formulation`).
    """

    # -- what a subclass states -------------------------------------------------------------

    _has_linear_part = False
    """Whether f may have a linear function beside it, as a kernel of order 2 demands."""

    @property
    def _sums_to_zero(self) -> bool:
        """Whether the coefficients of every task do, as the equality of an intercept demands."""
        return bool(self.fit_intercept)

    def _check_parameters(self) -> None:
        check_common(self)

    def _pose(
        self, y: NDArray[Any] | None, weight: Array | None, n: int, *, fitting: bool
    ) -> tuple[Scheme, Array]:
        """Return the scheme of tasks and the weights s_i."""
        raise NotImplementedError

    def _formulation(
        self, total_weight: float, kept: NDArray[np.intp] | None, extra: Any, *, fitting: bool
    ) -> Formulation:
        raise NotImplementedError

    # -- fitting ----------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, extra: Any = None) -> Fitting:
        """Solve the problem, keep the model and return what the fit worked on.

        A fit that fails leaves the estimator as it was, with the model of an earlier fit.
        """
        try:
            with self._all_or_nothing():
                return self._train(X, y, sample_weight, extra)
        except MemoryError as error:
            if type(error) is not MemoryError:
                raise
            raise conclusion.out_of_memory(self, X) from error

    def _train(self, X: Any, y: Any, sample_weight: Any, extra: Any) -> Fitting:
        self._check_parameters()
        data, kernel = self._enter(X, y, sample_weight)
        X, y, weight, kept, n_total = data.X, data.y, data.weight, data.kept, data.n_total
        scheme, s = self._pose(y, weight, data.n, fitting=True)
        formulation = self._formulation(float(s.sum()), kept, extra, fitting=True)
        check_definiteness(self, kernel)
        formulation = with_linear_part(formulation, kernel, X)
        tasks = scheme.tasks(formulation, s)
        starts = self._warm_starts(scheme, formulation, tasks, n_total, kept, s)
        gram = self._gram(data, kernel, self._kernel_dtype(formulation))
        with watched(self, len(tasks)) as callback:
            settings = settings_for(self, callback, formulation.objective_floor(y, gram))
            solutions, outcomes = solve_tasks(formulation, tasks, gram, X, settings, starts)
        fitting = Fitting(
            X, gram, scheme, formulation, settings, s, kept, n_total, tasks, solutions, outcomes
        )
        conclusion.refuse_infeasible(self, fitting)
        try:
            self._keep(fitting, kernel, y, weight)
        except KeyboardInterrupt:
            # The model is there, and only its proof was interrupted.
            fitting.interrupt()
            self._keep(fitting, kernel, y, weight)
        return fitting

    def _kernel_dtype(self, formulation: Formulation) -> str:
        """Return the precision to ask for.

        Hard constraints and tolerances near the error of float32 values need float64.
        """
        fine = self.tol < FINE_TOL if self.gap_tol is None else self.gap_tol < FINE_GAP
        if formulation.hard or formulation.double:
            return "float64"
        return "float64" if fine and self.dtype == "auto" else self.dtype

    def _keep(
        self,
        fitting: Fitting,
        kernel: Kernel,
        y: NDArray[Any] | None,
        sample_weight: Array | None,
    ) -> None:
        """Set the fitted attributes, and prove the model."""
        matrix, measures, precision = prove(fitting, self.n_jobs)
        kept, X = fitting.kept, fitting.X
        rows, self.n_support_ = fitting.scheme.order(np.any(matrix, axis=0))
        support = rows if kept is None else kept[rows]
        coef = np.ascontiguousarray(matrix[:, rows])
        self.kernel_ = kernel
        self.support_ = support.astype(np.int32)
        if kernel.pairwise:
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = take(X, rows)
        self.dual_coef_ = sp.csr_matrix(coef) if sp.issparse(X) else coef
        self.intercept_ = np.array([outcome.intercept for outcome in fitting.outcomes])
        linear = [outcome.linear for outcome in fitting.outcomes]
        self._linear = None if linear[0] is None else np.array(linear)
        self._linear_columns = getattr(fitting.formulation, "columns", None)
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (count(X),)
        self._precision = predicting_precision(fitting)
        self._lazy: dict[str, Any] = {}
        self._support_weight = None if sample_weight is None else sample_weight[rows]
        self._support_price = _brief(fitting.formulation.price * fitting.weight[rows])
        self._keep_outcomes(fitting, rows, y)
        self._largest = fitting.largest
        self._keep_measures(fitting, measures, precision)

    def _keep_outcomes(
        self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None
    ) -> None:
        """Keep what a machine has beyond coefficients and intercepts."""

    def _keep_measures(self, fitting: Fitting, measures: list[Measure], precision: str) -> None:
        solutions = fitting.solutions
        self.certificates_ = certificates(self.kernel_, measures, solutions, precision)
        self._squared_norms = np.array([m.values.norm2 for m in measures])
        self._intercept_ranges = np.array([m.intercept_range for m in measures])
        self.fit_status_ = 0 if all(c.converged for c in self.certificates_) else 1
        counts = np.array([s.n_iter for s in solutions], dtype=np.int32)
        self.n_iter_ = counts if hasattr(self, "classes_") else int(counts[0])
        codes = fitting.scheme.codes if isinstance(fitting.scheme, OneVsOne) else None
        if codes is not None:
            codes = codes.astype(np.min_scalar_type(int(codes.max())))
        store = np.float32 if fitting.gram.dtype == "float32" else np.float64
        self._record = TrainingRecord(
            fitting.n_total,
            fitting.kept,
            codes,
            [m.excess.astype(store, copy=False) for m in measures],
            [
                (outcome.beta != 0.0).view(np.int8) + m.at_bound.view(np.int8)
                for outcome, m in zip(fitting.outcomes, measures, strict=True)
            ],
        )

    def _warm_starts(
        self,
        scheme: Scheme,
        formulation: Formulation,
        tasks: list[Task],
        n_total: int,
        kept: NDArray[np.intp] | None,
        weight: Array,
    ) -> list[Array | None] | None:
        """Return feasible points near the previous solution, None where there is none to use.

        Coefficients are scaled by C_new / C_old (A. Smola, *Learning with Kernels*, section 4.5),
        and by the change of the weight of their row: bounded ones stay at their bounds. A nu
        that changed only changes the sums, which `feasible` sees to.
        """
        if not self.warm_start or not hasattr(self, "dual_coef_"):
            return None
        if self._record.n_total != n_total:
            return None
        price = np.zeros(n_total)
        price[slice(None) if kept is None else kept] = formulation.price * weight
        outcomes = self._outcomes(scheme, n_total, kept, price[self.support_])
        if outcomes is None or len(outcomes) != len(tasks):
            return None
        return [
            feasible(task, formulation.variables(task, outcome))
            for task, outcome in zip(tasks, outcomes, strict=True)
        ]

    def _outcomes(
        self,
        scheme: Scheme,
        n_total: int,
        kept: NDArray[np.intp] | None,
        price: Array | None = None,
    ) -> list[Outcome] | None:
        """Return the fitted model task by task, over the rows that take part.

        Parameters
        ----------
        scheme : Scheme
            The tasks.
        n_total : int
            Rows of the user's data.
        kept : array of int or None
            The rows that take part.
        price : array, optional
            C s_i of the support vectors, to which the coefficients are scaled.
        """
        coef = self._dense_coef()
        if price is not None:
            finite = np.isfinite(price) & np.isfinite(self._support_price)
            coef = coef * np.where(finite, price / np.where(finite, self._support_price, 1.0), 1.0)
        matrix = np.zeros((len(coef), n_total))
        matrix[:, self.support_] = coef
        if kept is not None:
            matrix = matrix[:, kept]
        try:
            betas = scheme.unstack(matrix)
        except IndexError:  # another number of classes
            return None
        n = len(betas)
        rho = np.atleast_1d(getattr(self, "rho_", np.full(n, np.nan)))
        epsilon = np.atleast_1d(getattr(self, "epsilon_", np.full(n, np.nan)))
        if not len(rho) == len(epsilon) == len(self.intercept_) == n:
            return None
        linear = [None] * n if self._linear is None else list(self._linear)
        return [
            Outcome(beta, float(b), float(r), float(e), a)
            for beta, b, r, e, a in zip(betas, self.intercept_, rho, epsilon, linear, strict=True)
        ]

    # -- proof and refit --------------------------------------------------------------------

    def _certify(self, X: Any, y: Any, sample_weight: Any, extra: Any = None) -> list[Certificate]:
        """Return float64 certificates for the model as it is, given its training data again."""
        self._require_fit()
        kernel = self.kernel_
        X = check_objects(self, X, kernel)
        n_total = count(X)
        if n_total != self._record.n_total:
            raise ValueError(
                f"certify needs the {self._record.n_total} training samples; got {n_total}."
            )
        y = self._check_target(y, n_total)
        weight = check_sample_weight(sample_weight, n_total)
        kept = positive_rows(weight)
        conclusion.refuse_other_data(self, X)
        X, y, weight = _selected(kernel, X, kept, y, weight)
        scheme, s = self._pose(y, weight, count(X), fitting=False)
        formulation = self._formulation(float(s.sum()), kept, extra, fitting=False)
        formulation = with_linear_part(formulation, kernel, X)
        tasks = scheme.tasks(formulation, s)
        outcomes = self._outcomes(scheme, n_total, kept)
        if outcomes is None or len(outcomes) != len(tasks):
            raise ValueError("these are not the samples, labels and weights of the fit.")
        gram = Gram(kernel, X, dtype="float64")
        exact = TrainingKernel(gram, n_jobs=self.n_jobs)
        matrix = scheme.stack([outcome.beta for outcome in outcomes])
        values = scheme.training_values(matrix, exact)
        largest = largest_square(gram)
        measures = formulation.measures(tasks, outcomes, values, largest)
        found = certificates(kernel, measures, self.certificates_, "float64")
        single = any(c.precision.startswith("float32") for c in self.certificates_)
        precision = "float32" if single else "float64"
        errors = rounding_of_values(gram, tasks, outcomes, precision, self.n_jobs)
        rounding = []
        for error, outcome, measure in zip(errors, outcomes, measures, strict=True):
            unit = formulation.unit(outcome)
            # Losses and norm change by no more than the coefficients times the values.
            change = 2.0 * error * unit**2 * float(np.abs(outcome.beta).sum())
            rounding.append((error * unit, change / max(measure.values.terms, 1e-300)))
        return conclusion.checked_again(self, found, rounding)


def _brief(values: Array) -> Any:
    """Return an array, or its only value."""
    return float(values[0]) if len(values) and np.all(values == values[0]) else values


def _selected(kernel: Kernel, X: Any, kept: Any, *arrays: Any) -> tuple[Any, ...]:
    """Return the rows that take part; of a kernel matrix also the columns."""
    selected = keep(X, kept, *arrays)
    if kept is None or not kernel.pairwise:
        return selected
    return selected[0][:, kept], *selected[1:]
