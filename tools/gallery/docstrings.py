"""What the docstring of a kernel says: formula, prose, parameters, use and example, as Markdown.

The docstrings are numpydoc. Formulas become blocks marked `math` and inline ones $`...`$, the two
forms in which Markdown leaves backslashes alone.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
MATH = re.compile(r"^\.\. math::(.*(?:\n(?:[ \t]+\S.*)?)*)", re.MULTILINE)
PARAMETER = re.compile(r"^(\S.*?) : (.+)$", re.MULTILINE)
FENCE = "```math"
CODE = "```python"
USE = "Use it "  # what the first paragraph of the Notes begins with


@dataclass(frozen=True)
class Description:
    """The parts of a docstring.

    Attributes
    ----------
    summary : str
        The first line.
    body : list of str
        The paragraphs and formulas before the parameters.
    parameters : list of tuple
        Names, type and meaning.
    use : str
        When to use the kernel, and when not.
    notes : list of str
        The other paragraphs of the notes.
    references : str
        The literature.
    example : list of str
        Blocks of code that are run as they stand, and the words between them.
    """

    summary: str
    body: list[str]
    parameters: list[tuple[str, str, str]]
    use: str
    notes: list[str]
    references: str
    example: list[str]

    @property
    def formula(self) -> str:
        """The first formula, an empty text where there is none."""
        return next((block for block in self.body if block.startswith(FENCE)), "")

    @property
    def code(self) -> str:
        """The code of the example, an empty text where there is none."""
        return "\n".join(block for block in self.example if block.startswith(CODE))


def describe(kind: type, link: Callable[[str], str]) -> Description:
    """Return what a class says of itself.

    Parameters
    ----------
    kind : type
        A class with a numpydoc docstring.
    link : callable
        Formats the name of a class or function that the text refers to.

    Returns
    -------
    Description
        Its parts; those that are missing are empty.
    """
    text = inspect.cleandoc(kind.__doc__ or "")
    first, *rest = HEADING.split(text)
    sections = dict(zip(rest[::2], (part.strip("\n") for part in rest[1::2]), strict=True))
    summary, _, body = first.partition("\n")
    notes = blocks(sections.get("Notes", ""), link)
    use = notes.pop(0) if notes and notes[0].startswith(USE) else ""
    return Description(
        summary=inline(summary, link),
        body=blocks(body, link),
        parameters=parameters(sections.get("Parameters", ""), link),
        use=use,
        notes=notes,
        references=inline(sections.get("References", ""), link),
        example=examples(sections.get("Examples", ""), link),
    )


def blocks(text: str, link: Callable[[str], str]) -> list[str]:
    """Return the paragraphs of a text and the formulas between them, as Markdown."""
    result = []
    for position, part in enumerate(MATH.split(text)):
        if position % 2:
            result.append(fenced(part))
        else:
            result += [listed(p, link) for p in paragraphs(part)]
    return result


def paragraphs(text: str) -> list[str]:
    """Return the parts of a text between empty lines."""
    return [p for p in re.split(r"\n\s*\n", text.strip("\n")) if p.strip()]


def listed(paragraph: str, link: Callable[[str], str]) -> str:
    """Return a paragraph as Markdown; one that begins with a dash is a list."""
    if not paragraph.lstrip().startswith("- "):
        return inline(paragraph, link)
    items = re.split(r"^- ", inspect.cleandoc(paragraph), flags=re.MULTILINE)[1:]
    return "\n".join(f"- {inline(item, link)}" for item in items)


def examples(section: str, link: Callable[[str], str]) -> list[str]:
    """Return the blocks of a section of examples: code, and the words between."""
    result: list[str] = []
    for part in paragraphs(section):
        if not part.startswith(">>>"):
            result.append(inline(part, link))
        elif result and result[-1].startswith(CODE):
            result[-1] = result[-1].removesuffix("```") + f"\n{part}\n```"
        else:
            result.append(f"{CODE}\n{part}\n```")
    return result


def fenced(formula: str) -> str:
    """Return a displayed formula."""
    lines = [line.strip() for line in formula.strip().splitlines() if line.strip()]
    text = "\n".join(lines)
    # Sphinx aligns formulas of several lines by itself.
    if "\\\\" in text and "\\begin" not in text:
        text = f"\\begin{{aligned}}\n{text}\n\\end{{aligned}}"
    return f"{FENCE}\n{text}\n```"


def parameters(section: str, link: Callable[[str], str]) -> list[tuple[str, str, str]]:
    """Return the parameters of a section: names, type, meaning."""
    parts = PARAMETER.split(section)[1:]
    return [
        (names, kind, inline(inspect.cleandoc(meaning.strip("\n")), link))
        for names, kind, meaning in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def inline(text: str, link: Callable[[str], str]) -> str:
    """Return a paragraph of a docstring as one line of Markdown."""
    kept: list[str] = []

    def keep(markdown: str) -> str:
        kept.append(markdown)
        return f"\0{len(kept) - 1}\0"

    def role(match: re.Match[str]) -> str:
        kind, target = match[1], " ".join(match[2].split())
        return keep(f"$`{target}`$" if kind == "math" else link(target))

    text = " ".join(text.split())
    text = re.sub(r":(\w+):`([^`]+)`", role, text)
    text = re.sub(r"``(.+?)``", lambda match: keep(f"`{match[1]}`"), text)
    text = re.sub(r"`([^`]+)`", lambda match: keep(f"`{match[1]}`"), text)
    text = re.sub(r"([*_<\[\]])", r"\\\1", text)
    return re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], text)
