r"""The scaling operator A that carries the unit ball onto an ellipsoid around all features.

A = diag(R_A a_j) with :math:`R_A = C_k \| (\sqrt{\lambda_j} / a_j)_j \|_2` contains the features in
the image of its unit ball, for any a_j > 0 with R_A finite (an *admissible* operator). Its entropy
numbers, minimised over a, are the heart of all bounds on kernel classes:

.. math:: \epsilon_n(A) \le \inf_a \sup_j 6\, C_k \| (\sqrt{\lambda_s} / a_s)_s \|_2 \,
          n^{-1/j} (a_1 \cdots a_j)^{1/j} .

The infimum has a closed form. In u = ln a the problem is convex, and its optimum follows the
spectrum up to j* and is constant beyond it: with
:math:`w_j = (\lambda_1 \cdots \lambda_j / n^2)^{1/j}` and j* the first j with
:math:`\lambda_{j+1} < w_j`, it is :math:`a_s = \sqrt{\lambda_s}` for s <= j*,
:math:`\sqrt{w_{j*}}` for the others, and the value is
:math:`6\, C_k \sqrt{j^* w_{j*} + \sum_{s > j*} \lambda_s}`.
The value is a valid bound whatever the order of the eigenvalues beyond j*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.optimize

from mercer.capacity.bound import Bound, bound
from mercer.objects.parameters import require_choice

from .diagonal import FACTOR
from .inputs import Array, log_counts, number
from .operators import OperatorEntropy
from .spectra import Spectrum, diagonal_radius

__all__ = ["ScalingEntropy", "ScalingOperator", "entropy_A"]


@dataclass(frozen=True, eq=False)
class ScalingEntropy(Bound):
    """A bound on the entropy number of the scaling operator, with the operator.

    Attributes
    ----------
    scaling : ndarray
        The numbers a_s of the listed eigenvalues, one per distinct eigenvalue.
    index : int
        The index j* up to which the scaling follows the spectrum.
    value : float
        The bound on the entropy number.
    terms : mapping
        Parts of the value by name.
    conditions : tuple of Condition
        Conditions under which the bound holds.
    delta : float or None
        Probability of failure; None for a deterministic bound.
    quantity : str
        What is bounded.
    side : {"upper", "lower"}
        Whether the value is an upper or a lower bound.
    name : str
        Name of the formula.
    inputs : mapping
        Arguments from which it was computed.
    reference : str
        Where the formula is published.
    relative : bool
        Whether an unspecified constant was set to 1.
    trivial : float or None
        Value at which the bound says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import entropy_A
    >>> made = entropy_A(np.exp(-np.arange(1, 60)), 5 * np.log(2))
    >>> round(made.value, 4), made.index
    (1.5727, 4)
    """

    scaling: Any = field(default=None, repr=False)
    index: int = 0


def as_spectrum(spectrum: Any) -> Spectrum:
    """Return a spectrum: of a law of decay its list, of plain eigenvalues one with C_k = 1."""
    if isinstance(spectrum, Spectrum):
        return spectrum
    return spectrum.spectrum() if hasattr(spectrum, "spectrum") else Spectrum(spectrum)


def scaling_entropy(spectrum: Spectrum, ln_n: Any, *, strict: bool = False) -> tuple[Any, Any]:
    """Return sqrt(j* w + rest), without 6 C_k, and the block of j*; for arrays of ln n.

    Where the listed eigenvalues do not reach beyond j*, the value at the end of the list is a valid
    bound, though not the optimum; `strict` raises ValueError there.
    """
    exponents = log_counts(ln_n)
    blocks = spectrum.blocks
    # j* is the first index with 2 ln n < c_j, where c_j are the critical indices of lambda.
    critical = blocks.critical
    block = np.searchsorted(critical, 2.0 * exponents, side="right")
    if strict and spectrum.tail > 0 and (block == len(blocks.logs) - 1).any():
        reach = critical[-1] / 2 if len(critical) else 0.0
        raise ValueError(
            f"the listed eigenvalues serve ln_n below {reach:.4g} only; got "
            f"{float(exponents.max()):.4g}. List more of them (n_shells), unless they are already "
            "below 1e-300, or ask for fewer balls."
        )
    w = np.exp(blocks.log_means(2.0 * exponents, block))
    return np.sqrt(blocks.ends[block] * w + spectrum.remainders[block]), block


@bound(
    "entropy number of the scaling operator",
    "Smola 1998, corollaries 8.3, 8.13 and 8.15",
    trivial=None,
)
def entropy_A(spectrum: Any, ln_n: float, method: str = "closed") -> Bound:  # noqa: N802
    r"""Return the bound on eps_n(A) for the best scaling operator.

    Parameters
    ----------
    spectrum : Spectrum, ExponentialSpectrum, PolynomialSpectrum or array-like
        Eigenvalues of the kernel's integral operator; a list is taken as complete, with C_k = 1.
    ln_n : float >= 0
        Natural logarithm of n.
    method : {"closed", "convex", "family"}, default="closed"
        "closed": the optimum, by one binary search. "convex": the same optimum by a general
        optimiser, for at most 200 distinct eigenvalues. "family": the best
        :math:`a_s = \lambda_s^{\theta/2}` with 0 <= theta < 1, the form in which the literature
        derives its rates; never smaller than the optimum.

    Returns
    -------
    ScalingEntropy
        The bound, with `scaling` (the numbers a_s) and `index` (j*).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import entropy_A
    >>> b = entropy_A(np.exp(-np.arange(1, 60)), 5 * np.log(2))
    >>> round(b.value / 6, 6), b.index
    (0.262111, 4)
    """
    s = as_spectrum(spectrum)
    require_choice(method, "method", ("closed", "convex", "family"))
    if method == "closed":
        value, block = scaling_entropy(s, ln_n, strict=True)
        block = int(block)
        w = math.exp(float(s.blocks.log_means(np.asarray(2.0 * ln_n), np.asarray(block))))
        scaling = np.sqrt(np.where(np.arange(len(s.values)) <= block, s.values, w))
        index = int(s.blocks.ends[block])
    else:
        logs = _convex(s, ln_n) if method == "convex" else _family(s, ln_n)
        scaling = np.exp(logs)
        value, index = _objective(s, logs, ln_n)
    terms = {"entropy": FACTOR * s.C_k * float(value)}
    return ScalingEntropy(
        terms["entropy"], terms, s.conditions, scaling=scaling, index=index, delta=None
    )


def _objective(s: Spectrum, logs: Array, ln_n: float) -> tuple[float, int]:
    """Return |sqrt(lambda) / a| sup_j n^(-1/j) (a_1 ... a_j)^(1/j) and the index of the sup."""
    exponents = s.blocks.logs - 2.0 * logs + np.log(s.multiplicities)
    top = exponents.max()
    total = np.exp(exponents - top).sum() + s.tail * math.exp(-2.0 * logs[-1] - top)
    means = (np.cumsum(logs * s.multiplicities) - ln_n) / s.blocks.ends
    best = int(np.argmax(means))
    return math.exp(0.5 * (math.log(total) + top) + means[best]), int(s.blocks.ends[best])


def _family(s: Spectrum, ln_n: float) -> Array:
    def value(theta: float) -> float:
        return math.log(_objective(s, theta / 2 * s.blocks.logs, ln_n)[0])

    grid = np.linspace(0.0, 1.0, 65)[:-1]
    start = float(grid[int(np.argmin([value(t) for t in grid]))])
    ends = (max(0.0, start - 1 / 64), min(1.0 - 1e-9, start + 1 / 64))
    found = scipy.optimize.minimize_scalar(value, bounds=ends, method="bounded")
    return (found.x if value(found.x) <= value(start) else start) / 2 * s.blocks.logs


def _convex(s: Spectrum, ln_n: float) -> Array:
    """Return ln a that minimises the objective, by sequential quadratic programming."""
    n = len(s.values)
    if n > 200:
        raise ValueError(f'method="convex" takes at most 200 distinct eigenvalues; got {n}.')
    counts, ends = s.multiplicities, s.blocks.ends
    # Scale-free: ln a_n = ln sqrt(lambda_n) is fixed by adding a constant afterwards.
    means = np.tril(np.ones((n, n))) * counts / ends[:, None]

    def value(z: Array) -> tuple[float, Array]:
        e = s.blocks.logs - 2.0 * z[:-1] + np.log(counts)
        e = np.append(e, math.log(s.tail) - 2.0 * z[-2]) if s.tail > 0 else e
        top = e.max()
        weights = np.exp(e - top)
        share = weights / weights.sum()
        slope = -share[:n].copy()
        if s.tail > 0:
            slope[-1] -= share[-1]
        return 0.5 * (math.log(weights.sum()) + top) + z[-1], np.append(slope, 1.0)

    start = np.append(0.25 * s.blocks.logs, 0.0)
    start[-1] = float((means @ start[:-1] - ln_n / ends).max())
    epigraph = np.hstack([-means, np.ones((n, 1))])
    order = np.hstack([np.eye(n)[:-1] - np.eye(n, k=1)[:-1], np.zeros((n - 1, 1))])
    fixed = np.zeros(n + 1)
    fixed[0] = 1.0
    constraints = [
        {"type": "ineq", "fun": lambda z: epigraph @ z + ln_n / ends, "jac": lambda z: epigraph},
        {"type": "eq", "fun": lambda z: fixed @ z - start[0], "jac": lambda z: fixed},
    ]
    if n > 1:
        constraints.append({"type": "ineq", "fun": lambda z: order @ z, "jac": lambda z: order})
    found = scipy.optimize.minimize(
        value,
        start,
        jac=True,
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return np.asarray(found.x[:-1])


class ScalingOperator(OperatorEntropy):
    r"""A diagonal operator whose image of the unit ball contains all features.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel.
    a : array-like, optional
        Positive numbers a_j, nonincreasing, one per eigenvalue (repeated by multiplicity); the
        last serves all others. By default each entropy number is that of its own best operator.

    Attributes
    ----------
    radius : float
        R_A, infinite if the operator is not admissible.
    is_admissible : bool
        Whether the radius is finite.

    References
    ----------
    Smola 1998, (8.14) to (8.16).

    Examples
    --------
    >>> from mercer.capacity.entropy import ScalingOperator
    >>> A = ScalingOperator([4.0, 1.0], a=[1.0, 0.5])
    >>> round(A.radius**2, 9), A.is_admissible
    (8.0, True)
    """

    def __init__(self, spectrum: Any, a: Any = None) -> None:
        self.spectrum = as_spectrum(spectrum)
        if a is None:
            self.a = None
            self.radius = self.spectrum.radius
            best = FACTOR * self.spectrum.C_k
            super().__init__(
                lambda ln_n: best * scaling_entropy(self.spectrum, ln_n)[0], self.radius
            )
            return
        scaling = np.asarray(a, dtype=np.float64)
        if scaling.ndim != 1 or not (scaling > 0).all() or (np.diff(scaling) > 0).any():
            raise ValueError("a must be a list of positive numbers that do not increase.")
        self.a = scaling
        self.radius = diagonal_radius(self.spectrum, 1.0 / scaling)
        logs = np.log(scaling)
        means, ends = np.cumsum(logs), np.arange(1, len(scaling) + 1)

        def eps(ln_n: Array) -> Array:
            # Beyond the list a is constant; the mean tends to that constant.
            top = ((means[:, None] - ln_n) / ends[:, None]).max(axis=0)
            return FACTOR * self.radius * np.exp(np.maximum(top, logs[-1]))

        super().__init__(eps, self.radius * float(scaling[0]))

    @property
    def is_admissible(self) -> bool:
        """Whether all features lie in the image of the unit ball."""
        return math.isfinite(self.radius)

    def apply_inverse(self, features: Any) -> Array:
        """Return A^-1 applied to rows of features; all lie in the unit ball.

        Parameters
        ----------
        features : array-like of shape (n, n_terms)
            Mercer coordinates, in the order of the eigenvalues.

        Returns
        -------
        ndarray of shape (n, n_terms)
            The scaled features.
        """
        if self.a is None:
            raise ValueError("the best operator differs from n to n; give the numbers a.")
        rows = np.asarray(features, dtype=np.float64)
        factors = np.append(self.a, np.full(rows.shape[1], self.a[-1]))[: rows.shape[1]]
        return rows / (self.radius * factors)


def eps_of(spectrum: Any, ln_n: Any) -> Any:
    """Return the bounds 6 C_k sqrt(j* w + rest) on eps_n(A) for arrays of ln n."""
    s = as_spectrum(spectrum)
    return number(FACTOR * s.C_k * scaling_entropy(s, ln_n)[0])
