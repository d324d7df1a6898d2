"""Exceptions that machines raise when no model can be returned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class InfeasibleError(ValueError):
    """The constraints of the problem contradict each other.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.machines import InfeasibleError
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    >>> try:
    ...     SVC(kernel="linear", C=float("inf")).fit(X, y)
    ... except InfeasibleError as error:
    ...     print(type(error).__name__)
    ...
    NotSeparableError
    """


class InfeasibleNuError(InfeasibleError):
    """``nu`` asks for more margin errors than the smaller class has weight.

    Attributes
    ----------
    largest_nu : float
        The largest feasible value, 2 min(W+, W-) / (W+ + W-) with the sums of the weights.
    classes : tuple
        The pair of classes.

    Examples
    --------
    >>> from mercer import NuSVC
    >>> from mercer.machines import InfeasibleNuError
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> try:
    ...     NuSVC(nu=0.9).fit(X, y)
    ... except InfeasibleNuError as error:
    ...     print(error.largest_nu)
    ...
    0.5
    """

    def __init__(self, nu: float, largest_nu: float, classes: tuple) -> None:
        self.nu, self.largest_nu, self.classes = nu, largest_nu, classes
        first, second = classes
        super().__init__(
            f"specified nu is infeasible: nu={nu:g} for the classes {first!r} and {second!r}, "
            f"whose weights allow at most nu={largest_nu:g}. Choose a smaller nu, or balance the "
            "classes with class_weight."
        )

    def __reduce__(self) -> tuple:
        return type(self), (self.nu, self.largest_nu, self.classes)


class ConvexCombination(NamedTuple):
    """Training rows and the weights, which sum to 1, with which they are averaged."""

    rows: np.ndarray
    weights: np.ndarray


class NotSeparableError(InfeasibleError):
    """No function of the kernel's space meets the hard constraints (``C=inf``).

    The evidence is a pair of convex combinations, one of rows that must lie on one side and one
    of rows that must lie on the other, whose images in feature space coincide up to
    ``distance``: no hyperplane passes between them.

    Attributes
    ----------
    first, second : ConvexCombination
        The two combinations, as (rows, weights); rows are positions in the training data.
    distance : float
        Distance of their images in feature space.

    Examples
    --------
    >>> from mercer import SVC, NotSeparableError
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    >>> try:
    ...     SVC(kernel="linear", C=float("inf")).fit(X, y)
    ... except NotSeparableError as error:
    ...     print(error.first.rows, error.second.rows)
    ...
    [1] [0 2]
    """

    def __init__(
        self, message: str, first: ConvexCombination, second: ConvexCombination, distance: float
    ) -> None:
        super().__init__(message)
        self.first, self.second, self.distance = first, second, distance

    def __reduce__(self) -> tuple:
        return type(self), (self.args[0], self.first, self.second, self.distance)


class DegenerateFitWarning(UserWarning):
    """The fit is optimal, but its model says little: the data or the parameters decide nothing.

    Searches and cross-validation of `mercer.selection` ignore this warning for candidates and give
    it for the model that they refit. For the candidates of another library's search, filter it:
    ``warnings.filterwarnings("ignore", category=DegenerateFitWarning)``.

    Examples
    --------
    >>> import warnings
    >>> from mercer import SVC
    >>> from mercer.machines import DegenerateFitWarning
    >>> with warnings.catch_warnings():
    ...     warnings.filterwarnings("ignore", category=DegenerateFitWarning)
    ...     model = SVC(gamma=1e6).fit([[k] for k in range(40)], [0, 1] * 20)
    """
