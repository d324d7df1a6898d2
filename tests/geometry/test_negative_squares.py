"""A squared length that is clearly negative is no length: the kernel is refused, not the square."""

import numpy as np
import pytest

from mercer.features import IncompleteCholeskyFeatures, KernelCenterer
from mercer.geometry import (
    Span,
    angle,
    cosine,
    distance,
    distance_to_mean,
    independent_subset,
    mean_squared_distance,
    norm,
    numerical_rank,
    path_length,
    pivoted_cholesky,
    smallest_enclosing_ball,
    squared_radius,
    volume_element,
)
from mercer.inspection import eigenvalue_report
from mercer.kernels import (
    RBF,
    FromFunction,
    Linear,
    LogDistance,
    Multiquadric,
    NegativeDistance,
    Polynomial,
    Precomputed,
    Projected,
    Sigmoid,
    ThinPlate,
)

rng = np.random.default_rng(0)
X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
MANY = rng.normal(size=(60, 2))
# k(x, x) = 1 and k(x, z) = 2 otherwise: d^2 = -2 for every pair.
NEARER = FromFunction(lambda A, B: np.where((A[:, None] != B).any(-1), 2.0, 1.0))
# No object has a length, and every pair has a product.
APART = FromFunction(lambda A, B: np.abs(A[:, None] - B).sum(-1))
ORDER_1 = [NegativeDistance(), LogDistance(), Multiquadric(), 2 * NegativeDistance() + RBF(1.0)]

DISTANCES = {
    "distance": lambda k: distance(k, X),
    "to others": lambda k: distance(k, X, X[1:]),
    "to the mean": lambda k: distance_to_mean(k, X, X),
    "mean square": lambda k: mean_squared_distance(k, X),
    "ball": lambda k: smallest_enclosing_ball(k, X),
    "radius": lambda k: squared_radius(k, X),
    "centred": lambda k: KernelCenterer(k).fit(X).diag(X),
}
LENGTHS = {
    "norm": lambda k: norm(k, MANY),
    "cosine": lambda k: cosine(k, MANY),
    "angle": lambda k: angle(k, MANY),
    "Cholesky": lambda k: pivoted_cholesky(k, MANY),
    "span": lambda k: Span(k, MANY),
    "subset": lambda k: independent_subset(k, MANY),
    "rank": lambda k: numerical_rank(k, MANY),
    "features": lambda k: IncompleteCholeskyFeatures(k).fit(MANY),
}
each_distance = pytest.mark.parametrize("ask", DISTANCES.values(), ids=DISTANCES)
each_length = pytest.mark.parametrize("ask", LENGTHS.values(), ids=LENGTHS)


@each_distance
def test_a_kernel_of_order_2_has_no_distances(ask):
    with pytest.raises(ValueError, match=r"of order 2, .* no squared distance .*Projected"):
        ask(ThinPlate())


@each_distance
@pytest.mark.parametrize("kernel", [NEARER, 3 * NEARER], ids=["function", "scaled"])
def test_a_negative_square_proves_that_the_kernel_is_none(ask, kernel):
    with pytest.raises(ValueError, match=r"is -.* is not positive semidefinite on these objects"):
        ask(kernel)


def test_a_matrix_is_judged_as_well():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    for ask in (distance, mean_squared_distance, smallest_enclosing_ball):
        with pytest.raises(ValueError, match="is not positive semidefinite"):
            ask(Precomputed(), K)


@each_distance
@pytest.mark.parametrize("kernel", ORDER_1, ids=str)
def test_a_conditionally_definite_kernel_has_distances(ask, kernel):
    ask(kernel)
    K = kernel(X)
    own = np.diagonal(K)
    expected = np.sqrt(np.maximum(own[:, None] - 2 * K + own, 0))
    np.testing.assert_allclose(distance(kernel, X), expected, atol=1e-12)


@each_length
@pytest.mark.parametrize("kernel", [*ORDER_1, ThinPlate()], ids=str)
def test_a_conditionally_definite_kernel_has_no_lengths(ask, kernel):
    with pytest.raises(ValueError, match=r"is no squared length .* use Projected|has no norm"):
        ask(kernel)


def test_the_advice_works():
    kernel = Projected(NegativeDistance()).bind(MANY)
    assert numerical_rank(kernel, MANY) == 60
    assert pivoted_cholesky(kernel, MANY, tol=1e-12).relative_error <= 1e-12


def test_a_cosine_beyond_one_is_none():
    for ask in (cosine, angle):
        with pytest.raises(ValueError, match=r"is 2 times .* x_0 and z_1, and no cosine"):
            ask(NEARER, X)


@pytest.mark.parametrize("kernel", [APART, Precomputed()], ids=["function", "matrix"])
def test_zero_lengths_with_products_have_no_factor(kernel):
    objects = APART(MANY) if kernel.pairwise else MANY
    with pytest.raises(
        ValueError, match=r"k\(x, x\) = 0 for object \d+ .* not positive semidefinite"
    ):
        pivoted_cholesky(kernel, objects)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        numerical_rank(kernel, objects)
    assert pivoted_cholesky(Precomputed(), np.zeros((3, 3))).rank == 0


def test_lengths_along_a_path_are_none_where_the_metric_is_negative():
    kernel = Sigmoid(gamma=1.0, coef0=5.0)
    with pytest.raises(ValueError, match="square of the speed is -"):
        path_length(kernel, X)
    with pytest.raises(ValueError, match="at x_1 the square of the principal stretch 0 is -"):
        volume_element(kernel, X)


def test_an_object_may_stick_out_of_a_span_by_no_negative_square():
    def grows(A, B):  # positive semidefinite on the first two axes only
        return A[:, :2] @ B[:, :2].T - A[:, 2:] @ B[:, 2:].T

    plane = Span(FromFunction(grows), np.eye(3)[:2])
    with pytest.raises(ValueError, match="squared distance of z_1 to the span is -3"):
        plane.distance([[1.0, 2.0, 0.0], [0.0, 0.0, 3**0.5]])


@pytest.mark.filterwarnings("ignore::mercer.kernels.vectors.scale.KernelScaleWarning")
@pytest.mark.parametrize(
    "kernel", [RBF(1e-12), Linear(), Polynomial(5, 1.0, 1.0), FromFunction(lambda A, B: A @ B.T)]
)
def test_rounding_is_still_taken_as_zero(kernel):
    close = 1e4 + 1e-9 * rng.normal(size=(50, 3))
    assert np.isfinite(distance(kernel, close)).all()
    assert np.isfinite(distance_to_mean(kernel, close, close)).all()
    assert mean_squared_distance(kernel, close) >= 0
    assert smallest_enclosing_ball(kernel, close).radius >= 0
    assert (np.abs(cosine(kernel, close)) <= 1 + 1e-9).all()


def test_values_in_float32_are_given_their_rounding():
    def single(A, B):  # all values are 1, and some one unit in the last place larger
        one = np.ones((len(A), len(B)), dtype=np.float32)
        return np.where(A != B.T, np.nextafter(one, np.float32(2)), one)

    kernel = FromFunction(single)
    rows = np.arange(5.0)[:, None]
    squares = np.add.outer(kernel.diag(rows), kernel.diag(rows)) - 2 * kernel(rows)
    assert squares.min() < -1e-7
    assert (distance(kernel, rows) == 0).all()
    assert np.isfinite(angle(kernel, rows)).all()


def test_the_effective_rank_counts_negative_eigenvalues_too():
    report = eigenvalue_report(NegativeDistance(), MANY)
    sizes = np.abs(np.linalg.eigvalsh(NegativeDistance()(MANY)))
    assert report.trace == 0.0
    assert report.n_negative == 1
    assert report.effective_rank == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())
    assert report.leading(0.9) is None
    assert "% in" not in str(report)
    leading = eigenvalue_report(NegativeDistance(), MANY, n_values=5)
    assert np.isnan(leading.effective_rank)
    assert leading.leading(0.9) is None
    assert "effective rank" not in str(leading)
