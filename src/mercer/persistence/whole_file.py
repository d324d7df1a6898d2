"""Files that are written whole or not at all.

The content goes to a temporary file in the same folder, which is renamed when all of it is on the
disk: a reader, and what a crash leaves, has the old content or the new one. A process that is
killed leaves its temporary file behind; the next one that writes the same file removes it. It knows
those by their locks, which a process holds as long as it lives.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new one.

    An existing file keeps its permissions; a new one gets those of the umask of the process.
    """
    path = Path(os.path.realpath(path))  # the file that a link leads to
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write {path.name} to.")
    _remove_abandoned(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    handle, name = _locked_file(path, 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.chmod(name, mode)  # whatever the umask takes from it
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(name, path)  # while the lock is held
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def _locked_file(path: Path, mode: int) -> tuple[int, Path]:
    """Create a temporary file beside another; return its handle, which holds its lock, and name."""
    while True:
        name = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # another process took it for abandoned before it was locked


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary files of this file that no living process holds."""
    form = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.tmp")
    for entry in os.scandir(path.parent):
        if form.fullmatch(entry.name):
            with suppress(OSError), open(entry.path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while it is written
                os.unlink(entry.path)
