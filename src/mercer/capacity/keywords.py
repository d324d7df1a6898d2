"""The keywords that all functions of this package share, and the values they accept.

One name has one meaning everywhere, so a `Bound` can be recomputed at another sample size or
confidence, and bad input gets the same sentence from every function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple


class Range(NamedTuple):
    """Values that a keyword accepts, in words and as a test."""

    words: str
    accepts: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):  # an integer in Python, a mistake as a count or a probability
        return False
    return isinstance(value, Real) and not math.isnan(float(value))


def _is_integer(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)


def _is_logarithm(value: Any) -> bool:
    return callable(value) or (_is_number(value) and value >= 0)


def _is_share(value: Any) -> bool:
    return isinstance(value, Mapping) or (_is_number(value) and 0 < value <= 1)


FROM_0 = Range("must be an integer of at least 0", lambda v: _is_integer(v) and v >= 0)
FROM_1 = Range("must be an integer of at least 1", lambda v: _is_integer(v) and v >= 1)
SIZE = Range("must be 0 or more and finite", lambda v: _is_number(v) and 0 <= v < math.inf)
POSITIVE = Range("must be positive and finite", lambda v: _is_number(v) and 0 < v < math.inf)
DIMENSION = Range("must be 0 or more (math.inf is allowed)", lambda v: _is_number(v) and v >= 0)
CLASS_SIZE = Range("must be at least 1", lambda v: _is_number(v) and v >= 1)
PROBABILITY = Range("must lie strictly between 0 and 1", lambda v: _is_number(v) and 0 < v < 1)
SHARE = Range("must lie in (0, 1]", _is_share)
BASE = Range("must be larger than 1 and finite", lambda v: _is_number(v) and 1 < v < math.inf)
LOGARITHM = Range("must be a number of at least 0 or a function ln_n(eps, n_points)", _is_logarithm)

KEYWORDS: dict[str, tuple[str, Range]] = {
    "n_samples": ("the number of training points", FROM_1),
    "delta": ("the probability with which the bound may fail", PROBABILITY),
    "vc_dim": ("a dimension of a class of functions", DIMENSION),
    "fat_dim": ("a fat-shattering dimension", DIMENSION),
    "n_hypotheses": ("the size of a finite class", CLASS_SIZE),
    "radius": ("of a ball that contains the data in feature space", POSITIVE),
    "margin": ("", POSITIVE),
    "slack": ("the norm of the slack variables", SIZE),
    "w_norm": ("the norm of the weight vector", SIZE),
    "theta": ("the size from which on a residual counts as an error", POSITIVE),
    "sse": ("the sum of the squared residuals", SIZE),
    "n_errors": ("the number of training errors", FROM_0),
    "n_sv": ("the number of support vectors", FROM_0),
    "emp_risk": ("the mean loss on the training points", SIZE),
    "prior": ("the probability given to this class before the data", SHARE),
    "c": ("the constant that the theorem leaves unspecified", POSITIVE),
    "eps": ("", POSITIVE),
    "ln_n": ("the natural logarithm of a covering number", LOGARITHM),
    "ln_n_slack": ("the natural logarithm of a covering number of slacks", LOGARITHM),
    "n_points": ("the number of points that are covered", FROM_1),
    "n_features": ("the dimension of the space", FROM_1),
    "kl": ("a divergence", DIMENSION),
    "lipschitz": ("the Lipschitz constant of the loss", POSITIVE),
    "loss_range": ("the largest loss", POSITIVE),
    "base": ("of the logarithms", BASE),
    "largest_residual": ("on the training points", SIZE),
}
"""Per keyword: what it is, as the refusal of a value says, and its range."""

MEASURED = frozenset({"margin", "slack", "n_sv", "rank", "sse", "w_norm", "largest_residual", "kl"})
"""Keywords of quantities that are read off a sample or a fitted function."""


def check(arguments: Mapping[str, Any], optional: Collection[str] | None = None) -> None:
    """Raise ValueError if an argument is outside the range of its keyword.

    None is left alone where the argument is optional; without `optional` that is everywhere.
    """
    for name, value in arguments.items():
        if name not in KEYWORDS or (value is None and (optional is None or name in optional)):
            continue
        meaning, allowed = KEYWORDS[name]
        if not allowed.accepts(value):
            subject = f"{name}, {meaning}," if meaning else name
            raise ValueError(f"{subject} {allowed.words}; got {value!r}.")
    errors, samples = arguments.get("n_errors"), arguments.get("n_samples")
    if errors is not None and samples is not None and errors > samples:
        raise ValueError(f"n_errors cannot exceed n_samples; got {errors} errors on {samples}.")
