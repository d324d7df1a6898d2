"""The thin plate spline."""

from __future__ import annotations

from mercer.gram.program import Builder

from ..definiteness import CPD2
from ..regularisation import THIN_PLATE
from .vector import RadialKernel


class ThinPlate(RadialKernel):
    r"""The thin plate spline.

    .. math:: k(x, z) = \|x - z\|^2 \ln \|x - z\|

    with the value 0 at x = z. Conditionally positive definite of order 2: positive on
    coefficients with :math:`\sum_i c_i = 0` and :math:`\sum_i c_i x_i = 0`, so that constants and
    linear functions are left to an unregularised part, which ``SVR`` and ``SVC`` add.
    ``Projected(ThinPlate())`` is the positive semidefinite kernel that remains when they are taken
    out.

    Notes
    -----
    Use it to draw a smooth surface through measurements in the plane, where it minimises the
    bending energy and has no width to choose. ``SVR`` and ``SVC`` take it as it is, up to a few
    thousand rows, also on some columns of a table combined with kernels on others; other machines
    take ``Projected(ThinPlate()) + s * Linear()`` with a large s. The columns need a common unit.
    Avoid it in more than two dimensions, where the formula belongs to another energy, and as an
    interpolant of noisy data, for which C is chosen by cross-validation.

    Examples
    --------
    >>> from mercer.kernels import ThinPlate
    >>> ThinPlate()([[0.0]], [[2.0]]).round(6)
    array([[2.772589]])
    """

    regularisation = THIN_PLATE
    definiteness = CPD2  # (t ln t)'' = 1/t is completely monotonic

    def compile(self, builder: Builder) -> None:
        builder.leaf("sqdist")
        builder.dup()
        builder.log()  # 0 log 0 is 0, as the builder promises
        builder.mul()
        builder.affine(0.5, 0.0)
