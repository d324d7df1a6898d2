"""Bounds on the error of a machine, with the conditions under which they hold."""

from inspect import ismodule as _ismodule

from . import rates
from .bayes import *
from .bound import *
from .bound_tables import *
from .covering import *
from .covers import *
from .dimensions import *
from .entropy import *
from .finite_classes import *
from .loo_exact import *
from .loo_formulas import *
from .luckiness import *
from .margin_bounds import *
from .rates import rate_T as rate_T
from .report import *
from .residuals import *
from .risk import *
from .sample_compression import *
from .shattering import *
from .soft_margin import *
from .srm import *
from .uniform import *
from .vc import *

# Every name that the files list in their own __all__.
__all__ = [name for name, item in globals().items() if name[0] != "_" and not _ismodule(item)]
__all__ += ["rates"]
