"""Explanations of single predictions."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    SVDD,
    SVR,
    GaussianProcessRegressor,
    KernelRidge,
    MultipleKernelSVC,
    SparseGaussianProcessRegressor,
    explain,
)
from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChiSquare,
    Categorical,
    HistogramIntersection,
    Linear,
    TfIdf,
    ThinPlate,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
Y = np.array(["a", "b", "c"])[np.arange(40) % 3]
FRAME = pd.DataFrame(
    {
        "x": X[:, 0],
        "colour": rng.choice(["red", "blue"], 40),
        "kind": rng.choice(["p", "q", "r"], 40),
        "text": [" ".join(rng.choice(["sun", "rain", "snow"], 3)) for _ in range(40)],
    }
)


def whole(found):
    return found.contributions.sum() + found.intercept + found.linear


@pytest.mark.parametrize(
    "model",
    [
        SVC().fit(X, Y == "a"),
        SVC().fit(X, Y),
        SVC(multiclass="ovr").fit(X, Y),
        SVR().fit(X, X[:, 0]),
        KernelRidge(kernel="rbf").fit(X, X[:, 0]),
        SVC().fit(np.repeat(X, 20, axis=0), np.repeat(Y, 20)),
        SVC(kernel=ThinPlate()).fit(X, Y),
        GaussianProcessRegressor(alpha=0.1).fit(X, X[:, 0]),
        GaussianProcessRegressor(
            RBF(0.5), noise=0.1, basis="linear", normalize_y=True, optimizer=None
        ).fit(X, X[:, 0] ** 2),
        SparseGaussianProcessRegressor(RBF(0.5), n_inducing=9, optimizer=None).fit(X, X[:, 0]),
    ],
)
def test_contributions_sum_up_to_the_decision_value(model):
    for x in X[:5]:
        found = explain(model, x)
        assert whole(found) == pytest.approx(found.value, abs=1e-5)
        assert len(found.rows) == len(found.contributions)
        assert (np.diff(found.contributions) <= 0).all()
        if hasattr(model, "classes_"):
            assert found.label == model.predict(x[None])[0]
        else:
            assert found.value == pytest.approx(model.predict(x[None])[0], abs=1e-5)
        assert found.columns is None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_columns_include_the_linear_part_of_a_kernel_of_order_2(form):
    kernel = ThinPlate().on_columns([2]) + RBF(1.0).on_columns([0])
    model = SVC(kernel=kernel).fit(form(X), Y == "b")
    found = explain(model, form(X[:1]))
    sign = 1.0 if found.label else -1.0
    assert found.linear == pytest.approx(sign * model.poly_coef_[0, 0] * X[0, 2])
    assert "linear part" in str(found)
    assert set(found.columns) == {"x0", "x2"}
    assert sum(found.columns.values()) == pytest.approx(found.value - found.intercept)


def test_rows_are_those_of_the_training_data():
    model = SVC(C=10.0).fit(X, Y == "a")
    found = explain(model, X[7])
    row, value = found.in_favour(1)[0]
    position = list(model.support_).index(row)
    kernel = model.kernel_(X[[row]], X[[7]])[0, 0]
    sign = 1.0 if found.label else -1.0
    assert value == pytest.approx(sign * model.dual_coef_[0, position] * kernel, rel=1e-5)
    assert all(value < 0 for _, value in found.against())
    weight = np.r_[0.0, np.ones(38), 0.0]
    assert set(explain(KernelRidge().fit(X, X[:, 0], weight), X[0]).rows) == set(range(1, 39))
    sparse = SparseGaussianProcessRegressor(RBF(0.5), n_inducing=9, optimizer=None)
    sparse.fit(X, X[:, 0])
    assert set(explain(sparse, X[0]).rows) == set(sparse.inducing_indices_)


def test_columns_of_a_table_sum_up_to_the_value():
    kernel = (
        RBF(1.0).on_columns(["x"])
        + 2.0 * Categorical().on_columns(["colour", "kind"])
        + TfIdf().on_columns("text")
    )
    model = SVC(kernel=kernel).fit(FRAME, Y == "a")
    for x in (FRAME.iloc[3], FRAME.iloc[[3]]):
        found = explain(model, x)
        assert set(found.columns) == {"x", "colour", "kind", "text"}
        assert sum(found.columns.values()) + found.intercept == pytest.approx(found.value, abs=1e-5)
    assert "column   " in str(found)


@pytest.mark.parametrize(
    "kernel",
    [ANOVA(1, RBF(1.0)), HistogramIntersection(), 2.0 * AdditiveChiSquare() + 1.0, Linear()],
    ids=repr,
)
def test_columns_of_kernels_that_are_sums_over_them(kernel):
    """f(x) without a column: its part is what the others leave."""
    rows = np.abs(X)
    model = SVR(kernel=kernel).fit(rows, X[:, 0])
    found = explain(model, rows[3])
    assert sum(found.columns.values()) == pytest.approx(found.contributions.sum(), abs=1e-9)
    other = rows[3].copy()
    other[1] = rows[7, 1]
    change = {n: explain(model, other).columns[n] - v for n, v in found.columns.items()}
    assert [name for name, value in change.items() if abs(value) > 1e-9] == ["x1"]
    assert explain(SVR(kernel=ANOVA(2, RBF(1.0))).fit(rows, X[:, 0]), rows[3]).columns is None


def test_sparse_rows_cost_by_their_entries_not_by_the_number_of_columns():
    width = 10**8
    rows = sp.csr_matrix(([1.0, 2.0, -1.0], ([0, 0, 1], [3, width - 1, 7])), shape=(2, width))
    model = SVC(kernel="linear", C=10.0).fit(rows, [1, 0])
    found = explain(model, rows[:1])
    assert set(found.columns) == {"x3", f"x{width - 1}"}
    assert sum(found.columns.values()) + found.intercept == pytest.approx(found.value)
    assert [name for name, _ in model.top_features(2)] == [f"x{width - 1}", "x3"]


def test_columns_of_a_pipeline_have_the_names_of_its_steps():
    frame = pd.DataFrame(X, columns=["height", "width", "depth"])
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(frame, Y == "a")
    assert list(explain(pipeline, frame.iloc[0]).columns) == list(frame)
    pipeline = make_pipeline(PCA(2), SVC(kernel="linear")).fit(frame, Y == "a")
    assert list(explain(pipeline, frame.iloc[0]).columns) == ["pca0", "pca1"]


def test_a_sum_with_a_part_over_all_columns_has_none():
    model = SVC(kernel=RBF(1.0) + Linear().on_columns([0])).fit(X, Y == "a")
    assert explain(model, X[0]).columns is None


def test_strings_and_pictures():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model = SVC(kernel=TfIdf()).fit(list(FRAME["text"]), Y)
    found = explain(model, "sun rain rain")
    axes = found.plot()
    assert len(axes.patches) == len(found.in_favour(8)) + len(found.against(8))
    pyplot.close("all")


def test_a_pipeline_transforms_the_row_that_its_last_step_explains():
    scaler, model = StandardScaler().fit(X), SVC()
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    expected = explain(model, scaler.transform(X[:1]))
    for row in (X[0], X[:1], X[0].tolist()):
        found = explain(pipeline, row)
        assert found.label == pipeline.predict(X[:1])[0]
        assert np.array_equal(found.contributions, expected.contributions)
    assert explain(make_pipeline(model), X[0]).value == explain(model, X[0]).value
    search = GridSearchCV(pipeline, {"svc__C": [1.0]}, cv=2).fit(X, Y)
    assert explain(search, X[0]).value == explain(pipeline, X[0]).value


def test_wrong_arguments_get_a_sentence():
    model = SVC().fit(X, Y)
    with pytest.raises(TypeError, match=r"explain\(model, x\)"):
        explain(X[0], model)
    with pytest.raises(TypeError, match="got StandardScaler first"):
        explain(make_pipeline(StandardScaler()), X[0])
    with pytest.raises(NotFittedError, match="SVC instance is not fitted yet"):
        explain(SVC(), X[0])
    with pytest.raises(TypeError, match=r"such as a row of numbers; got 3\.0"):
        explain(model, 3.0)
    with pytest.raises(ValueError, match="one object; got 40"):
        explain(model, X)
    with pytest.raises(ValueError, match="one target; got 3 targets"):
        explain(KernelRidge().fit(X, X), X[0])
    with pytest.raises(TypeError, match="SVDD has no kernel expansion"):
        explain(SVDD().fit(X), X[0])
    several = MultipleKernelSVC([RBF(1.0), Linear()]).fit(X, Y == "a")
    assert whole(explain(several, X[0])) == pytest.approx(abs(several.decision_function(X)[0]))
