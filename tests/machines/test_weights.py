"""Weight 0 is removal, weight k is repetition: as functions, for every machine."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from tests.machines.data_sets import classes, data_for, scores

MODELS = [
    SVC(),
    SVC(C=5.0, penalty_norm=2),
    SVC(C=0.5, C2=1.0),
    SVC(class_weight="balanced"),
    SVC(kernel="linear", fit_intercept=False),
    NuSVC(nu=0.2),
    NuSVC(nu=0.2, class_weight="balanced"),
    SVR(),
    SVR(loss="squared_epsilon_insensitive", epsilon=0.01),
    SVR(lam=0.01),
    NuSVR(),
    OneClassSVM(nu=0.3),
]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_weights_are_repetitions(model, k, sparse):
    classifier = isinstance(model, SVC | NuSVC)
    if k == 3 and not classifier:
        pytest.skip("has no classes")
    X, y = data_for(model, n=60, k=k)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    repeated, targets = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    container = sp.csr_matrix if sparse else np.asarray
    weighted = model.fit(container(X), y, sample_weight=weight)
    first = scores(weighted, container(X))
    second = scores(model.fit(container(repeated), targets), container(X))
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", [SVC(), SVR(), NuSVR(), OneClassSVM(), NuSVC(nu=0.2)], ids=repr)
def test_rows_without_weight_keep_their_numbers(model):
    X, y = data_for(model)
    weight = np.ones(len(y))
    weight[::3] = 0.0
    weight[1] = -1.0
    model.fit(X, y, sample_weight=weight)
    assert not np.isin(model.support_, np.flatnonzero(weight <= 0)).any()
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert (model.point_status_[weight <= 0] == "not used").all()
    assert (model.slack_[weight <= 0] == 0).all()
    assert model.certify(X, y, sample_weight=weight).relative_gap < 1e-3


def test_a_class_without_weight_is_no_class():
    X, y = classes(90, 3)
    weight = np.where(y == 1, 0.0, 1.0)
    model = SVC().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.classes_, [0, 2])
    other = SVC().fit(X[y != 1], y[y != 1])
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-9)


def test_balanced_classes_use_weighted_sums():
    X, y = classes(90)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = SVC(class_weight="balanced").fit(X, y, sample_weight=weight)
    sums = np.array([weight[y == 0].sum(), weight[y == 1].sum()])
    np.testing.assert_allclose(model.class_weight_, weight.sum() / (2 * sums))


def test_precomputed_matrix_with_rows_left_out():
    X, y = classes(70)
    weight = np.where(np.arange(70) % 4 == 0, 0.0, 1.0)
    K = X @ X.T
    by_matrix = SVC(kernel="precomputed").fit(K, y, sample_weight=weight)
    by_name = SVC(kernel="linear").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        by_matrix.decision_function(K), by_name.decision_function(X), atol=1e-8
    )


def test_class_weights_name_labels_as_scikit_learn_demands():
    X, y = classes(60, 3)
    labels = np.unique(y).tolist()
    with pytest.raises(ValueError, match=r"are not in class_weight.*77"):
        SVC(class_weight={labels[0]: 2.0, 77: 3.0}).fit(X, y)
    with pytest.raises(ValueError, match="are not in class_weight"):
        SVC(class_weight={str(label): 2.0 for label in labels}).fit(X, y)
    # A dictionary for all classes serves a fold that lacks one, and one for some the others.
    SVC(class_weight=dict.fromkeys([*labels, 77], 2.0)).fit(X, y)
    partial = SVC(class_weight={labels[1]: 2.0}).fit(X, y)
    np.testing.assert_array_equal(partial.class_weight_, [1.0, 2.0, 1.0])
