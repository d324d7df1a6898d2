"""Render formulas as MathML, by the converter of docutils.

MathML is shown by every current browser without scripts, fonts or network, which the usual
MathJax needs.
"""

import re

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, pick_math_environment
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Commands that the texts use and the converter does not know, or knows by another name.
SYNONYMS = {
    r"\lVert": r"\Vert",
    r"\rVert": r"\Vert",
    r"\dots": r"\ldots",
    r"\tfrac": r"\frac",
    r"\dfrac": r"\frac",
    r"\textstyle": "",
}
SIZES = re.compile(r"\\([bB]igg?)(?![a-zA-Z])")  # \Big without l or r: MathML stretches by itself


def convert(formula: str, node: nodes.Node, *, block: bool) -> str:
    """Return the MathML of a formula; one that cannot be converted is a warning of the build."""
    for command, known in SYNONYMS.items():
        formula = formula.replace(command, known)
    formula = SIZES.sub("", formula)
    try:
        tree = latex2mathml.tex2mathml(formula, as_block=block)
    except (MathError, Exception) as error:  # the converter also raises IndexError
        logger.warning("formula %r: %s", formula, error, location=node)
        return f"<code>{formula}</code>"
    return tree if isinstance(tree, str) else tree.toxml()


def visit_math(self, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(convert(node.astext(), node, block=False))
    raise nodes.SkipNode


def visit_displaymath(self, node: nodes.math_block) -> None:
    """Write a formula of its own line."""
    formula = node.astext().strip()
    if pick_math_environment(formula) == "align*" and r"\begin" not in formula:
        formula = rf"\begin{{aligned}}{formula}\end{{aligned}}"
    self.body.append(f'<div class="math">{convert(formula, node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
