"""Every private name of scikit-learn that this package uses, and no other module names one.

scikit-learn may change these names in any release. The tests run with the newest supported release,
and ``make test-oldest`` runs them with the oldest. A name is imported when it is first asked for,
because the packages below the estimators do not load scikit-learn. ``sklearn_internals.pyi`` holds
the types, which scikit-learn does not state.
"""

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

# The name here: the module, the name there.
_PLACES = {
    # Feature names and numbers of columns, checked without a second warning.
    "check_n_features": ("sklearn.utils.validation", "_check_n_features"),
    "get_feature_names": ("sklearn.utils.validation", "_get_feature_names"),
    "check_feature_names_in": ("sklearn.utils.validation", "_check_feature_names_in"),
    "get_output_config": ("sklearn.utils._set_output", "_get_output_config"),
    # Ranges of parameters, in the form of scikit-learn's searches.
    "Interval": ("sklearn.utils._param_validation", "Interval"),
    "StrOptions": ("sklearn.utils._param_validation", "StrOptions"),
    "validate_params": ("sklearn.utils._param_validation", "validate_params"),
    "fit_context": ("sklearn.base", "_fit_context"),
    # Rows of data and of metadata, by the tags of an estimator.
    "safe_split": ("sklearn.utils.metaestimators", "_safe_split"),
    "safe_indexing": ("sklearn.utils", "_safe_indexing"),
    "check_method_params": ("sklearn.utils.validation", "_check_method_params"),
    # One fit of a search, and how results are put together and failures reported.
    "fit_and_score": ("sklearn.model_selection._validation", "_fit_and_score"),
    "fit_and_predict": ("sklearn.model_selection._validation", "_fit_and_predict"),
    "score": ("sklearn.model_selection._validation", "_score"),
    "aggregate_score_dicts": ("sklearn.model_selection._validation", "_aggregate_score_dicts"),
    "normalize_score_results": ("sklearn.model_selection._validation", "_normalize_score_results"),
    "insert_error_scores": ("sklearn.model_selection._validation", "_insert_error_scores"),
    "warn_or_raise_about_fit_failures": (
        "sklearn.model_selection._validation",
        "_warn_or_raise_about_fit_failures",
    ),
    "enforce_prediction_order": (
        "sklearn.model_selection._validation",
        "_enforce_prediction_order",
    ),
    "check_is_permutation": ("sklearn.model_selection._validation", "_check_is_permutation"),
    "translate_train_sizes": ("sklearn.model_selection._validation", "_translate_train_sizes"),
    # The schedules of searches; the public names of halving need an import with a side effect.
    "BaseSearchCV": ("sklearn.model_selection._search", "BaseSearchCV"),
    "GridSearchCV": ("sklearn.model_selection._search", "GridSearchCV"),
    "RandomizedSearchCV": ("sklearn.model_selection._search", "RandomizedSearchCV"),
    "HalvingGridSearchCV": (
        "sklearn.model_selection._search_successive_halving",
        "HalvingGridSearchCV",
    ),
    "HalvingRandomSearchCV": (
        "sklearn.model_selection._search_successive_halving",
        "HalvingRandomSearchCV",
    ),
    # Metrics that look at nothing but the predictions of a model.
    "BaseScorer": ("sklearn.metrics._scorer", "_BaseScorer"),
    "MultimetricScorer": ("sklearn.metrics._scorer", "_MultimetricScorer"),
    "PassthroughScorer": ("sklearn.metrics._scorer", "_PassthroughScorer"),
    # Callbacks: scikit-learn 1.9 and later, None before.
    "callback_management_context": (
        "sklearn.callback._callback_support",
        "callback_management_context",
    ),
}
_OPTIONAL = {"callback_management_context"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, private = _PLACES[name]
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
