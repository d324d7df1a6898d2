"""Fitted attributes: what they are on small problems with known solutions."""

import numpy as np
import pytest

from mercer import SVC, SVR, ConformalNovelty, KernelRidge, NuSVC, NuSVR, OneClassSVM
from mercer.features import Nystrom
from mercer.kernels import RBF, Laplacian, Linear
from mercer.machines import PointStatus
from tests.machines.data_sets import MACHINES, TOY, classes, data_for, regression, scores

X, Y = TOY


def toy(**params):
    return SVC(kernel="linear", tol=1e-9, **params).fit(X, Y)


def test_hard_margin_of_the_toy_set():
    model = toy(C=np.inf)
    np.testing.assert_allclose(model.coef_, [[1.0, -1.0]], atol=1e-9)
    assert model.intercept_[0] == pytest.approx(-1.0)
    np.testing.assert_allclose(model.alpha_, [0.5, 0.5, 1.0, 0.0], atol=1e-9)
    assert model.margin_ == pytest.approx(1 / np.sqrt(2))
    assert model.margin_width_ == pytest.approx(np.sqrt(2))
    assert model.margin_ == pytest.approx(model.alpha_.sum() ** -0.5)
    np.testing.assert_array_equal(model.margin_points(1e-9), [0, 1, 2])
    np.testing.assert_array_equal(model.free_support_, [0, 1, 2])
    assert len(model.bounded_support_) == 0


def test_soft_margin_of_the_toy_set():
    model = toy(C=0.5)
    np.testing.assert_allclose(model.coef_, [[2 / 3, -2 / 3]], atol=1e-9)
    np.testing.assert_allclose(model.slack_, [0, 0, 2 / 3, 0], atol=1e-9)
    assert list(model.point_status_) == ["on edge", "on edge", "inside margin", "on edge"]
    assert list(model.bounded_support_) == [2]
    assert model.certificate_.dual == pytest.approx(7 / 9)


def test_intercept_is_the_middle_of_its_interval_when_no_coefficient_is_free():
    model = toy(C=0.1)
    np.testing.assert_allclose(model.intercept_range_, [-1.0, 0.1], atol=1e-9)
    assert model.intercept_[0] == pytest.approx(-0.45)
    assert len(model.free_support_) == 0
    np.testing.assert_allclose(toy(C=0.5).intercept_range_, [-1.0, -1.0], atol=1e-9)
    regress = SVR(kernel="linear", epsilon=0.5, C=0.1, tol=1e-9).fit([[0], [1], [2]], [0.0, 1, 2])
    np.testing.assert_allclose(regress.intercept_range_, [0.5, 1.1], atol=1e-9)
    assert regress.intercept_[0] == pytest.approx(0.8)


@pytest.mark.filterwarnings("ignore:.*the intercept is not unique")
@pytest.mark.parametrize("n", [60, 2600])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_rounding_of_balanced_weights_does_not_choose_the_intercept(n, kernel):
    """All coefficients are at their bounds, whose sums are equal but for rounding."""
    rng = np.random.default_rng(3)
    y = (rng.random(n) < 0.3).astype(int)
    x = rng.normal(size=(n, 3)) + 0.4 * y[:, None]
    K = RBF(1.0)(x)
    for C in (1e-5, 1e-3):
        model = SVC(C=C, gamma=1.0, kernel=kernel, class_weight="balanced", warm_start=True)
        for cost in (C, 1.7 * C):
            model.set_params(C=cost).fit(K if kernel == "precomputed" else x, y)
            signs = np.where(y == 1, 1.0, -1.0)
            f0 = K @ (signs * cost * n / (2.0 * np.bincount(y)[y]))
            low, high = np.max(-1.0 - f0[y == 0]), np.min(1.0 - f0[y == 1])
            assert model.intercept_[0] == pytest.approx(0.5 * (low + high), abs=1e-6)
            np.testing.assert_allclose(model.intercept_range_, [low, high], atol=1e-6)


def test_status_of_misclassified_points():
    x = np.array([[-2.0], [-1.0], [1.0], [2.0], [1.5]])
    model = SVC(kernel="linear", C=1.0).fit(x, [0, 0, 1, 1, 0])
    assert model.point_status_[4] == PointStatus.MISCLASSIFIED
    assert model.slack_[4] > 1.0
    assert model.slack_.sum() >= np.sum(model.predict(x) != [0, 0, 1, 1, 0])


def test_status_of_regression_follows_the_coefficients():
    Xr, y = regression()
    model = SVR(C=1.0, epsilon=0.3, tol=1e-8).fit(Xr, y)
    status, alpha = model.point_status_, model.alpha_
    assert (alpha[status == "inside tube"] == 0).all()
    np.testing.assert_allclose(alpha[status == "outside tube"], 1.0)
    assert set(model.bounded_support_) >= set(np.flatnonzero(status == "outside tube"))
    np.testing.assert_allclose(
        model.slack_, np.maximum(np.abs(y - model.predict(Xr)) - 0.3, 0.0), atol=1e-7
    )


def test_nu_bounds_fractions():
    Xc, y = classes(150)
    for machine in (NuSVC(nu=0.4), OneClassSVM(nu=0.25)):
        model = machine.set_params(tol=1e-8).fit(Xc, y)
        errors = np.mean(model.slack_ > 1e-6)
        assert errors <= model.nu + 1e-9 <= np.mean(model.alpha_ > 0) + 1e-9
    Xr, t = regression()
    model = NuSVR(nu=0.3, tol=1e-8).fit(Xr, t)
    assert model.epsilon_ > 0
    assert np.mean(model.slack_ > 1e-6) <= 0.3 <= np.mean(model.alpha_ > 0)


def test_one_class_attributes():
    Xr, _ = regression()
    model = OneClassSVM(nu=0.3, tol=1e-8).fit(Xr)
    assert model.offset_.shape == (1,)
    assert model.rho_ == model.offset_[0] == -model.intercept_[0]
    np.testing.assert_allclose(model.score_samples(Xr), model.decision_function(Xr) + model.rho_)
    assert model.equivalent_C_ == pytest.approx(1 / model.rho_)
    norm = model.margin_ and model.rho_ / model.margin_
    assert norm**2 == pytest.approx(-2 * model.certificate_.dual)
    outliers = model.predict(Xr) == -1
    assert (model.point_status_[outliers] == "outlier").all()
    assert outliers.mean() <= 0.3


def test_scaled_margin_of_nu_svc():
    Xc, y = classes()
    model = NuSVC(nu=0.4, tol=1e-9).fit(Xc, y)
    free = model.free_support_
    np.testing.assert_allclose(np.abs(model.decision_function(Xc[free])), 1.0, atol=1e-6)
    assert model.nu_ == 0.4
    assert np.abs(model.dual_coef_).max() == pytest.approx(model.equivalent_C_)


def test_axes_of_several_problems():
    Xc, y = classes(120, 4)
    for multiclass, n in (("ovo", 6), ("ovr", 4)):
        model = SVC(multiclass=multiclass).fit(Xc, y)
        assert model.alpha_.shape == model.slack_.shape == model.point_status_.shape == (n, 120)
        assert model.margin_.shape == model.intercept_.shape == (n,)
        assert model.intercept_range_.shape == (n, 2)
        assert len(model.free_support_) == len(model.certificates_) == n
        assert model.dual_coef_.shape[0] == (3 if multiclass == "ovo" else 4)
        assert model.n_support_.sum() == len(model.support_) == len(model.support_vectors_)
        np.testing.assert_array_equal(y[model.support_], np.repeat(np.arange(4), model.n_support_))
        np.testing.assert_array_equal(
            model.alpha_.any(axis=0).nonzero()[0], np.sort(model.support_)
        )
        # Problem by problem, the values of the expansion explain the slacks.
        values = model.expansion_(Xc)
        assert values.shape == (120, n)
    first = (y == 0) | (y == 1)
    ovo = SVC().fit(Xc, y)
    sign = np.where(y == 0, 1.0, -1.0)
    expected = np.maximum(1 - sign * ovo.expansion_(Xc)[:, 0], 0.0)
    np.testing.assert_allclose(ovo.slack_[0][first], expected[first], atol=1e-10)
    assert (ovo.slack_[0][~first] == 0).all()
    assert (ovo.point_status_[0][~first] == "not used").all()


@pytest.mark.parametrize("machine", MACHINES)
def test_expansion_is_the_model(machine):
    Xm, y = data_for(machine)
    model = machine().fit(Xm, y)
    np.testing.assert_allclose(model.expansion_(Xm), scores(model, Xm), atol=1e-12)
    assert model.expansion_.n_terms == len(model.support_)
    assert type(model.kernel_) is RBF
    assert model.kernel_.is_bound
    norm2 = model.expansion_.norm2()
    if machine is not OneClassSVM:
        assert model.margin_ == pytest.approx(norm2**-0.5, rel=1e-9)


@pytest.mark.parametrize("machine", MACHINES)
def test_attributes_do_not_exist_before_fit(machine):
    model = machine()
    for name in (
        "support_",
        "certificate_",
        "margin_",
        "slack_",
        "alpha_",
        "expansion_",
        "coef_",
        "free_support_",
        "intercept_range_",
        "point_status_",
        "n_support_",
    ):
        assert not hasattr(model, name), name


@pytest.mark.parametrize("machine", MACHINES)
def test_weight_vector_of_a_linear_kernel_only(machine):
    Xm, y = data_for(machine)
    linear = machine(kernel=Linear()).fit(Xm, y)
    values = Xm @ linear.coef_[0] + linear.intercept_[0]
    np.testing.assert_allclose(values, scores(linear, Xm), atol=1e-8)
    with pytest.raises(ValueError, match="read-only"):
        linear.coef_[0, 0] = 1.0
    assert not hasattr(machine().fit(Xm, y), "coef_")


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(penalty_norm=2),
        SVC(class_weight="balanced"),
        NuSVC(nu=0.3),
        SVR(),
        SVR(lam=0.01),
        NuSVR(),
        OneClassSVM(nu=0.3),
        SVC(gamma="auto", kernel="poly"),
    ],
    ids=repr,
)
def test_refit_on_support_gives_the_same_function(model):
    Xm, y = data_for(model)
    s = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model.set_params(tol=1e-9).fit(Xm, y, sample_weight=s)
    again = model.refit_on_support()
    assert again is not model
    np.testing.assert_allclose(scores(again, Xm), scores(model, Xm), atol=1e-5)
    assert len(again.support_) <= len(model.support_)


def test_refit_on_support_with_tubes_and_classes():
    Xr, y = regression()
    tubes = np.random.default_rng(0).uniform(0.1, 0.4, (len(y), 2))
    model = SVR(tol=1e-9).fit(Xr, y, sample_epsilon=tubes)
    np.testing.assert_allclose(model.refit_on_support().predict(Xr), model.predict(Xr), atol=1e-5)
    Xc, c = classes(120, 3)
    several = SVC(tol=1e-9).fit(Xc, c)
    np.testing.assert_allclose(
        several.refit_on_support().decision_function(Xc), several.decision_function(Xc), atol=1e-4
    )
    with pytest.raises(ValueError, match="no single nu"):
        NuSVC(nu=0.2).fit(Xc, c).refit_on_support()
    with pytest.raises(ValueError, match="precomputed"):
        SVC(kernel="precomputed").fit(Xc @ Xc.T, c).refit_on_support()


def test_kernels_as_objects_functions_and_matrices_agree():
    Xc, y = classes()
    by_name = SVC(gamma=0.2).fit(Xc, y)
    for kernel in (RBF(0.2), lambda A, B: RBF(0.2)(A, B)):
        np.testing.assert_allclose(
            SVC(kernel=kernel).fit(Xc, y).decision_function(Xc),
            by_name.decision_function(Xc),
            atol=1e-8,
        )
    K = RBF(0.2)(Xc)
    matrix = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(
        matrix.decision_function(K), by_name.decision_function(Xc), atol=1e-8
    )
    with pytest.raises(ValueError, match="gamma"):
        SVC(kernel=RBF(0.2), gamma=0.5).fit(Xc, y)


def test_kernel_of_strings():
    words = ["aab", "ab", "bbb", "ba", "aaa", "bb"]
    counts = np.array([[w.count("a"), w.count("b")] for w in words], float)

    def kernel(A, B):
        return np.array([[sum(a.count(c) * b.count(c) for c in "ab") for b in B] for a in A], float)

    y = [0, 0, 1, 1, 0, 1]
    model = SVC(kernel=kernel, tol=1e-8).fit(words, y)
    vectors = SVC(kernel="linear", tol=1e-8).fit(counts, y)
    np.testing.assert_allclose(
        model.decision_function(words), vectors.decision_function(counts), atol=1e-8
    )
    assert model.support_vectors_ == [words[i] for i in model.support_]


def test_grid_search_over_kernel_parameters():
    from sklearn.model_selection import GridSearchCV

    Xc, y = classes()
    grid = GridSearchCV(SVC(kernel=RBF(0.1)), {"kernel__gamma": [0.01, 0.1, 1.0]}, cv=2)
    assert grid.fit(Xc, y).best_params_["kernel__gamma"] in (0.01, 0.1, 1.0)


@pytest.mark.parametrize(
    ("estimator", "changes"),
    [
        (lambda: SVC(), {"C": 5.0, "cost": 3.0}),
        (lambda: SVC(kernel=RBF(0.5) + Linear()), {"C": 5.0, "kernel__left__sigma": 1.0}),
        (
            lambda: SVC(kernel=RBF(0.5) + Linear()),
            {"kernel__left__gamma": 2.0, "kernel__left": RBF(3.0), "kernel__right__gamma": 1.0},
        ),
        (lambda: RBF(0.5) + Linear(), {"left__gamma": 2.0, "right__gamma": 1.0}),
        (lambda: Nystrom(RBF(0.5)), {"kernel__gamma": 2.0, "n_landmarks": 3}),
        (lambda: KernelRidge(), {"alpha": 2.0, "beta": 3.0}),
        (lambda: ConformalNovelty(OneClassSVM()), {"estimator__nu": 0.1, "estimator__mu": 1.0}),
    ],
)
def test_set_params_sets_all_or_nothing(estimator, changes):
    estimator = estimator()
    before = repr(estimator)
    with pytest.raises(ValueError, match="parameter"):
        estimator.set_params(**changes)
    assert repr(estimator) == before


@pytest.mark.parametrize("seed", [671, 687, 719])
def test_specks_beside_the_kink_of_the_tube_do_not_choose_the_intercept(seed):
    """A coefficient of 1e-17 instead of 0 was free, and made an end of the interval b."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 14))
    X = random.normal(size=(n, 1)) * float(random.choice([1, 1e-4, 1e4]))
    t, C = random.normal(size=n), float(10 ** random.uniform(-3, 1))
    epsilon = float(random.choice([0.1, 0.3]))
    weight = random.choice([1.0, 2.0, 0.5, 10.0], n) if random.random() < 0.5 else np.ones(n)
    kernel = [Laplacian(0.5), RBF(0.5), Linear()][random.integers(3)]
    model = SVR(kernel=kernel, C=C, epsilon=epsilon, tol=1e-8).fit(X, t, sample_weight=weight)
    low, high = model.intercept_range_
    assert high - low > 0.1
    assert model.intercept_[0] == pytest.approx((low + high) / 2)
