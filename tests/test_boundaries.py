"""File names and private names across the packages of `src/mercer`, by their syntax trees."""

import ast
from collections import Counter, defaultdict

from tests.test_rooms import MODULES, SOURCE, room

# Names that a family of files shares on purpose.
FAMILIES = {"__init__.py", "base.py"}

LOOK_UPS = {"getattr", "hasattr", "setattr", "delattr"}

# Base names that still occur more than once. Entries may only be removed.
REPEATED_NAMES = {
    "centring.py",
    "cholesky.py",
    "class_pairs.py",
    "classification.py",
    "definiteness.py",
    "hard_margin.py",
    "problem.py",
    "regression.py",
    "rounding.py",
    "search.py",
    "solving.py",
    "validation.py",
}

# Private names that a package uses and only others define. Entries may only be removed.
PRIVATE_ACCESSES = {
    "capacity": {"_enter", "_fit_on"},
    "export": {
        "_STRICT",
        "_calibration",
        "_centre_norm2",
        "_dense_coef",
        "_linear",
        "_offsets",
        "_one_against_one",
        "_point",
        "_rows_fit",
        "_size",
        "_weight_fit",
    },
    "inspection": {"_distinct", "_kept", "_objects"},
    "persistence": {"_bounds"},
    "plots": {"_observed", "_y_train_mean", "_y_train_std"},
    "selection": {
        "_check_parameters",
        "_check_target",
        "_covariance",
        "_enter",
        "_loss",
        "_pose",
        "_posed_again",
        "_resolved_kernel",
        "_set_price",
        "_sums_to_zero",
        "_targets",
        "_y_train_std",
    },
}


def test_no_two_files_have_the_same_name():
    counts = Counter(path.name for path in SOURCE.rglob("*.py"))
    assert {name for name, n in counts.items() if n > 1} - FAMILIES == REPEATED_NAMES


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def defined_names(tree):
    """Yield the private names that a module defines: functions, classes, variables, attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def is_own(node):
    """Return whether an attribute is one of `self`, `cls` or `super()`."""
    owner = node.value
    if isinstance(owner, ast.Call):
        return isinstance(owner.func, ast.Name) and owner.func.id == "super"
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls")


def used_names(tree):
    """Yield the private names that a module reads, writes or looks up on other objects, or imports.

    A name in a string counts where ``getattr``, ``hasattr``, ``setattr`` or ``delattr`` takes it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not is_own(node):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in LOOK_UPS:
            yield from (a.value for a in node.args[1:2] if isinstance(a, ast.Constant))


def test_no_package_uses_private_names_of_another():
    """A private name is used in the package that defines it.

    Private is what begins with one underscore. A module may use on other objects, import, or look
    up by string such names of its own package; an attribute of ``self``, ``cls`` and ``super()`` is
    its own, since a subclass may stand in another package. A name that no package defines is one of
    another library (``_replace`` of named tuples) and not judged here.
    """
    trees = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}
    homes = defaultdict(set)
    for name, tree in trees.items():
        for found in filter(is_private, defined_names(tree)):
            homes[found].add(package(name))
    used = defaultdict(set)
    for name, tree in trees.items():
        for found in filter(is_private, used_names(tree)):
            if homes[found] and package(name) not in homes[found]:
                used[package(name)].add(found)
    assert dict(used) == PRIVATE_ACCESSES


def package(name):
    return room(name) if name != "mercer" else name
