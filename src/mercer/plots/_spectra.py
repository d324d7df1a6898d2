"""Pictures of kernels as filters, and of their eigenfunctions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import BESIDE, FAINT, as_numbers, colour_of, finished, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Attenuations below this are not drawn: the zeros of a spline's filter go to nothing.
FLOOR = 1e-8


def filters(
    kernels: Mapping[str, Any] | Sequence[Any],
    omega: Any = None,
    *,
    dimension: int = 1,
    ax: Axes | None = None,
) -> Axes:
    """Draw by how much kernels damp each frequency, relative to frequency zero.

    Where a curve is low, functions of that frequency are expensive for a machine with this kernel;
    where it falls to nothing, they are impossible. Kernels whose curves agree where data have
    power act alike, whatever their formulas. A periodic kernel has the waves of its period and
    nothing in between: they are drawn as points on stems, relative to its constant, or to its
    lowest wave where it has no constant.

    Parameters
    ----------
    kernels : sequence of Kernel, or mapping of names to Kernel or callables
        Kernels to compare; a callable is a Fourier transform itself.
    omega : array of shape (n,), optional
        Frequencies; by default 0 to 8.
    dimension : int, default=1
        The dimension of the space.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.kernels import RBF, Laplacian
    >>> from mercer.plots import filters
    >>> ax = filters({"Gaussian": RBF(gamma=0.5), "Laplacian": Laplacian(gamma=1.0)})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Gaussian', 'Laplacian']
    """
    from mercer.inspection.spectrum_comparison import by_name, compare_spectra

    kernels = by_name(kernels)
    w = np.linspace(0.0, 8.0, 401) if omega is None else np.asarray(omega, dtype=np.float64)
    table = compare_spectra(kernels, w, dimension)
    ax = new_axes(ax, figsize=(8.0, 4.0))
    for k, ((name, values), kernel) in enumerate(zip(table.items(), kernels.values(), strict=True)):
        if _stems(ax, kernel, name, colour_of(k), w):
            continue
        negative = values < -FLOOR
        sizes = np.where(np.abs(values) < FLOOR, np.nan, np.abs(values))
        ax.semilogy(w, sizes, color=colour_of(k), label=name)
        if negative.any():
            ax.semilogy(
                w[negative],
                np.abs(values[negative]),
                color=colour_of(k),
                marker="x",
                linestyle="none",
                markevery=max(1, int(negative.sum()) // 12),
                label=f"{name}: negative, not a kernel",
            )
    ax.set_xlim(float(w.min()), float(w.max()))
    ax.set_ylim(bottom=FLOOR)
    x = r"frequency $\omega$" if dimension == 1 else r"frequency $\|\omega\|$"
    return finished(ax, x, r"$F[k](\omega) \;/\; F[k](0)$", legend=BESIDE)


def _stems(ax: Axes, kernel: Any, name: str, colour: str, w: np.ndarray) -> bool:
    """Draw the waves of a kernel if it is periodic, and return whether it is."""
    from mercer.inspection.spectrum_comparison import waves
    from mercer.kernels import Kernel

    found = waves(kernel, float(w.max())) if isinstance(kernel, Kernel) else None
    if found is None:
        return False
    at, sizes = found.frequencies, found.attenuation
    shown = (at >= w.min()) & (at <= w.max()) & (sizes >= FLOOR)
    ax.vlines(at[shown], FLOOR, sizes[shown], color=colour, linewidth=0.8, alpha=0.6)
    ax.semilogy(at[shown], sizes[shown], color=colour, marker="o", linestyle="none", label=name)
    return True


def eigenfunctions(
    decomposition: Any, *, n_terms: int = 5, ax: Axes | None = None, resolution: int = 400
) -> Axes:
    """Draw the leading eigenfunctions of a kernel on an interval.

    Parameters
    ----------
    decomposition : MercerDecomposition
        Of a kernel on an interval, or on a sample of real numbers.
    n_terms : int, default=5
        How many to draw.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    resolution : int, default=400
        Points of a curve.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.inspection import mercer_decomposition
    >>> from mercer.kernels import RBF
    >>> from mercer.plots import eigenfunctions
    >>> ax = eigenfunctions(mercer_decomposition(RBF(gamma=2.0), (-1, 1), n_nodes=40))
    """
    if not hasattr(decomposition, "nodes"):
        raise TypeError(
            "eigenfunctions draws the result of mercer_decomposition; got "
            f"{type(decomposition).__name__}."
        )
    nodes = as_numbers(decomposition.nodes, "eigenfunctions")
    if nodes.ndim != 2 or nodes.shape[1] != 1:
        raise ValueError(
            "eigenfunctions draws functions of one number; this decomposition has nodes of shape "
            f"{nodes.shape}."
        )
    ax = new_axes(ax, figsize=(6.4, 4.0))
    x = np.linspace(nodes.min(), nodes.max(), resolution)
    values = decomposition.eigenfunctions(x[:, None])
    ax.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    for j, eigenvalue in enumerate(decomposition.eigenvalues[:n_terms]):
        label = rf"$\lambda_{{{j + 1}}}$ = {eigenvalue:.3g}"
        ax.plot(x, values[:, j], color=colour_of(j), label=label)
    ax.set_xlim(x[0], x[-1])
    return finished(ax, "$x$", r"$\phi_j(x)$", upright=True, legend=BESIDE)
