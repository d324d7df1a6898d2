"""The text of docs/kernels.md."""

import inspect
import re
from pathlib import Path
from typing import Any

from mercer import kernels as mk

from . import facts
from .docstrings import FENCE, USE, Description, describe
from .families import ADVICE, FAMILIES, Family, kernels, second_names
from .portraits import Matrix, Plane, Portrait, portraits, varied

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "kernels.md"
PICTURES = ROOT / "docs" / "pictures" / "kernels"

OPENING = """\
# Kernels

Every kernel of `mercer.kernels`: its formula, a picture, its properties, when to use it and an
example. `make gallery` generates this page: the text comes from the docstrings, and the property
tables are computed. Edit the docstrings, not this page.

Pictures of kernels on vectors show k(x, z) as a function of x on the left and the kernel's Fourier
transform on the right: how strongly each frequency can appear in a fitted function. If k(x, z) is
not a function of x - z, the right side shows the eigenvalues of a kernel matrix instead. Kernels on
other objects are shown as their matrix on a few objects, with its eigenvalues; a cross marks the
absolute value of a negative eigenvalue.

[Kernel matrices](kernel-matrices.md) explains how values are computed. `mercer.inspection` tests
properties of a kernel, and `mercer.selection.suggest` compares kernels on your data."""


def page() -> str:
    """Return the whole page."""
    lines = [OPENING, "", "## Which kernel for which data", ""]
    lines += ["| data | try | and |", "|---|---|---|"]
    for data, names, remark in ADVICE:
        lines.append(f"| {data} | {', '.join(link(name) for name in names.split())} | {remark} |")
    lines += ["", "## Contents", ""]
    for family in FAMILIES:
        entries = ", ".join(f"[{name}](#{name.lower()})" for name in family.names.split())
        lines.append(f"- [{family.title}](#{anchor(family.title)}): {entries}")
    drawn, classes = portraits(), kernels()
    same_kernels(drawn, classes)
    for family in FAMILIES:
        lines += ["", *chapter(family, drawn, classes)]
    return "\n".join(lines) + "\n"


def same_kernels(drawn: dict[str, Portrait], classes: dict[str, Any]) -> None:
    """Reject kernels without a family or a portrait, and the other way round."""
    placed = {name for family in FAMILIES for name in family.names.split()}
    for names, where in ((placed, "families"), (set(drawn), "portraits")):
        odd = sorted(names ^ set(classes))
        if odd:
            raise SystemExit(
                f"tools/gallery/{where}.py and mercer.kernels do not agree about {', '.join(odd)}"
            )


def chapter(family: Family, drawn: dict[str, Portrait], classes: dict[str, Any]) -> list[str]:
    """Return the lines of a family."""
    lines = [f"## {family.title}", "", family.words]
    for name in family.names.split():
        lines += ["", *section(name, classes[name], drawn[name])]
    return lines


def section(name: str, kind: type[mk.Kernel], portrait: Portrait) -> list[str]:
    """Return the lines of a kernel."""
    text = describe(kind, link)
    missing(name, text)
    source = Path(inspect.getsourcefile(kind) or "").resolve().relative_to(ROOT).as_posix()
    others = ", ".join(f"`{other}`" for other in second_names(kind))
    lines = [f"### {name}", "", text.summary + (f" Also named {others}." if others else "")]
    for block in text.body:
        lines += ["", block]
    lines += [
        "",
        f"![{name}](pictures/kernels/{name}.svg)",
        "",
        f"*Drawn: {caption(portrait)}.*",
        "",
    ]
    lines.append(f"**Use it** {linked(text.use.removeprefix(USE), name)}")
    for block in text.notes:
        lines += ["", block]
    lines += ["", *known(name, portrait)]
    if text.parameters:
        lines += ["", "Parameters:", ""]
    for names, values, meaning in text.parameters:
        lines.append(f"- `{names}` ({escaped(values)}): {meaning}")
    for block in text.example:
        lines += ["", block]
    lines.append("")
    if text.references:
        lines += [f"Literature: {text.references}", ""]
    lines.append(f"Source: [{source.removeprefix('src/')}](../{source})")
    return lines


def caption(portrait: Portrait) -> str:
    """Return what is drawn."""
    if not isinstance(portrait, Plane) and portrait.words:
        return portrait.words
    if isinstance(portrait, Matrix):
        return f"`{portrait.drawn!r}`"
    others = ", ".join(f"`{name}`" for name in varied(portrait.kernels))
    return f"`{portrait.kernels[0]!r}`" + (f" and with other values of {others}" if others else "")


def known(name: str, portrait: Portrait) -> list[str]:
    """Return what the kernel of a portrait claims, as a table."""
    kernel = portrait.kernels[0].bind(portrait.objects)
    rows = {
        "objects": facts.domain(kernel),
        "definiteness": definiteness(name, portrait),
        "derivatives": derivatives(kernel, portrait.objects),
        "computed": facts.computed(kernel),
        "spectrum": facts.spectrum(portrait).words,
    }
    operator = facts.operator(kernel)
    if operator:
        rows["regularises"] = escaped(operator[0])
    lines = ["| property | |", "|---|---|"]
    lines += [f"| {row} | {cell(text)} |" for row, text in rows.items()]
    if operator and operator[1]:
        lines += ["", f"{FENCE}\nP(\\omega) \\propto {operator[1]}\n```"]
    return lines


def derivatives(kernel: Any, objects: Any) -> str:
    """Return the parameters by which the values of a class are differentiated."""
    own = facts.derivatives(kernel, objects)
    if own is None:
        return "not stated"
    by = [f"by `{name}`" for name in own]
    others = facts.other_derivatives(kernel, own)
    by += [f"by `{name}`, as in `{other!r}`" for name, other in others.items()]
    return ", ".join(by) or "no parameter that is a real number"


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|")


def definiteness(name: str, portrait: Portrait) -> str:
    """Return the claims of a class, with kernels that make them where there are several."""
    claims = facts.definiteness(name, list(portrait.kernels))
    if portrait.kernels[0].inner_kernels():
        first = portrait.kernels[0]
        return f"from that of its parts; `{first!r}` is {first.definiteness}"
    if len(claims) == 1:
        return claims[0][0]
    return "; ".join(f"{claim} (`{kernel!r}`)" for claim, kernel in claims)


def missing(name: str, text: Description) -> None:
    """Reject a class that does not say what the page has to say."""
    for part, found in (("formula", text.formula), ("use", text.use), ("example", text.code)):
        if not found:
            raise SystemExit(
                f"the docstring of {name} lacks its {part}; see 'Add a kernel' in CONTRIBUTING.md"
            )


def link(target: str) -> str:
    """Format the name of a class or function, with a link where the page has it."""
    name = target.lstrip("~")
    return f"[`{name}`](#{name.lower()})" if name in kernels() else f"`{name}`"


def linked(text: str, own: str) -> str:
    """Link the kernels that advice names; code and second names stay as they are."""
    names = "|".join(sorted(set(kernels()) - {own}, key=len, reverse=True))
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(rf"\b({names})\b", r"[\1](#\1)", part) for part in parts[::2]]
    return re.sub(r"\(#(\w+)\)", lambda match: match[0].lower(), "".join(parts))


def escaped(text: str) -> str:
    """Return plain text of a docstring, with literals as code and without other markup."""
    text = text.replace("``", "`")
    return re.sub(r"([*_<\[\]])", r"\\\1", text) if "`" not in text else text


def anchor(title: str) -> str:
    """Return the anchor that Markdown gives to a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
