"""Command line of the comparison: ``python -m benchmarks --help``."""

from __future__ import annotations

import argparse
import ast
import gc
import sys
from pathlib import Path
from typing import Any

from benchmarks import components, imports, kernels, latency, report, ridge, ridge_growth, strings
from benchmarks.cases import QUICK, Sources, all_cases, select
from benchmarks.engines import ENGINES, MERCER, Engine, available, fit
from benchmarks.floor import one_pass
from benchmarks.growth import SIZES, grow
from benchmarks.measure import Budget, Outcome, compare
from benchmarks.memory import peak
from benchmarks.results import Results, peers_of


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="mercer next to scikit-learn and scikit-learn-intelex: fit, predict, memory, "
        "growth, each with the duality gap of the result; kernel matrices of strings.",
    )
    parser.add_argument("--cases", help="names separated by commas (default: all)")
    parser.add_argument("--engines", help="of mercer, sklearn, sklearnex (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds per case (default: 3)")
    parser.add_argument(
        "--cap",
        type=float,
        default=60.0,
        help="seconds after which a run is not repeated (default: 60); growth allows twice as much",
    )
    parser.add_argument("--quick", action="store_true", help="small cases, one round, no growth")
    parser.add_argument("--mnist", metavar="NPZ", help="file with X (n, 784) in 0..255 and y")
    parser.add_argument("--a8a", metavar="FILE", help="a8a in svmlight format, also .bz2")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write all numbers to a file")
    parser.add_argument(
        "--against",
        metavar="JSON",
        type=Path,
        action="append",
        default=[],
        help="take the peers' numbers from an earlier run on this machine; the best of several",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a constructor parameter for mercer alone, for example n_jobs=1",
    )
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument(
        "--kernels",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="cost of kernel values: statistics, compositions, scikit-learn's pairwise functions "
        "(alone: nothing else is measured; default: in a full run)",
    )
    for part in ("memory", "growth", "strings", "ridge", "components", "latency", "imports"):
        parser.add_argument(
            f"--{part}",
            action=argparse.BooleanOptionalAction,
            default=None,
            help=f"measure {part} (default: in a full run only)",
        )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        return run(options)
    except (ValueError, ModuleNotFoundError, FileNotFoundError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    sources = Sources.from_environment(options.mnist, options.a8a)
    cases = all_cases(sources)
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if options.kernels and not (options.cases or options.engines):
        print(report.machine(available(None)[0]))
        print(kernels.report(options.quick))
        return 0
    full = not (options.quick or options.cases or options.engines)
    names = options.cases.split(",") if options.cases else (list(QUICK) if options.quick else None)
    cases = select(cases, names)
    engines, missing = available(options.engines.split(",") if options.engines else None)
    shown = [engine.name for engine in engines]
    earlier = peers_of(options.against, [case.name for case in cases])
    if earlier.outcomes:
        engines = [engine for engine in engines if engine == MERCER]
        shown = list(ENGINES)
    machine = report.machine(engines)
    print(machine)
    for name in missing:
        print(f"{name} cannot be imported and is left out")
    for case in cases:
        if case.note:
            print(f"{case.name}: {case.note}")
    if not engines:
        return 1
    extra = dict(_assignment(text) for text in options.set)
    _warm_up(engines)

    budget = Budget(1 if options.quick else options.repeat, options.cap)
    results = Results(peaks=earlier.peaks, points=earlier.points)
    for case in cases:
        data = case.load()
        found, failures = compare(case, data, engines, budget, extra, _progress(case.name))
        results.outcomes += [*found, *(o for o in earlier.outcomes if o.case == case.name)]
        results.passes[case.name] = one_pass(case, data, _support(found)) if found else None
        if full if options.memory is None else options.memory:
            for engine in engines:
                if engine.provides(case):
                    _progress(case.name)(f"memory of {engine.name}")
                    results.peaks[case.name, engine.name] = peak(case, data, engine)
        _clear_line()
        print(report.one_line(case.name, found, failures), flush=True)
        if options.json:
            # After every case, so that an interrupted run is not lost.
            results.write(options.json, machine)
    if full if options.growth is None else options.growth:
        sizes = SIZES if not options.quick else SIZES[:3]
        results.points += grow(engines, sizes, 2 * options.cap, 2, extra, _progress("growth"))
    of_strings = []
    if MERCER in engines and (full if options.strings is None else options.strings):
        of_strings = strings.compare(options.quick, _progress("strings"))
    _clear_line()
    _print(results, [case.name for case in cases], shown)
    if of_strings:
        print(strings.text(of_strings))
    if MERCER in engines and (full if options.ridge is None else options.ridge):
        print(f"\n{ridge.text(ridge.compare(options.quick))}")
        sizes = ridge_growth.SIZES[:2] if options.quick else ridge_growth.SIZES
        print(f"\n{ridge_growth.text(ridge_growth.grow(sizes))}")
    if MERCER in engines and (full if options.components is None else options.components):
        print(f"\n{components.report(options.quick)}")
    if MERCER in engines and (full if options.latency is None else options.latency):
        print(f"\n{latency.text(latency.compare(options.quick, sources))}")
    if full if options.kernels is None else options.kernels:
        print(f"\n{kernels.report()}")
    if MERCER in engines and (full if options.imports is None else options.imports):
        print(f"\n{imports.text(imports.measure())}")
    if options.json:
        results.write(options.json, machine)
        print(f"\nall numbers are in {options.json}")
    return 0


def _print(results: Results, cases: list[str], engines: list[str]) -> None:
    print(report.measurements(results.outcomes, results.passes))
    if any(outcome.engine != MERCER.name for outcome in results.outcomes):
        for what in report.TITLES:
            print(report.ratios(results.outcomes, what))
    if results.peaks:
        print(report.memory(results.peaks, cases, engines))
    if results.points:
        print(report.growth(results.points, engines))


def _support(outcomes: list[Outcome]) -> int:
    """Number of support vectors, mercer's where it ran."""
    return min(outcomes, key=lambda o: o.engine != MERCER.name).n_support


def _warm_up(engines: list[Engine]) -> None:
    """Load libraries and start threads before anything is timed.

    What exists then is kept from the garbage collector, whose passes between short fits would
    otherwise take longer than the fits.
    """
    tiny = select(all_cases(Sources()), ["iris"])[0]
    data = tiny.load()
    for engine in engines:
        if engine.provides(tiny):
            fit(engine.estimator(tiny), tiny, data.X, data.y).predict(data.X_test)
    gc.collect()
    gc.freeze()


def _assignment(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"--set wants NAME=VALUE, got {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _progress(case: str) -> Any:
    """One line on a terminal that is overwritten; nothing in a file."""

    def show(line: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{case}: {line}", end="", file=sys.stderr, flush=True)

    return show


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
