"""Entropy numbers of the class that a fitted machine belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.capacity.bound import Condition
from mercer.expansion import Expansion
from mercer.geometry import RKHSFunction

from .procedure import EntropyProcedure, entropy_numbers


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
