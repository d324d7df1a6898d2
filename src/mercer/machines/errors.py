"""What machines raise when no model can be returned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ParameterError(ValueError, TypeError):
    """A constructor parameter has the wrong type or lies outside its range."""


class InfeasibleError(ValueError):
    """The constraints of the problem contradict each other."""


class InfeasibleNuError(InfeasibleError):
    """``nu`` asks for more margin errors than the smaller class has weight.

    Attributes
    ----------
    largest_nu : float
        The largest feasible value, 2 min(W+, W-) / (W+ + W-) with the sums of the weights.
    classes : tuple
        The pair of classes.
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
    """

    def __init__(
        self, message: str, first: ConvexCombination, second: ConvexCombination, distance: float
    ) -> None:
        super().__init__(message)
        self.first, self.second, self.distance = first, second, distance

    def __reduce__(self) -> tuple:
        return type(self), (self.args[0], self.first, self.second, self.distance)
