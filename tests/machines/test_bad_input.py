"""Bad input, one row for each case and machine: a clear error or a correct result."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, SVR, NotSeparableError, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import RBF, FromFunction, Linear
from tests.machines.data_sets import MACHINES, classes, data_for, scores

CLASSIFIERS = (SVC, NuSVC)


def changed(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


# name, what is passed to fit given valid (X, y), the words that the error must contain
REFUSED = [
    ("NaN", lambda X, y: (changed(X, np.nan), y), "NaN"),
    ("infinity", lambda X, y: (changed(X, np.inf), y), "infinity"),
    ("NaN in float32", lambda X, y: (changed(X.astype("f4"), np.nan), y), "NaN"),
    ("no rows", lambda X, y: (X[:0], y[:0]), "0 sample"),
    ("no columns", lambda X, y: (X[:, :0], y), "0 feature"),
    ("one dimension", lambda X, y: (X[:, 0], y), "2D|1D"),
    ("three dimensions", lambda X, y: (X[None], y), "dim"),
    ("strings", lambda X, y: ([["a", "b"]] * len(y), y), "convert|numeric|real vectors|float"),
    ("complex numbers", lambda X, y: (X * 1j, y), "[Cc]omplex"),
    ("NaN in CSR", lambda X, y: (sp.csr_matrix(changed(X, np.nan)), y), "NaN"),
]

REFUSED_TARGETS = [
    ("too few targets", lambda X, y: (X, y[:-1]), "inconsistent"),
    ("no targets", lambda X, y: (X, None), "requires y"),
    ("NaN target", lambda X, y: (X, np.where(np.arange(len(y)) == 2, np.nan, y)), "NaN"),
    ("two columns of targets", lambda X, y: (X, np.column_stack([y, y])), "1d|shape"),
]

REFUSED_WEIGHTS = [
    ("NaN weight", lambda n: np.full(n, np.nan), "NaN"),
    ("infinite weight", lambda n: np.full(n, np.inf), "infinity"),
    ("too few weights", lambda n: np.ones(n - 1), "expected"),
    ("two columns of weights", lambda n: np.ones((n, 2)), "1D"),
    ("weights that are words", lambda n: np.array(["a"] * n), "numbers"),
    ("no positive weight", lambda n: np.zeros(n), "zero or negative"),
]

REFUSED_PARAMETERS = [
    ("tol", 0.0),
    ("tol", "small"),
    ("tol", np.nan),
    ("cache_size", -1),
    ("max_iter", -2),
    ("max_iter", 1.5),
    ("shrinking", "yes"),
    ("n_jobs", 0),
    ("dtype", "float16"),
    ("gap_tol", -1.0),
    ("time_limit", 0.0),
    ("verbose", -1),
    ("fit_intercept", 3),
    ("warm_start", None),
    ("gamma", -1.0),
    ("gamma", "wide"),
    ("degree", -1),
    ("coef0", "zero"),
    ("kernel", "gauss"),
    ("kernel", 3),
    ("kernel", RBF),
]

OWN_PARAMETERS = [
    (SVC, "C", 0.0),
    (SVC, "C", -1.0),
    (SVC, "C", np.nan),
    (SVC, "C", "1"),
    (SVC, "C2", 0.0),
    (SVC, "penalty_norm", 3),
    (SVC, "lam", 0.0),
    (SVC, "multiclass", "all"),
    (SVC, "probability", 1),
    (SVC, "decision_function_shape", "all"),
    (SVC, "break_ties", 1),
    (SVC, "class_weight", "equal"),
    (SVC, "class_weight", {0: -1.0}),
    (NuSVC, "nu", 0.0),
    (NuSVC, "nu", 1.5),
    (NuSVC, "lam", 0.1),
    (SVR, "C", 0.0),
    (SVR, "epsilon", -0.1),
    (SVR, "epsilon", np.inf),
    (SVR, "loss", "huber"),
    (NuSVR, "nu", 0.0),
    (NuSVR, "C", np.inf),
    (NuSVR, "C", -1.0),
    (OneClassSVM, "nu", 0.0),
    (OneClassSVM, "lam", 0.1),
    (OneClassSVM, "fit_intercept", False),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("case", "make", "words"), REFUSED, ids=[c[0] for c in REFUSED])
def test_bad_objects_are_refused(machine, case, make, words):
    X, y = make(*data_for(machine))
    with pytest.raises((ValueError, TypeError), match=words):
        machine().fit(X, y)


@pytest.mark.parametrize("machine", [m for m in MACHINES if m is not OneClassSVM])
@pytest.mark.parametrize(
    ("case", "make", "words"), REFUSED_TARGETS, ids=[c[0] for c in REFUSED_TARGETS]
)
def test_bad_targets_are_refused(machine, case, make, words):
    X, y = make(*data_for(machine))
    with pytest.raises(ValueError, match=words):
        machine().fit(X, y)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("case", "make", "words"), REFUSED_WEIGHTS, ids=[c[0] for c in REFUSED_WEIGHTS]
)
def test_bad_weights_are_refused(machine, case, make, words):
    X, y = data_for(machine)
    with pytest.raises(ValueError, match=words):
        machine().fit(X, y, sample_weight=make(len(y)))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "value"), REFUSED_PARAMETERS, ids=str)
def test_bad_parameters_are_refused(machine, name, value):
    X, y = data_for(machine)
    with pytest.raises((ValueError, TypeError), match=name):
        machine().set_params(**{name: value}).fit(X, y)


@pytest.mark.parametrize(("machine", "name", "value"), OWN_PARAMETERS, ids=str)
def test_bad_parameters_of_one_machine_are_refused(machine, name, value):
    X, y = data_for(machine)
    with pytest.raises((ValueError, TypeError), match=name.replace("_weight", ".weight")):
        machine(**{name: value}).fit(X, y)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_failed_fit_keeps_the_earlier_model(machine):
    X, y = data_for(machine)
    model = machine().fit(X, y)
    before = scores(model, X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(changed(X, np.nan), y)
    with pytest.raises(ValueError, match="gamma"):
        model.set_params(gamma=-1.0).fit(X[:, :2], y)
    np.testing.assert_array_equal(scores(model, X), before)
    assert model.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("machine", CLASSIFIERS)
def test_one_class_is_refused(machine):
    X, y = classes()
    with pytest.raises(ValueError, match="class"):
        machine().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        machine().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="same class"):
        machine().fit(X, y, sample_weight=np.where(y == 0, 1.0, 0.0))


@pytest.mark.parametrize("machine", MACHINES)
def test_one_sample(machine):
    if machine in CLASSIFIERS:
        with pytest.raises(ValueError, match="1 class"):
            machine().fit([[1.0, 2.0]], [1])
    elif machine is OneClassSVM:
        model = machine().fit([[1.0, 2.0]])
        assert model.predict([[1.0, 2.0]]).tolist() == [1]
    else:
        model = machine().fit([[1.0, 2.0]], [3.0])
        assert model.predict([[9.0, 9.0]]) == pytest.approx([3.0], abs=0.11)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_constant_columns(machine, kernel):
    X, y = data_for(machine)
    same = np.ones_like(X)
    model = machine(kernel=kernel).fit(same, y)
    assert np.isfinite(scores(model, same)).all()
    assert np.ptp(scores(model, same)) < 1e-9
    wider = np.column_stack([X, np.full(len(y), 7.0)])
    model = machine(kernel=kernel, gamma=0.1).fit(wider, y)
    assert model.certificate_.status == "optimal"


@pytest.mark.parametrize("machine", MACHINES)
def test_duplicate_rows_with_opposite_targets(machine):
    X, y = data_for(machine, n=40)
    twice, targets = np.vstack([X, X]), np.concatenate([y, 1 - y])
    model = machine().fit(twice, targets)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap < 1e-2
    if machine is SVC:
        with pytest.raises(NotSeparableError, match="not separable") as caught:
            SVC(C=np.inf).fit(twice, targets)
        check_evidence(caught.value, twice, targets, SVC().fit(X, y).kernel_)
    if machine is SVR:
        with pytest.raises(NotSeparableError, match="epsilon"):
            SVR(C=np.inf, epsilon=0.01).fit(twice, targets)


def check_evidence(error, X, y, kernel):
    """The two combinations are convex, of opposite labels, and as close as stated."""
    coef = np.zeros(len(y))
    for sign, combination in ((1, error.first), (-1, error.second)):
        assert combination.weights.sum() == pytest.approx(1.0)
        assert (combination.weights > 0).all()
        assert len(np.unique(y[combination.rows])) == 1
        coef[combination.rows] += sign * combination.weights
    assert y[error.first.rows[0]] != y[error.second.rows[0]]
    assert np.sqrt(max(coef @ kernel(X) @ coef, 0.0)) == pytest.approx(error.distance, abs=1e-6)


def test_not_separable_by_a_linear_kernel():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array([0, 0, 1, 1])
    with pytest.raises(NotSeparableError) as caught:
        SVC(kernel="linear", C=np.inf).fit(X, y)
    check_evidence(caught.value, X, y, Linear())
    with pytest.raises(NotSeparableError):
        SVC(kernel="linear", C=np.inf).fit(*classes(200, flip=0.3))
    with pytest.raises(NotSeparableError):
        SVC(kernel="linear", C=np.inf, fit_intercept=False).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150, 1e200])
def test_huge_and_tiny_scales(machine, scale):
    X, y = data_for(machine)
    if scale == 1e200:  # whose square is not representable
        with pytest.raises(ValueError, match=r"[Ss]cale"):
            machine().fit(X * scale, y)
        return
    expected = scores(machine(tol=1e-6).fit(X, y), X)
    found = scores(machine(tol=1e-6).fit(X * scale, y), X * scale)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("machine", [SVR, NuSVR])
def test_huge_targets(machine):
    X, y = data_for(machine)
    model = machine().fit(X, y * 1e12)
    assert np.isfinite(model.predict(X)).all()
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap < 1e-9


def test_infeasible_nu_names_pair_and_limit():
    X, y = classes(100, 2)
    y = np.where(np.arange(100) < 10, "rare", "common")
    with pytest.raises(ValueError, match="specified nu is infeasible") as caught:
        NuSVC(nu=0.5).fit(X, y)
    assert "rare" in str(caught.value)
    assert "common" in str(caught.value)
    assert caught.value.largest_nu == pytest.approx(0.2)
    NuSVC(nu=0.2).fit(X, y)
    weight = np.where(y == "rare", 2.0, 1.0)
    with pytest.raises(ValueError, match="infeasible") as caught:
        NuSVC(nu=0.5).fit(X, y, sample_weight=weight)
    assert caught.value.largest_nu == pytest.approx(2 * 20 / 110)
    NuSVC(nu=0.5, class_weight="balanced").fit(X, y)


@pytest.mark.parametrize("machine", MACHINES)
def test_kernel_that_does_not_fit_the_objects(machine):
    X, y = data_for(machine)
    words = ["word"] * len(y)
    with pytest.raises((ValueError, TypeError)):
        machine(kernel=RBF()).fit(words, y)
    with pytest.raises(ValueError, match="shape"):
        machine(kernel=lambda A, B: np.ones((1, 1))).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        machine(kernel=FromFunction(lambda A, B: np.full((len(A), len(B)), np.nan))).fit(X, y)
    with pytest.raises(ValueError, match="square"):
        machine(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="symmetric"):
        machine(kernel="precomputed").fit(np.triu(X @ X.T), y)
    with pytest.raises(TypeError, match=r"[Ss]parse precomputed"):
        machine(kernel="precomputed").fit(sp.csr_matrix(X @ X.T), y)


@pytest.mark.parametrize("machine", MACHINES)
def test_bad_objects_are_refused_in_prediction(machine):
    X, y = data_for(machine)
    model = machine().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :-1])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(changed(X, np.nan))
    with pytest.raises(ValueError, match="sparse"):
        model.predict(sp.csr_matrix(X))
    with pytest.raises(ValueError, match=r"2D|1D"):
        model.predict(X[0])
    sparse = machine(gamma=0.1).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(scores(sparse, X), scores(sparse, sp.csr_matrix(X)))
    matrix = machine(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match=r"features|columns"):
        matrix.predict(X)


@pytest.mark.parametrize(
    "tubes", [np.ones(3), np.ones((80, 3)), -np.ones(80), np.full(80, np.nan), ["wide"] * 80]
)
def test_bad_tubes_are_refused(tubes):
    X, y = data_for(SVR)
    with pytest.raises(ValueError, match="sample_epsilon"):
        SVR().fit(X, y, sample_epsilon=tubes)


def test_combinations_without_meaning_are_refused():
    X, y = classes(60, 3)
    for params, word in (
        ({"C": 2.0, "lam": 0.1}, "lam"),
        ({"C2": 1.0, "penalty_norm": 2}, "C2"),
        ({"C2": 1.0, "C": np.inf}, "C2"),
        ({"multiclass": "ovr", "decision_function_shape": "ovo"}, "ovr"),
    ):
        with pytest.raises(ValueError, match=word):
            SVC(**params).fit(X, y)
    with pytest.raises(ValueError, match="break_ties"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


def test_a_function_as_kernel_needs_no_intercept_in_a_nu_machine():
    X, y = classes(60, 2)
    own = NuSVC(nu=0.2, fit_intercept=False, tol=1e-8, kernel=lambda A, B: A @ B.T).fit(X, y)
    named = NuSVC(nu=0.2, fit_intercept=False, tol=1e-8, kernel="linear").fit(X, y)
    assert own.decision_function(X) == pytest.approx(named.decision_function(X), abs=1e-6)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "form", ["F order", "read-only", "every second row", "int", "list", "csr64", "unsorted csr"]
)
def test_unusual_but_valid_forms(machine, form):
    X, y = data_for(machine, n=60)
    X = np.round(X * 8)
    expected = scores(machine().fit(X, y), X)
    if form == "F order":
        given = np.asfortranarray(X)
    elif form == "read-only":
        given = X.copy()
        given.flags.writeable = False
    elif form == "every second row":
        given = np.repeat(X, 2, axis=0)[::2]
    elif form == "int":
        given = X.astype(int)
    elif form == "list":
        given = X.tolist()
    else:
        given = sp.csr_matrix(X)
        if form == "csr64":
            given.indices, given.indptr = given.indices.astype("i8"), given.indptr.astype("i8")
        else:
            for row in range(given.shape[0]):
                part = slice(given.indptr[row], given.indptr[row + 1])
                given.indices[part] = given.indices[part][::-1].copy()
                given.data[part] = given.data[part][::-1].copy()
            given.has_sorted_indices = False
    before = given.copy() if not isinstance(given, list) else None
    np.testing.assert_allclose(scores(machine().fit(given, y), given), expected, atol=1e-6)
    if before is not None:
        same = before != given
        assert (same.nnz if sp.issparse(same) else same.sum()) == 0


def test_a_margin_that_overflows_is_refused():
    X = 1e153 * (1.0 + 1e-3 * np.random.default_rng(0).normal(size=(39, 4)))
    y = np.where(np.arange(39) % 4, 1, -1)
    with pytest.raises(ValueError, match="margins are not finite: the kernel values overflow"):
        NuSVC(kernel="linear", nu=1.0, fit_intercept=False).fit(X, y)
