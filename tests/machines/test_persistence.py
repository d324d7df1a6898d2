"""Fitted models and expansions survive files; damaged files are refused."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from mercer import (
    LSSVC,
    SVC,
    SVDD,
    SVR,
    Expansion,
    GaussianProcessRegressor,
    KernelKMeans,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    NuSVC,
)
from mercer.kernels import RBF, FromFunction, Linear, Precomputed, normalize
from mercer.persistence import DamagedFileError
from tests.machines.data_sets import MACHINES, classes, data_for, regression, scores


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_round_trip_through_pickle_and_joblib(machine, sparse):
    X, y = data_for(machine)
    given = sp.csr_matrix(X) if sparse else X
    model = machine().fit(given, y)
    before = scores(model, given)
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    for loaded in (pickle.loads(pickle.dumps(model)), joblib.load(buffer)):
        np.testing.assert_array_equal(scores(loaded, given), before)
        assert loaded.certificate_ == model.certificate_
        np.testing.assert_array_equal(loaded.slack_, model.slack_)
        np.testing.assert_array_equal(loaded.point_status_, model.point_status_)
        assert loaded.certify(given, y).relative_gap < 1e-2
        assert clone(loaded).get_params() == clone(model).get_params()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_model_and_its_pickle_agree_after_an_edit(machine, sparse):
    X, y = data_for(machine)
    given = sp.csr_matrix(X) if sparse else X
    model = machine().fit(given, y)
    scores(model, given)  # the model is prepared for predictions
    for fitted in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        for name in ("dual_coef_", "support_vectors_", "intercept_"):
            array = getattr(fitted, name)
            with pytest.raises(ValueError, match="read-only"):
                (array.data if sp.issparse(array) else array)[:] = 0
    assert given.data.flags.writeable if sparse else given.flags.writeable
    for name in ("dual_coef_", "support_vectors_", "intercept_"):
        before = scores(model, given)
        setattr(model, name, 1.5 * getattr(model, name) + (0 if sparse else 0.25))
        after = scores(model, given)
        assert not np.array_equal(before, after) or name == "intercept_"
        np.testing.assert_array_equal(after, scores(pickle.loads(pickle.dumps(model)), given))


@pytest.mark.parametrize("machine", MACHINES)
def test_round_trip_through_skops(machine):
    skops = pytest.importorskip("skops.io")
    X, y = data_for(machine)
    model = machine().fit(X, y)
    content = skops.dumps(model)
    unknown = skops.get_untrusted_types(data=content)
    assert all(name.startswith("mercer.") for name in unknown), unknown
    loaded = skops.loads(content, trusted=unknown)
    np.testing.assert_array_equal(scores(loaded, X), scores(model, X))
    assert loaded.certificate_ == model.certificate_


def test_probabilities_survive():
    X, y = classes(90, 3)
    model = SVC(probability=True, random_state=0).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_prediction_leaves_no_trace_in_the_pickle():
    X, y = classes(90, 6)
    model = SVC().fit(X, y)
    fresh = len(pickle.dumps(model))
    model.predict(X)
    assert model.expansion_.n_outputs == 15
    assert len(pickle.dumps(model)) == fresh


def test_models_trained_in_single_precision_are_small():
    X, y = regression(1500)
    double = SVR(gamma=0.1).fit(X, y)
    single = SVR(gamma=0.1).fit(X.astype(np.float32), y)
    vectors = single.support_vectors_
    assert vectors.dtype == np.float32
    assert len(pickle.dumps(single)) < len(pickle.dumps(double)) - 0.9 * vectors.nbytes
    # Beyond support vectors, coefficients and their rows, a few bytes for each training row.
    needed = vectors.nbytes + single.dual_coef_.nbytes + single.support_.nbytes
    assert len(pickle.dumps(single)) < needed + 20 * len(y) + 4000


@pytest.mark.parametrize(
    ("kernel", "vectors"),
    [
        (RBF(0.5), np.arange(6.0).reshape(3, 2)),
        (0.5 * RBF(0.5) + normalize(Linear()) ** 2, np.arange(1.0, 7.0).reshape(3, 2)),
        (Linear(), sp.csr_matrix(np.arange(6.0).reshape(3, 2))),
        (Linear().on_columns([1]), np.arange(6.0, dtype=np.float32).reshape(3, 2)),
        (Precomputed(), np.array([0, 2, 5])),
    ],
    ids=lambda v: repr(v) if not hasattr(v, "shape") else "",
)
def test_expansion_file(tmp_path, kernel, vectors):
    f = Expansion(kernel, vectors, [[1.0, 0.5], [-2.0, 0.0], [0.25, 3.0]], [0.1, -0.2])
    path = tmp_path / "f.mercer"
    f.save(path)
    g = Expansion.load(path)
    X = np.random.default_rng(0).normal(size=(4, 6 if kernel.pairwise else 2))
    X = sp.csr_matrix(X) if sp.issparse(vectors) else X
    np.testing.assert_array_equal(f(X), g(X))
    assert g.kernel == f.kernel
    assert [p.name for p in tmp_path.iterdir()] == ["f.mercer"]


def test_expansion_of_a_model_is_saved(tmp_path):
    X, y = classes()
    model = SVC().fit(X, y)
    model.expansion_.save(tmp_path / "svc")
    np.testing.assert_array_equal(Expansion.load(tmp_path / "svc")(X), model.decision_function(X))


@pytest.mark.parametrize("damage", ["truncated", "altered", "another file", "empty"])
def test_damaged_files_are_refused(tmp_path, damage):
    path = tmp_path / "f"
    Expansion(RBF(0.5), np.eye(3), [1.0, 2.0, 3.0]).save(path)
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        content = content[:-20]
    elif damage == "altered":
        content[-100] ^= 1
    elif damage == "another file":
        content = b"PK" + content
    else:
        content = b""
    path.write_bytes(bytes(content))
    with pytest.raises(DamagedFileError):
        Expansion.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "f"
    f = Expansion(RBF(0.5), np.eye(3), [1.0, 2.0, 3.0])
    f.save(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="pickle"):
        Expansion(FromFunction(lambda A, B: A @ B.T), np.eye(3), [1.0, 2.0, 3.0]).save(path)

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        f.take([0]).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize(
    "model",
    [SVC(), NuSVC(nu=0.3), SVR(), SVDD(), KernelRidge(), KernelRidgeClassifier(), LSSVC(),
     GaussianProcessRegressor(RBF(1.0)), KernelPCA(n_components=2), KernelKMeans(n_clusters=2)],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_every_array_that_a_fit_leaves_is_read_only(model, sparse):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 2)), np.arange(30) % 3
    given = sp.csr_matrix(X) if sparse else X
    model.fit(given, y)
    for fitted in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        arrays = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        dense = {name for name, a in arrays.items() if isinstance(a, np.ndarray)}
        assert dense
        assert not {name for name in dense if arrays[name].flags.writeable}
        stored = [a for a in arrays.values() if sp.issparse(a)]
        assert not any(a.data.flags.writeable for a in stored)
        if is_classifier(model):
            with pytest.raises(ValueError, match="read-only"):
                fitted.classes_[0] = 7
    # The user's own arrays stay as they were.
    assert given.data.flags.writeable if sparse else given.flags.writeable
    assert y.flags.writeable
