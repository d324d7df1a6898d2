"""Entropy numbers: the capacity of kernel machines from the spectrum of the kernel.

Covering numbers of kernel classes are bounded directly, by functional analysis, instead of through
a combinatorial dimension: the eigenvalues of the kernel's integral operator describe an ellipsoid
around all features, the entropy numbers of that ellipsoid have a closed form, and the class
inherits them (Smola 1998, chapters 8 and 9, after Williamson, Smola and Schoelkopf).

>>> from mercer.capacity.entropy import entropy_numbers
>>> from mercer.kernels import RBF
>>> steps = entropy_numbers(RBF(gamma=1.0), radius=2.0, n_samples=1_000_000)
>>> round(steps.generalization_bound(delta=0.05).value, 3)
0.062

Counts n of balls are given as natural logarithms `ln_n` throughout.
"""

from inspect import ismodule as _ismodule

from mercer.capacity.covers import cover_radius_margin as cover_radius_margin

from .coefficients import *
from .decay import *
from .diagonal import *
from .empirical import *
from .function_classes import *
from .hulls import *
from .lattice import *
from .manifolds import *
from .open_questions import *
from .operators import *
from .periodic import *
from .procedure import *
from .reduced import *
from .scaling import *
from .spectra import *

# Every name that the files list in their own __all__.
__all__ = [name for name, item in globals().items() if name[0] != "_" and not _ismodule(item)]
