"""Cross-validation: scikit-learn's functions on the engine that shares work between fits.

Signatures and results are those of :mod:`sklearn.model_selection`; ``n_jobs=None`` is all cores.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from sklearn.model_selection import _validation

from .borrowed import rebound, validated
from .loop import SharedLoop

_PARAMETERS = {
    "estimator": ("estimator", "A machine, or a pipeline that ends in one; it is not changed."),
    "X": ("array-like of shape (n_samples, n_features), or objects", "Objects."),
    "y": ("array-like of shape (n_samples,)", "Labels or targets."),
    "groups": ("array-like of shape (n_samples,)", "Groups that a splitter keeps together."),
    "scoring": ("str, callable, list or dict", "Metric, by default ``score``."),
    "cv": ("int, splitter or iterable", "How rows are split, by default into five folds."),
    "n_jobs": ("int or None", "Threads; None is all cores."),
    "verbose": ("int", "Whether progress is printed."),
    "params": ("dict", "Parameters of ``fit``, of the scorer and of the splitter."),
    "pre_dispatch": ("int or str", "How many jobs are prepared where nothing can be shared."),
    "return_train_score": ("bool", "Whether training rows are scored too."),
    "return_estimator": ("bool", "Whether the fitted machines are returned."),
    "return_indices": ("bool", "Whether the rows of each split are returned."),
    "error_score": ('float or "raise"', "The score of a fit that failed."),
    "method": ("str", 'Method called on new rows: "predict", "decision_function", ...'),
    "train_sizes": ("array-like", "Numbers, or parts, of the training rows."),
    "exploit_incremental_learning": ("bool", "Whether ``partial_fit`` is called."),
    "shuffle": ("bool", "Whether training rows are shuffled before they are cut."),
    "random_state": ("int or RandomState", "Seed of the shuffling."),
    "return_times": ("bool", "Whether the seconds of fits and scores are returned."),
    "param_name": ("str", "The parameter that varies."),
    "param_range": ("array-like", "Its values."),
}

_EXAMPLE = """
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import {name}
    >>> X, y = load_iris(return_X_y=True)
    >>> {call}
    {result}
"""


def _documented(run: Any, of: Any, summary: str, returns: str, call: str, result: str) -> Any:
    """Return a function with the signature of scikit-learn's and a docstring."""
    run.__module__ = __name__
    rows = []
    for name in inspect.signature(of).parameters:
        kind, text = _PARAMETERS[name]
        rows.append(f"    {name} : {kind}\n        {text}\n")
    run.__doc__ = (
        f"{summary}\n\n"
        f"    :func:`sklearn.model_selection.{of.__name__}` with kernel matrices and solutions\n"
        "    shared between the fits of mercer's machines.\n\n"
        f"    Parameters\n    ----------\n{''.join(rows)}\n"
        f"    Returns\n    -------\n    {returns}\n"
        + _EXAMPLE.format(name=of.__name__, call=call, result=result)
    )
    return validated(run, of)


def _shared(of: Any, *documentation: str) -> Any:
    """Return a function of scikit-learn with its loop over fits replaced."""

    @functools.wraps(of)
    def run(*args: Any, **kwargs: Any) -> Any:
        loop = SharedLoop(n_jobs=kwargs.get("n_jobs"), verbose=int(kwargs.get("verbose") or 0))
        return rebound(of, **loop.names())(*args, **kwargs)

    return _documented(run, of, *documentation)


cross_validate = _shared(
    _validation.cross_validate,
    "Return scores and times of all splits.",
    "dict of str to array\n        ``test_score``, ``fit_time`` and ``score_time``, by split.",
    'cross_validate(SVC(), X, y)["test_score"].shape',
    "(5,)",
)
cross_val_predict = _shared(
    _validation.cross_val_predict,
    "Return for each row the prediction of the machine trained without its fold.",
    "array\n        Predictions, in the order of the rows.",
    "bool((cross_val_predict(SVC(), X, y) == y).mean() > 0.9)",
    "True",
)
learning_curve = _shared(
    _validation.learning_curve,
    "Return scores over the number of training rows.",
    "train_sizes, train_scores, test_scores : arrays\n        Sizes, and scores by size and split.",
    "learning_curve(SVC(), X, y, train_sizes=[0.5, 1.0])[0].tolist()",
    "[60, 120]",
)
validation_curve = _shared(
    _validation.validation_curve,
    "Return scores over the values of one parameter.",
    "train_scores, test_scores : arrays\n        Scores by value and split.",
    'validation_curve(SVC(), X, y, param_name="C", param_range=[0.1, 1.0])[1].shape',
    "(2, 5)",
)


@functools.wraps(_validation.cross_val_score)
def _cross_val_score(*args: Any, **kwargs: Any) -> Any:
    return rebound(_validation.cross_val_score, cross_validate=cross_validate)(*args, **kwargs)


cross_val_score = _documented(
    _cross_val_score,
    _validation.cross_val_score,
    "Return the score of every split.",
    "array\n        Scores, by split.",
    "bool(cross_val_score(SVC(), X, y).mean() > 0.9)",
    "True",
)
