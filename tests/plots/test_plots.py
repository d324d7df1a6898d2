import builtins

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import plots
from mercer.data import lfd_toy, noisy_sinc, rings
from mercer.kernels import FromFeatureMap, Polynomial

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_display():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def ring_machine():
    X, y = rings(60, noise=0.25, random_state=0)
    return mercer.SVC(C=10).fit(X, y), X, y


def support_marks(ax):
    """Points drawn as support vectors."""
    return next(c for c in ax.collections if c.get_gid() == "support").get_offsets()


def separator(ax):
    """Points of the contour f = 0."""
    zero = next(c for c in ax.collections if list(getattr(c, "levels", ())) == [0.0])
    return np.concatenate([path.vertices for path in zero.get_paths()])


def file_size(ax, path):
    ax.figure.savefig(path)
    return path.stat().st_size


@pytest.mark.spec("HO-44")
def test_decision_surface_writes_a_file_without_a_display(ring_machine, tmp_path):
    model, X, y = ring_machine
    ax = plots.decision_surface(model, X, y)
    assert file_size(ax, tmp_path / "surface.png") > 10_000
    assert len(support_marks(ax)) == sum(model.n_support_)


def test_decision_surface_of_several_classes_and_of_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])]
    ax = plots.decision_surface(mercer.SVC().fit(X, y), X, y)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b", "c", "support vector"]
    model = mercer.OneClassSVM(nu=0.2).fit(X)
    assert len(support_marks(plots.decision_surface(model, X))) == len(model.support_)


@pytest.mark.spec("HO-45")
def test_margin_boxes_every_support_vector():
    X, y = lfd_toy()
    model = mercer.SVC(kernel="linear", C=10, tol=1e-6).fit(X, y)
    ax = plots.margin(model, X, y)
    assert len(support_marks(ax)) == sum(model.n_support_) == 3
    assert ax.get_title() == "margin 0.7071, 3 support vectors"
    lengths = [np.linalg.norm(np.diff(line.get_xydata(), axis=0)) for line in ax.lines]
    assert lengths == pytest.approx([np.sqrt(0.5)] * 3, rel=1e-3)


def test_margin_of_a_curved_separator_draws_no_segments(ring_machine):
    model, X, y = ring_machine
    ax = plots.margin(model, X, y)
    assert not ax.lines
    assert len(support_marks(ax)) == sum(model.n_support_)


def test_margin_of_columns_in_other_units_fills_its_axes(ring_machine):
    _, X, y = ring_machine
    assert plots.margin(mercer.SVC().fit(X, y), X, y).get_aspect() == 1.0
    wide = X * [1.0, 100.0]
    model = make_pipeline(StandardScaler(), mercer.SVC()).fit(wide, y)
    assert plots.margin(model, wide, y).get_aspect() == "auto"


@pytest.mark.spec("HO-46")
def test_one_bar_for_every_support_vector(ring_machine):
    model, X, _ = ring_machine
    ax = plots.dual_coefficients(model)
    heights = [bar.get_height() for bar in ax.patches]
    assert len(heights) == sum(model.n_support_)
    assert all(height > 0 for height in heights)
    assert sum(heights) == pytest.approx(np.abs(model.dual_coef_).sum())
    assert ax.get_title().endswith(f"among {len(X)} points")


@pytest.mark.spec("CS-6.35")
def test_tube_shows_the_support_vectors_outside_it():
    X, y = noisy_sinc(50, random_state=0)
    model = mercer.SVR(C=10, epsilon=0.1).fit(X, y)
    inside, outside, rings = plots.tube(model, X, y).collections[1:]
    assert len(outside.get_offsets()) == len(rings.get_offsets()) == len(model.support_)
    x, target = inside.get_offsets().T
    assert np.all(np.abs(target - model.predict(x[:, None])) <= 0.1 + 1e-3)


def test_tube_of_the_nu_machine_is_the_one_it_found():
    X, y = noisy_sinc(50, random_state=0)
    model = mercer.NuSVR(nu=0.3, C=10).fit(X, y)
    assert plots.tube(model, X, y).get_title() == rf"$\varepsilon$ = {model.epsilon_:.4g}"


@pytest.mark.spec("CS-3.07")
def test_a_map_makes_the_separator_of_rings_straight(tmp_path):
    X, y = rings(60, noise=0.05, random_state=0)
    with pytest.raises(mercer.NotSeparableError):
        mercer.SVC(kernel="linear", C=np.inf).fit(X, y)
    model = mercer.SVC(kernel=FromFeatureMap(np.square), C=np.inf).fit(X, y)
    left, right = plots.feature_map(model, X, y, resolution=300)
    assert file_size(left, tmp_path / "map.png") > 10_000
    assert len(support_marks(left)) == len(support_marks(right)) == sum(model.n_support_)
    np.testing.assert_allclose(support_marks(right), np.square(support_marks(left)))
    curve, line = (separator(ax) for ax in (left, right))
    # A line on the right, and the points on the left that are mapped onto it.
    direction = np.linalg.svd(line - line.mean(axis=0))[1]
    assert direction[1] < 1e-9 * direction[0]
    slope, offset = np.polyfit(*line.T, 1)
    assert np.abs(np.square(curve) @ [-slope, 1] - offset).max() < 0.02
    assert np.linalg.norm(curve, axis=1).max() < 2.1
    # Every point lies on the side of its label.
    sides = np.sign(np.square(X) @ [-slope, 1] - offset)
    assert abs((sides * y).sum()) == len(y)


def test_feature_maps_that_do_not_fit_on_paper_are_refused(ring_machine):
    model, X, y = ring_machine
    with pytest.raises(ValueError, match="does not list them"):
        plots.feature_map(model, X, y)
    cubic = mercer.SVC(kernel=Polynomial(2, 1.0, 1.0)).fit(X, y)
    with pytest.raises(ValueError, match=r"two explicit features; Polynomial.* has 6"):
        plots.feature_map(cubic, X, y)
    linear = mercer.SVC(kernel="linear").fit(X, y)
    _, axes = plt.subplots(1, 2)
    assert plots.feature_map(linear, X, y, axes=tuple(axes)) == tuple(axes)


def test_plots_draw_on_given_axes(ring_machine):
    model, X, y = ring_machine
    _, axes = plt.subplots(1, 2)
    assert plots.decision_surface(model, X, y, ax=axes[0]) is axes[0]
    assert plots.dual_coefficients(model, ax=axes[1]) is axes[1]


def test_data_that_do_not_fit_on_paper_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.sign(X[:, 0])
    model = mercer.SVC().fit(X, y)
    with pytest.raises(ValueError, match=r"2 columns, got an array of shape \(30, 3\)"):
        plots.decision_surface(model, X, y)
    with pytest.raises(ValueError, match="1 column, got"):
        plots.tube(mercer.SVR().fit(X, y), X, y)
    three = mercer.SVC().fit(X[:, :2], np.arange(30) % 3)
    with pytest.raises(ValueError, match="3 classes"):
        plots.margin(three, X[:, :2], np.arange(30) % 3)


def test_missing_matplotlib_is_named(ring_machine, monkeypatch):
    model, X, y = ring_machine
    real = builtins.__import__

    def without_matplotlib(name, *arguments, **keywords):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[plots\]'"):
        plots.decision_surface(model, X, y)


def test_every_picture_of_a_machine_takes_a_pipeline():
    X, y = rings(40, noise=0.05, random_state=0)
    frame = pd.DataFrame(X, columns=["width", "height"])
    squares = mercer.SVC(kernel=FromFeatureMap(np.square), C=10.0)
    piped = make_pipeline(StandardScaler().set_output(transform="pandas"), squares).fit(frame, y)
    before, after = plots.feature_map(piped, frame, y)
    assert before.get_xlabel() == "width"
    inside = piped[:-1].transform(frame)
    direct = plots.feature_map(piped[-1], inside, y)[1]
    for left, right in zip(after.collections, direct.collections, strict=True):
        np.testing.assert_array_equal(left.get_offsets(), right.get_offsets())
    assert plots.dual_coefficients(piped).get_title().endswith("among 40 points")
    line = frame[["width"]]
    target = np.sin(X[:, 0])
    regression = make_pipeline(StandardScaler(), mercer.SVR(epsilon=0.2)).fit(line, target)
    ax = plots.tube(regression, line, target)
    curve = ax.lines[0].get_xydata()
    predicted = regression.predict(pd.DataFrame({"width": curve[:, 0]}))
    assert curve[:, 1] == pytest.approx(predicted)
    assert ax.get_title() == r"$\varepsilon$ = 0.2"
    process = make_pipeline(StandardScaler(), mercer.GaussianProcessRegressor(optimizer=None))
    assert plots.posterior(process.fit(line, target)).get_xlabel() == "transformed x"
    ridge = make_pipeline(StandardScaler(), mercer.KernelRidgeCV(kernel="rbf")).fit(line, target)
    assert plots.penalty_path(ridge).get_xlabel() == "alpha"


def test_the_best_pipeline_of_a_search_is_drawn_on_rows_with_missing_values():
    X, y = rings(40, noise=0.05, random_state=0)
    frame = pd.DataFrame(X, columns=["width", "height"])
    frame.loc[3, "height"] = np.nan
    filled = make_pipeline(SimpleImputer(), mercer.SVC())
    search = GridSearchCV(filled, {"svc__C": [1.0, 10.0]}, cv=2).fit(frame, y)
    for draw in (plots.decision_surface, plots.margin):
        ax, best = draw(search, frame, y), draw(search.best_estimator_, frame, y)
        assert ax.get_ylabel() == "height"
        assert np.isfinite(ax.get_ylim()).all()
        assert ax.get_ylim() == best.get_ylim()


@pytest.mark.filterwarnings("error")
def test_models_fitted_on_frames_are_drawn_with_names_and_without_warnings(ring_machine):
    _, X, y = ring_machine
    frame = pd.DataFrame(X, columns=["width", "height"])
    machine = mercer.SVC(C=10).fit(frame, y)
    for ax in (plots.decision_surface(machine, frame, y), plots.margin(machine, frame, y)):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    process = mercer.GaussianProcessRegressor(optimizer=None).fit(frame[["width"]], X[:, 1])
    assert plots.posterior(process).get_xlabel() == "width"


def test_a_picture_of_something_else_gets_a_sentence():
    points = np.zeros((4, 2))
    for draw in (plots.coefficient_path, plots.eigenfunctions, plots.posterior, plots.relevances):
        with pytest.raises(TypeError, match=r"; got ndarray\."):
            draw(points)
    for draw in (plots.coverage, plots.margin, plots.tube):
        with pytest.raises(TypeError, match=r"a fitted model comes first, .* got ndarray\."):
            draw(points, mercer.SVC(), points)


def test_a_model_in_place_of_a_kernel_is_told_where_its_kernel_is():
    X, y = rings(40, random_state=0)
    model = make_pipeline(StandardScaler(), mercer.SVC()).fit(X, y)
    for draw in (plots.gram, plots.eigenvalues):
        with pytest.raises(TypeError, match=r"got Pipeline\. .*model\[-1\]\.kernel_"):
            draw(model, X)


def test_a_kernel_of_more_than_two_features_is_named_with_their_number():
    X, y = rings(40, random_state=0)
    model = mercer.SVC(kernel=Polynomial(2)).fit(X, y)
    with pytest.raises(ValueError, match=r"two explicit features; Polynomial.* has 3\."):
        plots.feature_map(model, X, y)
    with pytest.raises(TypeError, match=r"fitted model comes first, .*got Polynomial"):
        plots.feature_map(Polynomial(2), X, y)
    with pytest.raises(ValueError, match="give numbers for them, or bind it first"):
        Polynomial(2).feature_map(X)
