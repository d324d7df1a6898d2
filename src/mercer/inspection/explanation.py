"""Explanations of predictions: the training rows for and against an answer, and the columns.

The decision value is a sum over support vectors, f(x) = sum_i v_i k(x_i, x) + b, and its terms say
how much each of them contributes. Where the kernel is a sum over columns, f is a sum of functions
of those columns as well, f(x) = sum_t f_t(x_t) + b. With kernels of order 2, such as ThinPlate, f
has an unpenalised linear part <a, x> besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer.expansion import Expansion, weight_vectors
from mercer.gram import Prepared
from mercer.kernels import (
    ANOVA,
    AdditiveChiSquare,
    Categorical,
    Constant,
    HistogramIntersection,
    Kernel,
    Linear,
    OnColumns,
    Scaled,
    Sum,
)
from mercer.objects.arrays import Array
from mercer.objects.tables import select
from mercer.objects.validation import VECTORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

_SUMS = (Linear, Categorical, HistogramIntersection, AdditiveChiSquare, Constant)
"""Kernels that are sums over columns."""


@dataclass(frozen=True)
class Explanation:
    """The parts of one decision value; prints as a table.

    Attributes
    ----------
    value : float
        f(x), positive for `label`.
    label : object or None
        The class that is predicted; None for a machine without classes.
    rival : object or None
        The other class of the binary problem that is explained.
    intercept : float
        The constant b.
    rows : array of int of shape (n_terms,)
        Training rows of the support vectors, the largest contribution first. Of a sparse Gaussian
        process, of its inducing points; their own numbers where their places were optimised.
    contributions : array of shape (n_terms,)
        v_i k(x_i, x), in the same order; positive ones support the prediction.
    columns : dict of str to float, or None
        The parts of a kernel that is a sum over columns; None for other kernels. They sum up to
        the contributions and the linear part.
    linear : float
        The linear part <a, x> of machines with a kernel of order 2, 0 for others. The intercept,
        the linear part and the contributions sum up to `value`.

    Examples
    --------
    >>> from mercer import SVC, explain
    >>> parts = explain(SVC(kernel="linear").fit([[0.0], [1.0]], [0, 1]), [2.0])
    >>> int(parts.label), parts.rows.tolist()
    (1, [1, 0])
    """

    value: float
    label: Any
    rival: Any
    intercept: float
    rows: NDArray[np.intp]
    contributions: Array
    columns: dict[str, float] | None
    linear: float = 0.0

    def in_favour(self, n: int = 5) -> list[tuple[int, float]]:
        """Return the training rows with the largest positive contributions."""
        chosen = np.flatnonzero(self.contributions > 0.0)[:n]
        return [(int(self.rows[i]), float(self.contributions[i])) for i in chosen]

    def against(self, n: int = 5) -> list[tuple[int, float]]:
        """Return the training rows with the largest negative contributions."""
        chosen = np.flatnonzero(self.contributions < 0.0)[::-1][:n]
        return [(int(self.rows[i]), float(self.contributions[i])) for i in chosen]

    def plot(self, ax: Axes | None = None, n: int = 8) -> Axes:
        """Draw the largest contributions as bars, of columns where the kernel is a sum over them.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        n : int, default=8
            Bars on each side.
        """
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure(layout="constrained").add_subplot()
        bars = list(self._bars(n))[::-1]
        colours = ["#0072b2" if value > 0.0 else "#d55e00" for _, value in bars]
        ax.barh(range(len(bars)), [value for _, value in bars], color=colours)
        ax.set_yticks(range(len(bars)), [name for name, _ in bars])
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.set_xlabel("contribution to the decision value")
        ax.set_title(self._title())
        return ax

    def _bars(self, n: int) -> Iterator[tuple[str, float]]:
        if self.columns is not None:
            pairs = sorted(self.columns.items(), key=lambda pair: -abs(pair[1]))[: 2 * n]
            yield from sorted(pairs, key=lambda pair: -pair[1])
            return
        yield from ((f"row {i}", value) for i, value in self.in_favour(n))
        yield from ((f"row {i}", value) for i, value in self.against(n)[::-1])

    def _title(self) -> str:
        if self.label is None:
            return f"f(x) = {self.value:.4g}"
        against = "" if self.rival is None else f" against {self.rival}"
        return f"{self.label}{against}: f(x) = {self.value:.4g}"

    def __str__(self) -> str:
        lines = [self._title(), f"  intercept    {self.intercept:+.4g}"]
        if self.linear:
            lines.append(f"  linear part  {self.linear:+.4g}")
        for title, pairs in (("for", self.in_favour()), ("against", self.against())):
            lines += [f"  {title:<8} row {i:<6} {value:+.4g}" for i, value in pairs]
        if self.columns is not None:
            largest = sorted(self.columns.items(), key=lambda pair: -abs(pair[1]))[:10]
            lines += [f"  column   {name}: {value:+.4g}" for name, value in largest]
        return "\n".join(lines)


def explain(model: Any, x: Any) -> Explanation:
    """Return the contributions of support vectors and columns to a prediction.

    Of several classes the binary problem of the predicted class and the runner-up is explained
    (one against one), or that of the predicted class (one against the rest).

    Parameters
    ----------
    model : fitted machine, pipeline or search
        A machine with an expansion (support vector and ridge machines, the mean of Gaussian
        process regressors), or a pipeline that ends in one. Columns are then those that the last
        step sees. Of a search, its best model.
    x : object
        One object: a row of numbers, a row of a frame, a string, or a set of one object.

    Returns
    -------
    Explanation
        Contributions of the training rows and of the columns; ``print`` shows the largest ones,
        ``plot`` draws them.

    Examples
    --------
    >>> from mercer import SVC, explain
    >>> model = SVC(kernel="linear", C=10.0).fit([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [1, 1, 2])
    >>> found = explain(model, [3.0, 1.0])
    >>> int(found.label), {name: round(value, 3) for name, value in found.columns.items()}
    (2, {'x0': 6.0, 'x1': 0.0})
    >>> [(row, round(value, 3)) for row, value in found.in_favour()]
    [(2, 6.0)]
    """
    names = None
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "named_steps"):  # a pipeline
        if len(model) > 1:
            x, names = model[:-1].transform(_alone(x)), _names_before_last(model)
        model = model[-1]
    model = getattr(model, "machine_", model)  # of several kernels
    if not (hasattr(model, "predict") and hasattr(model, "_objects")):
        raise TypeError(
            "explain takes a fitted machine and then an object to explain, explain(model, x); got "
            f"{type(model).__name__} first."
        )
    check_is_fitted(model)
    found = getattr(model, "expansion_", None)
    if not isinstance(found, Expansion):
        raise TypeError(f"{type(model).__name__} has no kernel expansion to explain.")
    X = model._objects(_alone(x))
    expansion, sign, label, rival = _problem(model, found, X)
    kernel, coef = expansion.kernel, sign * expansion.coef
    if kernel.pairwise:
        terms = coef * np.asarray(X, dtype=np.float64)[0, expansion.vectors]
    else:
        terms = coef * Prepared(kernel, expansion.vectors).tile(X)[0]
    order = np.argsort(-terms, kind="stable")
    columns = None
    if not kernel.pairwise:
        names = expansion.feature_names or names
        columns = _columns(kernel, expansion.vectors, coef, X, names, [])
    linear = {c: sign * part for c, part in _linear_parts(expansion, X).items()}
    if columns is not None:
        for c, part in linear.items():
            columns[_name(c, names)] = columns.get(_name(c, names), 0.0) + part
    return Explanation(
        value=float(sign * expansion.evaluate(X)[0]),
        label=label,
        rival=rival,
        intercept=float(sign * float(expansion.intercept)),
        rows=_training_rows(model, len(coef))[order],
        contributions=terms[order],
        columns=columns,
        linear=sum(linear.values()),
    )


def _alone(x: Any) -> Any:
    """Return a set of one object."""
    if hasattr(x, "to_frame") and getattr(x, "ndim", 0) == 1:  # a row of a frame
        return x.to_frame().T.infer_objects()
    if isinstance(x, str | set | frozenset | dict):
        return [x]
    if sp.issparse(x) or hasattr(x, "columns"):
        many = x.shape[0]
    else:
        if isinstance(x, np.ndarray) and x.ndim == 1:
            return x[None] if x.dtype.kind in "biuf" else [x]
        if isinstance(x, list | tuple) and x and all(isinstance(v, int | float) for v in x):
            return [x]
        if not hasattr(x, "__len__"):
            raise TypeError(f"explain takes one object, such as a row of numbers; got {x!r}.")
        many = len(x)
    if many != 1:
        raise ValueError(f"explain takes one object; got {many}. Explain them one by one.")
    return x


def _names_before_last(pipeline: Pipeline) -> list[str] | None:
    """Return the names of the columns that the last step of a pipeline sees, where they have some.

    Those of arrays are numbered, by scikit-learn and by `_name` alike.
    """
    try:
        return [str(name) for name in pipeline[:-1].get_feature_names_out()]
    except (AttributeError, ValueError, NotFittedError):  # a step that names nothing
        return None


def _problem(model: Any, expansion: Expansion, X: Any) -> tuple[Expansion, float, Any, Any]:
    """Return the binary problem to explain, with the sign that makes f positive for the label."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        if expansion.n_outputs > 1:
            raise ValueError(
                f"explain takes a machine with one target; got {expansion.n_outputs} targets. Fit "
                "one machine for each."
            )
        return (expansion if expansion.coef.ndim == 1 else expansion[0]), 1.0, None, None
    values = np.atleast_1d(expansion.evaluate(X)[0])
    if expansion.coef.ndim == 1:
        first = bool(values[0] >= 0.0)
        return expansion, 1.0 if first else -1.0, classes[int(first)], classes[int(not first)]
    k = len(classes)
    if len(values) == k and not _one_against_one(model):
        best = int(values.argmax())
        return expansion[best], 1.0, classes[best], None
    won = np.zeros(k)
    i, j = np.triu_indices(k, 1)
    np.add.at(won, np.where(values > 0.0, i, j), 1.0)
    best = int(won.argmax())
    won[best] = -1.0
    rival = int(won.argmax())
    low, high = min(best, rival), max(best, rival)
    pair = int(np.flatnonzero((i == low) & (j == high))[0])
    return expansion[pair], 1.0 if best == low else -1.0, classes[best], classes[rival]


def _one_against_one(model: Any) -> bool:
    asked = getattr(model, "_one_against_one", None)
    return bool(asked is not None and asked())


def _training_rows(model: Any, n: int) -> NDArray[np.intp]:
    rows = getattr(model, "support_", getattr(model, "inducing_indices_", None))
    if rows is None:
        kept = getattr(model, "_kept", None)  # of ridge machines: rows of weights above 0
        return np.arange(n) if kept is None else np.arange(len(model.dual_coef_))[kept]
    distinct = getattr(model, "_distinct", None)
    if distinct is not None:
        rows = rows[np.unique(distinct, return_index=True)[1]]
    return np.asarray(rows, dtype=np.intp)


def _columns(
    kernel: Kernel, vectors: Any, coef: Array, X: Any, names: list[str] | None, at: list[int]
) -> dict[str, float] | None:
    """Return the parts of a kernel that is a sum over columns; None for another kernel.

    `at`: positions in the user's table of the columns of `X`; empty where they are the same.
    """
    if isinstance(kernel, Sum):
        left = _columns(kernel.left, vectors, coef, X, names, at) or {}
        right = _columns(kernel.right, vectors, coef, X, names, at) or {}
        both = dict(left)
        for name, value in right.items():
            both[name] = both.get(name, 0.0) + value
        whole = all(_splits(term) for term in (kernel.left, kernel.right))
        return both if whole else None
    if isinstance(kernel, Scaled):
        return _columns(kernel.kernel, vectors, float(kernel.scale) * coef, X, names, at)
    if isinstance(kernel, OnColumns):
        chosen = [kernel.columns] if isinstance(kernel.columns, int) else list(kernel.columns)
        inside = [at[c] for c in chosen] if at else chosen
        if _splits(kernel.kernel):
            takes = kernel.kernel.takes
            parts = select(vectors, chosen, takes), select(X, chosen, takes)
            return _columns(kernel.kernel, parts[0], coef, parts[1], names, inside)
        name = ", ".join(_name(c, names) for c in inside)
        return {name: float(coef @ Prepared(kernel, vectors).tile(X)[0])}
    if type(kernel) is Linear:
        w = weight_vectors(vectors, coef[:, None])
        parts = sp.csr_matrix(w).multiply(sp.csr_matrix(X)).tocsr()
        if sp.issparse(X):  # of perhaps 10^8 columns, those that the row has
            where, values = parts.indices, parts.data
        else:
            where, values = range(X.shape[1]), parts.toarray()[0]
        return {
            _name(at[c] if at else c, names): float(v) for c, v in zip(where, values, strict=True)
        }
    if _splits(kernel) and type(kernel) is not Constant:
        d = X.shape[1]
        alone = [kernel.on_columns([c]).bind(vectors) for c in range(d)]
        values = [float(coef @ Prepared(one, vectors).tile(X)[0]) for one in alone]
        size = d if type(kernel) is Categorical else 1  # a mean over the columns
        return {
            _name(c, names): value / size for c, value in zip(at or range(d), values, strict=True)
        }
    if type(kernel) is Constant:
        return {"constant": float(kernel.value * coef.sum())}
    return None


def _linear_parts(expansion: Expansion, X: Any) -> dict[int, float]:
    """Return the terms a_t x_t of the linear part, by column."""
    if expansion.poly_coef is None:
        return {}
    row = sp.csr_matrix(select(X, expansion.poly_columns, VECTORS))
    at = range(row.shape[1]) if expansion.poly_columns is None else expansion.poly_columns
    values = row.data * expansion.poly_coef[row.indices]
    return {at[t]: float(v) for t, v in zip(row.indices, values, strict=True)}


def _splits(kernel: Kernel) -> bool:
    """Return whether a kernel is a sum over columns."""
    if isinstance(kernel, Sum):
        return _splits(kernel.left) and _splits(kernel.right)
    if isinstance(kernel, Scaled):
        return _splits(kernel.kernel)
    if isinstance(kernel, ANOVA):
        return kernel.order == 1
    return isinstance(kernel, OnColumns) or type(kernel) in _SUMS


def _name(column: int, names: list[str] | None) -> str:
    return f"x{column}" if names is None else str(names[column])
