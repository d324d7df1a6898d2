"""Kernels of order 2 on some columns: the linear function is one of these columns alone."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer

from mercer import SVC, SVR, NuSVR
from mercer.expansion import Expansion
from mercer.kernels import RBF, FromFeatureMap, Linear, NegativeDistance, Spectrum, ThinPlate
from mercer.kernels.algebra import Projected
from mercer.kernels.columns_used import columns_seen, linear_columns
from mercer.objects.tables import first_of_equal
from mercer.solvers import dense_interior_point

rng = np.random.default_rng(8)
N = 50
X = rng.normal(size=(N, 4))
NEW = rng.normal(size=(20, 4))
Y = np.sin(2.0 * X[:, 0]) + X[:, 2] + 0.1 * rng.normal(size=N)
WORDS = ["".join(rng.choice(list("ABC"), size=5)) for _ in range(N)]
FRAME = pd.DataFrame(
    {"name": [f"sample {i}" for i in range(N)], "x": X[:, 0], "sequence": WORDS, "y": X[:, 2]}
)
TARGET = Y + np.array([word.count("AB") for word in WORDS])
BOTH = ThinPlate().on_columns(["x", "y"]) + 0.5 * Spectrum(2).on_columns("sequence")


def fitted(kernel, X=X, y=Y, **parameters):
    return SVR(kernel=kernel, **({"C": 3.0, "epsilon": 0.05} | parameters)).fit(X, y)


def test_a_kernel_on_some_columns_is_the_kernel_of_these_columns():
    for chosen in ([0, 2], [2, 0], [0, 2, 2]):
        some = fitted(ThinPlate().on_columns(chosen))
        alone = fitted(ThinPlate(), X[:, chosen])
        assert some.poly_columns_.tolist() == [0, 2]
        assert some.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-9)
        np.testing.assert_allclose(some.predict(NEW), alone.predict(NEW[:, chosen]), atol=1e-9)
    some = fitted(ThinPlate().on_columns([0, 2]))
    np.testing.assert_allclose(some.poly_coef_, fitted(ThinPlate(), X[:, [0, 2]]).poly_coef_)
    assert fitted(ThinPlate()).poly_columns_.tolist() == [0, 1, 2, 3]
    assert fitted(RBF(1.0)).poly_columns_.tolist() == []


@pytest.mark.parametrize(
    ("kernel", "columns"),
    [
        (ThinPlate().on_columns([1]), [1]),
        (2.0 * ThinPlate().on_columns([-1]), [3]),
        ((2.0 * ThinPlate()).on_columns(slice(1, 3)), [1, 2]),
        (ThinPlate().on_columns([1, 3]).on_columns([0, 1, 2, 3]), [1, 3]),
        (ThinPlate().on_columns([0, 1]).on_columns([3, 2]), [2, 3]),
        (RBF(0.5) + ThinPlate().on_columns([2]), [2]),
        (ThinPlate().on_columns([0]) + ThinPlate().on_columns([3, 1]), [0, 1, 3]),
        (NegativeDistance().on_columns([0]) + ThinPlate().on_columns([1]), [1]),
        (ThinPlate() + ThinPlate().on_columns([1]), [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_linear_functions_of_the_columns_cost_nothing_and_no_others(kernel, columns):
    slope = np.array([5.0, -7.0, 3.0, 2.0])
    free = np.where(np.isin(np.arange(4), columns), slope, 0.0)
    model = fitted(kernel, y=X @ free + 4.0)
    assert len(model.support_) == 0
    assert model.poly_columns_.tolist() == columns
    np.testing.assert_allclose(model.poly_coef_, [slope[columns]], rtol=1e-10)
    np.testing.assert_allclose(model.predict(NEW), NEW @ free + 4.0, rtol=1e-9)
    if len(columns) < 4:
        other = fitted(kernel, y=X @ slope)
        assert len(other.support_) > 0
        assert other.certificate_.status == "optimal"


def test_the_gap_is_closed_beside_kernels_of_other_columns():
    model = fitted(BOTH, FRAME, TARGET)
    proof = model.certificate_
    assert proof.status == "optimal"
    assert abs(proof.relative_gap) < 1e-9
    beta = model.dual_coef_[0]
    chosen = FRAME[["x", "y"]].to_numpy()[model.support_]
    assert abs(beta.sum()) < 1e-12 * np.abs(beta).sum()
    assert np.abs(beta @ chosen).max() < 1e-12 * np.abs(beta).sum()
    assert model.poly_columns_.tolist() == [1, 3]
    assert model.certify(FRAME, TARGET).relative_gap < 1e-9
    K = model.kernel_(FRAME, FRAME.iloc[model.support_])
    linear = FRAME[["x", "y"]].to_numpy() @ model.poly_coef_[0]
    np.testing.assert_allclose(model.predict(FRAME), K @ beta + linear + model.intercept_)
    more = fitted(BOTH, FRAME, TARGET + 5.0 * FRAME["x"] - 2.0)
    np.testing.assert_allclose(more.poly_coef_ - model.poly_coef_, [[5.0, 0.0]], atol=1e-7)


def test_classifiers_and_frames_of_polars():
    pl = pytest.importorskip("polars")
    labels = np.digitize(TARGET, [0.0, 1.5])
    model = SVC(kernel=BOTH, C=5.0).fit(FRAME, labels)
    assert model.poly_coef_.shape == (3, 2)
    assert model.certificate_.status == "optimal"
    other = SVC(kernel=BOTH, C=5.0).fit(pl.DataFrame(FRAME.to_dict("list")), labels)
    np.testing.assert_allclose(
        other.decision_function(pl.DataFrame(FRAME.to_dict("list"))),
        model.decision_function(FRAME),
        atol=1e-8,
    )


def test_only_objects_that_the_kernel_cannot_tell_apart_are_one():
    twice = pd.concat([FRAME, FRAME.assign(name="again")], ignore_index=True)
    twice.loc[N, "sequence"] = "CCCCC"
    kernel = BOTH.bind(twice)
    first = first_of_equal(twice, columns_seen(kernel))
    assert first.tolist() == [*range(N), N, *range(1, N)]
    assert first_of_equal(X[[0, 1, 0]], [1]).tolist() == [0, 1, 0]
    assert first_of_equal(sp.csr_matrix(X[[0, 1, 0]]), None).tolist() == [0, 1, 0]
    lists = np.empty((2, 1), dtype=object)
    lists[0, 0] = lists[1, 0] = [1.0]
    assert first_of_equal(lists, None).tolist() == [0, 1]
    target = np.concatenate([TARGET, TARGET + 0.5])
    model = fitted(BOTH, twice, target, C=1e3)
    assert model.certificate_.status == "optimal"
    proof = model.certificate_
    assert proof.gap - proof.rounding < 1e-8 * proof.primal
    assert model.certificate_.n_kernel_values == (N + 1) ** 2


def test_sparse_rows_and_their_memory(monkeypatch):
    rows = sp.csr_matrix(X * (np.abs(X) > 0.3))
    model = fitted(ThinPlate().on_columns([0, 2]), rows)
    dense = fitted(ThinPlate().on_columns([0, 2]), rows.toarray())
    np.testing.assert_allclose(model.predict(rows), dense.predict(rows.toarray()), atol=1e-9)
    np.testing.assert_allclose(model.expansion_(rows), model.predict(rows))
    monkeypatch.setattr(dense_interior_point, "_memory", lambda: 5e7)
    wide = sp.random(20, 200_000, density=1e-4, format="csr", random_state=0)
    with pytest.raises(MemoryError, match=r"20 rows of 200000 columns need 0\.1 GB"):
        fitted(ThinPlate(), wide, np.arange(20.0))
    assert fitted(ThinPlate().on_columns([0]), wide, np.arange(20.0)).poly_columns_.tolist() == [0]


def test_images_of_a_map_are_refused_and_the_way_out_is_named():
    mapped = FromFeatureMap(np.square, kernel=ThinPlate())
    for kernel in (mapped, RBF(1.0) + mapped.on_columns([0])):
        for machine in (SVR, SVC, NuSVR):
            with pytest.raises(ValueError, match=r"order 2 on the images of a map.*a pipeline"):
                machine(kernel=kernel).fit(X, (Y > 0.0).astype(int))
    before = FunctionTransformer(np.square)
    assert fitted(ThinPlate(), before.fit_transform(X)).certificate_.status == "optimal"
    projected = FromFeatureMap(np.square, kernel=Projected(ThinPlate()) + 10.0 * Linear())
    assert fitted(projected).certificate_.status == "optimal"


@pytest.mark.parametrize(
    ("kernel", "seen", "linear"),
    [
        (RBF(1.0), None, []),
        (RBF(1.0).on_columns([2, 0]) + 1.0, [0, 2], []),
        (RBF(1.0) * Linear().on_columns([0]), None, []),
        (FromFeatureMap(np.square, kernel=RBF(1.0).on_columns([0])), None, []),
        (ThinPlate().on_columns([3]) + RBF(1.0).on_columns([1]), [1, 3], [3]),
        (Projected(ThinPlate().on_columns([3])), [3], []),
        (Projected(ThinPlate().on_columns([3]) + RBF(1.0).on_columns([1])), None, []),
    ],
    ids=str,
)
def test_which_columns_a_kernel_looks_at(kernel, seen, linear):
    bound = kernel.bind(X)
    assert columns_seen(bound) == seen
    assert linear_columns(bound) == linear
    if seen is not None:  # other columns change nothing
        other = X.copy()
        other[:, [c for c in range(4) if c not in seen]] += 1.0
        np.testing.assert_array_equal(bound(X, other), bound(X, X))


# ------------------------------------------------------------------ expansions and files


def test_files_and_pickles_keep_the_columns_and_nothing_else(tmp_path):
    model = fitted(BOTH, FRAME, TARGET)
    expansion, path = model.expansion_, tmp_path / "model"
    np.testing.assert_allclose(expansion(FRAME), model.predict(FRAME), rtol=1e-12)
    expansion.save(path)
    assert b"sample 1" not in path.read_bytes()
    loaded = Expansion.load(path)
    assert loaded.poly_columns == [1, 3]
    np.testing.assert_array_equal(loaded(FRAME), expansion(FRAME))
    np.testing.assert_array_equal(
        loaded.take([0, 1]).reduce()(FRAME), expansion.take([0, 1])(FRAME)
    )
    for copy in (pickle.loads(pickle.dumps(model)), model.refit_on_support()):
        np.testing.assert_allclose(copy.predict(FRAME), model.predict(FRAME), atol=1e-7)
        assert copy.poly_columns_.tolist() == [1, 3]


@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, lambda X: X.astype(object)])
def test_columns_that_are_not_looked_at_are_not_written(form, tmp_path):
    secret = X.copy()
    secret[:, 1] = 12345.678
    vectors = form(secret)
    if vectors.dtype.kind == "O":
        vectors[:, 3] = "secret"
    kernel = RBF(1.0).on_columns([0, 2])
    expansion = Expansion(kernel, vectors, np.ones(N))
    expansion.save(tmp_path / "f")
    loaded = Expansion.load(tmp_path / "f")
    kept = loaded.vectors.toarray() if sp.issparse(loaded.vectors) else loaded.vectors
    assert not (kept[:, [1, 3]] == secret[:, [1, 3]]).any()
    assert not np.any(kept[:, 3] == "secret")
    np.testing.assert_array_equal(loaded(vectors), expansion(vectors))
    assert vectors[0, 1] == 12345.678  # the expansion itself is not touched


def test_frames_in_another_order_are_refused_as_machines_refuse_them(tmp_path):
    model = fitted(BOTH, FRAME, TARGET)
    model.expansion_.save(tmp_path / "f")
    numeric = fitted(ThinPlate().on_columns(["y"]), FRAME[["x", "y"]], TARGET)
    moved = FRAME[["x", "name", "sequence", "y"]]
    for f in (model.predict, model.expansion_, Expansion.load(tmp_path / "f")):
        with pytest.raises(ValueError, match="same order"):
            f(moved)
    with pytest.raises(ValueError, match="Missing: 'y'"):
        numeric.expansion_(FRAME[["x"]])
    with pytest.raises(ValueError, match="in the same order: 'x', 'y'"):
        numeric.expansion_(FRAME[["y", "x"]])
    given = numeric.expansion_(FRAME[["x", "y"]])
    np.testing.assert_array_equal(numeric.expansion_(FRAME[["x", "y"]].to_numpy()), given)
    np.testing.assert_array_equal(
        numeric.expansion_.take(np.arange(len(numeric.support_)))(FRAME[["x", "y"]]), given
    )


def test_expansions_refuse_linear_functions_of_the_wrong_length():
    with pytest.raises(ValueError, match=r"each feature; got shape \(3,\) for 2 features"):
        Expansion(ThinPlate(), [[0.0, 0.0]], [0.0], poly_coef=[2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match=r"each feature; got shape \(2,\) for 1 feature\."):
        Expansion(ThinPlate().on_columns([1]), [[0.0, 0.0]], [0.0], poly_coef=[2.0, 3.0])
    f = Expansion(ThinPlate().on_columns([1]), [[0.0, 0.0]], [0.0], poly_coef=[2.0])
    assert f([[5.0, 3.0]]).tolist() == [6.0]
    g = Expansion(RBF(1.0), [[0.0, 0.0]], [[0.0, 0.0]], poly_coef=[[2.0, 3.0]], poly_columns=[0])
    assert g([[5.0, 3.0]]).tolist() == [[10.0, 15.0]]
    assert g[1]([[5.0, 3.0]]).tolist() == [15.0]
