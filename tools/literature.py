"""Write docs/literature.md: which item of the literature stands where, and which test proves it.

Three sources meet here:

- `docs/literature_titles.toml`: every item the project has taken on, what it is in one line, and
  the module that holds its code;
- the markers `@pytest.mark.spec("CS-6.17", ...)` in tests/, found by reading the syntax trees, so
  nothing is imported and nothing has to be built (`code="..."` in a marker overrules the titles);
- the lines `- ID: reason` already in docs/literature.md, written by hand for items that need no
  code. They are kept.

Usage: python tools/literature.py [--check]

With --check nothing is written; the exit status says whether the page is up to date and every item
has a test or a reason.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TITLES = ROOT / "docs" / "literature_titles.toml"
PAGE = ROOT / "docs" / "literature.md"
TESTS = ROOT / "tests"

BOOKS = {
    "CS": "N. Cristianini and J. Shawe-Taylor, *An Introduction to Support Vector Machines* (2000)",
    "LFD": "Y. Abu-Mostafa, M. Magdon-Ismail and H.-T. Lin, *Learning From Data*, e-chapter 8",
    "SS": "B. Schölkopf and A. Smola, *Support Vector Machines and Kernel Algorithms* (2002)",
    "HO": "V. Honavar, *Kernel Machines* (lecture slides)",
    "SM": "A. Smola, *Learning with Kernels*, doctoral thesis (1998)",
}
REASON = re.compile(r"^- ([A-Z]+-[0-9A-Z.]*[0-9]): (.+)$", re.MULTILINE)
SHOWN_TESTS = 3  # a row names at most so many tests and counts the others


@dataclass(frozen=True)
class Proof:
    """A test that carries an id."""

    path: str
    name: str
    code: str | None

    @property
    def label(self) -> str:
        """Name of the test (of the file, when the marker stands outside a test), for Markdown."""
        return f"`{self.name or Path(self.path).name}`"


def order(item: str) -> tuple[int, list[tuple[bool, int, str]]]:
    """Sort key: by book, then by number (CS-6.2 before CS-6.10), appendices last (CS-B.01)."""
    book, number = item.split("-", 1)
    parts = number.split(".")
    return list(BOOKS).index(book), [
        (not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts
    ]


def markers(tree: ast.AST, owner: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call `<...>.mark.spec(...)` under a node, with the test or class it belongs to."""
    for node in ast.iter_child_nodes(tree):
        inner = owner
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{owner}::{node.name}" if owner else node.name
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "spec"
            and isinstance(node.func.value, ast.Attribute)
            and node.func.value.attr == "mark"
        ):
            yield owner, node
        yield from markers(node, inner)


def collect(tests: Path) -> dict[str, list[Proof]]:
    """Find the tests that carry each id."""
    found: dict[str, list[Proof]] = defaultdict(list)
    for path in sorted(tests.rglob("*.py")):
        relative = path.relative_to(tests.parent).as_posix()
        for owner, call in markers(ast.parse(path.read_text(encoding="utf-8")), ""):
            where = f"{relative}:{call.lineno}"
            code = None
            for keyword in call.keywords:
                if keyword.arg != "code" or not isinstance(keyword.value, ast.Constant):
                    raise SystemExit(f"{where}: a spec marker takes ids and code='path', literally")
                code = str(keyword.value.value)
            for argument in call.args:
                if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                    raise SystemExit(f"{where}: the ids of a spec marker are literal strings")
                proof = Proof(relative, owner, code)
                if proof not in found[argument.value]:
                    found[argument.value].append(proof)
    return found


def titles() -> dict[str, dict[str, str]]:
    """Read the items: id -> {"what": ..., "code": ...}."""
    with TITLES.open("rb") as file:
        return tomllib.load(file)


def reasons() -> dict[str, str]:
    """Read the hand-written reasons of the present page."""
    return dict(REASON.findall(PAGE.read_text(encoding="utf-8"))) if PAGE.exists() else {}


def link(path: str, text: str) -> str:
    """Format a link from docs/ to a file of the repository."""
    return f"[{text}](../{path})"


def code_of(entry: dict[str, str], proofs: list[Proof]) -> list[str]:
    """Paths of the modules that hold an item."""
    stated = [proof.code for proof in proofs if proof.code] or entry.get("code", "").split()
    return list(dict.fromkeys(stated))


def row(item: str, entry: dict[str, str], proofs: list[Proof]) -> str:
    """Format the line of one item."""
    code = ", ".join(link(path, path.removeprefix("src/")) for path in code_of(entry, proofs))
    shown = [link(proof.path, proof.label) for proof in proofs[:SHOWN_TESTS]]
    if len(proofs) > SHOWN_TESTS:
        shown.append(f"and {len(proofs) - SHOWN_TESTS} more")
    return f"| {item} | {entry['what']} | {code} | {', '.join(shown)} |"


def page(
    items: dict[str, dict[str, str]], proofs: dict[str, list[Proof]], why: dict[str, str]
) -> str:
    """Compose the page."""
    proved = sorted((item for item in items if item in proofs), key=order)
    lines = [
        "# Literature",
        "",
        "Which item of the literature stands where in the code, and which test proves it. The "
        "tables are",
        "generated by `make literature` from the markers of the tests and from",
        "[literature_titles.toml](literature_titles.toml); edit those, not this page. The reasons "
        "at the end",
        "are written by hand and kept.",
    ]
    for book, title in BOOKS.items():
        own = [item for item in proved if item.startswith(book + "-")]
        if own:
            lines += ["", f"## {title}", ""]
            lines += ["| item | what it is | code | proved by |", "|---|---|---|---|"]
            lines += [row(item, items[item], proofs[item]) for item in own]
    lines += ["", "## Items that need no code of their own", ""]
    lines += [f"- {item}: {why[item]}" for item in sorted(why, key=order)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write or check the page; report what is open."""
    items, proofs, why = titles(), collect(TESTS), reasons()
    untitled = sorted(set(proofs) - set(items)) + sorted(set(why) - set(items))
    if untitled:
        raise SystemExit(f"{TITLES.name} lacks {', '.join(untitled)}")
    open_items = sorted((i for i in items if i not in proofs and i not in why), key=order)
    lost = sorted(
        {path for i in items for path in code_of(items[i], proofs.get(i, []))}
        - {path.relative_to(ROOT).as_posix() for path in ROOT.glob("src/**/*")}
        - {path.relative_to(ROOT).as_posix() for path in ROOT.glob("cpp/**/*")}
        - {path.relative_to(ROOT).as_posix() for path in ROOT.glob("examples/*")}
    )
    text = page(items, proofs, why)
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        stale = False
    print(
        f"{len(items)} items: {len(items.keys() & proofs.keys())} proved by tests, "
        f"{len(why)} with a reason, {len(open_items)} open"
    )
    if open_items:
        print("open:", ", ".join(open_items))
    if lost:
        print("code that does not exist:", ", ".join(lost))
    if stale:
        print("docs/literature.md is out of date: run 'make literature'")
    # Writing the page is a success even while items are open; only the check insists.
    return int(bool(lost) or ("--check" in arguments and (bool(open_items) or stale)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
