"""docs/kernels.md is what tools/gallery makes of the classes, and every kernel is on it.

Its examples are those of the docstrings, letter by letter, and run there.
"""

import re

import numpy as np
import pytest

from mercer import kernels as mk
from tools.gallery.docstrings import USE, describe
from tools.gallery.families import ADVICE, FAMILIES, kernels
from tools.gallery.page import (
    PAGE,
    PICTURES,
    anchor,
    derivatives,
    missing,
    page,
    same_kernels,
)
from tools.gallery.portraits import portraits

FAMILY_NAMES = [name for family in FAMILIES for name in family.names.split()]


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


def test_the_page_is_up_to_date(text):
    assert text == page(), "docs/kernels.md is out of date: run 'make gallery'"


def test_every_kernel_is_in_one_family_and_has_a_portrait_of_itself():
    assert sorted(FAMILY_NAMES) == sorted(kernels())
    assert sorted(portraits()) == sorted(kernels())
    for name, portrait in portraits().items():
        assert {type(kernel).__name__ for kernel in portrait.kernels} == {name}


def test_a_kernel_without_a_family_or_a_portrait_is_named():
    drawn, classes = portraits(), kernels()
    same_kernels(drawn, classes)
    with pytest.raises(SystemExit, match=r"families\.py .* about Unplaced"):
        same_kernels(drawn, classes | {"Unplaced": mk.Linear})
    with pytest.raises(SystemExit, match=r"portraits\.py .* about RBF"):
        same_kernels({name: drawn[name] for name in drawn if name != "RBF"}, classes)


@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_every_kernel_states_formula_use_and_example(name):
    said = describe(getattr(mk, name), str)
    missing(name, said)
    assert said.use.startswith(USE)
    assert ". Avoid it " in said.use, "also say when not to use it"


@pytest.mark.parametrize(
    ("docstring", "part"),
    [
        ("A kernel.\n\nNotes\n-----\nUse it.\n\nExamples\n--------\n>>> 1\n1", "formula"),
        ("A kernel.\n\n.. math:: k = 1\n\nNotes\n-----\nIt is fast.\n", "use"),
        ("A kernel.\n\n.. math:: k = 1\n\nNotes\n-----\nUse it always.\n", "example"),
    ],
)
def test_a_kernel_that_does_not_is_refused(docstring, part):
    kind = type("Nameless", (), {"__doc__": docstring})
    with pytest.raises(SystemExit, match=f"Nameless lacks its {part}"):
        missing("Nameless", describe(kind, str))


def test_the_pictures_are_those_of_the_page(text):
    shown = re.findall(r"!\[\w+\]\(pictures/kernels/(\w+)\.svg\)", text)
    assert sorted(shown) == sorted(kernels())
    assert {path.stem for path in PICTURES.glob("*.svg")} == set(shown)


def test_links_within_the_page_lead_to_a_heading(text):
    anchors = {anchor(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


def test_advice_names_kernels():
    assert {name for _, names, _ in ADVICE for name in names.split()} <= set(kernels())


def test_a_docstring_becomes_markdown():
    docstring = (
        "A kernel, ``a * b``.\n\n.. math::\n\n    a &= b \\\\\n    c &= d\n\n"
        "With :math:`x_i < 1`, ``code_``, `name` and :class:`RBF`, a*b.\n\n"
        "- one\n  item;\n- another.\n\n"
        "Parameters\n----------\nfirst, second : float > 0\n    The sizes\n    of both.\n\n"
        "Examples\n--------\nIn words:\n\n>>> 1 + 1\n2\n\n>>> 2\n2\n"
    )
    said = describe(type("K", (), {"__doc__": docstring}), lambda target: f"<{target}>")
    assert said.summary == "A kernel, `a * b`."
    assert said.formula == "```math\n\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}\n```"
    assert said.body[1] == "With $`x_i < 1`$, `code_`, `name` and <RBF>, a\\*b."
    assert said.body[2] == "- one item;\n- another."
    assert said.example == ["In words:", "```python\n>>> 1 + 1\n2\n\n>>> 2\n2\n```"]
    assert said.parameters == [("first, second", "float > 0", "The sizes of both.")]


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("RBF", ["$k(x, z)$, $z = 0$", r"spectrum $F[k](\omega)$"]),
        ("Dirichlet", ["$k(x, z)$, $z = 0$", "coefficients $a_n$"]),
        ("Spline", ["$k(x, z)$", "eigenvalues on [0, 3]"]),
        ("Bilinear", ["$k(x, z)$", "eigenvalues on the square"]),
        ("Jaccard", ["values", "eigenvalues of the matrix"]),
        ("PairHMM", ["normalised values", "eigenvalues of the matrix"]),
    ],
)
def test_a_picture_shows_the_kernel_and_its_spectrum(name, titles):
    pictures = pytest.importorskip("tools.gallery.pictures")
    figure = pictures.picture(portraits()[name])
    assert [ax.get_title() for ax in figure.axes] == titles


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PowerSeries", "by `coefficients`, as in `PowerSeries(coefficients=[1.0, "),
        ("BlendedSpectrum", "by `weights`, as in `BlendedSpectrum(p=2, "),
        ("WeightedDegree", "by `weights`, as in `WeightedDegree(degree=2, "),
        ("PeriodicGaussian", "by `period`, by `sigma`"),
        ("Linear", "no parameter that is a real number"),
    ],
)
def test_derivatives_by_parameters_that_may_be_numbers(name, expected):
    portrait = portraits()[name]
    kernel = portrait.kernels[0].bind(portrait.objects)
    assert derivatives(kernel, portrait.objects).startswith(expected)


def test_curves_are_the_values_of_the_kernel():
    pictures = pytest.importorskip("tools.gallery.pictures")
    figure = pictures.picture(portraits()["Matern"])
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    assert [line.get_label() for line in curves] == [
        f"nu = {nu}" for nu in ("0.5", "1.5", "2.5", "∞")
    ]
    x, y = curves[0].get_data()
    np.testing.assert_allclose(y, np.exp(-np.abs(x)), rtol=1e-12)


def test_negative_eigenvalues_are_crosses():
    pictures = pytest.importorskip("tools.gallery.pictures")
    crosses = [
        line.get_ydata()
        for line in pictures.picture(portraits()["Precomputed"]).axes[1].lines
        if line.get_marker() == "x"
    ]
    expected = np.linalg.eigvalsh(portraits()["Precomputed"].objects)
    found = np.concatenate(crosses)
    np.testing.assert_allclose(found[np.isfinite(found)], -expected[expected < 0])


def test_the_same_kernels_give_the_same_file(tmp_path):
    pictures = pytest.importorskip("tools.gallery.pictures")
    for folder in ("a", "b"):
        pictures.draw(tmp_path / folder, ["Jaccard"])
    first = (tmp_path / "a" / "Jaccard.svg").read_text(encoding="utf-8")
    assert first == (tmp_path / "b" / "Jaccard.svg").read_text(encoding="utf-8")
    assert first.startswith("<?xml")
