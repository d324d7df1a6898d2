"""Joint minimisation of the training risk over coefficients and structural parameters.

    (alpha, beta) = argmin over (alpha', beta') of R_emp[f(alpha', beta')] + capacity(f)

(A. Smola, *Learning with Kernels*, 1998, (7.5)). All data are used, but without a capacity term
nothing protects from overfitting: of nested classes the richest always wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from .cost import Cost


@dataclass(frozen=True)
class JointMinimum:
    """What :func:`joint_minimise` found.

    Attributes
    ----------
    params : dict
        The structural parameters.
    estimator : estimator
        The fitted estimator.
    objective, risk : float
        Training risk plus capacity term, and the training risk alone.
    tried : list of (dict, float)
        All candidates that were fitted, with their objectives.

    Examples
    --------
    >>> from mercer.selection import JointMinimum
    >>> JointMinimum({"C": 1.0}, None, 0.3, 0.2, [({"C": 1.0}, 0.3)]).params
    {'C': 1.0}
    """

    params: dict[str, Any]
    estimator: Any
    objective: float
    risk: float
    tried: list[tuple[dict[str, Any], float]]


def joint_minimise(
    estimator: Any,
    param_grid: dict[str, Any],
    X: Any,
    y: Any,
    *,
    cost: Any = None,
    capacity: Callable[[Any], float] | None = None,
    alternate: bool = False,
) -> JointMinimum:
    """Minimise the training risk over a grid of structural parameters, without validation data.

    Parameters
    ----------
    estimator : estimator
        Estimator that determines alpha for given structural parameters.
    param_grid : dict
        Values of the structural parameters.
    X, y : objects and array-like
        Training data.
    cost : str, Loss or callable, default=None
        As in :func:`holdout_risk`.
    capacity : callable, default=None
        ``capacity(fitted)`` is added to the risk, such as a bound on the deviation between risk and
        training risk; without it the richest of nested classes wins.
    alternate : bool, default=False
        Whether one parameter is changed at a time, from the first value of each, until no single
        change lowers the objective, as the EM algorithm alternates. False tries all combinations.

    Returns
    -------
    JointMinimum
        Parameters, fitted estimator and objective; the first of equal candidates.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.data import noisy_sinc
    >>> from mercer.selection import joint_minimise
    >>> X, y = noisy_sinc(30, random_state=0)
    >>> grid = {"alpha": [10.0, 0.1, 0.001]}
    >>> joint_minimise(KernelRidge(kernel="rbf"), grid, X, y).params
    {'alpha': 0.001}
    """
    measured = Cost.of(cost, estimator)
    tried: list[tuple[dict[str, Any], float]] = []
    known: dict[tuple[int, ...], tuple[float, float, Any]] = {}
    names = list(param_grid)
    values = {name: list(param_grid[name]) for name in names}
    ParameterGrid(values)  # refuses what is no grid

    def at(position: tuple[int, ...]) -> tuple[float, float, Any]:
        if position not in known:
            params = {name: values[name][k] for name, k in zip(names, position, strict=True)}
            given = {name: clone(value, safe=False) for name, value in params.items()}
            model = clone(estimator).set_params(**given).fit(X, y)
            risk = float(measured.each(model, X, y).mean())
            objective = risk + (0.0 if capacity is None else float(capacity(model)))
            tried.append((params, objective))
            known[position] = objective, risk, model
        return known[position]

    sizes = [len(values[name]) for name in names]
    best = (0,) * len(names)
    at(best)
    if alternate:
        changed = True
        while changed:
            before = best
            for axis, size in enumerate(sizes):
                line = [(*best[:axis], k, *best[axis + 1 :]) for k in range(size)]
                candidate = min(line, key=lambda place: at(place)[0])
                if at(candidate)[0] < at(best)[0]:
                    best = candidate
            changed = best != before
    else:
        for place in product(*map(range, sizes)):
            if at(place)[0] < at(best)[0]:
                best = place
    objective, risk, model = known[best]
    params = {name: values[name][k] for name, k in zip(names, best, strict=True)}
    return JointMinimum(params, model, objective, risk, tried)
