"""scikit-learn's checks of estimators, for all five machines."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVR, NuSVC
from mercer.kernels import ThinPlate
from tests.machines.data_sets import MACHINES

# These checks choose data on which nu = 0.5, the default, is infeasible for any implementation:
# at most 2 min(W+, W-) / (W+ + W-) of the weight can lie inside the margin.
INFEASIBLE = {
    "check_sample_weight_equivalence_on_dense_data": "weights allow at most nu = 0.352941",
    "check_sample_weight_equivalence_on_sparse_data": "weights allow at most nu = 0.352941",
    "check_class_weight_classifiers": "class weights 1000 and 0.0001 allow at most nu = 2.17e-07",
}


def infeasible(estimator):
    return INFEASIBLE if isinstance(estimator, NuSVC) else {}


# A kernel of order 2 takes another solver.
ESTIMATORS = [*(machine() for machine in MACHINES), SVR(kernel=ThinPlate())]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=infeasible)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", [n for n in INFEASIBLE if "equivalence" in n])
def test_nusvc_passes_the_same_check_where_nu_is_feasible(name):
    from sklearn.utils import estimator_checks

    getattr(estimator_checks, name)("NuSVC", NuSVC(nu=0.3))


@pytest.mark.parametrize("machine", MACHINES)
def test_feature_names_and_pairwise_tags(machine):
    assert machine(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
    assert machine().__sklearn_tags__().input_tags.sparse
    assert not machine().__sklearn_tags__().input_tags.pairwise
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    model = machine().fit(X, np.arange(20) % 2)
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X.to_numpy())


def test_sample_epsilon_is_routed():
    import sklearn
    from sklearn.model_selection import cross_validate

    X = np.random.default_rng(0).normal(size=(40, 2))
    with sklearn.config_context(enable_metadata_routing=True):
        model = SVR().set_fit_request(sample_epsilon=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        result = cross_validate(
            model,
            X,
            X[:, 0],
            params={"sample_epsilon": np.full(40, 0.2), "sample_weight": np.ones(40)},
            error_score="raise",
        )
    assert len(result["test_score"]) == 5
