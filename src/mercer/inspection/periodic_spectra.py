"""The Fourier coefficients of periodic kernels on the line."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any, NamedTuple

import numpy as np

from mercer.kernels import Kernel
from mercer.objects.parameters import integer, positive, require_choice

from .fourier_spectra import METHODS, require_kernel, terms

_MOST = 1 << 16  # samples of a period


def fourier_coefficients(
    kernel: Kernel, n_terms: int = 16, *, period: float | None = None, method: str = "auto"
) -> np.ndarray:
    r"""Return the coefficients of a periodic kernel as a series of cosines.

    .. math:: k(x, z) = \sum_{n \ge 0} a_n \cos(2\pi n (x - z) / T)

    It is positive semidefinite exactly if no coefficient is negative; each a_n is the weight of
    the features sin and cos of frequency n (Cristianini and Shawe-Taylor 2000, example 3.9).

    Parameters
    ----------
    kernel : Kernel
        A bound kernel of x - z on the real line with the period T.
    n_terms : int >= 1, default=16
        How many coefficients to return.
    period : float > 0, optional
        The period T; by default the one that the kernel states, or 2 pi.
    method : {"auto", "closed", "numeric"}, default="auto"
        "closed" insists on the kernel's own method `fourier_coefficients` (or those of the parts
        of a sum or multiple), "numeric" on a discrete transform of its values.

    Returns
    -------
    ndarray of shape (n_terms,)
        a_0, a_1, ...

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import fourier_coefficients
    >>> from mercer.kernels import FromFunction
    >>> wave = FromFunction(lambda A, B: 1 + 0.5 * np.cos(2 * (A - B.T)))
    >>> fourier_coefficients(wave, 4).round(12) + 0.0
    array([1. , 0. , 0.5, 0. ])
    """
    require_kernel(kernel, "fourier_coefficients(kernel, n_terms)")
    integer(n_terms, "n_terms", minimum=1)
    require_choice(method, "method", METHODS)
    kernel.require_bound("on the real line")
    stated = stated_coefficients(kernel)
    usual = stated is not None and period in (None, stated.period)
    if method != "numeric" and stated is not None and usual:
        return stated.coefficients(n_terms)
    if method == "closed":
        raise ValueError(
            f"{kernel!r} states no closed form of its Fourier coefficients with this period; use "
            "method='numeric'."
        )
    usual_period = 2 * pi if stated is None else stated.period
    T = positive(usual_period if period is None else period, "period")
    _refuse_other_functions(kernel, T)
    samples = 1 << max(6, int(np.ceil(np.log2(8 * n_terms))))
    a = _coefficients(kernel, T, samples)
    while samples < _MOST:
        samples *= 2
        finer = _coefficients(kernel, T, samples)
        settled = np.abs(finer[:n_terms] - a[:n_terms]).max() <= 1e-13 * np.abs(finer).max()
        a = finer
        if settled:
            break
    return a[:n_terms]


class StatedSeries(NamedTuple):
    """The series that a periodic kernel states."""

    period: float  # the period
    # a function of the number of terms that returns a_0, a_1,
    coefficients: Callable[[int], np.ndarray]


def stated_coefficients(kernel: Kernel) -> StatedSeries | None:
    """Return the series that a periodic kernel, or a sum of such, states; None without one."""
    constant, others = terms(kernel)
    series: list[tuple[float, Any]] = [
        (scale, getattr(term, "fourier_coefficients", None)) for scale, term in others
    ]
    if not series or any(own is None for _, own in series):
        return None
    periods = {float(term.period) for _, term in others}  # type: ignore[attr-defined]
    if len(periods) > 1:
        return None

    def coefficients(n: int) -> np.ndarray:
        waves = sum(scale * own(n) for scale, own in series)
        return waves + constant * (np.arange(n) == 0)

    return StatedSeries(periods.pop(), coefficients)


def _coefficients(kernel: Kernel, period: float, samples: int) -> np.ndarray:
    """Return a_n from equally spaced samples: exact but for frequencies beyond half of them."""
    x = period / samples * np.arange(samples)
    values = kernel(x[:, None], np.zeros((1, 1)))[:, 0]
    a = np.fft.rfft(values).real / samples
    a[1:-1] *= 2
    return a


def _refuse_other_functions(kernel: Kernel, period: float) -> None:
    rng = np.random.default_rng(0)
    u, t = (period * rng.random((16, 1)) for _ in range(2))
    origin = np.zeros((1, 1))
    direct = kernel(u, origin)[:, 0]
    allowed = 1e-8 * max(float(np.abs(direct).max()), abs(float(kernel(origin)[0, 0])))
    if np.abs(kernel(u + period, origin)[:, 0] - direct).max() > allowed:
        raise ValueError(
            f"{kernel!r} does not have the period {period:.6g}; give the right one, or use "
            "fourier_transform for a kernel that decays."
        )
    moved = np.array([kernel(a[None], b[None])[0, 0] for a, b in zip(u + t, t, strict=True)])
    if np.abs(moved - direct).max() > allowed:
        raise ValueError(f"{kernel!r} is not a function of x - z alone.")
