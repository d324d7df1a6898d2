"""Cross-validated trials of kernels and constants: the search behind `suggest` and `tune`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.gram import Gram
from mercer.inspection.targets import is_classification
from mercer.kernels import Kernel
from mercer.objects.parameters import show
from mercer.objects.validation import column_names, count, take

from .fit_bar import FitBar
from .search import GridSearchCV

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
FINE_COSTS = (0.2, 0.5, 1.0, 2.0, 5.0)
FINE_WIDTHS = (0.35, 0.6, 1.0, 1.7, 2.8)
"""Multiples of the best C and of the best widths that a fine search tries."""
_SAMPLE = 200
"""Objects from which the size of kernel values is estimated."""


@dataclass(frozen=True)
class Trial:
    """A candidate of the search.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    C : float
        The price of the losses.
    epsilon : float or None
        The tube of a regression.
    score, error : float
        Cross-validated score and its standard error.
    stage : {"coarse", "fine", "default"}
        The search it belongs to; "default" where time sufficed for none, with a score of NaN where
        it did not suffice for cross-validation either.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> from mercer.selection import Trial
    >>> Trial(RBF(0.5), C=1.0, epsilon=None, score=0.9, error=0.01, stage="coarse").score
    0.9
    """

    kernel: Kernel
    C: float
    epsilon: float | None
    score: float
    error: float
    stage: str


def checked_target(y: Any, task: str) -> tuple[NDArray[Any], bool]:
    """Return the target as an array and whether it is a class label."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 or not len(y):
        raise ValueError(f"y must be one label or number per object; got shape {y.shape}.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity.")
    if is_classification(y, task):
        if len(np.unique(y)) < 2:
            raise ValueError(f"y has only the value {show(y[0])}; two classes are needed.")
        return y, True
    if y.dtype.kind not in "iufb":
        raise ValueError("y must be numbers for regression; got labels of another type.")
    if np.all(y == y[0]):
        raise ValueError(f"y has only the value {show(y[0])}; there is nothing to explain.")
    return y.astype(np.float64), False


def splitter(classification: bool, n: int, seed: int, y: Any) -> Any:
    """Return a splitter that shuffles, into fewer parts where a class is small."""
    if not classification:
        return KFold(n, shuffle=True, random_state=seed)
    smallest = int(np.unique(y, return_counts=True)[1].min())
    return StratifiedKFold(max(2, min(n, smallest)), shuffle=True, random_state=seed)


def sample(
    y: NDArray[Any], classification: bool, size: int, n_folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return positions of a sample, with every class in proportion but in each of the parts."""
    if not classification:
        if size < 2 * n_folds:
            raise ValueError(f"{n_folds} parts need at least {2 * n_folds} objects; got {size}.")
        return np.sort(rng.choice(len(y), size, replace=False))
    labels, counts = np.unique(y, return_counts=True)
    usable = labels[counts >= n_folds]
    if len(usable) < 2:
        raise ValueError(
            f"cross-validation in {n_folds} parts needs two classes of at least {n_folds} objects "
            f"each; got {dict(zip(labels.tolist(), counts.tolist(), strict=True))}."
        )
    chosen = []
    total = int(counts[counts >= n_folds].sum())
    for label in usable:
        own = np.flatnonzero(y == label)
        take_n = min(len(own), max(n_folds, round(size * len(own) / total)))
        chosen.append(rng.choice(own, take_n, replace=False))
    return np.sort(np.concatenate(chosen))


def costs(kernel: Kernel, X: Any, y: Any, classification: bool) -> list[float]:
    """Return values of C that mean the same for every kernel and unit of the target."""
    rows = np.linspace(0, count(X) - 1, min(_SAMPLE, count(X))).astype(np.intp)
    some = take(kernel.validate(X), rows)
    bound = kernel.bind(some, feature_names=column_names(X))
    size = float(np.mean(Gram(bound, some, "float64").diag())) or 1.0
    spread = 1.0 if classification else float(np.std(y)) or 1.0
    return [C * spread / size for C in COSTS]


def trials(
    machine: Any,
    grids: list[dict[str, list[Any]]],
    X: Any,
    y: Any,
    cv: Any,
    *,
    stage: str,
    time_limit: float | None,
    n_jobs: int | None,
    bar: FitBar | None = None,
    n_repeats: int = 1,
) -> list[Trial]:
    """Return the candidates of grids with their cross-validated scores.

    `machine`: a machine, or a pipeline whose step "machine" is one. Kernels are bound to the
    training part of every fold. `n_repeats`: how many times `cv` divides the objects. Standard
    errors are those of one time, since the scores of repetitions are not independent. Raises
    TimeoutError where time runs out before the first candidate.
    """
    search = GridSearchCV(machine, grids, cv=cv, refit=False, n_jobs=n_jobs, time_limit=time_limit)
    search._bar = bar
    with warnings.catch_warnings(), np.errstate(under="ignore"):
        warnings.simplefilter("ignore")
        results = search.fit(X, y).cv_results_
    splits = [k for k in results if k.startswith("split") and k.endswith("_test_score")]
    n = len(splits) // n_repeats
    found = []
    for parameters, mean, deviation in zip(
        results["params"], results["mean_test_score"], results["std_test_score"], strict=True
    ):
        of = {name.removeprefix("machine__"): value for name, value in parameters.items()}
        if np.isfinite(mean):
            error = float(deviation / np.sqrt(n - 1))  # of the mean; the deviation divides by n
            found.append(
                Trial(of["kernel"], float(of["C"]), of.get("epsilon"), float(mean), error, stage)
            )
    return found


def best_trial(trials: list[Trial]) -> Trial:
    """Return the trial of the best score; of several with one kernel, that of the middle C."""
    first = max(trials, key=lambda t: t.score)
    equal = [t for t in trials if t.score == first.score and t.kernel == first.kernel]
    return sorted(equal, key=lambda t: t.C)[len(equal) // 2]


def near_widths(kernel: Kernel) -> list[Kernel]:
    """Return kernels whose widths are near those of one."""
    named = kernel.get_params().items()
    numbers = int | float | list | tuple | np.ndarray
    gammas = {k: v for k, v in named if k.split("__")[-1] == "gamma" and isinstance(v, numbers)}
    return [
        clone(kernel).set_params(**{k: (np.asarray(v) * f).tolist() for k, v in gammas.items()})
        for f in (FINE_WIDTHS if gammas else (1.0,))
    ]
