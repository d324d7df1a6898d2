"""What type checkers are told about the estimators."""

from typing import Any, Self, get_type_hints

import pytest

from mercer import features, machines

ESTIMATORS = [
    value
    for module in (machines, features)
    for value in vars(module).values()
    if isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_fit_returns_the_estimator_itself(estimator: Any) -> None:
    assert get_type_hints(estimator.fit)["return"] is Self
