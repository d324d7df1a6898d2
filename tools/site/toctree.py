"""The pages of docs/ and how the tables of contents connect them."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
GENERATED = ("_build", "api", "gallery")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that are kept in the repository."""
    return sorted(
        path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in GENERATED
    )


def entries(page: Path) -> list[str]:
    """Return what the tables of contents of a page name, relative to docs/, without suffix."""
    found = []
    for body in TOCTREE.findall(page.read_text(encoding="utf-8")):
        for line in body.splitlines():
            name = re.sub(r"^.*<(.+)>$", r"\1", line.strip())
            if name and not name.startswith(":"):
                target = (page.parent / name).resolve()
                found.append(target.relative_to(DOCS).as_posix())
    return found


def reachable(start: str = "index") -> set[str]:
    """Return the pages that the tables of contents reach, generated ones among them."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        page = DOCS / f"{name}.md"
        if name not in seen:
            seen.add(name)
            if page.exists():
                waiting += entries(page)
    return seen
