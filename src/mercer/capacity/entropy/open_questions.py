"""Questions that the source of this package leaves open, and the functions that depend on them.

A function listed here returns a bound that names its assumption, is marked as relative, or carries
a violated condition; none is certified silently. Outside the scope of the source, and so of this
package, are multilayer networks, PAC-Bayesian bounds, Rademacher complexities and stability.
"""

from __future__ import annotations

__all__ = ["OPEN_QUESTIONS"]


OPEN_QUESTIONS: dict[str, tuple[str, ...]] = {
    "entropy numbers of boxes in l_2, instead of the ellipsoids around them": ("feature_box",),
    "the constant of Maurey's theorem: 103 is proved, 1.86 believed": ("maurey_bound",),
    "how reliable radii estimated from training data are": ("EmpiricalScaling", "estimate_radii"),
    "a greedy algorithm that attains the rate of the theorem on convex hulls": ("ReducedSet",),
    "constants of convex hulls in Banach spaces": ("convex_hull_entropy", "F1_entropy_lipschitz"),
    "evaluation operators on L_infinity": ("F1_entropy_sample",),
    "why principal curves get 1/4 here and 1/3 by their length": ("rates.principal_manifold",),
    "a proof with constants in d dimensions": ("continuum_entropy",),
    "margins that are read off the data, which need a luckiness argument": ("SVClass",),
}
