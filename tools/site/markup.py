"""Plain text in docstrings that reStructuredText would take for markup.

Absolute values, ``|w|``, would be substitutions, and fitted attributes, ``alpha_``, references.
"""

import re

LITERAL = re.compile(r"(``.*?``|:\w+:`[^`]*`|`[^`]*`)")
REFERENCE = re.compile(r"(?<=\w)_(?![\w`*])")


def escape(line: str) -> str:
    """Return a line of text with bars and final underscores escaped, literals left alone."""
    parts = LITERAL.split(line)
    parts[::2] = [REFERENCE.sub(r"\\_", part).replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)
