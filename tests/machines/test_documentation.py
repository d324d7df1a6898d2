"""The documentation of the machines is complete, whatever of it is written once."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import mercer
from mercer.machines import support_vector
from mercer.machines.support_vector import documentation
from mercer.machines.support_vector.base import KernelMachine
from mercer.machines.support_vector.classifier import KernelClassifier
from mercer.machines.support_vector.regressor import KernelRegressor
from mercer.solvers.ladder import NAMES
from tests.machines import data_sets

MACHINES = [
    mercer.SVC,
    mercer.NuSVC,
    mercer.SVR,
    mercer.NuSVR,
    mercer.OneClassSVM,
    mercer.GaussianProcessRegressor,
    mercer.SparseGaussianProcessRegressor,
    mercer.KernelRidge,
    mercer.KernelRidgeCV,
    mercer.KernelRidgeClassifier,
    mercer.LSSVC,
    mercer.LSSVR,
]

each_machine = pytest.mark.parametrize("machine", MACHINES)


@pytest.mark.parametrize("listed", [MACHINES, data_sets.MACHINES])
def test_every_support_vector_machine_is_tested(listed: Any) -> None:
    public = [getattr(support_vector, name) for name in support_vector.__all__]
    classes = filter(inspect.isclass, public)
    machines = {kind for kind in classes if issubclass(kind, KernelMachine)}
    assert machines <= set(listed)


def section(text: str, title: str) -> str:
    """Return the entries of a section of a docstring."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no section {title}"
    return found[1]


@each_machine
def test_every_parameter_is_documented_with_its_default(machine: Any) -> None:
    entries = section(inspect.getdoc(machine) or "", "Parameters")
    documented = re.findall(r"^(\w+) : (.*)$", entries, re.MULTILINE)
    parameters = inspect.signature(machine).parameters
    assert sorted(name for name, _ in documented) == sorted(parameters)
    for name, kind in documented:
        default = parameters[name].default
        if kind == "None":
            assert default is None
        else:
            stated = eval(kind.rpartition("default=")[2])
            assert stated == default


@each_machine
def test_every_attribute_of_a_fit_is_documented(machine: Any) -> None:
    X, y = [[0.0], [0.4], [0.5], [1.0]], [0, 0, 1, 1]
    model = machine(kernel="linear").fit(X, y)
    entries = section(inspect.getdoc(machine) or "", "Attributes")
    names = {
        name.strip()
        for line in re.findall(r"^([\w, ]+) : ", entries, re.MULTILINE)
        for name in line.split(",")
    }
    assert names == {name for name in names if hasattr(model, name)}
    kept = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    # These speak for themselves, as in scikit-learn.
    assert kept - names <= {"n_features_in_", "shape_fit_", "class_weight_", "C_"}


@pytest.mark.parametrize("thing", [*MACHINES, KernelClassifier, KernelRegressor])
def test_no_place_is_left_empty(thing: Any) -> None:
    texts = [thing.__doc__, *(inspect.getdoc(member) for _, member in inspect.getmembers(thing))]
    assert not [text for text in texts if text and documentation._PLACE.search(text)]


def test_the_solvers_of_the_ladder_are_documented() -> None:
    stated = re.search(r"^solver : \{(.*)\}", documentation._ENTRIES, re.MULTILINE)
    assert stated is not None
    assert stated[1] == ", ".join(f'"{name}"' for name in NAMES)


def test_every_entry_is_used() -> None:
    folder = Path(documentation.__file__).parent
    text = "".join(
        path.read_text() for path in folder.glob("*.py") if path.name != "documentation.py"
    )
    used = {name for _, names in documentation._PLACE.findall(text) for name in names.split(", ")}
    assert used == set(documentation._TABLE)


def test_optional_methods_are_documented_too() -> None:
    text = inspect.getdoc(mercer.SVC(probability=True).predict_proba) or ""
    assert "X : array-like or sparse matrix" in section(text, "Parameters")
