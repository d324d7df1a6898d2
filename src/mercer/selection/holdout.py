"""Hold-out risks: a part of the data is kept for validation, another for the final estimate.

The mean cost on rows that a machine has not seen estimates its risk. If these rows also chose the
structural parameters, the smallest of several such means is optimistic; a third part, used once,
is not (A. Smola, *Learning with Kernels*, 1998, section 7.1.1). For N candidates and costs in an
interval of length w, Hoeffding's inequality and the union bound give with probability 1 - delta,
for all candidates at once,

    |R[f] - R_valid[f]| <= w sqrt(ln(2 N / delta) / (2 m_valid)),
     R[f] <= R_valid[f]  + w sqrt(ln(N / delta) / (2 m_valid)).

The number of errors of a classifier is binomial, so that its quantiles give shorter intervals
within [0, 1] (C. Clopper, E. Pearson, Biometrika 26, 1934), at the level delta / N.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, indexable
from sklearn.utils.multiclass import type_of_target

from mercer.objects.validation import count, take
from mercer.sklearn_internals import safe_split

from .cost import Cost

Rows = NDArray[np.intp]


class HoldoutRisk(NamedTuple):
    """Mean cost on training and on validation rows.

    Attributes
    ----------
    train, valid : float
        The two risks.
    n_train, n_valid : int
        Numbers of rows.

    Examples
    --------
    >>> from mercer.selection import HoldoutRisk
    >>> HoldoutRisk(train=0.1, valid=0.15, n_train=75, n_valid=25).valid
    0.15
    """

    train: float
    valid: float
    n_train: int
    n_valid: int


def parts_of(
    n: int, fractions: Sequence[float], labels: Any = None, random_state: Any = None
) -> list[Rows]:
    """Return disjoint sets of positions, sorted, with the given shares of n rows.

    `labels`: classes, each of which is divided in these shares, up to rounding.
    """
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.ndim != 1 or not (shares >= 0).all() or not math.isclose(shares.sum(), 1.0):
        raise ValueError(f"fractions must be at least 0 and sum to 1; got {list(fractions)}.")
    order = check_random_state(random_state).permutation(n)
    groups = [order]
    if labels is not None:
        _, codes = np.unique(np.asarray(labels), return_inverse=True)
        groups = [order[codes[order] == k] for k in range(codes.max() + 1)]
    ends = np.cumsum(shares)[:-1]
    divided = [np.split(rows, np.round(ends * len(rows)).astype(np.intp)) for rows in groups]
    parts = [np.sort(np.concatenate(pieces)) for pieces in zip(*divided, strict=True)]
    for part, share in zip(parts, shares, strict=True):
        if share > 0 and not len(part):
            raise ValueError(f"n_samples = {n}: too few for a part with the share {share:g}.")
    return parts


def strata(estimator: Any, y: Any) -> Any:
    """Return the classes whose proportions a split keeps; None where the targets are not classes.

    What a classifier does not take is left to its fit to refuse, as in cross-validation.
    """
    classes = is_classifier(estimator) and type_of_target(y) in ("binary", "multiclass")
    return np.ravel(y) if classes else None


def train_valid_test_split(
    *arrays: Any,
    fractions: tuple[float, float, float] = (0.5, 0.25, 0.25),
    stratify: Any = None,
    random_state: Any = None,
) -> list[Any]:
    """Split data at random into parts for training, for validation and for the final test.

    The validation part chooses structural parameters (kernel, C), the training part all others. The
    test part must serve once, to estimate the risk of what was chosen.

    Parameters
    ----------
    *arrays : arrays, sparse matrices or lists of the same length
        Arrays to split: objects, targets, weights.
    fractions : (float, float, float), default=(0.5, 0.25, 0.25)
        Shares of the three parts, which sum to 1.
    stratify : array-like, default=None
        Labels; every part gets all classes in the same proportions, up to rounding.
    random_state : int, RandomState or None, default=None
        Seed of the permutation.

    Returns
    -------
    list
        Three parts of the first array, three of the second one, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import train_valid_test_split
    >>> parts = train_valid_test_split(np.arange(8), fractions=(0.5, 0.25, 0.25), random_state=0)
    >>> [len(part) for part in parts], sorted(np.concatenate(parts).tolist())
    ([4, 2, 2], [0, 1, 2, 3, 4, 5, 6, 7])
    """
    if not arrays or len(fractions) != 3:
        raise ValueError("give at least one array, and three fractions.")
    checked = indexable(*arrays)
    rows = parts_of(count(checked[0]), fractions, stratify, random_state)
    return [take(array, part) for array in checked for part in rows]


def holdout_risk(
    estimator: Any,
    X: Any,
    y: Any,
    cost: Any = None,
    valid_fraction: float = 0.25,
    random_state: Any = None,
) -> HoldoutRisk:
    """Return the mean cost on rows that an estimator is fitted to, and on rows that are held out.

    Parameters
    ----------
    estimator : estimator
        A classifier or a regression; a copy is fitted.
    X : objects
        Objects.
    y : array-like of shape (n_samples,)
        Labels or targets.
    cost : str, Loss or callable, default=None
        "zero_one", "squared", "absolute"; a loss of `mercer.losses`, evaluated at y f(x) of a
        classifier of two classes; or a function of targets and predictions that returns a cost for
        each row. None is "zero_one" for classifiers and "squared" for others.
    valid_fraction : float, default=0.25
        Share of the rows that are held out; of every class of a classifier.
    random_state : int, RandomState or None, default=None
        Seed of the split.

    Returns
    -------
    HoldoutRisk
        ``train`` and ``valid``, with the numbers of rows behind them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import holdout_risk
    >>> found = holdout_risk(SVC(), *load_iris(return_X_y=True), random_state=0)
    >>> found.n_train, found.n_valid, bool(found.valid < 0.1)
    (114, 36, True)
    """
    measured = Cost.of(cost, estimator)
    X, y = indexable(X, y)
    check_share("valid_fraction", valid_fraction)
    fractions = 1 - valid_fraction, valid_fraction
    train, valid = parts_of(len(y), fractions, strata(estimator, y), random_state)
    model = clone(estimator).fit(*safe_split(estimator, X, y, train))
    risks = []
    for rows in (train, valid):
        Xs, ys = safe_split(estimator, X, y, rows, train)
        risks.append(float(measured.each(model, Xs, ys).mean()))
    return HoldoutRisk(risks[0], risks[1], len(train), len(valid))


def check_share(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a share of the rows, or refuse it."""
    if isinstance(value, bool) or not (0.0 <= value < 1.0 if zero else 0.0 < value < 1.0):
        raise ValueError(f"{name} must lie between 0 and 1; got {value!r}.")
    return float(value)


def risk_interval(
    risk: float, n_valid: int, level: float, width: float | None, sided: int = 2
) -> tuple[float, float]:
    """Return an interval that holds the risk with probability 1 - level; see the module's head.

    `risk`: the mean of n_valid costs in an interval of length `width`; None: costs 0 and 1.
    `sided` = 1: all of `level` is spent on the upper end.
    """
    if width is not None or not math.isfinite(risk):
        reach = (width or 1.0) * math.sqrt(math.log(sided / level) / (2 * n_valid))
        return risk - reach, risk + reach
    errors = binomtest(round(risk * n_valid), n_valid, alternative=("less", "two-sided")[sided - 1])
    low, high = errors.proportion_ci(1.0 - level, "exact")
    return float(low), float(high)
