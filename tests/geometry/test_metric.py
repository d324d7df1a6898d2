"""The Riemannian metric that a kernel induces."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from mercer.geometry import NotSmoothError, distance, metric_tensor, path_length, volume_element
from mercer.gram import Table
from mercer.gram.jets import mixed_derivatives
from mercer.gram.program import Builder, Leaf
from mercer.kernels import (
    RBF,
    FromFeatureMap,
    FromFunction,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Sigmoid,
    exp,
    normalize,
    polynomial,
)
from tests.kernels import strategies

rng = np.random.default_rng(11)
X = rng.normal(size=(6, 3))
EYE = np.eye(3)


@pytest.mark.spec("CS-3.46")
def test_the_metrics_known_in_closed_form():
    outer = X[:, :, None] * X[:, None, :]
    squares = (X**2).sum(axis=1)[:, None, None]
    np.testing.assert_allclose(metric_tensor(Linear(), X), np.broadcast_to(EYE, (6, 3, 3)))
    sigma = 1.5  # exp(-|x - z|^2 / sigma^2) has the metric 2 / sigma^2
    gaussian = metric_tensor(RBF(1 / sigma**2), X)
    np.testing.assert_allclose(gaussian, np.broadcast_to(2 / sigma**2 * EYE, (6, 3, 3)))
    np.testing.assert_allclose(
        metric_tensor(Polynomial(2, 1.0, 0.0), X), 2 * squares * EYE + 2 * outer, rtol=1e-12
    )
    d, c = 4, 0.7
    A = squares + c
    np.testing.assert_allclose(
        metric_tensor(Polynomial(d, 1.0, c), X),
        d * A ** (d - 1) * EYE + d * (d - 1) * A ** (d - 2) * outer,
        rtol=1e-12,
    )


def by_differences(kernel, x, h=1e-3):
    """Return g_ij = d^2 k(x, z) / dx_i dz_j at z = x by central differences."""
    d = len(x)
    steps = h * np.eye(d)
    points = np.vstack([x + steps, x - steps])
    K = kernel(points, points)
    pp, pm, mp, mm = K[:d, :d], K[:d, d:], K[d:, :d], K[d:, d:]
    return (pp - pm - mp + mm) / (4 * h * h)


@pytest.mark.spec("CS-3.46")
@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.3) * Polynomial(2, 0.5, 1.0) + 0.5 * Linear(),
        exp(0.3 * Linear()),
        normalize(Polynomial(3, 0.5, 1.0)),
        normalize(exp(0.5 * Linear())),
        polynomial(RBF(0.2), [0.5, 1.0, 2.0]),
        RBF(0.4).on_columns([0, 2]) + Linear().on_columns([1]) ** 2,
        (RBF(0.4).on_columns([1, 0]) * Linear()).on_columns([2, 0, 1]),
        Sigmoid(0.3, -0.5),
        Polynomial(0, 1.0, 1.0),
    ],
    ids=repr,
)
def test_compositions_agree_with_differences(kernel):
    for x, g in zip(X, metric_tensor(kernel, X), strict=True):
        np.testing.assert_allclose(g, by_differences(kernel, x), rtol=2e-4, atol=2e-5)
        np.testing.assert_allclose(g, g.T, atol=1e-12)


@pytest.mark.spec("CS-3.46")
def test_normalised_linear_kernel_is_the_sphere():
    # Moving along x changes nothing; across, the angle changes by |dx| / |x|.
    x = np.array([[3.0, 4.0]])
    g = metric_tensor(normalize(Linear()), x)[0]
    np.testing.assert_allclose(g @ x[0], 0, atol=1e-15)
    assert g @ [4, -3] @ [4, -3] / 25 == pytest.approx(1 / 25, rel=1e-12)
    np.testing.assert_array_equal(metric_tensor(normalize(Linear()), [[0.0, 0.0]]), 0)


@given(strategies.kernels, strategies.vectors())
@settings(max_examples=50, deadline=None)
def test_the_metric_is_positive_semidefinite_and_measures_small_steps(kernel, A):
    try:
        G = metric_tensor(kernel, A)
    except NotSmoothError:
        assert re.search(r"Laplacian|Exponential\(|Matern\(nu=0.5", repr(kernel))
        return
    scale = np.abs(G).max() + 1e-300
    assert np.linalg.eigvalsh(G).min() >= -1e-9 * scale - 1e-12


@pytest.mark.parametrize("nu", [1.2, 1.5, 1.7, 2.5, 4.0, 12.0])
def test_the_metric_of_matern_kernels_is_continuous_in_nu(nu):
    # k = 1 - nu / (nu - 1) r^2 / (2 l^2) + ..., hence G = nu / (nu - 1) / l^2.
    G = metric_tensor(Matern(nu, 0.5), [[0.3, -2.0]])[0]
    np.testing.assert_allclose(G, nu / (nu - 1) / 0.25 * np.eye(2), rtol=1e-12)


@pytest.mark.parametrize("nu", [0.3, 0.5, 0.8, 1.0])
def test_rough_matern_kernels_have_no_metric(nu):
    with pytest.raises(NotSmoothError):
        metric_tensor(Matern(nu), [[0.0]])


@pytest.mark.spec("CS-3.46", "CS-3.54")
def test_a_small_step():
    # sigma^2 = 2.25: exp(-|x - z|^2 / 2.25)
    kernel, dx = RBF(1 / 2.25), np.array([0.01, 0.02])
    step = distance(kernel, [[0.5, 0.5]], [[0.51, 0.52]])[0, 0] ** 2
    assert step == pytest.approx(4.44395e-4, rel=1e-5)
    assert dx @ metric_tensor(kernel, [[0.5, 0.5]])[0] @ dx == pytest.approx(4.44444e-4, rel=1e-5)


@pytest.mark.spec("CS-3.54")
def test_the_length_of_a_path_is_at_least_its_chord():
    kernel, ends = RBF(1 / 2.25), np.array([[0.0, 1.0], [2.0, -1.0]])
    straight = path_length(kernel, ends)
    assert straight == pytest.approx(np.sqrt(2 / 2.25) * np.sqrt(8), rel=1e-12)
    assert straight > distance(kernel, ends[:1], ends[1:])[0, 0]
    detour = path_length(kernel, [ends[0], [2.0, 1.0], ends[1]])
    assert detour > straight
    # A curve of many short chords has the sum of the chords as its length.
    fine = np.linspace(ends[0], ends[1], 2001)
    chords = np.sqrt(np.maximum(2 - 2 * np.exp(-((np.diff(fine, axis=0) ** 2).sum(1)) / 2.25), 0))
    assert chords.sum() == pytest.approx(straight, rel=1e-5)


@pytest.mark.spec("CS-3.54")
def test_the_length_in_a_quadratic_feature_space():
    # k = x^2 z^2 maps x to x^2, so the path from 1 to 3 has length 9 - 1.
    assert path_length(Polynomial(2, 1.0), [[1.0], [3.0]]) == pytest.approx(8, rel=1e-12)
    assert path_length(Polynomial(2, 1.0), [[-1.0], [0.0], [1.0]]) == pytest.approx(2, rel=1e-12)


def test_volumes():
    np.testing.assert_allclose(volume_element(RBF(0.5), X), 1.0)
    np.testing.assert_allclose(
        volume_element(Polynomial(2, 1.0, 0.0), X[:, :1]), 2 * np.abs(X[:, 0]), rtol=1e-12
    )
    np.testing.assert_allclose(
        volume_element(RBF(0.5), sp.csr_matrix(X)), volume_element(RBF(0.5), X)
    )


class OfPrograms:
    """A kernel that is a list of instructions, for operations no kernel uses yet."""

    def __init__(self, *code):
        self.code = code

    def metric(self, X):
        builder = Builder()
        for name, *arguments in self.code:
            if name == "leaf":  # of any statistic
                leaves, code = builder.program.leaves, builder.program.code
                leaves.append(Leaf(*arguments))
                code.append((name, len(leaves) - 1))
            elif hasattr(builder, name):
                getattr(builder, name)(*arguments)
            else:
                builder.program.code.append((name, *arguments))
        directions = np.broadcast_to(np.eye(X.shape[1]), (*X.shape, X.shape[1]))
        return mixed_derivatives(builder.program, X, directions)


def test_kinks_cancel_where_a_kernel_is_smooth():
    root3 = np.sqrt(3.0)
    matern = OfPrograms(  # (1 + r) exp(-r), r = sqrt(3) |x - z|
        ("leaf", "sqdist"), ("sqrt",), ("affine", -root3, 0.0), ("exp",),
        ("leaf", "sqdist"), ("sqrt",), ("affine", root3, 1.0), ("mul",),
    )  # fmt: skip
    # Its profile is 1 - 3 |x - z|^2 / 2 + ..., so the metric is 3 I.
    np.testing.assert_allclose(matern.metric(X), np.broadcast_to(3 * EYE, (6, 3, 3)), rtol=1e-12)
    squared = OfPrograms(("leaf", "sqdist"), ("sqrt",), ("powi", 2), ("affine", -1.0, 1.0))
    np.testing.assert_allclose(squared.metric(X), np.broadcast_to(2 * EYE, (6, 3, 3)), rtol=1e-12)
    doubled = OfPrograms(("leaf", "sqdist"), ("sqrt",), ("dup",), ("mul",), ("affine", -1.0, 1.0))
    np.testing.assert_allclose(doubled.metric(X), squared.metric(X), rtol=1e-12)


def test_rational_powers_logarithms_and_cosines():
    rational = OfPrograms(("leaf", "sqdist"), ("affine", 0.5, 1.0), ("power", -2.0))
    np.testing.assert_allclose(rational.metric(X), np.broadcast_to(2 * EYE, (6, 3, 3)))
    oscillator = OfPrograms(("leaf", "sqdist"), ("affine", 3.0, 2.0), ("reciprocal",))
    np.testing.assert_allclose(oscillator.metric(X), np.broadcast_to(1.5 * EYE, (6, 3, 3)))
    cosine = OfPrograms(("leaf", "sqdist"), ("sqrt",), ("cos",))
    np.testing.assert_allclose(cosine.metric(X[:, :1]), np.ones((6, 1, 1)), rtol=1e-12)
    log = OfPrograms(("leaf", "sqdist"), ("affine", 1.0, 2.0), ("log",), ("affine", -1.0, 5.0))
    np.testing.assert_allclose(log.metric(X), np.broadcast_to(EYE, (6, 3, 3)))
    quartic = OfPrograms(("leaf", "sqdist"), ("power", 2.0), ("affine", -1.0, 1.0))
    np.testing.assert_array_equal(quartic.metric(X), 0)


def test_polynomials_exchanges_and_diagonals():
    by_polynomial = OfPrograms(("leaf", "dot"), ("polynomial", [1.0, 0.5, 2.0]))
    np.testing.assert_allclose(
        by_polynomial.metric(X), metric_tensor(polynomial(Linear(), [1.0, 0.5, 2.0]), X), rtol=1e-12
    )
    # A Gaussian over the feature space of a kernel: exp(-|phi(x) - phi(z)|^2), metric 2 g.
    inner = Polynomial(2, 0.5, 1.0)
    over = OfPrograms(
        ("leaf", "dot"), ("affine", 0.5, 1.0), ("powi", 2), ("affine", -2.0, 0.0),
        ("add_diagonal", inner), ("affine", -1.0, 0.0), ("exp",),
    )  # fmt: skip
    np.testing.assert_allclose(over.metric(X), 2 * metric_tensor(inner, X), rtol=1e-10, atol=1e-12)
    swapped = OfPrograms(("leaf", "dot"), ("const", 3.0), ("swap",), ("powi", 2), ("mul",))
    np.testing.assert_allclose(
        swapped.metric(X), metric_tensor(3 * Polynomial(2, 1.0), X), rtol=1e-12
    )
    with pytest.raises(NotImplementedError, match="not known"):
        OfPrograms(("leaf", "dot"), ("add_diagonal", object())).metric(X)


def test_what_has_no_metric():
    for kernel in (Laplacian(1.0), RBF(1.0) * Laplacian(0.5).on_columns([0])):
        with pytest.raises(NotSmoothError, match="kink where"):
            metric_tensor(kernel, X)
    with pytest.raises(NotSmoothError, match="kink where"):
        OfPrograms(("leaf", "sqdist"), ("sqrt",), ("affine", -1.0, 0.0), ("exp",)).metric(X)
    with pytest.raises(NotSmoothError, match="kink where"):
        metric_tensor(Laplacian(1.0) ** 2, X)
    with pytest.raises(NotSmoothError, match="multiplies distances"):
        OfPrograms(("leaf", "l1"), ("powi", 2)).metric(X)
    with pytest.raises(NotSmoothError, match="multiplies distances"):
        OfPrograms(("leaf", "l1"), ("leaf", "sqdist"), ("sqrt",), ("mul",)).metric(X)
    with pytest.raises(NotSmoothError, match="logarithm of 0"):
        OfPrograms(("leaf", "sqdist"), ("log",)).metric(X)
    with pytest.raises(NotSmoothError, match="divides by 0"):
        OfPrograms(("leaf", "sqdist"), ("reciprocal",)).metric(X)
    with pytest.raises(NotSmoothError, match=r"power 0\.7 of 0"):
        OfPrograms(("leaf", "sqdist"), ("power", 0.7)).metric(X)
    for kernel in (FromFunction(lambda A, B: A @ B.T), FromFeatureMap(np.asarray)):
        with pytest.raises(NotImplementedError, match="not known"):
            metric_tensor(kernel, X)
    with pytest.raises(NotImplementedError, match="operation 'bessel'"):
        OfPrograms(("leaf", "dot"), ("bessel",)).metric(X)
    with pytest.raises(NotImplementedError, match="statistic 'hamming'"):
        OfPrograms(
            ("leaf", "hamming"),
        ).metric(X)
    with pytest.raises(NotImplementedError, match="interpolation"):
        OfPrograms(("leaf", "sqdist"), ("table", Table.fit(np.cos, 1.0, grid="even"))).metric(X)
    with pytest.raises(ValueError, match="no input space"):
        metric_tensor(Precomputed(), np.eye(2))
    with pytest.raises(ValueError, match="bind it first"):
        metric_tensor(RBF(), X)
    with pytest.raises(ValueError, match="negative"):
        metric_tensor(normalize(Polynomial(1, 1.0, -50.0)), X)
    with pytest.raises(ValueError, match="two points"):
        path_length(RBF(1.0), X[:1])
    with pytest.raises(ValueError, match="n_nodes"):
        path_length(RBF(1.0), X, n_nodes=0)
