"""KernelMachine, the base class: from data to a problem, from its solution to fitted attributes."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.mapped_objects import Views
from mercer.kernels import Kernel
from mercer.kernels.columns_used import linear_columns
from mercer.losses import PiecewiseQuadratic
from mercer.objects.arrays import Array
from mercer.objects.parameters import (
    ParameterError,
    declared,
    one_of,
    optional,
    parameter,
    positive,
    show,
    threads,
    truth,
    verbosity,
)
from mercer.objects.validation import count, take
from mercer.run import Run
from mercer.solvers import Certificate, Problem, Settings
from mercer.solvers.centring import centring
from mercer.solvers.class_pairs import PairSolutions
from mercer.solvers.ladder import FINE_GAP, FINE_TOL, NAMES
from mercer.solvers.task import Task

from ..input_validation import check_objects
from ..kernel_estimator import NamedKernelEstimator, TrainingData
from ..reporting import Reported
from . import class_pairs, fit_diagnosis
from .fitted import FittedAttributes
from .fitting import fit, fit_on
from .guaranteed_errors import guaranteed_errors, rounding_basis
from .linear_part import with_linear_part
from .multiclass import OneVsOne, Scheme
from .proving import Fitting, certificates, checked, prove
from .repetition import Repetition, find_repetition, shared_out, sums_of_each
from .rounding import rounding_of_values
from .tasks import pose_tasks
from .training_record import TrainingRecord


def _limit_or_none(value: Any, name: str) -> None:
    """Reject a limit of steps that is neither an integer of at least 0 nor -1."""
    if isinstance(value, bool) or not isinstance(value, int | Integral) or value < -1:
        raise ParameterError(
            f"{name} must be an integer >= 0, or -1 for no limit; got {show(value)}."
        )


@declared
class KernelMachine(Reported, FittedAttributes, NamedKernelEstimator):
    """Base class of the machines that are trained by a decomposition solver.

    A subclass states its targets (`_check_target`), how they become tasks (`_pose`) and which
    problem each task is (`_problem`, or `_loss` for the sum of losses at a price C).

    Attributes
    ----------
    support_, support_vectors_, n_support_ : array
        Training rows with a coefficient other than 0, and their number; for a classifier sorted by
        class, with one number for each. These arrays, coefficients and intercepts are read-only: to
        change a model, replace one of them.
    coef_ : array of shape (n_problems, n_features)
        Weight vectors, for the linear kernel.
    kernel_ : Kernel
        The kernel with all parameters resolved.
    certificate_, certificates_ : Certificate, list of Certificate
        The proof of the whole model, and of each of its problems.
    negative_curvature_ : NegativeCurvature or None
        A direction v with v'Kv < 0, with its ``eigenvalue``, ``rows`` and ``vector``, where the
        kernel matrix of a kernel of the user's own turned out not to be positive semidefinite.
    margin_, slack_, point_status_, alpha_, free_support_, bounded_support_ : float or array
        Geometry of the training points; see
        :class:`mercer.machines.support_vector.fitted.FittedAttributes`.
    intercept_range_ : array
        The interval of optimal intercepts.
    n_iter_ : int or array of int
        Pair updates, of each binary problem of a classifier; steps, for a kernel of order 2.
    fit_status_ : int
        0 if the tolerance was reached, 1 otherwise.
    """

    _: KW_ONLY
    shrinking: bool = parameter(truth, default=True)
    """Whether the solver sets variables aside that will stay at their bounds."""
    tol: float = parameter(positive, default=1e-3)
    """Largest violation of the optimality conditions that is accepted."""
    cache_size: float = parameter(positive, default=200)
    """Megabytes for kernel rows, which all problems of a fit share. Values that cost no more than
    reading them are not kept. Problems of up to 2,048 rows (4,096 where several are solved
    together) may use a matrix of their size squared besides."""
    verbose: bool | int = parameter(verbosity, default=False)
    """1 shows a progress bar, 2 prints a line per report of the solver."""
    max_iter: int = parameter(_limit_or_none, default=-1)
    """Limit on the pair updates of each binary or real-valued problem, -1 for none; on the steps of
    the interior point method that a kernel of order 2 takes."""
    fit_intercept: bool = parameter(truth, default=True)
    """Whether f has an intercept b."""
    lam: float | None = parameter(optional(positive), default=None)
    """The constant as lam = 1 / (2 C W), W the sum of the weights; replaces ``C``."""
    gap_tol: float | None = parameter(optional(positive), default=None)
    """Stop when the relative duality gap is this small, instead of by ``tol``."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which the best model so far is returned, from the call of ``fit`` to the
    certificate; with ``probability=True`` for the machines behind the probabilities too. The gap is
    infinite where the limit leaves no time for the proof."""
    warm_start: bool = parameter(truth, default=False)
    """Whether a new fit on as many samples starts from the previous solution: coefficients at a
    bound follow it where C or the weights changed, free ones stay."""
    n_jobs: int | None = parameter(threads, default=None)
    """Threads, at most one for each core that the process may use; None for all of them."""
    dtype: str = parameter(one_of("auto", "float32", "float64"), default="auto")
    """Precision of kernel values. "auto" takes float32 where they are then accurate to 2e-6, which
    sparse rows far from the origin are not. Where "float32" is less accurate than that, the proof
    and the predictions are in float64."""
    solver: str = parameter(one_of(*NAMES), default="auto")
    """Optimiser to begin with. "decomposition" takes steps on pairs and blocks of coefficients, on
    any number of samples, and changes the method where they make little progress. "interior_point"
    takes Newton steps in the features of the kernel matrix, up to a few thousand samples, and is
    meant for badly conditioned problems. "smo" is Platt's algorithm as it is in the textbooks, for
    classifiers with an intercept: slow, for reading. "auto" is "decomposition", and
    "interior_point" for kernels that are conditionally positive definite of order 2."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix; or their
            `Gram`, whose kernel is then used.
        y : array-like of shape (n_samples,)
            Class labels of a classifier, targets of a regressor.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples: weight k is the same as k copies, a weight of 0 or less the same
            as leaving the sample out.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        fit(self, X, y, sample_weight)
        return self

    def certify(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, rigorous: bool = False
    ) -> Certificate:
        """Return the proof of the model in float64, from its training data.

        Parameters
        ----------
        X, y, sample_weight : array-like
            What ``fit`` was called with.
        rigorous : bool, default=False
            False: ``rounding`` is an estimate. True: it is a guaranteed bound, so that dual <=
            optimum <= primal is a theorem about floating-point numbers. The evaluation of the
            kernel is followed instruction by instruction, on all pairs of training rows. Matrices
            and functions of your own, and images under maps, are taken for exact. Where a step has
            no proven bound (values read from a table, kernels written in Python),
            ``rounding_basis`` of the certificate names it, and the certificate is not called
            guaranteed.

        Returns
        -------
        Certificate
            Primal and dual value and violation, computed from the model alone.
        """
        return Certificate.combine(self._certify(X, y, sample_weight, rigorous=rigorous))

    def _fit_on(self, data: TrainingData, gram: Gram, start: Any = None) -> Any:
        """Fit to checked samples on a kernel matrix, see `fit_on`, and return the machine."""
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

    def _pose(
        self, y: NDArray[Any] | None, weight: Array | None, n: int, *, fitting: bool
    ) -> tuple[Scheme, Array]:
        """Return the scheme of tasks and the weights s_i."""
        raise NotImplementedError

    def _loss(self, extra: NDArray[Any] | None = None) -> PiecewiseQuadratic:
        """Return the loss; `extra` belongs to the rows that take part."""
        raise NotImplementedError(f"{type(self).__name__} defines neither _loss nor _problem.")

    def _problem(
        self, y: Array, weight: Array, rows: Any = None, name: Any = None, extra: Any = None
    ) -> Problem:
        """Return the problem of a task, by default the sum of losses at the price C."""
        basis = np.zeros(len(y), dtype=np.int64) if self.fit_intercept else None
        return Problem(self._loss(extra), y, self.C_ * weight, rows, basis, name=name)

    def _set_price(self, total_weight: float) -> None:
        """Set ``C_`` where there is such a constant: ``lam`` depends on the sum of the weights."""
        if hasattr(self, "C"):
            self.C_: float = cost_constant(self.C, self.lam, total_weight)

    @property
    def _plain(self) -> bool:
        """Whether the problem is a sum of losses at a finite price."""
        own = type(self)._problem is not KernelMachine._problem
        return not own and bool(np.isfinite(self.C_))

    @property
    def _price(self) -> float:
        """What a unit of weight costs: coefficients grow with it, and with the weight of a row."""
        return getattr(self, "C_", 1.0)

    # -- keeping ----------------------------------------------------------------------------

    def _share_out(self, repetition: Repetition, whole: TrainingData, fitting: Fitting) -> None:
        """Give the rows that were taken together their parts of the model."""
        fitting.repetition, fitting.row_weight = repetition, whole.weight
        group = repetition.group
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
        bound = self._price if fitting.boxed else np.inf
        coef = shared_out(self._dense_coef()[:, at], fitting.weight[group[rows]], price, bound)
        self.dual_coef_ = sp.csr_matrix(coef) if self._trained_on_sparse else coef
        self.support_ = (rows if whole.kept is None else whole.kept[rows]).astype(np.int32)
        self.support_vectors_ = take(whole.X, rows)
        self._distinct = at
        for name in ("_support_target", "_support_epsilon"):
            if self.__dict__.get(name) is not None:
                setattr(self, name, getattr(self, name)[at])
        self._support_weight = None if whole.weight is None else weight
        self._support_price = _brief(self._price * price)
        self.shape_fit_ = tuple(whole.X.shape)
        self._record = self._record.repeated(group, whole.kept)
        if fitting.centring is not None:
            shared = np.zeros((len(coef), len(group)))
            shared[:, rows] = coef
            before, after = fitting.models()[0], sums_of_each(group, shared.T).T
            old, new = (fitting.scheme.shifts(fitting.centring, m) for m in (before, after))
            self.intercept_ = self.intercept_ + (old - new)

    def _finish(self, fitting: Fitting, begin: float) -> None:
        """Complete a fit that began at a time, by the calibration of probabilities."""

    def _time_for_fit(self) -> float:
        """Return the seconds that the fit of the machine may take, of those of its limit."""
        return float(self.time_limit)  # type: ignore[arg-type]

    def _kernel_dtype(self, problem: Problem) -> str:
        """Return the precision: float64 for hard constraints, linear parts and small tolerances."""
        fine = self.tol < FINE_TOL if self.gap_tol is None else self.gap_tol < FINE_GAP
        if problem.unbounded or not problem.grouped:
            return "float64"
        return "float64" if fine and self.dtype == "auto" else self.dtype

    def _keep(self, fitting: Fitting, kernel: Kernel, y: NDArray[Any] | None) -> None:
        """Set the fitted attributes, and prove the model."""
        if isinstance(fitting.solutions, PairSolutions):
            proved = class_pairs.prove_pairs(fitting)
        else:
            proved = prove(fitting, self.n_jobs)
        matrix, intercept, self._linear = fitting.models()
        rows, self.n_support_ = fitting.scheme.order(np.any(matrix, axis=0))
        shifts = fitting.scheme.shifts(fitting.centring, matrix)
        self.intercept_ = intercept - shifts
        self._precision = proved.precision
        self._keep_model(fitting, kernel, rows, np.ascontiguousarray(matrix[:, rows]))
        self._keep_more(fitting, rows, y)
        self.certificates_ = proved.certificates
        self.negative_curvature_ = proved.negative_curvature
        self._squared_norms = proved.norm2
        self._intercept_ranges = proved.intercept_range - shifts[:, None]
        self.fit_status_ = 0 if proved.converged else 1
        self.n_iter_: Any = proved.n_iter if hasattr(self, "classes_") else int(proved.n_iter[0])
        codes = _short(fitting.scheme.codes) if isinstance(fitting.scheme, OneVsOne) else None
        data = fitting.data
        self._record = TrainingRecord(data.n_total, data.kept, codes, proved.excess, proved.marks)

    def _keep_model(
        self, fitting: Fitting, kernel: Kernel, rows: NDArray[np.intp], coef: Array
    ) -> None:
        """Keep the kernel, the support vectors and their coefficients."""
        kept, X, weight = fitting.data.kept, fitting.data.X, fitting.data.weight
        self.kernel_, self._distinct = kernel, None
        self.support_ = (rows if kept is None else kept[rows]).astype(np.int32)
        if kernel.pairwise:
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = take(X, rows)
        self.dual_coef_ = sp.csr_matrix(coef) if self._trained_on_sparse else coef
        self._linear_columns = None if self._linear is None else linear_columns(kernel)
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (count(X),)
        self._lazy: dict[str, Any] = {}
        self._support_price = _brief(self._price * fitting.weight[rows])
        self._largest = fitting.largest
        self._support_weight = None if weight is None else weight[rows]

    def _keep_more(self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None) -> None:
        """Keep what a machine has beyond coefficients and intercepts."""

    def _warm_starts(
        self,
        machine: KernelMachine,
        scheme: Scheme,
        tasks: list[Task],
        n_total: int,
        kept: NDArray[np.intp] | None,
        weight: Array,
    ) -> list[Array | None] | None:
        """Return points to start another machine from, None where there are none to use.

        Coefficients at a bound move to the new one, where C or the weight of their row changed, and
        free ones stay: scaled with C (A. Smola, *Learning with Kernels*, section 4.5), these leave
        the place that the data determine. A nu that changed only changes the sums.
        """
        if self._record.n_total != n_total:
            return None
        models = self._models(scheme, tasks, n_total, kept)
        if models is None:
            return None
        price, old = np.zeros(n_total), np.zeros(n_total)
        price[slice(None) if kept is None else kept] = machine._price * weight
        old[self.support_] = self._support_price
        known = np.isfinite(price) & np.isfinite(old) & (price > 0.0) & (old > 0.0)
        change = np.where(known, price, 1.0) / np.where(known, old, 1.0)
        change = change if kept is None else change[kept]
        excess = self._record.of_tasks(self._record.excess)
        starts: list[Array | None] = []
        for k, (task, (beta, *_)) in enumerate(zip(tasks, models, strict=True)):
            part = change if task.rows is None else change[task.rows]
            far = excess[k] if k < len(excess) else None
            starts.append(task.start_at_bounds(beta, part, far))
        return starts

    def _models(
        self,
        scheme: Scheme,
        tasks: list[Task],
        n_total: int,
        kept: NDArray[np.intp] | None,
        repetition: Repetition | None = None,
    ) -> list[tuple[Array, float, float]] | None:
        """Return coefficients, intercept and margin or minus tube of every task, in its units.

        `repetition`: which of the `kept` rows are taken together. None where the tasks are not
        those of the fit.
        """
        coef = self._dense_coef()
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
        widths = self._widths(len(tasks))
        if not len(betas) == len(tasks) == len(widths) == len(self.intercept_):
            return None
        found = []
        for task, beta, b, t in zip(tasks, betas, self.intercept_, widths, strict=True):
            u = t if task.problem.margin is not None and t > 0.0 else 1.0
            found.append((beta if u == 1.0 else beta * u, float(b) * u, float(t)))
        return found

    def _widths(self, n: int) -> Array:
        """Return the margin or minus the tube of every task, NaN where there is none."""
        if hasattr(self, "epsilon_"):
            return -np.atleast_1d(self.epsilon_)
        return np.atleast_1d(getattr(self, "rho_", np.full(n, np.nan)))

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
        fit_diagnosis.refuse_other_data(self, X)
        samples = self._samples(X, y, sample_weight, extra, square=kernel.pairwise)
        views = Views(samples.X)
        data = TrainingData(**vars(samples), views=views, pairwise=kernel.pairwise)
        every, repetition = data.kept, None
        if not kernel.pairwise:
            repetition = find_repetition(data.X, data.y, data.extra)
        if repetition is not None:
            data = data.merged(repetition.first, repetition.total(data.weight))
        scheme, s = self._pose(data.y, data.weight, data.n, fitting=False)
        tasks = pose_tasks(self, scheme.batch(s), data.extra)
        if kernel.definiteness.order == 2:
            with_linear_part(tasks, kernel, data.X)
        models = self._models(scheme, tasks, n_total, every, repetition=repetition)
        if models is None:
            raise ValueError("these are not the samples, labels and weights of the fit.")
        if rigorous and getattr(data.X, "dtype", None) == np.float32:
            # So that differences are rounded in double precision.
            X = data.X.astype(np.float64)
            data = replace(data, X=X, views=Views(X))
        moved = centring(kernel, data.X, self._sums_to_zero)
        betas = [beta for beta, *_ in models]
        # In units of the tasks, as the models are.
        shifts = scheme.shifts(moved, scheme.stack(betas)).tolist()
        solutions = [
            task.solution(beta, b + shift, t)
            for task, (beta, b, t), shift in zip(tasks, models, shifts, strict=True)
        ]
        if self._linear is not None:
            for solution, (_, b, _), a in zip(solutions, models, self._linear, strict=True):
                solution.linear = b, a
        gram = Gram(kernel, data.X if moved is None else moved.rows, dtype="float64")
        bounds, doubts = guaranteed_errors(gram) if rigorous else (None, ())
        fitting = Fitting(data, gram, scheme, Settings(), Run(), s, tasks, solutions, moved)
        check = checked(fitting, "float64", self.n_jobs, bounds)
        proofs, before = check.proofs, self.certificate_
        found = certificates(gram, check, self.certificates_, before.convexity, before.eigenvalue)
        if rigorous:
            found = [
                replace(certificate, rounding_basis=rounding_basis(doubts, proof.values.doubt))
                for certificate, proof in zip(found, proofs, strict=True)
            ]
        single = any(c.precision.startswith("float32") for c in self.certificates_)
        precision = "float32" if single else "float64"
        errors = rounding_of_values(gram, tasks, betas, precision, self.n_jobs)
        rounding = []
        for error, beta, proof in zip(errors, betas, proofs, strict=True):
            # Losses and norm change by no more than the coefficients times the values.
            change = 2.0 * error * float(np.abs(beta).sum())
            rounding.append((error, change / max(proof.values.terms, 1e-300)))
        return fit_diagnosis.checked_again(self, found, rounding)

    # -- scikit-learn -----------------------------------------------------------------------

    def _restored(self) -> None:
        """Put a model that was read from a file into the state that a fit leaves it in."""
        super()._restored()
        if "kernel_" in self.__dict__:
            _refuse_misfits(self)


def _refuse_misfits(model: Any) -> None:
    """Raise if the arrays that a model predicts with do not fit together."""
    n, coef, vectors = len(model.support_), model.dual_coef_, model.support_vectors_
    fits = coef.ndim == 2 and coef.shape[1] == n == int(model.n_support_.sum())
    if not model.kernel_.pairwise:
        columns = getattr(vectors, "shape", (n,))[1:]
        known = getattr(model, "n_features_in_", None)
        fits = fits and count(vectors) == n and (not columns or known in (None, *columns))
        if columns and known is None:
            model.kernel_.validate(vectors)  # counts of the terms of documents
    if not fits:
        raise ValueError("support vectors and coefficients do not fit together")


def _short(codes: NDArray[np.intp]) -> NDArray[Any]:
    """Return the codes in the smallest type that holds them."""
    return codes.astype(np.min_scalar_type(int(codes.max())))


def _brief(values: Array) -> Any:
    """Return an array, or its only value."""
    return float(values[0]) if len(values) and (values == values[0]).all() else values


def cost_constant(C: float, lam: float | None, total_weight: float) -> float:
    """Return the constant C in front of the sum of losses, given as `C` or as `lam`.

    The objective lam |f|^2 + (1 / W) sum_i s_i l_i, with W = sum_i s_i, is the objective 1/2 |f|^2
    + C sum_i s_i l_i divided by C W; hence C = 1 / (2 lam W). 1.0, the default of C, counts as not
    given.
    """
    if lam is None:
        return float(C)
    if C != 1.0:
        raise ParameterError(
            f"C and lam are two names for one constant (lam = 1 / (2 C W)); got C={C:g} and "
            f"lam={lam!r}. Give one of them."
        )
    return 1.0 / (2.0 * float(lam) * total_weight)


def refuse_lam(value: Any, name: str) -> None:
    """Reject `lam` for a machine whose trade-off is set by nu alone."""
    if value is not None:
        raise ParameterError(
            "a machine with nu has no constant in front of its losses that lam could replace: nu "
            "alone sets the trade-off. Leave lam=None."
        )
