"""The verdict on a kernel matrix, and its proof."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import inspection
from mercer.inspection import check, definiteness_check, entry_errors
from mercer.inspection.witness import exact_quadratic_form
from mercer.kernels import (
    RBF,
    Definiteness,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from tests.catalogue import catalogue, sample
from tests.inspection.splines import spline_kernel

PD, PSD = Definiteness.POSITIVE_DEFINITE, Definiteness.POSITIVE_SEMIDEFINITE
CPD, INDEFINITE = Definiteness.CONDITIONALLY_POSITIVE_DEFINITE, Definiteness.INDEFINITE
CPD2 = Definiteness.CONDITIONALLY_POSITIVE_DEFINITE_OF_ORDER_2
CHAIN = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])


def cloud(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def sp_dense(X):
    return X.toarray() if sp.issparse(X) else X


def squared_distances(A, B):
    return ((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=-1)


def multiquadric(A, B):
    return -np.sqrt(squared_distances(A, B) + 1.0)


def thin_plate(A, B):
    r2 = squared_distances(A, B)
    return np.where(r2 > 0, 0.5 * r2 * np.log(np.where(r2 > 0, r2, 1.0)), 0.0)


@pytest.mark.spec("CS-3.21")
def test_symmetry_and_cauchy_schwarz_are_not_enough():
    verdict = check(CHAIN)
    assert verdict.symmetric
    assert verdict.cauchy_schwarz
    assert verdict.worst_pair is None
    assert not verdict.is_psd
    assert verdict.smallest_eigenvalue == pytest.approx(1 - np.sqrt(2), abs=1e-14)


@pytest.mark.spec("CS-3.22", "HO-04")
def test_the_witness_is_the_eigenvector_and_is_proved():
    verdict = check(CHAIN)
    c = verdict.witness.vector
    assert np.abs(c) == pytest.approx([0.5, np.sqrt(0.5), 0.5], abs=1e-9)
    assert c[0] * c[1] < 0
    assert verdict.witness.value == pytest.approx(1 - np.sqrt(2), abs=1e-11)
    assert verdict.witness.upper_bound < 0
    assert verdict.witness.proof == "exact arithmetic"
    assert exact_quadratic_form(CHAIN, c) < 0


@pytest.mark.spec("CS-3.23", "LFD-51", "HO-05")
@pytest.mark.parametrize(
    ("kernel", "passes"),
    [
        (RBF(gamma=0.5), True),
        (Laplacian(gamma=0.5), True),
        (FromFunction(lambda A, B: -(A @ B.T)), False),
        (Sigmoid(gamma=1.0, coef0=-1.0), False),
        (FromFunction(lambda A, B: np.exp(-(A @ B.T))), False),
    ],
)
def test_kernels_and_impostors(kernel, passes):
    verdict = check(kernel, cloud(6, 2))
    assert verdict.is_psd is passes
    assert (verdict.witness is None) is passes


@pytest.mark.spec("LFD-51")
def test_the_printed_exponential_of_a_negative_dot_product():
    verdict = check(lambda A, B: np.exp(-(A @ B.T)), np.array([[-1.0], [1.0]]))
    assert verdict.smallest_eigenvalue == pytest.approx(-2.3504, abs=5e-5)
    assert verdict.largest_eigenvalue == pytest.approx(3.0862, abs=5e-5)
    pair = verdict.worst_pair
    assert {pair.i, pair.j} == {0, 1}
    assert abs(pair.value) > pair.limit
    assert pair.minor == pytest.approx(np.exp(-2) - np.exp(2))


@pytest.mark.spec("SM-3.06")
@pytest.mark.parametrize(
    ("order", "smallest", "claim"),
    [
        (0, -2.48, INDEFINITE),
        (1, 5.6e-4, PD),
        (2, -0.101, INDEFINITE),
        (3, 4.6e-8, PD),
        (4, -0.0048, INDEFINITE),
    ],
)
def test_only_splines_of_odd_order_pass(order, smallest, claim):
    grid = np.linspace(0, 20, 201)[:, None]
    if order == 0:  # on the closed interval; grid points lie on the jump
        verdict = check(lambda A, B: np.abs(A - B.T) < 0.5 + 1e-9, grid)
    else:
        verdict = check(spline_kernel(order), grid)
    assert verdict.definiteness is claim
    assert verdict.smallest_eigenvalue == pytest.approx(smallest, rel=0.02)
    assert verdict.is_psd == (order % 2 == 1)


def test_three_answers_for_conditionally_definite_kernels():
    X = cloud(30, 2)
    first = check(multiquadric, X)
    assert (first.definiteness, first.conditional_order) == (CPD, 1)
    assert first.smallest_on_sum_zero > 0
    assert first.conditional_witness is None
    assert first.witness.value < 0
    second = check(thin_plate, X)
    assert (second.definiteness, second.conditional_order) == (CPD2, 2)
    lines = [str(v).splitlines()[0].split(maxsplit=1)[1] for v in (first, second)]
    assert lines[0] == "conditionally positive definite of order 1 on 30 objects"
    assert lines[1] == "conditionally positive definite of order 2 on 30 objects"
    assert second.to_dict()["conditional_order"] == 2
    assert second.smallest_on_linear > 0
    assert second.conditional_witness.vector.sum() == 0.0
    assert second.conditional_witness.order == 1
    neither = check(lambda A, B: -np.exp(-squared_distances(A, B)), X)
    assert (neither.definiteness, neither.conditional_order) == (INDEFINITE, None)
    assert neither.smallest_on_linear < 0


def test_order_two_needs_vectors_and_more_points_than_linear_functions():
    words = [w * k for w in "ab" for k in range(1, 5)]
    verdict = check(lambda A, B: [[-float(len(a) == len(b)) for b in B] for a in A], words)
    assert verdict.definiteness is INDEFINITE
    assert verdict.smallest_on_linear is None
    for points in (cloud(3, 2), cloud(4, 9), sp.csr_array(cloud(4, 9))):
        few = check(FromFunction(lambda A, B: thin_plate(sp_dense(A), sp_dense(B))), points)
        assert few.smallest_on_linear is None
        assert few.conditional_order is None


def test_a_small_pair_is_not_lost_among_many_large_objects():
    K = np.eye(300)
    K[7, 7] = K[9, 9] = 1e-13
    K[7, 9] = K[9, 7] = 3e-13  # beyond the error of an entry, not beyond 300 of them
    verdict = check(K)
    assert -verdict.tolerance < verdict.smallest_eigenvalue < 0
    assert not verdict.is_psd
    assert verdict.witness.support.tolist() == [7, 9]
    assert {verdict.worst_pair.i, verdict.worst_pair.j} == {7, 9}
    assert verdict.conditional_witness.support.tolist() == [7, 9]
    assert verdict.conditional_order is None


def test_a_single_object_of_negative_length():
    verdict = check([[-1.0]])
    assert verdict.conditional_order == 1
    assert verdict.witness.vector == pytest.approx([1.0])
    assert verdict.worst_pair.i == verdict.worst_pair.j == 0


def test_duplicates_make_a_definite_kernel_semidefinite():
    X = np.repeat(cloud(4, 2), 2, axis=0)
    assert check(RBF(1.0), cloud(4, 2)).definiteness is PD
    assert check(RBF(1.0), X).definiteness is PSD


def test_the_claim_of_a_kernel_is_put_to_the_test():
    X = cloud(5, 2)
    liar = FromFunction(lambda A, B: -(A @ B.T), definiteness="positive semidefinite")
    assert check(liar, X).contradicts_claim
    assert not check(Sigmoid(1.0), X).contradicts_claim
    assert not check(RBF(1.0), X).contradicts_claim
    conditional = FromFunction(multiquadric, definiteness="conditionally positive definite")
    assert not check(conditional, X).contradicts_claim
    worse = FromFunction(
        lambda A, B: -np.exp(-squared_distances(A, B)),
        definiteness="conditionally positive definite",
    )
    assert check(worse, X).contradicts_claim
    plate = FromFunction(thin_plate, definiteness="conditionally positive definite")
    assert check(plate, cloud(9, 2)).conditional_order == 2  # more than it claims
    assert check(plate, cloud(9, 2)).contradicts_claim
    honest = FromFunction(thin_plate, definiteness=CPD2)
    assert not check(honest, cloud(9, 2)).contradicts_claim
    # Three points of a plane admit no vector that a claim of order 2 speaks of.
    assert check(honest, cloud(3, 2)).definiteness is INDEFINITE
    assert not check(honest, cloud(3, 2)).contradicts_claim
    far = FromFunction(lambda A, B: -np.exp(-squared_distances(A, B)), definiteness=CPD2)
    assert check(far, cloud(9, 2)).contradicts_claim
    lopsided = FromFunction(lambda A, B: A @ B.T + A[:, :1], definiteness="positive definite")
    assert check(lopsided, X).contradicts_claim
    assert check(CHAIN).claim is None
    assert not check(CHAIN).contradicts_claim


@pytest.mark.parametrize(
    "example", [e for e in catalogue() if e.objects != "matrix"], ids=lambda e: repr(e.kernel)
)
def test_no_kernel_of_the_library_contradicts_itself(example):
    X = sample(example.objects, 24, np.random.default_rng(5))
    verdict = check(example.kernel, X)
    assert not verdict.contradicts_claim
    if example.kernel.definiteness is CPD2:
        assert verdict.definiteness is CPD2  # and no better


def test_an_asymmetric_matrix_gets_a_verdict_with_the_pair():
    K = np.eye(4)
    K[1, 3] = 0.25
    verdict = check(K)
    assert not verdict.symmetric
    assert not verdict.is_psd
    assert verdict.definiteness is PD  # of the symmetric part
    assert sorted((verdict.asymmetry.i, verdict.asymmetry.j)) == [1, 3]
    assert sorted((verdict.asymmetry.value, verdict.asymmetry.mirrored)) == [0.0, 0.25]
    assert "no: k(x1, x3) = 0.25 but k(x3, x1) = 0" in str(verdict)


def test_noise_of_single_precision_is_no_failure():
    K = RBF(0.1)(cloud(40, 2)).astype(np.float32)
    assert np.linalg.eigvalsh(K.astype(float))[0] < -1e-9  # looks indefinite
    verdict = check(K)
    assert verdict.is_psd
    assert verdict.entry_error == pytest.approx(16 * np.finfo(np.float32).eps, rel=1e-6)
    strict = check(K.astype(float), value_error=0.0)
    assert not strict.is_psd
    assert strict.witness.value < 0


def test_a_kernel_may_state_the_error_of_its_values():
    class Rough(FromFunction):
        value_error = 1e-3

    def bent(A, B):  # indefinite by less than a thousandth
        return np.exp(-squared_distances(A, B)) - 1e-4 * (np.abs(A[:, :1] - B[:, 0]) == 1)

    singular = np.array([[0.0], [1e-9], [1.0]])
    assert not check(bent, singular).is_psd
    assert check(Rough(bent), singular).is_psd
    assert check(2 * Rough(bent) + Linear(), singular).entry_error == pytest.approx(3e-3, rel=0.1)


def test_value_error_hides_what_it_could_explain():
    assert not check(CHAIN).is_psd
    assert check(CHAIN, value_error=0.2).is_psd  # 3 * 0.2 exceeds 0.414


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (np.ones((2, 3)), ValueError, r"square; got an array of shape \(2, 3\)"),
        (np.ones(3), ValueError, "square"),
        (np.ones((0, 0)), ValueError, "empty"),
        ([[1.0, np.nan], [np.nan, 1.0]], ValueError, r"K\[0, 1\] is nan"),
        ([[1.0, 0.0], [0.0, np.inf]], ValueError, r"K\[1, 1\] is inf"),
        ({"rbf"}, TypeError, "a kernel, a function of two collections or a square matrix"),
        ("rbf", TypeError, "a kernel is asked about objects"),  # the name of a kernel
    ],
)
def test_what_is_no_matrix_is_refused(matrix, error, message):
    with pytest.raises(error, match=message):
        check(matrix)


def test_a_kernel_needs_objects_and_a_matrix_does_not():
    with pytest.raises(TypeError, match="pass them as X"):
        check(RBF(1.0))
    with pytest.raises(TypeError, match="together with a matrix"):
        check(np.eye(2), [[1.0], [2.0]])
    with pytest.raises(ValueError, match="value_error"):
        check(np.eye(2), value_error=-1.0)


def test_values_that_overflow_are_named():
    with pytest.raises(ValueError, match="finite"):
        check(Polynomial(degree=9, gamma=1.0), [[1e40], [1.0]])


def test_sparse_frames_and_precomputed_input():
    X = cloud(8, 3)
    dense = check(RBF(0.5), X).smallest_eigenvalue
    assert check(RBF(0.5), sp.csr_array(X)).smallest_eigenvalue == pytest.approx(dense)
    assert check(Precomputed(), RBF(0.5)(X)).smallest_eigenvalue == pytest.approx(dense)
    assert check(RBF("scale"), X).n == 8
    assert check(sp.csr_array(np.eye(3))).definiteness is PD


def test_the_verdict_prints_and_becomes_a_dict():
    verdict = check(Sigmoid(1.0, -1.0), cloud(5, 2))
    lines = str(verdict).splitlines()
    assert lines[0].startswith("definiteness")
    assert any(line.startswith("witness") for line in lines)
    assert lines[-1].split(maxsplit=3)[-1] == "indefinite"
    fields = verdict.to_dict()
    assert fields["definiteness"] == "indefinite"
    assert fields["claim"] == "indefinite"
    assert len(fields["witness"]["vector"]) == 5
    assert fields["witness"]["value"] < 0
    assert check(np.eye(2)).to_dict()["witness"] is None


@pytest.mark.parametrize("n_features", [1, 3, 200])
def test_kernel_values_are_as_accurate_as_the_tolerance_assumes(n_features):
    X = cloud(30, n_features) / np.sqrt(n_features)
    Y = X.astype(np.longdouble)
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("this platform has no wider type to compare with")
    squares = ((Y[:, None] - Y[None]) ** 2).sum(axis=-1)
    dots = (Y[:, None] * Y[None]).sum(axis=-1)
    reference = {
        RBF(gamma=2.0): np.exp(-2 * squares),
        Laplacian(gamma=0.5): np.exp(-np.abs(Y[:, None] - Y[None]).sum(axis=-1) / 2),
        Linear(): dots,
        Polynomial(degree=5, gamma=1.0, coef0=1.0): (dots + 1) ** 5,
        Sigmoid(gamma=1.0): np.tanh(dots),
    }
    for kernel, exact in reference.items():
        error = np.abs(kernel(X) - exact).max() / np.abs(exact).max()
        assert error < entry_errors.ASSUMED / 2 * np.finfo(float).eps, kernel


# -- many objects ---------------------------------------------------------------------------


@pytest.fixture
def small_limit(monkeypatch):
    """Treat fifty objects as many."""
    monkeypatch.setattr(definiteness_check, "DENSE", 50)
    monkeypatch.setattr(definiteness_check, "SUPPORT", 40)
    monkeypatch.setattr(inspection.matrix_source, "_BLOCK", 70 * 16)


@pytest.mark.parametrize(
    ("kernel", "order"),
    [
        (Sigmoid(1.0), None),
        (multiquadric, 1),
        (Polynomial(2, 1.0, -1.0), 2),  # (x.z)^2 - 2 x.z + 1: only linear functions are negative
    ],
)
def test_many_objects_are_examined_through_products(small_limit, kernel, order):
    X = cloud(70, 2)
    verdict = check(kernel, X)
    assert not verdict.exhaustive
    K = kernel(X, X)
    values = np.linalg.eigvalsh(K)
    assert verdict.smallest_eigenvalue == pytest.approx(values[0], rel=0.02)
    assert verdict.largest_eigenvalue == pytest.approx(values[-1], rel=0.02)
    c = verdict.witness.vector
    assert len(c) == 70
    assert len(verdict.witness.support) <= 40
    assert float(exact_quadratic_form((K + K.T) / 2, c)) == pytest.approx(verdict.witness.value)
    assert verdict.witness.value < 0
    assert verdict.conditional_order == order


def test_many_objects_of_a_kernel_pass_with_a_reservation(small_limit):
    verdict = check(RBF(1.0), cloud(70, 2))
    assert verdict.definiteness is PSD
    assert "as far as Lanczos' method sees" in str(verdict)


def test_asymmetry_is_found_across_blocks(small_limit):
    X = np.arange(70.0)[:, None]
    kernel = FromFunction(lambda A, B: np.minimum(A, B.T) + (A == 3) * (B.T == 65))
    verdict = check(kernel, X)
    assert not verdict.symmetric
    assert sorted((verdict.asymmetry.i, verdict.asymmetry.j)) == [3, 65]
    matrix = kernel(X)
    assert sorted((check(matrix).asymmetry.i, check(matrix).asymmetry.j)) == [3, 65]


# -- properties -----------------------------------------------------------------------------

numbers = st.integers(-8, 8).map(float)
squares = st.integers(1, 6).flatmap(lambda n: arrays(np.float64, (n, n), elements=numbers))


@given(squares)
def test_dot_products_always_pass(A):
    verdict = check(A @ A.T)
    assert verdict.is_psd
    assert verdict.cauchy_schwarz
    assert verdict.conditional_order == 0


@given(squares)
def test_a_witness_is_negative_without_rounding(A):
    K = A + A.T
    verdict = check(K)
    if verdict.witness is None:
        assert np.linalg.eigvalsh(K)[0] > -1e-8
    else:
        assert exact_quadratic_form(K, verdict.witness.vector) < 0
    if verdict.conditional_witness is not None:
        c = verdict.conditional_witness.vector
        assert sum(map(int, np.ldexp(c, 40))) == 0
        assert exact_quadratic_form(K, c) < 0


@given(squares, st.integers(-60, 60), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_scale_and_order_do_not_matter(A, exponent, random):
    K = A + A.T
    order = list(range(len(K)))
    random.shuffle(order)
    moved = np.ldexp(K[np.ix_(order, order)], exponent)
    first, second = check(K), check(moved)
    assert first.definiteness is second.definiteness
    assert first.conditional_order == second.conditional_order


@given(squares)
def test_a_broken_pair_is_a_failure(A):
    verdict = check(A + A.T)
    if not verdict.cauchy_schwarz:
        assert not verdict.is_psd
        pair = verdict.worst_pair
        assert pair.minor < 0


@given(squares, arrays(np.float64, 6, elements=st.floats(-1e3, 1e3)))
def test_the_exact_form_agrees_with_floating_point(A, c):
    c = c[: len(A)]
    size = np.abs(c) @ np.abs(A) @ np.abs(c)
    assert float(exact_quadratic_form(A, c)) == pytest.approx(c @ A @ c, abs=1e-12 * size + 1e-300)
