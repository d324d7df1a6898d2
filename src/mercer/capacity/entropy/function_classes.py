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

import math
from typing import Any

import numpy as np

from mercer.capacity import keywords
from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import positive, require_choice

from .diagonal import FACTOR
from .inputs import Array, log_counts, number, whole_counts
from .operators import PROVED, constant_condition, cubes_factor, invert, maurey_factor
from .periodic import Spectrum
from .scaling import as_spectrum, eps_of, scaling_entropy

__all__ = ["KernelClass", "LPClass", "MultiOutputClass", "SVClass"]


_SHARES = np.linspace(0.0, 1.0, 21)[1:-1]  # of ln n that go to the evaluation operator


_OFFSETS = np.log(np.unique(np.round(np.geomspace(1.0, 1e15, 200))))  # ln of numbers of values of b


class KernelClass:
    """Base of the classes: entropy numbers and covering numbers on m points.

    The weight vectors lie in a ball; a subclass for another class of weights replaces
    `_operator(ln_n)`, the entropy numbers through the scaling operator, and `_norm`, a bound on all
    values of the class.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel; None knows only the radius of the data.
    w_norm : float > 0, default=1.0
        The bound Lambda on the weights.
    radius : float > 0, optional
        A bound on the lengths of all features; by default that of the spectrum.
    offset : float >= 0, default=0
        Bound on the offset b of the functions.
    c : float > 0, default=103
        Constant of Maurey's theorem; see `maurey_bound`.
    conditions : tuple of Condition, default=()
        Conditions that the entropy numbers need beside those of the spectrum.

    Examples
    --------
    >>> from mercer.capacity import KernelClass, LPClass, SVClass
    >>> issubclass(SVClass, KernelClass), issubclass(LPClass, KernelClass)
    (True, True)
    """

    reference = ""

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
        if radius is None:
            if self.spectrum is None:
                raise ValueError("without a spectrum, the radius of the data is needed.")
            radius = self.spectrum.radius
        self.w_norm, self.radius = positive(w_norm, "w_norm"), positive(radius, "radius")
        self.c = positive(c, "c")
        if not 0.0 <= offset < math.inf:
            raise ValueError(f"offset must be a bound on |b|, finite and >= 0; got {offset!r}.")
        self.offset = float(offset)
        own = () if self.spectrum is None else self.spectrum.conditions
        self._conditions = (*own, *conditions)

    def conditions(
        self, n_samples: int | None = None, which: str = "best"
    ) -> tuple[Condition, ...]:
        """Return what the bounds of the class rest on; Maurey's constant only where it is used."""
        if n_samples is None or which == "operator":
            return self._conditions
        return (*self._conditions, constant_condition(self.c))

    @property
    def _norm(self) -> float:
        return self.w_norm * self.radius

    def _operator(self, ln_n: Array) -> Array:
        if self.spectrum is None:
            return np.full(len(ln_n), self._norm)
        return np.asarray(self.w_norm * eps_of(self.spectrum, ln_n))

    def eps(self, ln_n: Any, n_samples: int | None = None, which: str = "best") -> Any:
        """Return upper bounds on entropy numbers, for arrays of ln n.

        Parameters
        ----------
        ln_n : float or array-like
            Natural logarithms of n.
        n_samples : int >= 1, optional
            The number of points m; without it, the bounds that hold on the whole domain.
        which : {"best", "maurey", "operator", "mixed"}, default="best"
            One of the three inequalities as it stands, or the best of them, of the norm and of the
            count of cubes on m points.

        Returns
        -------
        float or ndarray
            The bounds.
        """
        exponents = log_counts(ln_n)
        flat = whole_counts(exponents.reshape(-1))  # the theorems are about integers
        values = (
            self._with_offset(flat, n_samples, which)
            if self.offset
            else self._without(flat, n_samples, which)
        )
        return number(values.reshape(exponents.shape))

    def _without(self, ln_n: Array, n_samples: int | None, which: str) -> Array:
        require_choice(which, "which", ("best", "maurey", "operator", "mixed"))
        if n_samples is None:
            if which not in ("best", "operator"):
                raise ValueError(f"which={which!r} needs the number of points n_samples.")
            values = self._operator(ln_n)
            return values if which == "operator" else np.minimum(values, self._norm)
        keywords.check({"n_samples": n_samples})
        m = float(n_samples)
        if which == "operator":
            return self._operator(ln_n)
        if which == "maurey":
            return self._maurey(ln_n, m)
        if which == "mixed":
            return self._mixed(ln_n, m, math.inf)
        ways = [self._operator(ln_n), self._maurey(ln_n, m), self._mixed(ln_n, m, self._norm)]
        return np.minimum.reduce([*ways, self._norm * cubes_factor(ln_n, m)])

    def _maurey(self, ln_n: Array, m: float) -> Array:
        return self.c * self._norm * maurey_factor(ln_n / math.log(2.0), m)

    def _mixed(self, ln_n: Array, m: float, most: float) -> Array:
        split = whole_counts(_SHARES[:, None] * ln_n)
        rest = self._operator(whole_counts(ln_n - split).reshape(-1)).reshape(split.shape)
        factor = self.c * maurey_factor(split / math.log(2.0), m)
        return np.min(factor * np.minimum(rest, most), axis=0)

    def _with_offset(self, ln_n: Array, n_samples: int | None, which: str) -> Array:
        # t values of b cover [-B, B] at the radius B / t, and the radii of the two covers add up.
        left = ln_n[:, None] - _OFFSETS
        own = self._without(whole_counts(np.maximum(left, 0.0)).reshape(-1), n_samples, which)
        total = own.reshape(left.shape) + self.offset * np.exp(-_OFFSETS)
        best = np.where(left >= 0.0, total, np.inf).min(axis=1)
        return best if which != "best" else np.minimum(best, self._norm + self.offset)

    @bound("entropy number of the class", trivial=None)
    def entropy(self, ln_n: float, n_samples: int | None = None, which: str = "best") -> Bound:
        """Return the bound on an entropy number, with its conditions.

        The parameters are those of `eps`, for one ln n.
        """
        return self._stated(self.eps(ln_n, n_samples, which), n_samples, which)

    @bound("ln covering number", trivial=None)
    def log_covering(self, eps: float, n_samples: int | None = None, which: str = "best") -> Bound:
        """Return the bound on the logarithm of a covering number, ready for `overall_bound`.

        Parameters
        ----------
        eps : float > 0
            The radius.
        n_samples, which
            As for `eps`.
        """
        value = invert(lambda ln_n: self.eps(ln_n, n_samples, which), eps)
        return self._stated(value, n_samples, which)

    def log_covering_above(self, eps: float, n_samples: int) -> float:
        """Return `log_covering`, or up to 1/256 more of it in a quarter of the time."""
        return float(invert(lambda ln_n: self.eps(ln_n, n_samples), eps, sections=2))

    def _stated(self, value: Any, n_samples: int | None, which: str) -> Bound:
        conditions = self.conditions(n_samples, which)
        return state({which: float(value)}, *conditions, reference=self.reference)


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
        super().__init__(as_spectrum(spectrum), w_norm, radius=radius, offset=offset, c=c)
        self.printed = printed

    @property
    def _norm(self) -> float:
        return self.w_norm * self.radius**2

    def _operator(self, ln_n: Array) -> Array:
        assert self.spectrum is not None
        best = scaling_entropy(self.spectrum, ln_n / 2.0)[0]
        values = FACTOR * self.w_norm * (self.spectrum.C_k * best) ** 2
        return FACTOR * values if self.printed else values


class MultiOutputClass(KernelClass):
    r"""Vector-valued functions W phi(b) with :math:`\sum_i \|w_i\|^2 \le \Lambda^2`.

    The scaling operator acts on each of d outputs, so every eigenvalue counts d times:
    :math:`\epsilon_n(A_d)` is sqrt(d) times the bound on eps of A at n^(1/d). The metric is the
    largest Euclidean distance over the whole domain, so Maurey's theorem on points does not apply.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel on the domain of the functions.
    n_outputs : int >= 1
        The number of outputs d.
    w_norm : float > 0, default=1.0
        The bound Lambda on the root of the summed squares. A constraint on the *squared* norm, as
        in the definition of regularised principal manifolds, gives its root.

    References
    ----------
    Smola 1998, theorem 9.11 and corollary 9.12.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import MultiOutputClass
    >>> spectrum = np.exp(-np.arange(1, 60) ** 2 / 4)
    >>> [round(float(np.log(MultiOutputClass(spectrum, d).eps(100.0))), 3) for d in (1, 2, 3)]
    [-11.843, -6.244, -3.932]
    """

    reference = "Smola 1998, theorem 9.11"

    def __init__(self, spectrum: Any, n_outputs: int, w_norm: float = 1.0) -> None:
        single = as_spectrum(spectrum)
        super().__init__(single.repeat(n_outputs), w_norm, radius=single.radius)
        self.n_outputs = n_outputs

    def eps(self, ln_n: Any, n_samples: int | None = None, which: str = "best") -> Any:
        """Return upper bounds on entropy numbers over the whole domain; see `KernelClass.eps`."""
        return super().eps(ln_n, None, which)

    @staticmethod
    def interleave(weights: Any) -> Array:
        """Return the coefficients of all outputs as one sequence, w_11, w_21, ..., w_12, ...

        An isometry, under which A_d is a diagonal operator with every value d times.
        """
        return np.asarray(weights, dtype=np.float64).T.reshape(-1)
