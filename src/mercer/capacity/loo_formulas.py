"""Leave-one-out error without refits: bounds and estimates from one fitted machine.

With multipliers alpha_i, slacks xi_i and values f(x_i) of the machine trained on all m rows, each
counts the rows that may be misclassified by the machine trained without them:

    support vectors     alpha_i > 0                                  a bound
    xi-alpha            2 alpha_i R^2 + xi_i >= 1                    a bound; with an intercept, for
                                                                     one price of slack, if machines
                                                                     without one row have free
                                                                     support vectors
    Jaakkola-Haussler   alpha_i k(x_i, x_i) >= y_i f(x_i)            a bound without an intercept
    span                alpha_i S_i^2 >= y_i f(x_i)                  exact while the set of support
                                                                     vectors stays the same
    radius and margin   R^2 / gamma^2                                a bound for hard margins
    GACV                sum_i xi_i + sum_i t_i alpha_i k(x_i, x_i)   an estimate of the hinge loss

The only member of a class is counted by all bounds. R^2 is the largest k(x, x) - k(x, z), without
an intercept the largest k(x, x); S_i is the distance of phi(x_i) from the affine hull of the other
free support vectors (the linear hull where there is no intercept); t_i is 2 where y_i f(x_i) < -1,
1 in the margin, 0 outside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import require_choice

from .bound import Bound, Condition, bound, state
from .measured import Measured, NotApplicableError, measure

__all__ = ["loo_estimates"]

Array = NDArray[np.float64]

MOST_FREE = 5000  # free support vectors whose matrix is inverted
JITTER = 1e-10  # of the largest k(x, x), added to a matrix that may be singular

STABLE = Condition("every machine without one row has a free support vector")
UNCHANGED_SETS = Condition(
    "the sets of free and bounded support vectors stay the same without the row"
)
TITLES = {
    "support_vectors": "support vectors",
    "xi_alpha": "xi-alpha",
    "jaakkola_haussler": "Jaakkola-Haussler",
    "radius_margin": "radius and margin",
    "gacv": "GACV",
    "span": "span",
}
"""The bounds and estimates of this file, as keys and in tables."""

LEAST_SQUARES = "all rows are support vectors, and the leave-one-out error has a closed form"
FIRST_ORDER = Condition("the change of f(x_i) is linear in the change of its target")


@bound("leave-one-out error", "Learning From Data, (8.27)")
def support_vector_bound(n_sv: int, n_samples: int) -> Bound:
    """Return #SV / m: a row that is no support vector is classified as before, correctly."""
    return state({"support vectors": n_sv / n_samples})


@bound("leave-one-out error", "Joachims (2000), xi-alpha estimate with rho = 2")
def xi_alpha_bound(n_flagged: int, n_samples: int) -> Bound:
    """Return the share of rows with 2 alpha_i R^2 + xi_i >= 1."""
    return state({"flagged rows": n_flagged / n_samples})


@bound("leave-one-out error", "Jaakkola and Haussler (1999)")
def jaakkola_haussler_bound(n_flagged: int, n_samples: int) -> Bound:
    """Return the share of rows with alpha_i k(x_i, x_i) >= y_i f(x_i)."""
    return state({"flagged rows": n_flagged / n_samples})


@bound("leave-one-out error", "Vapnik and Chapelle (2000), span rule", [UNCHANGED_SETS])
def span_estimate(n_flagged: int, n_samples: int) -> Bound:
    """Return the share of rows with alpha_i S_i^2 >= y_i f(x_i)."""
    return state({"flagged rows": n_flagged / n_samples})


@bound(
    "leave-one-out squared error",
    "Chang and Lin (2005), span of regression",
    [UNCHANGED_SETS],
    trivial=None,
)
def span_squared_error(squares: float, n_samples: int) -> Bound:
    """Return the mean of (y_i - f(x_i) + beta_i S_i^2)^2."""
    return state({"squares": squares / n_samples})


@bound("leave-one-out error", "Vapnik (1998), radius and margin")
def radius_margin_bound(
    n_samples: int, radius: float, margin: float, factor: float = 1.0, n_lone: int = 0
) -> Bound:
    """Return factor R^2 / (m gamma^2), and the share of rows that are alone in their class."""
    terms = {"margin": factor * (radius / margin) ** 2 / n_samples}
    return state(terms | ({"lone rows": n_lone / n_samples} if n_lone else {}))


@bound("hinge loss", "Wahba, Lin and Zhang (1999), GACV", [FIRST_ORDER], trivial=None)
def gacv_estimate(hinge: float, leverage: float, n_samples: int) -> Bound:
    """Return the generalised approximate cross-validation (hinge + leverage) / m."""
    return state({"training loss": hinge / n_samples, "leverage": leverage / n_samples})


def loo_estimates(
    model: Any, X: Any, y: Any, sample_weight: Any = None, kind: str | None = None
) -> Any:
    """Return bounds and estimates of the leave-one-out error that need no refit.

    Parameters
    ----------
    model : estimator
        A fitted machine.
    X, y, sample_weight
        Training data of the model.
    kind : str, optional
        One of "support_vectors", "xi_alpha", "jaakkola_haussler", "span", "gacv",
        "radius_margin"; raises ValueError if it does not apply to this machine.

    Returns
    -------
    dict of str to Bound, or one Bound if `kind` is given
        Those that apply. Two classes: all. Several classes: "support_vectors". Regression: "span",
        in squared units; it is exact for ridge regression, the squared loss with ``epsilon=0``,
        where every row is a free support vector. One class: none.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.capacity import loo_estimates
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> found = loo_estimates(SVC(kernel="linear", C=float("inf")).fit(X, y), X, y)
    >>> float(found["support_vectors"]), float(found["span"])
    (0.75, 0.75)
    """
    if kind is not None:
        require_choice(kind, "kind", TITLES)
    found, refused = estimates_of(measure(model, X, y, sample_weight))
    if kind is None:
        return found
    if kind not in found:
        raise ValueError(f"{kind} does not apply to this machine: {refused[kind]}.")
    return found[kind]


def estimates_of(m: Measured) -> tuple[dict[str, Bound], dict[str, str]]:
    """Return the estimates that apply to a machine, and for each of the others the reason."""
    if m.least_squares:
        return {}, dict.fromkeys(TITLES, LEAST_SQUARES)
    found: dict[str, Bound] = {}
    refused: dict[str, str] = {}
    makers = _support_vectors, _xi_alpha, _jaakkola_haussler, _radius_margin, _gacv, _span
    for name, make in zip(TITLES, makers, strict=True):
        try:
            found[name] = make(m)
        except NotApplicableError as reason:
            refused[name] = str(reason)
    return found, refused


def _support_vectors(m: Measured) -> Bound:
    if m.kind not in ("binary", "multiclass"):
        raise NotApplicableError("it counts wrong labels, and needs a classifier")
    counted = len(np.union1d(m.model.support_, m.rows[m.lone]))
    return support_vector_bound(counted, m.n_samples).knowing(m.determined)


def _xi_alpha(m: Measured) -> Bound:
    _require_binary(m, ("linear", "hard"))
    r2 = float(m.diagonal.max()) - (m.smallest_value() if m.with_intercept else 0.0)
    flagged = (m.alpha > 0) & (2 * m.alpha * r2 + m.slack >= 1 - _tolerance(m))
    made = xi_alpha_bound(int(np.sum(flagged | m.lone)), m.n_samples)
    made = made.knowing(m.determined, m.fixed_price, m.psd)
    if not m.with_intercept:  # follows from the bound of Jaakkola and Haussler
        return made
    one_price = Condition.that("slack has one price for all rows", m.uniform, "weights")
    return made.knowing(one_price, STABLE)


def _jaakkola_haussler(m: Measured) -> Bound:
    _require_binary(m, ("linear", "hard"))
    flagged = (m.alpha > 0) & (m.alpha * m.diagonal >= m.y * m.values - _tolerance(m))
    made = jaakkola_haussler_bound(int(np.sum(flagged | m.lone)), m.n_samples)
    no_offset = Condition.that(
        "the function has no intercept", not m.with_intercept, f"b = {m.offset:.4g}"
    )
    return made.knowing(no_offset, m.fixed_price, m.psd)


def _span(m: Measured) -> Bound:
    if m.kind not in ("binary", "regression"):
        raise NotApplicableError("it is for one function, of two classes or of a regression")
    if m.loss == "other":
        raise NotApplicableError("it is for a linear or a squared price of slack, not for both")
    left_out = m.values.copy()
    left_out[m.support] = left_out_values(m)
    if m.kind == "regression":
        made = span_squared_error(float(np.sum((m.y - left_out) ** 2)), m.n_samples)
    else:
        wrong = m.y * left_out <= _tolerance(m)
        made = span_estimate(int(np.sum(wrong[m.support])), m.n_samples)
    return made.knowing(m.determined, m.fixed_price, m.psd)


def left_out_values(m: Measured) -> Array:
    """Return f(x_i) of the machine without row i, by the span rule, for the support vectors.

    f_{-i}(x_i) = f(x_i) - beta_i S_i^2. A squared price of slack is a hard constraint for the
    kernel K + D with D_i = xi_i / alpha_i, in which f is f(x_i) + beta_i D_i.
    """
    free, chosen = m.support[m.free], m.support
    if not len(free):
        raise NotApplicableError("it needs a free support vector, and there is none")
    if len(free) > MOST_FREE:
        raise NotApplicableError(
            f"it inverts the matrix of the {len(free)} free support vectors; at most {MOST_FREE}"
        )
    shift = np.zeros(m.n_samples)
    if m.loss == "squared":
        shift[chosen] = m.slack[chosen] / m.alpha[chosen]
    size, offset = len(free), int(m.with_intercept)
    K = m.gram(free, free)
    border = np.zeros((size + offset, size + offset))
    border[:size, :size] = K + np.diag(shift[free] + JITTER * float(m.diagonal.max()))
    border[size:, :size] = border[:size, size:] = 1.0
    border[size:, size:] = 0.0
    inverse = np.linalg.inv(border)
    squared = np.empty(len(chosen))
    with np.errstate(divide="ignore"):  # an infinite span of the only free support vector
        squared[m.free] = 1.0 / np.diag(inverse)[:size]
    bounded = chosen[~m.free]
    if len(bounded):
        across = np.ones((size + offset, len(bounded)))
        across[:size] = m.gram(free, bounded)
        squared[~m.free] = m.diagonal[bounded] - np.sum(across * (inverse @ across), axis=0)
    beta = m.beta[chosen]
    return m.values[chosen] + beta * shift[chosen] - beta * np.maximum(squared, 0.0)


def _gacv(m: Measured) -> Bound:
    _require_binary(m, ("linear",))
    agreement = m.y * m.values
    weight = np.where(agreement < -1, 2.0, np.where(agreement <= 1 + _tolerance(m), 1.0, 0.0))
    made = gacv_estimate(
        float(np.maximum(0.0, 1 - agreement).sum()),
        float(np.sum(weight * m.alpha * m.diagonal)),
        m.n_samples,
    )
    return made.knowing(m.fixed_price, m.psd)


def _radius_margin(m: Measured) -> Bound:
    _require_binary(m, ("hard", "squared"))
    total = float(m.alpha.sum())  # |w|^2, of the enlarged space for squared slacks
    shift = 0.0
    if m.loss == "squared":
        if not m.uniform:
            raise NotApplicableError("it needs one price of slack for all rows, without weights")
        shift = float((m.slack[m.support] / m.alpha[m.support]).max(initial=0.0))
    radius = m.ball_radius if m.with_intercept else m.radius
    made = radius_margin_bound(
        m.n_samples,
        math.sqrt(radius**2 + shift),
        1 / math.sqrt(total),
        4.0 if m.with_intercept else 1.0,
        int(m.lone.sum()),
    )
    return made.knowing(m.fixed_price, m.psd)


def _require_binary(m: Measured, losses: tuple[str, ...]) -> None:
    m.require_two_classes()
    if m.loss not in losses:
        raise NotApplicableError(f"it is for {' or '.join(losses)} margins; this one is {m.loss}")
    m.require_feature_space()


def _tolerance(m: Measured) -> float:
    """Return by how much values of an approximate solution may be off: bounds count such rows."""
    return float(getattr(m.model, "tol", 0.0))
