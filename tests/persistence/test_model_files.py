"""Model files: round trips, sizes, refusals, damage, and files that stay readable."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.gaussian_process
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.svm
from sklearn import preprocessing
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import VarianceThreshold
from sklearn.gaussian_process.kernels import ConstantKernel, RationalQuadratic, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import mercer
from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.features import (
    ExplicitFeatures,
    IncompleteCholeskyFeatures,
    KernelCenterer,
    LogFeatures,
    MonomialFeatures,
    Nystrom,
    RandomFourierFeatures,
    TaylorFeatures,
)
from mercer.kernels import (
    RBF,
    Categorical,
    FromFunction,
    Jaccard,
    Kernel,
    Linear,
    Polynomial,
    Spectrum,
    TfIdf,
    ThinPlate,
    normalize,
)
from mercer.persistence import DamagedFileError
from mercer.persistence.classes import estimator_classes
from mercer.persistence.container import FORMAT, ArrayReader
from mercer.persistence.model_files import read
from mercer.persistence.values import Reader, Writer
from mercer.solvers import Certificate
from tests.persistence.mutations import forged, opened, survives

FILES = sorted((Path(__file__).parent / "files").glob("*.mercer"))
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(40, 3)), 3)
Y = np.array(["a", "b", "c"])[np.arange(40) % 3]
T = X[:, 0] + 0.1 * X[:, 1]
WORDS = ["".join(rng.choice(list("abc"), 6)) for _ in range(40)]
TEXTS = [" ".join(rng.choice(["sun", "rain", "snow", "wind"], 4)) for _ in range(40)]
FRAME = pd.DataFrame({"x": X[:, 0], "colour": rng.choice(["red", "blue"], 40), "text": TEXTS})

MODELS = {
    "probability": lambda: SVC(probability=True, random_state=0).fit(X, Y),
    "isotonic": lambda: SVC(probability=True, calibration="isotonic", random_state=0).fit(X, Y),
    "consistent": lambda: SVC(probability=True, calibration="consistent", random_state=0).fit(X, Y),
    "composed": lambda: SVC(
        kernel=2 * RBF(0.5) + normalize(Polynomial(3, 1.0, 1.0)) ** 2 * Linear().on_columns([0])
    ).fit(X, Y),
    "weights": lambda: NuSVC(nu=0.2, class_weight={"a": 2.0}).fit(X, Y, np.arange(40) % 4),
    "sparse": lambda: SVC(kernel="linear").fit(sp.csr_matrix(X), Y),
    "precomputed": lambda: SVR(kernel="precomputed").fit(X @ X.T, T),
    "spline": lambda: SVR(kernel=ThinPlate()).fit(X, T),
    "tube": lambda: NuSVR().fit(X.astype(np.float32), T),
    "one class": lambda: OneClassSVM().fit(X),
    "strings": lambda: SVC(kernel=Spectrum(2)).fit(WORDS, Y),
    "sets": lambda: SVC(kernel=Jaccard()).fit([set(word) for word in WORDS], Y),
    "documents": lambda: SVC(kernel=TfIdf(stop_words={"wind"})).fit(TEXTS, Y),
    "table": lambda: SVC(
        kernel=RBF().on_columns(["x"])
        + Categorical().on_columns(["colour"])
        + TfIdf().on_columns("text")
    ).fit(FRAME, Y),
    "many classes": lambda: SVC().fit(X, np.arange(40) // 2),
    "unfitted": lambda: SVC(C=3.0, kernel=RBF("scale")),
    "pipeline": lambda: make_pipeline(StandardScaler(), SVC(kernel=RBF(0.1))).fit(X, Y),
    "columns": lambda: make_pipeline(
        ColumnTransformer([("c", OneHotEncoder(), ["colour"]), ("x", "passthrough", ["x"])]),
        "passthrough",
        SVC(kernel="linear"),
    ).fit(FRAME, Y),
}
INPUTS = {"precomputed": X @ X.T, "strings": WORDS, "documents": TEXTS, "table": FRAME}
INPUTS |= {"columns": FRAME, "sets": [set(word) for word in WORDS], "sparse": sp.csr_matrix(X)}
TRANSFORMERS = [
    ExplicitFeatures(Polynomial(2, 1.0, 1.0)),
    IncompleteCholeskyFeatures(RBF(0.1)),
    KernelCenterer(RBF(0.1)),
    MonomialFeatures(2),
    Nystrom(RBF(0.1), n_components=5, random_state=0),
    RandomFourierFeatures(RBF(0.1), n_components=6, random_state=0),
    TaylorFeatures(gamma=0.1),
    LogFeatures(),
]


def answers(model, objects):
    """Return the values that a committed file is compared by."""
    return getattr(model, "decision_function", model.predict)(objects)


def questions(model):
    """Yield what a model answers to."""
    names = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
    yield from (name for name in names if hasattr(model, name))


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_gives_the_same_answers(name, tmp_path):
    model, Z = MODELS[name](), INPUTS.get(name, X)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    assert repr(loaded) == repr(model)
    if name == "unfitted":
        assert not hasattr(loaded, "kernel_")
        return
    for question in questions(model):
        np.testing.assert_array_equal(getattr(loaded, question)(Z), getattr(model, question)(Z))
    machine, other = (m[-1] if hasattr(m, "steps") else m for m in (model, loaded))
    assert other.certificate_ == machine.certificate_
    np.testing.assert_array_equal(other.point_status_, machine.point_status_)
    assert not other.dual_coef_.flags.writeable if name != "sparse" else True


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_transformers_are_saved(transformer, tmp_path):
    positive = np.abs(X) + 0.1
    transformer.fit(positive)
    mercer.save(transformer, tmp_path / "model")
    found, expected = (
        mercer.load(tmp_path / "model").transform(positive),
        transformer.transform(positive),
    )
    np.testing.assert_array_equal(sp.csr_matrix(found).toarray(), sp.csr_matrix(expected).toarray())


@pytest.mark.parametrize("name", sorted(estimator_classes()))
def test_every_estimator_can_be_saved(name, tmp_path):
    """Also one that is added later: the classes are enumerated, not listed."""
    Z = np.abs(X) + 0.1
    model = estimator_classes()[name]()
    Z = Z @ Z.T if model.get_params().get("kernel") == "precomputed" else Z
    Z = ["abab", "abba", "baab"] if name == "HiddenMarkov" else Z
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(Z, (T > 0).astype(int) if is_classifier(model) else T)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    asked = list(questions(model))
    assert asked
    for question in asked:
        found, expected = (getattr(m, question)(Z) for m in (loaded, model))
        np.testing.assert_array_equal(
            sp.csr_matrix(found).toarray(), sp.csr_matrix(expected).toarray()
        )
    fitted = {n for n in vars(model) if n.endswith("_") and not n.startswith("_")}
    assert fitted <= set(vars(loaded))
    assert fitted <= set(dir(loaded))  # which reads every attribute, as completion of names does


def test_every_estimator_of_the_door_is_enumerated():
    door = {name for name in mercer.__all__ if isinstance(getattr(mercer, name), type)}
    estimators = {name for name in door if issubclass(getattr(mercer, name), BaseEstimator)}
    assert estimators <= set(estimator_classes())


@pytest.mark.parametrize("name", sorted(estimator_classes()))
def test_models_of_documents_hold_no_texts(name, tmp_path):
    if name in ("KernelCenterer", "RandomFourierFeatures", "RegularizedPrincipalManifold"):
        return  # which take matrices and rows of numbers only
    kind = estimator_classes()[name]
    if "kernel" not in kind().get_params():
        return
    model = kind(kernel=TfIdf())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_classifier(model) or hasattr(model, "fit_predict"):
            model.fit(TEXTS, np.arange(40) % 2)
        else:
            model.fit(TEXTS, T)
    mercer.save(model, tmp_path / "model")
    for content in (pickle.dumps(model), (tmp_path / "model").read_bytes()):
        assert not any(text.encode() in content for text in TEXTS)
    for question in questions(model):
        found, expected = (
            getattr(m, question)(TEXTS) for m in (mercer.load(tmp_path / "model"), model)
        )
        np.testing.assert_array_equal(*(sp.csr_matrix(a).toarray() for a in (found, expected)))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, lambda columns: FRAME.to_numpy()])
def test_texts_of_a_table_are_kept_where_another_kernel_reads_them(library):
    frame = library({name: FRAME[name].tolist() for name in FRAME})
    numbers, words = RBF(1.0).on_columns([0]), TfIdf(stemmer=str.upper).on_columns([2])
    model = SVC(kernel=numbers + words).fit(frame, Y)
    assert not any(text.encode() in pickle.dumps(model) for text in TEXTS)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(frame), model.decision_function(frame))
    np.testing.assert_allclose(
        SVC(kernel="precomputed").fit((numbers + words).bind(frame)(frame), Y).dual_coef_,
        model.dual_coef_,
        atol=1e-6,
    )
    assert model.certify(frame, Y).status == "optimal"
    letters = SVC(kernel=words + Spectrum(2).on_columns([2])).fit(frame, Y)
    assert any(text.encode() in pickle.dumps(letters) for text in TEXTS)


def test_processes_with_kernels_of_both_libraries_are_saved(tmp_path):
    for kernel in (RBF(0.3) + Linear(), ConstantKernel(2.0) * RationalQuadratic() + WhiteKernel()):
        model = mercer.GaussianProcessRegressor(kernel, optimizer=None).fit(X, T)
        mercer.save(model, tmp_path / "model")
        loaded = mercer.load(tmp_path / "model")
        for found, expected in zip(
            loaded.predict(X, return_std=True), model.predict(X, return_std=True), strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def test_bounds_of_kernels_are_stored(tmp_path):
    kernel = 2.0 * RBF(0.3).with_bounds({"gamma": (0.1, 10.0)}) + 1.5 * Linear()
    kernel = kernel.with_bounds({"right": "fixed"})
    model = mercer.GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, T)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    for found in (loaded.kernel, loaded.kernel_):
        np.testing.assert_array_equal(found.bounds, kernel.bounds)
        assert len(found.theta) == 2


def test_equal_arrays_are_stored_once(tmp_path):
    Z = rng.normal(size=(100, 50))
    mercer.save(mercer.KernelRidge(kernel="rbf").fit(Z, Z[:, 0]), tmp_path / "model")
    dual = Z.nbytes + 100 * 8
    assert (tmp_path / "model").stat().st_size < dual + 2000


Z = rng.normal(size=(1000, 12))
FEW, PLACE = Z[:50, :4], np.arange(1000)
CLASS = Z[:, 0] + Z[:, 1] ** 2 > 1.0
NOISY = Z[:, 0] + rng.normal(size=1000)
POSITIVE = sp.csr_matrix(np.maximum(Z, 0.0))
SKLEARN = SimpleNamespace(
    **vars(sklearn.svm),
    KernelRidge=sklearn.kernel_ridge.KernelRidge,
    KernelPCA=sklearn.decomposition.KernelPCA,
    Nystroem=sklearn.kernel_approximation.Nystroem,
    GaussianProcessRegressor=sklearn.gaussian_process.GaussianProcessRegressor,
    GaussianProcessClassifier=sklearn.gaussian_process.GaussianProcessClassifier,
)
OURS = SimpleNamespace(**{name: getattr(mercer, name) for name in mercer.__all__}, Nystroem=Nystrom)
PEERS = {
    "two classes": lambda library: library.SVC().fit(Z, CLASS),
    "three classes": lambda library: library.SVC().fit(Z, PLACE % 3),
    "sparse": lambda library: library.SVC().fit(POSITIVE, CLASS),
    "nu": lambda library: library.NuSVC(nu=0.3).fit(Z, CLASS),
    "nu, three classes": lambda library: library.NuSVC(nu=0.3).fit(Z, PLACE % 3),
    "regression": lambda library: library.SVR().fit(Z, NOISY),
    "tube": lambda library: library.NuSVR().fit(Z, NOISY),
    "one class": lambda library: library.OneClassSVM(nu=0.3).fit(Z),
    "ridge": lambda library: library.KernelRidge(kernel="rbf").fit(Z, NOISY),
    "ridge, two columns": lambda library: library.KernelRidge(kernel="rbf").fit(Z[:, :2], NOISY),
    "sparse ridge": lambda library: library.KernelRidge(kernel="rbf").fit(POSITIVE, NOISY),
    "components": lambda library: library.KernelPCA(3, kernel="rbf").fit(Z),
    "all components": lambda library: library.KernelPCA(kernel="rbf").fit(Z),
    "pre-images": lambda library: library.KernelPCA(
        3, kernel="rbf", fit_inverse_transform=True
    ).fit(Z),
    "single precision": lambda library: library.KernelPCA(3, kernel="rbf").fit(
        Z.astype(np.float32)
    ),
    "landmarks": lambda library: library.Nystroem(n_components=100, random_state=0).fit(Z),
    "process": lambda library: library.GaussianProcessRegressor(optimizer=None, alpha=0.1).fit(
        Z, NOISY
    ),
    "process of classes": lambda library: library.GaussianProcessClassifier(optimizer=None).fit(
        Z, CLASS
    ),
}


@pytest.mark.parametrize("name", PEERS)
def test_files_and_pickles_of_a_thousand_rows_are_at_most_half_as_large_again(name, tmp_path):
    """As scikit-learn's pickles of the same models: nothing is kept twice."""
    model, peer = PEERS[name](OURS), PEERS[name](SKLEARN)
    mercer.save(model, tmp_path / "model")
    limit = 1.5 * len(pickle.dumps(peer))
    assert (tmp_path / "model").stat().st_size <= limit
    assert len(pickle.dumps(model)) <= limit


@pytest.mark.parametrize(
    "model",
    [
        mercer.KernelRidge(kernel="rbf", alpha=0.1),
        mercer.KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        mercer.KernelPCA(2, kernel="rbf", fit_inverse_transform=True, preimage="fixed_point"),
    ],
)
@pytest.mark.parametrize("weight", [None, PLACE[:50] % 3])
def test_what_is_derived_on_loading_is_equal_bit_for_bit(model, weight, tmp_path):
    model.fit(FEW, FEW[:, 0], sample_weight=weight)
    mercer.save(model, tmp_path / "model")
    for copy in (mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert vars(copy).keys() == vars(model).keys()
        for name, value in vars(model).items():
            if isinstance(value, np.ndarray | Certificate | float):
                assert np.array_equal(getattr(copy, name), value), name
        if hasattr(model, "expansion_"):
            np.testing.assert_array_equal(copy.predict(FEW), model.predict(FEW))
            for found, expected in zip(
                copy.predict_interval(FEW), model.predict_interval(FEW), strict=True
            ):
                np.testing.assert_array_equal(found, expected)
        else:
            scores = model.transform(FEW)
            np.testing.assert_array_equal(copy.transform(FEW), scores)
            np.testing.assert_array_equal(
                copy.inverse_transform(scores), model.inverse_transform(scores)
            )


@pytest.mark.parametrize("classes", [2, 3, 25])
@pytest.mark.parametrize("machine", [SVC(C=10.0), NuSVC(nu=0.1)], ids=repr)
def test_pickles_and_files_keep_proofs_and_records_bit_for_bit(machine, classes, tmp_path):
    """Of pairs of classes that are solved one by one, and of those that are solved at once."""
    model = machine.fit(Z[:200], PLACE[:200] % classes)
    mercer.save(model, tmp_path / "model")
    for copy in (mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        for again in (copy, pickle.loads(pickle.dumps(copy))):
            assert list(again.certificates_) == list(model.certificates_)
            assert again.certificate_ == model.certificate_
            for name in ("slack_", "intercept_range_", "alpha_", "margin_", "point_status_"):
                np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
            for name in ("free_support_", "bounded_support_"):
                for found, expected in zip(getattr(again, name), getattr(model, name), strict=True):
                    np.testing.assert_array_equal(found, expected)
            for tol in (None, 0.5):
                for found, expected in zip(
                    again.margin_points(tol), model.margin_points(tol), strict=True
                ):
                    np.testing.assert_array_equal(found, expected)


def test_certificates_with_values_that_are_not_finite_survive_files(tmp_path):
    model = NuSVC().fit(X, Y)
    odd = replace(model.certificates_[1], status="infeasible", primal=np.inf, eigenvalue=-1.0)
    model.certificates_ = [model.certificates_[0], odd, replace(odd, gap=-np.inf, rounding=1e-320)]
    mercer.save(model, tmp_path / "model")
    assert mercer.load(tmp_path / "model").certificates_ == model.certificates_


def test_a_loaded_model_can_be_proved_again(tmp_path):
    model = SVC().fit(X, Y)
    mercer.save(model, tmp_path / "model")
    assert mercer.load(tmp_path / "model").certify(X, Y).status == "optimal"


class Own(Kernel):
    def tile(self, A, B):
        return A @ B.T


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: SVC(kernel=Own()).fit(X, Y), r"SVC\.kernel holds Own, code .*precomputed"),
        (lambda: SVC(kernel=FromFunction(np.dot)), r"FromFunction\.function holds dot, code"),
        (lambda: SVC(kernel=lambda A, B: A @ B.T), r"SVC\.kernel holds <lambda>, code"),
        (lambda: SVC(random_state=np.random.RandomState(0)), "random generator; pass an int"),
        (
            lambda: make_pipeline(FunctionTransformer(np.loadtxt), SVC()),
            "FunctionTransformer holds types that skops does not trust: numpy.*loadtxt",
        ),
        (lambda: GridSearchCV(SVC(), {"C": [1]}), "GridSearchCV .* save its best_estimator_"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_by_name(model, message, tmp_path):
    (tmp_path / "model").write_bytes(b"before")
    with pytest.raises(ValueError, match=message):
        mercer.save(model(), tmp_path / "model")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"before"]


def test_save_names_what_it_takes(tmp_path):
    found = mercer.selection.Tuning(SVC(), "classification", [], None, None, None, 0.0)
    with pytest.raises(TypeError, match=r"got Tuning\. Save its estimator"):
        mercer.save(found, tmp_path / "model")
    search = GridSearchCV(SVC(), {"C": [1]}, cv=2).fit(X, Y)
    with pytest.raises(TypeError, match=r"got GridSearchCV\. Save its best_estimator_"):
        mercer.save(search, tmp_path / "model")
    with pytest.raises(TypeError, match=r"an estimator or a pipeline; got type\."):
        mercer.save(SVC, tmp_path / "model")
    with pytest.raises(TypeError, match="the model comes first, then the path"):
        mercer.save(str(tmp_path / "model"), SVC())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fill", ["mean", "most_frequent"])
def test_imputers_are_saved(fill, tmp_path):
    """They hold a numpy.dtype."""
    columns = ["x", "colour"] if fill == "most_frequent" else ["x"]
    frame = FRAME.assign(x=FRAME["x"].mask(FRAME["x"] > 1.0))
    table = ColumnTransformer([("fill", SimpleImputer(strategy=fill), columns)])
    table.fit(frame)
    mercer.save(make_pipeline(table, SVC()), tmp_path / "model")
    again = mercer.load(tmp_path / "model")[0].transform(frame)
    np.testing.assert_array_equal(again, table.transform(frame))


COMMON = [
    preprocessing.Binarizer(),
    preprocessing.FunctionTransformer(),
    preprocessing.KBinsDiscretizer(3, strategy="uniform"),
    preprocessing.MaxAbsScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.Normalizer(),
    preprocessing.OneHotEncoder(dtype=np.float32, handle_unknown="ignore"),
    preprocessing.OrdinalEncoder(),
    preprocessing.PolynomialFeatures(2),
    preprocessing.PowerTransformer(),
    preprocessing.QuantileTransformer(n_quantiles=10),
    preprocessing.RobustScaler(),
    sklearn.decomposition.PCA(2),
    VarianceThreshold(),
    make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()),
    FeatureUnion([("raw", "passthrough"), ("scaled", StandardScaler())]),
]


@pytest.mark.parametrize("step", COMMON, ids=lambda step: type(step).__name__)
def test_common_steps_need_no_extra(step, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    step = clone(step).fit(X)
    mercer.save(make_pipeline(step, SVC()), tmp_path / "model")
    again = mercer.load(tmp_path / "model")[0]
    assert repr(again) == repr(step)
    assert again.transform(X).dtype == step.transform(X).dtype
    difference = again.transform(X) != step.transform(X)
    assert not difference.sum()


def test_a_table_with_nested_steps_needs_no_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    frame = FRAME.assign(x=FRAME["x"].mask(FRAME["x"] > 1.0), z=FRAME["x"])
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["x"]),
            ("names", OneHotEncoder(), make_column_selector(pattern="colour")),
            ("rest", "passthrough", make_column_selector(pattern="z", dtype_include=np.number)),
        ]
    )
    model = make_pipeline(columns, SVC()).fit(frame.drop(columns="text"), Y)
    mercer.save(model, tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert list(again[0].get_feature_names_out()) == list(model[0].get_feature_names_out())
    refitted = clone(again).fit(frame.drop(columns="text"), Y)
    np.testing.assert_array_equal(refitted.predict(frame), model.predict(frame))


def test_the_step_that_needs_skops_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    model = make_pipeline(sklearn.kernel_approximation.RBFSampler(), SVC())
    with pytest.raises(
        ImportError, match=r"RBFSampler is saved through skops, .* pip install skops"
    ):
        mercer.save(model, tmp_path / "model")
    model = make_pipeline(FunctionTransformer(np.log1p), SVC())
    with pytest.raises(ImportError, match="FunctionTransformer is saved through skops"):
        mercer.save(model, tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"", "is not a file that mercer wrote"),
        (lambda content: pickle.dumps(SVC()), "is not a file that mercer wrote"),
        (lambda content: content[:-1], "damaged or truncated"),
        (lambda content: content[:60], "damaged or truncated"),
        (lambda content: content[:-9] + b"x" + content[-8:], "damaged or truncated"),
        (
            lambda content: content.replace(b"file 5\n", b"file 6\n", 1),
            r"newer version .*\(format 6, .* install that version",
        ),
        (
            lambda content: content.replace(b"file 5\n", b"model 4\n", 1),
            r"before mercer's first release \(format 4\).* Fit the model again and save it",
        ),
        (
            lambda content: content.replace(b"file 5\n", b"expansion 1\n", 1),
            r"before mercer's first release \(format 1\).* Fit the model again and save it",
        ),
    ],
)
def test_damaged_foreign_older_and_newer_files_are_refused(change, message, tmp_path):
    path = tmp_path / "model"
    mercer.save(SVC().fit(X, Y), path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DamagedFileError, match=message):
        mercer.load(path)


def test_forged_files_are_refused_and_run_nothing(tmp_path):
    for name in ("composed", "sparse", "table", "many classes", "pipeline"):
        path = tmp_path / name
        mercer.save(MODELS[name](), path)
        survives(path.read_bytes(), INPUTS.get(name, X), 60, np.random.default_rng(1))


def test_starts_of_sparse_rows_are_checked_where_there_is_no_entry():
    """SciPy checks them only where there is one, and allocates what the forged rows would hold."""
    parts = [np.zeros(0), np.zeros(0, np.int32), np.array([0, 10**9, 0], np.int32)]
    writer = Writer()
    stored = ["csr_matrix", [2, 3], *(writer.value(part) for part in parts)]
    arrays = ArrayReader(memoryview(b"".join(writer.arrays.parts)), 10**6)
    with pytest.raises(ValueError, match="start nowhere"):
        Reader(arrays).value({"sparse": stored})


@pytest.mark.parametrize("name", ["eigenvalues_", "_root", "_total", "total_variance_"])
def test_forged_components_are_refused_before_they_are_multiplied(name, tmp_path):
    """Columns times rows of a file would take memory with the square of its size."""
    model = mercer.KernelPCA(1, kernel="rbf").fit(X, sample_weight=np.ones(40))
    setattr(model, name, np.ones((10**5, 1)) if "total" in name else np.ones(10**5))
    model.eigenvectors_ = np.ones((1 if name == "_root" else 10**5, 1))
    mercer.save(model, tmp_path / "model")
    with pytest.raises(DamagedFileError, match="do not fit together"):
        mercer.load(tmp_path / "model")


MEGABYTE = zlib.compress(bytes(2**20), 9)


@pytest.mark.parametrize(
    "model",
    [
        {"array": ["|u1", [2**20], "C", 0, len(MEGABYTE)]},
        [{"array": ["|u1", [2**18], "C", 0, len(MEGABYTE)]}] * 2**12,
        {"objects": ["<U100000", [4], ["", "", "", ""]]},
        {"objects": ["<U1", [10**6], [""] * 3]},
        {"array": ["<f8", [10**15], "C", 0, len(MEGABYTE)]},
        {"array": ["<f8", [2**20, 0, 2**62], "F", 0, 0]},
        {"sparse": ["csr_matrix", [10**15, 1], *[{"array": ["<i4", [0], "C", 0, 0]}] * 3]},
    ],
    ids=["a bomb", "many references", "wide texts", "a shape", "a size", "a product", "rows"],
)
def test_reading_a_forged_file_takes_memory_in_proportion_to_its_size(model):
    content = forged({"mercer": "0", "model": model}, MEGABYTE)
    tracemalloc.start()
    with pytest.raises(DamagedFileError):
        read(content, Path("forged"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**18 + 100 * len(content)


def test_parts_of_foreign_steps_count_as_often_as_they_are_used(tmp_path):
    pytest.importorskip("skops")
    step = sklearn.kernel_approximation.RBFSampler().fit(X)
    mercer.save(make_pipeline(step, SVC().fit(X, Y)), tmp_path / "model")
    header, arrays = opened((tmp_path / "model").read_bytes())
    step = header["model"]["pipeline"][0][1]
    content = ArrayReader(memoryview(arrays), 10**6).get(step["skops"]).tobytes()
    for compression, message in (
        (zipfile.ZIP_STORED, "in memory"),
        (zipfile.ZIP_DEFLATED, "parts"),
    ):
        changed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            with zipfile.ZipFile(changed, "w", compression) as other:
                for name in names:
                    data = archive.read(name)
                    if name == "schema.json":
                        data = json.dumps([json.loads(data), *[names[0]] * 300]).encode()
                    elif name == names[0]:
                        data += bytes(10_000)
                    other.writestr(name, data)
        stored = changed.getvalue()
        step["skops"][1:] = [[len(stored)], "C", 0, len(stored)]
        with pytest.raises(DamagedFileError, match=message):
            read(forged(header, stored), Path("forged"))


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(10**6),
        np.array(["a" * 5000] + ["b"] * 5000),
        [np.zeros(10**5)] * 20,
    ],
    ids=["zeros", "one long text", "one array many times"],
)
def test_what_takes_few_bytes_is_written_so_that_it_can_be_read(values, tmp_path):
    model = SVC().fit(X, Y)
    model.noted_ = values
    mercer.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model").noted_, values)


_SERVER = """
import sys
import mercer
model = mercer.load(sys.argv[1])
before = set(sys.modules)
rows = [[0.1, 0.2, 0.3]] * 2
for name in ("predict", "predict_proba", "decision_function", "score_samples", "transform"):
    if hasattr(model, name):
        getattr(model, name)(rows)
print(sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize(
    "model",
    [
        SVC(probability=True),
        mercer.GaussianProcessRegressor(),
        mercer.KernelRidge(kernel="rbf"),
        mercer.KernelPCA(kernel="rbf", n_components=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_loading_imports_all_that_predictions_need(model, tmp_path):
    """A server that loads its models when it starts answers its first request without imports."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    target = rows[:, 0] > 0 if is_classifier(model) else rows[:, 0]
    mercer.save(model.fit(rows, target), tmp_path / "model")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _SERVER, str(tmp_path / "model")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_models_and_expansions_are_told_apart(tmp_path):
    model = SVC().fit(X, Y)
    model.expansion_.save(tmp_path / "expansion")
    mercer.save(model, tmp_path / "model")
    with pytest.raises(DamagedFileError, match=r"no model; read it with Expansion\.load"):
        mercer.load(tmp_path / "expansion")
    with pytest.raises(DamagedFileError, match=r"holds SVC, no expansion; .* mercer\.load"):
        mercer.Expansion.load(tmp_path / "model")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_this_and_earlier_versions_are_read(path):
    """Written by ``python -m tests.persistence.files`` once for each format, and never again."""
    name = path.stem.partition("-")[2].replace("_", " ")
    content, expected = path.read_bytes(), np.load(path.with_suffix(".npy"))
    model = read(content, path)
    found = model(X) if name == "expansion" else answers(model, INPUTS.get(name, X))
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, expected)


def test_there_are_files_of_every_format():
    formats = {path.read_bytes().partition(b"\n")[0] for path in FILES}
    assert formats == {b"mercer file %d" % number for number in range(5, FORMAT + 1)}
