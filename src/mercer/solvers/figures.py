"""Significant figures of an optimal value, from the duality gap that proves it.

A. Smola, *Learning with Kernels* (1998), section 4.6, counts -log10(gap / (|P| + 1)), with P the
primal value. Certificates state one relative gap, the gap over the sum of the absolute terms of the
primal, which has the same meaning for small and for large values of P; figures are counted from it.
"""

from __future__ import annotations

import math

from .certificate import Certificate

__all__ = ["significant_figures"]


def significant_figures(certificate: Certificate) -> float:
    """Return -log10 of the relative gap: 3 means a relative gap of one thousandth.

    Parameters
    ----------
    certificate : Certificate
        Primal and dual value of a model.

    Returns
    -------
    float
        Infinite where the gap is 0 up to its sign, NaN where no gap exists.

    Examples
    --------
    >>> from mercer.solvers import Certificate, significant_figures
    >>> c = Certificate("optimal", primal=10.0, dual=9.99, gap=0.01, relative_gap=0.001,
    ...                 kkt_violation=1e-4)
    >>> round(significant_figures(c), 6)
    3.0
    """
    if math.isnan(certificate.relative_gap):
        return math.nan
    if certificate.relative_gap <= 0.0:
        return math.inf
    return -math.log10(certificate.relative_gap)
