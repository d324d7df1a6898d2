"""Files are written whole or not at all, with the right permissions, and leave nothing behind."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mercer.persistence.whole_file import write_whole

_KILLED = """
import os, signal, sys
from pathlib import Path
from mercer.persistence.{module} import write_whole
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
write_whole(Path(sys.argv[1]), b"half")
"""


@pytest.fixture
def umask():
    """Set the umask of the process, and restore it."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_a_new_file_gets_the_umask_which_is_never_changed(tmp_path, umask, monkeypatch):
    """Another thread that creates a file at this moment would have none."""

    def refuse(mask):
        raise AssertionError("the umask belongs to all threads")

    monkeypatch.setattr(os, "umask", refuse)
    path = tmp_path / "model"
    write_whole(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b"new"
    monkeypatch.undo()


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o666])
def test_an_existing_file_keeps_its_permissions(tmp_path, umask, mode):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_whole(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_the_temporary_file_of_a_killed_process_is_removed_by_the_next(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for _ in range(2):
        program = _KILLED.format(module=write_whole.__module__.rpartition(".")[2])
        command = [sys.executable, "-c", program, str(path)]
        killed = subprocess.run(command, env=environment, capture_output=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(os.listdir(tmp_path)) == 2  # the second process has removed what the first one left
    assert path.read_bytes() == b"old"
    write_whole(path, b"new")
    assert os.listdir(tmp_path) == ["model"]
    assert path.read_bytes() == b"new"


def test_files_of_others_stay(tmp_path):
    """Those that a living process writes, and those that only look like temporary ones."""
    written, backup, other = (
        tmp_path / name for name in (".model.0123abcd.tmp", ".model.backup", ".models.0123abcd.tmp")
    )
    for path in (written, backup, other):
        path.write_bytes(b"theirs")
    with written.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_whole(tmp_path / "model", b"new")
        assert {written, backup, other} <= set(tmp_path.iterdir())
    write_whole(tmp_path / "model", b"new")
    assert {backup, other, tmp_path / "model"} == set(tmp_path.iterdir())


def test_a_failure_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "model"
    write_whole(path, b"old")

    def full(handle):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_whole(path, b"new")
    assert os.listdir(tmp_path) == ["model"]
    assert path.read_bytes() == b"old"


def test_threads_that_write_the_same_file_do_not_disturb_each_other(tmp_path):
    path, errors = tmp_path / "model", []

    def write(content):
        try:
            for _ in range(50):
                write_whole(path, content)
        except BaseException as error:
            errors.append(error)

    contents = [bytes([65 + k]) * 1000 for k in range(4)]
    threads = [threading.Thread(target=write, args=(c,)) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_bytes() in contents
    assert os.listdir(tmp_path) == ["model"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(Path("folder") / "model")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "model").read_bytes() == b"new"
