r"""The regularisation operators of kernels, in words and formulas.

A machine that minimises loss + lambda \|f\|^2 in the space of a kernel minimises
loss + lambda \|Pf\|^2 for the operator P whose Green's function of P*P is the kernel (Smola 1998,
proposition 3.2). For a kernel of x - z with Fourier transform P(omega),

.. math:: \|Pf\|^2 = (2\pi)^{-d/2} \int |\tilde f(\omega)|^2 / P(\omega) \, d\omega ,

so P(omega) is the filter. A conditionally positive definite kernel has a generalised transform,
which is the same function away from frequency 0; the polynomials of its null space are free (H.
Wendland, Scattered Data Approximation, 2005, section 8.3). A kernel states its operator by a
property ``regularisation``, made by `mercer.kernels.stated_spectrum`;
:func:`mercer.inspection.regularisation` reads it.
"""

from __future__ import annotations

from typing import NamedTuple


class Regularisation(NamedTuple):
    """The regularisation operator of a kernel in words.

    Attributes
    ----------
    words : str
        In words.
    norm : str
        The squared norm of Pf, up to a constant factor, as a formula (LaTeX).
    filter : str
        The filter P(omega), up to a constant factor, as a formula (LaTeX); empty for kernels that
        are not functions of x - z.

    Examples
    --------
    >>> from mercer.inspection import regularisation
    >>> from mercer.kernels import Laplacian
    >>> regularisation(Laplacian(1.0)).words.startswith("The function and its first derivative")
    True
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
CONDITIONAL = Regularisation(
    "Each frequency of a function costs its power divided by the generalised Fourier transform of "
    "the kernel there; polynomials below the order of the kernel, at least constants, are free.",
    _FOURIER,
    r"F[k](\omega), \quad \omega \ne 0",
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
    "As the Gaussian kernel, for functions of period T: derivatives of all orders are penalised, "
    "the n-th with sigma^2n / (n! 2^n). The constant is no function of the space; the bias of a "
    "machine stands for it, and is free.",
    r"\frac{2}{T} \int_0^T \sum_n \frac{\sigma^{2n}}{n! \, 2^n} (f^{(n)})^2 \, dx, \quad "
    r"\int_0^T f \, dx = 0 \quad (d = 1)",
    r"\textstyle\sum_{j \ne 0} e^{-\sigma^2 \omega_j^2 / 2} \, \delta(\omega - \omega_j), \quad "
    r"\omega_j = 2 \pi j / T",
)
PERIODIC_GAUSSIAN_UNIT = Regularisation(
    "As the Gaussian kernel, for functions of period T: derivatives of all orders are penalised, "
    "the n-th with sigma^2n / (n! 2^n). The mean b of a function costs more than there, since the "
    "kernel holds just so much of the constant that its smallest value is 0.",
    r"\frac{b^2}{A} + \frac{2}{T} \int_0^T \sum_n \frac{\sigma^{2n}}{n! \, 2^n} "
    r"\bigl((f - b)^{(n)}\bigr)^2 \, dx, \quad b = \frac{1}{T} \int_0^T f \, dx, \quad "
    r"A = \textstyle\sum_{j \ge 1} (-1)^{j + 1} e^{-\sigma^2 \omega_j^2 / 2} \quad (d = 1)",
    r"2 A \, \delta(\omega) + \textstyle\sum_{j \ne 0} e^{-\sigma^2 \omega_j^2 / 2} \, "
    r"\delta(\omega - \omega_j), \quad \omega_j = 2 \pi j / T",
)
PERIODIC_GAUSSIAN_WRAPPED = Regularisation(
    "As the Gaussian kernel, for functions of period T: derivatives of all orders are penalised, "
    "the n-th with sigma^2n / (n! 2^n), the constant as every other function.",
    r"\frac{1}{\sigma \sqrt{2 \pi}} \int_0^T \sum_n \frac{\sigma^{2n}}{n! \, 2^n} (f^{(n)})^2 \, "
    r"dx \quad (d = 1)",
    r"\textstyle\sum_j e^{-\sigma^2 \omega_j^2 / 2} \, \delta(\omega - \omega_j), \quad "
    r"\omega_j = 2 \pi j / T",
)
PERIODIC = Regularisation(
    "Frequency n of a function of period T costs its power divided by the coefficient a_n of the "
    "kernel; frequencies with a_n = 0 are excluded.",
    r"\sum_n (\hat c_n^2 + \hat s_n^2) / a_n, \quad "
    r"f = \sum_n \hat c_n \cos \omega_n x + \hat s_n \sin \omega_n x, \quad "
    r"\omega_n = 2 \pi n / T \quad (d = 1)",
    r"a_0 \delta(\omega) + \tfrac{1}{2} \textstyle\sum_{n \ge 1} a_n \delta(|\omega| - \omega_n), "
    r"\quad \omega_n = 2 \pi n / T",
)
THIN_PLATE = Regularisation(
    "In the plane the bending energy of a thin plate: all second derivatives are penalised. In d "
    "dimensions it is the derivatives of order d/2 + 1. Constants and linear functions are free.",
    r"\frac{1}{8 \pi} \int f_{xx}^2 + 2 f_{xy}^2 + f_{yy}^2 \, dx \, dy \quad (d = 2)",
    r"\|\omega\|^{-(d + 2)}",
)
NEGATIVE_DISTANCE = Regularisation(
    "Derivatives of order (d + p)/2 are penalised, on all scales alike; on the line with p = 1 "
    "the first derivative, so that functions are linear between the data. Constants are free.",
    r"c \int |\tilde f(\omega)|^2 \|\omega\|^{d + p} \, d\omega, \quad \text{which is } "
    r"\tfrac{1}{2} \int f'^2 \, dx \text{ for } d = p = 1",
    r"\|\omega\|^{-(d + p)}",
)
SQUARED_DISTANCE = Regularisation(
    "Functions are linear: the length of their slope is penalised, and constants are free.",
    r"\tfrac{1}{2} \|w\|^2, \quad f(x) = w \cdot x + b",
    "",
)
MULTIQUADRIC = Regularisation(
    "Low frequencies are treated as by the negative distance, and those above 1/c are damped "
    "exponentially, so that functions are analytic. Constants are free.",
    _FOURIER,
    r"\|\omega\|^{-\nu} K_\nu(c \|\omega\|), \quad \nu = (d + 1)/2",
)
LOG_DISTANCE = Regularisation(
    "The filter falls as the power d of a low frequency, and exponentially above 1/sqrt(c), so "
    "that functions are analytic. Constants are free.",
    _FOURIER,
    r"\|\omega\|^{-d/2} K_{d/2}(\sqrt{c} \, \|\omega\|)",
)
SPLINE = Regularisation(
    "The second derivative is penalised, and with it the value and the slope at 0, which fix the "
    "linear part: functions are cubic splines. In several columns every product of the penalties "
    "of single ones.",
    r"f(0)^2 + f'(0)^2 + \int_0^\infty f''^2 \, dx \quad (d = 1)",
    "",
)
POLYNOMIAL = Regularisation(
    "The derivatives at the origin up to the degree are penalised, each monomial according to its "
    "multinomial weight in the kernel; functions are polynomials.",
    r"\sum_{|n| \le q} \frac{(D_0^n f)^2}{w_n}, \quad "
    r"w_n = \binom{q}{|n|} c^{q - |n|} \gamma^{|n|} \frac{|n|!}{\prod_i n_i!}, \quad "
    r"D_0^n f = \frac{\partial^n f(0)}{\prod_i n_i!}",
    "",
)
