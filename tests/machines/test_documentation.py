"""The documentation of the machines is complete, whatever of it is written once."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import mercer
import mercer.features
from mercer.machines import ParameterError, support_vector
from mercer.machines.support_vector.base import KernelMachine
from mercer.objects.parameters import declared, fraction, parameter
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

DECLARED = [
    thing
    for room in (mercer, mercer.features)
    for _, thing in inspect.getmembers(room, inspect.isclass)
    if "_parameters" in vars(thing)
]


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


@pytest.mark.parametrize("machine", DECLARED)
def test_every_parameter_is_documented_with_its_default(machine: Any) -> None:
    entries = section(inspect.getdoc(machine) or "", "Parameters")
    documented = re.findall(r"^(\w+) : (.*)$", entries, re.MULTILINE)
    parameters = inspect.signature(machine).parameters
    assert sorted(name for name, _ in documented) == sorted(parameters)
    for name, kind in documented:
        assert eval(kind.rpartition("default=")[2]) == parameters[name].default


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


def test_a_sentence_stands_below_the_declaration_and_is_inherited() -> None:
    class Softer(mercer.SVR):
        """A machine of a user."""

        def __init__(self, C: float = 1.0) -> None:
            self.C = C

    @declared
    class Soft(mercer.SVR):
        """A machine of the library."""

        loss: str = "squared_epsilon_insensitive"
        softness: float = parameter(fraction, default=0.5)
        """How soft it is.

        A second paragraph."""

    text = section(inspect.getdoc(Soft) or "", "Parameters")
    assert "softness : float in (0, 1], default=0.5\n    How soft it is.\n\n    A second" in text
    assert 'loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="sq' in text
    assert "C : float > 0, default=1.0\n    Price of a unit of deviation" in text
    assert "support_, support_vectors_" in section(Soft().__doc__ or "", "Attributes")
    assert Softer.__doc__ == "A machine of a user."
    with pytest.raises(ParameterError, match=r"softness must lie in \(0, 1\]; got 2"):
        Soft(softness=2).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ParameterError, match="C must be a number > 0"):
        Softer(C=-1).fit([[0.0], [1.0]], [0.0, 1.0])


def test_optional_methods_are_documented_too() -> None:
    text = inspect.getdoc(mercer.SVC(probability=True).predict_proba) or ""
    assert "X : array-like or sparse matrix" in section(text, "Parameters")
