"""Uniform deviation bounds from covering numbers, in one template.

    P(sup over f of |E_m f - E f| > eps)  <=  c1(m) N(s eps, F, ghost m) exp(-eps^beta m / c2)

with the cover at the scale s = `cover_scale` times eps.

The probability at a given eps, and the eps at a given probability delta, which is the fixed point
where a decreasing ln N meets an increasing exponent: the learning curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mercer.objects.parameters import require_choice

from .bound import FIXED_CLASS, INDEPENDENT, Bound, Condition, bound, ln_of, state

__all__ = ["UNIFORM_BOUNDS", "UniformBound", "deviation_probability", "overall_bound"]

ANNEALED = Condition("ln_n bounds ln E[N], not only E[ln N]")


@dataclass(frozen=True)
class UniformBound:
    """The constants of a uniform bound; see the head of this module for the formula.

    Attributes
    ----------
    c1 : callable
        Factor as a function of the number of samples m.
    c2, beta : float
        Constant and power of the exponent exp(-eps^beta m / c2).
    cover_scale : float
        The covering number is taken at ``cover_scale * eps``.
    ghost : int
        It is taken on ``ghost * m`` points.
    least : float
        The theorem needs ``m >= least / eps^2``.
    zero_error : bool
        Whether it is about functions without training error.
    proved : bool
        False for a printed form whose proof is missing.
    reference : str
        Reference.

    Examples
    --------
    >>> from mercer.capacity import UNIFORM_BOUNDS
    >>> round(UNIFORM_BOUNDS["vc71"].deviation(10_000, ln_n=100.0, delta=0.05), 4)
    0.289
    """

    c1: Callable[[int], float]
    c2: float
    beta: float
    cover_scale: float = 1.0
    ghost: int = 2
    least: float = 0.0
    zero_error: bool = False
    proved: bool = True
    reference: str = ""

    def ln_probability(
        self, eps: float, n_samples: int, ln_n: Any, loss_range: float = 1.0
    ) -> float:
        """Return the logarithm of the right-hand side."""
        ln_cover = ln_of(ln_n, self.cover_scale * eps, self.ghost * n_samples)
        exponent = (eps / loss_range) ** self.beta * n_samples / self.c2
        return math.log(self.c1(n_samples)) + ln_cover - exponent

    def deviation(self, n_samples: int, ln_n: Any, delta: float, loss_range: float = 1.0) -> float:
        """Return the eps at which the right-hand side is delta (infinite where none is)."""
        target = math.log(delta)
        if not callable(ln_n):
            inside = math.log(self.c1(n_samples)) + float(ln_n) - target
            return loss_range * max(0.0, inside * self.c2 / n_samples) ** (1 / self.beta)
        low, high = 0.0, loss_range
        while self.ln_probability(high, n_samples, ln_n, loss_range) > target:
            low, high = high, 2 * high
            if high > 1e12 * loss_range:
                return math.inf
        for _ in range(100):
            middle = (low + high) / 2
            if self.ln_probability(middle, n_samples, ln_n, loss_range) > target:
                low = middle
            else:
                high = middle
            if high - low <= 1e-14 * high:
                break
        return high


UNIFORM_BOUNDS: dict[str, UniformBound] = {
    "alon": UniformBound(
        lambda m: 12.0 * m, 36.0, 2.0, cover_scale=1 / 6, least=2.0,
        reference="Alon et al. (1997); Smola, (7.21)",
    ),
    "sm": UniformBound(lambda m: 8.0, 16.0, 2.0, reference="Smola, (7.22)"),
    "vc71": UniformBound(
        lambda m: 4.0, 8.0, 2.0, least=2.0, reference="Vapnik and Chervonenkis (1971)"
    ),
    "dgl": UniformBound(
        lambda m: 8.0, 32.0, 2.0, ghost=1,
        reference="Devroye, Gyorfi and Lugosi (1996), Theorem 12.5",
    ),
    "zero_error": UniformBound(
        lambda m: 2.0, 2 / math.log(2), 1.0, zero_error=True,
        reference="Smola, (7.23), with the base 2 that its proof gives",
    ),
    "zero_error_printed": UniformBound(
        lambda m: 2.0, 2.0, 1.0, zero_error=True, proved=False, reference="Smola, (7.23) as printed"
    ),
}  # fmt: skip
"""Named uniform bounds. Add your own `UniformBound`, or pass it directly."""


@bound("risk", assumes=[INDEPENDENT, FIXED_CLASS, ANNEALED])
def overall_bound(
    n_samples: int,
    ln_n: Any,
    delta: float = 0.05,
    variant: str | UniformBound = "alon",
    emp_risk: float = 0.0,
    lipschitz: float = 1.0,
    loss_range: float = 1.0,
) -> Bound:
    """Return empirical risk plus the uniform deviation of a class, from its covering numbers.

    Parameters
    ----------
    n_samples, delta
        Number of samples m, probability of failure.
    ln_n : float or callable
        ln N as a number, where it does not depend on the scale (the growth function of a binary
        class, a finite class), or a function ``ln_n(eps, n_points)``: the deviation is then the
        fixed point of the template. It must bound the annealed entropy or the growth function;
        the VC entropy is too small (see `vc_entropy`).
    variant : str or UniformBound, default="alon"
        "alon" (real-valued classes), "sm", "vc71", "dgl" (binary classes), "zero_error",
        "zero_error_printed".
    emp_risk : float, default=0
        Mean loss on the training samples.
    lipschitz : float, default=1
        Lipschitz constant C of the loss: the class is covered at the scale eps / C.
    loss_range : float, default=1
        Largest value of the loss; the exponent scales with (eps / loss_range)^beta.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import overall_bound
    >>> round(float(overall_bound(n_samples=10**6, ln_n=lambda eps, n: 20 / eps)), 4)
    0.1643
    """
    chosen, cover = _prepared(variant, ln_n, lipschitz, loss_range)
    deviation = chosen.deviation(n_samples, cover, delta, loss_range)
    return state(
        {"training error": emp_risk, "deviation": deviation},
        *_conditions(chosen, n_samples, deviation, emp_risk),
        reference=chosen.reference,
        trivial=loss_range,
    )


@bound("probability", assumes=[INDEPENDENT, FIXED_CLASS, ANNEALED])
def deviation_probability(
    eps: float,
    n_samples: int,
    ln_n: Any,
    variant: str | UniformBound = "alon",
    lipschitz: float = 1.0,
    loss_range: float = 1.0,
) -> Bound:
    """Return the bound on the probability of a deviation larger than eps, at most 1.

    The parameters are those of `overall_bound`. Vacuous where ln N is of the order of m.

    Parameters
    ----------
    eps : float
        The deviation.
    n_samples : int
        Number of training samples l.
    ln_n : float or callable
        ln N as a number or a function ``ln_n(eps, n_points)``, as for `overall_bound`.
    variant : str or UniformBound, default="alon"
        Which uniform bound, see `overall_bound`.
    lipschitz : float, default=1
        Lipschitz constant of the loss.
    loss_range : float, default=1
        Largest value of the loss.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import deviation_probability
    >>> p = deviation_probability(eps=0.3, n_samples=10**4, ln_n=10.0, variant="vc71")
    >>> f"{float(p):.2g}"
    '1.2e-44'
    """
    chosen, cover = _prepared(variant, ln_n, lipschitz, loss_range)
    ln_p = chosen.ln_probability(eps, n_samples, cover, loss_range)
    return state(
        {"tail": math.exp(min(0.0, ln_p))},
        *_conditions(chosen, n_samples, eps, 0.0),
        reference=chosen.reference,
    )


def _prepared(
    variant: str | UniformBound, ln_n: Any, lipschitz: float, loss_range: float
) -> tuple[UniformBound, Any]:
    if not isinstance(variant, UniformBound):
        require_choice(variant, "variant", UNIFORM_BOUNDS)
        variant = UNIFORM_BOUNDS[variant]
    if callable(ln_n) and lipschitz != 1.0:
        return variant, lambda eps, n_points: ln_n(eps / lipschitz, n_points)
    return variant, ln_n


def enough_samples(template: UniformBound, n_samples: int, eps: float) -> list[Condition]:
    """Return the condition m >= least / eps^2 of a template, if it has one."""
    if not template.least:
        return []
    need = template.least / eps**2 if eps > 0 else math.inf
    what = f"n_samples >= {template.least:g} / eps^2"
    return [Condition.that(what, n_samples >= need, f"{n_samples} >= {need:.4g}")]


def _conditions(
    template: UniformBound, n_samples: int, eps: float, emp_risk: float
) -> list[Condition]:
    found = enough_samples(template, n_samples, eps)
    if template.zero_error:
        found.append(Condition.that("no training error", emp_risk == 0, f"emp_risk={emp_risk:g}"))
    if not template.proved:
        found.append(Condition("a proof of base e in exp(-eps m / 2)", "violated", "proof: base 2"))
    return found
