"""The pictures of docs/pictures/kernels/: a kernel on the left, its spectrum on the right.

The files are SVG without dates or random names, so that the same kernels give the same files.
"""

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from mercer.inspection import eigenvalue_report, fourier_coefficients, fourier_transform
from mercer.plots._gram import _shades
from mercer.plots._style import FAINT, INK, colour_of, tidy

from . import facts
from .portraits import Curves, Matrix, Plane, Portrait, portraits, varied

STYLE = {
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.hashsalt": "mercer",
    "svg.fonttype": "path",
    "path.simplify_threshold": 0.2,
}
SIZE = (7.2, 2.4)
TALLER = (7.2, 2.9)  # with names under the columns
POINTS = 201  # of a curve
NODES = 120  # of an interval, for eigenvalues
SIDE = 13  # of the plane, for eigenvalues
RANKS = 20  # eigenvalues that are shown
WAVES = 13  # coefficients of a series
HIGHEST = 8.0  # frequency
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.2, 1.2, 1.2)))  # curves that coincide show
FLOOR = 1e-8  # below this share of the largest, values are not drawn


def draw(folder: Path, names: Sequence[str] | None = None, suffix: str = "svg") -> None:
    """Draw all portraits, or those of some names, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, portrait in portraits().items():
        if names is None or name in names:
            with mpl.rc_context(STYLE):
                figure = picture(portrait)
                if suffix == "svg":
                    (folder / f"{name}.svg").write_text(_svg(figure), encoding="utf-8")
                else:
                    figure.savefig(folder / f"{name}.{suffix}", dpi=110)


def _svg(figure: Figure) -> str:
    """Return a figure as SVG, small: without indentation, numbers to a hundredth of a point."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})

    def rounded(path: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}", path[0])

    text = re.sub(r' [dxy]="[^"]*"', rounded, file.getvalue())
    return "\n".join(line.strip() for line in text.splitlines()) + "\n"


def picture(portrait: Portrait) -> Figure:
    """Return the figure of a portrait."""
    if isinstance(portrait, Matrix):
        return _matrix(portrait)
    return _plane(portrait) if isinstance(portrait, Plane) else _curves(portrait)


def _curves(portrait: Curves) -> Figure:
    figure = Figure(figsize=SIZE, layout="constrained")
    left, right = figure.subplots(1, 2)
    x = np.linspace(*portrait.interval, POINTS)
    names = curve_names(portrait)
    pairs = [(kernel, z) for kernel in portrait.kernels for z in portrait.at]
    left.axhline(0.0, color=FAINT, linewidth=0.6, zorder=0)
    for i, (kernel, z) in enumerate(pairs):
        values = kernel(x[:, None], np.array([[z]]))[:, 0]
        left.plot(x, values, color=colour_of(i), linestyle=_dashes(i), label=names[i])
    for i, z in enumerate(portrait.at):
        colour = colour_of(i) if len(portrait.at) > 1 else INK
        _mark(left, z, colour)
    left.set_xlim(*portrait.interval)
    left.set_xlabel("$x$")
    single = f", $z = {portrait.at[0]:g}$" if len(portrait.at) == 1 else ""
    left.set_title(f"$k(x, z)${single}", fontsize=8)
    tidy(left)
    spectra = {"density": _density, "series": _series, "eigenvalues": _interval_eigenvalues}
    spectra[facts.spectrum(portrait).kind](right, portrait)
    tidy(right)
    if len(names) > 1:
        lines, labels = left.get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def _dashes(i: int) -> Any:
    return DASHES[i % len(DASHES)]


def _mark(ax: Axes, z: float, colour: str) -> None:
    """Point at a place on the axis of x."""
    below = ax.get_xaxis_transform()
    ax.plot([z], [0], "^", color=colour, markersize=5, transform=below, clip_on=False, zorder=5)


def curve_names(portrait: Curves) -> list[str]:
    """Return what tells the curves apart: their points z, or parameters of the kernels."""
    if len(portrait.kernels) == 1:
        return [f"$z = {z:g}$" for z in portrait.at]
    settings = [kernel.get_params() for kernel in portrait.kernels]
    names = varied(portrait.kernels)
    return [
        ", ".join(f"{name.rsplit('__', 1)[-1]} = {_shown(setting[name])}" for name in names)
        for setting in settings
    ]


def _shown(value: Any) -> str:
    return (
        "∞" if value == float("inf") else f"{value:g}" if isinstance(value, float) else str(value)
    )


def _density(ax: Axes, portrait: Curves) -> None:
    w = np.linspace(0.02, HIGHEST, POINTS)
    largest = 0.0
    for i, kernel in enumerate(portrait.kernels):
        values = fourier_transform(kernel, w)
        values = np.where(values > FLOOR * values.max(), values, np.nan)
        largest = max(largest, float(np.nanmax(values)))
        ax.semilogy(w, values, color=colour_of(i), linestyle=_dashes(i))
    ax.set_ylim(bottom=max(FLOOR * largest, ax.get_ylim()[0]))
    _whole_decades(ax)
    ax.set_xlim(0.0, HIGHEST)
    ax.set_xlabel(r"frequency $\omega$")
    ax.set_title(r"spectrum $F[k](\omega)$", fontsize=8)


def _series(ax: Axes, portrait: Curves) -> None:
    n = np.arange(WAVES)
    count = len(portrait.kernels)
    for i, kernel in enumerate(portrait.kernels):
        a = fourier_coefficients(kernel, WAVES)
        shift = 0.16 * (i - (count - 1) / 2)
        ax.vlines(n + shift, 0.0, a, color=colour_of(i), linewidth=1.3)
        ax.plot(n + shift, a, ".", color=colour_of(i))
    ax.axhline(0.0, color=FAINT, linewidth=0.6, zorder=0)
    ax.set_xticks(n[::2])
    ax.set_xlabel("$n$")
    ax.set_title("coefficients $a_n$", fontsize=8)


def _interval_eigenvalues(ax: Axes, portrait: Curves) -> None:
    low, high = portrait.interval
    nodes = low + (high - low) * (np.arange(NODES) + 0.5) / NODES
    for i, kernel in enumerate(portrait.kernels):
        values = eigenvalue_report(kernel, nodes[:, None]).eigenvalues * (high - low) / NODES
        _by_rank(ax, values, colour_of(i) if len(portrait.kernels) > 1 else INK)
    _rank_axes(ax, f"eigenvalues on [{_ends(low)}, {_ends(high)}]")


def _ends(number: float) -> str:
    turns = number / np.pi
    return f"{turns:g}π" if turns and turns == round(turns) else f"{number:g}"


def _by_rank(ax: Axes, values: np.ndarray, colour: str, name: str = "") -> None:
    """Draw eigenvalues by falling size, the negative ones as crosses."""
    values = values[np.argsort(-np.abs(values), kind="stable")][:RANKS]
    values = np.where(np.abs(values) > FLOOR * np.abs(values).max(), values, np.nan)
    ranks = np.arange(1, len(values) + 1)
    positive = np.where(values > 0, values, np.nan)
    ax.semilogy(ranks, positive, ".-", color=colour, linewidth=0.8, label=name)
    if (values < 0).any():
        ax.semilogy(ranks, np.where(values < 0, -values, np.nan), "x", color=colour)


def _rank_axes(ax: Axes, title: str) -> None:
    """Finish a picture of eigenvalues; a single one is written instead of drawn."""
    ax.set_title(title, fontsize=8)
    drawn = [y[np.isfinite(y)] for y in (np.asarray(line.get_ydata()) for line in ax.lines)]
    if [len(y) for y in drawn] == [1]:
        ax.clear()
        ax.set_axis_off()
        ax.set_title(title, fontsize=8)
        ax.text(0.5, 0.5, f"one eigenvalue, {drawn[0][0]:.3g}", ha="center", va="center")
        return
    if any(line.get_marker() == "x" for line in ax.lines):
        key = ax.plot([], [], "x", color=INK, label="negative, absolute value")
        ax.legend(handles=key, frameon=False, loc="upper right")
    _whole_decades(ax)
    shown = max(np.isfinite(line.get_ydata()).nonzero()[0].max(initial=4) for line in ax.lines)
    ax.set_xlim(0.5, shown + 1.5)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("rank")


def _whole_decades(ax: Axes) -> None:
    """Let a logarithmic axis of few decades begin and end at powers of ten."""
    low, high = np.log10(ax.get_ylim())
    if high - low < 3:
        low, high = np.floor(low), np.ceil(high)
        ax.set_ylim(10.0**low, 10.0**high)
    ax.yaxis.set_minor_formatter(NullFormatter())


def _plane(portrait: Plane) -> Figure:
    count = len(portrait.kernels)
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots(1, count + 1, width_ratios=[1.0] * count + [1.4])
    ends = (-portrait.half, portrait.half)
    x = np.linspace(*ends, 61)
    points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    grid = np.linspace(*ends, SIDE)
    nodes = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    for i, (ax, kernel) in enumerate(zip(axes[:-1], portrait.kernels, strict=True)):
        values = kernel(points, np.array([portrait.at])).reshape(len(x), len(x))
        ax.imshow(values, extent=(*ends, *ends), origin="lower", **_shades(values))
        ax.contour(x, x, values, levels=6, colors="white", linewidths=0.5)
        ax.plot(*portrait.at, "o", color="white", markeredgecolor=INK)
        ax.set_xlabel("$x_1$")
        ax.set_ylabel("$x_2$", rotation=0)
        name = f"order {kernel.get_params()['order']}" if count > 1 else ""
        ax.set_title(f"$k(x, z)$, {name}" if name else "$k(x, z)$", fontsize=8)
        eigenvalues = eigenvalue_report(kernel, nodes).eigenvalues * (2 * portrait.half / SIDE) ** 2
        _by_rank(axes[-1], eigenvalues, colour_of(i) if name else INK, name)
    if count > 1:
        axes[-1].legend(frameon=False)
    _rank_axes(axes[-1], "eigenvalues on the square")
    tidy(axes[-1])
    return figure


def _matrix(portrait: Matrix) -> Figure:
    values = portrait.drawn(portrait.objects)
    names = [str(name) for name in portrait.names or portrait.objects]
    figure = Figure(figsize=TALLER, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    image = left.imshow(values, aspect="auto", interpolation="nearest", **_shades(values))
    _numbers(left, values, image.cmap(image.norm(values)))
    left.set_yticks(range(len(names)), names)
    slanted = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    left.set_xticks(range(len(names)), names, **(slanted if max(map(len, names)) > 2 else {}))
    left.tick_params(length=0)
    left.spines[:].set_visible(False)
    left.set_title("normalised values" if portrait.normalized else "values", fontsize=8)
    _by_rank(right, np.linalg.eigvalsh(values), INK)
    _rank_axes(right, "eigenvalues of the matrix")
    tidy(right)
    return figure


def _numbers(ax: Axes, values: np.ndarray, shades: np.ndarray) -> None:
    """Write the entries of a matrix into its cells, of which `shades` has the colours."""
    luminance = shades[..., :3] @ [0.2126, 0.7152, 0.0722]
    whole = np.abs(values - np.round(values)).max() < 1e-9
    digits = 0 if whole else 2 if np.abs(values).max() < 10 else 1
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if luminance[i, j] < 0.5 else INK
        ax.text(j, i, _entry(value, digits), ha="center", va="center", fontsize=7, color=colour)


def _entry(value: float, digits: int) -> str:
    """Return an entry with some decimals: 0 is exactly zero, small values keep a digit."""
    if abs(value) < 1e-12:
        return "0"
    if abs(value) < 0.5 * 10.0**-digits:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.{digits}f}"
