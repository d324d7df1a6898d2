"""Leave-n-out: every part of the data is left out once.

The m rows are divided into m / n parts; each is the validation set of a machine trained on the
others, and the chosen machine is trained on all rows (A. Smola, *Learning with Kernels*, 1998,
section 7.1.2). With n = 1 the mean cost has the expectation of the risk of a machine trained on
m - 1 rows, one fewer than in the text's (7.6). The machines without one row are a discrete form of
Hampel's influence function, which shows how robust an estimator is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state, indexable

from mercer.capacity import leave_one_out
from mercer.machines.ridge.base import RidgeMachine
from mercer.machines.support_vector.base import KernelMachine
from mercer.objects.validation import count, take
from mercer.sklearn_internals import safe_split

from .cost import Cost, require_estimator

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class LeaveNOut(BaseCrossValidator):
    """Splits that leave n rows out at a time, each row once: (m / n)-fold cross-validation.

    Where n does not divide the number m of rows, there are ceil(m / n) parts, the last one with
    the remaining rows.

    Parameters
    ----------
    n : int
        Rows of a part, fewer than there are rows.
    shuffle : bool, default=True
        Whether parts are drawn at random; otherwise they are consecutive rows.
    random_state : int, RandomState or None, default=None
        Seed of the permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import LeaveNOut
    >>> splits = LeaveNOut(2, shuffle=False).split(np.zeros(5))
    >>> [test.tolist() for _, test in splits]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, n: int, *, shuffle: bool = True, random_state: Any = None) -> None:
        self.n = n
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield positions for training and for validation.

        Parameters
        ----------
        X : objects
            The objects; only their number is looked at.
        y, groups : ignored
            Present for consistency.

        Yields
        ------
        train, test : ndarray of int
            Positions of the objects.
        """
        yield from super().split(X, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of parts, ceil(m / n).

        Parameters
        ----------
        X : objects
            The objects; only their number is looked at.
        y, groups : ignored
            Present for consistency.

        Returns
        -------
        int
            The number of splits.
        """
        if X is None:
            raise ValueError("LeaveNOut needs X: the number of parts depends on that of the rows.")
        m = count(X)
        if isinstance(self.n, bool) or self.n != int(self.n) or not 1 <= self.n < m:
            raise ValueError(f"n must be an integer from 1 to {m - 1}, for {m} rows; got {self.n}.")
        return math.ceil(m / self.n)

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[Rows]:
        parts = self.get_n_splits(X)
        m = count(X)
        order = np.arange(m)
        if self.shuffle:
            order = check_random_state(self.random_state).permutation(m)
        for k in range(parts):
            yield np.sort(order[k * int(self.n) : (k + 1) * int(self.n)])


def loo_risk(estimator: Any, X: Any, y: Any, cost: Any = None) -> float:
    """Return the leave-one-out risk: the mean cost on each row of the machine trained without it.

    Its expectation over samples of m rows is the expected risk of machines trained on m - 1 rows.

    Parameters
    ----------
    estimator : estimator
        Estimator. Ridge machines have the values in closed form, and of support vector
        machines only support vectors are refitted; a kernel whose parameters depend on the data is
        then the one bound to all rows. Others are trained m times.
    X, y : objects and array-like
        Training data.
    cost : str, Loss or callable, default=None
        As in :func:`holdout_risk`.

    Returns
    -------
    float
        The mean cost.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection import loo_risk
    >>> round(loo_risk(KernelRidge(), [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]), 6)
    1.72
    """
    measured = Cost.of(cost, estimator)
    X, y = indexable(X, y)
    fast = _without_refits(estimator, X, y, measured, cost)
    if fast is not None:
        return float(fast.mean())
    costs = np.empty(len(y))
    for i in range(len(y)):
        model = _without(estimator, X, y, i)
        rest = np.delete(np.arange(len(y)), i)
        one = np.array([i])
        costs[i] = measured.each(model, *safe_split(estimator, X, y, one, rest))[0]
    return float(costs.mean())


def _without_refits(estimator: Any, X: Any, y: Any, measured: Cost, cost: Any) -> Array | None:
    """Return the costs by a formula or by refits of support vectors; None where there is no way."""
    y = np.asarray(y)
    if isinstance(estimator, RidgeMachine) and y.ndim == 1:
        model = clone(estimator).fit(X, y)
        values = model.leave_one_out_values(X, y)
        if not is_classifier(estimator):
            return measured._checked(measured.function(y, values), len(y))
        if measured.of_values:
            return measured.at_values(values, y, model.classes_)
        codes = values > 0.0 if values.ndim == 1 else values.argmax(axis=1)
        predicted = model.classes_[codes.astype(np.intp)]
        return measured._checked(measured.function(y, predicted), len(y))
    if isinstance(estimator, KernelMachine):
        plain = is_classifier(estimator) and (cost is None or cost == "zero_one")
        regression = not is_classifier(estimator) and hasattr(estimator, "epsilon")
        if plain or regression:
            found = leave_one_out(clone(estimator).fit(X, y), X, y)
            if found.residuals is None:
                return found.losses
            predicted = np.asarray(y, dtype=np.float64) - found.residuals
            return measured._checked(measured.function(y, predicted), len(y))
    return None


def empirical_influence(
    estimator: Any, X: Any, y: Any = None, statistic: Callable[..., Any] | None = None
) -> Array:
    """Return the influence of every row on a statistic: m (T(all rows) - T(without row i)).

    A discrete form of Hampel's influence function. Robust estimators have bounded influences,
    however far away a row lies.

    Parameters
    ----------
    estimator : estimator or None
        Estimator fitted to the rows; None for a statistic of the data themselves.
    X : objects
        Objects.
    y : array-like of shape (n_samples,), optional
        Labels or targets.
    statistic : callable
        ``statistic(fitted)`` returns a number or an array, such as a prediction at some point.
        Without an estimator ``statistic(X)``, or ``statistic(X, y)`` where y is given.

    Returns
    -------
    array of shape (n_samples,) or (n_samples, ...)
        The influences.

    Examples
    --------
    The mean follows an outlier, the median does not:

    >>> import numpy as np
    >>> from mercer.selection import empirical_influence
    >>> x = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    >>> empirical_influence(None, x, statistic=np.mean).round(2).tolist()
    [-26.25, -25.0, -23.75, -22.5, 97.5]
    >>> empirical_influence(None, x, statistic=np.median).tolist()
    [-2.5, -2.5, 0.0, 2.5, 2.5]
    """
    if estimator is not None:
        require_estimator(estimator)
    if statistic is None:
        raise TypeError("name the statistic: a function of the fitted estimator, or of the data.")
    X, y = indexable(X, y)
    m = count(X)
    if m < 2:
        raise ValueError(f"a row is left out at a time, so two are needed; got {m}.")

    def value(i: int | None) -> Array:
        if estimator is not None:
            model = _without(estimator, X, y, i)
            return np.asarray(statistic(model), dtype=np.float64)
        rows = np.arange(m) if i is None else np.delete(np.arange(m), i)
        parts = (take(X, rows),) if y is None else (take(X, rows), take(y, rows))
        return np.asarray(statistic(*parts), dtype=np.float64)

    whole = value(None)
    return np.array([m * (whole - value(i)) for i in range(m)])


def _without(estimator: Any, X: Any, y: Any, i: int | None) -> Any:
    """Return a copy of an estimator that is fitted to all rows but one."""
    m = count(X)
    rows = np.arange(m) if i is None else np.delete(np.arange(m), i)
    Xs, ys = safe_split(estimator, X, y, rows)
    model = clone(estimator)
    return model.fit(Xs) if ys is None else model.fit(Xs, ys)
