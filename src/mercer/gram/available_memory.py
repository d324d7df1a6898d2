"""Available memory: bytes a process may still allocate, on its machine or in its control group."""

from __future__ import annotations

import os
from pathlib import Path

_UNKNOWN = 2 << 30  # where the system does not say


def available_bytes() -> int:
    """Return the free memory of the machine or of the control group, whichever is less."""
    found = [n for n in (_machine(), _group()) if n is not None]
    return min(found) if found else _UNKNOWN


def _machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:  # systems without /proc: half of what is built in
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _group() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        return None if limit == "max" else max(int(limit) - used, 0)
    except (OSError, ValueError):
        return None
