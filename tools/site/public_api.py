"""The public names of mercer, each object once, by package and by the module that defines it.

The names are those of ``tests/public_names.txt``, which a test compares with the packages.
"""

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SNAPSHOT = Path(__file__).resolve().parents[2] / "tests" / "public_names.txt"

# Packages in the order in which a reader meets them.
ROOMS = (
    "mercer",
    "mercer.kernels",
    "mercer.machines",
    "mercer.features",
    "mercer.selection",
    "mercer.inspection",
    "mercer.hypotheses",
    "mercer.capacity",
    "mercer.capacity.rates",
    "mercer.geometry",
    "mercer.geometry.hyperplanes",
    "mercer.plots",
    "mercer.data",
    "mercer.persistence",
    "mercer.export",
    "mercer.losses",
    "mercer.solvers",
    "mercer.gram",
    "mercer.configuration",
)


@dataclass(frozen=True)
class PublicName:
    """A public name.

    Attributes
    ----------
    room : str
        The package that exports it.
    name : str
        The name there.
    value : object
        What it names.
    """

    room: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """The name to import."""
        return f"{self.room}.{self.name}"

    @property
    def kind(self) -> str:
        """One of "class", "exception", "function" and "data"."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        return "function" if callable(self.value) else "data"

    @property
    def module(self) -> str:
        """The module that defines it."""
        return self.room if self.kind == "data" else self.value.__module__


def public_names() -> list[PublicName]:
    """Return every line of the snapshot."""
    found = []
    for line in SNAPSHOT.read_text(encoding="utf-8").split():
        room, _, name = line.rpartition(".")
        found.append(PublicName(room, name, getattr(importlib.import_module(room), name)))
    return found


def by_room() -> dict[str, list[PublicName]]:
    """Return the public names of every package; packages that ROOMS lacks come last.

    A module that a package exports and that is in ROOMS has its index there, and is not listed.
    """
    rooms: dict[str, list[PublicName]] = {room: [] for room in ROOMS}
    for name in public_names():
        if name.path not in ROOMS:
            rooms.setdefault(name.room, []).append(name)
    return {room: names for room, names in rooms.items() if names}


def pages() -> dict[int, str]:
    """Return the page of every object: where several packages export it, the first in ROOMS."""
    found: dict[int, str] = {}
    for names in by_room().values():
        for name in sorted(names, key=is_alias):
            if name.kind != "data":
                found.setdefault(id(name.value), name.path)
    return found


def is_alias(name: PublicName) -> bool:
    """Tell whether an object has another name of its own."""
    return getattr(name.value, "__name__", name.name) != name.name
