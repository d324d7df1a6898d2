"""A short list of kernels for given data, with the reasons and the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.features.seeds import generator
from mercer.gram import Gram
from mercer.inspection.alignments import cosine
from mercer.inspection.targets import TASKS
from mercer.kernels import Kernel
from mercer.machines import SVC, SVR
from mercer.objects.parameters import integer, positive, require_choice, show
from mercer.objects.validation import count, take
from mercer.run import Run, stopwatch

from .candidates import Candidate
from .data_kind import DataKind, data_kind
from .stored_values import StoredValues
from .table_candidates import usual_candidates
from .trials import (
    FINE_COSTS,
    Trial,
    best_trial,
    checked_target,
    costs,
    near_widths,
    sample,
    splitter,
    trials,
)

_STEPS = 200_000_000  # what one matrix of kernel values may cost, a few seconds
_FIRST = 400  # objects on which all kernels are compared
_GROWTH = 3  # by how much the sample of the better half is larger
_MOST = 5000  # objects of the largest kernel matrix
_TOL = 1e-2  # of the machines, whose scores need no more digits
_TUBE = 0.1  # epsilon of a regression, in standard deviations of the target
_LEAST = 60  # objects that are used, whatever that costs
_FINALISTS = 4  # families of kernels whose widths and C are searched again
_REPEATS = 3  # shuffles of the parts of that search


@dataclass(frozen=True)
class Suggestion:
    """A kernel of the list.

    Attributes
    ----------
    kernel : Kernel
        The kernel. One that learns from the data, such as the weights of words, is not bound
        yet: a machine binds it to its own training objects.
    reason : str
        Why it was tried.
    alignment : float
        Centred alignment with the target, from 0 to 1.
    score : float or None
        Cross-validated accuracy, or share of variance explained; None if time ran out.
    error : float or None
        Standard error of the score.
    parameters : dict
        The constants with which a machine reached the score: ``C``, and in regression
        ``epsilon``; empty without a score.
    seconds : float
        Time spent on it.

    Examples
    --------
    >>> from mercer.data import rings
    >>> from mercer.selection import suggest
    >>> X, y = rings(60, random_state=0)
    >>> best = suggest(X, y, random_state=0)[0]
    >>> best.score > 0.9, sorted(best.parameters)
    (True, ['C'])
    """

    kernel: Kernel
    reason: str
    alignment: float
    score: float | None
    error: float | None
    parameters: dict[str, float]
    seconds: float


class Suggestions(Sequence[Suggestion]):
    """A ranked list of kernels, made by :func:`suggest`; print it to read it.

    Parameters
    ----------
    items : list of Suggestion
        The kernels, best first; the list is a sequence of them.

    Attributes
    ----------
    task : {"classification", "regression"}
        The task.
    kind : str
        The kind of the data.
    notes : list of str
        Remarks on the data.
    n_objects, n_used : int
        How many objects there were, and on how many the numbers are based.

    Examples
    --------
    >>> from mercer.data import rings
    >>> from mercer.selection import suggest
    >>> X, y = rings(60, random_state=0)
    >>> suggestions = suggest(X, y, random_state=0)
    >>> suggestions.task, suggestions.n_objects
    ('classification', 60)
    """

    def __init__(
        self, items: list[Suggestion], task: str, kind: DataKind, n_objects: int, n_used: int
    ) -> None:
        self._items = items
        self.task = task
        self.kind = kind.name
        self.notes = kind.notes
        self.n_objects, self.n_used = n_objects, n_used

    @property
    def best(self) -> Kernel:
        """The first kernel of the list."""
        return self._items[0].kernel

    def estimator(self) -> SVC | SVR:
        """Return a machine with the first kernel and the constant that went with it.

        Returns
        -------
        SVC or SVR
            The machine, not fitted.
        """
        first = self._items[0]
        machine: type[SVC] | type[SVR] = SVC if self.task == "classification" else SVR
        return machine(kernel=first.kernel).set_params(**first.parameters)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self._items)

    def __str__(self) -> str:
        measure = "accuracy" if self.task == "classification" else "variance explained"
        lines = [f"{self.kind} data, {self.task}: " + "; ".join(self.notes)]
        lines.append(
            f"{measure} by cross-validation and alignment on {self.n_used} of "
            f"{self.n_objects} objects"
        )
        for rank, item in enumerate(self._items, start=1):
            if item.score is None:
                numbers = "not scored, time ran out"
            else:
                numbers = f"{item.score:.3f} +- {item.error:.3f} with C={item.parameters['C']:.4g}"
            lines.append(f"{rank}. {item.kernel!r}")
            lines.append(f"   {numbers}, alignment {item.alignment:.3f}")
            lines.append(f"   {item.reason}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{len(self)} suggestions, best {self.best!r}>"


def suggest(
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    candidates: Sequence[Kernel] | None = None,
    n_suggestions: int = 5,
    n_sample: int | None = None,
    n_folds: int = 4,
    time_limit: float = 20.0,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Suggestions:
    """Return a ranked short list of kernels for data, with reasons and numbers.

    The kind of the data (dense, sparse, histograms, strings, texts, sets, counts, series, a
    periodic target) decides which kernels are tried, distances in the data decide their widths.
    In a table every group of columns gets the kernels that suit it (numbers of similar scale,
    categories, each column of texts or other objects), and these, their sums and products are
    tried, and Gaussians of the whole row. On a sample of the objects every kernel gets its centred
    alignment with the target and, the best aligned first, a cross-validated search over C, the one
    of :class:`GridSearchCV`, which binds the kernel to the training part of every fold. While time
    is left, the better half of the kernels is searched again on a sample three times as large, and
    so on up to 5,000 objects, and the four best once more, on three shuffles of the parts and with
    widths and C near those found. The ranking is by the last of these scores; kernels whose scores
    are equal up to half a standard error are ordered from simple to rich. Among kernels
    that differ only in a width or a degree, the best is listed. For an estimate for new data see
    :func:`tune`.

    Parameters
    ----------
    X : objects
        Rows of numbers, dense or sparse, strings, sets, Counters, series of numbers (also of
        different lengths, or with several channels), or a data frame with columns of these;
        anything together with `candidates`.
    y : array-like of shape (n_X,)
        Labels or real targets.
    task : {"auto", "classification", "regression"}, default="auto"
        What `y` is. "auto" takes strings and truth values for labels, and whole numbers that are
        codes of classes: 0, ..., k - 1 or 1, ..., k, or up to 20 different integers, or up to three
        different floats.
    candidates : sequence of Kernel, optional
        Kernels to compare instead of the usual ones for the data.
    n_suggestions : int >= 1, default=5
        Length of the list.
    n_sample : int, optional
        How many objects to use; the largest matrix has this size. Fewer are used where a value
        of a kernel is expensive, as on long series. By default 400 for all kernels, and more for
        the better ones as long as `time_limit` allows.
    n_folds : int >= 2, default=4
        Parts of the cross-validation.
    time_limit : float > 0, default=20.0
        Seconds after which no further kernel is scored; the first always is.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample and of the parts.
    n_jobs : int, optional
        Threads; None for all cores that the process may use.

    Returns
    -------
    Suggestions
        The list; ``.best`` is a kernel for a machine, ``.estimator()`` the machine.

    Examples
    --------
    >>> from mercer.selection import suggest
    >>> from mercer.data import rings
    >>> X, y = rings(200, random_state=0)
    >>> found = suggest(X, y)
    >>> found.kind, found[0].score > 0.95
    ('dense', True)
    >>> bool(found.estimator().fit(X, y).score(X, y) > 0.95)
    True
    """
    _check(task, n_suggestions, n_sample, n_folds, time_limit)
    run = Run(time_limit)
    y, classification = checked_target(y, task)
    kind = _kind_of(X, y, classification, candidates)
    n = count(kind.X)
    if len(y) != n:
        raise ValueError(f"y must have one value for each of the {n} objects; got {len(y)}.")
    rng = generator(random_state)
    seed = int(rng.integers(2**31 - 1))
    tried = (
        usual_candidates(kind, y, classification, seed)
        if candidates is None
        else [Candidate(kernel, "named by the caller") for kernel in candidates]
    )
    affordable = max(_LEAST, int((2.0 * _STEPS / kind.steps) ** 0.5))
    chosen = sample(y, classification, min(n_sample or _FIRST, n, affordable), n_folds, rng)
    scoring = _Scoring(classification, n_folds, seed, n_jobs, run)
    items = _measure(tried, take(kind.X, chosen), y[chosen], scoring)
    if n_sample is None:
        items, chosen = _on_larger_samples(items, chosen, kind.X, y, scoring, rng)
    ranked = _ranked(items)
    if candidates is None:
        ranked = _refined(ranked, take(kind.X, chosen), y[chosen], scoring)
    return Suggestions(
        [item.suggestion for item in ranked[:n_suggestions]],
        "classification" if classification else "regression",
        kind,
        n,
        len(chosen),
    )


class _Measured(NamedTuple):
    """A suggestion, its place in the order of simplicity and its family."""

    place: int
    family: str
    suggestion: Suggestion

    @property
    def scored(self) -> bool:
        return self.suggestion.score is not None

    @property
    def score(self) -> float:
        return -np.inf if self.suggestion.score is None else self.suggestion.score

    @property
    def error(self) -> float:
        return self.suggestion.error or 0.0


@dataclass(frozen=True)
class _Scoring:
    """How kernels are scored."""

    classification: bool
    n_folds: int
    seed: int
    n_jobs: int | None
    run: Run

    def best(self, kernel: Kernel, X: Any, y: NDArray[Any], K: Any, must: bool) -> Trial | None:
        """Return the best trial over C; None where time ran out, unless it must be scored.

        `K`: the kernel matrix, which stands for a kernel that learns nothing from the objects.
        """
        if self.run.over and not must:
            return None
        prices = costs(kernel, X, y, self.classification)
        grid: dict[str, list[Any]] = {"kernel": [kernel], "C": prices}
        if kernel.is_bound:
            grid["kernel"], X = [StoredValues(kernel)], K
        found = self.trials([grid], X, y, "coarse", None if must else self.run.seconds_left)
        return max(found, key=lambda trial: trial.score, default=None)

    def trials(
        self, grids: list[Any], X: Any, y: NDArray[Any], stage: str, limit: float | None
    ) -> list[Trial]:
        """Return the candidates of grids with their scores; none where time ran out."""
        n_repeats = _REPEATS if stage == "fine" else 1
        if not self.classification:
            grids = [{**grid, "epsilon": [_TUBE * float(np.std(y))]} for grid in grids]
        machine = (SVC if self.classification else SVR)(tol=_TOL)
        seeds = range(self.seed, self.seed + n_repeats)
        shuffles = [splitter(self.classification, self.n_folds, seed, y) for seed in seeds]
        cv = [split for folds in shuffles for split in folds.split(y, y)]
        limits: dict[str, Any] = {"time_limit": limit, "n_jobs": self.n_jobs}
        try:
            return trials(machine, grids, X, y, cv, stage=stage, n_repeats=n_repeats, **limits)
        except TimeoutError:
            return []

    def aligned(self, kernel: Kernel, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
        """Return the kernel matrix of the objects and its centred alignment with the target."""
        K = Gram(kernel.bind(X), X, "float64").tile(n_jobs=self.n_jobs)
        task = "classification" if self.classification else "regression"
        # None for a kernel to which all objects are alike: it has nothing of the target.
        return K, cosine(K, y=y, task=task, centred=True) or 0.0


def _measure(tried: list[Candidate], X: Any, y: NDArray[Any], scoring: _Scoring) -> list[_Measured]:
    """Return the candidates with their numbers."""
    aligned = []
    for place, candidate in enumerate(tried):
        if place and scoring.run.over:
            break
        elapsed = stopwatch()
        K, alignment = scoring.aligned(candidate.kernel, X, y)
        aligned.append((alignment, place, candidate, K, elapsed()))
    aligned.sort(key=lambda entry: -entry[0])
    items: list[_Measured] = []
    for alignment, place, candidate, K, seconds in aligned:
        elapsed = stopwatch()
        trial = scoring.best(candidate.kernel, X, y, K, must=not items)
        seconds += elapsed()
        suggestion = _scored(candidate.kernel, candidate.reason, alignment, trial, seconds)
        items.append(_Measured(place, candidate.family or repr(candidate.kernel), suggestion))
    return items


def _on_larger_samples(
    items: list[_Measured],
    chosen: NDArray[np.intp],
    X: Any,
    y: NDArray[Any],
    scoring: _Scoring,
    rng: np.random.Generator,
) -> tuple[list[_Measured], NDArray[np.intp]]:
    """Score the better half again on more and more objects, while there is time for all of it."""
    n = min(count(X), _MOST)
    while len(chosen) < n:
        ranked = sorted((i for i in items if i.scored), key=lambda i: -i.score)
        better = ranked[: max(2, (len(ranked) + 1) // 2)]
        size = min(n, _GROWTH * len(chosen))
        # Kernel matrices grow with the square of the sample, and steps of the solver a bit faster.
        cost = sum(i.suggestion.seconds for i in better) * (size / len(chosen)) ** 2.2
        if cost > scoring.run.seconds_left:
            break
        larger = sample(y, scoring.classification, size, scoring.n_folds, rng)
        objects, target = take(X, larger), y[larger]
        again = []
        for item in better:
            elapsed, old = stopwatch(), item.suggestion
            K, alignment = scoring.aligned(old.kernel, objects, target)
            trial = scoring.best(old.kernel, objects, target, K, must=False)
            if trial is None:
                return items, chosen
            seconds = elapsed()
            new = _scored(old.kernel, old.reason, alignment, trial, seconds)
            again.append(item._replace(suggestion=new))
        items, chosen = again, larger
    return items, chosen


def _refined(
    ranked: list[_Measured], X: Any, y: NDArray[Any], scoring: _Scoring
) -> list[_Measured]:
    """Search widths and C of the first kernels again, on several shuffles, if there is time."""
    near = [(i, near_widths(i.suggestion.kernel)[::2]) for i in ranked[:_FINALISTS] if i.scored]
    cost = sum(len(kernels) * item.suggestion.seconds for item, kernels in near)
    left, elapsed = scoring.run.seconds_left, stopwatch()
    if _REPEATS * cost > left:
        return ranked
    grids = [
        {"kernel": kernels, "C": [item.suggestion.parameters["C"] * f for f in FINE_COSTS[::2]]}
        for item, kernels in near
    ]
    found = scoring.trials(grids, X, y, "fine", left)
    share = elapsed() / len(grids)
    again = []
    for item, kernels in near:
        own = [trial for trial in found if trial.kernel in kernels]
        if not own:
            return ranked
        best, old = best_trial(own), item.suggestion
        alignment = scoring.aligned(best.kernel, X, y)[1]
        reason = old.reason + "; widths refined" * (best.kernel != old.kernel)
        new = _scored(best.kernel, reason, alignment, best, old.seconds + share)
        again.append(item._replace(suggestion=new))
    return _ranked(again) + ranked[len(again) :]


def _scored(
    kernel: Kernel, reason: str, alignment: float, trial: Trial | None, seconds: float
) -> Suggestion:
    if trial is None:
        return Suggestion(kernel, reason, alignment, None, None, {}, seconds)
    parameters = {"C": trial.C}
    if trial.epsilon is not None:
        parameters["epsilon"] = trial.epsilon
    return Suggestion(kernel, reason, alignment, trial.score, trial.error, parameters, seconds)


def _ranked(items: list[_Measured]) -> list[_Measured]:
    """Return the best of each family by falling score; near ties from simple to rich.

    Those without a score come last.
    """
    scored = sorted((i for i in items if i.scored), key=lambda i: -i.score)
    simplicity: dict[str, int] = {}
    for item in sorted(items, key=lambda i: i.place):
        simplicity.setdefault(item.family, item.place)
    ranked: list[_Measured] = []
    while scored:
        near = [i for i in scored if i.score >= scored[0].score - 0.5 * scored[0].error]
        simplest = min(near, key=lambda i: (simplicity[i.family], -i.score))
        ranked.append(simplest)
        scored.remove(simplest)
    ranked += sorted((i for i in items if not i.scored), key=lambda i: -i.suggestion.alignment)
    first_of: dict[str, _Measured] = {}
    for item in ranked:
        first_of.setdefault(item.family, item)
    return list(first_of.values())


def _check(
    task: str, n_suggestions: int, n_sample: int | None, n_folds: int, time_limit: float
) -> None:
    require_choice(task, "task", TASKS)
    integer(n_suggestions, "n_suggestions", minimum=1)
    integer(n_folds, "n_folds", minimum=2)
    if n_sample is not None:
        integer(n_sample, "n_sample", minimum=2 * n_folds)
    positive(time_limit, "time_limit")


def _kind_of(
    X: Any, y: NDArray[Any], classification: bool, candidates: Sequence[Kernel] | None
) -> DataKind:
    if candidates is None:
        return data_kind(X, None if classification else y)
    if not candidates:
        raise ValueError("candidates is empty; name at least one kernel.")
    for kernel in candidates:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"candidates must be kernels; got {show(kernel)}.")
        if kernel.pairwise:
            raise ValueError("a precomputed matrix cannot be compared on a sample; name kernels.")
    objects = candidates[0].validate(X)
    return DataKind("given", objects, [f"{count(objects)} objects"])
