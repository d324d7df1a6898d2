"""Available memory: bytes a process may still allocate, on its machine or in its control group."""

from __future__ import annotations

import os

_UNKNOWN = 2 << 30  # where the system does not say
_HEAD = 512  # bytes of /proc/meminfo, whose third line is read at every fit


def available_bytes() -> int:
    """Return the free memory of the machine or of the control group, whichever is less."""
    found = [n for n in (_machine(), _group()) if n is not None]
    return min(found) if found else _UNKNOWN


def _machine() -> int | None:
    try:
        with open("/proc/meminfo", "rb", buffering=0) as file:
            text = file.read(_HEAD)
        return int(text[text.index(b"MemAvailable:") :].split(maxsplit=2)[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:  # systems without /proc: half of what is built in
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _group() -> int | None:
    folder = "/sys/fs/cgroup"
    try:
        with open(f"{folder}/memory.max") as file:
            limit = file.read().strip()
        if limit == "max":
            return None
        with open(f"{folder}/memory.current") as file:
            return max(int(limit) - int(file.read()), 0)
    except (OSError, ValueError):
        return None
