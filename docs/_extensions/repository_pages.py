"""Show the Markdown pages of the repository on the site.

The pages are also read on code hosts, so they use forms that work there, and this extension
translates them: formulas between ``$`` and backticks, links to files of the repository (which
become links to the highlighted source where the site has it) and links to the root pages.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
INLINE_FORMULA = re.compile(r"\$`(.+?)`\$", re.DOTALL)
MODULE_LINK = re.compile(r"\]\((?:\.\./)+src/(mercer/[\w/]+)\.py\)")
ROOT_PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "CITATION.cff": "citing.md",
}


def translate(text: str, depth: int) -> str:
    """Return a page of docs/ as the site reads it; depth is the number of folders above it."""
    up = "../" * depth
    text = INLINE_FORMULA.sub(lambda match: f"${match[1]}$", text)
    for name, page in ROOT_PAGES.items():
        text = re.sub(rf"\]\((?:\.\./)+{re.escape(name)}\)", f"]({up}{page})", text)
    return text


def read_source(app: Sphinx, page: str, content: list[str]) -> None:
    """Translate a page when Sphinx reads it."""
    if app.env.doc2path(page).suffix == ".md":
        content[0] = translate(content[0], page.count("/"))


def read_included(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    """Translate a root page that a page of docs/ includes: its links start one folder higher."""
    text = re.sub(r"\]\(docs/", "](", content[0])
    for name, target in ROOT_PAGES.items():
        text = text.replace(f"]({name})", f"]({target})")
    content[0] = translate(text, 0)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the translation."""
    app.connect("source-read", read_source)
    app.connect("include-read", read_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
