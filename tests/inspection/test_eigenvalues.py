"""The eigenvalue report and features from a matrix alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.inspection import eigenvalue_report, eigenvalues, embed
from mercer.kernels import RBF, Linear, Polynomial, Sigmoid

numbers = st.integers(-16, 16).map(lambda k: k / 4)
features = st.tuples(st.integers(1, 7), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=numbers)
)


def cloud(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.spec("HO-14")
def test_eigenvalues_of_the_slide():
    K = [[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]]
    report = eigenvalue_report(K)
    root = np.sqrt(19)
    assert report.eigenvalues == pytest.approx([5 + root, 5, 2, 1, 5 - root])
    assert report.trace == 18
    assert (report.rank, report.n_negative) == (5, 0)
    assert report.condition == pytest.approx((5 + root) / (5 - root))
    assert report.effective_rank == pytest.approx(18**2 / 118)


def test_rank_counts_the_features():
    X = cloud(30, 2)
    assert eigenvalue_report(Linear(), X).rank == 2
    assert eigenvalue_report(Polynomial(3, 1.0, 1.0), X).rank == 10
    assert eigenvalue_report(RBF(1.0), X[:12]).rank == 12
    singular = eigenvalue_report(Linear(), X)
    assert singular.condition == np.inf


def test_effective_rank_lies_between_alike_and_orthogonal():
    assert eigenvalue_report(np.ones((6, 6))).effective_rank == pytest.approx(1)
    assert eigenvalue_report(np.eye(6)).effective_rank == pytest.approx(6)
    assert eigenvalue_report(np.zeros((2, 2))).effective_rank == 0


def test_shares_of_the_trace():
    report = eigenvalue_report(np.diag([6.0, 3.0, 1.0]))
    assert [report.leading(share) for share in (0.0, 0.6, 0.61, 0.9, 1.0)] == [1, 1, 2, 2, 3]
    with pytest.raises(ValueError, match="between 0 and 1"):
        report.leading(1.5)


def test_negative_eigenvalues_are_counted():
    X = cloud(12, 2)
    report = eigenvalue_report(Sigmoid(1.0, -1.0), X)
    assert report.n_negative == (np.linalg.eigvalsh(Sigmoid(1.0, -1.0)(X)) < -1e-12).sum() > 0


def test_leading_eigenvalues_of_many_objects_without_the_matrix(monkeypatch):
    monkeypatch.setattr(eigenvalues, "DENSE", 40)
    monkeypatch.setattr(eigenvalues, "LEADING", 6)
    X = cloud(60, 2)
    report = eigenvalue_report(RBF(0.5), X)
    assert not report.exhaustive
    assert report.rank is None
    assert report.condition is None
    full = np.linalg.eigvalsh(RBF(0.5)(X))[::-1]
    assert report.eigenvalues == pytest.approx(full[:6], rel=1e-8)
    assert report.effective_rank == pytest.approx(60**2 / (full**2).sum())
    assert report.leading(0.9999999) is None
    assert "6 of 60 computed" in str(report)
    assert eigenvalue_report(RBF(0.5), X, n_values=3).eigenvalues == pytest.approx(full[:3])


def test_the_report_prints_and_becomes_a_dict():
    report = eigenvalue_report(np.diag([4.0, 1.0]))
    assert report.to_dict()["eigenvalues"] == [4.0, 1.0]
    assert str(report).splitlines() == [
        "eigenvalues     4, 1 (2 of 2 computed)",
        "trace           5; 90% in 2, 99% in 2, 99.9% in 2",
        "effective rank  1.471 of 2",
        "rank            2 (zero up to 3.3e-14)",
        "negative        0",
        "condition       4",
    ]


@pytest.mark.spec("HO-04", "CS-3.22")
def test_any_semidefinite_matrix_is_a_gram_matrix():
    K = np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
    assert eigenvalue_report(K).eigenvalues == pytest.approx([2 + np.sqrt(2), 2, 2 - np.sqrt(2)])
    phi = embed(K)
    assert phi @ phi.T == pytest.approx(K, abs=1e-14)
    assert phi.T @ phi == pytest.approx(np.diag([2 + np.sqrt(2), 2, 2 - np.sqrt(2)]), abs=1e-14)


@pytest.mark.spec("HO-04")
def test_an_indefinite_matrix_has_no_features_and_says_why():
    with pytest.raises(ValueError, match=r"(?s)negative squared length.*witness"):
        embed([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="not symmetric"):
        embed([[1.0, 0.5], [0.0, 1.0]])


@pytest.mark.spec("HO-04")
@given(features)
def test_features_give_the_matrix_back(A):
    K = A @ A.T
    phi = embed(K)
    assert phi @ phi.T == pytest.approx(K, abs=1e-10 * max(1.0, np.abs(K).max()))
    assert phi.shape[1] <= max(1, min(A.shape))


@pytest.mark.spec("HO-05")
def test_truncated_expansions_approach_the_matrix():
    K = RBF(0.5)(cloud(20, 2))
    errors = []
    for m in range(1, 21):
        phi = embed(K, n_components=m)
        errors.append(np.linalg.norm(phi @ phi.T - K))
    assert np.all(np.diff(errors) <= 1e-12)
    assert errors[-1] < 1e-10
    assert errors[2] == pytest.approx(np.sqrt((np.linalg.eigvalsh(K)[:-3] ** 2).sum()))
