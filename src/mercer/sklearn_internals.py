"""Every private name of scikit-learn that this package uses, and no other module names one.

scikit-learn may change these names in any release. The tests run with the newest supported release,
and ``make test-oldest`` runs them with the oldest. A name is imported when it is first asked for,
because the packages below the estimators do not load scikit-learn. ``sklearn_internals.pyi`` holds
the types, which scikit-learn does not state.
"""

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

# The names by the modules behind them; here a name has no underscore.
_PLACES = {
    # Ranges of parameters, in the form of scikit-learn's searches.
    "sklearn.base": "_fit_context",
    "sklearn.utils._param_validation": "Interval StrOptions validate_params",
    # Feature names and numbers of columns, checked without a second warning; rows of metadata.
    "sklearn.utils.validation": (
        "_check_feature_names_in _check_method_params _check_n_features _get_feature_names"
    ),
    "sklearn.utils._set_output": "_get_output_config",
    # Rows of data, by the tags of an estimator.
    "sklearn.utils": "_safe_indexing",
    "sklearn.utils.metaestimators": "_safe_split",
    # Metrics that look at nothing but the predictions of a model.
    "sklearn.metrics._scorer": "_BaseScorer _MultimetricScorer _PassthroughScorer",
    # One fit of a search, and how results are put together and failures reported.
    "sklearn.model_selection._validation": (
        "_aggregate_score_dicts _check_is_permutation _enforce_prediction_order _fit_and_predict "
        "_fit_and_score _insert_error_scores _normalize_score_results _score "
        "_translate_train_sizes _warn_or_raise_about_fit_failures"
    ),
    # The schedules of searches; the public names of halving need an import with a side effect.
    "sklearn.model_selection._search": "BaseSearchCV GridSearchCV RandomizedSearchCV",
    "sklearn.model_selection._search_successive_halving": (
        "HalvingGridSearchCV HalvingRandomSearchCV"
    ),
    # Callbacks: scikit-learn 1.9 and later, None before.
    "sklearn.callback._callback_support": "callback_management_context",
}
_NAMES = {
    name.removeprefix("_"): (module, name)
    for module, names in _PLACES.items()
    for name in names.split()
}
_OPTIONAL = {"callback_management_context"}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, private = _NAMES[name]
    try:
        found = getattr(import_module(module), private)
    except ImportError:
        if name not in _OPTIONAL:
            raise
        found = None
    globals()[name] = found
    return found


def constraints_of(function: Any) -> dict[str, Any]:
    """Return the ranges of the parameters of a public function of scikit-learn."""
    constraints: dict[str, Any] = function._skl_parameter_constraints
    return constraints


def scorers_of(scorer: Any) -> dict[str, Any] | None:
    """Return the metrics of a scorer by name, None where it is a single one."""
    several = isinstance(scorer, __getattr__("MultimetricScorer"))
    return dict(scorer._scorers) if several else None


def asks_only_for(scorer: Any, methods: frozenset[str]) -> bool:
    """Return whether a scorer looks at nothing of a model but the results of these methods.

    That is so for the metrics that scikit-learn has a name for, for those of `make_scorer` and for
    ``score`` itself; a function of the user's may look at anything.
    """
    several = scorers_of(scorer)
    if several is not None:
        return all(asks_only_for(one, methods) for one in several.values())
    if isinstance(scorer, __getattr__("PassthroughScorer")):
        return "score" in methods
    if not isinstance(scorer, __getattr__("BaseScorer")):
        return False
    asked = scorer._response_method
    return not methods.isdisjoint([asked] if isinstance(asked, str) else asked)


def fit_callbacks(estimator: Any) -> bool:
    """Return whether callbacks of scikit-learn were set on an estimator."""
    return bool(getattr(estimator, "_skl_callbacks", None))


class _NoCallbacks:
    """The context of a fit before scikit-learn 1.9, which has no callbacks."""

    def subcontext(self, **options: Any) -> "_NoCallbacks":
        return self

    def call_on_fit_task_begin(self, **options: Any) -> "_NoCallbacks":
        return self

    def call_on_fit_task_end(self, **options: Any) -> bool:
        return False

    def propagate_callback_context(self, estimator: Any) -> AbstractContextManager[None]:
        return nullcontext()


def callback_context(search: Any, n_tasks: int) -> Any:
    """Return what reports the tasks of a search to its callbacks."""
    if not hasattr(search, "_init_callback_context"):
        return _NoCallbacks()
    return search._init_callback_context(max_subtasks=n_tasks)


def check_search_input(search: Any, X: Any, y: Any, split_params: dict[str, Any]) -> None:
    """Run the checks of successive halving, for which it asks before it says its candidates."""
    if hasattr(search, "_check_input_parameters"):
        search._check_input_parameters(X=X, y=y, split_params=split_params)
