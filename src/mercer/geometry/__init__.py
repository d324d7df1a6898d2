"""Geometry in feature space, from kernel values alone.

Lengths and angles, means and centring, spans and projections, the smallest enclosing ball, the
metric that a kernel induces on its inputs, and the functions of its Hilbert space, with one output
or with several.

>>> from mercer.geometry import smallest_enclosing_ball
>>> from mercer.kernels import RBF
>>> ball = smallest_enclosing_ball(RBF(gamma=1.0), [[0.0], [1.0], [2.0]])
>>> bool(ball.lower_bound <= ball.radius < 1.0)
True
"""

from mercer.gram.jets import NotSmoothError

from .ball import Ball, smallest_enclosing_ball, squared_radius
from .cholesky import PivotedCholesky, pivoted_cholesky
from .coordinates import WeightedCoordinates
from .diagonal_shift import shifted_gram
from .functions import RKHSFunction
from .interpolation import interpolate
from .lengths import angle, cosine, distance, norm
from .means import centre_of_mass, distance_to_mean, mean_squared_distance
from .metric import metric_tensor, path_length, volume_element
from .norms import function_inner, function_norm, p_distance, p_norm, weighted_inner
from .representer import basis_matrix
from .span import Span, independent_subset, numerical_rank
from .symmetry import commutant_dimension
from .vector_functions import VectorFunction

__all__ = [
    "Ball",
    "NotSmoothError",
    "PivotedCholesky",
    "RKHSFunction",
    "Span",
    "VectorFunction",
    "WeightedCoordinates",
    "angle",
    "basis_matrix",
    "centre_of_mass",
    "commutant_dimension",
    "cosine",
    "distance",
    "distance_to_mean",
    "function_inner",
    "function_norm",
    "independent_subset",
    "interpolate",
    "mean_squared_distance",
    "metric_tensor",
    "norm",
    "numerical_rank",
    "p_distance",
    "p_norm",
    "path_length",
    "pivoted_cholesky",
    "shifted_gram",
    "smallest_enclosing_ball",
    "squared_radius",
    "volume_element",
    "weighted_inner",
]
