"""Count the lines of code of every package: without docstrings, comments and blank lines.

    python -m tools.lines_of_code [--files] [FOLDER]

A line counts if it holds a token of code. `--files` prints the longest files too.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def documentation(tree: ast.AST) -> set[int]:
    """Return the lines of docstrings: strings that stand alone as a statement."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            lines.update(range(node.lineno, node.end_lineno + 1))
    return lines


def lines_of_code(source: str) -> int:
    """Return the number of lines of a module that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documentation(ast.parse(source)))


def main(arguments: list[str]) -> None:
    """Print the number of lines of each package and their sum."""
    folders = [a for a in arguments if not a.startswith("-")]
    root = Path(folders[0]) if folders else Path(__file__).parents[1] / "src" / "mercer"
    files = {p.relative_to(root): lines_of_code(p.read_text()) for p in root.rglob("*.py")}
    rooms: Counter[str] = Counter()
    for path, count in files.items():
        rooms[path.parts[0]] += count
    for room, count in rooms.most_common():
        print(f"{count:>7,}  {room}")
    print(f"{sum(files.values()):>7,}  in all")
    if "--files" in arguments:
        for path, count in sorted(files.items(), key=lambda item: -item[1])[:40]:
            print(f"{count:>7,}  {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
