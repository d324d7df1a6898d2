r"""Classes of functions in feature space and their covering numbers on m points.

Support vector machines bound the length of the weight vector, :math:`\|w\| \le \Lambda`; linear
programming machines bound :math:`\sum_i |\alpha_i| \le \Lambda`, which puts w into :math:`\Lambda`
times the ellipsoid that contains the data. With the scaling operator A of the kernel, evaluation at
m points factors through A once or twice, and Maurey's theorem covers the rest:

    \epsilon_n(T) <= \Lambda \epsilon_n(A)                            ("operator")
    \epsilon_n(T) <= c R \Lambda M(n)                                 ("maurey")
    \epsilon_{n t}(T) <= c \Lambda M(n) \epsilon_t(A)                 ("mixed")

with M(n) = sqrt(log2(1 + m / log2 n) / log2 n), R the radius of the data in feature space, and A^2,
R^2 in place of A, R for linear programming machines. Which is best depends on the decay of the
eigenvalues; all are computed and the smallest is returned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.capacity.bound import Condition
from mercer.objects.parameters import positive

from .diagonal import FACTOR
from .kernel_class import KernelClass
from .maurey import PROVED
from .periodic import Spectrum
from .scaling import as_spectrum, scaling_entropy

Array = NDArray[np.float64]


class SVClass(KernelClass):
    r"""Functions <w, phi(x)> + b with a bounded weight vector: support vector machines.

    Parameters
    ----------
    spectrum : Spectrum, array-like or None
        Eigenvalues of the kernel; None knows only the radius of the data, as in `from_ball`.
    w_norm : float > 0, default=1.0
        The bound Lambda on the weight vector, the inverse of the margin.
    radius : float > 0, optional
        A bound on the lengths of all features; by default that of the spectrum.
    offset : float >= 0, default=0
        A bound on the offset b. Its cover and that of the linear part are combined optimally.
    c : float > 0, default=103
        The constant of Maurey's theorem; see `maurey_bound`.
    conditions : tuple of Condition, default=()
        Conditions that the spectrum is known to need.

    References
    ----------
    Smola 1998, theorem 8.6; (7.51) for the offset.

    Examples
    --------
    >>> from mercer.capacity.entropy import SVClass
    >>> from mercer.kernels import RBF
    >>> gaussian = SVClass.from_kernel(RBF(gamma=1.0), period=10.0)
    >>> round(gaussian.log_covering(0.1).value, 2)
    69.26
    >>> ball = SVClass.from_ball(radius=1.0, c=1.86)
    >>> round(ball.log_covering(0.1, n_samples=1000).value)
    367
    """

    reference = "Smola 1998, theorem 8.6"

    def __init__(
        self,
        spectrum: Any,
        w_norm: float = 1.0,
        *,
        radius: float | None = None,
        offset: float = 0.0,
        c: float = PROVED,
        conditions: tuple[Condition, ...] = (),
    ) -> None:
        self.spectrum = None if spectrum is None else as_spectrum(spectrum)
        own = () if self.spectrum is None else self.spectrum.conditions
        super().__init__(c=c, offset=offset, conditions=(*own, *conditions))
        self.w_norm = positive(w_norm, "w_norm")
        if radius is None:
            if self.spectrum is None:
                raise ValueError("without a spectrum, the radius of the data is needed.")
            radius = self.spectrum.radius
        self.radius = positive(radius, "radius")

    @classmethod
    def from_kernel(
        cls, kernel: Any, period: float, dimension: int = 1, w_norm: float = 1.0, **more: Any
    ) -> SVClass:
        """Return the class of a kernel by `Spectrum.from_translation_invariant`."""
        return cls(Spectrum.from_translation_invariant(kernel, period, dimension), w_norm, **more)

    @classmethod
    def from_ball(cls, radius: float, w_norm: float = 1.0, **more: Any) -> SVClass:
        """Return the class that knows only a ball around all data in feature space.

        The ball is centred at the origin; data that may leave it need a luckiness argument.
        """
        later = Condition("all data, also later ones, lie in the ball around the origin")
        return cls(None, w_norm, radius=radius, conditions=(later,), **more)

    @property
    def _norm(self) -> float:
        return self.w_norm * self.radius

    def _operator(self, ln_n: Array) -> Array:
        if self.spectrum is None:
            return np.full(len(ln_n), self._norm)
        scale = FACTOR * self.spectrum.C_k * self.w_norm
        return scale * scaling_entropy(self.spectrum, ln_n)[0]


class LPClass(KernelClass):
    r"""Kernel expansions with bounded coefficients, sum |alpha_i| <= Lambda.

    The weight vector lies in Lambda times the ellipsoid around the data, so the scaling operator
    counts twice: :math:`\epsilon_n(T) \le \Lambda \epsilon_n(A^2)`, and the best A gives
    :math:`\epsilon_n(A^2) \le 6\, C_k^2\, G(\sqrt n)^2` where :math:`6\, C_k\, G(n)` is the
    bound on :math:`\epsilon_n(A)`. The kernel only has to be symmetric, see `SignedSpectrum`.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel, absolute values for an indefinite one.
    w_norm : float > 0, default=1.0
        The bound Lambda on the sum of the absolute coefficients.
    radius : float > 0, optional
        A bound on the lengths of all features; by default that of the spectrum.
    offset, c
        As for `SVClass`.
    printed : bool, default=False
        Whether to keep the factor 6 that theorem 9.6 prints beside eps_n(A^2). Its proof does not
        need it: it is the factor of the theorem on diagonal operators, counted a second time.

    References
    ----------
    Smola 1998, theorem 9.6.

    Examples
    --------
    >>> from mercer.capacity.entropy import LPClass, Spectrum
    >>> from mercer.kernels import RBF
    >>> spectrum = Spectrum.from_translation_invariant(RBF(gamma=1.0), period=10.0)
    >>> round(LPClass(spectrum).log_covering(0.1).value, 1)
    60.3
    """

    reference = "Smola 1998, theorem 9.6"

    def __init__(
        self,
        spectrum: Any,
        w_norm: float = 1.0,
        *,
        radius: float | None = None,
        offset: float = 0.0,
        c: float = PROVED,
        printed: bool = False,
    ) -> None:
        self.spectrum = as_spectrum(spectrum)
        super().__init__(c=c, offset=offset, conditions=self.spectrum.conditions)
        self.w_norm = positive(w_norm, "w_norm")
        self.radius = self.spectrum.radius if radius is None else positive(radius, "radius")
        self.printed = printed

    @property
    def _norm(self) -> float:
        return self.w_norm * self.radius**2

    def _operator(self, ln_n: Array) -> Array:
        best = scaling_entropy(self.spectrum, ln_n / 2.0)[0]
        values = FACTOR * self.w_norm * (self.spectrum.C_k * best) ** 2
        return FACTOR * values if self.printed else values
