"""Pictures of kernel matrices, filters and eigenfunctions."""

from functools import partial

import numpy as np
import pytest

from mercer import KernelPCA, plots
from mercer.data import rings
from mercer.inspection import mercer_decomposition
from mercer.kernels import RBF, Dirichlet, Laplacian, Linear, PeriodicGaussian, Sigmoid
from mercer.numerics import fourier_transforms

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_display():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    return rings(60, random_state=0)


def file_size(ax, path):
    ax.figure.savefig(path)
    return path.stat().st_size


@pytest.mark.spec("HO-13", "HO-14")
def test_a_gram_matrix_is_drawn_class_by_class(data, tmp_path):
    X, y = data
    ax = plots.gram(RBF(0.5), X, y)
    assert ax.get_title().startswith("class blocks\nalignment 0.")
    (image,) = ax.images
    shown = np.asarray(image.get_array())
    assert shown.shape == (60, 60)
    # The objects are permuted within their classes, so that the blocks keep their sums.
    K = RBF(0.5)(X)
    first = y == np.unique(y)[0]
    n = first.sum()
    assert shown[:n, :n].sum() == pytest.approx(K[np.ix_(first, first)].sum())
    assert shown[:n, n:].sum() == pytest.approx(K[np.ix_(first, ~first)].sum())
    assert [t.get_text() for t in ax.get_xticklabels()] == ["-1", "1"]
    assert file_size(ax, tmp_path / "gram.png") > 10_000
    assert plots.gram(RBF(1e6), X, y).get_title().startswith("near-diagonal")


def test_negative_values_get_a_colour_of_their_own(data):
    X, y = data
    signed = plots.gram(Sigmoid(1.0), X, y).images[0]
    plain = plots.gram(RBF(0.5), X).images[0]
    assert signed.norm.vmin == -signed.norm.vmax
    assert plain.norm.vmin == 0
    red, green, blue, _ = signed.cmap(0.0)
    assert red > blue > 0 or red > 0.8  # vermilion
    assert signed.cmap(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.01)
    assert plain.cmap(0.0)[:3] == pytest.approx((1, 1, 1), abs=0.01)
    assert green < red


def test_neighbours_in_the_picture_are_alike():
    rng = np.random.default_rng(0)
    X = rng.permutation(np.linspace(0, 6, 40))[:, None]
    shown = np.asarray(plots.gram(RBF(1.0), X).images[0].get_array())
    beside = np.diagonal(shown, offset=1).mean()
    assert beside > 0.9 > np.diagonal(RBF(1.0)(X), offset=1).mean()


def test_many_objects_are_thinned_out_and_many_classes_stay_nameless(monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, 2))
    monkeypatch.setattr("mercer.plots._gram.SHOWN", 40)
    y = np.arange(90) % 15
    ax = plots.gram(RBF(0.5), X, y)
    assert np.asarray(ax.images[0].get_array()).shape == (30, 30)
    assert list(ax.get_xticks()) == []


def test_matrices_and_real_targets(data):
    X, _ = data
    ax = plots.gram(np.eye(5))
    assert ax.get_title().startswith("near-diagonal\noff the diagonal 0 of it")
    targets = X[:, 0] + 0.5
    ax = plots.gram(Linear(), X, targets)
    assert ax.get_xlabel() == "objects by target"
    shown = np.asarray(ax.images[0].get_array())
    order = np.argsort(targets)
    assert shown == pytest.approx((X @ X.T)[np.ix_(order, order)])


def test_eigenvalues_fall_and_negative_ones_are_marked(data):
    X, _ = data
    ax = plots.eigenvalues(RBF(1.0), X)
    values = ax.lines[0].get_ydata()
    assert np.all(np.diff(values) <= 0)
    assert values[0] == pytest.approx(np.linalg.eigvalsh(RBF(1.0)(X))[-1])
    plots.eigenvalues(Sigmoid(1.0), X, ax=ax, label="tanh")
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert labels[:3] == ["RBF(gamma=1.0)", "rounding", "tanh"]
    assert labels[3].endswith("negative, sizes")
    colours = [line.get_color() for line in ax.lines if line.get_gid() == "eigenvalues"]
    assert len(set(colours)) == 2


@pytest.mark.spec("SM-3.27")
def test_filters_are_drawn_relative_to_frequency_zero(tmp_path):
    w = np.linspace(0, 20, 200)
    ax = plots.filters(
        {
            "cubic": partial(fourier_transforms.b_spline, order=3),
            "gauss": RBF.from_sigma(1 / np.sqrt(3)),
            "quadratic": partial(fourier_transforms.b_spline, order=2),
        },
        w,
    )
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert labels == ["cubic", "gauss", "quadratic", "quadratic: negative, not a kernel"]
    assert ax.lines[1].get_ydata()[10] == pytest.approx(np.exp(-(w[10] ** 2) / 6))
    assert all(line.get_ydata()[0] == 1 for line in ax.lines[:3])
    assert ax.get_yscale() == "log"
    assert file_size(ax, tmp_path / "filters.png") > 10_000


def test_filters_of_kernels_by_default():
    ax = plots.filters([RBF(0.5), Laplacian(1.0)], dimension=2)
    assert len(ax.lines) == 2
    assert ax.get_xlim() == (0.0, 8.0)
    assert r"\|" in ax.get_xlabel()


@pytest.mark.spec("SM-3.24")
def test_waves_of_periodic_kernels_are_points():
    kernels = [RBF(0.5), PeriodicGaussian(1.0, 10.0, "wrapped"), Dirichlet(3), PeriodicGaussian()]
    ax = plots.filters(kernels)
    gauss, wrapped, dirichlet, series = ax.lines
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert labels == [repr(kernel) for kernel in kernels]
    # The wrapped Gaussian samples the filter of the Gaussian.
    w = wrapped.get_xdata()
    assert w == pytest.approx(2 * np.pi / 10 * np.arange(len(w)))
    assert wrapped.get_ydata() == pytest.approx(np.exp(-(w**2) / 2))
    assert dirichlet.get_xdata().tolist() == [0, 1, 2, 3]
    assert dirichlet.get_ydata().tolist() == [1, 1, 1, 1]
    assert series.get_xdata()[0] == 1  # no constant
    assert {line.get_linestyle() for line in (wrapped, dirichlet, series)} == {"None"}
    assert gauss.get_linestyle() == "-"
    assert len(ax.collections) == 3  # stems


def test_eigenfunctions_of_an_interval():
    found = mercer_decomposition(RBF(2.0), (-1, 1), n_nodes=30)
    ax = plots.eigenfunctions(found, n_terms=3)
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 3
    crossings = [int((np.diff(np.sign(c.get_ydata())) != 0).sum()) for c in curves]
    assert crossings == [0, 1, 2]
    plane = mercer_decomposition(RBF(1.0), np.random.default_rng(0).normal(size=(9, 2)))
    with pytest.raises(ValueError, match="functions of one number"):
        plots.eigenfunctions(plane)


def test_scree_shows_the_shares_their_sum_and_the_share_that_was_wanted(data):
    X, _ = data
    model = KernelPCA(0.9, kernel=RBF(1.0)).fit(X)
    ax = plots.scree(model)
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == pytest.approx(model.explained_variance_ratio_)
    total, wanted = ax.lines[-2:]
    assert total.get_ydata()[-1] == pytest.approx(model.explained_variance_ratio_.sum())
    assert list(wanted.get_ydata()) == [0.9, 0.9]
    with pytest.raises(ValueError, match="call fit"):
        plots.scree(KernelPCA())
