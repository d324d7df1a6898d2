import numpy as np
import pytest
from scipy import sparse

from mercer import data
from mercer.data import TrainingSet


@pytest.mark.spec("LFD-09")
def test_toy_set_has_the_printed_margin():
    X, y = data.lfd_toy()
    w, b = np.array([1.0, -1.0]), -1.0
    assert (y * (X @ w + b)).tolist() == [1, 1, 1, 2]
    assert np.array_equal((y * [0.5, 0.5, 1, 0]) @ X, w)


@pytest.mark.spec("LFD-10")
def test_problem_8_2_has_a_point_on_the_margin_with_multiplier_zero():
    X, y = data.lfd_problem_8_2()
    w, b = np.array([-1.0, 0.0]), -1.0
    assert (y * (X @ w + b)).tolist() == [1, 1, 1]
    assert np.array_equal((y * [0.5, 0, 0.5]) @ X, w)


@pytest.mark.spec("HO-47")
def test_xor_solves_its_stationarity_system():
    X, y = data.xor()
    K = (1 + X @ X.T) ** 2
    assert K.diagonal().tolist() == [9, 9, 9, 9]
    alpha = np.linalg.solve(np.outer(y, y) * K, np.ones(4))
    assert alpha == pytest.approx(np.full(4, 1 / 8), abs=1e-15)
    f = (1 + X @ X.T) ** 2 @ (alpha * y)
    assert f == pytest.approx(-X[:, 0] * X[:, 1], abs=1e-15)


def test_problem_8_13_is_not_linearly_separable_and_quadratically_is():
    from scipy.optimize import linprog

    X, y = data.lfd_problem_8_13()

    def separable(features):
        A = -y[:, None] * np.column_stack([features, np.ones(len(y))])
        bounds = [(None, None)] * A.shape[1]
        return linprog(np.zeros(A.shape[1]), A, -np.ones(len(y)), bounds=bounds).success

    x1, x2 = X.T
    assert not separable(X)
    assert separable(np.column_stack([x1, x2, x1**2, x1 * x2, x2**2]))


def test_sets_are_fresh_arrays():
    X, _ = data.xor()
    X[:] = 7
    assert data.xor()[0][0, 0] == -1


@pytest.mark.parametrize(
    "make", [data.friedman1, data.noisy_sinc, data.rings, data.spirals], ids=lambda f: f.__name__
)
def test_generators_are_reproducible_and_leave_the_global_state_alone(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the state we must not touch
    X, y = make(31, noise=0.3, random_state=5)
    Z, z = make(31, noise=0.3, random_state=5)
    assert len(X) == len(y) == 31
    assert np.array_equal(X, Z)
    assert np.array_equal(y, z)
    assert not np.array_equal(X, make(31, noise=0.3, random_state=6)[0])
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_friedman1_refuses_too_few_columns():
    with pytest.raises(ValueError, match="at least 5 columns"):
        data.friedman1(10, d=4)


@pytest.mark.spec("CS-0.03")
def test_training_set_knows_whether_it_is_trivial():
    X, y = data.lfd_toy()
    assert not TrainingSet(X, y).is_trivial
    assert TrainingSet(X, np.ones(4)).is_trivial
    assert TrainingSet(["a", "b"], ["spam", "spam"]).is_trivial


@pytest.mark.spec("CS-0.03")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, np.ndarray.tolist])
def test_training_set_finds_duplicates_and_contradictions(form):
    X = np.array([[0.0, 1.0], [2.0, 0.0], [-0.0, 1.0]])
    sample = TrainingSet(form(X), [1, 1, 1])
    assert sample.has_duplicates
    assert not sample.has_contradictions
    assert TrainingSet(form(X), [1, 1, -1]).has_contradictions
    assert not TrainingSet(form(X[:2]), [1, -1]).has_duplicates


def test_training_set_takes_objects_that_are_not_vectors():
    assert TrainingSet(["abc", "abd", "abc"], [1, -1, -1]).has_contradictions
    assert not TrainingSet([[1, 2], [1], [2, 1]], [1, 2, 3]).has_duplicates


@pytest.mark.spec("CS-0.03")
def test_radius_in_input_and_feature_space():
    kernels = pytest.importorskip("mercer.kernels")
    X, y = data.lfd_toy()
    sample = TrainingSet(X, y)
    assert sample.radius() == 3
    assert TrainingSet(sparse.csr_array(X), y).radius() == 3
    assert sample.radius(kernels.RBF(3.7)) == 1  # exactly: a Gaussian has unit diagonal
    assert TrainingSet(*data.xor()).radius(kernels.Polynomial(2, 1.0, 1.0)) == 3


def test_training_set_refuses_different_lengths():
    with pytest.raises(ValueError, match="4 objects and y has 3"):
        TrainingSet(data.lfd_toy()[0], [1, 1, 1])
