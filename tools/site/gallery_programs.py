"""Prepare the programs of examples/ for sphinx-gallery.

The programs are plain Python: a docstring whose first line is a sentence, then code. sphinx-gallery
wants a heading there, so copies get one. Running the copies also keeps the pictures that programs
write out of the repository.
"""

import ast
import shutil
from pathlib import Path

HEADER = """\
Gallery
=======

Programs of the folder ``examples/`` with what they print and draw. Each one runs by itself:
``python examples/NAME.py``.
"""


def with_heading(source: str) -> str:
    """Return a program whose docstring starts with its first line as a heading."""
    docstring = ast.get_docstring(ast.parse(source))
    if docstring is None:
        raise ValueError("a program of the gallery starts with a docstring")
    title, _, rest = docstring.partition("\n")
    title = title.rstrip(".")
    node = ast.parse(source).body[0]
    tail = "\n".join(source.splitlines()[node.end_lineno :])
    raw = "r" if "\\" in docstring else ""
    return f'{raw}"""\n{title}\n{"=" * len(title)}\n{rest}\n"""\n{tail}\n'


def write(examples: Path, folder: Path) -> None:
    """Write the copies; programs that did not change keep their date and are not run again."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {"GALLERY_HEADER.rst": HEADER}
    made |= {path.name: with_heading(path.read_text("utf-8")) for path in examples.glob("*.py")}
    for old in folder.iterdir():
        if old.name not in made:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")
