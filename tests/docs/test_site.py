"""The parts of the documentation site that can be checked without building it.

`make docs` builds it with warnings as errors, and `make docs-test` opens it in a browser.
"""

import ast
import contextlib
import inspect
import io
import re
import runpy
import sys
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString

from tools.site import api_reference, gallery_programs
from tools.site.public_api import ROOMS, by_room, pages, public_names
from tools.site.toctree import DOCS, GENERATED, reachable
from tools.site.toctree import pages as kept_pages

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
# Programs that tests/capacity/entropy/test_pictures.py runs, with what they must print.
RUN_ELSEWHERE = {"entropy_feature_box", "entropy_weight_regions"}


def test_no_page_is_orphaned():
    kept = {path.relative_to(DOCS).with_suffix("").as_posix() for path in kept_pages()}
    reached = reachable()
    assert kept - reached == set()
    assert {name for name in reached - kept if name.split("/")[0] not in GENERATED} == set()


def test_links_to_files_of_the_root_have_no_anchor():
    # The site shows such a file on a page of its own, whose headings these links do not reach.
    for page in kept_pages():
        for target in re.findall(r"\]\(([./]+[A-Z]+\.md)#", page.read_text()):
            assert (page.parent / target).resolve().parent != ROOT, f"{page.name}: {target}"


def test_every_public_name_is_in_the_api_reference(tmp_path):
    assert set(by_room()) <= set(ROOMS), "name the new package in tools/site/public_api.py"
    api_reference.write(tmp_path)
    page_of = pages()
    for room, names in by_room().items():
        listed = (tmp_path / f"{room}-index.rst").read_text().splitlines()
        for name in names:
            if name.name != "__version__":
                page = page_of.get(id(name.value), name.path)
                assert {f"   {page.rpartition('.')[2]}", f"   ~{page}"} & set(listed), name.path
                assert (tmp_path / f"{page}.rst").exists(), name.path


def documented():
    """Return each class and function that is public once."""
    return {id(name.value): name for name in public_names() if name.kind != "data"}.values()


def own_parameters(value):
    """Return the names of the parameters of a call, those of exceptions and enums left out."""
    with contextlib.suppress(ValueError, TypeError):
        parameters = inspect.signature(value).parameters.values()
        return {
            parameter.name
            for parameter in parameters
            if not parameter.name.startswith("_")
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        }
    return set()


def missing_sections(name):
    """Return which sections of numpydoc the docstring of a public name lacks."""
    said = NumpyDocString(inspect.getdoc(name.value) or "")
    lacks = []
    if not said["Summary"]:
        lacks.append("summary")
    if ">>>" not in "\n".join(said["Examples"]):
        lacks.append("example")
    if name.kind == "function" and not (said["Returns"] or said["Yields"]):
        lacks.append("returns")
    if name.kind != "exception" and not is_enum(name.value):
        rows = said["Parameters"] + said["Other Parameters"] + said["Attributes"]
        stated = {word.strip().lstrip("*") for row in rows for word in row.name.split(",")}
        unstated = own_parameters(name.value) - stated
        lacks += [f"parameter {parameter}" for parameter in sorted(unstated)]
    return lacks


def is_enum(value):
    return inspect.isclass(value) and hasattr(value, "__members__")


def test_every_public_name_has_summary_parameters_returns_and_an_example():
    lacking = {name.path: missing_sections(name) for name in documented()}
    assert {path: lacks for path, lacks in lacking.items() if lacks} == {}


def test_every_public_error_and_warning_is_explained():
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    raised = [name.name for name in documented() if name.kind == "exception"]
    assert [name for name in raised if f"`{name}`" not in page] == []


def test_examples_of_docstrings_can_be_found_by_doctest():
    """An example that doctest does not see would never run."""
    for name in documented():
        source = inspect.getdoc(name.value) or ""
        assert not re.search(r"^>>>\S", source, re.MULTILINE), name.path


@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if p.stem not in RUN_ELSEWHERE], ids=lambda path: path.stem
)
def test_program_draws_a_picture(program, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)  # pictures that it writes
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.syspath_prepend(program.parent)  # as the interpreter does with a script
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(program), run_name="__main__")
    written = list(tmp_path.rglob("*.png"))
    assert written or plt.get_fignums()
    assert all(picture.stat().st_size > 5000 for picture in written)
    plt.close("all")


def test_the_gallery_has_at_least_twelve_programs():
    assert len(PROGRAMS) >= 12
    for program in PROGRAMS:
        made = gallery_programs.with_heading(program.read_text(encoding="utf-8"))
        title, underline = ast.get_docstring(ast.parse(made)).splitlines()[:2]
        assert underline == "=" * len(title), program.name
