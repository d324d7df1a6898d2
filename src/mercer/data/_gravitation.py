"""Two bodies that attract each other: a law that is linear in the right coordinates."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Seed = int | np.random.Generator | None


def gravitation(
    n: int, *, constant: float = 1.0, irrelevant: int = 0, random_state: Seed = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return pairs of bodies and the force constant * m1 * m2 / r^2 between them.

    Parameters
    ----------
    n : int
        Number of pairs.
    constant : float, default=1.0
        The constant of gravitation.
    irrelevant : int, default=0
        Number of further columns, such as a colour or a temperature, without any influence.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 8 + irrelevant)
        Three coordinates of the first body, three of the second, the two masses (all from 0.5
        to 2), then the irrelevant columns. The positions lie in the unit cubes at 0 and at 1.
    y : ndarray of shape (n,)
        The forces.

    Examples
    --------
    >>> from mercer.data import gravitation
    >>> X, y = gravitation(5, random_state=0)
    >>> X.shape, bool((y > 0).all())
    ((5, 8), True)
    """
    rng = np.random.default_rng(random_state)
    first, second = rng.random((n, 3)), 1.0 + rng.random((n, 3))
    masses = rng.uniform(0.5, 2.0, (n, 2))
    others = rng.uniform(0.5, 2.0, (n, irrelevant))
    squares = ((first - second) ** 2).sum(axis=1)
    X = np.hstack([first, second, masses, others])
    return X, constant * masses.prod(axis=1) / squares


def gravitation_invariants(X: ArrayLike) -> NDArray[np.float64]:
    """Return the numbers of a pair of bodies that decide the force: distance and masses.

    Parameters
    ----------
    X : array-like of shape (n, d), d >= 8
        Pairs of bodies as from :func:`gravitation`; columns from the ninth on are kept.

    Returns
    -------
    ndarray of shape (n, d - 5)
        The distance, the first and the second mass, then the other columns.

    Examples
    --------
    >>> from mercer.data import gravitation_invariants
    >>> gravitation_invariants([[0.0, 0.0, 0.0, 0.0, 3.0, 4.0, 7.0, 8.0]])
    array([[5., 7., 8.]])
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] < 8:
        raise ValueError(
            f"a pair of bodies has 8 columns: two positions and two masses; got shape {X.shape}."
        )
    distance = np.linalg.norm(X[:, 0:3] - X[:, 3:6], axis=1)
    return np.column_stack([distance, X[:, 6:]])
