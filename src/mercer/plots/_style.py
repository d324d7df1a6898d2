"""Colours, axes and argument checks shared by all pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which colour-blind readers can tell apart.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
)
CLASSES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW)
INK = "#222222"
# A legend beside the axes.
BESIDE: dict[str, Any] = {"fontsize": "small", "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
FAINT = "#9A9A9A"


def new_axes(ax: Axes | None, *, figsize: tuple[float, float] = (6.0, 4.6)) -> Axes:
    """Return `ax`, or the axes of a new figure; explain a missing matplotlib."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'mercer[plots]'") from error
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def tidy(ax: Axes) -> None:
    """Frame only where there is a scale to read."""
    ax.spines[["top", "right"]].set_visible(False)


def finished(
    ax: Axes,
    x: str,
    y: str,
    *,
    title: str | None = None,
    upright: bool = False,
    legend: dict[str, Any] | None = None,
) -> Axes:
    """Return axes with names, a title and a legend, framed only where there is a scale to read.

    `upright`: whether the name of the vertical axis is a symbol, which is not turned. `legend`: its
    settings, such as `BESIDE`; None: there is none.
    """
    ax.set_xlabel(x)
    direction: dict[str, Any] = {"rotation": 0, "labelpad": 10} if upright else {}
    ax.set_ylabel(y, **direction)
    if title is not None:
        ax.set_title(title)
    if legend is not None:
        ax.legend(frameon=False, **legend)
    tidy(ax)
    return ax


def colour_of(index: int) -> str:
    """Colour of a class by its position."""
    return CLASSES[index % len(CLASSES)]


def dense_2d(X: Any, *, columns: int, what: str) -> NDArray[np.float64]:
    """Check that `X` has the number of columns that fits on paper."""
    values = X.toarray() if hasattr(X, "toarray") else as_numbers(X, what)
    if values.ndim != 2 or values.shape[1] != columns:
        raise ValueError(
            f"{what} draws data with {columns} column{'s' if columns > 1 else ''}, got an array of "
            f"shape {values.shape}"
        )
    return values


def as_numbers(values: Any, what: str) -> NDArray[np.float64]:
    """Return numbers as an array, or say that texts and other objects cannot be drawn."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} draws vectors of numbers, and these objects are none. Pictures of kernels on "
            "texts and other objects are gram and eigenvalues, or vectors made by embed."
        ) from None


def column_names(X: Any, model: Any) -> tuple[str, str]:
    """Return the names of two columns: of the frame, else those of the fit, else x_1 and x_2."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != 2:
        return "$x_1$", "$x_2$"
    return str(names[0]), str(names[1])


def label_name(label: Any) -> str:
    """Return the name of a class as one would write it: 1 rather than 1.0."""
    return f"{label:g}" if isinstance(label, float) else str(label)


def counted(n: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{n} {noun}{'s' * (n != 1)}"


def last_step(model: Any) -> Any:
    """Return the machine of a pipeline, or the model itself."""
    steps = getattr(model, "steps", None)
    return model if steps is None else steps[-1][1]


def in_frames(model: Any, X: Any) -> Callable[[NDArray[np.float64]], Any]:
    """Return a function that gives points the form of `X`, for models fitted on frames."""
    named = hasattr(model, "feature_names_in_") or last_step(model) is not model
    if not (hasattr(X, "columns") and named):
        return lambda points: points
    return lambda points: type(X)(dict(zip(X.columns, points.T, strict=True)))


def fitted(model: Any) -> Any:
    """Return the model to draw, of a search the best one; reject what is not fitted or no model."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(model, "fit"):
        raise TypeError(
            f"a fitted model comes first, such as SVC(kernel=...).fit(X, y); got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    return getattr(model, "best_estimator_", model)


def binary(model: Any, what: str) -> None:
    """Reject a machine with more than two classes."""
    if len(getattr(model, "classes_", ())) > 2:
        raise ValueError(
            f"{what} shows one separator, and this machine has {len(model.classes_)} classes; "
            "use decision_surface, or a machine fitted on two of the classes"
        )


def signed_values(model: Any, X: Any) -> NDArray[np.float64]:
    """Values of the decision function, one per row."""
    return np.asarray(model.decision_function(X), dtype=np.float64).reshape(len(X), -1)[:, 0]
