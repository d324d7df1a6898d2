"""Draw the pictures of the user guide, docs/pictures/guide/*.png.

Usage: python -m tools.guide_pictures

Each function draws the example of its page.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris, make_classification, make_moons

from mercer import SVC, SVR, GaussianProcessRegressor, OneClassSVM, explain, plots
from mercer.data import noisy_sinc, spirals
from mercer.features import Nystrom, RandomFourierFeatures
from mercer.kernels import (
    RBF,
    Categorical,
    PeriodicGaussian,
    Spectrum,
    Subsequence,
    normalize,
)

mpl.use("Agg")
FOLDER = Path(__file__).parents[1] / "docs" / "pictures" / "guide"
TALL = 3.8


def row(n):
    """Return a figure and n panels side by side."""
    return plt.subplots(1, n, figsize=(3.6 * n, TALL), layout="constrained")


def beneath(ax):
    """Move the legend of a panel under it, where it takes no width."""
    old = ax.get_legend()
    handles, labels = old.legend_handles, [text.get_text() for text in old.get_texts()]
    old.remove()
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "ncols": 2}
    ax.legend(handles, labels, **place, frameon=False, fontsize=8)


def machines():
    """Draw a classifier, a regression with its tube, and a region of one class."""
    fig, axes = row(3)
    X, y = spirals(200, noise=0.05, random_state=0)
    plots.decision_surface(SVC(C=1.0, gamma=2.0).fit(X, y), X, y, ax=axes[0])
    axes[0].set_title("SVC: two classes")
    X, y = noisy_sinc(100, noise=0.1, random_state=0)
    plots.tube(SVR(C=10, epsilon=0.2, gamma=0.5).fit(X, y), X, y, ax=axes[1])
    axes[1].set_title("SVR: a tube of width 2 epsilon")
    X = np.random.default_rng(0).normal(size=(150, 2))
    plots.decision_surface(OneClassSVM(nu=0.1, gamma=0.5).fit(X), X, ax=axes[2])
    axes[2].set_title("OneClassSVM: where data lie")
    for ax in axes:
        beneath(ax)
    return fig


def widths():
    """Draw one data set with a kernel that is too wide, right, and too narrow."""
    fig, axes = row(3)
    X, y = make_moons(120, noise=0.25, random_state=0)
    for ax, gamma, remark in zip(
        axes, (0.02, 1.0, 100.0), ("too wide", "right", "too narrow"), strict=True
    ):
        model = SVC(kernel=RBF(gamma), C=10).fit(X, y)
        plots.decision_surface(model, X, y, ax=ax)
        ax.set_title(f"gamma = {gamma:g}, {remark}: {len(model.support_)} support vectors")
        ax.title.set_fontsize(8)
        beneath(ax)
    return fig


def weights():
    """Draw a rare class with and without balanced weights."""
    fig, axes = row(2)
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(150, 2)), rng.normal(1.3, 0.7, size=(12, 2))])
    y = np.repeat([0, 1], [150, 12])
    for ax, weight in zip(axes, (None, "balanced"), strict=True):
        model = SVC(gamma=0.5, class_weight=weight).fit(X, y)
        plots.decision_surface(model, X, y, ax=ax)
        found = int(np.sum(model.predict(X[150:]) == 1))
        ax.set_title(f"class_weight={weight!r}: {found} of 12 found", fontsize=10)
        beneath(ax)
    return fig


def certificates():
    """Draw primal and dual value over the number of steps at which a fit is stopped."""
    X, y = make_moons(200, noise=0.3, random_state=0)
    steps = np.unique(np.geomspace(1, 4000, 40).astype(int))
    fig, ax = plt.subplots(figsize=(6.0, TALL), layout="constrained")
    proofs = []
    for n in steps:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proofs.append(SVC(C=10, gamma=1.0, max_iter=int(n)).fit(X, y).certificate_)
    primal, dual = ([getattr(p, name) for p in proofs] for name in ("primal", "dual"))
    ax.fill_between(steps, dual, primal, color="#56B4E9", alpha=0.3, lw=0, label="gap")
    ax.plot(steps, primal, color="#0072B2", label="objective of the model (primal)")
    ax.plot(steps, dual, color="#D55E00", label="lower bound for every model (dual)")
    ax.set(xscale="log", xlabel="iterations (max_iter)", ylabel="objective")
    ax.set_ylim(0, 2.5 * primal[-1])
    ax.legend(frameon=False)
    return fig


def probabilities():
    """Draw the calibration curves of the three maps on new data."""
    X, y = make_moons(400, noise=0.3, random_state=0)
    X_new, y_new = make_moons(20_000, noise=0.3, random_state=1)
    fig, ax = plt.subplots(figsize=(4.2, 4.0), layout="constrained")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8, ls=":", label="perfect")
    for name, colour in (("free", "#0072B2"), ("consistent", "#D55E00"), ("isotonic", "#009E73")):
        model = SVC(gamma=1.0, probability=True, calibration=name, random_state=0).fit(X, y)
        share, stated = calibration_curve(y_new, model.predict_proba(X_new)[:, 1], n_bins=10)
        ax.plot(stated, share, "o-", ms=4, color=colour, label=f'calibration="{name}"')
    ax.set(xlabel="stated probability of class 1", ylabel="share of class 1 among new rows")
    ax.legend(frameon=False, fontsize=9)
    return fig


def explaining():
    """Draw the contributions of rows, and of columns for a sum of kernels on columns."""
    fig, axes = plt.subplots(1, 2, figsize=(9.0, TALL), layout="constrained")
    iris = load_iris(as_frame=True)
    X, y = iris.data[50:], iris.target_names[iris.target[50:]]
    explain(SVC(C=10, gamma=0.2).fit(X, y), X.iloc[[33]]).plot(axes[0], n=5)
    length, width = "petal length (cm)", "petal width (cm)"
    kernel = RBF(0.5).on_columns([length]) + RBF(2.0).on_columns([width])
    explain(SVC(kernel=kernel, C=10).fit(X, y), X.iloc[[0]]).plot(axes[1])
    return fig


def novelty():
    """Draw the region of one class for three shares of outliers."""
    fig, axes = row(3)
    X = np.random.default_rng(0).normal(size=(300, 2))
    for ax, nu in zip(axes, (0.01, 0.1, 0.5), strict=True):
        model = OneClassSVM(nu=nu, gamma=0.5).fit(X)
        plots.decision_surface(model, X, ax=ax)
        ax.set_title(f"nu = {nu:g}: {np.mean(model.predict(X) < 0):.0%} outliers", fontsize=10)
        beneath(ax)
    return fig


def kernels():
    """Draw two kernels with their sum and product, and random functions that belong to them."""
    fig, axes = plt.subplots(2, 4, figsize=(11.0, 4.6), layout="constrained", sharex=True)
    smooth, season = RBF(0.02), PeriodicGaussian(period=3.0, sigma=0.6, form="unit")
    x = np.linspace(-10, 10, 400)
    drawn = {
        "a: RBF": smooth,
        "b: PeriodicGaussian": season,
        "a + b: trend and season": smooth + season,
        "a * b: changing season": smooth * season,
    }
    for (title, kernel), top, bottom in zip(drawn.items(), axes[0], axes[1], strict=True):
        top.plot(x, kernel(x[:, None], [[0.0]])[:, 0], color="#0072B2")
        top.set_title(title, fontsize=10)
        process = GaussianProcessRegressor(kernel)
        bottom.plot(x, process.sample_y(x[:, None], 2, random_state=1), linewidth=1.2)
        bottom.set_xlabel("x")
    axes[0, 0].set_ylabel("k(x, 0)")
    axes[1, 0].set_ylabel("two random functions")
    return fig


def strings():
    """Draw the kernel matrix of eight words for contiguous and for gapped substrings."""
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
    words = ["banana", "bandana", "cabana", "ananas", "kernel", "colonel", "kennel", "tunnel"]
    for ax, kernel in zip(axes, (Spectrum(2), Subsequence(n=2, decay=0.5)), strict=True):
        image = ax.imshow(normalize(kernel)(words), cmap="Blues", vmin=0.0, vmax=1.0)
        ax.set_xticks(range(8), words, rotation=45, ha="right")
        ax.set_yticks(range(8), words)
        ax.set_title(f"normalize({kernel!r})", fontsize=10)
    fig.colorbar(image, ax=axes, label="kernel value", shrink=0.8)
    return fig


def tables():
    """Draw the kernel matrices of the parts of a table, and of their sum."""
    fig, axes = plt.subplots(1, 4, figsize=(12.4, 3.6), layout="constrained", sharey=True)
    names = ["Anna", "Hanna", "Johanna", "Bert", "Albert", "Robert"]
    table = pd.DataFrame(
        {
            "name": names,
            "city": ["Oslo", "Bern", "Oslo", "Bern", "Rome", "Rome"],
            "age": [31, 28, 45, 52, 39, 61],
            "height": [1.68, 1.71, 1.65, 1.82, 1.79, 1.85],
        }
    )
    parts = {
        "names: normalize(Spectrum(2))": normalize(Spectrum(2)).on_columns("name"),
        "cities: Categorical()": Categorical().on_columns(["city"]),
        "age and height: RBF()": RBF().on_columns(["age", "height"]),
    }
    first, second, third = parts.values()
    for ax, (title, kernel) in zip(
        axes, {**parts, "their sum": first + second + third}.items(), strict=True
    ):
        K = kernel.bind(table)(table)
        image = ax.imshow(K, cmap="Blues", vmin=0.0, vmax=3.0 if ax is axes[-1] else 1.0)
        for (i, j), value in np.ndenumerate(K):
            colour = "white" if value > 0.6 * image.get_clim()[1] else "black"
            ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=8, color=colour)
        ax.set_xticks(range(6), names, rotation=45, ha="right")
        ax.set_yticks(range(6), names)
        ax.set_title(title, fontsize=10)
    return fig


def approximations():
    """Draw the error of explicit features over their number."""
    fig, ax = plt.subplots(figsize=(6.0, TALL), layout="constrained")
    X, _ = make_classification(3000, n_features=20, flip_y=0.1, random_state=0)
    counts = [10, 30, 100, 300, 1000]
    kernel = RBF(0.02)
    for make, colour in ((Nystrom, "#0072B2"), (RandomFourierFeatures, "#D55E00")):
        errors = []
        for n in counts:
            features = make(kernel=kernel, n_components=n, random_state=0).fit(X)
            errors.append(features.approximation_error(X, n_sample=500).relative_frobenius)
        ax.plot(counts, errors, "o-", color=colour, label=make.__name__)
    ax.set(xscale="log", yscale="log", xlabel="number of features")
    ax.set_ylabel("relative error of the kernel matrix")
    ax.legend(frameon=False)
    return fig


PICTURES = (
    machines,
    widths,
    weights,
    certificates,
    probabilities,
    explaining,
    novelty,
    kernels,
    strings,
    tables,
    approximations,
)


def main() -> None:
    """Draw all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for draw in PICTURES:
        figure = draw()
        figure.savefig(FOLDER / f"{draw.__name__}.png", dpi=110)
        plt.close(figure)


if __name__ == "__main__":
    main()
