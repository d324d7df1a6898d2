"""scikit-learn's checks of estimators, for the unsupervised transformers."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    ConformalNovelty,
    KernelCCA,
    KernelFeatureAnalysis,
    KernelKMeans,
    KernelPCA,
    KernelSpectralClustering,
    ParzenDensity,
    PolygonalPrincipalCurve,
    PrincipalCurve,
    RegularizedPrincipalManifold,
)

ESTIMATORS = [
    KernelPCA(),
    KernelPCA(n_components=2, kernel="rbf", center=False),
    KernelPCA(kernel="linear", fit_inverse_transform=True),
    KernelKMeans(random_state=0),
    KernelFeatureAnalysis(),
    KernelCCA(),
    KernelSpectralClustering(random_state=0),
    ParzenDensity(),
    ParzenDensity(1.0),
    ConformalNovelty(random_state=0),
    KernelFeatureAnalysis(1, constraint="l2", contrast="kurtosis", n_basis=3, random_state=0),
    RegularizedPrincipalManifold(n_nodes=8),
    RegularizedPrincipalManifold(n_nodes=6, assignment="soft"),
    PolygonalPrincipalCurve(6),
    PolygonalPrincipalCurve(10),
    PolygonalPrincipalCurve(),
    PolygonalPrincipalCurve(10, 2.0),
    PrincipalCurve(n_knots=10),
]


def local_optima(estimator: Any) -> dict[str, str]:
    """Starts are drawn from the rows, so repeated rows lead to another local optimum."""
    if not isinstance(estimator, KernelKMeans):
        return {}
    kinds = ("dense", "sparse")
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": "the starts differ" for kind in kinds
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=local_optima)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
