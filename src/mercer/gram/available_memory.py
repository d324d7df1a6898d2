"""Available memory: bytes a process may still allocate before a limit ends it.

The least of the memory that is free on the machine, of what each control group around the process
leaves, and of its address space (``ulimit -v``). Groups are nested, and the smallest limit on the
way to the root binds: the path of the process' own group is in /proc/self/cgroup, the folder where
the groups are shown in /proc/self/mountinfo. Both versions of control groups are read (cgroups(7));
a machine may have both at once. A page of a file that was read counts as used memory of a group
until somebody needs it: those that nobody has used recently (``inactive_file``) count as free, as
in MemAvailable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

_UNKNOWN = 2 << 30  # where the system does not say
_HEAD = 512  # bytes of /proc/meminfo, whose third line is read at every fit

# Version -> names of the files of a group: limit, memory in use, and its cached pages in the table.
_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "),
    2: ("memory.max", "memory.current", "inactive_file "),
}


def available_bytes(root: str = "") -> int:
    """Return the bytes that the machine, the control groups and the address space all leave.

    `root`: the folder in which /proc and /sys are; tests make one.
    """
    found = [_machine(root), _address_space(root), *_groups(root)]
    return min((n for n in found if n is not None), default=_UNKNOWN)


def _machine(root: str) -> int | None:
    try:
        with open(f"{root}/proc/meminfo", "rb", buffering=0) as file:
            text = file.read(_HEAD)
        return int(text[text.index(b"MemAvailable:") :].split(maxsplit=2)[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:  # systems without /proc: half of what is built in
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _address_space(root: str) -> int | None:
    try:
        limits = _text(f"{root}/proc/self/limits")
        soft = int(limits[limits.index("Max address space") :].split(maxsplit=4)[3])
        pages = int(_text(f"{root}/proc/self/statm").split(maxsplit=1)[0])
        return max(soft - pages * os.sysconf("SC_PAGE_SIZE"), 0)
    except (OSError, ValueError, IndexError):  # "unlimited" is no integer
        return None


def _groups(root: str) -> Iterator[int]:
    """Yield what each control group of memory around the process leaves to it."""
    try:
        lines = _text(f"{root}/proc/self/cgroup").splitlines()
    except OSError:
        return
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        version = 2 if number == "0" else 1
        if version == 2 or "memory" in controllers.split(","):
            for shown, mount in _mounts(root, version):
                for group in _folders(path, shown):
                    left = _left(f"{root}{mount}{group}/", *_FILES[version])
                    if left is not None:
                        yield left


def _folders(path: str, shown: str) -> list[str]:
    """Return a group and those around it, as folders of a mount that shows the group `shown`.

    A container may see nothing but its own group: then the mount itself is that group.
    """
    group, top = PurePosixPath(path), PurePosixPath(shown)
    below = group.relative_to(top) if group.is_relative_to(top) else PurePosixPath()
    return [f"/{folder}" for folder in (below, *below.parents)]


@lru_cache(4)
def _mounts(root: str, version: int) -> list[tuple[str, str]]:
    """Return (group, folder that shows it) for the mounts of one version of control groups."""
    found = []
    try:
        lines = _text(f"{root}/proc/self/mountinfo").splitlines()
    except OSError:
        return []
    for (
        line
    ) in lines:  # id, parent, device, group, folder, ... - type, source, options: see proc(5)
        head, _, tail = line.partition(" - ")
        kind, options = tail.partition(" ")[0], tail.rpartition(" ")[2]
        wanted = kind == "cgroup2" if version == 2 else "memory" in options.split(",")
        if kind.startswith("cgroup") and wanted:
            shown, folder = head.split(" ")[3:5]
            found.append((shown, folder))
    return found


def _left(folder: str, limit: str, used: str, cached: str) -> int | None:
    """Return what one group leaves, None where it has no limit."""
    try:
        most = int(_text(folder + limit))
        if most >= 1 << 60:  # version 1 writes "no limit" as a number of pages
            return None
        in_use = int(_text(folder + used))
    except (OSError, ValueError):  # "max" is no integer
        return None
    try:
        table = _text(folder + "memory.stat")
        at = 0 if table.startswith(cached) else table.index("\n" + cached)
        in_use -= int(table[at:].split(maxsplit=2)[1])
    except (OSError, ValueError, IndexError):
        pass
    return max(most - in_use, 0)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
