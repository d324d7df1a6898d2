"""Which machines take conditionally positive definite kernels, and what their proof then says."""

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import (
    FromFunction,
    Linear,
    LogDistance,
    Multiquadric,
    NegativeDistance,
    Polynomial,
    PowerSeries,
    Projected,
    ThinPlate,
)
from mercer.objects.validation import count
from tests.catalogue import catalogue, sample

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 2))
LABELS = np.where((X**2).sum(axis=1) + 0.3 * rng.normal(size=80) > 1.4, 1, -1)
TARGETS = np.sin(X[:, 0]) + 0.1 * rng.normal(size=80)
NEW = rng.normal(size=(40, 2))
FIRST = [NegativeDistance(), NegativeDistance(1.6), Multiquadric(0.5), LogDistance()]
MACHINES = [
    (SVC, LABELS, {"C": 3.0}),
    (SVC, LABELS, {"C": np.inf}),
    (SVC, LABELS, {"C": 3.0, "penalty_norm": 2}),
    (NuSVC, LABELS, {"nu": 0.3}),
    (SVR, TARGETS, {"C": 3.0, "epsilon": 0.05}),
    (NuSVR, TARGETS, {"C": 3.0, "nu": 0.3}),
]


def output(machine):
    return getattr(machine, "decision_function", machine.predict)


@pytest.mark.parametrize("kernel", FIRST, ids=repr)
@pytest.mark.parametrize("parameters", [{}, {"solver": "interior_point"}], ids=str)
def test_huge_prices_are_left_to_the_interior_point_method(kernel, parameters):
    """Pair steps would move coefficients of up to 1e8 by less than 1 at a time."""
    rows, y = X[:24].round(), TARGETS[:24]  # few distinct rows, of different targets
    model = NuSVR(kernel=kernel, C=1e8, nu=0.8, **parameters).fit(rows, y)
    assert model.certificate_.status == "optimal"
    assert model.n_iter_ < 1e5
    np.testing.assert_allclose(
        model.predict(rows),
        NuSVR(kernel=Projected(kernel).bind(rows), C=1e8, nu=0.8).fit(rows, y).predict(rows),
        atol=1e-3,
    )


@pytest.mark.spec("SM-3.54")
@pytest.mark.parametrize("kernel", FIRST, ids=repr)
@pytest.mark.parametrize(("machine", "y", "parameters"), MACHINES)
def test_a_bias_makes_a_conditional_kernel_as_good_as_its_projection(
    kernel, machine, y, parameters
):
    conditional = machine(kernel=kernel, tol=1e-6, **parameters).fit(X, y)
    projected = machine(kernel=Projected(kernel), tol=1e-6, **parameters).fit(X, y)
    np.testing.assert_allclose(output(conditional)(NEW), output(projected)(NEW), atol=1e-6)
    proof = conditional.certificate_
    assert proof.status == "optimal"
    assert proof.relative_gap < 1e-6
    assert proof.assumes is None
    again = conditional.certify(X, y)
    assert again.primal == pytest.approx(projected.certificate_.primal, rel=1e-6)
    assert np.abs(conditional.dual_coef_.sum()) < 1e-9 * np.abs(conditional.dual_coef_).sum()


@pytest.mark.spec("SM-3.54")
def test_constants_cost_nothing_with_a_kernel_of_order_one():
    machine = SVR(kernel=Multiquadric(), C=10.0, epsilon=0.0).fit(X, np.full(80, 2.5))
    assert len(machine.support_) == 0
    np.testing.assert_allclose(machine.predict(NEW), 2.5, atol=1e-12)


@pytest.mark.parametrize("machine", [SVC, NuSVC, SVR, NuSVR])
def test_without_a_bias_a_conditional_kernel_is_refused(machine):
    y = LABELS if machine in (SVC, NuSVC) else TARGETS
    with pytest.raises(ValueError, match=r"only with fit_intercept=True.*Projected\(kernel\)"):
        machine(kernel=Multiquadric(), fit_intercept=False).fit(X, y)
    assert machine(kernel=Projected(Multiquadric()), fit_intercept=False).fit(X, y).certificate_


def test_the_one_class_machine_refuses_conditional_kernels():
    with pytest.raises(ValueError, match="the coefficients of OneClassSVM do not sum to zero"):
        OneClassSVM(kernel=NegativeDistance(), nu=0.2).fit(X)
    with pytest.raises(ValueError, match="conditionally positive definite"):
        OneClassSVM(kernel=Polynomial(1, 1.0, -1.0), nu=0.2).fit(X)
    projected = OneClassSVM(kernel=Projected(NegativeDistance()), nu=0.2).fit(X)
    assert projected.certificate_.relative_gap < 1e-3


@pytest.mark.spec("SM-3.54")
def test_order_two_needs_linear_functions_beside_it():
    for machine, y in ((NuSVC, LABELS), (NuSVR, TARGETS), (OneClassSVM, None)):
        with pytest.raises(ValueError, match=r"of order 2.*Projected\(kernel\) \+ s \* Linear\(\)"):
            machine(kernel=ThinPlate()).fit(X, y)
    linear = X @ [2.0, -1.0] + 0.5
    kernel = Projected(ThinPlate()) + 1e4 * Linear()
    machine = SVR(kernel=kernel, C=100.0, epsilon=1e-3, tol=1e-5).fit(X, linear)
    np.testing.assert_allclose(machine.predict(NEW), NEW @ [2.0, -1.0] + 0.5, atol=2e-3)


def negative_distance(A, B):
    return -np.linalg.norm(A[:, None] - B[None], axis=-1)


def test_the_word_of_a_user_is_an_assumption():
    told = FromFunction(negative_distance, "conditionally positive definite")
    machine = SVC(kernel=told, tol=1e-5).fit(X, LABELS)
    assert machine.certificate_.assumes == "cpd"
    assert "assumes" in str(machine.certificate_)
    native = SVC(kernel=NegativeDistance(), tol=1e-5).fit(X, LABELS)
    np.testing.assert_allclose(
        machine.decision_function(NEW), native.decision_function(NEW), atol=1e-4
    )
    with pytest.raises(ValueError, match="sum to zero"):
        OneClassSVM(kernel=told).fit(X)


def test_hard_margins_are_measured_by_distances_where_there_are_no_norms():
    both = np.vstack([X[:5], X[:5]])
    with pytest.raises(ValueError, match="not separable"):
        SVC(kernel=NegativeDistance(), C=np.inf).fit(both, np.repeat([-1, 1], 5))


def test_objects_outside_the_domain_are_refused_in_fit_and_predict():
    short = 0.5 * X / np.linalg.norm(X, axis=1, keepdims=True)
    machine = SVC(kernel=PowerSeries("geometric")).fit(short, LABELS)
    with pytest.raises(ValueError, match="converges for"):
        SVC(kernel=PowerSeries("geometric")).fit(X, LABELS)
    with pytest.raises(ValueError, match="converges for"):
        machine.predict(10 * short)


@pytest.mark.parametrize("example", catalogue(), ids=str)
def test_every_kernel_trains_a_machine(example):
    kernel = example.kernel
    objects = sample(example.objects, 24, np.random.default_rng(1))
    y = np.arange(24) % 2
    machine = SVC(kernel=kernel, C=1.0, tol=1e-4).fit(objects, y)
    proof = machine.certificate_
    assert proof.converged
    if kernel.definiteness.order is not None:
        assert proof.status == "optimal"
        assert -1e-6 < proof.relative_gap < 1e-2
    values = machine.decision_function(objects)
    assert values.shape == (count(objects),)
    assert np.isfinite(values).all()
