"""The tables that are printed, and the rules by which a peer is chosen.

Equal input: the fastest peer on mercer's own input (float64, sparse where the case is sparse).
Best input: the fastest peer over all forms of the input whose relative gap is at most 1e-4. Where
``tol`` is too loose for that in every peer, a gap up to twice the smallest of theirs passes.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.engines import MERCER, NATIVE, PEERS, Engine
from benchmarks.growth import Point, exponent
from benchmarks.measure import Outcome

GAP = 1e-4
"""A relative gap that counts as solved."""

SMALLEST = "iris"
"""The case that only has to be no slower; it is left out of the floors, not of the means."""

BUSY = 0.5
"""Load average before the start above which times are not to be trusted."""

TITLES = {"fit": "Fit", "predict": "Prediction of all test rows", "one_row": "One-row prediction"}

Cell = str
Memory = dict[tuple[str, str], float]


def table(title: str, head: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    """Plain text: the first column to the left, numbers to the right."""
    lines = [list(head), *[list(row) for row in rows]]
    width = [max(len(line[c]) for line in lines) for c in range(len(head))]
    text = [
        "  ".join(
            cell.ljust(width[c]) if c == 0 else cell.rjust(width[c]) for c, cell in enumerate(line)
        ).rstrip()
        for line in lines
    ]
    rule = "-" * max(len(line) for line in text)
    return "\n".join(["", title, rule, text[0], rule, *text[1:], rule])


def seconds(value: float | None) -> Cell:
    """Three significant digits in s."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def ratio(value: float | None) -> Cell:
    return "-" if value is None or math.isnan(value) else f"{value:.2f}"


def geometric_mean(values: Iterable[float | None]) -> float | None:
    logs = [math.log(v) for v in values if v is not None and v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else None


def machine(engines: list[Engine]) -> str:
    """One paragraph on where and with what the numbers were made."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    versions = ", ".join(f"{engine.name} {engine.version()}" for engine in engines)
    busy = "; other work disturbs these times" if load > BUSY else ""
    return f"{model}, {cores} cores, load {load:.2f}{busy}\n{versions}"


def measurements(outcomes: list[Outcome], passes: dict[str, float | None]) -> str:
    """Every run: seconds, support vectors, score, gap, and passes per fit.

    ``passes`` is fit time over one pass of the n x (support vectors) kernel values;
    ``values`` the kernel values that the fit evaluated over that same number.
    """
    head = ["case", "engine", "input", "fit s", "cpu s", "predict s", "1 row ms", "SV", "score"]
    head += ["rel. gap", "worst pair", "infeasible", "pass s", "passes", "values", "runs"]
    rows = []
    for o in outcomes:
        one = passes.get(o.case)
        values = None if o.kernel_values is None else o.kernel_values / (o.n_train * o.n_support)
        rows.append(
            [
                o.case,
                o.engine,
                o.form,
                seconds(o.fit),
                seconds(o.cpu),
                seconds(o.predict),
                seconds(1e3 * o.one_row),
                str(o.n_support),
                f"{o.score:.4f}",
                f"{o.gap.relative:.1e}",
                f"{o.gap.worst:.1e}",
                f"{o.gap.infeasibility:.0e}",
                seconds(one),
                "-" if one is None else f"{o.fit / one:.1f}",
                ratio(values),
                str(o.repeats),
            ]
        )
    return table("Measurements (best run; one row: median)", head, rows)


def one_line(case: str, outcomes: list[Outcome], failures: list[str]) -> str:
    """What is said as soon as a case is finished."""
    runs = [f"{o.engine} {o.form} {seconds(o.fit)} s" for o in outcomes]
    return f"{case}: {', '.join(runs + [f'FAILED {failure}' for failure in failures])}"


def equal_input(outcomes: list[Outcome], case: str, what: str = "fit") -> Outcome | None:
    """The fastest peer on mercer's input."""
    runs = [o for o in _peers(outcomes, case) if o.form == NATIVE]
    return min(runs, key=lambda o: getattr(o, what), default=None)


def best_input(outcomes: list[Outcome], case: str, what: str = "fit") -> Outcome | None:
    """The fastest peer over all inputs among those that solved the problem."""
    runs = _peers(outcomes, case)
    careful = min((o.gap.relative for o in runs), default=0.0)
    solved = [o for o in runs if o.gap.relative <= max(GAP, 2 * careful)]
    return min(solved, key=lambda o: getattr(o, what), default=None)


def _peers(outcomes: list[Outcome], case: str) -> list[Outcome]:
    names = {engine.name for engine in PEERS}
    return [o for o in outcomes if o.case == case and o.engine in names]


def _named(outcome: Outcome | None, what: str) -> Cell:
    if outcome is None:
        return "-"
    form = "" if outcome.form == NATIVE else f" {outcome.form}"
    return f"{seconds(getattr(outcome, what))} {outcome.engine}{form}"


def ratios(outcomes: list[Outcome], what: str) -> str:
    """Peer's seconds over mercer's, at equal input and against the peer's best input."""
    head = ["case", "mercer s", "equal input", "ratio", "best input", "ratio"]
    head += ["gap mercer", "gap peers", "gap ok"] if what == "fit" else []
    rows, equal, best = [], [], []
    cases = list(dict.fromkeys(o.case for o in outcomes))
    for case in cases:
        own = next((o for o in outcomes if o.case == case and o.engine == MERCER.name), None)
        same, any_form = (pick(outcomes, case, what) for pick in (equal_input, best_input))
        quotients = [
            getattr(peer, what) / getattr(own, what) if own and peer else None
            for peer in (same, any_form)
        ]
        equal.append(quotients[0])
        best.append(quotients[1])
        row = [case, seconds(getattr(own, what) if own else None)]
        row += [_named(same, what), ratio(quotients[0]), _named(any_form, what)]
        row += [ratio(quotients[1])]
        if what == "fit":
            row += _gap_cells(own, same, any_form)
        rows.append(row)
    blank = ["", "", ""] if what == "fit" else []
    mean = [geometric_mean(equal), geometric_mean(best)]
    rows.append(["geometric mean", "", "", ratio(mean[0]), "", ratio(mean[1]), *blank])
    low = [
        min((v for v, c in zip(column, cases, strict=True) if v and c != SMALLEST), default=None)
        for column in (equal, best)
    ]
    rows.append([f"smallest but {SMALLEST}", "", "", ratio(low[0]), "", ratio(low[1]), *blank])
    return table(f"{TITLES[what]}: seconds, and the peer's over mercer's", head, rows)


def _gap_cells(own: Outcome | None, same: Outcome | None, best: Outcome | None) -> list[Cell]:
    """Gaps side by side; ok when mercer's is at most 1e-4 or no larger than either peer's."""
    peers = [o.gap.relative for o in (same, best) if o is not None]
    shown = "/".join(f"{gap:.0e}" for gap in peers) or "-"
    if own is None:
        return ["-", shown, "-"]
    if not peers:
        return [f"{own.gap.relative:.1e}", shown, "-"]
    good = own.gap.relative <= max(GAP, min(peers))
    return [f"{own.gap.relative:.1e}", shown, "yes" if good else "NO"]


def memory(peaks: Memory, cases: list[str], engines: list[str]) -> str:
    """Peak resident MB of every engine and mercer's difference to scikit-learn."""
    head = ["case", *[f"{name} MB" for name in engines], "mercer - sklearn"]
    rows = []
    for case in cases:
        found = [peaks.get((case, name)) for name in engines]
        pair = [peaks.get((case, name)) for name in (MERCER.name, "sklearn")]
        difference = None if None in pair else pair[0] - pair[1]  # type: ignore[operator]
        row = ["-" if p is None or math.isnan(p) else f"{p:.0f}" for p in found]
        rows.append([case, *row, "-" if difference is None else f"{difference:+.0f}"])
    return table("Peak memory of fit and predict in a fresh process", head, rows)


def growth(points: list[Point], engines: list[str]) -> str:
    """Fit seconds against the number of rows, with the ratio to the better peer."""
    sizes = sorted({p.n for p in points})
    head = ["rows", *[f"{name} s" for name in engines], "SV", "better peer / mercer"]
    rows = []
    for n in sizes:
        at = {p.engine: p for p in points if p.n == n}
        own = at.get(MERCER.name)
        peers = [p.seconds for name, p in at.items() if name != MERCER.name and p.seconds]
        quotient = min(peers) / own.seconds if peers and own and own.seconds else None
        support = next((p.n_support for p in at.values() if p.n_support), None)
        cells = [seconds(at[name].seconds) if name in at else "-" for name in engines]
        rows.append([str(n), *cells, str(support or "-"), ratio(quotient)])
    slopes = [exponent(points, name) for name in engines]
    rows.append(["exponent of n", *[ratio(slope) for slope in slopes], "", ""])
    return table("Growth of fit time on a generated set (a dash: over the time cap)", head, rows)
