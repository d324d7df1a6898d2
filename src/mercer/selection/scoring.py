"""Cross-validated score of a machine with a given kernel matrix."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.machines import SVC, SVR

Array = NDArray[np.float64]

_COSTS = (0.1, 1.0, 10.0, 100.0)
_TUBE = 0.1


@dataclass(frozen=True)
class Score:
    """A cross-validated score."""

    mean: float  # mean over the folds, and its standard error
    error: float
    # the constants of the machine that reached it: ``C``, and in regression ``epsilon``
    parameters: dict[str, float]


def cross_validated(
    K: Array, y: Any, classification: bool, n_folds: int, seed: int, n_jobs: int | None
) -> Score:
    """Return the best score over a few constants C.

    `K` (n, n): kernel matrix of the sample. `classification`: which of the two: the score is the
    accuracy or the share of variance explained.
    """
    if classification:
        folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(K, y))
    else:
        folds = list(KFold(n_folds, shuffle=True, random_state=seed).split(K, y))
    # In units in which k(x, x) and the target are of size 1, C means the same for every kernel.
    size = float(np.mean(np.diagonal(K))) or 1.0
    spread = 1.0 if classification else float(np.std(y)) or 1.0
    K, target = K / size, y if classification else y / spread
    best: Score | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a limit on iterations makes a worse score, no harm
        for C in _COSTS:
            scores = [_score(K, target, classification, C, fold, n_jobs) for fold in folds]
            mean = float(np.mean(scores))
            error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
            if best is None or mean > best.mean:
                parameters = {"C": C * spread / size}
                if not classification:
                    parameters["epsilon"] = _TUBE * spread
                best = Score(mean, error, parameters)
    assert best is not None
    return best


def _score(
    K: Array, y: Any, classification: bool, C: float, fold: tuple[Any, Any], n_jobs: int | None
) -> float:
    train, test = fold
    common: dict[str, Any] = {"kernel": "precomputed", "C": C, "tol": 1e-2, "n_jobs": n_jobs}
    common["max_iter"] = 100_000
    inside, across = K[np.ix_(train, train)], K[np.ix_(test, train)]
    if classification:
        model = SVC(**common).fit(inside, y[train])
        return float(accuracy_score(y[test], model.predict(across)))
    tube = SVR(epsilon=_TUBE, **common).fit(inside, y[train])
    return float(r2_score(y[test], tube.predict(across)))
