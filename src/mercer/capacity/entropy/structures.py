"""Two structures on one kernel: support vector and linear programming machines compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mercer.capacity.comparison import Comparison, compare
from mercer.capacity.uniform import overall_bound

from .classes import LPClass, SVClass
from .maurey import PROVED


def compare_structures(
    spectrum: Any,
    n_samples: int,
    *,
    sv: tuple[float, float],
    lp: tuple[float, float],
    delta: float = 0.05,
    lipschitz: float = 1.0,
    loss_range: float = 1.0,
    c: float = PROVED,
) -> Comparison:
    """Compare a support vector and a linear programming machine by their risk bounds.

    A smaller entropy does not make one class better: capacity is distributed differently, with
    more weight on the leading eigenfunctions in linear programming machines. Both terms count.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel.
    n_samples : int >= 1
        The number of training points.
    sv, lp : tuple of float
        For each machine the bound Lambda that it satisfies and its mean training loss.
    delta : float, default=0.05
        Probability of failure of each bound.
    lipschitz, loss_range : float, default=1
        Of the loss.
    c : float, default=103
        Constant of Maurey's theorem.

    Returns
    -------
    Comparison
        Two bounds, each with the terms "training error" and "deviation".

    References
    ----------
    Smola 1998, section 9.2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import compare_structures
    >>> spectrum = np.exp(-np.arange(1, 40.0))
    >>> table = compare_structures(spectrum, 10**6, sv=(1.0, 0.10), lp=(1.0, 0.12))
    >>> [bound.name for bound in table.bounds]
    ['SVClass', 'LPClass']
    """
    found = []
    for name, (w_norm, emp_risk) in (("sv", sv), ("lp", lp)):
        chosen = (SVClass if name == "sv" else LPClass)(spectrum, w_norm, c=c)
        risk = overall_bound(
            n_samples,
            chosen.log_covering,
            delta,
            emp_risk=emp_risk,
            lipschitz=lipschitz,
            loss_range=loss_range,
        )
        conditions = (*risk.conditions, *chosen.conditions(n_samples))
        found.append(replace(risk, name=type(chosen).__name__, conditions=conditions))
    return compare(*found)
