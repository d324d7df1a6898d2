"""The keywords that all functions of this package share, and the values they accept.

One name has one meaning everywhere, so a `Bound` can be recomputed at another sample size or
confidence, and bad input gets the same sentence from every function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from numbers import Integral, Real
from typing import Any

BOOLEANS = (bool,)  # integers in Python, a mistake as a count or a probability


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and type(value) not in BOOLEANS and not math.isnan(float(value))


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and type(value) not in BOOLEANS and int(value) >= 0


def _is_dimension(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_positive(value: Any) -> bool:
    return _is_number(value) and 0 < value < math.inf


def _is_size(value: Any) -> bool:
    return _is_number(value) and 0 <= value < math.inf


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
        _is_positive,
    ),
    "margin": (
        "margin must be positive and finite",
        _is_positive,
    ),
    "slack": (
        "slack, the norm of the slack variables, must be 0 or more and finite",
        _is_size,
    ),
    "w_norm": (
        "w_norm, the norm of the weight vector, must be 0 or more and finite",
        _is_size,
    ),
    "theta": (
        "theta, the size from which on a residual counts as an error, must be positive and finite",
        _is_positive,
    ),
    "sse": (
        "sse, the sum of the squared residuals, must be 0 or more and finite",
        _is_size,
    ),
    "n_errors": (
        "n_errors, the number of training errors, must be an integer of at least 0",
        _is_count,
    ),
    "n_sv": ("n_sv, the number of support vectors, must be an integer of at least 0", _is_count),
    "emp_risk": (
        "emp_risk, the mean loss on the training points, must be 0 or more and finite",
        _is_size,
    ),
    "prior": (
        "prior, the probability given to this class before the data, must lie in (0, 1]",
        lambda v: isinstance(v, Mapping) or (_is_number(v) and 0 < v <= 1),
    ),
    "c": (
        "c, the constant that the theorem leaves unspecified, must be positive and finite",
        _is_positive,
    ),
    "eps": ("eps must be positive and finite", _is_positive),
    "ln_n": (
        "ln_n, the natural logarithm of a covering number, must be a number of at least 0 or a "
        "function ln_n(eps, n_points)",
        lambda v: callable(v) or _is_dimension(v),
    ),
    "ln_n_slack": (
        "ln_n_slack, the natural logarithm of a covering number of slacks, must be a number of at "
        "least 0 or a function ln_n(eps, n_points)",
        lambda v: callable(v) or _is_dimension(v),
    ),
    "n_points": (
        "n_points, the number of points that are covered, must be an integer of at least 1",
        lambda v: _is_count(v) and v >= 1,
    ),
    "n_features": (
        "n_features, the dimension of the space, must be an integer of at least 1",
        lambda v: _is_count(v) and v >= 1,
    ),
    "kl": ("kl, a divergence, must be 0 or more (math.inf is allowed)", _is_dimension),
    "lipschitz": (
        "lipschitz, the Lipschitz constant of the loss, must be positive and finite",
        _is_positive,
    ),
    "loss_range": ("loss_range, the largest loss, must be positive and finite", _is_positive),
    "base": (
        "base, of the logarithms, must be larger than 1 and finite",
        lambda v: _is_positive(v) and v > 1,
    ),
    "largest_residual": (
        "largest_residual, on the training points, must be 0 or more and finite",
        _is_size,
    ),
}
"""Per keyword: the sentence of the refusal, and the test that accepts a value."""


MEASURED = frozenset({"margin", "slack", "n_sv", "rank", "sse", "w_norm", "largest_residual", "kl"})
"""Keywords of quantities that are read off a sample or a fitted function."""


def check(arguments: Mapping[str, Any], optional: Collection[str] | None = None) -> None:
    """Raise ValueError if an argument is outside the range of its keyword.

    None is left alone where the argument is optional; without `optional` that is everywhere.
    """
    for name, value in arguments.items():
        if value is None and (optional is None or name in optional):
            continue
        if name in MEANINGS:
            sentence, accepts = MEANINGS[name]
            if not accepts(value):
                raise ValueError(f"{sentence}; got {value!r}.")
    errors, samples = arguments.get("n_errors"), arguments.get("n_samples")
    if errors is not None and samples is not None and errors > samples:
        raise ValueError(f"n_errors cannot exceed n_samples; got {errors} errors on {samples}.")
