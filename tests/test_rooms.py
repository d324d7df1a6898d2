"""The order of the packages: each imports only packages that stand earlier in the list."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "mercer"

# Bottom up, as docs/architecture.md describes them. `_native` is the compiled core.
ROOMS = (
    "_version",
    "_native",
    "sklearn_internals",
    "threads",
    "run",
    "objects",
    "numerics",
    "gram",
    "kernels",
    "losses",
    "solvers",
    "persistence",
    "expansion",
    "geometry",
    "capacity",
    "machines",
    "features",
    "export",
    "inspection",
    "selection",
    "hypotheses",
    "data",
    "plots",
    "configuration",
)

# Edges against the order that still exist. Entries may only be removed.
EXCEPTIONS: set[tuple[str, str]] = set()

# Imported inside functions: libraries that are optional, or slow to import and needed by few calls.
DEFERRED = {"matplotlib", "onnx", "rich", "scipy", "sklearn", "skops"}
# Loads the packages below it when it draws: they load scikit-learn, which loads pandas.
LAZY = {"plots"}


def module_name(path):
    parts = ("mercer", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCE.rglob("*.py")}


def imports(name):
    """Yield (imported module, whether inside a function) for every import of a module.

    Imports under TYPE_CHECKING count like any other.
    """
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]

    def visit(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((alias.name, inside) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parts = package.split(".")[: len(package.split(".")) - child.level + 1]
                    base = ".".join([*parts, base] if base else parts)
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    yield (full if full in MODULES or base == "mercer" else base), inside
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from visit(child, inside or is_function)

    yield from visit(ast.parse(path.read_text()), False)


def room(name):
    return name.split(".")[1]


def inner_imports(name):
    return [(found, inside) for found, inside in imports(name) if found.startswith("mercer.")]


def test_every_package_has_a_place_in_the_order():
    found = {room(name) for name in MODULES if name != "mercer"}
    assert found <= set(ROOMS)
    assert set(ROOMS) - found == {"_native"}


def test_no_package_imports_one_that_stands_later():
    edges = {
        (room(name), room(target))
        for name in MODULES
        if name != "mercer"
        for target, _ in inner_imports(name)
    }
    against = {(a, b) for a, b in edges if ROOMS.index(b) > ROOMS.index(a)}
    assert against == EXCEPTIONS


def test_imports_inside_functions_stay_within_a_package():
    """A package that stands lower is imported at the top of a file."""
    assert [
        (name, target)
        for name in MODULES
        if name != "mercer"
        for target, inside in inner_imports(name)
        if inside and room(target) != room(name) and room(name) not in LAZY
    ] == []


def test_imports_of_other_libraries_inside_functions_are_optional_or_slow_ones():
    found = {
        target.split(".")[0]
        for name in MODULES
        for target, inside in imports(name)
        if inside and not target.startswith("mercer")
    }
    assert found <= DEFERRED


@pytest.mark.parametrize("package", ["objects", "numerics", "gram", "solvers", "losses"])
def test_the_lower_packages_load_no_estimator(package):
    program = (
        f"import sys, mercer.{package}\n"
        "print(sorted(m for m in sys.modules if m.startswith(('sklearn', 'mercer.kernels', "
        "'mercer.machines'))))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
