"""Escape what is plain text in docstrings and markup in reStructuredText.

Docstrings write norms as they are read, ``|w|``, and fitted attributes with their underscore. Code,
literals and formulas are left alone.
"""

import re

from sphinx.application import Sphinx

from tools.site.markup import escape

# Docstrings that estimators inherit from scikit-learn refer to labels of its own site.
FOREIGN_LABEL = re.compile(r":(?:ref|term):`([^`<]*?)\s*(?:<[^`]*>)?`")


def process(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]):
    """Escape the lines of a docstring, outside of examples and formulas."""
    block: int | None = None  # the indentation of the directive or example that is being passed
    for position, line in enumerate(lines):
        line = lines[position] = FOREIGN_LABEL.sub(r"\1", line)
        indentation = len(line) - len(line.lstrip())
        text = line.strip()
        if block is not None and text and indentation <= block and not text.startswith(">>>"):
            block = None
        if text.startswith((">>>", ".. math", "::")) or text.endswith("::"):
            block = indentation - 1 if text.startswith(">>>") else indentation
        if not text and block is not None and block == indentation - 1:
            block = None
        if block is None and r"\|" not in line and r"\_" not in line:
            lines[position] = escape(line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after numpydoc."""
    app.connect("autodoc-process-docstring", process, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
