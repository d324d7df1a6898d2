"""The keywords that all functions of this package share, and the values they accept.

One name has one meaning everywhere, so a `Bound` can be recomputed at another sample size or
confidence, and bad input gets the same sentence from every function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

BOOLEANS = (bool,)  # integers in Python, a mistake as a count or a probability


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and type(value) not in BOOLEANS and not math.isnan(float(value))


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and type(value) not in BOOLEANS and int(value) >= 0


def _is_dimension(value: Any) -> bool:
    return _is_number(value) and value >= 0


MEANINGS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "n_samples": (
        "n_samples, the number of training points, must be an integer of at least 1",
        lambda v: _is_count(v) and v >= 1,
    ),
    "delta": (
        "delta, the probability with which the bound may fail, must lie strictly between 0 and 1",
        lambda v: _is_number(v) and 0 < v < 1,
    ),
    "vc_dim": (
        "vc_dim, a dimension of a class of functions, must be 0 or more (math.inf is allowed)",
        _is_dimension,
    ),
    "fat_dim": (
        "fat_dim, a fat-shattering dimension, must be 0 or more (math.inf is allowed)",
        _is_dimension,
    ),
    "n_hypotheses": (
        "n_hypotheses, the size of a finite class, must be at least 1",
        lambda v: _is_number(v) and v >= 1,
    ),
    "radius": (
        "radius, of a ball that contains the data in feature space, must be positive and finite",
        lambda v: _is_number(v) and 0 < v < math.inf,
    ),
    "margin": (
        "margin must be positive and finite",
        lambda v: _is_number(v) and 0 < v < math.inf,
    ),
    "slack": (
        "slack, the norm of the slack variables, must be 0 or more and finite",
        lambda v: _is_number(v) and 0 <= v < math.inf,
    ),
    "w_norm": (
        "w_norm, the norm of the weight vector, must be 0 or more and finite",
        lambda v: _is_number(v) and 0 <= v < math.inf,
    ),
    "n_errors": (
        "n_errors, the number of training errors, must be an integer of at least 0",
        _is_count,
    ),
    "n_sv": ("n_sv, the number of support vectors, must be an integer of at least 0", _is_count),
    "emp_risk": (
        "emp_risk, the mean loss on the training points, must be 0 or more",
        _is_dimension,
    ),
    "prior": (
        "prior, the probability given to this class before the data, must lie in (0, 1]",
        lambda v: isinstance(v, Mapping) or (_is_number(v) and 0 < v <= 1),
    ),
    "c": (
        "c, the constant that the theorem leaves unspecified, must be positive and finite",
        lambda v: _is_number(v) and 0 < v < math.inf,
    ),
    "eps": ("eps must be positive and finite", lambda v: _is_number(v) and 0 < v < math.inf),
    "ln_n": (
        "ln_n, the natural logarithm of a covering number, must be a number of at least 0 or a "
        "function ln_n(eps, n_points)",
        lambda v: callable(v) or _is_dimension(v),
    ),
}
"""Per keyword: the sentence of the refusal, and the test that accepts a value."""


def check(arguments: Mapping[str, Any]) -> None:
    """Raise ValueError if an argument is outside the range of its keyword; None is left alone."""
    for name, value in arguments.items():
        if value is not None and name in MEANINGS:
            sentence, accepts = MEANINGS[name]
            if not accepts(value):
                raise ValueError(f"{sentence}; got {value!r}.")
    errors, samples = arguments.get("n_errors"), arguments.get("n_samples")
    if errors is not None and samples is not None and errors > samples:
        raise ValueError(f"n_errors cannot exceed n_samples; got {errors} errors on {samples}.")
