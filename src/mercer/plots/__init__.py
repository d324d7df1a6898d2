"""Pictures of fitted machines (matplotlib, ``pip install 'mercer[plots]'``).

Every function draws on the `ax` it is given, or on a new figure, and returns the axes; nothing is
shown or written. Colours are the same throughout and told apart by colour-blind readers.
"""

from ._classification import decision_surface, margin
from ._dual import dual_coefficients
from ._regression import tube

__all__ = ["decision_surface", "dual_coefficients", "margin", "tube"]
