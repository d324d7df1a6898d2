r"""Regularisation networks: expansions in functions that are not the kernel's own.

The regulariser :math:`\|P f\|^2` of a translation-invariant kernel is
:math:`\int |F f(\omega)|^2 / F k(\omega) \, d\omega`. For f = sum_i alpha_i f_i it is
:math:`\alpha' D \alpha` with :math:`D_{ij} = \langle P f_i, P f_j \rangle`, and the class
:math:`\alpha' D \alpha \le \Lambda^2` is contained in the ball of the RKHS: all bounds for support
vector machines apply, provided that every f_i belongs to the space. With f_i = k(x_i, .) the matrix
is the Gram matrix.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mercer.objects.parameters import positive

from .classes import SVClass
from .inputs import Array
from .transforms import transform_of

__all__ = [
    "Membership",
    "class_from_basis",
    "nullspace_projection",
    "regularisation_matrix",
    "rkhs_membership",
]


_PANELS, _NODES = 400, 16
_SMALLEST = 1e-250


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
