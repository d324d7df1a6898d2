"""Alignment with labels and with other kernels, and the diagnosis of a matrix."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import SVC, SVR
from mercer.inspection import alignment, centred_alignment, diagnose
from mercer.inspection import matrix_source as values
from mercer.inspection.targets import target_codes
from mercer.kernels import RBF, FromFeatureMap, Linear, Polynomial, Precomputed

SLIDE = np.array(
    [[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]]
)
LABELS = [1, 1, -1, -1, -1]


def blobs(n=60, distance=3.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + distance * y[:, None], y


def dense(K, L, centred):
    if centred:
        H = np.eye(len(K)) - 1 / len(K)
        K, L = H @ K @ H, H @ L @ H
    return (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())


@pytest.mark.spec("HO-14")
def test_alignments_of_the_slide():
    assert alignment(SLIDE, y=LABELS) == pytest.approx(0.699637, abs=5e-7)
    assert alignment(np.eye(5), y=LABELS) == pytest.approx(0.447214, abs=5e-7)
    assert centred_alignment(SLIDE, y=LABELS) == pytest.approx(0.943225, abs=5e-7)
    assert centred_alignment(np.eye(5), y=LABELS) == pytest.approx(0.5)


@pytest.mark.parametrize("centred", [False, True])
def test_blocks_of_rows_give_what_the_matrices_give(centred, monkeypatch):
    X, y = blobs(41)
    function = centred_alignment if centred else alignment
    K, L = RBF(0.3)(X), Polynomial(2, 0.1, 1.0)(X)
    target = np.where(y == 1, 1.0, -1.0)
    expected = dense(K, np.outer(target, target), centred), dense(K, L, centred)
    for block in (1 << 21, 41 * 7):
        monkeypatch.setattr(values, "_BLOCK", block)
        assert function(RBF(0.3), X, y) == pytest.approx(expected[0], rel=1e-12)
        assert function(RBF(0.3), X, other=Polynomial(2, 0.1, 1.0)) == pytest.approx(expected[1])
        assert function(K, y=y) == pytest.approx(expected[0], rel=1e-12)
        assert function(K, other=L) == pytest.approx(expected[1], rel=1e-12)
        assert function(Precomputed(), K, y) == pytest.approx(expected[0], rel=1e-12)


def test_codes_of_labels():
    two = target_codes(np.array(["b", "a", "b"]), 3)
    assert two.tolist() == [[1], [-1], [1]]
    four = target_codes([0, 1, 2, 3, 0], 5)
    inner = four @ four.T
    assert np.diagonal(inner) == pytest.approx(np.ones(5))
    assert inner[0, 4] == pytest.approx(1)
    assert inner[0, 1:4] == pytest.approx([-1 / 3] * 3)
    assert target_codes([0.5, 1.25, 3.0], 3).ravel().tolist() == [0.5, 1.25, 3.0]
    assert target_codes([[0.5, 1.0], [2.0, 1.5]], 2).shape == (2, 2)


def test_labels_are_told_from_numbers():
    few, many = np.arange(60) % 20, np.arange(60) % 21
    assert target_codes(few, 60).shape == (60, 20)
    assert target_codes(many, 60).ravel().tolist() == many.tolist()
    assert target_codes(many, 60, "classification").shape == (60, 21)
    assert target_codes(few.astype(float), 60, "regression").ravel().tolist() == few.tolist()
    X = few[:, None].astype(float)
    assert centred_alignment(Linear(), X, few, task="regression") == pytest.approx(1)
    assert centred_alignment(Linear(), X, few) < 0.5
    assert diagnose(RBF(1.0), X, many).within is None
    with pytest.raises(ValueError, match="task must be one of"):
        alignment(Linear(), X, few, task="ranking")
    with pytest.raises(ValueError, match="must be numbers"):
        alignment(Linear(), X, ["a", "b"] * 30, task="regression")
    with pytest.raises(ValueError, match="one label per object"):
        alignment(Linear(), X, np.ones((60, 2)), task="classification")


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_centred_codes_are_centred_indicators(n_classes):
    y = np.random.default_rng(0).permutation(np.arange(31) % n_classes)
    X = np.random.default_rng(1).normal(size=(31, 2))
    indicators = (y[:, None] == np.arange(n_classes)).astype(float)
    expected = dense(RBF(0.3)(X), indicators @ indicators.T, True)
    assert centred_alignment(RBF(0.3), X, y) == pytest.approx(expected, rel=1e-10)


def test_regression_targets_are_their_own_codes():
    X = np.linspace(0, 1, 20)[:, None]
    assert alignment(Linear(), X, X[:, 0] * 2) == pytest.approx(1)
    assert centred_alignment(Linear() + 7, X, X[:, 0] + 0.01) == pytest.approx(1)


def test_the_target_itself_is_aligned_best():
    y = np.array([0, 0, 1, 2, 2, 2])
    ideal = FromFeatureMap(lambda rows: target_codes(y, 6)[rows[:, 0].astype(int)])
    assert alignment(ideal, np.arange(6.0)[:, None], y) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": [1, 1, 1]}, ValueError, "one class"),
        ({"y": [1, -1]}, ValueError, "one label per object, 3 in all"),
        ({"y": [0.5, np.nan, 1.5]}, ValueError, "NaN"),
        ({}, TypeError, "one of them"),
        ({"y": [1, 0, 1], "other": np.eye(3)}, TypeError, "one of them"),
        ({"other": np.eye(4)}, ValueError, "3 and 4"),
    ],
)
def test_what_cannot_be_aligned_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        alignment(np.eye(3), **arguments)


def test_a_constant_matrix_has_no_centred_alignment():
    with pytest.raises(ValueError, match="after centring"):
        centred_alignment(np.ones((3, 3)), y=[0, 1, 1])
    for value in (0.1, 1 / 3, 1e-20):  # whose means are rounded
        with pytest.raises(ValueError, match="after centring"):
            centred_alignment(np.full((7, 7), value), y=[0, 1, 1, 0, 1, 0, 0])
    with pytest.raises(ValueError, match="after centring"):
        centred_alignment(np.eye(3), other=np.full((3, 3), 0.1))
    with pytest.raises(ValueError, match="zero"):
        alignment(np.zeros((3, 3)), y=[0, 1, 1])


rows = arrays(np.float64, (6, 2), elements=st.integers(-16, 16).map(lambda k: k / 8))
labels = st.lists(st.integers(0, 2), min_size=6, max_size=6).filter(lambda y: len(set(y)) > 1)


@given(rows, labels, st.floats(0.1, 10.0), st.floats(0.0, 100.0))
def test_scale_and_constants_do_not_matter(X, y, scale, constant):
    kernel = RBF(0.5) + 0.1 * Linear()
    if len(np.unique(X, axis=0)) < 2:
        return
    assert -1 <= alignment(kernel, X, y) <= 1 + 1e-12
    assert -1e-12 <= centred_alignment(kernel, X, y) <= 1 + 1e-12
    assert alignment(scale * kernel, X, y) == pytest.approx(alignment(kernel, X, y))
    shifted = centred_alignment(kernel + constant, X, y)
    assert shifted == pytest.approx(centred_alignment(kernel, X, y), abs=1e-9)
    assert alignment(kernel, X, other=kernel) == pytest.approx(1)


# -- diagnosis ------------------------------------------------------------------------------


@pytest.mark.spec("HO-13")
def test_a_narrow_kernel_is_near_diagonal():
    X, y = blobs()
    found = diagnose(RBF(gamma=1e4), X, y)
    assert found.kind == "near-diagonal"
    assert found.off_diagonal_ratio < 1e-3
    assert found.diagonal_share > 0.99
    assert "widen" in found.advice


@pytest.mark.spec("HO-13")
def test_a_fit_warns_of_a_near_diagonal_matrix():
    X, y = blobs()
    for machine, target in ((SVC(gamma=1e4), y), (SVR(gamma=1e4), X[:, 0])):
        with pytest.warns(UserWarning, match="close to diagonal") as caught:
            machine.fit(X, target)
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            machine.set_params(gamma=0.3).fit(X, target)


@pytest.mark.spec("HO-13")
def test_irrelevant_dimensions_empty_the_matrix():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 60))
    ratios = [diagnose(RBF(0.2), noise[:, :d]).off_diagonal_ratio for d in (1, 2, 5, 10, 30, 60)]
    assert all(b < a for a, b in itertools.pairwise(ratios))
    assert diagnose(RBF(0.2), noise).kind == "near-diagonal"
    assert diagnose(RBF(0.2), noise[:, :2]).kind == "structured"


@pytest.mark.spec("HO-14")
def test_class_blocks_of_the_slide():
    found = diagnose(SLIDE, y=LABELS)
    assert found.kind == "class blocks"
    assert (found.within, found.between) == (2.5, 0.0)
    assert found.alignment == pytest.approx(0.699637, abs=5e-7)
    assert found.off_diagonal_ratio == pytest.approx(20 / 20 / 3.6)
    assert found.diagonal_share == pytest.approx(66 / 118)


@pytest.mark.spec("HO-14", "HO-15")
def test_labels_must_follow_the_blocks():
    X, y = blobs()
    good = diagnose(RBF(0.3), X, y)
    shuffled = diagnose(RBF(0.3), X, np.random.default_rng(1).permutation(y))
    assert good.kind == "class blocks"
    assert good.within > good.between
    assert shuffled.kind == "no class structure"
    assert "low-degree polynomial and a Gaussian" in shuffled.advice


@pytest.mark.spec("HO-15")
def test_a_reasonable_width_is_told_from_extremes():
    X, y = blobs()
    kinds = {g: diagnose(RBF(g), X, y).kind for g in (1e-6, 0.3, 1e4)}
    assert kinds == {1e-6: "nearly constant", 0.3: "class blocks", 1e4: "near-diagonal"}
    scores = {g: centred_alignment(RBF(g), X, y) for g in (0.3, 1e4)}
    assert scores[0.3] > 2 * scores[1e4]


def test_real_targets_and_single_members_have_no_blocks():
    X = np.linspace(0, 1, 12)[:, None]
    found = diagnose(RBF(1.0), X, X[:, 0] + 0.001)
    assert (found.within, found.between) == (None, None)
    assert found.kind == "structured"
    assert found.centred_alignment > 0.9
    single = diagnose(np.eye(2) + 0.5, y=["a", "b"])
    assert single.within is None


def test_a_constant_matrix_is_diagnosed():
    found = diagnose(np.ones((4, 4)), y=[0, 1, 0, 1])
    assert found.kind == "nearly constant"
    assert found.centred_alignment is None
    assert "centred none" in str(found)
    with pytest.raises(ValueError, match="all kernel values are zero"):
        diagnose(np.zeros((2, 2)))


def test_unbound_kernels_are_bound_to_the_data():
    X, y = blobs()
    kernel = RBF("scale")
    assert diagnose(kernel, X, y) == diagnose(kernel.bind(X), X, y)
    assert diagnose(kernel, X).to_dict()["kind"] == "structured"


def test_y_of_wrong_length_is_refused():
    with pytest.raises(ValueError, match="one label per object, 2 in all"):
        diagnose(np.eye(2), y=[1, 0, 1])
