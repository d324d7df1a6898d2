"""The noise of a regression and the tube that goes with it.

For Gaussian noise of standard deviation sigma the epsilon-insensitive loss estimates a location
with the least variance if epsilon = 0.612 sigma (A. Smola, N. Murata, B. Schoelkopf, K.-R. Mueller,
"Asymptotically optimal choice of epsilon-loss for support vector machines", ICANN 1998); for
Laplacian noise if epsilon = 0. V. Cherkassky and Y. Ma ("Practical selection of SVM parameters and
noise estimation for SVM regression", *Neural Networks* 17, 2004) let the tube shrink with the
number of rows: epsilon = 3 sigma sqrt(ln n / n).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer.machines.ridge import KernelRidgeCV

from .bandwidth import bandwidth
from .criteria import information_criteria

EFFICIENT = 0.6120
"""Optimal epsilon over sigma for Gaussian noise."""


def noise_level(X: Any, y: Any, kernel: Any = None) -> float:
    """Return an estimate of the standard deviation of the noise of targets.

    A ridge regression whose penalty has the least leave-one-out error smooths the targets;
    sigma^2 = (sum of squared residuals) / (n - degrees of freedom).

    Parameters
    ----------
    X : objects
        Objects.
    y : array-like of shape (n_samples,)
        Targets.
    kernel : Kernel or str, default=None
        Kernel of the smoother; None is a Gaussian with the median rule of `bandwidth`.

    Returns
    -------
    float
        The standard deviation, in the units of y.

    Examples
    --------
    >>> from mercer.data import noisy_sinc
    >>> from mercer.selection import noise_level
    >>> X, y = noisy_sinc(200, noise=0.1, random_state=0)
    >>> round(noise_level(X, y), 2)
    0.1
    """
    y = np.asarray(y, dtype=np.float64)
    if kernel is None:
        kernel = bandwidth(X, random_state=0).kernel
    alphas = np.logspace(-8, 4, 49)
    model = KernelRidgeCV(alphas=alphas, kernel=kernel, fit_intercept=True).fit(X, y)
    found = information_criteria(model, X, y)
    left = found.n - found.degrees_of_freedom
    if not left > 0.5:
        raise ValueError(
            f"the smoother has {found.degrees_of_freedom:.1f} degrees of freedom for {found.n} "
            "rows: nothing is left to estimate the noise from. Use more rows, or a smoother kernel."
        )
    return math.sqrt(found.n * float(found.noise_variance) / left)


def tube_from_noise(
    X: Any, y: Any, *, sigma: float | None = None, rule: str = "efficiency", kernel: Any = None
) -> float:
    """Return a width `epsilon` for SVR from the noise of the targets.

    Parameters
    ----------
    X : objects
        Objects.
    y : array-like of shape (n_samples,)
        Targets.
    sigma : float, default=None
        Standard deviation of the noise where it is known; None estimates it (`noise_level`).
    rule : {"efficiency", "cherkassky_ma"}, default="efficiency"
        0.612 sigma, which is most efficient for Gaussian noise, or 3 sigma sqrt(ln n / n).
    kernel : Kernel or str, default=None
        Kernel of the smoother that estimates the noise.

    Returns
    -------
    float
        The half width of the tube.

    Examples
    --------
    >>> from mercer.selection import tube_from_noise
    >>> round(tube_from_noise([[0.0]] * 100, [0.0] * 100, sigma=0.4), 4)
    0.2448
    >>> round(tube_from_noise([[0.0]] * 100, [0.0] * 100, sigma=0.4, rule="cherkassky_ma"), 4)
    0.2575
    """
    if rule not in ("efficiency", "cherkassky_ma"):
        raise ValueError(f"rule must be 'efficiency' or 'cherkassky_ma'; got {rule!r}.")
    if sigma is not None and not 0.0 <= sigma < math.inf:
        raise ValueError(f"sigma must be at least 0 and finite; got {sigma!r}.")
    level = noise_level(X, y, kernel) if sigma is None else float(sigma)
    if rule == "efficiency":
        return EFFICIENT * level
    n = len(np.asarray(y))
    return 3.0 * level * math.sqrt(math.log(n) / n)
