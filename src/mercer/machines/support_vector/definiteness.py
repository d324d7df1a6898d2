"""Definiteness: whether a machine may use a kernel.

A kernel that is conditionally positive definite has c'Kc >= 0 for coefficients of sum zero. The
intercept of a machine makes its coefficients sum to zero, so such a kernel serves there as a
positive semidefinite one does: k and k(x, z) - k(x, p) - k(p, z) + k(p, p), which is positive
semidefinite, differ by terms that the intercept absorbs. One of order 2 needs a linear function
as an unpenalised term as well; see `mercer.machines.support_vector.linear_part`.
"""

from __future__ import annotations

from typing import Any

from mercer.kernels import Definiteness, Kernel
from mercer.kernels.columns_used import mapped_order_two
from mercer.objects.parameters import ParameterError


def check_definiteness(machine: Any, kernel: Kernel) -> Definiteness:
    """Return what is known of a bound kernel; refuse one whose condition does not hold.

    A machine states by ``_sums_to_zero`` whether its coefficients do, and by ``_has_linear_part``
    whether it can have an unpenalised linear term.
    """
    mapped = mapped_order_two(kernel)
    if mapped is not None:
        raise ParameterError(
            f"{mapped!r} is a kernel of order 2 on the images of a map: it needs an unpenalised "
            "linear term in the images, but a machine has one in its columns only. Apply the map "
            "to X first, in a pipeline, and use the kernel on the result, or Projected(...) of it "
            "on the images."
        )
    known = kernel.definiteness
    order = known.order
    if not order or (order == 1 and machine._sums_to_zero):
        return known
    name = type(machine).__name__
    if order == 1:
        missing = (
            f"the coefficients of {name} do not sum to zero"
            if machine.fit_intercept
            else f"only with fit_intercept=True do the coefficients of {name} sum to zero"
        )
        raise ParameterError(
            f"{kernel!r} is conditionally positive definite: its quadratic form is not negative "
            f"for coefficients that sum to zero, and {missing}. Use Projected(kernel) instead."
        )
    if not machine._has_linear_part:
        missing, advice = f"which {name} lacks", "Use SVR or SVC"
    elif not machine.fit_intercept:
        missing, advice = "which fit_intercept=False excludes", "Use fit_intercept=True"
    else:
        return known
    raise ParameterError(
        f"{kernel!r} is {known}: it needs an unpenalised linear term, {missing}. {advice}, or "
        "Projected(kernel) + s * Linear() with a large factor s."
    )
