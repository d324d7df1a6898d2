"""Escape vertical bars in docstrings.

Docstrings write absolute values and norms as they are read, ``|w|``; in reStructuredText this would
be a substitution. Code, literals and formulas are left alone.
"""

import re

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``|:\w+:`[^`]*`|`[^`]*`)")


def escape(line: str) -> str:
    """Return a line of text with its bars escaped."""
    parts = LITERAL.split(line)
    return "".join(
        part if part.startswith(("`", ":")) else part.replace("|", r"\|") for part in parts
    )


def process(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]):
    """Escape the bars of a docstring, outside of examples and formulas."""
    block: int | None = None  # the indentation of the directive or example that is being passed
    for position, line in enumerate(lines):
        indentation = len(line) - len(line.lstrip())
        text = line.strip()
        if block is not None and text and indentation <= block and not text.startswith(">>>"):
            block = None
        if text.startswith((">>>", ".. math", "::")) or text.endswith("::"):
            block = indentation - 1 if text.startswith(">>>") else indentation
        if not text and block is not None and block == indentation - 1:
            block = None
        if block is None and "|" in line and r"\|" not in line:
            lines[position] = escape(line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after numpydoc."""
    app.connect("autodoc-process-docstring", process, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
