"""Promises of the root files: prerequisites by name, one version, one test command."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).resolve().parents[2]
# Folders that tools make, and src, whose packages are named one by one.
NOT_OURS = {".git", ".venv", ".venv-oldest", "build", "dist", "src"} | {
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
}


def prerequisites(python, cxx, path=None):
    return subprocess.run(
        ["/bin/sh", str(ROOT / "tools" / "prerequisites.sh"), python, cxx],
        capture_output=True,
        text=True,
        check=False,
        env=None if path is None else {"PATH": str(path)},
    )


@pytest.fixture
def old_python(tmp_path):
    """A program that says what Python 3.9 says."""
    program = tmp_path / "python3.9"
    program.write_text(
        '#!/bin/sh\ncase "$2" in *version_info*) exit 1;; *platform*) echo 3.9.2;; esac\n'
    )
    program.chmod(0o755)
    return str(program)


def test_what_this_machine_has_is_enough():
    result = prerequisites(sys.executable, "c++")
    if result.returncode:
        pytest.skip(result.stderr)  # a machine that only runs an installed wheel
    assert not result.stderr


@pytest.mark.parametrize(
    ("python", "cxx", "message", "package"),
    [
        ("no-such-python", "c++", "'no-such-python' not found", "python3"),
        (sys.executable, "no-such-compiler", "'no-such-compiler' was not found", "g++"),
        (sys.executable, "false", "does not compile C++20", "g++"),
    ],
)
def test_a_missing_prerequisite_is_named_in_one_line(python, cxx, message, package):
    result = prerequisites(python, cxx)
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.rstrip().endswith(f"apt install {package}")
    assert result.stderr.count("\n") == 1


def test_an_old_python_is_named_with_its_version(old_python):
    result = prerequisites(old_python, "c++")
    assert result.returncode == 1
    assert "Python 3.11 or newer is needed" in result.stderr
    assert "3.9.2" in result.stderr


def test_the_version_is_the_same_everywhere():
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1] == (
        mercer.__version__
    )
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == mercer.__version__


def test_continuous_integration_runs_exactly_make_test():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if "make" in line] == ["exec make test"]


def test_the_architecture_page_names_every_folder():
    page = (ROOT / "docs" / "architecture.md").read_text()
    folders = [path.name for path in ROOT.iterdir() if path.is_dir()]
    packages = [path.parent for path in (ROOT / "src" / "mercer").glob("*/__init__.py")]
    names = [f"{folder}/" for folder in folders if folder not in NOT_OURS]
    names += [f"src/mercer/{package.name}/" for package in packages]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_import_leaves_the_optional_packages_alone():
    optional = {"matplotlib", "rich", "pandas"}
    program = f"import mercer, mercer.plots, sys; print(sorted({optional} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
