"""The regularisation operator of a kernel: its own, or put together from those of its terms."""

from __future__ import annotations

from typing import Any

from mercer.kernels import Kernel
from mercer.kernels.regularisation import CONDITIONAL, GENERIC, PERIODIC, Regularisation

from .fourier_spectra import closed_form, point_masses, require_kernel, terms
from .periodic_spectra import stated_coefficients


def regularisation(kernel: Kernel) -> Regularisation:
    r"""Return the regularisation operator of a kernel, in words and as a formula.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Returns
    -------
    Regularisation
        What the kernel says of itself, or what holds for every kernel of x - z. A multiple has the
        operator of its kernel; adding a constant c adds functions b that cost b^2 / c.

    Examples
    --------
    >>> from mercer.inspection import regularisation
    >>> from mercer.kernels import Laplacian, NegativeDistance
    >>> print(regularisation(2 * Laplacian()).filter)
    \prod_i 1 / (\gamma^2 + \omega_i^2)
    >>> print(regularisation(NegativeDistance()).filter)
    \|\omega\|^{-(d + p)}
    """
    require_kernel(kernel, "regularisation(kernel)")
    constant, others = terms(kernel)
    if not others:
        return _of_constant(constant, kernel)
    if len(others) > 1 and stated_coefficients(kernel) is not None:
        return PERIODIC  # a constant is one of the coefficients
    found = _of_term(others[0][1]) if len(others) == 1 else _of_spectra([k for _, k in others])
    if found is None:
        raise ValueError(
            f"{kernel!r} does not state its regularisation operator. Any kernel on a domain has "
            "one by its eigenfunctions: see mercer_decomposition, whose eigenvalues are those of "
            "the inverse."
        )
    # With a conditionally positive definite kernel constants are free already.
    return _lifted(found, constant) if constant > 0 and kernel.definiteness.is_psd else found


def _of_term(kernel: Kernel) -> Regularisation | None:
    """Return the operator of a kernel that is no sum, None where it is not known."""
    own: Any = getattr(kernel, "regularisation", None)
    if own is not None:
        return own
    twin: Any = getattr(kernel, "same_as", None)
    if twin is not None:
        stated = twin.regularisation
        return stated._replace(words=f"{stated.words} The kernel is {twin!r}.")
    if stated_coefficients(kernel) is not None:
        return PERIODIC
    return _of_spectra([kernel])


def _of_spectra(kernels: list[Kernel]) -> Regularisation | None:
    """Return the generic operator of kernels of x - z, None for other kernels."""
    if all(closed_form(kernel) is not None for kernel in kernels):
        return GENERIC
    orders = [kernel.definiteness.order for kernel in kernels]
    if None in orders or not all(
        kernel.translation_invariant and point_masses(kernel) is None for kernel in kernels
    ):
        return None
    return CONDITIONAL if any(orders) else GENERIC


def _of_constant(constant: float, kernel: Kernel) -> Regularisation:
    if constant == 0:
        raise ValueError(f"{kernel!r} is 0 everywhere: no function but 0 belongs to it.")
    return Regularisation(
        f"Functions are constants b, and cost b^2 / {constant:g}.",
        rf"b^2 / {constant:g}, \quad f(x) = b",
        r"\delta(\omega)",
    )


def _lifted(found: Regularisation, constant: float) -> Regularisation:
    """Return the operator of a kernel plus a constant, the norm of a sum of spaces (Aronszajn)."""
    return Regularisation(
        f"{found.words} A constant b may be added to a function, and costs b^2 / {constant:g}.",
        rf"\min_b \|f - b\|^2 + b^2 / {constant:g}, \quad \|f\|^2 \propto {found.norm}",
        found.filter
        and rf"F[k](\omega) + {constant:g} \, (2\pi)^{{d/2}} \delta(\omega), \quad "
        rf"F[k](\omega) \propto {found.filter}",
    )
