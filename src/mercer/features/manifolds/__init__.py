"""Data description: regularised principal manifolds and the curves they are compared with."""

from .polygonal_curve import PolygonalPrincipalCurve
from .principal_curve import PrincipalCurve
from .principal_manifold import RegularizedPrincipalManifold

__all__ = ["PolygonalPrincipalCurve", "PrincipalCurve", "RegularizedPrincipalManifold"]
