"""What type checkers are told about the estimators."""

from pathlib import Path
from typing import Any, Self, get_type_hints

import pytest

import mercer
from mercer import features, machines

ESTIMATORS = [
    value
    for module in (machines, features)
    for value in vars(module).values()
    if isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")
]
SOURCE = Path(mercer.__file__).parent


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_methods_return_the_estimator_itself(estimator: Any) -> None:
    for name in ("fit", "partial_fit", "set_params", "set_callbacks"):
        if hasattr(estimator, name):
            assert get_type_hints(getattr(estimator, name))["return"] is Self, name


def test_a_users_program_is_checked_strictly(request, monkeypatch) -> None:
    """Types reach the user: mypy accepts right uses and finds wrong ones."""
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(SOURCE.parent))
    program = Path(__file__).with_name("users_program.py")
    kept = request.config.cache.mkdir("mypy")  # of what it knows of NumPy, for the next time
    out, _, status = api.run(
        ["--strict", "--config-file=", f"--cache-dir={kept}", "--follow-imports=silent",
         str(program)]
    )  # fmt: skip
    assert status == 0, out


def test_the_types_are_shipped() -> None:
    assert (SOURCE / "py.typed").exists()
