"""Every example of the documentation is run: docstrings, README.md and the pages of docs/.

In Markdown, fenced blocks marked `python` are run in order and share their names within a page.
A block with prompts is a doctest. A block without prompts is a program; when a block marked `text`
follows, that is what it must print.
"""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
from pathlib import Path

import pytest

import mercer
from tools.site.toctree import pages

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PAGES = [*sorted(ROOT.glob("*.md")), *pages()]
# The gallery shows the examples of the docstrings, which are run as such; see test_gallery.py.
RUN = [page for page in PAGES if page.name != "kernels.md"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?")
# Lines of a certificate whose numbers depend on the machine and its instruction sets.
MACHINE_DEPENDENT = ("gap", "KKT violation", "iterations", "kernel values", "seconds")


def modules():
    for info in pkgutil.walk_packages(mercer.__path__, "mercer."):
        if not info.name.endswith("._native") and "__main__" not in info.name:
            yield importlib.import_module(info.name)


def docstrings():
    finder = doctest.DocTestFinder(exclude_empty=True)
    seen = set()
    for module in [mercer, *modules()]:
        for test in finder.find(module, module.__name__):
            key = (test.filename, test.lineno, test.name)
            if test.examples and key not in seen:
                seen.add(key)
                yield pytest.param(test, id=test.name)


@pytest.fixture(autouse=True)
def _quiet_pictures(monkeypatch, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)  # an example that writes a file writes it there
    yield
    plt.close("all")


def run(test: doctest.DocTest, *, clear_globs: bool = True) -> None:
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=report.write, clear_globs=clear_globs)
    assert runner.summarize(verbose=False).failed == 0, report.getvalue()


@pytest.mark.parametrize("test", list(docstrings()))
def test_docstring(test):
    run(test)


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_page(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    names: dict[str, object] = {"__name__": "__main__"}
    for position, (kind, source) in enumerate(blocks):
        if kind != "python":
            continue
        if ">>>" in source:
            test = doctest.DocTestParser().get_doctest(source, names, page.name, str(page), 0)
            run(test, clear_globs=False)
            names = test.globs
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec"), names)
        following = blocks[position + 1] if position + 1 < len(blocks) else ("", "")
        if following[0] == "text":
            assert_printed(following[1], printed.getvalue())


def assert_printed(expected: str, printed: str) -> None:
    """Compare words exactly and numbers to three digits, line by line."""
    shown = f"\n{expected}\n--- is\n{printed}"
    assert len(expected.splitlines()) == len(printed.splitlines()), shown
    for want, got in zip(expected.splitlines(), printed.splitlines(), strict=True):
        assert NUMBER.sub("#", want).split() == NUMBER.sub("#", got).split(), shown
        if not want.startswith(MACHINE_DEPENDENT):
            assert numbers(got) == pytest.approx(numbers(want), rel=1e-3), shown


def numbers(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", text):
        if "://" in target or is_generated(target):
            continue
        path = page.parent / target if target else page
        assert path.exists(), f"{page.name} links to {target}"
        if heading and path.suffix == ".md":
            assert heading in anchors(path), f"{page.name} links to {target}#{heading}"


def is_generated(target: str) -> bool:
    """Tell whether a link leads to a page that is written when the site is built."""
    return bool(re.search(r"(^|/)(api|gallery)/", target))


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", BLOCK.sub("", path.read_text("utf-8")), re.MULTILINE)
    plain = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", title).lower().strip() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}
