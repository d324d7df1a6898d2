r"""Regularisation operators as objects, and the kernels that belong to them.

A kernel is the Green's function of P*P: then k(x, z) = <P k(x, .), P k(z, .)>, the self-consistency
that makes a machine with kernel k minimise loss + lambda \|Pf\|^2 (Smola 1998, propositions 3.2 and
3.3). Three kinds of operator are given here: on a grid, by its eigenfunctions, by its filter.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np
import scipy.linalg

from mercer.numerics.hankel import half_length, radial_fourier
from mercer.numerics.oscillating import integrate_each
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import positive

from .weighted_features import WeightedFeatures

# An integral over frequencies is continued while the last doubling of their range adds more than
# the first share, at most so often, and commented on if it then adds more than the second.
DOUBLINGS = 20
SETTLED = 1e-10
UNSETTLED = 1e-6


def green_gram(P: Any, *, spacing: float = 1.0) -> np.ndarray:
    r"""Return the kernel matrix on a grid that belongs to an operator given as a matrix.

    Functions are their values on a grid, with inner product h sum_i f_i g_i. The Green's function
    of P*P satisfies h P'P K = I; where P has a null space, K is the inverse on its complement.

    Parameters
    ----------
    P : array of shape (m, n)
        The operator; several operators whose squares add are stacked as rows.
    spacing : float > 0, default=1.0
        The distance h of grid points.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix K, positive semidefinite, with h K P'P K = K.

    Examples
    --------
    The operator (f, f') on a long interval has the kernel exp(-\|x - z\|) / 2:

    >>> import numpy as np
    >>> from mercer.inspection import green_gram
    >>> h, n = 0.05, 401
    >>> derivative = (np.eye(n, k=1) - np.eye(n))[:-1] / h
    >>> K = green_gram(np.vstack([np.eye(n), derivative]), spacing=h)
    >>> K[200, [200, 220, 240]].round(3)  # distances 0, 1, 2
    array([0.5  , 0.184, 0.068])
    """
    P = np.asarray(P, dtype=np.float64)
    if P.ndim != 2 or not np.isfinite(P).all():
        raise ValueError(f"P must be a matrix of finite numbers; got shape {P.shape}.")
    positive(spacing, "spacing")
    penalty = spacing * (P.T @ P)
    try:
        return scipy.linalg.cho_solve(scipy.linalg.cho_factor(penalty), np.eye(len(penalty)))
    except scipy.linalg.LinAlgError:
        return scipy.linalg.pinvh(penalty)


def kernel_from_eigensystem(
    eigenvalues: Any, eigenfunctions: Callable[[Any], np.ndarray], *, keep: Any = None
) -> WeightedFeatures:
    r"""Return the kernel of an operator P*P that is known by its eigenfunctions.

    .. math:: k(x, z) = \sum_n \frac{d_n}{\lambda_n} \psi_n(x) \psi_n(z), \quad d_n \in \{0, 1\}

    Leaving out eigenfunctions makes the space of functions smaller, and keeps the self-consistency.
    Leaving out flat ones is harmful: the data are then explained by steep ones.

    Parameters
    ----------
    eigenvalues : array of shape (n_functions,)
        The eigenvalues lambda_n > 0 of P*P.
    eigenfunctions : callable
        ``psi(X)`` returns an array of shape (n, n_functions), orthonormal functions.
    keep : array of shape (n_functions,) of bool, optional
        The d_n; by default all are kept.

    Returns
    -------
    WeightedFeatures
        The kernel as features with weights; ``.kernel()`` makes a kernel of it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import kernel_from_eigensystem
    >>> waves = lambda x: np.cos(np.asarray(x) * np.arange(3)) * np.sqrt([0.5, 1.0, 1.0] / np.pi)
    >>> features = kernel_from_eigensystem([1.0, 2.0, 5.0], waves, keep=[False, True, True])
    >>> features.weights
    array([0. , 0.5, 0.2])
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(
            "the eigenvalues of P*P must be positive finite numbers; functions that P annihilates "
            "belong to the unregularised part of a machine."
        )
    kept = np.ones(len(values)) if keep is None else np.asarray(keep, dtype=bool).astype(float)
    if kept.shape != values.shape:
        raise ValueError(f"keep must have {len(values)} entries, one per eigenvalue.")
    return WeightedFeatures(eigenfunctions, kept / values)


class FourierOperator:
    r"""A regularisation operator that acts on each frequency by itself.

    .. math:: \langle Pf, Pg \rangle = (2\pi)^{-d/2} \int
              \overline{\tilde f(\omega)} \tilde g(\omega) / P(\omega) \, d\omega

    Parameters
    ----------
    filter : callable
        ``filter(w)`` returns P(omega) >= 0 for an array of lengths w of frequencies; it is
        the Fourier transform of the kernel.
    dimension : int >= 1, default=1
        The dimension d.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import FourierOperator
    >>> sobolev = FourierOperator(lambda w: 1 / (1 + w**2))
    >>> sobolev.green_function([0.0, 1.0]).round(6)  # sqrt(pi / 2) exp(-r)
    array([1.253314, 0.461069])
    """

    def __init__(self, filter: Callable[[np.ndarray], np.ndarray], dimension: int = 1) -> None:
        self.filter, self.dimension = filter, dimension
        if np.min(filter(np.linspace(0.0, 100.0, 2001))) < 0:
            raise ValueError(
                "the filter is negative at some frequency, where it would reward instead of "
                "penalise; by Bochner's theorem no kernel belongs to it."
            )

    def green_function(self, r: Any) -> np.ndarray:
        """Return the kernel k(r) of the operator at some distances, by numerical transform.

        Infinity at 0 where the filter decays too slowly for a bounded kernel.
        """
        return radial_fourier(self.filter, r, self.dimension)

    def inner(
        self,
        f: Callable[[np.ndarray], np.ndarray],
        g: Callable[[np.ndarray], np.ndarray],
        *,
        cutoff: float | None = None,
    ) -> float:
        """Return <Pf, Pg> of two functions on the line that are given by their transforms.

        `f`, `g`: vectorised, in the unitary convention, possibly complex. `cutoff`: the largest
        frequency; by default as many widths of the filter as it takes. Frequencies at which the
        filter is zero are left out. A RuntimeWarning says that the integral has not settled: its
        relative error may exceed 1e-6, or it diverges; or that the product of the transforms is
        zero wherever it was sampled.
        """
        if self.dimension != 1:
            raise ValueError("inner products are offered on the line, for dimension=1.")
        width = half_length(self.filter)
        top = 64 * width if cutoff is None else float(cutoff)

        def integrand(w: np.ndarray) -> np.ndarray:
            passed = self.filter(w)
            product = (np.conj(f(w)) * g(w)).real
            return np.where(passed > 0, product / np.where(passed > 0, passed, 1.0), 0.0)

        total, size, doubt = _integral(integrand, np.linspace(0.0, top, 129))
        tail, doublings = 0.0, 0 if cutoff is not None else DOUBLINGS
        for _ in range(doublings):
            more, tail, unsure = _integral(integrand, np.linspace(top, 2.0 * top, 129))
            total, size, doubt, top = total + more, size + tail, doubt + unsure, 2.0 * top
            if size > 0.0 and tail <= SETTLED * size:
                break
        if size == 0.0:
            warn_caller(
                f"the product of the transforms vanishes at all sampled frequencies up to {top:.3g}"
                "; if it lives in a narrow band, end the integral there by cutoff.",
                RuntimeWarning,
            )
        elif tail + doubt > UNSETTLED * size:
            warn_caller(
                f"the integral up to the frequency {top:.3g} did not settle; its relative error is "
                f"about {(tail + doubt) / size:.2g} or it diverges. The transforms must fall off "
                "faster than the root of the filter; smooth ones need no cutoff.",
                RuntimeWarning,
            )
        # Both signs of the frequency, which real functions treat alike.
        return float(2 * total / np.sqrt(2 * pi))


def _integral(
    f: Callable[[np.ndarray], np.ndarray], edges: np.ndarray
) -> tuple[float, float, float]:
    """Return the integral over all panels, the sum of their sizes, and that of their errors."""
    parts, doubts = integrate_each(
        lambda x, panel: f(x.ravel()).reshape(x.shape), edges[:-1], edges[1:], 1e-12, 1e-14
    )
    return float(parts.sum()), float(np.abs(parts).sum()), float(doubts.sum())
