"""The engine is the only one that reads a clock, catches Ctrl-C and makes certificates.

`mercer.run` has the clock and the handler of Ctrl-C, `mercer.solvers.prove` makes certificates. The
syntax tree of every other module is searched for them, whatever name they are imported under.
"""

import ast

import pytest

from mercer.solvers.certificate import GAP_LIMIT
from tests.test_rooms import MODULES, SOURCE

ENGINE = ("mercer.run", "mercer.solvers.prove")

# Modules that still do so themselves, by rule. Entries may only be removed: the test fails for one
# that is no longer needed.
EXCEPTIONS = {
    "interrupt": set[str](),
    "clock": {
        "mercer.machines.support_vector.classifier",
        "mercer.machines.support_vector.fitting",
        "mercer.machines.support_vector.multiple_kernels",
    },
    "certificate": set[str](),
    "constant": set[str](),
}

CLOCKS = {
    *(f"time.{kind}{unit}" for unit in ("", "_ns") for kind in (
        "time", "perf_counter", "monotonic", "process_time", "thread_time", "clock_gettime")),
    *("time.localtime", "time.gmtime", "time.ctime", "time.strftime", "os.times"),
    *(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")),
    "datetime.date.today",
    *("timeit.default_timer", "timeit.timeit", "timeit.repeat", "timeit.Timer"),
}  # fmt: skip
CERTIFICATES = {"mercer.solvers.Certificate", "mercer.solvers.certificate.Certificate"}
INTERRUPTS = {"KeyboardInterrupt", "builtins.KeyboardInterrupt"}
CONSTANTS = {GAP_LIMIT: "mercer.solvers.certificate"}
"""Public numbers of the engine, and where they are defined."""


class Names(ast.NodeVisitor):
    """What the names of a module stand for: imports under any alias, and assigned aliases."""

    def __init__(self, module: str, is_package: bool) -> None:
        self.module = module
        self.package = module if is_package else module.rpartition(".")[0]
        self.known: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.known[name] = alias.name if alias.asname else name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        parts = self.package.split(".")[: 1 - node.level or None] if node.level else []
        base = ".".join([*parts, *([node.module] if node.module else [])])
        for alias in node.names:
            self.known[alias.asname or alias.name] = f"{base}.{alias.name}"

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.known.setdefault(node.name, f"{self.module}.{node.name}")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        meaning = self.of(node.value)
        for target in node.targets:
            if meaning is not None and isinstance(target, ast.Name):
                self.known.setdefault(target.id, meaning)
        self.generic_visit(node)

    def of(self, node: ast.AST) -> str | None:
        """Return the dotted name of an expression, None if it has none."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self.of(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None


def cleans_up(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler of all exceptions raises them again."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def breaches(source: str, module: str, is_package: bool = False) -> set[str]:
    """Return which rules of the engine a module breaks."""
    tree, names, found = ast.parse(source), Names(module, is_package), set()
    names.visit(tree)

    def caught(node: ast.AST | None) -> set[str | None]:
        return {names.of(item) for item in (node.elts if isinstance(node, ast.Tuple) else [node])}

    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            everything = node.type is None or "BaseException" in caught(node.type)
            if (everything and not cleans_up(node)) or INTERRUPTS & caught(node.type):
                found.add("interrupt")
        elif isinstance(node, ast.Call) and names.of(node.func) in CERTIFICATES:
            found.add("certificate")
        elif isinstance(node, ast.Call) and names.of(node.func) == "contextlib.suppress":
            if any({*INTERRUPTS, "BaseException"} & caught(value) for value in node.args):
                found.add("interrupt")
        elif isinstance(node, ast.Constant) and type(node.value) is float:
            found |= {"constant"} if CONSTANTS.get(node.value, module) != module else set()
        elif isinstance(node, ast.Name | ast.Attribute) and names.of(node) in CLOCKS:
            found.add("clock")
    return found | ({"clock"} if CLOCKS & set(names.known.values()) else set())


def test_only_the_engine_reads_clocks_catches_interrupts_and_makes_certificates() -> None:
    found = {
        module: breaches(path.read_text(), module, path.name == "__init__.py")
        for module, path in MODULES.items()
        if not module.startswith(ENGINE)
    }
    for rule, allowed in EXCEPTIONS.items():
        modules = {module for module, broken in found.items() if rule in broken}
        assert not modules - allowed, f"{rule}: use mercer.run or mercer.solvers.prove"
        assert not allowed - modules, f"{rule}: no longer needed, remove them from EXCEPTIONS"


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("try:\n    f()\nexcept KeyboardInterrupt:\n    pass", "interrupt"),
        ("try:\n    f()\nexcept (ValueError, KeyboardInterrupt):\n    pass", "interrupt"),
        ("Stop = KeyboardInterrupt\ntry:\n    f()\nexcept Stop:\n    pass", "interrupt"),
        ("import builtins as b\ntry:\n    f()\nexcept b.KeyboardInterrupt:\n    pass", "interrupt"),
        ("try:\n    f()\nexcept:\n    pass", "interrupt"),
        ("try:\n    f()\nexcept BaseException as e:\n    g(e)", "interrupt"),
        ("from contextlib import suppress as s\nwith s(KeyboardInterrupt):\n    f()", "interrupt"),
        ("from time import perf_counter as now", "clock"),
        ("import time as t\nbegin = t.monotonic()", "clock"),
        ("import time\nclock = time.perf_counter", "clock"),
        ("def f():\n    from timeit import default_timer", "clock"),
        ("from datetime import datetime as d\nd.now()", "clock"),
        ("import datetime\ndatetime.date.today()", "clock"),
        ("from mercer.solvers import Certificate as C\nC('optimal')", "certificate"),
        ("from ..solvers.certificate import Certificate\nCertificate('optimal')", "certificate"),
        ("import mercer.solvers as s\nMade = s.Certificate\nMade('optimal')", "certificate"),
        ("_PROVED = 5e-4", "constant"),
        ("def f(limit=0.0005): ...", "constant"),
    ],
)
def test_breaches_are_found_under_any_name(source: str, rule: str) -> None:
    assert breaches(source, "mercer.machines.example") == {rule}


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    f()\nexcept ValueError:\n    raise KeyboardInterrupt from None",
        "try:\n    f()\nexcept BaseException:\n    g()\n    raise",
        "from time import sleep",
        "from datetime import date, timedelta\nkinds = date | timedelta",
        "from mercer.solvers import Certificate\nproof: Certificate = Certificate.combine([])",
        "def time(value):\n    return value",
        '"""A gap of 5e-4."""',
        "tol = 5e-3",
    ],
)
def test_what_is_allowed(source: str) -> None:
    assert not breaches(source, "mercer.machines.example")


def test_the_rules_find_the_engine_itself() -> None:
    assert breaches((SOURCE / "run.py").read_text(), "mercer.run") == {"interrupt", "clock"}
    statements = (SOURCE / "solvers/prove/statements.py").read_text()
    assert breaches(statements, "mercer.solvers.prove.statements") == {"certificate"}
