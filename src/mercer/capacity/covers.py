"""Logarithms of covering numbers as functions, and how they are made from each other.

A cover is a function ``ln_n(eps, n_points)``: the natural logarithm of a bound on
N(eps, F, l_inf^n). Uniform bounds and margin bounds take it as `ln_n`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mercer.objects.parameters import require_choice

from .bound import Bound, Condition, bound, state
from .vc import sauer

__all__ = [
    "LossInducedCover",
    "OffsetClass",
    "ParametricClass",
    "SumClass",
    "convert_cover",
    "cover_from_fat",
    "cover_from_pseudodim",
    "cover_lower_bound_from_fat_l",
    "cover_radius_margin",
    "fat_cover",
    "fat_p_from_fat_l",
    "polynomial_lipschitz",
    "sauer_cover",
]

UNIT_RANGE = Condition("the functions have values in [0, 1]")

Cover = Callable[[float, int], float]


def sauer_cover(vc_dim: int) -> Cover:
    """Return the cover of a binary class of known VC dimension, by Sauer's lemma, at any scale.

    Parameters
    ----------
    vc_dim : float
        VC dimension d of the class.

    Returns
    -------
    callable
        The cover as a function ``ln_n(eps, n_points)``, the natural logarithm of N.

    Examples
    --------
    >>> from mercer.capacity import sauer_cover
    >>> round(sauer_cover(3)(0.5, 5), 4)
    3.2581
    """
    return lambda eps, n_points: sauer(n_points, vc_dim, log=True)


def fat_cover(fat: Callable[[float], float], low: float = 0.0, high: float = 1.0) -> Cover:
    """Return the cover of a real-valued class from its fat-shattering dimension as a function.

    Parameters
    ----------
    fat : callable
        The fat-shattering dimension, or a bound on it, as a function of the margin.
    low, high : float
        Range of the functions.

    Returns
    -------
    callable
        The cover as a function ``ln_n(eps, n_points)``, the natural logarithm of N.

    Examples
    --------
    >>> from mercer.capacity import fat_cover
    >>> round(fat_cover(lambda margin: 5)(0.1, 1000), 1)
    865.5
    """
    return lambda eps, n_points: cover_from_fat(eps, n_points, float(fat(eps / 4)), low, high).value


@dataclass(frozen=True)
class LossInducedCover:
    """The cover of the losses of a class, from the cover of the class.

    Parameters
    ----------
    ln_n : callable
        Cover of the functions.
    lipschitz : float
        C with c(a) - c(b) <= max(C |a - b|, jump).
    jump : float, default=0
        Size of the discontinuities of the loss. Raises ValueError at scales below it: the proof
        needs the scale of the losses, not of the functions, to be at least `jump`.
    metric : {"linf", "l1"}, default="linf"
        The metric of `ln_n`: for "l1", not normalised, the scale is eps m / C.

    Examples
    --------
    >>> from mercer.capacity import LossInducedCover
    >>> LossInducedCover(lambda eps, n: 1 / eps, lipschitz=2.0)(0.1, 50)
    20.0
    """

    ln_n: Cover
    lipschitz: float = 1.0
    jump: float = 0.0
    metric: str = "linf"

    def __post_init__(self) -> None:
        require_choice(self.metric, "metric", ("linf", "l1"))
        if not self.lipschitz > 0 or self.jump < 0:
            raise ValueError("lipschitz must be positive and jump must not be negative.")

    def __call__(self, eps: float, n_points: int) -> float:
        """Return ln N."""
        if eps < self.jump:
            raise ValueError(
                f"the loss jumps by {self.jump:g}: no cover at the finer scale {eps:g}."
            )
        scale = eps / self.lipschitz
        return self.ln_n(scale * n_points if self.metric == "l1" else scale, n_points)


def polynomial_lipschitz(p: float, low: float, high: float) -> float:
    """Return the Lipschitz constant (b - a)^(p-1) of |f - y|^p / p on values in [a, b].

    Parameters
    ----------
    p : float
        The exponent of the loss.
    low : float
        Smallest value a.
    high : float
        Largest value b.

    Returns
    -------
    float
        The Lipschitz constant (b - a)^(p-1) of |f - y|^p / p on values in [a, b].

    Examples
    --------
    >>> from mercer.capacity import polynomial_lipschitz
    >>> [round(polynomial_lipschitz(p, -1, 1), 3) for p in (1.5, 2, 3)]
    [1.414, 2.0, 4.0]
    """
    if not p >= 1 or not high > low:
        raise ValueError("need p >= 1 and low < high.")
    return float(high - low) ** (p - 1)


def convert_cover(ln_n: Cover, source: str, target: str) -> Cover:
    """Return the cover in another metric: "linf", "l1" (a sum) or "mean" (the mean of |f - g|).

    ||v||_inf <= ||v||_1 = m * mean <= m ||v||_inf, so a cover of one metric covers another at the
    scale times the corresponding factor.

    Parameters
    ----------
    ln_n : callable
        Cover to convert, ``ln_n(eps, n_points)``.
    source : {"linf", "l1"}
        Metric in which `ln_n` counts.
    target : {"linf", "l1"}
        Metric wanted.

    Returns
    -------
    callable
        The cover as a function ``ln_n(eps, n_points)``, the natural logarithm of N.

    Examples
    --------
    >>> from mercer.capacity import convert_cover
    >>> convert_cover(lambda eps, n: 1 / eps, source="mean", target="linf")(0.5, 10)
    20.0
    """
    # Largest ratio of the target's norm to the source's, for n points.
    powers = {
        ("mean", "linf"): 1, ("mean", "l1"): 1, ("l1", "linf"): 0, ("l1", "mean"): -1,
        ("linf", "l1"): 1, ("linf", "mean"): 0,
    }  # fmt: skip
    if source == target:
        return ln_n
    if (source, target) not in powers:
        raise ValueError(f"metrics are 'linf', 'l1' and 'mean'; got {source!r} and {target!r}.")
    power = powers[source, target]
    return lambda eps, n_points: ln_n(eps / float(n_points) ** power, n_points)


@dataclass(frozen=True)
class SumClass:
    """The cover of sums f + g: N(tau eps, F) N((1 - tau) eps, G), with the best tau.

    Parameters
    ----------
    first, second : callable
        Covers of the functions f and of the functions g.
    n_shares : int, default=99
        How many values of tau are tried.

    Examples
    --------
    >>> from mercer.capacity import OffsetClass, SumClass
    >>> both = SumClass(lambda eps, n: 1 / eps, OffsetClass(1.0))
    >>> round(both(0.1, 10), 3)
    15.698
    """

    first: Cover
    second: Cover
    n_shares: int = 99

    def __call__(self, eps: float, n_points: int) -> float:
        """Return ln N."""
        shares = (i / (self.n_shares + 1) for i in range(1, self.n_shares + 1))
        return min(
            self.first(t * eps, n_points) + self.second((1 - t) * eps, n_points) for t in shares
        )


@dataclass(frozen=True)
class OffsetClass:
    """The cover of constant functions |b| <= largest: ceil(largest / eps) balls.

    Parameters
    ----------
    largest : float
        Bound on the absolute value of the constants.

    Examples
    --------
    >>> from mercer.capacity import OffsetClass
    >>> round(OffsetClass(1.0)(0.25, 10), 4)
    1.3863
    """

    largest: float

    def __post_init__(self) -> None:
        if not self.largest > 0:
            raise ValueError(f"largest must be positive; got {self.largest!r}.")

    def __call__(self, eps: float, n_points: int) -> float:
        """Return ln N."""
        return math.log(max(1, math.ceil(self.largest / eps * (1 - 1e-12))))


@dataclass(frozen=True)
class ParametricClass:
    """The cover q ln(1 + 2 R / eps) of a ball of radius R in a space of q functions.

    The radius is measured in the maximum norm of the functions; by comparison of volumes.

    Parameters
    ----------
    n_functions : int
        Number q of functions that span the space.
    radius : float
        Radius R of the ball, in the maximum norm.

    Examples
    --------
    >>> from mercer.capacity import ParametricClass
    >>> round(ParametricClass(2, radius=1.0)(0.5, 10), 4)
    3.2189
    """

    n_functions: int
    radius: float

    def __post_init__(self) -> None:
        if self.n_functions < 1 or not self.radius > 0:
            raise ValueError("need at least one function and a positive radius.")

    def __call__(self, eps: float, n_points: int) -> float:
        """Return ln N."""
        return self.n_functions * math.log1p(2 * self.radius / eps)


@bound("ln covering number", "Haussler; Smola, (7.47)", [UNIT_RANGE], trivial=None)
def cover_from_pseudodim(eps: float, vc_dim: float) -> Bound:
    """Return ln N(eps, F, L_1(mu)) from the pseudo-dimension h of a class into [0, 1].

    2 ((2e/eps) ln(2e/eps))^h, for every probability measure mu.

    Parameters
    ----------
    eps : float
        Scale of the cover.
    vc_dim : float
        Pseudo-dimension of the class.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import cover_from_pseudodim
    >>> round(float(cover_from_pseudodim(eps=0.1, vc_dim=2)), 3)
    11.455
    """
    ratio = 2 * math.e / eps
    power = vc_dim * math.log(ratio * math.log(ratio)) if eps < 2 * math.e else 0.0
    return state(
        {"constant": math.log(2), "dimension": power},
        Condition.that("2 <= pseudo-dimension < infinity", 2 <= vc_dim < math.inf, f"{vc_dim:g}"),
        Condition.that("eps <= 1", eps <= 1, f"{eps:g}"),
    )


@bound("ln covering number", trivial=None)
def cover_from_fat(
    eps: float, n_points: int, fat_dim: float, low: float = 0.0, high: float = 1.0,
    variant: str = "cs",
) -> Bound:  # fmt: skip
    """Return ln N(eps, F, l_inf^n) from the fat-shattering dimension d at scale eps / 4.

    Parameters
    ----------
    eps, n_points, fat_dim
        Scale, number of points, fat-shattering dimension d at eps / 4.
    low, high : float
        The functions have values in [low, high].
    variant : {"cs", "sm"}, default="cs"
        "cs": log2 N <= 1 + d log2(2 e n (b-a) / (d eps)) log2(4 n (b-a)^2 / eps^2).
        "sm": the base 4 n / eps without the square, as printed in the thesis; it is smaller, and
        is marked as not proved.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import cover_from_fat
    >>> round(float(cover_from_fat(eps=0.1, n_points=1000, fat_dim=5)), 1)
    865.5
    """
    width = high - low
    if not width > 0 or n_points < 1:
        raise ValueError("need low < high and at least one point.")
    require_choice(variant, "variant", ("cs", "sm"))
    power = 2 if variant == "cs" else 1
    # For larger dimensions the logarithm is too small or negative.
    bits = fat_bits(fat_dim, n_points, width / eps, power) if fat_dim <= n_points else math.inf
    terms = {"constant": math.log(2), "dimension": bits * math.log(2)}
    conditions = [
        Condition.that("fat_dim <= n_points", fat_dim <= n_points, f"{fat_dim:g} <= {n_points}"),
        Condition.that("eps < high - low", eps < width, f"{eps:g} < {width:g}"),
    ]
    if variant == "cs":
        return state(terms, *conditions, reference="Cristianini and Shawe-Taylor, Lemma 4.13")
    proof = "a proof of the base 4 n / eps"
    wrong = Condition(proof, "violated", "the lemma has (b-a)^2 / eps^2")
    return state(terms, *conditions, wrong, reference="Smola, (7.49)")


def fat_bits(fat_dim: float, n_points: int, ratio: float, power: int = 2) -> float:
    """Return d log2(2 e n q / d) log2(4 n q^2), q being the range of the functions over eps.

    So many bits, and one, cover a class of fat-shattering dimension d at eps / 4 on n points
    (Cristianini and Shawe-Taylor, Lemma 4.13); infinite where the lemma says nothing.
    """
    if fat_dim == 0 or math.isinf(fat_dim):
        return float(fat_dim)
    inner = math.log2(2 * math.e * n_points * ratio / fat_dim)
    return fat_dim * inner * math.log2(4 * n_points * ratio**power) if inner > 0 else math.inf


@bound("fat-shattering dimension", "Smola, (7.48)", [UNIT_RANGE], trivial=None)
def fat_p_from_fat_l(margin: float, fat_dim: float) -> Bound:
    """Return the bound on the fat-shattering dimension from the level version at half the margin.

    (2 ceil(1 / (2 gamma)) - 1) times `fat_dim`, which is the level fat-shattering dimension at
    gamma / 2, for functions into [0, 1].

    Parameters
    ----------
    margin : float
        The margin gamma.
    fat_dim : float
        Level fat-shattering dimension at gamma / 2.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import fat_p_from_fat_l
    >>> [float(fat_p_from_fat_l(margin=g, fat_dim=1)) for g in (0.5, 0.25, 0.1)]
    [1.0, 3.0, 9.0]
    """
    factor = 2 * math.ceil(1 / (2 * margin) * (1 - 1e-12)) - 1
    return state({"dimension": factor * fat_dim})


@bound(
    "ln covering number",
    "Bartlett, Kulkarni and Posner; Smola, (7.50)",
    [UNIT_RANGE],
    side="lower",
)
def cover_lower_bound_from_fat_l(fat_dim: float) -> Bound:
    """Return the lower bound on the largest ln N(eps, F, L_1(mu)) from fat-shattering.

    fat_dim / 32 bits, with `fat_dim` the level fat-shattering dimension at 4 eps. An upper bound
    of the same kind exists with unspecified constants.

    Parameters
    ----------
    fat_dim : float
        Level fat-shattering dimension of the class.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import cover_lower_bound_from_fat_l
    >>> round(float(cover_lower_bound_from_fat_l(fat_dim=64)), 4)
    1.3863
    """
    return state({"dimension": fat_dim / 32 * math.log(2)})


@bound("ln covering number", trivial=None)
def cover_radius_margin(
    eps: float, n_samples: int, radius: float, w_norm: float = 1.0, variant: str = "cs"
) -> Bound:
    r"""Return ln N(eps) of linear functions on a ball, through their fat-shattering dimension.

    The dimension at the scale eps / 4 is at most :math:`d = 16 R^2 \Lambda^2 / \epsilon^2`, which a
    general lemma turns into a cover of order :math:`\epsilon^{-2} \ln (1/\epsilon)`. Compare
    `SVClass.from_ball`, which is of order :math:`\epsilon^{-2}`.

    Parameters
    ----------
    eps : float > 0
        The radius of the cover, in the sup norm on the points.
    n_samples : int >= 1
        The number of points m.
    radius : float > 0
        Radius R of a ball around the origin that contains the points.
    w_norm : float > 0, default=1.0
        Bound Lambda on the weight vector.
    variant : {"cs", "sm"}, default="cs"
        "cs": the lemma with its conditions, for functions into [-R Lambda, R Lambda]. "sm":
        :math:`\ln 2 + d \ln(4 m / \epsilon) \log_2 (2 e m \epsilon / (R \Lambda)^2)` as printed in
        Smola's thesis, which drops the 16 in the last logarithm (harmless) and has eps for eps^2 in
        the first (not proved).

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    References
    ----------
    Smola 1998, (8.38) and (8.39).

    Examples
    --------
    >>> from mercer.capacity.entropy import cover_radius_margin
    >>> round(cover_radius_margin(0.5, 1000, 1.0, variant="sm").value)
    6563
    """
    require_choice(variant, "variant", ("cs", "sm"))
    size = (radius * w_norm) ** 2
    d = 16.0 * size / eps**2
    if variant == "cs":
        half = radius * w_norm
        found = cover_from_fat(eps=eps, n_points=n_samples, fat_dim=d, low=-half, high=half)
        return state(found.terms, *found.conditions, reference=found.reference)
    inner = 2.0 * math.e * n_samples * eps / size
    value = d * math.log(4.0 * n_samples / eps) * max(math.log2(inner), 0.0)
    unproved = Condition("a proof of the base 4 m / eps", "violated", "the lemma has eps^2")
    return state({"constant": math.log(2.0), "dimension": value}, unproved,
                 reference="Smola 1998, (8.39)")  # fmt: skip
