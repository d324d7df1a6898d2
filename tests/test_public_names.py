"""A snapshot of the public names, so that none appears or vanishes unnoticed.

After a deliberate change write it anew: ``python tests/test_public_names.py``.
"""

import importlib
import pkgutil
from pathlib import Path

import mercer

SNAPSHOT = Path(__file__).with_name("public_names.txt")
# Public, but not part of the package above them.
SUBMODULES = ["mercer.capacity.rates", "mercer.geometry.hyperplanes"]


def public_names():
    """Return the names in ``__all__`` of mercer and its packages, a line for each."""
    names = {f"mercer.{name}" for name in mercer.__all__}
    packages = [info.name for info in pkgutil.iter_modules(mercer.__path__, "mercer.")]
    for package in packages + SUBMODULES:
        if not package.startswith("mercer._"):
            module = importlib.import_module(package)
            names |= {f"{package}.{name}" for name in getattr(module, "__all__", ())}
    return sorted(names)


def test_the_public_names_are_those_of_the_snapshot():
    now, before = public_names(), SNAPSHOT.read_text().splitlines()
    new, gone = sorted({*now} - {*before}), sorted({*before} - {*now})
    assert now == before, (
        f"new: {new}; gone: {gone}. After a deliberate change: python tests/test_public_names.py"
    )


def test_the_flat_door_exports_the_names_that_it_imports():
    packages = set(mercer._DOOR["mercer"].split())
    assert {*mercer.__all__} - {"__version__"} == {*mercer._MODULES} - packages


def test_every_public_name_exists():
    for line in public_names():
        module, _, name = line.rpartition(".")
        assert hasattr(importlib.import_module(module), name), line


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(public_names()) + "\n")
