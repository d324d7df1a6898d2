"""Model files: round trips, refusals, damage, and old files that stay readable."""

from __future__ import annotations

import pickle
import warnings
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
from sklearn.base import BaseEstimator, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process.kernels import ConstantKernel, RationalQuadratic, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
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
from mercer.persistence.container import FORMAT, MAGIC, Arrays
from mercer.persistence.values import Reader, Writer
from mercer.solvers import Certificate
from mercer.solvers.certificate import from_columns, in_columns
from tests.persistence.mutations import survives

OLD = Path(__file__).parent / "files"
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


Z = rng.normal(size=(900, 12))
FEW, PLACE = Z[:50, :4], np.arange(900)
CLASS = Z[:, 0] + Z[:, 1] ** 2 > 1.0
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
    "twenty classes": lambda library: library.SVC().fit(Z, PLACE % 20),
    "regression": lambda library: library.SVR().fit(Z, Z[:, 0] + rng.normal(size=900)),
    "one class": lambda library: library.OneClassSVM(nu=0.3).fit(Z),
    "sparse": lambda library: library.SVC().fit(sp.csr_matrix(np.maximum(Z, 0.0)), CLASS),
    "four rows": lambda library: library.SVC().fit(Z[:4, :1], [0, 1, 0, 1]),
    "few rows": lambda library: library.SVC().fit(FEW, FEW[:, 0] > 0.0),
    "few rows, names": lambda library: library.SVC().fit(
        FEW, np.array(["no", "yes"])[PLACE[:50] % 2]
    ),
    "few rows, one class": lambda library: library.OneClassSVM().fit(FEW),
    "few rows, regression": lambda library: library.SVR().fit(FEW, FEW[:, 0]),
    "few rows, tube": lambda library: library.NuSVR().fit(FEW, FEW[:, 0]),
    "ridge": lambda library: library.KernelRidge(kernel="rbf").fit(Z, Z[:, 0]),
    "few rows, ridge": lambda library: library.KernelRidge(kernel="rbf").fit(FEW, FEW[:, 0]),
    "few rows, sparse ridge": lambda library: library.KernelRidge(kernel="rbf").fit(
        sp.csr_matrix(np.maximum(FEW, 0.0)), FEW[:, 0]
    ),
    "sparse tube": lambda library: library.SVR(kernel="linear").fit(
        sp.csr_matrix(np.maximum(Z[:, :1], 0.0)), Z[:, 0]
    ),
    "components": lambda library: library.KernelPCA(3, kernel="rbf").fit(Z),
    "few rows, all components": lambda library: library.KernelPCA(
        kernel="rbf", fit_inverse_transform=True
    ).fit(FEW),
    "process": lambda library: library.GaussianProcessRegressor(optimizer=None, alpha=0.1).fit(
        Z[:300], Z[:300, 0]
    ),
    "process of classes": lambda library: library.GaussianProcessClassifier(optimizer=None).fit(
        Z[:100], CLASS[:100]
    ),
    "few rows, several targets": lambda library: library.KernelRidge(kernel="rbf").fit(
        FEW[:5, :1], FEW[:5, :3]
    ),
    "twenty rows, ridge": lambda library: library.KernelRidge(kernel="rbf").fit(
        Z[:20, :2], Z[:20, 0]
    ),
    "single precision, components": lambda library: library.KernelPCA(kernel="rbf").fit(
        Z[:60, :2].astype(np.float32)
    ),
    "single precision, pre-images": lambda library: library.KernelPCA(
        2, kernel="rbf", fit_inverse_transform=True
    ).fit(Z[:60].astype(np.float32)),
    "single precision, landmarks": lambda library: library.Nystroem(
        n_components=20, random_state=0
    ).fit(Z[:, :5].astype(np.float32)),
    "ten classes of five rows, nu": lambda library: library.NuSVC().fit(FEW, PLACE[:50] % 10),
    "ten classes of two rows": lambda library: library.SVC(kernel="linear", C=10.0).fit(
        Z[:20, :1], PLACE[:20] % 10
    ),
    "fifty classes of two rows": lambda library: library.SVC(kernel="linear", C=10.0).fit(
        Z[:120, :2], PLACE[:120] % 50
    ),
    "two hundred classes": lambda library: library.SVC().fit(Z[:, :10], PLACE % 200),
}


@pytest.mark.parametrize("name", PEERS)
def test_files_and_pickles_are_no_larger_than_those_of_scikit_learn(name, tmp_path):
    model, peer = PEERS[name](OURS), PEERS[name](SKLEARN)
    mercer.save(model, tmp_path / "model")
    limit = len(pickle.dumps(peer))
    assert (tmp_path / "model").stat().st_size <= limit
    assert len(pickle.dumps(model)) <= limit


def test_several_certificates_are_stored_exactly(tmp_path):
    """Also those that differ in their words, or have values that are not finite."""
    found = NuSVC().fit(X, Y).certificates_
    odd = replace(found[1], status="infeasible", primal=np.inf, gap=np.inf, eigenvalue=-1.0)
    for given in (found, [found[0], odd, found[2]], [odd]):
        stored = in_columns(given)
        assert from_columns(stored) == given
        assert len(stored) == 1 + (1 if given is found else len(given))


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


def test_pickles_and_files_keep_what_is_known_of_the_training_rows(tmp_path):
    model = SVC(C=10.0).fit(X, Y)
    mercer.save(model, tmp_path / "model")
    for copy in (mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        for again in (copy, pickle.loads(pickle.dumps(copy))):
            np.testing.assert_array_equal(again.point_status_, model.point_status_)
            large = model.slack_ > model.tol
            np.testing.assert_allclose(again.slack_, np.where(large, model.slack_, 0.0), rtol=1e-7)
            for name in ("free_support_", "bounded_support_"):
                for found, expected in zip(getattr(again, name), getattr(model, name), strict=True):
                    np.testing.assert_array_equal(found, expected)
            for found, expected in zip(again.margin_points(), model.margin_points(), strict=True):
                np.testing.assert_array_equal(found, expected)
            with pytest.raises(ValueError, match=r"tolerance of its fit, 0\.001, alone"):
                again.margin_points(0.5)


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"", "is not a file that mercer.save wrote"),
        (lambda content: pickle.dumps(SVC()), "is not a file that mercer.save wrote"),
        (lambda content: content[:-1], "damaged or truncated"),
        (lambda content: content[:60], "damaged or truncated"),
        (lambda content: content[:-9] + b"x" + content[-8:], "damaged or truncated"),
        (
            lambda content: content.replace(b"model 4\n", b"model 5\n", 1),
            r"newer version .*\(format 5",
        ),
    ],
)
def test_damaged_foreign_and_newer_files_are_refused(change, message, tmp_path):
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
    stored = ["csr_matrix", [2, 3], *(writer.value(part, "") for part in parts)]
    with pytest.raises(ValueError, match="start nowhere"):
        Reader(Arrays(memoryview(b"".join(writer.blobs.parts)))).value({"sparse": stored})


@pytest.mark.parametrize("path", sorted(OLD.glob("*.mercer")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_stay_readable(path):
    name = path.stem.split("-", 1)[1].replace("_", " ")
    expected = np.load(path.with_suffix(".npy"))
    model = mercer.load(path)
    values = getattr(model, "decision_function", model.predict)(INPUTS.get(name, X))
    if expected.dtype.kind != "f":
        assert values.tolist() == expected.tolist()
        return
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-9)


def test_processes_of_earlier_files_take_further_samples():
    model = mercer.load(OLD / "0.1.0.3-process.mercer").partial_fit(X[:2] + 0.1, T[:2] + 0.1)
    np.testing.assert_allclose(model.predict(X), T, atol=0.1)


def test_there_are_files_of_every_format():
    formats = {path.read_bytes().partition(b"\n")[0] for path in OLD.glob("*.mercer")}
    assert formats == {MAGIC + str(number).encode() for number in range(1, FORMAT + 1)}
