"""Base of function classes in feature space: entropy and covering numbers on m points.

Three factorisations of the evaluation at m points bound the entropy numbers of a class; see
`mercer.capacity.entropy.classes` for them. All are computed and the smallest is returned.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.capacity import vocabulary
from mercer.capacity.bound import Bound, Condition
from mercer.objects.parameters import positive

from .inputs import log_counts, number, whole_counts
from .maurey import constant_condition, cubes_factor, maurey_factor
from .operators import invert

Array = NDArray[np.float64]

WAYS = ("best", "maurey", "operator", "mixed")
_SHARES = np.linspace(0.0, 1.0, 21)[1:-1]  # of ln n that go to the evaluation operator
_OFFSETS = np.log(np.unique(np.round(np.geomspace(1.0, 1e15, 200))))  # ln of numbers of values of b


class KernelClass:
    """Base of the classes: entropy numbers and covering numbers on m points.

    A subclass supplies `_operator(ln_n)`, the entropy numbers through the scaling operator,
    and `_norm`, a bound on all values of the class.

    Parameters
    ----------
    c : float
        Constant of Maurey's theorem; see `maurey_bound`.
    offset : float
        Bound on the offset b of the functions.
    conditions : tuple of Condition
        Conditions under which the entropy numbers hold.

    Examples
    --------
    >>> from mercer.capacity import KernelClass, LPClass, SVClass
    >>> issubclass(SVClass, KernelClass), issubclass(LPClass, KernelClass)
    (True, True)
    """

    quantity = "entropy number of the class"
    reference = ""

    def __init__(self, *, c: float, offset: float, conditions: tuple[Condition, ...]) -> None:
        self.c = positive(c, "c")
        if not 0.0 <= offset < math.inf:
            raise ValueError(f"offset must be a bound on |b|, finite and >= 0; got {offset!r}.")
        self.offset = float(offset)
        self._conditions = conditions

    def conditions(
        self, n_samples: int | None = None, which: str = "best"
    ) -> tuple[Condition, ...]:
        """Return what the bounds of the class rest on; Maurey's constant only where it is used."""
        if n_samples is None or which == "operator":
            return self._conditions
        return (*self._conditions, constant_condition(self.c))

    @property
    def _norm(self) -> float:
        raise NotImplementedError

    def _operator(self, ln_n: Array) -> Array:
        raise NotImplementedError

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
        if which not in WAYS:
            raise ValueError(f"which must be one of {', '.join(WAYS)}; got {which!r}.")
        if n_samples is None:
            if which not in ("best", "operator"):
                raise ValueError(f"which={which!r} needs the number of points n_samples.")
            values = self._operator(ln_n)
            return values if which == "operator" else np.minimum(values, self._norm)
        vocabulary.check({"n_samples": n_samples})
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

    def entropy(self, ln_n: float, n_samples: int | None = None, which: str = "best") -> Bound:
        """Return the bound on an entropy number, with its conditions.

        The parameters are those of `eps`, for one ln n.
        """
        value = float(self.eps(ln_n, n_samples, which))
        inputs = {"ln_n": ln_n, "n_samples": n_samples, "which": which}
        return self._bound(value, self.quantity, inputs, self.entropy, which)

    def log_covering(self, eps: float, n_samples: int | None = None, which: str = "best") -> Bound:
        """Return the bound on the logarithm of a covering number, ready for `overall_bound`.

        Parameters
        ----------
        eps : float > 0
            The radius.
        n_samples, which
            As for `eps`.
        """
        value = float(invert(lambda ln_n: self.eps(ln_n, n_samples, which), eps))
        inputs = {"eps": eps, "n_samples": n_samples, "which": which}
        return self._bound(value, "ln covering number", inputs, self.log_covering, which)

    def log_covering_above(self, eps: float, n_samples: int) -> float:
        """Return `log_covering`, or up to 1/256 more of it in a quarter of the time."""
        return float(invert(lambda ln_n: self.eps(ln_n, n_samples), eps, sections=2))

    def _bound(self, value: float, quantity: str, inputs: Any, again: Any, which: str) -> Bound:
        return Bound(
            value,
            {which: value},
            self.conditions(inputs["n_samples"], which),
            quantity=quantity,
            name=f"{type(self).__name__}.{again.__name__}",
            inputs=inputs,
            reference=self.reference,
            trivial=None,
            _function=again,
        )
