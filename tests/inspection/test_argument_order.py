"""Arguments in the wrong order are refused with a sentence, by every function of the library."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from mercer import (
    SVC,
    capacity,
    features,
    geometry,
    gram,
    inspection,
    plots,
    selection,
    virtual_support_vectors,
)
from mercer.kernels import RBF

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.where(X[:, 0] > 0, 1, -1)
FIRST = {"kernel": RBF(0.5), "model": SVC().fit(X, Y), "machine": SVC().fit(X, Y)}
OBJECTS = {"X": X, "Z": X, "y": Y, "x": X[0]}


def parameters_of(function):
    return list(inspect.signature(function).parameters.values())


def takes_objects_second(function):
    names = [p.name for p in parameters_of(function)[:2]]
    return len(names) == 2 and names[0] in FIRST and names[1] in OBJECTS


FUNCTIONS = {
    f"{package.__name__}.{name}": function
    for package in (inspection, plots, geometry, capacity, selection, features, gram)
    for name in package.__all__
    if inspect.isfunction(function := getattr(package, name)) and takes_objects_second(function)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_objects_in_the_place_of_a_kernel_or_a_model_are_refused(name):
    first, _, *others = parameters_of(FUNCTIONS[name])
    needed = [p.name for p in others if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    rest = {other: OBJECTS.get(other, 1.0) for other in needed}
    with pytest.raises(TypeError, match=r"kernel|machine|model"):
        FUNCTIONS[name](X, FIRST[first.name], **rest)


def test_long_arrays_are_not_printed_where_another_argument_belongs():
    for call in (
        lambda: gram.evaluate(X, RBF(0.5), X),
        lambda: inspection.falsify(X, RBF(0.5)),
        lambda: virtual_support_vectors(X, FIRST["model"]),
    ):
        with pytest.raises(TypeError, match=r"; got ndarray\."):
            call()


def test_functions_of_all_packages_are_found():
    assert {name.split(".")[1] for name in FUNCTIONS} >= {"geometry", "inspection", "plots"}
    assert len(FUNCTIONS) > 35
