"""A snapshot of the public names, so that none appears or vanishes unnoticed.

After a deliberate change write it anew: ``python tests/test_public_names.py``.
"""

import importlib
import pkgutil
from pathlib import Path

import mercer

SNAPSHOT = Path(__file__).with_name("public_names.txt")


def public_names():
    """Return the names in ``__all__`` of mercer and its packages, a line for each."""
    names = {f"mercer.{name}" for name in mercer.__all__}
    for info in pkgutil.iter_modules(mercer.__path__, "mercer."):
        if info.name.rpartition(".")[2].startswith("_"):
            continue
        module = importlib.import_module(info.name)
        names |= {f"{info.name}.{name}" for name in getattr(module, "__all__", ())}
    return sorted(names)


def test_the_public_names_are_those_of_the_snapshot():
    assert public_names() == SNAPSHOT.read_text().splitlines()


def test_every_public_name_exists():
    for line in public_names():
        module, _, name = line.rpartition(".")
        assert hasattr(importlib.import_module(module), name), line


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(public_names()) + "\n")
