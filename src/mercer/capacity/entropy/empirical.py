r"""Scaling operators from data: ellipsoids with several radii around the features of a sample.

Instead of the spectrum of the kernel, the shape of the data in feature space is measured: with
orthonormal directions e_1, ..., e_{j-1} (leading kernel principal components) and nonincreasing
radii r_1 >= ... >= r_j, the operator B scales direction t by r_t and all others by r_j. If

.. math:: \rho^2 = \max_x \sum_{t < j} \langle e_t, \Phi(x) \rangle^2 / r_t^2
          + \|P^\perp \Phi(x)\|^2 / r_j^2 ,

then the features lie in :math:`\rho B U`. For radii of an ellipsoid around the data
:math:`\rho \le \sqrt 2`; the largest projections on principal components are half sides of a *box*,
for which that need not hold, so that rho is computed here. `SOURCES` says for which objects radii
hold, by where the sample comes from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.kernels import resolve
from mercer.objects.parameters import integer, positive, require_choice

from .diagonal import FACTOR, diagonal_entropy
from .inputs import Array, decreasing_radii, eigen, log_counts, number, square, whole_counts
from .operators import PROVED, constant_condition, maurey_factor

__all__ = ["EmpiricalScaling", "estimate_radii", "n_crit", "radii_from_gram"]


REFERENCE = "Smola 1998, (8.42) to (8.45)"
SOURCES = {
    "transductive": Condition(
        "no object but those of the matrix will be evaluated", "unknown", "training and test data"
    ),
    "unlabelled": Condition(
        "later objects lie in the ellipsoid", "unknown",
        "with probability 1 - eta, from unlabelled data of the same distribution",
    ),
    "domain": Condition(
        "the objects drawn from the domain reach its extremes", "unknown", "Monte Carlo"
    ),
    "training": Condition(
        "later objects lie in the ellipsoid of the training sample", "unknown",
        "needs covering numbers of 2 m points from m (Shawe-Taylor and Williamson 1999)",
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class EmpiricalScaling:
    """An ellipsoid around the features of a sample.

    Attributes
    ----------
    radii : ndarray of shape (n_radii,)
        Radii r_1 >= ... >= r_j; the last holds for all directions that are not listed.
    excess : float
        The factor rho by which the ellipsoid has to be enlarged to contain the features; sqrt(2)
        where the radii are those of an ellipsoid.
    conditions : tuple of Condition
        For which objects the radii hold.
    ball : float, optional
        Radius of a ball around the origin that contains the features; by default excess times r_1.

    Examples
    --------
    >>> from mercer.capacity.entropy import EmpiricalScaling
    >>> B = EmpiricalScaling([1.0, 0.5, 0.1])
    >>> round(B.eps(0.0) / 6 / 2 ** 0.5, 9)
    1.0
    """

    radii: Any
    excess: float = math.sqrt(2.0)
    conditions: tuple[Condition, ...] = (SOURCES["training"],)
    ball: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "radii", decreasing_radii(self.radii))
        positive(self.excess, "excess")

    @classmethod
    def from_gram(
        cls, K: Any, n_radii: int, *, source: str = "training", trim: float = 0.0
    ) -> EmpiricalScaling:
        """Return the ellipsoid along the leading principal components of a kernel matrix.

        Parameters
        ----------
        K : array-like of shape (n, n)
            Kernel matrix of the objects.
        n_radii : int >= 1
            The number j of radii, of which j - 1 have a direction.
        source : {"transductive", "unlabelled", "domain", "training"}, default="training"
            Role of the objects, which determines whether the radii hold for other objects.
        trim : float in [0, 1), default=0
            Fraction of the objects, those with the largest extent, that may lie outside. A
            heuristic against outliers: the bound then holds for the others only.
        """
        require_choice(source, "source", SOURCES)
        if not 0.0 <= trim < 1.0:
            raise ValueError(f"trim must lie in [0, 1); got {trim!r}.")
        projections, square = projections_of(K)
        j = min(integer(n_radii, "n_radii", minimum=1), projections.shape[1])
        leading = projections[:, : j - 1]
        rest = np.sqrt(np.maximum(square - (leading**2).sum(axis=1), 0.0))
        keep = 1.0 - trim
        last = float(np.quantile(rest, keep))
        last = max(last, float(np.finfo(np.float64).eps) * math.sqrt(square.max()))
        extents = np.quantile(np.abs(leading), keep, axis=0) if j > 1 else np.zeros(0)
        order = np.argsort(-extents, kind="stable")
        radii = np.append(np.maximum(extents[order], last), last)
        forms = (leading[:, order] ** 2 / radii[:-1] ** 2).sum(axis=1) + rest**2 / last**2
        found: tuple[Condition, ...] = (SOURCES[source],)
        if trim > 0:
            found += (Condition(f"{trim:.3g} of the objects may be ignored", "violated", "trim"),)
        excess = math.sqrt(float(np.quantile(forms, keep)))
        return cls(radii, excess, found, math.sqrt(float(np.quantile(square, keep))))

    def eps(self, ln_n: Any) -> Any:
        """Return 6 rho times the supremum of the geometric means, for arrays of ln n."""
        # Beyond the list all radii are the last one, towards which the means tend.
        exponents = log_counts(ln_n)
        means = np.asarray(diagonal_entropy(self.radii, exponents).lower)
        return number(FACTOR * self.excess * np.maximum(means, self.radii[-1]))

    @bound("entropy number of the scaling operator", REFERENCE, trivial=None)
    def entropy(self, ln_n: float) -> Bound:
        """Return the bound on the entropy number of the scaling operator."""
        return state({"entropy": float(self.eps(ln_n))}, *self.conditions)

    @bound("entropy number of the class", REFERENCE, trivial=None)
    def entropy_T(  # noqa: N802
        self, ln_n: float, n_samples: int, w_norm: float = 1.0, c: float = PROVED
    ) -> Bound:
        r"""Return the bound on the entropy number of functions with bounded weights on m points.

        .. math:: \epsilon_n(T) \le 6 \rho\, c\, \Lambda\, r_j\,
                  M\bigl(\lfloor n / n_j \rfloor\bigr)

        minimised over j: the radius of the data is replaced by r_j at the price of n / n_j balls.
        Printed with the ceiling of n / n_j; n_j t <= n needs the floor, at least 2. The bound of
        the single ball, without the factors 6 and rho, is among the candidates.

        Parameters
        ----------
        ln_n : float >= 0
            Natural logarithm of n.
        n_samples : int >= 1
            The number of points m.
        w_norm, c
            As for `SVClass`.
        """
        m = float(n_samples)
        left = whole_counts(np.maximum(ln_n - n_crit(self.radii), 0.0))
        usable = left >= math.log(2.0)
        values = FACTOR * self.excess * c * self.radii[usable]
        values *= maurey_factor(left[usable] / math.log(2.0), m)
        ball = self.excess * self.radii[0] if self.ball is None else self.ball
        single = ball * min(1.0, c * float(maurey_factor(max(ln_n, 1e-300) / math.log(2.0), m)))
        value = w_norm * min(single, float(values.min()) if len(values) else math.inf)
        return state({"entropy": value}, *self.conditions, constant_condition(c))


def estimate_radii(
    kernel: Any,
    X: Any = None,
    *,
    source: str,
    n_radii: int,
    domain: Any = None,
    n_draws: int = 500,
    random_state: int = 0,
    trim: float = 0.0,
) -> EmpiricalScaling:
    """Return the ellipsoid of a sample in feature space, with what it is valid for.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The kernel.
    X : objects, optional
        Training and test objects together ("transductive"), other objects from the same
        distribution ("unlabelled"), or the training objects ("training").
    source : {"transductive", "unlabelled", "domain", "training"}
        Where the objects come from; "domain" draws them uniformly from a box.
    n_radii : int >= 1
        The number of radii.
    domain : tuple (low, high), optional
        Opposite corners of the box.
    n_draws : int, default=500
        How many points to draw from the domain.
    random_state : int, default=0
        Seed of the draws.
    trim : float in [0, 1), default=0
        See `EmpiricalScaling.from_gram`.

    Returns
    -------
    EmpiricalScaling
        Radii and conditions. With more objects of the same kind, all radii of a given set of
        directions grow or stay.

    References
    ----------
    Smola 1998, section 8.4.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import estimate_radii
    >>> from mercer.kernels import RBF
    >>> box = estimate_radii(RBF(gamma=1.0), source="domain", domain=(0, 1), n_radii=3, n_draws=50)
    >>> len(box.radii), "Monte Carlo" in str(box.conditions[0])
    (3, True)
    """
    if (source == "domain") != (domain is not None) or (source == "domain") == (X is not None):
        raise ValueError('give objects X, or source="domain" with a box domain=(low, high).')
    if domain is not None:
        low, high = (np.atleast_1d(np.asarray(end, dtype=np.float64)) for end in domain)
        rng = np.random.default_rng(random_state)
        X = rng.uniform(low, high, size=(n_draws, len(low)))
    K = np.asarray(resolve(kernel).bind(X)(X), dtype=np.float64)
    return EmpiricalScaling.from_gram(K, n_radii, source=source, trim=trim)


def n_crit(radii: Any) -> Array:
    r"""Return the logarithms of the numbers n_j at which each radius is used to the full.

    :math:`n_j = \lceil r_1 \cdots r_j / r_j^j \rceil` balls bring the entropy number of the scaling
    operator with j radii to :math:`6 \rho\, r_j`. Only r_j and the product are needed.

    Parameters
    ----------
    radii : array-like of shape (n_radii,)
        Radii, nonincreasing, > 0.

    Returns
    -------
    ndarray of shape (n_radii,)
        ln n_j, nondecreasing.

    Notes
    -----
    The brackets of (8.44) are lost in print. They must be the ceiling: with the floor, the
    geometric mean exceeds r_j.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import n_crit
    >>> np.exp(n_crit([1.0, 0.5, 0.5])).round(6)
    array([1., 2., 2.])
    """
    logs = np.log(decreasing_radii(radii))
    raw = np.maximum(np.cumsum(logs) - np.arange(1, len(logs) + 1) * logs, 0.0)
    # Where n is large, the ceiling does not change its logarithm.
    small = raw < 30.0
    raw[small] = np.log(np.ceil(np.exp(raw[small]) * (1.0 - 1e-12)))
    return raw


def radii_from_gram(K: Any, centre: bool = False) -> Array:
    r"""Return the largest projections on kernel principal components.

    .. math:: r_i = \sqrt{\lambda_i} \max_j |\alpha_{ij}| \le \sqrt{\lambda_i}

    with the eigenvalues and unit eigenvectors of the kernel matrix.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix.
    centre : bool, default=False
        Whether to subtract the mean in feature space first, as kernel PCA does; the bounds of this
        package are about balls around the origin and do not.

    Returns
    -------
    ndarray
        Radii, sorted. They are half sides of a box around the features, not radii of an ellipsoid.

    References
    ----------
    Smola 1998, section 8.4.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import radii_from_gram
    >>> radii_from_gram([[4.0, 0.0], [0.0, 1.0]])
    array([2., 1.])
    """
    matrix = np.asarray(K, dtype=np.float64)
    if centre:
        mean = matrix.mean(axis=0)
        matrix = matrix - mean - mean[:, None] + mean.mean()
    projections, _ = projections_of(matrix)
    return np.sort(np.abs(projections).max(axis=0))[::-1]


def projections_of(K: Any) -> tuple[Array, Array]:
    """Return the projections of the features on the principal components, and squared lengths."""
    matrix = square(K)
    values, vectors = eigen(matrix)
    kept = values > len(matrix) * np.finfo(np.float64).eps * values[-1]
    return (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1], np.diagonal(matrix).copy()
