"""Grids for a search over kernels and their parameters, in a range that suits the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.vectors.scale import polynomial_scale
from mercer.objects.rows import squared_norms
from mercer.objects.validation import as_vectors

from .bandwidth import bandwidth


def kernel_grid(X: Any, *, max_degree: int = 3, random_state: Any = 0) -> list[dict[str, list]]:
    """Return a grid for ``GridSearchCV`` over the kernels of SVC and SVR.

    The Gaussian's gamma runs over powers of 4 around the value that the median distance gives;
    polynomials have gamma x . x near 1 and degrees whose values stay moderate.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Training rows.
    max_degree : int, default=3
        Highest degree of the polynomials.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample behind the median.

    Returns
    -------
    list of dict
        Parameter grids, one per kernel.

    Examples
    --------
    >>> from mercer.selection import kernel_grid
    >>> linear, rbf, poly = kernel_grid([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]], max_degree=2)
    >>> linear
    {'kernel': ['linear'], 'C': [0.1, 1.0, 10.0, 100.0]}
    >>> rbf["gamma"], poly["degree"], poly["gamma"]
    ([0.0078125, 0.03125, 0.125, 0.5, 2.0], [2], [0.25])
    """
    X = as_vectors(X, "kernel_grid")
    costs = [0.1, 1.0, 10.0, 100.0]
    grids: list[dict[str, list]] = [{"kernel": ["linear"], "C": costs}]
    width = bandwidth(X, random_state=random_state).gamma
    gammas = [float(width * 4.0**k) for k in range(-2, 3)]
    grids.append({"kernel": ["rbf"], "gamma": gammas, "C": costs})
    norms = squared_norms(X)
    typical = float(np.median(norms[norms > 0.0])) if np.any(norms > 0.0) else 1.0
    gamma = 1.0 / typical
    degrees = [q for q in range(2, max_degree + 1) if not polynomial_scale(q, gamma, 1.0, X)[1]]
    if degrees:
        grids.append(
            {"kernel": ["poly"], "degree": degrees, "gamma": [gamma], "coef0": [1.0], "C": costs}
        )
    return grids
