"""KernelMachine, the base class: from data to a problem, from its solution to fitted attributes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels import Kernel
from mercer.objects.validation import count, take
from mercer.solvers import Certificate
from mercer.solvers.centring import Centring, centring
from mercer.solvers.curvature import NegativeCurvature
from mercer.solvers.ladder import FINE_GAP, FINE_TOL
from mercer.solvers.rounding import estimated, value_sizes

from ..estimator import KernelEstimator, TrainingData
from ..input_validation import check_objects, keep
from ..parameters import check_common
from ..reporting import Reported
from ..weights import check_sample_weight, positive_rows
from . import class_pairs, fit_diagnosis
from .fitted import FittedAttributes
from .formulation import Formulation, Measure, Outcome, Task
from .guaranteed_errors import guaranteed_errors, rounding_basis
from .linear_part import with_linear_part
from .multiclass import OneVsOne, Scheme
from .proving import (
    Fitting,
    certificates,
    convexity_of,
    predicting_precision,
    prove,
    values_of,
)
from .repetition import Repetition, find_repetition, shared_out, sums_of_each
from .rounding import rounding_of_values
from .solving import TrainingKernel
from .training_record import TrainingRecord

Array = NDArray[np.float64]


class KernelMachine(Reported, FittedAttributes, KernelEstimator):
    """Base class of the machines that are trained by a decomposition solver.

    A subclass states its targets (`_check_target`), how they become tasks (`_pose`) and which
    problem each task is (`_formulation`).
    """

    def _fit_on(self, data: TrainingData, gram: Gram, start: Any = None) -> Any:
        """Fit to checked samples on a kernel matrix, see `fit_on`, and return the machine."""
        from .fitting import fit_on

        return fit_on(self, data, gram, start)

    # -- what a subclass states -------------------------------------------------------------

    _has_linear_part = False
    """Whether f may have an unpenalised linear term, which a kernel of order 2 needs."""

    _divided_by_margin = False
    """Whether the model is the solution divided by ``rho_``."""

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
        self, total_weight: float, extra: NDArray[Any] | None, *, fitting: bool
    ) -> Formulation:
        """Return the problem of every task; `extra` belongs to the rows that take part."""
        raise NotImplementedError

    # -- keeping ----------------------------------------------------------------------------

    def _share_out(
        self, repetition: Repetition | None, whole: TrainingData, fitting: Fitting
    ) -> None:
        """Give the rows that were taken together their parts of the model."""
        self._distinct: NDArray[np.intp] | None = None
        if repetition is None:
            return
        fitting.repetition, fitting.row_weight = repetition, whole.weight
        group, formulation = repetition.group, fitting.formulation
        codes = getattr(fitting.scheme, "codes", None)
        # Support vectors of the distinct rows, in the order of `dual_coef_`.
        place = np.full(len(repetition.first), -1, dtype=np.intp)
        position = np.arange(whole.n_total)
        if whole.kept is not None:
            position[whole.kept] = np.arange(whole.n)
        place[group[position[self.support_]]] = np.arange(len(self.support_))
        rows = np.flatnonzero(place[group] >= 0)
        if codes is not None:
            rows = rows[np.argsort(codes[group[rows]], kind="stable")]
            counts = np.bincount(codes[group[rows]], minlength=len(self.n_support_))
            self.n_support_ = counts.astype(np.int32)
        else:
            self.n_support_ = np.array([len(rows)], dtype=np.int32)
        at = place[group[rows]]
        weight = np.ones(len(rows)) if whole.weight is None else whole.weight[rows]
        price = weight
        if codes is not None:
            price = self.class_weight_[codes[group[rows]]] * weight  # type: ignore[attr-defined]
        bound = formulation.price if formulation.boxed else np.inf
        coef = shared_out(self._dense_coef()[:, at], fitting.weight[group[rows]], price, bound)
        self.dual_coef_ = sp.csr_matrix(coef) if self._trained_on_sparse else coef
        self.support_ = (rows if whole.kept is None else whole.kept[rows]).astype(np.int32)
        self.support_vectors_ = take(whole.X, rows)
        self._distinct = at
        for name in ("_support_target", "_support_epsilon"):
            if self.__dict__.get(name) is not None:
                setattr(self, name, getattr(self, name)[at])
        self._support_weight = None if whole.weight is None else weight
        self._support_price = _brief(formulation.price * price)
        self.shape_fit_ = tuple(whole.X.shape)
        self._record = self._record.repeated(group, whole.kept)
        if fitting.centring is not None:
            shared = np.zeros((len(coef), len(group)))
            shared[:, rows] = coef
            parts = fitting.scheme.unstack(sums_of_each(group, shared.T).T)
            pairs = zip(parts, fitting.outcomes, strict=True)
            change = [math.fsum(part) - math.fsum(outcome.coef) for part, outcome in pairs]
            self.intercept_ = self.intercept_ - np.array(change) * fitting.centring.square

    def _finish(self, fitting: Fitting, begin: float) -> None:
        """Do what follows on a fit that began at a time: probabilities."""

    def _time_for_fit(self) -> float | None:
        """Return the seconds that the fit of the machine may take, None without a limit."""
        return None if self.time_limit is None else float(self.time_limit)

    def _kernel_dtype(self, formulation: Formulation) -> str:
        """Return the precision to ask for.

        Hard constraints and tolerances near the error of float32 values need float64.
        """
        fine = self.tol < FINE_TOL if self.gap_tol is None else self.gap_tol < FINE_GAP
        if formulation.double:
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
        measures, precision = prove(fitting, self.n_jobs)[1:]
        matrix = fitting.coef()
        rows, self.n_support_ = fitting.scheme.order(np.any(matrix, axis=0))
        shifts = _shifts(fitting.centring, fitting.tasks, fitting.outcomes)
        self.intercept_ = np.array([o.intercept / o.scale for o in fitting.outcomes]) - shifts
        linear = [outcome.linear for outcome in fitting.outcomes]
        self._linear = None if linear[0] is None else np.array(linear)
        self._precision = predicting_precision(fitting)
        self._keep_model(fitting, kernel, rows, np.ascontiguousarray(matrix[:, rows]))
        self._support_weight = None if sample_weight is None else sample_weight[rows]
        self._keep_outcomes(fitting, rows, y)
        self._keep_measures(fitting, measures, precision)

    def _keep_pairs(
        self,
        fitting: class_pairs.PairFitting,
        kernel: Kernel,
        y: NDArray[Any] | None,
        sample_weight: Array | None,
    ) -> None:
        """Set the fitted attributes from arrays over all pairs of classes."""
        pairs = fitting.pairs
        support = pairs.coef.any(axis=0)
        rows = pairs.order[support]
        begins = np.concatenate([[0], pairs.ends[:-1]])
        self.n_support_ = np.add.reduceat(support, begins, dtype=np.int32)
        shifts = fitting.shifts()
        self.intercept_, self._linear, self._precision = pairs.intercept - shifts, None, "float64"
        coef = pairs.coef if support.all() else pairs.coef[:, support]
        self._keep_model(fitting, kernel, rows, coef)
        self._support_weight = None if sample_weight is None else sample_weight[rows]
        self._keep_outcomes(fitting, rows, y)
        self.certificates_ = class_pairs.PairCertificates(pairs)
        self.negative_curvature_: NegativeCurvature | None = None
        self._squared_norms = pairs.norm2
        self._intercept_ranges = np.stack([pairs.lowest, pairs.highest], axis=1) - shifts[:, None]
        self.fit_status_ = 0 if self.certificates_.converged else 1
        self.n_iter_: Any = pairs.n_iter
        tables = pairs.excess, pairs.mark
        parts: list[Any]
        if isinstance(fitting.scheme, OneVsOne):
            codes = _short(fitting.scheme.codes)
            parts = [class_pairs.PairTable(table, pairs.ends) for table in tables]
        else:
            place = np.argsort(pairs.order)
            codes, parts = None, [[tables[0][0, place]], [tables[1][0, place]]]
        self._record = TrainingRecord(fitting.n_total, fitting.kept, codes, *parts)

    def _keep_model(
        self, fitting: Fitting, kernel: Kernel, rows: NDArray[np.intp], coef: Array
    ) -> None:
        """Keep the kernel, the support vectors and their coefficients."""
        kept, X = fitting.kept, fitting.X
        self.kernel_ = kernel
        self.support_ = (rows if kept is None else kept[rows]).astype(np.int32)
        if kernel.pairwise:
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = take(X, rows)
        self.dual_coef_ = sp.csr_matrix(coef) if self._trained_on_sparse else coef
        self._linear_columns = getattr(fitting.formulation, "columns", None)
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (count(X),)
        self._lazy: dict[str, Any] = {}
        self._support_price = _brief(fitting.formulation.price * fitting.weight[rows])
        self._largest = fitting.largest

    def _keep_outcomes(
        self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None
    ) -> None:
        """Keep what a machine has beyond coefficients and intercepts."""

    def _keep_measures(self, fitting: Fitting, measures: list[Measure], precision: str) -> None:
        solutions = fitting.solutions
        self.certificates_ = certificates(
            self.kernel_, measures, solutions, precision, *convexity_of(fitting)
        )
        self.negative_curvature_ = _in_all_rows(fitting)
        self._squared_norms = np.array([m.values.norm2 for m in measures])
        shifts = _shifts(fitting.centring, fitting.tasks, fitting.outcomes)
        self._intercept_ranges = np.array([m.intercept_range for m in measures]) - shifts[:, None]
        self.fit_status_ = 0 if all(c.converged for c in self.certificates_) else 1
        counts = np.array([s.n_iter for s in solutions], dtype=np.int32)
        self.n_iter_ = counts if hasattr(self, "classes_") else int(counts[0])
        codes = _short(fitting.scheme.codes) if isinstance(fitting.scheme, OneVsOne) else None
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
        if self._record.n_total != n_total:
            return None
        price = np.zeros(n_total)
        price[slice(None) if kept is None else kept] = formulation.price * weight
        outcomes = self._outcomes(scheme, n_total, kept, price[self.support_])
        if outcomes is None or len(outcomes) != len(tasks):
            return None
        return [
            task.start(formulation.variables(task, outcome))
            for task, outcome in zip(tasks, outcomes, strict=True)
        ]

    def _outcomes(
        self,
        scheme: Scheme,
        n_total: int,
        kept: NDArray[np.intp] | None,
        price: Array | None = None,
        repetition: Repetition | None = None,
    ) -> list[Outcome] | None:
        """Return the fitted model task by task, over the rows that take part.

        `scheme`: the tasks. `n_total`: rows of the user's data. `kept`: the rows that take part.
        `price`: C s_i of the support vectors, to which the coefficients are scaled. `repetition`:
        which of these rows are taken together.
        """
        coef = self._dense_coef()
        if price is not None:
            finite = np.isfinite(price) & np.isfinite(self._support_price)
            coef = coef * np.where(finite, price / np.where(finite, self._support_price, 1.0), 1.0)
        matrix = np.zeros((len(coef), n_total))
        matrix[:, self.support_] = coef
        if kept is not None:
            matrix = matrix[:, kept]
        if repetition is not None:
            matrix = np.ascontiguousarray(sums_of_each(repetition.group, matrix.T).T)
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
        scale = np.where(rho > 0.0, rho, 1.0) if self._divided_by_margin else np.ones(n)
        parts = zip(betas, self.intercept_, rho, epsilon, linear, scale.tolist(), strict=True)
        return [
            Outcome(beta if u == 1.0 else beta * u, float(b) * u, float(r), float(e), a, u)
            for beta, b, r, e, a, u in parts
        ]

    # -- proof and refit --------------------------------------------------------------------

    def _certify(
        self, X: Any, y: Any, sample_weight: Any, extra: Any = None, rigorous: bool = False
    ) -> list[Certificate]:
        """Return float64 certificates for the model as it is, given its training data again."""
        self._require_fit()
        kernel = self.kernel_
        X = check_objects(self, X, kernel)
        n_total = count(X)
        if n_total != self._record.n_total:
            raise ValueError(
                f"X must hold the {self._record.n_total} training samples; got {n_total}."
            )
        y = self._check_target(y, n_total)
        weight = check_sample_weight(sample_weight, n_total)
        kept = positive_rows(weight)
        fit_diagnosis.refuse_other_data(self, X)
        X, y, weight = _selected(kernel, X, kept, y, weight)
        every, repetition = kept, None
        if not kernel.pairwise:
            repetition = find_repetition(X, y, _lines(extra, kept))
        if repetition is not None:
            X, y = take(X, repetition.first), None if y is None else y[repetition.first]
            weight = repetition.total(weight)
            kept = repetition.first if kept is None else kept[repetition.first]
        scheme, s = self._pose(y, weight, count(X), fitting=False)
        formulation = self._formulation(float(s.sum()), _lines(extra, kept), fitting=False)
        formulation = with_linear_part(formulation, kernel, X)
        tasks = scheme.tasks(formulation, s)
        outcomes = self._outcomes(scheme, n_total, every, repetition=repetition)
        if outcomes is None or len(outcomes) != len(tasks):
            raise ValueError("these are not the samples, labels and weights of the fit.")
        if rigorous and getattr(X, "dtype", None) == np.float32:
            X = X.astype(np.float64)  # so that differences are rounded in double precision
        moved = centring(kernel, X, self._sums_to_zero)
        if moved is not None:
            shifts = _shifts(moved, tasks, outcomes)
            outcomes = [
                outcome._replace(intercept=outcome.intercept + shift * outcome.scale)
                for outcome, shift in zip(outcomes, shifts.tolist(), strict=True)
            ]
        gram = Gram(kernel, X if moved is None else moved.rows, dtype="float64")
        exact = TrainingKernel(gram, n_jobs=self.n_jobs)
        matrix = scheme.stack([outcome.beta for outcome in outcomes])
        values = scheme.training_values(matrix, exact)
        doubts: tuple[str, ...] = ()
        if rigorous:
            bounds, doubts = guaranteed_errors(gram)
        else:
            bounds = estimated(value_sizes(gram))
        conditional = bool(kernel.definiteness.order)
        bounds = replace(bounds, product=values_of(scheme, exact), conditional=conditional)
        measures = formulation.measures(tasks, outcomes, values, bounds)
        before = self.certificate_
        found = certificates(
            kernel, measures, self.certificates_, "float64", before.convexity, before.eigenvalue
        )
        if rigorous:
            found = [
                replace(certificate, rounding_basis=rounding_basis(doubts, measure.values.doubt))
                for certificate, measure in zip(found, measures, strict=True)
            ]
        single = any(c.precision.startswith("float32") for c in self.certificates_)
        precision = "float32" if single else "float64"
        errors = rounding_of_values(gram, tasks, outcomes, precision, self.n_jobs)
        rounding = []
        for error, outcome, measure in zip(errors, outcomes, measures, strict=True):
            # Losses and norm change by no more than the coefficients times the values.
            change = 2.0 * error * float(np.abs(outcome.beta).sum())
            rounding.append((error, change / max(measure.values.terms, 1e-300)))
        return fit_diagnosis.checked_again(self, found, rounding)

    # -- scikit-learn -----------------------------------------------------------------------

    def _restored(self) -> None:
        """Put a model that was read from a file into the state that a fit leaves it in."""
        super()._restored()
        self._lazy = {}
        if "kernel_" in self.__dict__:
            _refuse_misfits(self)


def _refuse_misfits(model: Any) -> None:
    """Raise if the arrays that a model predicts with do not fit together."""
    n, coef, vectors = len(model.support_), model.dual_coef_, model.support_vectors_
    fits = coef.ndim == 2 and coef.shape[1] == n == int(np.sum(model.n_support_))
    if not model.kernel_.pairwise:
        columns = getattr(vectors, "shape", (n,))[1:]
        known = getattr(model, "n_features_in_", None)
        fits = fits and count(vectors) == n and (not columns or known in (None, *columns))
        if columns and known is None:
            model.kernel_.validate(vectors)  # counts of the terms of documents
    if not fits:
        raise ValueError("support vectors and coefficients do not fit together")


def take_over(
    model: Any,
    formulation: Formulation,
    tasks: list[Task],
    solutions: list[Any],
    outcomes: list[Outcome],
    moved: Centring | None,
    gram: Gram,
) -> list[Outcome]:
    """Return the outcomes with the multipliers of another model where they are optimal as well."""
    n = len(tasks)
    rho = np.atleast_1d(getattr(model, "rho_", np.full(n, np.nan)))
    epsilon = np.atleast_1d(getattr(model, "epsilon_", np.full(n, np.nan)))
    if not len(rho) == len(epsilon) == len(model.intercept_) == n:
        return outcomes
    intercepts = model.intercept_ + _shifts(moved, tasks, outcomes)
    changed = []
    for t, (task, solution) in enumerate(zip(tasks, solutions, strict=True)):
        scale = float(rho[t]) if model._divided_by_margin and rho[t] > 0.0 else 1.0
        other = outcomes[t]._replace(
            intercept=float(intercepts[t]) * scale, rho=float(rho[t]), epsilon=float(epsilon[t])
        )
        wanted = formulation.multipliers(other)
        if wanted is not None and len(wanted) == len(solution.multiplier):
            for g, (low, high) in enumerate(solution.multiplier_range):
                if low <= high:
                    solution.multiplier[g] = min(max(wanted[g], low), high)
        changed.append(formulation.outcome(task, solution, gram))
    return changed


def _in_all_rows(fitting: Fitting) -> NegativeCurvature | None:
    """Return the direction of negative curvature that was found, in the rows of the user."""
    found = None if fitting.curvature is None else fitting.curvature.negative
    if found is None or fitting.kept is None:
        return found
    return replace(found, rows=fitting.kept[found.rows])


def _shifts(moved: Centring | None, tasks: list[Task], outcomes: list[Outcome]) -> Array:
    """Return by how much the intercepts on centred rows exceed those on the rows as given."""
    if moved is None:
        return np.zeros(len(tasks))
    pairs = zip(tasks, outcomes, strict=True)
    return np.array([moved.shift(outcome.coef, task.rows) for task, outcome in pairs])


def _lines(extra: Any, kept: NDArray[np.intp] | None) -> Any:
    """Return the per-row data other than the targets, for the rows that take part."""
    return extra if extra is None or kept is None else extra[kept]


def _short(codes: NDArray[np.intp]) -> NDArray[Any]:
    """Return the codes in the smallest type that holds them."""
    return codes.astype(np.min_scalar_type(int(codes.max())))


def _brief(values: Array) -> Any:
    """Return an array, or its only value."""
    return float(values[0]) if len(values) and np.all(values == values[0]) else values


def _selected(kernel: Kernel, X: Any, kept: Any, *arrays: Any) -> tuple[Any, ...]:
    """Return the rows that take part; of a kernel matrix also the columns."""
    selected = keep(X, kept, *arrays)
    if kept is None or not kernel.pairwise:
        return selected
    return selected[0][:, kept], *selected[1:]
