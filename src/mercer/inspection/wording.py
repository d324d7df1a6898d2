r"""The regularisation operators of kernels, in words and formulas.

A machine that minimises loss + lambda \|f\|^2 in the space of a kernel minimises
loss + lambda \|Pf\|^2 for the operator P whose Green's function of P*P is the kernel (Smola 1998,
proposition 3.2). For a kernel of x - z with Fourier transform P(omega),

.. math:: \|Pf\|^2 = (2\pi)^{-d/2} \int |\tilde f(\omega)|^2 / P(\omega) \, d\omega ,

so P(omega) is the filter. A kernel states its operator by a property ``regularisation``, made by
`mercer.kernels.spectrum`; :func:`regularisation` reads it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mercer.kernels import Kernel

from .periodic import stated_coefficients
from .spectra import closed_form


class Regularisation(NamedTuple):
    """What a kernel penalises.

    Attributes
    ----------
    words : str
        In words.
    norm : str
        The squared norm of Pf, up to a constant factor, as a formula (LaTeX).
    filter : str
        The filter P(omega), up to a constant factor, as a formula (LaTeX); empty for kernels that
        are not functions of x - z.
    """

    words: str
    norm: str
    filter: str

    def __str__(self) -> str:
        rows = [self.words, f"  ||Pf||^2 = {self.norm}"]
        if self.filter:
            rows.append(f"  P(omega) ~ {self.filter}")
        return "\n".join(rows)


_FOURIER = r"(2\pi)^{-d/2} \int |\tilde f(\omega)|^2 / P(\omega) \, d\omega"

GENERIC = Regularisation(
    "Each frequency of a function costs its power divided by the Fourier transform of the kernel "
    "there; frequencies where that is zero are excluded.",
    _FOURIER,
    r"F[k](\omega)",
)
GAUSSIAN = Regularisation(
    "Derivatives of all orders are penalised, the n-th with sigma^2n / (n! 2^n), sigma^2 = 1 / (2 "
    "gamma): functions are analytic, and high frequencies are damped faster than by any power.",
    r"\int \sum_n \frac{\sigma^{2n}}{n! \, 2^n} (O^n f)^2 \, dx, \quad O^{2n} = \Delta^n, \; "
    r"O^{2n+1} = \nabla \Delta^n",
    r"\exp(-\sigma^2 \|\omega\|^2 / 2)",
)
LAPLACIAN = Regularisation(
    "The function and its first derivative along each axis are penalised (in one dimension the "
    "Sobolev norm of first order): functions are continuous and may have kinks.",
    r"\frac{1}{2\gamma} \int (\gamma^2 f^2 + f'^2) \, dx \quad (d = 1)",
    r"\prod_i 1 / (\gamma^2 + \omega_i^2)",
)
EXPONENTIAL = Regularisation(
    "Derivatives up to order (d + 1)/2 are penalised, alike in all directions (the Matern "
    "space of nu = 1/2): functions are continuous and may have kinks.",
    r"c \int |\tilde f(\omega)|^2 (\gamma^2 + \|\omega\|^2)^{(d+1)/2} \, d\omega",
    r"(\gamma^2 + \|\omega\|^2)^{-(d+1)/2}",
)
MATERN = Regularisation(
    "Derivatives up to order nu + d/2 are penalised (a Sobolev norm): functions have derivatives "
    "of every order below nu.",
    r"c \int |\tilde f(\omega)|^2 (2\nu/\ell^2 + \|\omega\|^2)^{\nu + d/2} \, d\omega",
    r"(2\nu/\ell^2 + \|\omega\|^2)^{-(\nu + d/2)}",
)
RATIONAL_QUADRATIC = Regularisation(
    "A mixture of Gaussian filters of all widths: high frequencies are damped exponentially, and "
    "low ones little, so that trends of long range are cheap.",
    _FOURIER,
    r"\|\omega\|^{\alpha - d/2} K_{\alpha - d/2}(\ell \sqrt{2\alpha} \, \|\omega\|)",
)
INVERSE_MULTIQUADRIC = Regularisation(
    "High frequencies are damped exponentially, and low ones hardly at all: functions are smooth, "
    "and trends of long range are cheap.",
    _FOURIER,
    r"\|\omega\|^{-\nu} K_\nu(c \|\omega\|), \quad \nu = (d - 1)/2",
)
DAMPED_OSCILLATOR = Regularisation(
    "High frequencies are damped exponentially, at the same rate in every dimension: the width a, "
    "which is gamma over the factor of the distance.",
    _FOURIER,
    r"\|\omega\|^{-\nu} K_\nu(a \|\omega\|), \quad \nu = d/2 - 1",
)
B_SPLINE = Regularisation(
    "Low frequencies are treated nearly as by a Gaussian of variance (n + 1) s^2 / 12; the zeros "
    "of the filter are frequencies that no function of the space has.",
    _FOURIER,
    r"\prod_i \left(\frac{\sin(s\omega_i/2)}{s\omega_i/2}\right)^{n+1}",
)
RADIAL_B_SPLINE = Regularisation(
    "As a B-spline along every direction alike; the zeros of the filter are spheres of frequencies "
    "that no function of the space has.",
    _FOURIER,
    r"\left(J_{d/2}(s\|\omega\|) / \|\omega\|^{d/2}\right)^{n+1}",
)
DIRICHLET = Regularisation(
    "All frequencies up to n cost the same and all others are excluded: trigonometric polynomials, "
    "with nothing to prefer the smooth ones among them, so that data are easily overfitted.",
    r"\frac{1}{2\pi} \int_0^{2\pi} f^2 \, du",
    r"\textstyle\sum_{|j| \le n} \delta(\omega - j)",
)
PERIODIC_GAUSSIAN = Regularisation(
    "As the Gaussian kernel, for periodic functions: derivatives of all orders are penalised; the "
    "constant is free where the kernel leaves it out.",
    r"\frac{1}{\pi} \int_0^{2\pi} \sum_n \frac{\sigma^{2n}}{n! \, 2^n} (f^{(n)})^2 \, du",
    r"\textstyle\sum_j e^{-j^2\sigma^2/2} \delta(\omega - j)",
)
PERIODIC = Regularisation(
    "Frequency n of a periodic function costs its power divided by the coefficient a_n of the "
    "kernel; frequencies with a_n = 0 are excluded.",
    r"\sum_n (|\hat c_n|^2 + |\hat s_n|^2) / a_n, \quad "
    r"f = \sum_n \hat c_n \cos nu + \hat s_n \sin nu",
    r"a_0 \delta(\omega) + \tfrac{1}{2} \textstyle\sum_n a_n \delta(|\omega| - n)",
)
POLYNOMIAL = Regularisation(
    "The derivatives at the origin up to the degree are penalised, each monomial according to its "
    "multinomial weight in the kernel; functions are polynomials.",
    r"\sum_{|n| \le q} \frac{(D_0^n f)^2}{w_n}, \quad "
    r"w_n = \binom{q}{|n|} c^{q - |n|} \gamma^{|n|} \frac{|n|!}{\prod_i n_i!}, \quad "
    r"D_0^n f = \frac{\partial^n f(0)}{\prod_i n_i!}",
    "",
)


def regularisation(kernel: Kernel) -> Regularisation:
    r"""Return the regularisation operator of a kernel, in words and as a formula.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Returns
    -------
    Regularisation
        What the kernel says of itself, or what holds for every kernel with a Fourier transform.

    Examples
    --------
    >>> from mercer.inspection import regularisation
    >>> from mercer.kernels import Laplacian
    >>> print(regularisation(Laplacian()).filter)
    \prod_i 1 / (\gamma^2 + \omega_i^2)
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"a kernel is needed; got {type(kernel).__name__}.")
    own: Any = getattr(kernel, "regularisation", None)
    if own is not None:
        return own
    if stated_coefficients(kernel) is not None:
        return PERIODIC
    if closed_form(kernel) is not None:
        return GENERIC
    raise ValueError(
        f"{kernel!r} does not state its regularisation operator. Any kernel on a domain has one by "
        "its eigenfunctions: see mercer_decomposition, whose eigenvalues are those of the inverse."
    )
