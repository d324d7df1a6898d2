"""A power series in a kernel, by default in the dot product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, inf
from typing import Any, NamedTuple

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import integer, is_number, nonnegative_coefficients, show
from mercer.objects.validation import Objects
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel
from ..definiteness import PSD, UNKNOWN, Definiteness
from .operands import nested, require_kernel
from .polynomial_of import PolynomialOf

_MOST_TERMS = 100_000  # of a remainder, before it is given up


class ClosedForm(NamedTuple):
    """A function with non-negative Taylor coefficients."""

    coefficient: Callable[[int], float]  # the coefficient a_n of t^n
    radius: float  # the series converges for abs(t) below it
    push: Callable[[Builder], None]  # replaces the top t of a program by the value
    slope: Callable[[np.ndarray], np.ndarray]  # the derivative, vectorised


def _push_cosh(builder: Builder) -> None:
    builder.exp()
    builder.dup()
    builder.reciprocal()
    builder.add()
    builder.affine(0.5, 0.0)


def _push_sinh(builder: Builder) -> None:
    # tanh(t) cosh(t), which keeps the digits of small t
    builder.dup()
    builder.tanh()
    builder.swap()
    _push_cosh(builder)
    builder.mul()


def _push_geometric(builder: Builder) -> None:
    builder.affine(-1.0, 1.0)
    builder.reciprocal()


def _push_log(builder: Builder) -> None:
    builder.affine(-1.0, 0.0)
    builder.log1p()
    builder.affine(-1.0, 0.0)


CLOSED_FORMS = {
    "exp": ClosedForm(lambda n: 1.0 / factorial(n), inf, lambda builder: builder.exp(), np.exp),
    "cosh": ClosedForm(lambda n: (1 - n % 2) / factorial(n), inf, _push_cosh, np.sinh),
    "sinh": ClosedForm(lambda n: (n % 2) / factorial(n), inf, _push_sinh, np.cosh),
    "geometric": ClosedForm(lambda n: 1.0, 1.0, _push_geometric, lambda t: (1.0 - t) ** -2),
    "log": ClosedForm(lambda n: 1.0 / n if n else 0.0, 1.0, _push_log, lambda t: 1.0 / (1.0 - t)),
}


class PowerSeries(Kernel):
    r"""A power series with non-negative coefficients in a kernel.

    .. math:: k'(x, z) = \sum_{n \ge 0} a_n \, k(x, z)^n, \quad a_n \ge 0

    Positive semidefinite if k is; by default k is the dot product. A negative coefficient is
    refused: with enough dimensions such a series is indefinite. Where the series converges for
    :math:`|k(x, z)| < R` only, and objects with :math:`k(x, x) \ge R` raise ValueError.

    Parameters
    ----------
    coefficients : sequence of float >= 0, str or callable
        All of the coefficients a_0, a_1, ... by rising power; the name of a closed form: "exp",
        "cosh", "sinh", "geometric" (1 / (1 - t)) or "log" (-ln(1 - t)); or a function that
        returns a_n for n, of which the first `n_terms` are used.
    radius : float > 0, optional
        The radius of convergence R. Needed for a function; a closed form knows its own, and a
        finite number of coefficients converges everywhere.
    kernel : Kernel, optional
        The kernel k, by default the dot product of vectors.
    n_terms : int >= 1, default=32
        Coefficients that are taken from a function. `truncation_error` states what the others
        amount to.

    Notes
    -----
    Use it to weight the degrees of interaction in a way that no named kernel offers: odd degrees
    only ("sinh"), slowly falling weights ("geometric", "log"). Normalise the rows first, since
    values grow with the highest degree and a finite radius excludes long rows. A value costs the
    inner kernel and one step per coefficient. Avoid it in the usual cases, which Polynomial and RBF
    cover.

    Examples
    --------
    >>> from mercer.kernels import PowerSeries, ExponentialDot
    >>> PowerSeries([1.0, 1.0, 1.0])([[1.0, 2.0]], [[3.0, 4.0]])
    array([[133.]])
    >>> PowerSeries("sinh", kernel=ExponentialDot(0.1))([[1.0, 2.0]], [[3.0, 4.0]]).round(6)
    array([[10.059904]])
    """

    coefficients: Sequence[float] | str | Callable[[int], float]
    radius: float | None = None
    kernel: Kernel | None = None
    n_terms: int = 32

    _fixed = ("radius",)

    def _check(self) -> None:
        if self.kernel is not None:
            require_kernel(self.kernel, "kernel", "PowerSeries")
        integer(self.n_terms, "n_terms", minimum=1)
        if self.radius is not None and not (is_number(self.radius) and self.radius > 0):
            raise ValueError(f"radius must be a number > 0 or inf; got {show(self.radius)}.")
        if isinstance(self.coefficients, str):
            if self.coefficients not in CLOSED_FORMS:
                raise ValueError(
                    f"unknown series {self.coefficients!r}; the closed forms are "
                    f"{', '.join(map(repr, CLOSED_FORMS))}."
                )
            return
        if callable(self.coefficients) and self.radius is None:
            raise ValueError(
                "a series from a function needs its radius of convergence; pass radius=inf if it "
                "converges everywhere."
            )
        values = self._terms() if callable(self.coefficients) else self.coefficients
        nonnegative_coefficients(values, "a power series", "power")

    @property
    def inner(self) -> Kernel:
        """The kernel that is raised to powers."""
        from ..vectors.linear import Linear

        return Linear() if self.kernel is None else self.kernel

    @property
    def convergence_radius(self) -> float:
        """The values k(x, x) for which the series converges lie below this."""
        own = self._closed.radius if self._closed is not None else inf
        return own if self.radius is None else min(own, float(self.radius))

    @property
    def takes(self) -> Objects:
        """The objects that the kernel k takes."""
        return self.inner.takes

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel if it is positive (semi)definite and occurs at all."""
        claim = self.inner.definiteness
        if not claim.is_psd:
            return UNKNOWN
        return claim if any(self.series_coefficient(n) > 0 for n in range(1, 33)) else PSD

    @property
    def _is_restricted(self) -> bool:
        return self.convergence_radius < inf or self.inner._is_restricted

    def check_domain(self, X: Any) -> None:
        """Reject objects with k(x, x) outside the radius of convergence; see the base class."""
        self.inner.check_domain(X)
        radius = self.convergence_radius
        if radius == inf:
            return
        squares = self.inner.diag(X)
        if squares.size and not squares.max() < radius:
            i = int(np.argmax(squares))
            raise ValueError(
                f"{self!r} converges for k(x, x) < {radius:g} only, and object {i} has "
                f"k(x, x) = {squares[i]:.6g}. Scale the objects down, or normalise the kernel and "
                "multiply it by a factor below the radius."
            )

    def validate(self, X: Any, against: Any = None) -> Any:
        X = self.inner.validate(X, against)
        if self.is_bound:
            self.check_domain(X)
        return X

    @property
    def highest_power(self) -> int | None:
        """The highest power that is used; None for a closed form, which has all powers."""
        return len(self._terms()) - 1 if self._closed is None else None

    def series_coefficient(self, degree: int) -> float:
        """Return the coefficient a_n of the power n = `degree`."""
        if self._closed is not None:
            return self._closed.coefficient(degree)
        terms = self._terms()
        return float(terms[degree]) if degree < len(terms) else 0.0

    def truncation_error(self, X: Any) -> float:
        """Return a bound of what the terms left out amount to, for pairs of the objects `X`.

        No pair has a larger abs(k(x, z)) than the largest k(x, x). 0 for a closed form and for a
        sequence, which is complete; for a function the sum of a_n t^n over n >= n_terms at the
        largest t = k(x, x), infinite where it does not settle within 100,000 terms.
        """
        if not callable(self.coefficients):
            return 0.0
        kernel, X = self.inner.bound_to(X)
        t = float(kernel.diag(X).max())
        if t == 0.0:
            return 0.0
        total, power, quiet = 0.0, t**self.n_terms, 0
        for n in range(self.n_terms, _MOST_TERMS):
            term = float(self.coefficients(n)) * power
            total, power = total + term, power * t
            if not np.isfinite(total):
                return inf
            # Eight negligible terms in a row, so that a series with gaps is not cut short.
            quiet = quiet + 1 if term <= 1e-3 * np.finfo(float).eps * total else 0
            if quiet == 8:
                return total
        return inf

    def compile(self, builder: Builder) -> None:
        self.inner.compile(builder)
        if self._closed is not None:
            self._closed.push(builder)
        else:
            builder.polynomial([float(a) for a in self._terms()])

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        inner, values = self.inner._gradient(X, Z), self.inner._values(X, Z)
        if self._closed is not None:
            return nested("kernel", inner, self._closed.slope(values))
        terms = [float(a) for a in self._terms()]
        slope = np.polynomial.polynomial.polyval(values, [n * a for n, a in enumerate(terms)][1:])
        gradient = nested("kernel", inner, slope if len(terms) > 1 else 0.0)
        if callable(self.coefficients):
            return gradient
        return {"coefficients": np.stack([values**n for n in range(len(terms))])} | gradient

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return ordered products of features by rising power; see :meth:`Kernel.map_features`."""
        if self._closed is not None or callable(self.coefficients):
            raise NotImplementedError(
                f"{self!r} has no explicit feature map: its powers, and so its features, are "
                "infinite in number. Use its values k(X, Z)."
            )
        return self._polynomial.map_features(self.validate(X), vocabulary)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return self._polynomial.feature_names(columns, vocabulary)

    @property
    def _polynomial(self) -> PolynomialOf:
        return PolynomialOf(self.inner, self._terms())

    @property
    def _closed(self) -> ClosedForm | None:
        return CLOSED_FORMS[self.coefficients] if isinstance(self.coefficients, str) else None

    def _terms(self) -> Sequence[float]:
        """Return the coefficients that are used, of a series without a closed form."""
        if callable(self.coefficients):
            return [self.coefficients(n) for n in range(self.n_terms)]
        assert not isinstance(self.coefficients, str)
        return self.coefficients
