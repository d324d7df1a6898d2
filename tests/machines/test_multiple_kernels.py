"""Multiple kernel learning against an independent solver, its gap, and its limits."""

import numpy as np
import pytest
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, MultipleKernelSVC, MultipleKernelSVR, load, save
from mercer.kernels import RBF, Linear, Polynomial, Spectrum, ThinPlate, WeightedDegree
from mercer.machines.support_vector import multiple_kernels


def noisy_columns(n=60):
    """Return two classes that two of four columns separate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 1] ** 2 + X[:, 2] > 0.8).astype(int)


KERNELS = [*(RBF(0.5).on_columns([j]) for j in range(4)), Linear()]


def by_second_order_cones(matrices, y, C, p):
    """Return the optimal value from the dual, by a general solver on smooth constraints.

    maximise sum(a) - t / 2 subject to |q(a)|_p* <= t, 0 <= a <= C, y'a = 0; q_m = (ya)'K_m(ya).
    """
    n = len(y)
    Q = [y[:, None] * K * y for K in matrices]

    def excess(z):
        q = np.array([z[:n] @ M @ z[:n] for M in Q])
        if p == 1:
            return z[n] - q
        dual = p / (p - 1)
        return np.array([z[n] - np.sum(q**dual) ** (1 / dual)])

    def slopes(z):
        q = np.array([z[:n] @ M @ z[:n] for M in Q])
        rows = np.array([2 * M @ z[:n] for M in Q])
        if p > 1:
            dual = p / (p - 1)
            size = np.sum(q**dual) ** (1 / dual)
            rows = ((q / size) ** (dual - 1) @ rows)[None, :]
        return np.column_stack([-rows, np.ones(len(rows))])

    c = np.append(-np.ones(n), 0.5)
    balance = np.append(y, 0.0)
    found = scipy.optimize.minimize(
        lambda z: c @ z,
        np.append(np.full(n, 0.1 * C), n * C),
        jac=lambda z: c,
        bounds=[(0, C)] * n + [(0, None)],
        constraints=[
            {"type": "eq", "fun": lambda z: balance @ z, "jac": lambda z: balance},
            {"type": "ineq", "fun": excess, "jac": slopes},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert found.success, found.message
    return -found.fun


@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0])
def test_the_value_is_that_of_an_independent_solver(norm):
    X, y = noisy_columns(24)
    model = MultipleKernelSVC(KERNELS, C=2.0, norm=norm, tol=1e-5).fit(X, y)
    matrices = [k(X) / s for k, s in zip(model.kernels_, model.scales_, strict=True)]
    optimum = by_second_order_cones(matrices, 2.0 * y - 1.0, 2.0, norm)
    proof = model.certificate_
    assert proof.status == "optimal"
    assert proof.relative_gap <= 1e-5
    assert proof.dual <= optimum * (1 + 1e-6)
    assert proof.primal >= optimum * (1 - 1e-6)
    assert np.sum(model.weights_**norm) == pytest.approx(1.0)
    # The primal is the machine's own: it is the function that predicts.
    assert proof.primal == model.machine_.certificate_.primal


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_the_bounds_hold_where_rounding_is_all_of_the_gap(norm):
    # The same kernel twice: the optimum is that of one machine with the kernel 2^(1 - 1/p) k.
    X, y = noisy_columns(30)
    kernel, C = Polynomial(2, coef0=1.0), 1e4
    many = MultipleKernelSVC([kernel, kernel], C=C, norm=norm, tol=1e-15, normalise=False)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        proof = many.set_params(max_iter=3).fit(10 * X, y).certificate_
    alone = SVC(kernel=2 ** (1 - 1 / norm) * kernel, C=C, tol=1e-12).fit(10 * X, y).certificate_
    assert proof.dual <= alone.primal
    assert alone.dual <= proof.primal
    assert proof.gap == proof.primal - proof.dual >= 0.0
    # The rounding of the lower bound is more than that of the machine's own certificate.
    assert many.machine_.certificate_.rounding < proof.rounding < 1e-9 * proof.primal


def test_sparse_weights_name_the_columns_that_matter():
    X, y = noisy_columns(100)
    model = MultipleKernelSVC(KERNELS[:4], C=1.0).fit(X, y)
    assert np.flatnonzero(model.weights_ > 0.1).tolist() == [1, 2]
    assert (MultipleKernelSVC(C=10.0).fit(X, y).weights_ == 0.0).any()
    dense = MultipleKernelSVC(KERNELS[:4], C=10.0, norm=2.0).fit(X, y)
    assert (dense.weights_ > 0.05).all()
    plain = MultipleKernelSVC(KERNELS[:4], C=10.0, norm=np.inf).fit(X, y)
    assert plain.weights_.tolist() == [1.0] * 4
    Z, z = noisy_columns(400)
    scores = [m.score(Z[100:], z[100:]) for m in (model, dense, plain)]
    assert scores[0] > 0.85
    assert scores[0] > scores[2]


@pytest.mark.parametrize("norm", [1.0, 3.0])
def test_no_weights_give_a_smaller_value(norm):
    """The lower bound holds for the machine at any other weights of the same norm."""
    X, y = noisy_columns(40)
    model = MultipleKernelSVC(KERNELS, C=1.0, norm=norm).fit(X, y)
    rng = np.random.default_rng(1)
    matrices = [k(X) / s for k, s in zip(model.kernels_, model.scales_, strict=True)]
    for _ in range(5):
        d = rng.exponential(size=5)
        d /= np.sum(d**norm) ** (1 / norm)
        K = sum(w * M for w, M in zip(d, matrices, strict=True))
        other = SVC(kernel="precomputed").fit(K, y).certificate_
        assert other.primal >= model.certificate_.dual


def test_a_corner_at_which_the_dual_solution_is_not_unique():
    """Repeated rows and a linear kernel: the gradient of one solution is not that of the value."""
    X = np.repeat([[1.0, 3.0], [2.0, 1.0], [3.0, 3.0], [4.0, 1.0]], 4, axis=0)
    y = np.repeat([1, 2, 1, 2], 4)
    model = MultipleKernelSVC([RBF(0.5), Linear()]).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(1.125, rel=1e-3)


def test_a_direction_left_over_from_a_face_may_not_descend():
    """After the first kernel leaves, the value is constant along what is left of the direction."""
    X = np.array([[0.18, -0.147], [0.395, -0.95]] * 2)
    model = MultipleKernelSVC([RBF(0.5), Linear(), RBF(5.0)], C=0.2, normalise=False)
    model.fit(X, [0, 1, 1, 0], sample_weight=[5.0, 100.0, 1e-3, 1e-3])
    assert model.certificate_.status == "optimal"


def test_regression_weights_and_several_classes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    kernels = [RBF(1.0).on_columns([j]) for j in range(3)]
    tube = MultipleKernelSVR(kernels, C=10.0).fit(X, np.sin(2 * X[:, 2]))
    assert np.argmax(tube.weights_) == 2
    assert tube.certificate_.status == "optimal"
    assert tube.score(X, np.sin(2 * X[:, 2])) > 0.9
    three = np.digitize(X[:, 1], [-0.5, 0.5])
    model = MultipleKernelSVC(kernels, C=10.0).fit(X, three)
    assert np.argmax(model.weights_) == 1
    assert model.certificate_.relative_gap < 1e-3
    assert model.decision_function(X).shape == (60, 3)
    # A row of weight 2 is a row that is there twice.
    weight = 1.0 + (np.arange(60) % 4 == 0)
    rows = np.repeat(np.arange(60), weight.astype(int))
    options = {"C": 1.0, "normalise": False, "tol": 1e-6}
    one = MultipleKernelSVC(kernels, **options).fit(X, three > 1, sample_weight=weight)
    other = MultipleKernelSVC(kernels, **options).fit(X[rows], three[rows] > 1)
    assert one.weights_ == pytest.approx(other.weights_, abs=1e-3)


def test_any_objects_and_model_files(tmp_path):
    words = ["abab", "abba", "aabb", "bcbc", "cbbc", "ccbb", "abcb", "bbbb"]
    y = [0, 0, 0, 1, 1, 1, 0, 1]
    model = MultipleKernelSVC([Spectrum(1), Spectrum(2), WeightedDegree(2)]).fit(words, y)
    save(model, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    assert again.predict(words).tolist() == model.predict(words).tolist()
    assert again.weights_.tolist() == model.weights_.tolist()
    assert again.certificate_ == model.certificate_


@pytest.mark.parametrize(("seed", "columns"), [(0, 5), (1, 3), (4, 3), (8, 5)])
def test_the_only_kernel_that_is_left_keeps_its_weight(seed, columns):
    """A step along a rounding error of its direction took all weights to 0, and the fit to NaN."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, columns))
    model = MultipleKernelSVC().fit(X, X[:, 0] * X[:, 1] + rng.normal(size=80) > 0)
    assert model.certificate_.status == "optimal"
    assert np.isclose(model.weights_.sum(), 1.0)


def test_a_nan_of_the_fit_is_not_reported_as_one_of_the_data(monkeypatch):
    X, y = noisy_columns(30)
    monkeypatch.setattr(
        multiple_kernels, "_on_simplex", lambda w, zero=None: np.full(len(w), np.nan)
    )
    with pytest.raises(FloatingPointError, match=r"kernel matrix became NaN .* not a missing"):
        MultipleKernelSVC(KERNELS).fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        MultipleKernelSVC(KERNELS).fit(X, y)


def test_limits_and_refusals():
    X, y = noisy_columns(30)
    with pytest.warns(UserWarning, match="iteration_limit"):
        MultipleKernelSVC(KERNELS, max_iter=1, tol=1e-9).fit(X, y)
    with pytest.warns(UserWarning, match="time_limit"):
        model = MultipleKernelSVC(KERNELS, time_limit=1e-9, tol=1e-9).fit(X, y)
    assert 0.0 < model.machine_.time_limit < 60.0
    with pytest.raises(ValueError, match="time_limit must be"):
        MultipleKernelSVC(KERNELS, time_limit=0.0).fit(X, y)
    with pytest.raises(ValueError, match="norm must be at least 1"):
        MultipleKernelSVC(KERNELS, norm=0.5).fit(X, y)
    with pytest.raises(TypeError, match="a list of kernels"):
        MultipleKernelSVC(["rbf"]).fit(X, y)
    with pytest.raises(ValueError, match="would not be convex"):
        MultipleKernelSVC([ThinPlate()]).fit(X, y)


@pytest.mark.parametrize("weight", [None, np.arange(60) % 3 > 0])
def test_an_interrupt_keeps_the_best_weights_so_far(monkeypatch, weight):
    X, y = noisy_columns()
    model = MultipleKernelSVC(KERNELS, tol=1e-4).fit(X, y, sample_weight=weight)
    least, fit, left = model.certificate_.dual, SVC.fit, [0]

    def interrupted(machine, *args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return fit(machine, *args, **kwargs)

    monkeypatch.setattr(SVC, "fit", interrupted)
    primal = []
    for left[0] in (0, 1, 5):
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, sample_weight=weight)
        primal.append(model.certificate_.primal)
        assert model.certificate_.status == ("interrupted" if len(primal) > 1 else "optimal")
        assert model.certificate_.dual <= least * (1 + 1e-4)
    assert primal[0] < primal[2] < primal[1]


FAST = {"kernels": [RBF(0.5), Linear()], "tol": 0.01}


@parametrize_with_checks([MultipleKernelSVC(**FAST), MultipleKernelSVR(**FAST, norm=2.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
