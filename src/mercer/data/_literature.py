"""Worked examples of the textbooks: small data sets whose machines are solved by hand."""

import numpy as np
from numpy.typing import NDArray

Labelled = tuple[NDArray[np.float64], NDArray[np.float64]]


def _labelled(points: list[tuple[float, float]], labels: list[int]) -> Labelled:
    # Fresh arrays on every call: a caller who changes them harms nobody else.
    return np.array(points, dtype=np.float64), np.array(labels, dtype=np.float64)


def lfd_toy() -> Labelled:
    """Four points in the plane with a hard margin that can be found by hand.

    The widest cushion lies around x1 - x2 = 1: w = (1, -1), b = -1, margin 1/sqrt(2). The first
    three points touch it, with multipliers (1/2, 1/2, 1); the fourth has multiplier 0 and can
    be removed. The set is the running example of chapter 8 of *Learning From Data*.

    Returns
    -------
    X : ndarray of shape (4, 2)
    y : ndarray of shape (4,)
        Labels -1 and +1.

    Examples
    --------
    >>> from mercer.data import lfd_toy
    >>> X, y = lfd_toy()
    >>> y * (X @ [1, -1] - 1)
    array([1., 1., 1., 2.])
    """
    return _labelled([(0, 0), (2, 2), (2, 0), (3, 0)], [-1, -1, 1, 1])


def lfd_problem_8_2() -> Labelled:
    """Three points, one of which lies on the margin without being a support vector.

    The optimum is w = (-1, 0), b = -1, margin 1, with multipliers (1/2, 0, 1/2): the second
    point touches the margin and still has multiplier 0. From Problem 8.2 of *Learning From
    Data*.

    Returns
    -------
    X : ndarray of shape (3, 2)
    y : ndarray of shape (3,)
        Labels -1 and +1.

    Examples
    --------
    >>> from mercer.data import lfd_problem_8_2
    >>> X, y = lfd_problem_8_2()
    >>> y * (X @ [-1, 0] - 1)
    array([1., 1., 1.])
    """
    return _labelled([(0, 0), (0, -1), (-2, 0)], [-1, -1, 1])


def lfd_problem_8_13() -> Labelled:
    """Twenty points that no line separates and a quadratic does.

    Nine positive points near the origin come first, eleven negative points around them follow.
    From Problem 8.13 of *Learning From Data*.

    Returns
    -------
    X : ndarray of shape (20, 2)
    y : ndarray of shape (20,)
        Labels +1 (the first nine) and -1.

    Examples
    --------
    >>> from mercer.data import lfd_problem_8_13
    >>> X, y = lfd_problem_8_13()
    >>> int((y > 0).sum()), int((y < 0).sum())
    (9, 11)
    """
    inside = [
        (-0.494, 0.363),
        (-0.311, -0.101),
        (-0.0064, 0.374),
        (-0.0089, -0.173),
        (0.0014, 0.138),
        (-0.189, 0.718),
        (0.085, 0.32208),
        (0.171, -0.302),
        (0.142, 0.568),
    ]
    outside = [
        (0.491, 0.920),
        (-0.892, -0.946),
        (-0.721, -0.710),
        (0.519, -0.715),
        (-0.775, 0.551),
        (-0.646, 0.773),
        (-0.803, 0.878),
        (0.944, 0.801),
        (0.724, -0.795),
        (-0.748, -0.853),
        (-0.635, -0.905),
    ]
    return _labelled(inside + outside, [1] * len(inside) + [-1] * len(outside))


def xor() -> Labelled:
    """Exclusive or on the corners of a square: the smallest set that no line separates.

    With the kernel (1 + <x, z>)^2 every multiplier is 1/8, the bias 0, the decision function
    -x1 x2 and the margin in feature space sqrt(2).

    Returns
    -------
    X : ndarray of shape (4, 2)
    y : ndarray of shape (4,)
        Labels -1 and +1.

    Examples
    --------
    >>> from mercer.data import xor
    >>> X, y = xor()
    >>> (1 + X @ X.T) ** 2
    array([[9., 1., 1., 1.],
           [1., 9., 1., 1.],
           [1., 1., 9., 1.],
           [1., 1., 1., 9.]])
    """
    return _labelled([(-1, -1), (-1, 1), (1, -1), (1, 1)], [-1, 1, 1, -1])
