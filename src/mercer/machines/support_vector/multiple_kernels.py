r"""Multiple kernel learning: a support vector machine that weighs its kernels.

Minimise over the weights d and the functions f_m of M kernels

    1/2 sum_m |f_m|^2 / d_m + C sum_i s_i l(y_i, sum_m f_m(x_i) + b),    d >= 0, |d|_p <= 1,

which is jointly convex. For given d it is the machine J(d) with the kernel sum_m d_m k_m, with
gradient dJ/dd_m = -q_m / 2, q_m = beta'K_m beta. The dual is

    maximise over beta   (linear terms of the machine's dual) - 1/2 |q(beta)|_p*,   1/p + 1/p* = 1,

so the coefficients of any such machine give a lower bound, and

    gap = primal value of the machine at d - (its dual value + 1/2 d'q - 1/2 |q|_p*)

is a bound on how far weights and machine together are from the optimum. Several binary problems
share the weights: primal values, duals and q are sums over them.

p = 1 makes most weights 0. It is solved by reduced gradients as in A. Rakotomamonjy, F. Bach,
S. Canu, Y. Grandvalet, "SimpleMKL", JMLR 9, 2008; p > 1 by the closed update of M. Kloft, U.
Brefeld, S. Sonnenburg, A. Zien, "lp-norm multiple kernel learning", JMLR 12, 2011; p = inf is the
plain sum.
"""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer.gram import Gram
from mercer.gram.available_memory import available_bytes
from mercer.kernels import RBF, Kernel
from mercer.objects.arrays import Array, require_computed
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    ParameterError,
    declared,
    integer_from,
    optional,
    parameter,
    positive,
    positive_or_infinite,
    real_from,
    show,
    truth,
)
from mercer.run import Run
from mercer.solvers import Certificate
from mercer.solvers.prove import bounded
from mercer.solvers.rounding import UNIT

from ..conventions import ClassifierMixin, RegressorMixin
from ..estimator import Estimator
from .fitting import fit_on
from .svc import SVC
from .svr import SVR

# Widths of the Gaussians for ``kernels=None``, as factors of the rule "scale".
_FACTORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
_INNER = 0.1  # gap of a machine, relative to that of the whole problem
_EXACT = 1000  # rows up to which machines are solved to the last digits, which costs them little
# Share of the time limit for the search of the weights; the rest is for the last machine.
_SEARCH = 0.5
_MOMENT = 0.1  # seconds for the last machine after Ctrl-C
# Roundings of a kernel value of the sum, and of coefficients that were moved onto exact sums.
_FEW = 64.0
_SMALL = 1e-10  # weights below this share of the largest one are 0


@dataclass
class _State:
    """A machine at some weights."""

    weights: Array
    value: float  # of the dual, J(d) up to the gap of the machine
    q: Array
    errors: Array  # rounding errors of q
    primal: float

    def rounding(self, norm: float) -> float:
        """Return what the rounding of q can contribute to the lower bound."""
        return 0.5 * float(self.weights @ self.errors) + 0.5 * dual_norm(self.errors, norm)

    def bound(self, norm: float) -> float:
        """Return the lower bound on the optimum over weights and machines, less its rounding."""
        found = self.value + 0.5 * float(self.weights @ self.q) - 0.5 * dual_norm(self.q, norm)
        return found - self.rounding(norm)


def dual_norm(q: Array, p: float) -> float:
    """Return |q|_p* for q >= 0, with 1/p + 1/p* = 1."""
    if p == 1.0:
        return float(q.max())
    if math.isinf(p):
        return float(q.sum())
    largest = float(q.max())
    if largest <= 0.0:
        return 0.0
    dual = p / (p - 1.0)
    return largest * float(np.sum((q / largest) ** dual)) ** (1.0 / dual)


Machine = TypeVar("Machine", SVC, SVR)


def _norm(value: Any, name: str) -> None:
    if positive_or_infinite(value, name) < 1.0:
        raise ParameterError(f"{name} must be at least 1, or infinity; got {show(value)}.")


class _WithMachine(Estimator, Generic[Machine]):
    machine_: Machine


@declared
class _MultipleKernels(_WithMachine[Machine]):
    """Base of classification and regression: the search for the weights."""

    kernels: Sequence[Kernel] | None = parameter(default=None, kind="list of Kernel")
    """Positive semidefinite kernels; None is five Gaussians around ``gamma="scale"``."""
    _: KW_ONLY
    C: float = parameter(positive, default=1.0)
    """Price of a unit of slack, or of deviation beyond the tube."""
    norm: float = parameter(_norm, default=1.0, kind="float >= 1")
    """The p of the norm of the weights. 1 makes most of them 0; larger values keep more kernels;
    ``inf`` is the plain sum."""
    normalise: bool = parameter(truth, default=True)
    """Whether kernels are divided by their variance in feature space, so that their sizes do not
    decide."""
    fit_intercept: bool = parameter(truth, default=True)
    """Whether there is an intercept."""
    tol: float = parameter(positive, default=1e-3)
    """Relative duality gap of weights and machine together."""
    max_iter: int = parameter(integer_from(1), default=1000)
    """Limit on the machines that are trained."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds: the search for the weights ends after half of them, and the last machine gets what
    is left, but at least as long as the kernel matrices took."""

    def _machine(self, kernel: Any, **more: Any) -> Any:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernels = [RBF()] if self.kernels is None else list(self.kernels)
        if kernels and all(isinstance(k, Kernel) for k in kernels):
            tags.input_tags = get_tags(self._machine(_total(kernels))).input_tags
        return tags

    def _accuracy(self, n: int) -> dict[str, float]:
        return {"tol": 1e-9} if n <= _EXACT else {"gap_tol": _INNER * self.tol}

    def _checked_kernels(self) -> list[Kernel]:
        if self.kernels is None:
            return [RBF()]
        kernels = list(self.kernels) if isinstance(self.kernels, Iterable) else []
        if not kernels or not all(isinstance(k, Kernel) for k in kernels):
            raise TypeError(
                f"kernels must be a list of kernels of mercer.kernels; got {self.kernels!r}."
            )
        for kernel in kernels:
            if not kernel.definiteness.is_psd:
                raise ValueError(
                    f"{kernel!r} is not known to be positive semidefinite; the problem of the "
                    "weights would not be convex."
                )
        return kernels

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights and train the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Training objects.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : estimator
            The fitted estimator. After Ctrl-C it holds the machine of the best weights so far, with
            the status "interrupted", and KeyboardInterrupt is raised.
        """
        begin = perf_counter()
        self._check_parameters()
        kernels = self._checked_kernels()
        door = self._machine(_total(kernels))
        door._check_parameters()
        data, _ = door._enter(X, y, sample_weight)
        door._pose(data.y, data.weight, data.n, fitting=True)  # refuses a single class
        kernels = [k.bound_to_valid(data.views, data.weight, data.names) for k in kernels]
        if self.kernels is None:
            width = float(kernels[0].gamma)  # type: ignore[attr-defined]
            kernels = [RBF(factor * width) for factor in _FACTORS]
        search = _Search(self, kernels, data, begin)
        state = search.run()
        weights = np.where(state.weights > _SMALL * state.weights.max(), state.weights, 0.0)
        kernel = _total(
            [float(w / s) * k for w, s, k in zip(weights, search.scales, kernels, strict=True) if w]
        )
        machine = self._machine(kernel, **self._accuracy(data.n))
        if search.stopped == "interrupted":  # a moment for what follows from the last coefficients
            machine.time_limit = _MOMENT
            start = search.inner if data.kept is None else None
            fit_on(machine, data, machine._gram(data, kernel), start, quiet=True)
        else:
            search.limit(machine, begin + (self.time_limit or math.inf))
            run = Run()
            with run.until_stopped():
                machine.fit(X, y, sample_weight=sample_weight)
            search.stopped = run.status or search.stopped
        if not machine.__sklearn_is_fitted__():
            raise KeyboardInterrupt
        self.machine_, self.kernel_ = machine, kernel
        self.kernels_: list[Kernel] = kernels
        self.scales_, self.weights_ = search.scales, weights
        self.n_iter_ = search.n_machines
        self.certificate_ = search.certificate(self.machine_, weights)
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.machine_, name):
                setattr(self, name, getattr(self.machine_, name))
        if search.stopped == "interrupted":
            raise KeyboardInterrupt
        if self.certificate_.status != "optimal":
            warn_caller(
                f"{type(self).__name__} stopped with status {self.certificate_.status!r} and "
                f"relative gap {self.certificate_.relative_gap:.2g}. Raise max_iter or time_limit, "
                "or use a larger tol.",
                ConvergenceWarning,
            )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels or values that the machine with the weighted kernels predicts."""
        check_is_fitted(self, "machine_")
        return np.asarray(self.machine_.predict(X))


class _Search:
    """The search for the weights, on the kernel matrices of one set of samples."""

    def __init__(self, owner: Any, kernels: list[Kernel], data: Any, begin: float) -> None:
        self.owner, self.data, self.began = owner, data, begin
        self.norm = float(owner.norm)
        n = data.n
        if len(kernels) * 8.0 * n * n > available_bytes():
            raise MemoryError(
                f"{len(kernels)} kernel matrices of {n} rows need "
                f"{len(kernels) * 8.0 * n * n / 2**30:.1f} GB. Use fewer rows or kernels."
            )
        self.matrices = [np.asarray(Gram(k, data.views, dtype="float64").tile()) for k in kernels]
        self.scales = np.ones(len(kernels))
        if owner.normalise:
            # The variance in feature space: kernels of any size start with the same chances.
            s = np.ones(n) if data.weight is None else data.weight
            s = s / s.sum()
            sizes = [float(s @ np.diagonal(K)) for K in self.matrices]
            spread = [size - float(s @ K @ s) for size, K in zip(sizes, self.matrices, strict=True)]
            self.scales = np.array(
                [v if v > 1e-12 * t else (t or 1.0) for v, t in zip(spread, sizes, strict=True)]
            )
            self.matrices = [K / s for K, s in zip(self.matrices, self.scales, strict=True)]
        self.until = begin + _SEARCH * (owner.time_limit or math.inf)
        self.shortest = perf_counter() - begin
        self.inner = owner._machine("precomputed", **owner._accuracy(n))
        self.inner.set_params(warm_start=True)
        self.n_machines = 0
        self.stopped: str | None = None
        self.best: _State | None = None
        # The coefficients of any machine bound the optimum from below, not only those of the best:
        # where several are optimal, one machine may have a poor bound.
        self.bound = -math.inf

    def limit(self, machine: Any, until: float) -> None:
        """Limit the time of a machine, which gets at least as long as the matrices took."""
        if until < math.inf:
            machine.time_limit = max(until - perf_counter(), self.shortest)

    def at(self, weights: Array) -> _State:
        """Return the machine at some weights."""
        K = np.zeros_like(self.matrices[0])
        for w, matrix in zip(weights, self.matrices, strict=True):
            if w:
                K += w * matrix
        require_computed(K, "the weighted kernel matrix")
        self.limit(self.inner, self.until)
        self.tried = weights
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final machine says it again
            self.inner.fit(K, self.data.y, sample_weight=self.data.weight)
        self.n_machines += 1
        return self.state(weights)

    def state(self, weights: Array) -> _State:
        """Return the last machine, which was trained at these weights."""
        proof = self.inner.certificate_
        state = _State(weights, float(proof.dual), *self.squares(self.inner), float(proof.primal))
        self.bound = max(self.bound, state.bound(self.norm))
        if self.best is None or state.primal < self.best.primal:
            self.best = state
        return state

    def squares(self, machine: Any, rows: Any = None) -> tuple[Array, Array]:
        """Return q_m = sum over the problems of beta'K_m beta, and bounds on their rounding.

        The dual value of a machine belongs to coefficients that differ from these by roundings,
        too: their sums are exact.
        """
        beta = np.atleast_2d(machine._problem_coef())
        support = machine.support_ if rows is None else rows
        inside = np.ix_(support, support)
        found, sizes = [], []
        for K in self.matrices:
            found.append(float(((beta @ K[inside]) * beta).sum()))
            root = np.sqrt(np.abs(np.diagonal(K)[support]))
            sizes.append(float(np.square(np.abs(beta) @ root).sum()))
        roundings = (4.0 * len(support) + _FEW) * UNIT
        return np.maximum(np.array(found), 0.0), roundings * np.array(sizes)

    def run(self) -> _State:
        """Return the best machine and its weights, after Ctrl-C the best ones so far."""
        run = Run()
        with run.until_stopped():
            self._run()
        if run.by_keyboard:
            self.stopped = "interrupted"
            if self.best is None:
                if not self.inner.__sklearn_is_fitted__():
                    raise KeyboardInterrupt
                self.state(self.tried)
        assert self.best is not None
        return self.best

    def _run(self) -> None:
        m = len(self.matrices)
        if math.isinf(self.norm) or m == 1:
            self.at(np.ones(m))
            return
        state = self.at(np.full(m, m ** (-1.0 / self.norm)))
        if self.norm == 1.0:
            state = self._reduced_gradients(state)
            if not self._done():  # a corner, where the gradient is not unique
                state = self.at(_on_simplex(0.9 * state.weights + 0.1 / m))
        self._updates(state)

    def _done(self) -> bool:
        """Return whether the gap is small enough, or a limit was reached."""
        assert self.best is not None
        if self.best.primal - self.bound <= 0.5 * self.owner.tol * abs(self.best.primal):
            return True
        if self.n_machines >= self.owner.max_iter:
            self.stopped = "iteration_limit"
        elif perf_counter() > self.until:
            self.stopped = "time_limit"
        return self.stopped is not None

    def _updates(self, state: _State) -> None:
        """Alternate between machine and weights: d_m ~ |f_m|^(2 / (p + 1))."""
        while not self._done():
            lengths = state.weights * np.sqrt(state.q)
            powers = lengths ** (2.0 / (self.norm + 1.0))
            size = float(np.sum(powers**self.norm)) ** (1.0 / self.norm)
            if not size > 0.0:
                return
            state = self.at(powers / size)

    def _reduced_gradients(self, state: _State) -> _State:
        """Descend on the simplex along reduced gradients, kernels leaving one by one."""
        while not self._done():
            direction = self._direction(state)
            if not direction.any():
                break
            before = state.value
            state = self._along(state, direction)
            if state.value >= before - 1e-14 * abs(before):
                break
        return state

    @staticmethod
    def _direction(state: _State) -> Array:
        d, gradient = state.weights, -0.5 * state.q
        largest = int(np.argmax(d))
        reduced = gradient - gradient[largest]
        direction = np.where((d <= 0.0) & (reduced > 0.0), 0.0, -reduced)
        direction[largest] = 0.0
        direction[largest] = -direction.sum()
        return direction

    def _along(self, state: _State, direction: Array) -> _State:
        """Go as far as the value falls: to the faces of the simplex, then to a minimum before."""
        while True:
            shrinking = direction < 0.0
            if not shrinking.any():
                return state
            rooms = np.full(len(direction), np.inf)
            rooms[shrinking] = -state.weights[shrinking] / direction[shrinking]
            blocked = int(np.argmin(rooms))
            longest = float(rooms[blocked])
            full = self.at(_on_simplex(state.weights + longest * direction, blocked))
            slope = float(-0.5 * full.q @ direction)
            if full.value > state.value or slope > 0.0:
                return self._line(state, direction, longest, full)
            # Still falling at the face: the kernel leaves, and the rest goes on in its direction.
            state, largest = full, int(np.argmax(full.weights))
            if self._done():
                return state
            # The sum must stay 0 in the last digit: a speck of rounding in the only kernel that is
            # left would take it off the simplex.
            direction = direction.copy()
            direction[[blocked, largest]] = 0.0
            direction[largest] = -direction.sum()

    def _line(self, state: _State, direction: Array, longest: float, full: _State) -> _State:
        """Find a zero of the slope of a convex function between two machines by false position."""
        steep = float(-0.5 * state.q @ direction)
        low, high = 0.0, longest
        low_slope, high_slope = steep, max(float(-0.5 * full.q @ direction), 1e-300)
        best = state if state.value <= full.value else full
        if steep >= 0.0:  # the direction left over from a face need not descend
            return best
        for _ in range(20):
            share = low_slope / (low_slope - high_slope)
            step = low + min(max(share, 0.05), 0.95) * (high - low)
            middle = self.at(_on_simplex(state.weights + step * direction))
            slope = float(-0.5 * middle.q @ direction)
            if middle.value < best.value:
                best = middle
            if abs(slope) <= 0.05 * abs(steep) or self._done():
                return best
            if slope < 0.0:
                low, low_slope = step, slope
            else:
                high, high_slope = step, slope
        return best

    def certificate(self, machine: Any, weights: Array) -> Certificate:
        """Return the gap of weights and machine together."""
        proof = machine.certificate_
        kept = self.data.kept
        rows = machine.support_ if kept is None else np.searchsorted(kept, machine.support_)
        state = _State(
            weights, float(proof.dual), *self.squares(machine, rows), float(proof.primal)
        )
        dual = max(state.bound(self.norm), self.bound)
        # The terms of the primal are all positive: their sum is the primal value.
        size = abs(state.primal)
        closed = state.primal - dual <= self.owner.tol * size and self.stopped != "interrupted"
        return bounded(
            "optimal" if closed else self.stopped or "precision_limit",
            state.primal,
            dual,
            size=size,
            violation=proof.kkt_violation,
            rounding=proof.rounding + state.rounding(self.norm),
            convexity=proof.convexity,
            assumes=proof.assumes,
            eigenvalue=proof.eigenvalue,
            n_iter=proof.n_iter,
            n_kernel_values=proof.n_kernel_values,
            seconds=perf_counter() - self.began,
            precision=proof.precision,
            n_problems=proof.n_problems,
        )


def _on_simplex(weights: Array, zero: int | None = None) -> Array:
    """Return weights without the rounding of a step."""
    weights = np.where(weights < 1e-14, 0.0, weights)
    if zero is not None:
        weights[zero] = 0.0
    return np.asarray(weights / weights.sum())


def _total(kernels: Sequence[Kernel]) -> Kernel:
    return functools.reduce(operator.add, kernels)


@declared
class MultipleKernelSVC(ClassifierMixin, _MultipleKernels[SVC]):
    """Support vector classifier that learns the weights of several kernels.

    The kernel is sum_m d_m k_m with weights d >= 0 of norm 1, chosen together with the machine: one
    convex problem, whose duality gap is the certificate. Kernels may be of different columns
    (``RBF(0.5).on_columns([0, 3])``), widths or kinds of objects, so that the weights say which of
    them matter.

    Attributes
    ----------
    weights_ : array of shape (n_kernels,)
        The weights d of the (normalised) kernels.
    scales_ : array of shape (n_kernels,)
        Sizes by which the kernels were divided.
    kernels_ : list of Kernel
        The kernels, bound to the data.
    kernel_ : Kernel
        Their weighted sum.
    machine_ : SVC
        The machine with this kernel.
    classes_ : array
        The labels. Several classes share one set of weights.
    certificate_ : Certificate
        Primal value, dual value and gap of weights and machine together.
    n_iter_ : int
        Machines that were trained.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MultipleKernelSVC
    >>> from mercer.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> kernels = [RBF(1.0).on_columns([j]) for j in range(3)]
    >>> model = MultipleKernelSVC(kernels, C=10.0).fit(X, np.abs(X[:, 1]) > 0.7)
    >>> int(model.weights_.argmax()), model.certificate_.status
    (1, 'optimal')
    """

    kernels: Sequence[Kernel] | None = None
    _: KW_ONLY
    class_weight: Any = parameter(default=None, kind='dict, "balanced" or None')
    """Weights of the classes."""

    def _machine(self, kernel: Any, **more: Any) -> SVC:
        return SVC(
            kernel=kernel,
            C=self.C,
            class_weight=self.class_weight,
            fit_intercept=self.fit_intercept,
            dtype="float64",
            **more,
        )

    def decision_function(self, X: Any) -> Array:
        """Return the values of the machine with the weighted kernels, as `SVC` does."""
        check_is_fitted(self, "machine_")
        return np.asarray(self.machine_.decision_function(X))


@declared
class MultipleKernelSVR(RegressorMixin, _MultipleKernels[SVR]):
    """Support vector regression that learns the weights of several kernels.

    As :class:`MultipleKernelSVC`, with the epsilon-insensitive loss.

    Attributes
    ----------
    weights_, scales_, kernels_, kernel_, machine_, certificate_, n_iter_ : object
        As for :class:`MultipleKernelSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MultipleKernelSVR
    >>> from mercer.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> kernels = [RBF(1.0).on_columns([j]) for j in range(2)]
    >>> MultipleKernelSVR(kernels, C=10.0).fit(X, np.sin(2 * X[:, 0])).weights_.round(2).tolist()
    [1.0, 0.0]
    """

    kernels: Sequence[Kernel] | None = None
    _: KW_ONLY
    epsilon: float = parameter(real_from(0.0), default=0.1)
    """Half width of the tube."""

    def _machine(self, kernel: Any, **more: Any) -> SVR:
        return SVR(
            kernel=kernel,
            C=self.C,
            epsilon=self.epsilon,
            fit_intercept=self.fit_intercept,
            dtype="float64",
            **more,
        )
