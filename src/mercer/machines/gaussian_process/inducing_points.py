"""Inducing points: samples that a pivoted Cholesky factorisation chooses.

Each point is the sample of largest variance given those before it, which reduces tr(K - Q), the
slack of Titsias' bound, greedily (D. Burt, C. Rasmussen, M. van der Wilk, "Convergence of sparse
variational inference in Gaussian processes regression", JMLR 21, 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram.shifted import NotDefiniteError
from mercer.numerics.pivoted_cholesky import NegativeResidualError, chooser, pivoted_cholesky
from mercer.objects.validation import count, take

from .covariance import Covariance

_POOL = 10  # candidates for each inducing point
_SMALLEST_POOL = 4000
_EXPLAINED = 1e-12  # share of the trace below which no further point is needed


def choose_inducing(covariance: Covariance, X: Any, m: int, rng: Any) -> NDArray[np.intp]:
    """Return the positions of at most `m` samples; fewer where they explain everything.

    `covariance`: the kernel. `X`: the samples; of many, a random part is looked at. `m`: number of
    points. `rng`: draws the part.
    """
    n, pool = count(X), max(_SMALLEST_POOL, _POOL * m)
    candidates = np.arange(n) if n <= pool else np.sort(rng.choice(n, pool, replace=False))
    gram = covariance.gram(X if n <= pool else take(X, candidates))
    diagonal = np.array(gram.diag())
    try:
        _, pivots, _ = pivoted_cholesky(
            lambda i: np.array(gram.tile([i])[0], dtype=np.float64),
            diagonal,
            chooser("largest", diagonal, _EXPLAINED),
            min(m, gram.n),
            _EXPLAINED,
        )
    except NegativeResidualError as error:
        raise NotDefiniteError(
            f"the covariance matrix of {covariance.kernel!r} is not positive semidefinite."
        ) from error
    if not len(pivots):
        raise NotDefiniteError(f"{covariance.kernel!r} is 0 on all samples.")
    return candidates[pivots]
