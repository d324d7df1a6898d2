"""The two kinds of statement that a certificate makes: bounds on the optimum, or none.

Everything that is optimised ends here. `bounded` is for convex problems, relaxations and closed
forms, where a dual value bounds the optimum from below; `local` is for searches that only say how
flat the objective is where they ended.
"""

from __future__ import annotations

import math
from typing import Any

from ..certificate import Certificate


def bounded(
    status: str,
    primal: float,
    dual: float,
    *,
    size: float | None = None,
    violation: float = math.nan,
    rounding: float = 0.0,
    convexity: str = "theorem",
    assumes: str | None = None,
    eigenvalue: float | None = None,
    gap_limit: float = math.inf,
    too_wide: str = "iteration_limit",
    **work: Any,
) -> Certificate:
    """Return the certificate of a model whose problem has its optimum between two values.

    `primal`: at least the objective of the model. `dual`: at most the optimum. Both include what
    `rounding` can contribute. `size`: what the gap is relative to,
    the sum of the absolute terms of the primal; default: the primal value. `convexity`, `assumes`,
    `eigenvalue`: why the gap is a bound; where convexity was refuted there is none, and a solver
    that reached its tolerance found a stationary point. `gap_limit`: the relative gap beyond which
    a tolerance counts as missed, with the status `too_wide`. `work`: counts, seconds, precision.
    """
    gap = primal - dual
    size = primal if size is None else size
    relative = gap / size if size > 0.0 and math.isfinite(gap) else abs(gap)
    if convexity == "refuted":
        primal = dual = gap = relative = rounding = math.nan
        status, assumes = "stationary" if status == "optimal" else status, None
    elif status in ("optimal", "stationary") and not relative <= gap_limit:
        status = too_wide
    return Certificate(
        status,
        primal,
        dual,
        gap,
        relative,
        violation,
        assumes=assumes,
        rounding=rounding,
        convexity=convexity,
        eigenvalue=eigenvalue,
        **work,
    )


def local(status: str, objective: float, violation: float = math.nan, **work: Any) -> Certificate:
    """Return the certificate of a search of a local optimum, which no dual value bounds.

    `violation`: the slope of the objective where the search ended. `work`: counts and seconds.
    """
    nan = math.nan
    return Certificate(status, objective, nan, nan, nan, violation, **work)
