"""How many digits of an optimal value are certain, from the gap that proves it.

A. Smola, *Learning with Kernels* (1998), section 4.6: the number of significant figures of an
answer is -log10(gap / (|P| + 1)), with P the primal value.
"""

from __future__ import annotations

import math

from .certificate import Certificate

__all__ = ["significant_figures"]


def significant_figures(certificate: Certificate) -> float:
    """Return -log10(gap / (|P| + 1)): 3 stands for a relative gap of one thousandth.

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
    >>> c = Certificate("optimal", primal=9.0, dual=8.99, gap=0.01, relative_gap=0.01 / 9,
    ...                 kkt_violation=1e-4)
    >>> round(significant_figures(c), 6)
    3.0
    """
    if math.isnan(certificate.gap):
        return math.nan
    if certificate.gap <= 0.0:
        return math.inf
    return -math.log10(certificate.gap / (abs(certificate.primal) + 1.0))
