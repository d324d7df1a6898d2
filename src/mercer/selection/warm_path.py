"""Machines along a sequence of C, each started from the solution of the one before.

A. Smola, *Learning with Kernels*, 1998, sections 4.5 and 6.1: after one machine is trained, C is
lowered a little, the multipliers are rescaled and training goes on from there. All machines stand
on one kernel matrix, whose rows are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.machines.support_vector.fitting import fit_on


def warm_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    C_start: float = 2.0,
    step: float = -0.1,
    C_stop: float = 0.1,
    sample_weight: Any = None,
) -> list[Any]:
    """Return machines for C_start, C_start + step, ..., C_stop, each started from the last.

    Parameters
    ----------
    estimator : SVC, SVR
        A machine with a constant ``C``; copies are fitted.
    X, y, sample_weight : array-like
        Training data.
    C_start, C_stop : float, default=2.0, 0.1
        First and last value of C; C_stop is met if a whole number of steps leads there.
    step : float, default=-0.1
        Change of C from one machine to the next, of the sign of C_stop - C_start.

    Returns
    -------
    list of estimators
        The fitted machines, each with its certificate.

    See Also
    --------
    regularization_path : The exact path, for small problems with two classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import warm_path
    >>> machines = warm_path(SVC(), *load_iris(return_X_y=True), C_stop=1.5)
    >>> [round(machine.C, 1) for machine in machines]
    [2.0, 1.9, 1.8, 1.7, 1.6, 1.5]
    """
    if not hasattr(estimator, "_gram") or "C" not in estimator.get_params(deep=False):
        raise TypeError(
            f"warm_path follows machines with a constant C, such as SVC and SVR; got {estimator!r}."
        )
    if not (step and (C_stop - C_start) / step >= 0 and min(C_start, C_stop) > 0):
        raise ValueError(
            "C must stay positive and step must lead from C_start to C_stop; got "
            f"C_start={C_start}, step={step}, C_stop={C_stop}."
        )
    n_steps = int(np.floor((C_stop - C_start) / step + 1e-9))
    first = clone(estimator).set_params(C=float(C_start))
    first._check_parameters()
    data, kernel = first._enter(X, y, sample_weight)
    gram = first._gram(data, kernel)
    made = [fit_on(first, data, gram)]
    for k in range(1, n_steps + 1):
        machine = clone(estimator).set_params(C=float(C_start + k * step))
        made.append(fit_on(machine, data, gram, start=made[-1]))
    return made
