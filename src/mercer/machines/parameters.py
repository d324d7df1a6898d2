"""Checks of constructor parameters: range, type and combinations, in a few microseconds."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from mercer.objects.arrays import Array
from mercer.solvers.ladder import NAMES

from .errors import ParameterError


def check_positive(name: str, value: Any, *, infinite: bool = False) -> float:
    """Return `value` as a float if it is a number > 0, finite unless `infinite` is allowed."""
    number = float(value) if type(value) in (float, int) else _real(name, value)
    if not (number > 0.0 and (infinite or number < math.inf)):
        kind = "a number > 0 (inf is allowed)" if infinite else "a finite number > 0"
        raise ParameterError(f"{name} must be {kind}; got {value!r}.")
    return number


def check_non_negative(name: str, value: Any) -> float:
    """Return `value` as a float if it is a finite number >= 0."""
    number = _real(name, value)
    if not 0.0 <= number < math.inf:
        raise ParameterError(f"{name} must be a finite number >= 0; got {value!r}.")
    return number


def check_fraction(name: str, value: Any) -> float:
    """Return `value` as a float if it lies in (0, 1]."""
    number = _real(name, value)
    if not 0.0 < number <= 1.0:
        raise ParameterError(f"{name} must lie in (0, 1]; got {value!r}.")
    return number


def check_choices(machine: Any, **choices: tuple) -> None:
    """Reject parameters that are not among their choices."""
    for name, options in choices.items():
        value = getattr(machine, name)
        if isinstance(value, bool) or not isinstance(value, str | Integral) or value not in options:
            listed = ", ".join(repr(option) for option in options)
            raise ParameterError(f"{name} must be one of {listed}; got {value!r}.")


def check_flags(machine: Any, *names: str) -> None:
    """Reject anything but True and False."""
    for name in names:
        value = getattr(machine, name)
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name} must be True or False; got {value!r}.")


def check_count(name: str, value: Any, least: int) -> None:
    """Reject anything but an integer of at least `least`."""
    if not _is_integer(value) or value < least:
        raise ParameterError(f"{name} must be an integer >= {least}; got {value!r}.")


def check_numbers(name: str, value: Any) -> Array:
    """Return a number or several as an array."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be a number or a list of numbers; got {value!r}."
        ) from None


_SEEDS = (
    np.random.RandomState,
    np.random.Generator,
    np.random.BitGenerator,
    np.random.SeedSequence,
    type(np.random),
    list,
    tuple,
    np.ndarray,
)


def check_shared(estimator: Any) -> None:
    """Check the parameters that mean the same in all estimators which have them."""
    own = estimator.__dict__
    jobs = own.get("n_jobs", 1)
    if jobs is not None and (not _is_integer(jobs) or jobs == 0):
        raise ParameterError(f"n_jobs must be None or an integer other than 0; got {jobs!r}.")
    if "n_restarts_optimizer" in own:
        check_count("n_restarts_optimizer", own["n_restarts_optimizer"], 0)
    verbose, seed = own.get("verbose", 0), own.get("random_state")
    if not isinstance(verbose, int | np.bool_ | Integral) or verbose < 0:
        raise ParameterError(f"verbose must be a flag or an integer >= 0; got {verbose!r}.")
    if (isinstance(seed, int | Integral) and seed < 0) or not isinstance(
        seed, (int, Integral, type(None), *_SEEDS)
    ):
        raise ParameterError(
            f"random_state must be None, an integer >= 0 or a random generator; got {seed!r}."
        )


def check_common(machine: Any) -> None:
    """Check the parameters that all support vector machines share."""
    check_positive("tol", machine.tol)
    check_positive("cache_size", machine.cache_size)
    if not _is_integer(machine.max_iter) or machine.max_iter < -1:
        raise ParameterError(
            f"max_iter must be an integer >= 0, or -1 for no limit; got {machine.max_iter!r}."
        )
    check_flags(machine, "shrinking", "fit_intercept", "warm_start")
    check_choices(machine, dtype=("auto", "float32", "float64"), solver=NAMES)
    if machine.gap_tol is not None:
        check_positive("gap_tol", machine.gap_tol)
    if machine.time_limit is not None:
        check_positive("time_limit", machine.time_limit)


def cost_constant(C: Any, lam: Any, total_weight: float) -> float:
    """Return the constant C in front of the sum of losses, given as `C` or as `lam`.

    The objective lam |f|^2 + (1 / W) sum_i s_i l_i, with W = sum_i s_i, is the objective 1/2 |f|^2
    + C sum_i s_i l_i divided by C W; hence C = 1 / (2 lam W). 1.0, the default of C, counts as not
    given.
    """
    C = check_positive("C", C, infinite=True)
    if lam is None:
        return C
    if C != 1.0:
        raise ParameterError(
            f"C and lam are two names for one constant (lam = 1 / (2 C W)); got C={C:g} and "
            f"lam={lam!r}. Give one of them."
        )
    return 1.0 / (2.0 * check_positive("lam", lam) * total_weight)


def refuse_lam(machine: Any) -> None:
    """Reject `lam` for a machine whose trade-off is set by nu alone."""
    if machine.lam is not None:
        raise ParameterError(
            f"{type(machine).__name__} has no constant in front of its losses that lam could "
            "replace: nu alone sets the trade-off. Leave lam=None."
        )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | Integral) and not isinstance(value, bool)


def _real(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, float | int | Real):
        raise ParameterError(f"{name} must be a real number; got {value!r}.")
    return float(value)
