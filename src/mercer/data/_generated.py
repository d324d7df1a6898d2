"""Generated sets with a known law, reproducible from a seed.

Every generator takes `random_state`: an integer, a `numpy.random.Generator`, or None for fresh
randomness. The global random state of NumPy is neither read nor changed.
"""

import numpy as np
from numpy.typing import NDArray

Sample = tuple[NDArray[np.float64], NDArray[np.float64]]
Seed = int | np.random.Generator | None


def friedman1(n: int, *, d: int = 10, noise: float = 1.0, random_state: Seed = None) -> Sample:
    """Friedman's first regression problem: five columns that matter, the others do not.

    y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise * N(0, 1), with x uniform in the
    unit cube.

    Parameters
    ----------
    n : int
        Number of rows.
    d : int, default=10
        Number of columns, at least 5.
    noise : float, default=1.0
        Standard deviation of the noise.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)

    Examples
    --------
    >>> from mercer.data import friedman1
    >>> X, y = friedman1(100, random_state=0)
    >>> X.shape, y.shape
    ((100, 10), (100,))
    """
    if d < 5:
        raise ValueError(f"Friedman's first problem needs at least 5 columns, got d={d}")
    rng = np.random.default_rng(random_state)
    X = rng.random((n, d))
    y = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )
    return X, y + noise * rng.standard_normal(n)


def noisy_sinc(n: int, *, noise: float = 0.1, random_state: Seed = None) -> Sample:
    """Noisy samples of sin(x) / x on [-10, 10], the usual picture of a regression tube.

    Parameters
    ----------
    n : int
        Number of rows.
    noise : float, default=0.1
        Standard deviation of the noise.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 1)
        Sorted.
    y : ndarray of shape (n,)

    Examples
    --------
    >>> from mercer.data import noisy_sinc
    >>> X, y = noisy_sinc(50, random_state=0)
    >>> X.shape, bool((X[1:] >= X[:-1]).all())
    ((50, 1), True)
    """
    rng = np.random.default_rng(random_state)
    x = np.sort(rng.uniform(-10, 10, n))
    # numpy.sinc is sin(pi t) / (pi t).
    return x[:, None], np.sinc(x / np.pi) + noise * rng.standard_normal(n)


def rings(n: int, *, noise: float = 0.1, random_state: Seed = None) -> Sample:
    """Two concentric rings, the inner one (radius 1) positive, the outer one (radius 2) negative.

    Parameters
    ----------
    n : int
        Number of rows; the classes alternate.
    noise : float, default=0.1
        Standard deviation of the radius.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        Labels +1 and -1.

    Examples
    --------
    >>> from mercer.data import rings
    >>> X, y = rings(100, noise=0, random_state=0)
    >>> (X[:4] ** 2).sum(axis=1).round(12)
    array([1., 4., 1., 4.])
    """
    rng = np.random.default_rng(random_state)
    inner = np.arange(n) % 2 == 0
    radius = np.where(inner, 1.0, 2.0) + noise * rng.standard_normal(n)
    angle = rng.uniform(0, 2 * np.pi, n)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.where(inner, 1.0, -1.0)


def spirals(n: int, *, turns: float = 1.5, noise: float = 0.0, random_state: Seed = None) -> Sample:
    """Two intertwined spirals, each the other turned by half a circle.

    Parameters
    ----------
    n : int
        Number of rows; the classes alternate.
    turns : float, default=1.5
        How often each arm winds around the origin.
    noise : float, default=0.0
        Standard deviation of the noise in both coordinates.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        Labels +1 and -1.

    Examples
    --------
    >>> from mercer.data import spirals
    >>> X, y = spirals(6, random_state=0)
    >>> bool((abs(X[0::2] + X[1::2]) < 1e-12).all())  # opposite arms
    True
    """
    rng = np.random.default_rng(random_state)
    # Equal steps of the square of the radius keep the points about equally dense along the arm.
    pairs = (np.arange(n) // 2 + 0.5) / max(1, (n + 1) // 2)
    radius = np.sqrt(pairs)
    angle = 2 * np.pi * turns * radius
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = (sign * radius)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.standard_normal((n, 2)), sign
