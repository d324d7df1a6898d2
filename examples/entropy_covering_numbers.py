"""What chapters 8 and 9 of Smola's thesis state in formulas and do not draw, in four pictures.

Covering numbers of the Gaussian kernel exp(-|x|^2) on a period of 10, by every method of the
chapters; entropy numbers of its scaling operator in one to three dimensions, exactly and by the
continuum approximation; what a long period costs; and learning curves, of regression with the
squared loss and of principal manifolds.
"""

import sys
from pathlib import Path

import numpy as np

from mercer.capacity import overall_bound
from mercer.capacity.entropy import (
    LPClass,
    MultiOutputClass,
    Spectrum,
    SVClass,
    continuum_entropy,
    cover_radius_margin,
    entropy_A,
    expected_excess,
    kegl_log_cover,
    kernel_entropy,
    wrap_error,
)
from mercer.kernels import RBF

PICTURE = Path("entropy-covering-numbers.png")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
KERNEL = RBF(gamma=1.0)


def covers(ax) -> None:
    """Draw ln N over eps for 1,000 points."""
    spectrum = Spectrum.from_translation_invariant(KERNEL, 10.0)
    sv, lp = SVClass(spectrum, c=1.86), LPClass(spectrum)
    eps = np.geomspace(0.6, 1e-3, 25)
    curves = {
        "combinatorial dimension": [float(cover_radius_margin(e, 1000, 1.0)) for e in eps],
        "Maurey, c = 1.86": [float(sv.log_covering(e, 1000, "maurey")) for e in eps],
        "spectrum, support vectors": [float(sv.log_covering(e, which="operator")) for e in eps],
        "spectrum, linear programming": [float(lp.log_covering(e, which="operator")) for e in eps],
    }
    for colour, (name, values) in zip(COLOURS, curves.items(), strict=False):
        shown = np.where(np.isfinite(values), values, np.nan)
        ax.loglog(eps, shown, color=colour, label=name, marker="." if np.isnan(shown).any() else "")
    ax.axhline(1000, color="0.6", linestyle=":", linewidth=1)
    ax.set(xlabel=r"$\epsilon$", ylabel=r"$\ln N(\epsilon)$", title="covers on 1,000 points")
    ax.invert_xaxis()
    ax.legend(frameon=False, fontsize="small")


def dimensions(ax) -> None:
    """Draw the entropy numbers of the scaling operator over ln n."""
    ln_n = np.geomspace(5.0, 2000.0, 60)
    for d, colour in zip((1, 2, 3), COLOURS, strict=False):
        exact = kernel_entropy(RBF(gamma=0.5), 10.0, d, ln_n)
        # exp(-|x|^2 / 2) has eigenvalues (2 pi)^(d/2) exp(-|w|^2 / 2) = beta^2 exp(-|w|^2 / 2)
        beta = (2 * np.pi) ** (d / 4)
        rough = [float(continuum_entropy(x, 0.5, 2.0, d, 10.0, beta)) for x in ln_n]
        ax.semilogy(ln_n, exact, color=colour, label=f"d = {d}")
        ax.semilogy(ln_n, rough, color=colour, linestyle="--", linewidth=1)
    ax.set(xlabel=r"$\ln n$", ylabel=r"$\epsilon_n(A)$", ylim=(1e-9, 30))
    ax.set_title("scaling operator; dashed: continuum")
    ax.legend(frameon=False, fontsize="small")


def periods(ax) -> None:
    """Draw entropy numbers and the change of the kernel over the period."""
    v = np.linspace(2.2, 20.0, 60)
    eps = [entropy_A(Spectrum.from_translation_invariant(KERNEL, float(x)), 20.0).value for x in v]
    wrap = [wrap_error(KERNEL, float(x), 2.0) for x in v]
    ax.plot(v, eps, color=COLOURS[0])
    ax.set(xlabel="period v", title="data in [-1, 1]: what a period costs")
    ax.set_ylabel(r"$\epsilon_n(A)$ at $\ln n = 20$", color=COLOURS[0])
    twin = ax.twinx()
    twin.semilogy(v, np.maximum(wrap, 1e-17), color=COLOURS[1])
    twin.set_ylabel("change of the kernel on the data", color=COLOURS[1])


def learning(ax) -> None:
    """Draw bounds over the number of points."""
    spectrum = Spectrum.from_translation_invariant(KERNEL, 10.0)
    sv, ball = SVClass(spectrum), SVClass.from_ball(1.0)
    manifold = MultiOutputClass(spectrum, 2)
    m = np.geomspace(1e3, 1e9, 7).astype(int)
    curves = {
        "regression, spectrum": [overall_bound(int(k), sv.log_covering).value for k in m],
        "regression, ball alone": [overall_bound(int(k), ball.log_covering).value for k in m],
        "principal curve, spectrum": [
            expected_excess(int(k), manifold.log_covering, 1.0).value for k in m
        ],
        "principal curve, length 1": [
            expected_excess(int(k), lambda e, _: kegl_log_cover(e, 1.0, 1.0, 20, 2), 1.0).value
            for k in m
        ],
    }
    for colour, (name, values) in zip(COLOURS, curves.items(), strict=False):
        ax.loglog(m, values, color=colour, marker="o", markersize=3, label=name)
        slope = np.diff(np.log(values[-2:]))[0] / np.diff(np.log(m[-2:].astype(float)))[0]
        print(f"  {name:<28} {values[3]:8.4f} at m = {m[3]:,}, last slope {slope:.3f}")
    ax.axhline(1.0, color="0.6", linestyle=":", linewidth=1)
    ax.set(xlabel="number of points m", ylabel="deviation, excess error", title="learning curves")
    ax.legend(frameon=False, fontsize="small")


def main(picture: Path = PICTURE) -> None:
    """Compute, report, draw."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11.5, 8.4), layout="constrained")
    for ax, panel in zip(axes.ravel(), (covers, dimensions, periods, learning), strict=True):
        panel(ax)
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture.resolve()}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
