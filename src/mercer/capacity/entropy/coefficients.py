r"""Classes given by the coefficients of an expansion: weight decay, regularisation networks.

:math:`\sum |\alpha_j|^p \le 1` with p > 1 does not bound capacity. If k(x_j, x) >= kappa > 0 for
many centres x_j and all x of some set, the function
:math:`\sum_{j \le n} n^{-1/p} k(x_j, \cdot)` satisfies the constraint and is at least
:math:`\kappa n^{1 - 1/p}` there: unbounded for p > 1 as the number of basis functions grows, so
that the class has no finite covering number. A bounded number M of functions, centres that are kept
apart, or p = 1 make it finite: :math:`F_p \subset M^{1 - 1/p} F_1`.

Regularisation networks expand in functions f_i that are not the kernel's own. The regulariser
:math:`\|P f\|^2` of a translation-invariant kernel is
:math:`\int |F f(\omega)|^2 / F k(\omega) \, d\omega`. For f = sum_i alpha_i f_i it is
:math:`\alpha' D \alpha` with :math:`D_{ij} = \langle P f_i, P f_j \rangle`, and the class
:math:`\alpha' D \alpha \le \Lambda^2` is contained in the ball of the RKHS: all bounds for support
vector machines apply, provided that every f_i belongs to the space. With f_i = k(x_i, .) the matrix
is the Gram matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import integer, positive

from .function_classes import LPClass, SVClass
from .inputs import Array
from .scaling import as_spectrum
from .transforms import transform_of

__all__ = [
    "LpExpansionClass",
    "Membership",
    "WeightDecayReport",
    "class_from_basis",
    "expansion_lower_bound",
    "nullspace_projection",
    "regularisation_matrix",
    "rkhs_membership",
    "weight_decay_report",
]


class LpExpansionClass:
    r"""Kernel expansions with :math:`\sum_j |\alpha_j|^p \le \Lambda^p`.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel.
    p : float >= 1
        The norm of the coefficients: 1 for linear programming machines and boosting, 2 for weight
        decay.
    w_norm : float > 0, default=1.0
        The bound Lambda on the norm of the coefficients.
    max_terms : int >= 1, optional
        The largest number of basis functions; unlimited by default.
    **more
        Further parameters of `LPClass`.

    References
    ----------
    Smola 1998, (9.5) and section 9.2.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import LpExpansionClass, Spectrum
    >>> from mercer.kernels import RBF
    >>> spectrum = Spectrum.from_translation_invariant(RBF(gamma=1.0), period=10.0)
    >>> LpExpansionClass(spectrum, p=2).log_covering(0.1).value
    inf
    >>> round(LpExpansionClass(spectrum, p=2, max_terms=100).log_covering(0.1).value, 1)
    102.0
    """

    def __init__(
        self,
        spectrum: Any,
        p: float,
        w_norm: float = 1.0,
        *,
        max_terms: int | None = None,
        **more: Any,
    ) -> None:
        self.p = positive(p, "p")
        if self.p < 1.0:
            raise ValueError(
                f"p must be at least 1; got {p!r}. For p < 1 use p = 1, which is larger."
            )
        self.w_norm = positive(w_norm, "w_norm")
        self.max_terms = None if max_terms is None else integer(max_terms, "max_terms", minimum=1)
        self.spectrum = as_spectrum(spectrum)
        factor = self._factor
        self.hull = (
            LPClass(self.spectrum, self.w_norm * factor, **more) if math.isfinite(factor) else None
        )

    @property
    def _factor(self) -> float:
        """By how much the l1 norm of M coefficients can exceed their l_p norm."""
        if self.p == 1.0:
            return 1.0
        return math.inf if self.max_terms is None else self.max_terms ** (1.0 - 1.0 / self.p)

    @property
    def rkhs_radius(self) -> float:
        """Radius of a ball of the RKHS that contains the class; infinite without a limit."""
        return self.w_norm * self._factor * self.spectrum.radius

    @bound("ln covering number", "Smola 1998, (9.17) to (9.20)", trivial=None)
    def log_covering(self, eps: float, n_samples: int | None = None) -> Bound:
        """Return the bound on the logarithm of a covering number; infinite without a limit.

        Parameters
        ----------
        eps : float > 0
            The radius.
        n_samples : int >= 1, optional
            The number of points.
        """
        if self.hull is not None:
            found = self.hull.log_covering(eps, n_samples)
            return state(found.terms, *found.conditions, reference=found.reference)
        unlimited = Condition.that(
            "the class is bounded", False, f"p = {self.p:g} > 1 and any number of terms"
        )
        return state({"entropy": math.inf}, unlimited)


@bound("largest value in the class", "Smola 1998, (9.19)", trivial=None, side="lower")
def expansion_lower_bound(n_terms: int, p: float, kappa: float, w_norm: float = 1.0) -> Bound:
    r"""Return :math:`\Lambda \kappa n^{1 - 1/p}`, a value that a function of the class attains.

    Parameters
    ----------
    n_terms : int >= 1
        The number n of basis functions.
    p : float >= 1
        The norm of the coefficients.
    kappa : float > 0
        A number that k(x_j, x) does not fall below, for all centres and all x of a set.
    w_norm : float > 0, default=1.0
        The bound Lambda on the norm of the coefficients.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from math import exp
    >>> from mercer.capacity.entropy import expansion_lower_bound
    >>> [round(expansion_lower_bound(n, 2.0, exp(-1.0)).value, 3) for n in (1, 10, 100, 1000)]
    [0.368, 1.163, 3.679, 11.633]
    """
    n = integer(n_terms, "n_terms", minimum=1)
    if not p >= 1.0:
        raise ValueError(f"p must be at least 1; got {p!r}.")
    return state({"value": positive(kappa, "kappa") * w_norm * n ** (1.0 - 1.0 / p)})


@dataclass(frozen=True)
class WeightDecayReport:
    """How close weight decay is to the RKHS norm, for given centres.

    Attributes
    ----------
    distance : float
        Spectral norm of K - I, for a kernel matrix scaled to a unit diagonal.
    condition_number : float
        Of K.
    safe : bool
        Whether the distance is below 1/2: then alpha'alpha and alpha'K alpha differ by less than
        half, and weight decay bounds the capacity much like the RKHS norm.

    Examples
    --------
    >>> from mercer.capacity import weight_decay_report
    >>> report = weight_decay_report([[1.0, 0.1], [0.1, 1.0]])
    >>> round(report.distance, 4), report.safe
    (0.1, True)
    """

    distance: float
    condition_number: float
    safe: bool

    def __str__(self) -> str:
        verdict = (
            "weight decay is close to the RKHS norm"
            if self.safe
            else "centres overlap: weight decay does not bound the capacity as their number grows"
        )
        return f"|K - I| = {self.distance:.3g}, cond(K) = {self.condition_number:.3g}: {verdict}"


def weight_decay_report(K: Any) -> WeightDecayReport:
    """Return whether basis functions are so far apart that weight decay is harmless.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix of the centres.

    Returns
    -------
    WeightDecayReport
        Prints as one line.

    References
    ----------
    Smola 1998, section 9.2.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import weight_decay_report
    >>> print(weight_decay_report([[1.0, 0.1], [0.1, 1.0]]))
    |K - I| = 0.1, cond(K) = 1.22: weight decay is close to the RKHS norm
    """
    matrix = np.asarray(K, dtype=np.float64)
    own = np.sqrt(np.diagonal(matrix))
    if matrix.ndim != 2 or not (own > 0).all():
        raise ValueError("K must be a kernel matrix with a positive diagonal.")
    values = np.linalg.eigvalsh(matrix / own[:, None] / own)
    smallest = max(float(values[0]), 0.0)
    distance = float(np.abs(values - 1.0).max())
    cond = float(values[-1]) / smallest if smallest > 0 else math.inf
    return WeightDecayReport(distance, cond, distance < 0.5)


_PANELS, _NODES = 400, 16  # Gauss-Legendre quadrature: panels of equal length, nodes in each
_SMALLEST = (
    1e-250  # of the largest value: frequencies beyond are left out, before numbers underflow
)


class Membership(NamedTuple):
    """Whether a function belongs to the RKHS of a kernel.

    Attributes
    ----------
    norm2 : float
        Its squared norm; infinite where the integral diverges.
    belongs : bool
        Whether the norm is finite.
    growth : float
        Ratio of the integrand at the highest frequencies, an octave apart: below 1/2 where the
        integral converges.

    Examples
    --------
    >>> from mercer.capacity import rkhs_membership
    >>> from mercer.kernels import RBF
    >>> rkhs_membership(RBF.from_sigma(1.0), RBF.from_sigma(0.5)).belongs
    False
    """

    norm2: float
    belongs: bool
    growth: float


def rkhs_membership(kernel: Any, function: Any) -> Membership:
    r"""Return whether a function of the line belongs to the space of a kernel, and its norm.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel of x - z, or its Fourier transform.
    function : Kernel, str or callable
        The function f(x) = g(x - c) as a kernel of its shape g, or its Fourier transform.

    Returns
    -------
    Membership
        :math:`\int |F f|^2 / F k \, d\omega`, by quadrature. A function that does not belong to the
        space makes all bounds void. Close to the limit (widths within 1e-3 of it, for Gaussians)
        the answer may be no where it should be yes.

    References
    ----------
    Smola 1998, section 9.1.1.

    Examples
    --------
    Gaussians of width s belong to the space of a Gaussian kernel of width 1 for s > 1/sqrt(2):

    >>> from mercer.capacity.entropy import rkhs_membership
    >>> from mercer.kernels import RBF
    >>> kernel = RBF.from_sigma(1.0)
    >>> rkhs_membership(kernel, RBF.from_sigma(0.72)).belongs
    True
    >>> rkhs_membership(kernel, RBF.from_sigma(0.70)).belongs
    False
    """
    _, weights, ratio, closing = _integrand(kernel, function)
    total = 2.0 * float(weights @ ratio)
    belongs = closing < 0.5
    return Membership(total if belongs else math.inf, belongs, closing)


def regularisation_matrix(kernel: Any, basis: Any, centres: Any) -> Array:
    """Return the matrix <P f_i, P f_j> of shifted copies of one function on the line.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel of x - z, which defines the regulariser.
    basis : Kernel, str or callable
        The shape of the basis functions f_i(x) = g(x - c_i).
    centres : array-like of shape (n,)
        The centres c_i.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix; the Gram matrix of the centres if the basis is the kernel.

    References
    ----------
    Smola 1998, (9.2).

    Examples
    --------
    >>> from mercer.capacity.entropy import regularisation_matrix
    >>> from mercer.kernels import RBF
    >>> regularisation_matrix(RBF(gamma=1.0), RBF(gamma=1.0), [0.0, 1.0]).round(6)
    array([[1.      , 0.367879],
           [0.367879, 1.      ]])
    """
    places = np.asarray(centres, dtype=np.float64).reshape(-1)
    omega, weights, ratio, closing = _integrand(kernel, basis)
    if closing >= 0.5:
        raise ValueError(
            "the basis functions do not belong to the space of the kernel: their norm is "
            "infinite and no bound applies. Use smoother or wider functions."
        )
    waves = np.exp(1j * np.outer(places, omega))
    return 2.0 * np.real((waves * (weights * ratio)) @ waves.conj().T)


def _integrand(kernel: Any, function: Any) -> tuple[Array, Array, Array, float]:
    """Return frequencies, weights and |F f|^2 / F k there, and how it changes over an octave.

    In the unitary convention f in the RKHS of k has |f|^2 = (2 pi)^(-1/2) times the integral: the
    function k itself gets (2 pi)^(-1/2) int F k = k(0).
    """
    of_kernel, of_function = transform_of(kernel, 1)[0], transform_of(function, 1)[0]
    top = float(of_kernel(np.zeros((1, 1)))[0])
    last = 1.0
    while last < 1e8:
        edge = np.array([[2.0 * last]])
        if min(float(of_kernel(edge)[0]), float(of_function(edge)[0]) ** 2) <= _SMALLEST * top:
            break
        last *= 2.0
    x, w = np.polynomial.legendre.leggauss(_NODES)
    # Panels of equal length where the functions vary, then growing ones.
    step = min(last, 64.0) / _PANELS
    edges = np.append(np.arange(0, _PANELS) * step, _PANELS * step)
    if last > edges[-1]:
        edges = np.append(edges, np.geomspace(edges[-1], last, 200)[1:])
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    omega = (middle[:, None] + half[:, None] * x).reshape(-1)
    weights = (half[:, None] * w).reshape(-1)

    def ratio(at: Array) -> Array:
        f = of_function(at[:, None])
        return f * (f / of_kernel(at[:, None]))

    values = ratio(omega) / math.sqrt(2.0 * math.pi)
    ends = ratio(np.array([last / 2.0, last]))
    # An integrand c w^-q converges for q > 1: over an octave it falls below a half.
    closing = float(ends[1] / ends[0]) if ends[0] > 0 else 0.0
    return omega, weights, values, closing


def nullspace_projection(values: Any, null_values: Any) -> Array:
    """Return how much of each basis function lies in the null space of the regulariser.

    Parameters
    ----------
    values : array-like of shape (n_nodes, n_basis)
        Basis functions at the nodes of a uniform grid.
    null_values : array-like of shape (n_nodes, q)
        Functions that the regulariser does not see, such as a column of ones for the gradient.

    Returns
    -------
    ndarray of shape (n_basis,)
        Length of the projection over the length of the function: 0 for none, 1 for all of it.

    References
    ----------
    Smola 1998, section 9.1.1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import nullspace_projection
    >>> x = np.linspace(-1.0, 1.0, 101)
    >>> nullspace_projection(np.stack([np.ones(101), x], axis=1), np.ones((101, 1))).round(12)
    array([1., 0.])
    """
    F, N = (np.asarray(a, dtype=np.float64) for a in (values, null_values))
    F, N = (a[:, None] if a.ndim == 1 else a for a in (F, N))
    basis = np.linalg.qr(N)[0]
    return np.linalg.norm(basis.T @ F, axis=0) / np.linalg.norm(F, axis=0)


def class_from_basis(
    spectrum: Any,
    D: Any,
    coef: Any = None,
    *,
    w_norm: float | None = None,
    null_part: Any = None,
    offset: float = 0.0,
    **more: Any,
) -> SVClass:
    r"""Return the class of an expansion in arbitrary basis functions of the RKHS.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel that defines the regulariser.
    D : array-like of shape (n, n)
        The matrix <P f_i, P f_j>; see `regularisation_matrix`.
    coef : array-like of shape (n,), optional
        Coefficients; :math:`\Lambda = \sqrt{\alpha' D \alpha}`.
    w_norm : float > 0, optional
        Lambda itself, where it was fixed beforehand.
    null_part : array-like, optional
        Parts of the basis functions in the null space, from `nullspace_projection`. They are not
        regularised, so the feature-space picture breaks down unless they are bounded separately.
    offset : float >= 0, default=0
        A bound on what lies in the null space, for a null space of constants.
    **more
        Further parameters of `SVClass`.

    Returns
    -------
    SVClass
        The class {|P f| <= Lambda}.

    References
    ----------
    Smola 1998, section 9.1.1.

    Examples
    --------
    >>> from mercer.capacity.entropy import class_from_basis
    >>> chosen = class_from_basis([1.0, 0.1], [[1.0, 0.5], [0.5, 1.0]], coef=[0.6, 0.8])
    >>> round(chosen.w_norm**2, 9)  # 0.36 + 0.64 + 2 * 0.5 * 0.6 * 0.8
    1.48
    """
    if (coef is None) == (w_norm is None):
        raise ValueError("give either coefficients or w_norm.")
    if null_part is not None and np.max(np.asarray(null_part)) > 1e-8 and offset == 0.0:
        raise ValueError(
            "basis functions have a part in the null space of the regulariser, which no norm "
            "bounds; bound it separately (offset=...), or remove it from the basis."
        )
    if coef is not None:
        a = np.asarray(coef, dtype=np.float64)
        w_norm = math.sqrt(max(0.0, float(a @ np.asarray(D, dtype=np.float64) @ a)))
    return SVClass(spectrum, positive(w_norm, "w_norm"), offset=offset, **more)
