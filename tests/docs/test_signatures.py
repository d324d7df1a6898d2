"""Calls in the tables of the documentation: their keywords and parameters exist."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import mercer
import mercer.kernels
import mercer.selection

DOCS = Path(__file__).resolve().parents[2] / "docs"
CALL = re.compile(r"`([^`]*\([^`]*\)[^`]*)`")


def cells():
    """Return the page, the column and the text of every call in a table."""
    for page in sorted(DOCS.rglob("*.md")):
        for line in page.read_text().splitlines():
            if line.startswith("|"):
                for column, cell in enumerate(line.strip("|").split("|")):
                    yield from ((page.stem, column, code) for code in CALL.findall(cell))


def calls():
    """Return the calls of classes and functions of mercer, with what they are written as."""
    for page, column, code in cells():
        try:
            tree = ast.parse(code, mode="eval")
        except SyntaxError:  # R, or dots for parameters left out
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                rooms = (mercer, mercer.kernels, mercer.selection)
                found = next(
                    (getattr(r, node.func.id) for r in rooms if hasattr(r, node.func.id)), None
                )
                if found is not None:
                    yield pytest.param(column, node, found, id=f"{page}: {code}")


@pytest.mark.parametrize(("column", "call", "found"), list(calls()))
def test_parameters_in_tables_exist(column, call, found):
    """In a first column names without a value are parameters, as in `Spectrum(p)`."""
    names = list(inspect.signature(found).parameters)
    given = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    if column == 0 and isinstance(found, type):
        given += [argument.id for argument in call.args if isinstance(argument, ast.Name)]
    assert set(given) <= set(names)


def test_tables_with_calls_are_found():
    assert len(list(calls())) > 10
