"""Write docs/benchmarks.md from the stored result file of a benchmark run.

Usage: python -m tools.site.benchmark_page [--check]

``make bench-page`` runs the benchmark, stores its result and calls this. The file states the
machine and the date of the run; the page repeats both.
"""

import json
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "benchmarks.md"

HEAD = """\
# Benchmarks

Time to fit and to predict, peak memory and the relative duality gap of the result, beside
scikit-learn (LIBSVM) and scikit-learn-intelex. The page is generated from a stored
result file; edit neither. To measure on your machine:

    make bench-page

The gap is computed in the same way for every library, from the model it returns, so that a library
cannot be faster by stopping earlier without it showing.

"""


def seconds(value: float | None) -> str:
    """Return a time with three digits."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.3g}"


def page(content: dict) -> str:
    """Return the text of the page for the content of a result file."""
    lines = [HEAD + "Measured on " + content.get("date", "an unknown date") + ":", "", "```text"]
    lines += [*content["machine"].splitlines(), "```", "", "## Fit and prediction", ""]
    lines += ["| case | library | input | fit (s) | predict (s) | relative gap |"]
    lines += ["|---|---|---|---|---|---|"]
    for outcome in content["outcomes"]:
        shown = f"{outcome['gap']['relative']:.1e}"
        lines.append(
            f"| {outcome['case']} | {outcome['engine']} | {outcome['form']} "
            f"| {seconds(outcome.get('fit'))} | {seconds(outcome.get('predict'))} | {shown} |"
        )
    if content["peaks"]:
        lines += ["", "## Peak memory", "", "| case | library | MB |", "|---|---|---|"]
        lines += [f"| {case} | {engine} | {peak:.0f} |" for case, engine, peak in content["peaks"]]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write or check the page."""
    text = page(json.loads(RESULTS.read_text(encoding="utf-8")))
    if "--check" in arguments:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
