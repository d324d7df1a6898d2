"""Covering numbers from combinatorial dimensions: the radius-margin bound for the same class."""

from __future__ import annotations

import math

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.capacity.covers import cover_from_fat


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
    size = (radius * w_norm) ** 2
    d = 16.0 * size / eps**2
    if variant == "cs":
        half = radius * w_norm
        found = cover_from_fat(eps=eps, n_points=n_samples, fat_dim=d, low=-half, high=half)
        return state(found.terms, *found.conditions, reference=found.reference)
    if variant != "sm":
        raise ValueError(f"variant must be 'cs' or 'sm'; got {variant!r}.")
    inner = 2.0 * math.e * n_samples * eps / size
    value = d * math.log(4.0 * n_samples / eps) * max(math.log2(inner), 0.0)
    unproved = Condition("a proof of the base 4 m / eps", "violated", "the lemma has eps^2")
    return state({"constant": math.log(2.0), "dimension": value}, unproved,
                 reference="Smola 1998, (8.39)")  # fmt: skip
