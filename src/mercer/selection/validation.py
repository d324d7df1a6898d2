"""Cross-validation: scikit-learn's functions on the engine that shares work between fits.

Signatures and results are those of :mod:`sklearn.model_selection`; ``n_jobs=None`` is all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.model_selection as theirs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.model_selection import learning_curve as plain_learning_curve
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_random_state, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from mercer.objects.validation import count
from mercer.sklearn_internals import (
    aggregate_score_dicts,
    check_is_permutation,
    constraints_of,
    insert_error_scores,
    normalize_score_results,
    translate_train_sizes,
    validate_params,
    warn_or_raise_about_fit_failures,
)

from .loop import Fit, SharedLoop, Split, Task, positions

Array = NDArray[np.float64]


class _Evaluation(NamedTuple):
    """A task with the splits of its data."""

    task: Task
    splits: list[Split]


def _evaluation(
    owner: str,
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    cv: Any,
    params: dict[str, Any] | None,
    scorer: Any = None,
    **options: Any,
) -> _Evaluation:
    """Return the task of one of the functions: data checked, splits drawn, parameters routed."""
    routing = get_config()["enable_metadata_routing"]
    if routing and groups is not None:
        raise ValueError(
            "`groups` can only be passed if metadata routing is not enabled via "
            "`sklearn.set_config(enable_metadata_routing=True)`. When routing is enabled, pass "
            "`groups` alongside other metadata via the `params` argument instead."
        )
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    params = of_fit = params or {}
    of_split: dict[str, Any] = {"groups": groups}
    of_score: dict[str, Any] = {}
    if routing:
        routed = _routed(owner, estimator, splitter, scorer, params)
        of_fit, of_split = routed.estimator.fit, routed.splitter.split
        of_score = routed.scorer.score if scorer is not None else {}
    task = Task(estimator, X, y, scorer, of_fit, of_score, **options)
    return _Evaluation(task, list(splitter.split(X, y, **of_split)))


def _routed(owner: str, estimator: Any, splitter: Any, scorer: Any, params: dict[str, Any]) -> Any:
    """Return which parameters go to the estimator, to the splitter and to the metric."""
    router = MetadataRouter(owner=owner)
    parts = {"splitter": (splitter, "split"), "estimator": (estimator, "fit")}
    if scorer is not None:
        parts["scorer"] = scorer, "score"
    for name, (part, method) in parts.items():
        mapping = MethodMapping().add(caller="fit", callee=method)
        router.add(method_mapping=mapping, **{name: part})
    try:
        return process_routing(router, "fit", **params)
    except UnsetMetadataPassedError as error:
        raise UnsetMetadataPassedError(
            message=str(error).replace(f"{owner}.fit", owner),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from None


def _results(
    task: Task, splits: Sequence[Split], candidates: Sequence[Any], n_jobs: int | None, verbose: Any
) -> list[dict[str, Any]]:
    """Return the results of candidates on splits: for each split those of all candidates."""
    rows = [(positions(train), positions(test)) for train, test in splits]
    fits = [Fit(candidate, *split) for split in rows for candidate in candidates]
    return SharedLoop(n_jobs).scores(task, fits, int(verbose or 0))


@validate_params(constraints_of(theirs.cross_validate), prefer_skip_nested_validation=False)
def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Return scores and times of all splits.

    :func:`sklearn.model_selection.cross_validate` with kernel matrices and solutions shared between
    the fits of mercer's machines.

    Parameters
    ----------
    estimator : estimator
        A machine, or a pipeline that ends in one; it is not changed.
    X : array-like of shape (n_samples, n_features), or objects
        Objects.
    y : array-like of shape (n_samples,), optional
        Labels or targets.
    groups : array-like of shape (n_samples,), optional
        Groups that a splitter keeps together.
    scoring : str, callable, list or dict, optional
        Metric, by default ``score``.
    cv : int, splitter or iterable, optional
        How rows are split, by default into five folds.
    n_jobs : int, optional
        Threads; None is all cores.
    verbose : int, default=0
        Whether progress is shown.
    params : dict, optional
        Parameters of ``fit``, of the scorer and of the splitter.
    pre_dispatch : int or str
        Accepted as in scikit-learn; fits that share are not dispatched.
    return_train_score : bool, default=False
        Whether training rows are scored too.
    return_estimator : bool, default=False
        Whether the fitted machines are returned.
    return_indices : bool, default=False
        Whether the rows of each split are returned.
    error_score : float or "raise", default=nan
        The score of a fit that failed.

    Returns
    -------
    dict of str to array
        ``test_score``, ``fit_time`` and ``score_time``, by split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_validate(SVC(), X, y)["test_score"].shape
    (5,)
    """
    scorer = check_scoring(estimator, scoring, raise_exc=error_score == "raise")
    given = estimator, X, y, groups, cv, params, scorer
    options: dict[str, Any] = {
        "return_train_score": return_train_score,
        "return_estimator": return_estimator,
    }
    task, splits = _evaluation("cross_validate", *given, error_score=error_score, **options)
    results = _results(task, splits, [None], n_jobs, verbose)
    warn_or_raise_about_fit_failures(results, error_score)
    if callable(scoring):  # the names of its metrics are known only now
        insert_error_scores(results, error_score)
    columns = aggregate_score_dicts(results)
    found = {"fit_time": columns["fit_time"], "score_time": columns["score_time"]}
    if return_estimator:
        found["estimator"] = columns["estimator"]
    if return_indices:
        train, test = zip(*splits, strict=True)
        found["indices"] = {"train": train, "test": test}
    by_part = {"test": normalize_score_results(columns["test_scores"])}
    if return_train_score:
        by_part["train"] = normalize_score_results(columns["train_scores"])
    for name in by_part["test"]:
        found |= {f"{part}_{name}": scores[name] for part, scores in by_part.items()}
    return found


@validate_params(constraints_of(theirs.cross_val_score), prefer_skip_nested_validation=False)
def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
) -> Array:
    """Return the score of every split.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch, error_score
        As in :func:`cross_validate`.
    scoring : str or callable, optional
        One metric, by default ``score``.

    Returns
    -------
    array
        Scores, by split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import cross_val_score
    >>> bool(cross_val_score(SVC(), *load_iris(return_X_y=True)).mean() > 0.9)
    True
    """
    arguments = locals()
    arguments["scoring"] = {"score": check_scoring(estimator, scoring)}
    scores: Array = cross_validate(**arguments)["test_score"]
    return scores


@validate_params(constraints_of(theirs.cross_val_predict), prefer_skip_nested_validation=False)
def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
) -> Any:
    """Return for each row the prediction of the machine trained without its fold.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch
        As in :func:`cross_validate`; every row is in the test part of one split.
    method : str, default="predict"
        Method called on new rows: "predict", "decision_function", ...

    Returns
    -------
    array
        Predictions, in the order of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import cross_val_predict
    >>> X, y = load_iris(return_X_y=True)
    >>> bool((cross_val_predict(SVC(), X, y) == y).mean() > 0.9)
    True
    """
    given = estimator, X, y, groups, cv, params
    task, splits = _evaluation("cross_val_predict", *given)
    tested = np.concatenate([positions(test) for _, test in splits])
    if not check_is_permutation(tested, count(task.X)):
        raise ValueError("cross_val_predict only works for partitions")
    if task.y is not None and method in ("decision_function", "predict_proba", "predict_log_proba"):
        y = np.asarray(task.y)  # scores are ordered by labels, of which a fold may lack one
        if y.ndim == 1:
            task.y = LabelEncoder().fit_transform(y)
        else:
            task.y = np.column_stack([LabelEncoder().fit_transform(column) for column in y.T])
    found = SharedLoop(n_jobs).predictions(task, splits, method)
    order = np.argsort(tested)
    if sp.issparse(found[0]):
        return sp.vstack(found, format=found[0].format)[order]
    if isinstance(found[0], list):  # of several targets
        return [np.concatenate(parts)[order] for parts in zip(*found, strict=True)]
    return np.concatenate(found)[order]


@validate_params(constraints_of(theirs.learning_curve), prefer_skip_nested_validation=False)
def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = None,
    scoring: Any = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: Any = 0,
    shuffle: bool = False,
    random_state: Any = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: dict[str, Any] | None = None,
) -> tuple[Array, ...]:
    """Return scores over the number of training rows.

    Parameters
    ----------
    estimator, X, y, groups, cv, scoring, n_jobs, pre_dispatch, verbose, error_score, params
        As in :func:`cross_val_score`.
    train_sizes : array-like
        Numbers, or parts, of the training rows.
    exploit_incremental_learning : bool, default=False
        Whether ``partial_fit`` is called; scikit-learn's function then does the work.
    shuffle : bool, default=False
        Whether training rows are shuffled before they are cut.
    random_state : int or RandomState, optional
        Seed of the shuffling.
    return_times : bool, default=False
        Whether the seconds of fits and scores are returned.

    Returns
    -------
    train_sizes, train_scores, test_scores : arrays
        Sizes, and scores by size and split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> learning_curve(SVC(), X, y, train_sizes=[0.5, 1.0])[0].tolist()
    [60, 120]
    """
    arguments = locals()
    if exploit_incremental_learning:
        found: tuple[Array, ...] = plain_learning_curve(**arguments)
        return found
    given = estimator, X, y, groups, cv, params, check_scoring(estimator, scoring)
    options: dict[str, Any] = {"error_score": error_score, "return_train_score": True}
    task, splits = _evaluation("learning_curve", *given, **options)
    splits = [(positions(train), test) for train, test in splits]
    sizes = translate_train_sizes(train_sizes, len(splits[0][0]))
    if verbose > 0:
        print(f"[learning_curve] Training set sizes: {sizes}")  # noqa: T201 - asked for
    if shuffle:
        random = check_random_state(random_state)
        splits = [(random.permutation(train), test) for train, test in splits]
    cut = [(train[:size], test) for train, test in splits for size in sizes]
    results = _results(task, cut, [None], n_jobs, verbose)
    warn_or_raise_about_fit_failures(results, error_score)
    columns = aggregate_score_dicts(results)
    names = ["train_scores", "test_scores", *(["fit_time", "score_time"] if return_times else [])]
    return sizes, *(columns[name].reshape(-1, len(sizes)).T for name in names)


@validate_params(constraints_of(theirs.validation_curve), prefer_skip_nested_validation=False)
def validation_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    param_name: str,
    param_range: Any,
    groups: Any = None,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: Any = 0,
    error_score: Any = np.nan,
    params: dict[str, Any] | None = None,
) -> tuple[Array, Array]:
    """Return scores over the values of one parameter.

    Parameters
    ----------
    estimator, X, y, groups, cv, scoring, n_jobs, pre_dispatch, verbose, error_score, params
        As in :func:`cross_val_score`.
    param_name : str
        The parameter that varies.
    param_range : array-like
        Its values.

    Returns
    -------
    train_scores, test_scores : arrays
        Scores by value and split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import validation_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> validation_curve(SVC(), X, y, param_name="C", param_range=[0.1, 1.0])[1].shape
    (2, 5)
    """
    given = estimator, X, y, groups, cv, params, check_scoring(estimator, scoring)
    options: dict[str, Any] = {"error_score": error_score, "return_train_score": True}
    task, splits = _evaluation("validation_curve", *given, **options)
    candidates = [{param_name: value} for value in param_range]
    columns = aggregate_score_dicts(_results(task, splits, candidates, n_jobs, verbose))
    shape = -1, len(candidates)
    return columns["train_scores"].reshape(shape).T, columns["test_scores"].reshape(shape).T
