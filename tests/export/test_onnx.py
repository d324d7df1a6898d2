"""Exported models answer in onnxruntime what they answer in mercer."""

import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.gaussian_process.kernels import ConstantKernel, RationalQuadratic, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import mercer
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
    KernelRidgeCV,
    MultipleKernelSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    ParzenDensity,
    SparseGaussianProcessRegressor,
)
from mercer.features import Nystrom, RandomFourierFeatures
from mercer.kernels import (
    RBF,
    Categorical,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    Spectrum,
    ThinPlate,
    White,
    normalize,
)
from tests.catalogue import catalogue, sample

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

SETTINGS = onnxruntime.SessionOptions()
SETTINGS.intra_op_num_threads = 1  # no pool for such small models
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
T = np.column_stack([X[:, 0] + X[:, 1] ** 2, X[:, 2]])
TWO = np.where(T[:, 0] > 0.8, "yes", "no")
FOUR = 10 * np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [-0.7, 0.0, 0.7])
NEW = np.vstack([rng.normal(size=(20, 3)), X[:5], np.zeros((1, 3))])
METHODS = {
    "label": "predict",
    "decision": "decision_function",
    "probabilities": "predict_proba",
    "prediction": "predict",
    "features": "transform",
    "log_density": "score_samples",
}


def answers(model, rows, dtype="float64"):
    """Return what onnxruntime makes of an exported model, by output."""
    exported = mercer.to_onnx(model, dtype=dtype)
    onnx.checker.check_model(exported, full_check=True)
    session = onnxruntime.InferenceSession(exported.SerializeToString(), SETTINGS)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows.astype(dtype)}), strict=True))


def check(model, rows, dtype="float64", tol=1e-5):
    found = answers(model, rows, dtype)
    for name, values in found.items():
        expected = getattr(model, METHODS[name])(rows.astype(dtype))
        assert values.shape == expected.shape
        if name == "label":
            assert values.tolist() == expected.tolist()
        else:
            np.testing.assert_allclose(values, expected, rtol=tol, atol=tol)
    return found


def ones(rows):
    return np.ones((len(rows), 1))


def wide(model):
    """Return a classifier of many rows, so that all probabilities are estimated."""
    return model.fit(np.vstack([X, X + 0.01]), np.tile(FOUR, 2))


MODELS = {
    "two classes": lambda: SVC().fit(X, TWO),
    "probabilities": lambda: SVC(probability=True, random_state=0).fit(X, TWO),
    "two slopes": lambda: SVC(
        probability=True, calibration="consistent", class_weight="balanced", random_state=0
    ).fit(X, TWO),
    "isotonic": lambda: SVC(probability=True, calibration="isotonic", random_state=0).fit(X, TWO),
    "pairs": lambda: wide(SVC(probability=True, random_state=0)),
    "pairs, consistent": lambda: wide(
        SVC(probability=True, calibration="consistent", class_weight={0: 3.0}, random_state=0)
    ),
    "pairs, isotonic": lambda: wide(SVC(probability=True, calibration="isotonic", random_state=0)),
    "every pair": lambda: SVC(decision_function_shape="ovo").fit(X, FOUR),
    "ties": lambda: SVC(break_ties=True, kernel="linear").fit(X, FOUR),
    "against the rest": lambda: wide(SVC(multiclass="ovr", probability=True, random_state=0)),
    "many classes": lambda: SVC(kernel="poly").fit(X, np.arange(60) // 6),
    "linear": lambda: SVC(kernel="linear").fit(sp.csr_matrix(X), FOUR),
    "nu": lambda: NuSVC(nu=0.3, kernel="sigmoid", gamma=0.1).fit(X, TWO == "yes"),
    "regression": lambda: SVR(kernel=RBF(0.3) + Linear() * Laplacian(0.1)).fit(X, T[:, 0]),
    "tube": lambda: NuSVR(kernel=normalize(Polynomial(3, 1.0, 1.0))).fit(X, T[:, 0]),
    "spline": lambda: SVR(kernel=ThinPlate()).fit(X, T[:, 0]),
    "several kernels": lambda: MultipleKernelSVC([RBF(0.3), Linear()]).fit(X, FOUR),
    "one class": lambda: OneClassSVM(nu=0.2).fit(X),
    "ball": lambda: SVDD(nu=0.2, kernel=Polynomial(2, 1.0, 1.0)).fit(X),
    "ridge": lambda: KernelRidge(kernel="laplacian", fit_intercept=True).fit(X, T),
    "ridge path": lambda: KernelRidgeCV(kernel="rbf").fit(X, T[:, 0]),
    "ridge classes": lambda: KernelRidgeClassifier(kernel="cosine").fit(X, FOUR),
    "least squares": lambda: LSSVC().fit(X, FOUR > 10),
    "density": lambda: ParzenDensity().fit(X, sample_weight=np.arange(60) % 3),
    "process": lambda: GaussianProcessRegressor(
        RBF(0.3) + White(0.1), basis="linear", normalize_y=True, optimizer=None
    ).fit(X, T),
    "process of scikit-learn": lambda: GaussianProcessRegressor(
        ConstantKernel(2.0) * RationalQuadratic() + WhiteKernel(), optimizer=None
    ).fit(X, T[:, 0]),
    "sparse process": lambda: SparseGaussianProcessRegressor(
        RBF(0.3), n_inducing=9, optimizer=None
    ).fit(X, T[:, 0]),
    "components": lambda: KernelPCA(n_components=3, kernel="rbf").fit(X),
    "landmarks": lambda: Nystrom(n_components=9, random_state=0).fit(X),
    "waves": lambda: RandomFourierFeatures(n_components=7, random_state=0).fit(X),
    "scaled": lambda: make_pipeline(
        SimpleImputer(), StandardScaler(), MinMaxScaler(clip=True), SVC(C=10.0)
    ).fit(X, FOUR),
    "projected": lambda: make_pipeline(
        RobustScaler(), "passthrough", PCA(2, whiten=True), Normalizer(), Nystrom(), SVC()
    ).fit(X, TWO),
    "search": lambda: GridSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(X, TWO),
}


@pytest.mark.parametrize("name", MODELS)
def test_an_exported_model_gives_the_same_answers(name):
    check(MODELS[name](), NEW)


def test_outputs_are_named():
    assert set(check(MODELS["pairs"](), NEW)) == {"label", "decision", "probabilities"}
    assert set(check(MODELS["ridge"](), NEW)) == {"prediction"}


@pytest.mark.parametrize("name", ["pairs", "scaled", "spline", "one class", "density"])
def test_single_precision_in_and_out(name):
    found = check(MODELS[name](), NEW, "float32")
    assert {v.dtype for k, v in found.items() if k != "label"} == {np.dtype("float32")}


def test_a_precomputed_kernel_takes_the_kernel_matrix():
    K = RBF(0.5)(NEW, X)
    check(SVC(kernel="precomputed").fit(RBF(0.5)(X, X), FOUR), K)


def test_rows_far_from_the_origin_lose_no_digits():
    check(SVR(gamma=1.0, C=10.0).fit(X + 1e5, T[:, 0]), NEW + 1e5)


@pytest.mark.filterwarnings("ignore:Polynomial", "ignore:Solver terminated early")
@pytest.mark.parametrize(("kind", "y"), [(SVR, T[:, 0]), (SVC, FOUR)])
def test_terms_that_cancel_are_warned_of(kind, y, recwarn):
    """Values of 10^9 and more with sums of 1: any other order of summation gives other digits."""
    machine = kind(kernel=Polynomial(3, 0.3, 1.0))
    check(make_pipeline(StandardScaler(), machine).fit(X + 1e3, y), NEW + 1e3)
    assert not [w for w in recwarn if "cancel" in str(w.message)]
    machine.fit(X + 1e3, y)
    with pytest.warns(UserWarning, match=r"reach .* and cancel.*StandardScaler") as seen:
        mercer.to_onnx(machine)
    assert seen[0].filename == __file__


ROWS_OF_NUMBERS = ("vectors", "histograms", "short vectors", "numbers", "truth values")
EXAMPLES = [example for kind in ROWS_OF_NUMBERS for example in catalogue(kind)]
# Their values come from Python code, or from feature maps.
REFUSED = ("Periodized(kernel=RBF", "DistanceKernel(distance=canberra", "Projected(", "Boolean(")
REFUSED += ("ANOVA(order=2, base=Matern", "FromFeatureMap(", "Covariance(")


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_kernels_on_rows_of_numbers(example):
    """Every kernel of the catalogue is exported, or refused by its name."""
    Z, rows = (sample(example.objects, n, np.random.default_rng(n)) for n in (7, 9))
    f = Expansion(example.kernel, Z, np.linspace(-1.0, 1.0, 14).reshape(7, 2), [0.5, 1.0])
    rows = np.vstack([rows, Z[:2]])
    name = next((name for name in REFUSED if name in repr(example.kernel)), None)
    if name is not None:
        message = f"{re.escape(name)}.* cannot be written in the operators of ONNX"
        with pytest.raises(ValueError, match=message):
            mercer.to_onnx(f)
        return
    found = answers(f, np.asarray(rows, dtype=np.float64))["prediction"]
    np.testing.assert_allclose(found, f(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            lambda: SVC(kernel=Spectrum(2)).fit(["aab", "bba", "abab"], [0, 1, 1]),
            "not defined on rows of numbers.*mercer.save",
        ),
        (
            lambda: SVC(kernel=Categorical()).fit(np.arange(6).reshape(3, 2), [0, 1, 1]),
            "Categorical.*cannot be written in the operators of ONNX",
        ),
        (
            lambda: SVC(kernel=FromFunction(lambda A, B: A @ B.T)).fit(X, TWO),
            "FromFunction.*Python code",
        ),
        (
            lambda: make_pipeline(PolynomialFeatures(), SVC()).fit(X, TWO),
            "the step PolynomialFeatures .* skl2onnx",
        ),
        (lambda: KernelKMeans().fit(X), "KernelKMeans cannot be exported"),
        (
            lambda: GaussianProcessRegressor(RBF(), basis=ones, optimizer=None).fit(X, T),
            "Python function",
        ),
        (lambda: SVC(), "not fitted yet"),
    ],
)
def test_what_onnx_cannot_express_is_refused_by_name(model, message):
    with pytest.raises(ValueError, match=message):
        mercer.to_onnx(model())


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="takes a fitted model; got ndarray"):
        mercer.to_onnx(X)


def test_dtype_is_checked():
    with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32'; got 'half'"):
        mercer.to_onnx(SVC().fit(X, TWO), dtype="half")


def test_without_onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[onnx\]'"):
        mercer.to_onnx(SVC().fit(X, TWO))


def test_names_of_columns_are_kept():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    kernel = RBF(0.5).on_columns(["c", "a"]) + Linear().on_columns("b")
    model = SVC(kernel=kernel).fit(frame, TWO)
    exported = mercer.to_onnx(model)
    assert {p.key: p.value for p in exported.metadata_props}["feature_names"] == '["a", "b", "c"]'
    found = answers(model, NEW)["decision"]
    expected = model.decision_function(pd.DataFrame(NEW, columns=["a", "b", "c"]))
    np.testing.assert_allclose(found, expected, atol=1e-9)
