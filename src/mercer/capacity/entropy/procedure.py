"""From a kernel to a bound on the risk, in six steps and one call.

1. Choose the kernel and its width.
2. Choose the period of its extension (`choose_period`).
3. Bound the entropy numbers of the scaling operator (`entropy_A` of the periodic spectrum).
4. Bound those of the class on m points (`SVClass`, `LPClass`).
5. Take the loss into account: its Lipschitz constant rescales the radius, its range the deviation.
6. Insert the covering numbers into a uniform convergence bound (`overall_bound`).

No single theorem covers all six, on purpose: which statistical result applies depends on the
problem. `EntropyProcedure` keeps every intermediate quantity, and its covering numbers can be
passed to any bound that asks for them (Smola 1998, sections 8.1.1 and 8.8). `expansion_entropy`
starts from a fitted function, `compare_structures` compares two machines on one kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer.capacity import keywords
from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.capacity.bound_tables import Comparison, compare
from mercer.capacity.uniform import UniformBound, overall_bound
from mercer.expansion import Expansion
from mercer.geometry import RKHSFunction
from mercer.kernels import Kernel, resolve
from mercer.objects.parameters import integer, positive, require_choice

from .function_classes import KernelClass, LPClass, SVClass
from .inputs import Array
from .operators import PROVED
from .periodic import PeriodicSpectrum, Spectrum, choose_period, wrap_error
from .scaling import eps_of

__all__ = [
    "EntropyProcedure",
    "compare_structures",
    "entropy_numbers",
    "expansion_entropy",
    "kernel_entropy",
]


MACHINES = {"sv": SVClass, "lp": LPClass}


@dataclass(frozen=True, eq=False)
class EntropyProcedure:
    """The steps from a kernel to covering numbers, made by `entropy_numbers`.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    radius : float
        The data lie in a ball of this radius in input space.
    n_samples : int
        The number of points m.
    period : float
        The period of the extension.
    spectrum : PeriodicSpectrum
        Its eigenvalues.
    function_class : SVClass or LPClass
        The class of functions.
    ln_n : ndarray
        Natural logarithms of numbers of balls.
    eps_A, eps_T : ndarray
        Bounds on the entropy numbers of the scaling operator and of the class, at these.

    Examples
    --------
    >>> from mercer.capacity import entropy_numbers
    >>> from mercer.kernels import RBF
    >>> made = entropy_numbers(RBF(1.0), radius=1.0, n_samples=100)
    >>> made.n_samples, len(made.ln_n) == len(made.eps_T)
    (100, True)
    """

    kernel: Kernel
    radius: float
    n_samples: int
    period: float
    spectrum: PeriodicSpectrum
    function_class: KernelClass
    ln_n: Array
    eps_A: Array = field(repr=False)  # noqa: N815
    eps_T: Array = field(repr=False)  # noqa: N815

    def log_covering(self, eps: float, n_samples: int | None = None) -> Bound:
        """Return the bound on ln N(eps), by default on m points.

        Parameters
        ----------
        eps : float > 0
            The radius of the balls.
        n_samples : int >= 1, optional
            The number of points.
        """
        m = self.n_samples if n_samples is None else n_samples
        return self.function_class.log_covering(eps, m)

    @bound("risk")
    def generalization_bound(
        self,
        delta: float = 0.05,
        *,
        emp_risk: float = 0.0,
        lipschitz: float = 1.0,
        loss_range: float = 1.0,
        variant: str | UniformBound = "alon",
        n_samples: int | None = None,
    ) -> Bound:
        """Return the bound on the risk, steps 5 and 6.

        Parameters
        ----------
        delta : float, default=0.05
            Probability of failure.
        emp_risk : float, default=0
            Mean loss on the training points.
        lipschitz : float, default=1
            Lipschitz constant of the loss.
        loss_range : float, default=1
            Largest value of the loss.
        variant : str or UniformBound, default="alon"
            The uniform convergence result; see `overall_bound`.
        n_samples : int >= 1, optional
            Another number of points.
        """
        m = self.n_samples if n_samples is None else n_samples
        cover = self.function_class.log_covering
        risk = overall_bound(m, cover, delta, variant, emp_risk, lipschitz, loss_range)
        risk = risk.decide("ln_n bounds ln E[N]", True, "the cover serves every sample")
        return state(
            risk.terms,
            *risk.conditions,
            *self.function_class.conditions(m),
            reference=f"{risk.reference}; covers by {self.function_class.reference}",
            trivial=loss_range,
            inputs={"n_samples": m},
        )

    def __repr__(self) -> str:
        name = type(self.function_class).__name__
        return f"<entropy numbers of {name} with {self.kernel!r}, radius {self.radius:g}>"

    def __str__(self) -> str:
        c = self.function_class
        middle, d = len(self.ln_n) // 2, self.spectrum.dimension
        lines = [
            f"1. kernel       {self.kernel!r}, data within radius {self.radius:g}",
            f"2. period       {self.period:.4g}, in {d} dimension{'s' if d > 1 else ''}",
            f"3. eps_n(A)     {self.eps_A[middle]:.4g} at ln n = {self.ln_n[middle]:.4g}, from "
            f"{len(self.spectrum.values)} distinct eigenvalues",
            f"4. eps_n(T)     {self.eps_T[middle]:.4g} for {type(c).__name__} on "
            f"{self.n_samples} points",
            "5. loss         generalization_bound(lipschitz=, loss_range=)",
            "6. uniform      generalization_bound(delta=, variant=)",
        ]
        return "\n".join(lines)


def entropy_numbers(
    kernel: Any,
    radius: float,
    n_samples: int,
    *,
    dimension: int = 1,
    w_norm: float = 1.0,
    machine: str = "sv",
    offset: float = 0.0,
    c: float = PROVED,
    period: float | None = None,
    wrap_tol: float = 1e-6,
    constant: str = "shells",
    ln_n: Any = None,
    X: Any = None,
    assumptions: tuple[Condition, ...] = (),
) -> EntropyProcedure:
    """Return the entropy numbers of a kernel machine, with everything on the way.

    Parameters
    ----------
    kernel : Kernel or str
        A bound kernel of x - z that decays with the distance.
    radius : float > 0
        The data, also later ones, lie in a ball of this radius around the origin of *input* space.
    n_samples : int >= 1
        The number of points m.
    dimension : int >= 1, default=1
        The number of columns.
    w_norm : float > 0, default=1.0
        Bound on the weight vector ("sv") or on the sum of the absolute coefficients ("lp").
    machine : {"sv", "lp"}, default="sv"
        Support vector machines or linear programming machines.
    offset : float >= 0, default=0
        Bound on the offset b.
    c : float > 0, default=103
        Constant of Maurey's theorem; 1.86 is conjectured.
    period : float > 0, optional
        Period of the extension; by default the smallest that changes kernel values on the data by
        at most `wrap_tol`.
    wrap_tol : float > 0, default=1e-6
        See `choose_period`.
    constant : {"shells", "eigenfunctions"}, default="shells"
        See `Spectrum.from_translation_invariant`. "eigenfunctions" is what the literature uses,
        larger by 2^(d/2).
    ln_n : array-like, optional
        Natural logarithms of n; by default 25 values from 1 to 1000.
    X : array-like of shape (n, dimension), optional
        Data, to check that the radius contains them.
    assumptions : tuple of Condition, default=()
        Further conditions, to be carried by every bound.

    Returns
    -------
    EntropyProcedure
        Prints as the six steps.

    References
    ----------
    Smola 1998, section 8.8.

    Examples
    --------
    >>> from mercer.capacity.entropy import entropy_numbers
    >>> from mercer.kernels import RBF
    >>> steps = entropy_numbers(RBF(gamma=1.0), radius=2.0, n_samples=1000)
    >>> print(steps)
    1. kernel       RBF(gamma=1.0), data within radius 2
    2. period       7.717, in 1 dimension
    3. eps_n(A)     0.2946 at ln n = 31.62, from 65 distinct eigenvalues
    4. eps_n(T)     0.2946 for SVClass on 1000 points
    5. loss         generalization_bound(lipschitz=, loss_range=)
    6. uniform      generalization_bound(delta=, variant=)
    >>> round(steps.log_covering(0.1).value, 1)
    47.8
    """
    keywords.check({"n_samples": n_samples})
    require_choice(machine, "machine", MACHINES)
    k = resolve(kernel)
    b = positive(radius, "radius")
    d = integer(dimension, "dimension", minimum=1)
    inside = Condition(
        "all points, also later ones, lie within the radius in input space",
        "unknown",
        "" if X is None else f"the farthest so far at {_farthest(X, b, d):.4g}",
    )
    v = choose_period(k, b, d, wrap_tol=wrap_tol) if period is None else float(period)
    if not v > 2.0 * b:
        raise ValueError(
            f"period must exceed the diameter {2 * b:g} of the data; got {period!r}: points of "
            "one period would be taken for one another."
        )
    spectrum = Spectrum.from_translation_invariant(k, v, d, constant=constant)
    change = Condition(
        "the machine may use the periodic extension in place of the kernel",
        "unknown",
        f"values on the data differ by at most {wrap_error(k, v, 2.0 * b, d):.2g}",
    )
    spectrum = replace(
        spectrum, conditions=(*spectrum.conditions[:2], inside, change, *assumptions)
    )
    exponents = np.geomspace(1.0, 1000.0, 25) if ln_n is None else np.atleast_1d(ln_n)
    exponents = np.asarray(exponents, dtype=np.float64)
    chosen = MACHINES[machine](spectrum, w_norm, offset=offset, c=c)
    return EntropyProcedure(
        kernel=k,
        radius=b,
        n_samples=n_samples,
        period=v,
        spectrum=spectrum,
        function_class=chosen,
        ln_n=exponents,
        eps_A=np.asarray(eps_of(spectrum, exponents)),
        eps_T=np.asarray(chosen.eps(exponents, n_samples)),
    )


def _farthest(X: Any, radius: float, dimension: int) -> float:
    """Return the largest distance of a point from the origin, which the radius has to reach."""
    points = np.asarray(X, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.shape[1] != dimension:
        raise ValueError(f"X has {points.shape[1]} columns; got dimension={dimension}.")
    farthest = float(np.sqrt((points**2).sum(axis=1)).max())
    if farthest > radius:
        raise ValueError(
            f"radius={radius:g} is smaller than the data: a point lies at the distance "
            f"{farthest:.6g} from the origin. Centre the data, or give a larger radius."
        )
    return farthest


def kernel_entropy(kernel: Any, period: float, dimension: int, ln_n: Any) -> Any:
    """Return bounds on the entropy numbers of the scaling operator of a kernel.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel of x - z, or its Fourier transform.
    period : float > 0
        The period of its extension.
    dimension : int >= 1
        The number of columns.
    ln_n : float or array-like
        Natural logarithms of n.

    Returns
    -------
    float or ndarray
        The bounds on eps_n(A), for all n at once.

    References
    ----------
    Smola 1998, corollary 8.15.

    Examples
    --------
    >>> from mercer.capacity.entropy import kernel_entropy
    >>> from mercer.kernels import RBF
    >>> kernel_entropy(RBF(gamma=1.0), 10.0, 1, [20.0, 100.0]).round(4)
    array([1.4763, 0.0256])
    """
    return eps_of(Spectrum.from_translation_invariant(kernel, period, dimension), ln_n)


def compare_structures(
    spectrum: Any,
    n_samples: int,
    *,
    sv: tuple[float, float],
    lp: tuple[float, float],
    delta: float = 0.05,
    lipschitz: float = 1.0,
    loss_range: float = 1.0,
    c: float = PROVED,
) -> Comparison:
    """Compare a support vector and a linear programming machine by their risk bounds.

    A smaller entropy does not make one class better: capacity is distributed differently, with
    more weight on the leading eigenfunctions in linear programming machines. Both terms count.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel.
    n_samples : int >= 1
        The number of training points.
    sv, lp : tuple of float
        For each machine the bound Lambda that it satisfies and its mean training loss.
    delta : float, default=0.05
        Probability of failure of each bound.
    lipschitz, loss_range : float, default=1
        Of the loss.
    c : float, default=103
        Constant of Maurey's theorem.

    Returns
    -------
    Comparison
        Two bounds, each with the terms "training error" and "deviation".

    References
    ----------
    Smola 1998, section 9.2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import compare_structures
    >>> spectrum = np.exp(-np.arange(1, 40.0))
    >>> table = compare_structures(spectrum, 10**6, sv=(1.0, 0.10), lp=(1.0, 0.12))
    >>> [bound.name for bound in table.bounds]
    ['SVClass', 'LPClass']
    """
    found = []
    for name, (w_norm, emp_risk) in (("sv", sv), ("lp", lp)):
        chosen = (SVClass if name == "sv" else LPClass)(spectrum, w_norm, c=c)
        risk = overall_bound(
            n_samples,
            chosen.log_covering,
            delta,
            emp_risk=emp_risk,
            lipschitz=lipschitz,
            loss_range=loss_range,
        )
        conditions = (*risk.conditions, *chosen.conditions(n_samples))
        found.append(replace(risk, name=type(chosen).__name__, conditions=conditions))
    return compare(*found)


def expansion_entropy(expansion: Any, X: Any, **more: Any) -> EntropyProcedure:
    """Return the entropy numbers of all functions as small as a fitted one.

    The class of functions whose weight vector (for ``machine="lp"`` the sum of the absolute
    coefficients) and offset are no larger than those of the expansion, on points that lie no
    farther from the mean of the data than these do.

    Parameters
    ----------
    expansion : Expansion
        A function with one output, such as ``model.expansion_``, of a kernel of x - z.
    X : array-like of shape (n, d)
        The training points.
    **more
        Further parameters of `entropy_numbers`, such as `machine`, `c` or `wrap_tol`.

    Returns
    -------
    EntropyProcedure
        Its bounds assume what the data do not tell: that norm, offset and radius were fixed
        before the data were seen. Choosing them afterwards needs a structure (`SRM`) or a
        luckiness argument.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import expansion_entropy
    >>> from mercer.expansion import Expansion
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(-1.0, 1.0, 21)[:, None]
    >>> f = Expansion(RBF(gamma=1.0), X, np.full(21, 0.1), intercept=0.2)
    >>> steps = expansion_entropy(f, X)
    >>> steps.radius, steps.function_class.offset, round(steps.function_class.w_norm, 3)
    (1.0, 0.2, 1.651)
    """
    if not isinstance(expansion, Expansion):
        raise TypeError(f"an Expansion is needed; got {type(expansion).__name__}.")
    if expansion.poly_coef is not None:
        raise ValueError(
            "the expansion has an unpenalised linear part, which no norm bounds; cover it "
            "separately with ParametricClass and add the covers with SumClass."
        )
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    # A kernel of x - z does not see where the origin is.
    radius = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    function = RKHSFunction.from_expansion(expansion)
    lp = more.get("machine") == "lp"
    size = float(np.abs(function.coef).sum()) if lp else function.norm()
    offset = abs(float(expansion.intercept))
    read_off = Condition(
        "size, offset and radius were fixed before the samples were seen",
        "unknown",
        f"{size:.4g}, {offset:.4g} and {radius:.4g} are those of this model",
    )
    return entropy_numbers(
        expansion.kernel,
        radius,
        len(points),
        dimension=points.shape[1],
        w_norm=size,
        offset=offset,
        assumptions=(read_off,),
        **more,
    )
