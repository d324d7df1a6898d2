"""Private names of scikit-learn are used through one module, and all of them exist."""

import ast
import re

import pytest
import sklearn

from mercer import sklearn_internals
from tests.test_rooms import MODULES

HOME = "mercer.sklearn_internals"


def is_private(path):
    """Return whether a dotted path into scikit-learn passes a name with an underscore."""
    return any(re.match("_(?!_)", part) for part in path.split("."))


def uses(source):
    """Yield the private names of scikit-learn in a program: imports, attributes and strings."""
    tree, modules = ast.parse(source), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "sklearn":
                    modules[alias.asname or "sklearn"] = alias.name if alias.asname else "sklearn"
                    if is_private(alias.name):
                        yield alias.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
            for alias in node.names:
                path = f"{node.module}.{alias.name}"
                modules[alias.asname or alias.name] = path
                if is_private(path):
                    yield path
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (s for s in re.findall(r"\bsklearn(?:\.\w+)+", node.value) if is_private(s))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            path, inner = [node.attr], node.value
            while isinstance(inner, ast.Attribute):
                path, inner = [inner.attr, *path], inner.value
            if isinstance(inner, ast.Name) and inner.id in modules and is_private(".".join(path)):
                yield ".".join([modules[inner.id], *path])


@pytest.mark.parametrize(
    "program",
    [
        "from sklearn.base import _fit_context",
        "from sklearn.base import _fit_context as context",
        "from sklearn.utils._param_validation import Interval",
        "def f():\n    import sklearn.utils._param_validation as checks",
        "import sklearn.base\nsklearn.base._fit_context",
        "from sklearn import base as b\nb._fit_context",
        "import sklearn as s\ns.model_selection._search.BaseSearchCV",
        "importlib.import_module('sklearn.utils._tags')",
        "class Search(sklearn_search._Base): pass\nfrom sklearn import x as sklearn_search",
    ],
)
def test_private_names_are_recognised(program):
    assert list(uses(program))


def test_public_names_are_not_taken_for_private_ones():
    program = "import sklearn\nfrom sklearn import base\nbase.clone(x)._own\nsklearn.__version__"
    assert list(uses(program)) == []


def test_one_module_alone_names_private_names_of_scikit_learn():
    found = {name: sorted(set(uses(path.read_text()))) for name, path in MODULES.items()}
    assert {name for name, names in found.items() if names} == {HOME}


@pytest.mark.parametrize("name", sorted(sklearn_internals._NAMES))
def test_every_name_exists_and_is_used(name):
    found = getattr(sklearn_internals, name)
    too_old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
    assert found is not None or (name in sklearn_internals._OPTIONAL and too_old)
    used = rf'internals( import [^)]*|\.)\b{name}\b|__getattr__\("{name}"\)'
    assert any(re.search(used, path.read_text()) for path in MODULES.values())
    assert re.search(rf"\b{name}\b", MODULES[HOME].with_suffix(".pyi").read_text())
