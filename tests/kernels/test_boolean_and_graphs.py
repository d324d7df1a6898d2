"""Kernels on Boolean vectors and on the nodes of a graph."""

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm
from sklearn.base import clone

from mercer import SVC
from mercer.kernels import Boolean, Diffusion, SetPower
from tests.kernels.agreement import agrees
from tests.kernels.set_definitions import boolean

CUBE = np.array(list(product([0, 1], repeat=3)))


@pytest.mark.spec("HO-08")
@pytest.mark.parametrize("monotone", [True, False])
@settings(max_examples=25, deadline=None)
@given(X=st.integers(1, 6).flatmap(lambda n: arrays(np.int8, (n, 4), elements=st.integers(0, 1))))
def test_conjunctions_satisfied_by_both_are_counted(monotone, X):
    agrees(Boolean(monotone), X.tolist(), lambda x, z: boolean(x, z, monotone))
    np.testing.assert_array_equal(Boolean(monotone)(sp.csr_array(X)), Boolean(monotone)(X))


@pytest.mark.spec("HO-08")
def test_definiteness_over_the_whole_cube():
    assert Boolean(monotone=False).definiteness == "positive definite"
    assert np.linalg.eigvalsh(Boolean(monotone=False)(CUBE))[0] == pytest.approx(1.0)
    assert Boolean().definiteness == "positive semidefinite"
    assert Boolean()(CUBE)[0, 0] == 0
    assert np.linalg.eigvalsh(Boolean()(CUBE)[1:, 1:])[0] > 0.05
    np.testing.assert_allclose(
        Boolean()(CUBE) + 1, SetPower()([set(np.flatnonzero(x)) for x in CUBE]), rtol=1e-14
    )


@pytest.mark.parametrize("monotone", [True, False])
def test_a_machine_refuses_other_numbers(monotone):
    model = SVC(kernel=Boolean(monotone)).fit(CUBE, CUBE[:, 0])
    with pytest.raises(ValueError, match="rows of 0 and 1"):
        model.predict(CUBE + 0.5)
    with pytest.raises(ValueError, match="rows of 0 and 1"):
        SVC(kernel=Boolean(monotone)).fit(2 * CUBE, CUBE[:, 0])
    sparse = SVC(kernel=Boolean(monotone)).fit(sp.csr_array(CUBE), CUBE[:, 0])
    np.testing.assert_array_equal(
        sparse.decision_function(sp.csr_array(CUBE)), model.decision_function(CUBE)
    )


def test_a_machine_learns_a_normal_form():
    X = np.array(list(product([0, 1], repeat=5)))
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3] & 1)
    model = SVC(kernel=Boolean(monotone=False), C=1e4).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.certificate_.status == "optimal"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Boolean()([[0, 2]]), ValueError, "rows of 0 and 1"),
        (lambda: Boolean()(sp.csr_array([[0.5]])), ValueError, "rows of 0 and 1"),
        (lambda: Boolean()(["01"]), ValueError, "defined on real vectors"),
        (
            lambda: Boolean()([[0, 1]], [[1]]),
            ValueError,
            "2 features, but Boolean compares it with",
        ),
        (lambda: Boolean()(np.ones((1, 2000))), ValueError, "larger than a float can hold"),
        (lambda: Boolean("yes"), TypeError, "monotone must be True or False"),
    ],
)
def test_what_is_not_boolean_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -------------------------------------------------------------------------- graphs


@pytest.mark.spec("HO-08")
def test_heat_between_two_nodes():
    for beta in (0.0, 0.3, 2.0):
        e = np.exp(-2 * beta)
        expected = np.array([[1 + e, 1 - e], [1 - e, 1 + e]]) / 2
        np.testing.assert_allclose(Diffusion([[0, 1], [1, 0]], beta)([0, 1]), expected, atol=1e-15)


@pytest.mark.spec("HO-08")
@settings(max_examples=25, deadline=None)
@given(arrays(float, (5, 5), elements=st.integers(0, 3)), st.floats(0, 2))
def test_the_exponential_of_the_laplacian(W, beta):
    W = W + W.T
    laplacian = np.diag((W - np.diag(np.diag(W))).sum(axis=1)) - W + np.diag(np.diag(W))
    K = expm(-beta * laplacian)
    agrees(
        Diffusion(W, beta, nodes="abcde"),
        list("edcba"),
        lambda x, z: K["abcde".index(x), "abcde".index(z)],
        rtol=1e-9,
    )


def test_a_machine_on_the_nodes_of_a_graph():
    # Two rings of six nodes, joined by one edge; three nodes of each are labelled.
    W = np.zeros((12, 12))
    for ring in (0, 6):
        for i in range(6):
            W[ring + i, ring + (i + 1) % 6] = W[ring + (i + 1) % 6, ring + i] = 1
    W[0, 6] = W[6, 0] = 1
    model = SVC(kernel=Diffusion(sp.csr_array(W), beta=2.0)).fit(
        [1, 3, 5, 7, 9, 11], [0] * 3 + [1] * 3
    )
    np.testing.assert_array_equal(model.predict(list(range(12))), [0] * 6 + [1] * 6)
    both = model.kernel + Diffusion(sp.csr_array(W), beta=1.0)  # two graphs in one program
    np.testing.assert_allclose(both([0, 1]), model.kernel([0, 1]) + Diffusion(W)([0, 1]))
    for copy in (clone(model.kernel), pickle.loads(pickle.dumps(model.kernel_))):
        assert copy == model.kernel
        assert copy != Diffusion(W, beta=1.0)
        np.testing.assert_array_equal(copy([0, 1]), model.kernel_([0, 1]))
    kernel = Diffusion(W, beta=1.0)
    before = kernel([0, 1])
    np.testing.assert_allclose(kernel.set_params(beta=0.0)([0, 1]), np.eye(2), atol=1e-14)
    np.testing.assert_array_equal(kernel.set_params(beta=1.0)([0, 1]), before)
    features = kernel.feature_map([0, 1, 7])
    np.testing.assert_allclose(features @ features.T, kernel([0, 1, 7]), atol=1e-14)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Diffusion(np.ones((2, 3))), ValueError, "square matrix"),
        (lambda: Diffusion(np.ones(3)), ValueError, "square matrix"),
        (lambda: Diffusion([[0, 1], [2, 0]]), ValueError, "symmetric"),
        (lambda: Diffusion([[0, -1], [-1, 0]]), ValueError, "non-negative"),
        (lambda: Diffusion([[0, np.inf], [np.inf, 0]]), ValueError, "finite"),
        (lambda: Diffusion(np.eye(2), beta=-1), ValueError, "beta"),
        (lambda: Diffusion(np.eye(2), nodes="abc"), ValueError, "3 names for 2 nodes"),
        (lambda: Diffusion(np.eye(2), nodes="aa"), ValueError, "every node once"),
        (lambda: Diffusion(np.eye(2))([0, 2]), ValueError, "object 1, 2, is no node"),
        (lambda: Diffusion(np.eye(2))([[0]]), ValueError, r"object 0, \[0\], is no node"),
        (lambda: Diffusion(np.eye(2))([]), ValueError, "got no objects"),
    ],
)
def test_what_is_no_graph_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
