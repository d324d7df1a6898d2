"""Pictures of fitted machines and of kernels (matplotlib, ``pip install 'mercer[plots]'``).

Every function draws on the `ax` it is given, or on a new figure, and returns the axes; nothing is
shown or written. Colours are the same throughout and told apart by colour-blind readers.
"""

from ._classification import decision_surface, margin
from ._components import scree
from ._dual import dual_coefficients
from ._gram import eigenvalues, gram
from ._mapping import feature_map
from ._paths import coefficient_path, penalty_path
from ._processes import coverage, posterior, relevances
from ._regression import tube
from ._spectra import eigenfunctions, filters

__all__ = [
    "coefficient_path",
    "coverage",
    "decision_surface",
    "dual_coefficients",
    "eigenfunctions",
    "eigenvalues",
    "feature_map",
    "filters",
    "gram",
    "margin",
    "penalty_path",
    "posterior",
    "relevances",
    "scree",
    "tube",
]
