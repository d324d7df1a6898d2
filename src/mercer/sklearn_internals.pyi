from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

_Function = TypeVar("_Function", bound=Callable[..., Any])

check_n_features: Any
get_feature_names: Any
check_feature_names_in: Any
get_output_config: Any
Interval: Any
StrOptions: Any
safe_split: Any
safe_indexing: Any
check_method_params: Any
fit_and_score: Any
fit_and_predict: Any
score: Any
aggregate_score_dicts: Any
normalize_score_results: Any
insert_error_scores: Any
warn_or_raise_about_fit_failures: Any
enforce_prediction_order: Any
check_is_permutation: Any
translate_train_sizes: Any
BaseScorer: Any
MultimetricScorer: Any
PassthroughScorer: Any
callback_management_context: Any

def validate_params(
    constraints: dict[str, Any], *, prefer_skip_nested_validation: bool
) -> Callable[[_Function], _Function]: ...
def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[_Function], _Function]: ...
def constraints_of(function: Any) -> dict[str, Any]: ...
def scorers_of(scorer: Any) -> dict[str, Any] | None: ...
def asks_only_for(scorer: Any, methods: frozenset[str]) -> bool: ...
def fit_callbacks(estimator: Any) -> bool: ...
def check_search_input(search: Any, X: Any, y: Any, split_params: dict[str, Any]) -> None: ...
def callback_context(search: Any, n_tasks: int) -> Any: ...

class BaseSearchCV:
    _parameter_constraints: ClassVar[dict[str, Any]]
    _checked_cv_orig: Any
    scorer_: Any
    feature_names_in_: NDArray[Any]
    estimator: Any
    scoring: Any
    n_jobs: int | None
    refit: Any
    cv: Any
    verbose: int
    pre_dispatch: Any
    error_score: Any
    return_train_score: bool

    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    cv_results_: dict[str, Any]
    n_splits_: int
    refit_time_: float
    multimetric_: bool
    classes_: NDArray[Any]
    n_features_in_: int

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def score_samples(self, X: Any) -> NDArray[np.float64]: ...
    def transform(self, X: Any) -> NDArray[Any]: ...
    def inverse_transform(self, X: Any) -> NDArray[Any]: ...
    def set_callbacks(self, *callbacks: Any) -> Self: ...
    def score(self, X: Any, y: Any = None, **params: Any) -> float: ...
    def _validate_params(self) -> None: ...
    def _get_scorers(self) -> tuple[Any, Any]: ...
    def _get_routed_params_for_fit(self, params: dict[str, Any]) -> Any: ...
    def _check_refit_for_multimetric(self, scores: Any) -> None: ...
    def _select_best_index(self, refit: Any, refit_metric: Any, results: Any) -> int: ...
    def _run_search(self, evaluate_candidates: Any, **options: Any) -> None: ...
    def _format_results(
        self, candidate_params: Any, n_splits: int, out: list[Any], more_results: Any = None
    ) -> dict[str, Any]: ...

class GridSearchCV(BaseSearchCV):
    param_grid: Any

class RandomizedSearchCV(BaseSearchCV):
    param_distributions: Any
    n_iter: int
    random_state: Any

class BaseSuccessiveHalving(BaseSearchCV):
    random_state: Any
    max_resources: Any
    resource: str
    factor: float
    min_resources: Any
    aggressive_elimination: bool

class HalvingGridSearchCV(BaseSuccessiveHalving):
    param_grid: Any

class HalvingRandomSearchCV(BaseSuccessiveHalving):
    param_distributions: Any
    n_candidates: Any
