"""Docstrings of estimators, completed from declared parameters and from the base classes.

A parameter is documented by the string below its declaration (or in the docstring, where entries of
several parameters are one), an attribute of a fit in the section
"Attributes" of the class that sets it; every class derived from it lists both. Strings below
declarations are read from the source, as pydantic and Sphinx do, when the docstring is asked for.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from itertools import pairwise
from typing import Any

_HEADING = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


class CompleteDocstring:
    """The docstring of a class of which `own` is written out, with all parameters and attributes.

    Set as ``__doc__`` of the class; Python asks it for the text.
    """

    def __init__(self, own: str) -> None:
        self.own = own
        self.text: str | None = None

    def __get__(self, instance: Any, owner: Any) -> str:
        if "_parameters" not in owner.__dict__:  # inherited by a class without a docstring
            return self.own
        if self.text is None:
            self.text = _completed(owner, self.own)
        return self.text


def _completed(cls: Any, own: str) -> str:
    summary, sections = _sections(own)
    sentences: dict[str, str] = {}
    inherited: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if "_parameters" in base.__dict__:
            sentences |= _strings_below(base)
        text = base.__dict__.get("__doc__")
        if base is not cls and base.__module__.startswith("mercer."):
            text = text.own if isinstance(text, CompleteDocstring) else text or ""
            inherited |= _entries(_sections(text)[1].get("Attributes", ""))
    attributes = _entries(sections.get("Attributes", ""))
    parameters = {
        name: f"{name} : {p.kind}{_default(p)}\n{textwrap.indent(sentences[name], '    ')}"
        for name, p in cls._parameters.items()
        if name in sentences
    }
    first = {
        "Parameters": parameters | _entries(sections.get("Parameters", "")),
        "Attributes": attributes | {k: v for k, v in inherited.items() if k not in attributes},
    }
    sections = {title: "\n".join(found.values()) for title, found in first.items()} | {
        title: text for title, text in sections.items() if title not in first
    }
    parts = [f"{t}\n{'-' * len(t)}\n{text}" for t, text in sections.items() if text]
    return "\n\n".join([summary, *parts]) + "\n"


def _strings_below(cls: type) -> dict[str, str]:
    """Return the strings below the declarations of a class; none where there is no source."""
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except OSError:
        return {}
    (body,) = (node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    found: dict[str, str] = {}
    for node, below in pairwise(body):
        match node, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found


def _default(parameter: Any) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return ""
    return f', default="{default}"' if isinstance(default, str) else f", default={default!r}"


def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the sections of a docstring, and the sections by their title."""
    first, *found = _HEADING.split(inspect.cleandoc(docstring))
    texts = (text.rstrip() for text in found[1::2])
    return first.rstrip(), dict(zip(found[::2], texts, strict=True))


def _entries(section: str) -> dict[str, str]:
    """Return the entries of a section by the names before the colon."""
    entries: dict[str, str] = {}
    for line in section.splitlines():
        if line[:1] not in ("", " "):
            key = line.partition(" :")[0]
            entries[key] = line
        else:
            entries[key] += f"\n{line}"
    return entries
