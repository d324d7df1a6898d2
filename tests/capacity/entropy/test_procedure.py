"""The six steps in one call, and every entropy object in every bound."""

import itertools
import math
from operator import attrgetter

import numpy as np
import pytest

import mercer.capacity as capacity
import mercer.capacity.entropy as entropy
from mercer import SVR
from mercer.capacity import UNIFORM_BOUNDS, Bound, overall_bound
from mercer.capacity.entropy import (
    LPClass,
    LpExpansionClass,
    MultiOutputClass,
    Spectrum,
    SVClass,
    choose_period,
    entropy_A,
    entropy_numbers,
    expansion_entropy,
    kernel_entropy,
)
from mercer.geometry import RKHSFunction
from mercer.kernels import RBF, Exponential, Linear, Matern, Polynomial

GAUSSIAN = RBF(gamma=1.0)


@pytest.mark.spec("SM-8.59")
def test_the_six_steps_agree_with_each_step_alone():
    steps = entropy_numbers(GAUSSIAN, 2.0, 5000, w_norm=3.0, ln_n=[10.0, 50.0])
    assert steps.period == choose_period(GAUSSIAN, 2.0)
    spectrum = Spectrum.from_translation_invariant(GAUSSIAN, steps.period, constant="shells")
    by_hand = [entropy_A(spectrum, x).value for x in (10.0, 50.0)]
    np.testing.assert_allclose(steps.eps_A, by_hand)
    svc = SVClass(spectrum, 3.0)
    np.testing.assert_allclose(steps.eps_T, svc.eps([10.0, 50.0], 5000))
    change = next(c for c in steps.log_covering(0.1).conditions if "periodic extension" in c.what)
    assert "differ by at most 1e-06" in change.evidence
    risk = steps.generalization_bound(0.05, emp_risk=0.1, lipschitz=2.0, loss_range=4.0)
    same = overall_bound(5000, svc.log_covering, 0.05, emp_risk=0.1, lipschitz=2.0, loss_range=4.0)
    assert risk.value == pytest.approx(same.value)
    assert risk.terms["training error"] == 0.1
    # The number carries the conditions of all steps, and can be evaluated elsewhere.
    said = " ".join(map(str, risk.conditions))
    for step in ("C_k", "periodic extension", "Maurey", "independently", "serves every sample"):
        assert step in said
    further = risk.learning_curve([5000, 50_000])
    assert further[0] == pytest.approx(risk.value)
    assert further[1] < further[0]
    for word in ("kernel", "period", "eps_n(A)", "eps_n(T)", "loss", "uniform"):
        assert word in str(steps)


def test_the_class_of_a_fitted_machine():
    rng = np.random.default_rng(0)
    X = rng.uniform(3.0, 5.0, (60, 1))  # far from the origin, which does not matter
    model = SVR(kernel=GAUSSIAN, C=1.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    steps = expansion_entropy(model.expansion_, X)
    f = RKHSFunction.from_expansion(model.expansion_)
    assert steps.function_class.w_norm == pytest.approx(f.norm())
    assert steps.function_class.offset == pytest.approx(abs(float(model.intercept_[0])))
    assert 0.9 < steps.radius < 1.1
    assert steps.n_samples == 60
    risk = steps.generalization_bound(n_samples=10**8)
    assert 0 < risk.value < 1
    said = steps.log_covering(0.1).assumes
    assert any("fixed before the samples were seen" in what for what in said)
    lp = expansion_entropy(model.expansion_, X, machine="lp")
    assert lp.function_class.w_norm == pytest.approx(np.abs(f.coef).sum())
    with pytest.raises(TypeError, match="Expansion is needed"):
        expansion_entropy(model, X)


@pytest.mark.spec("SM-8.59")
def test_end_to_end_figures_of_the_learning_curve():
    # k = exp(-x^2), v = 10, Lambda = 1, squared loss scaled to [0, 1] (Lipschitz constant 1)
    svc = SVClass.from_kernel(GAUSSIAN, 10.0)

    def ln_n(eps, n_points):
        return svc.log_covering(eps, which="operator").value

    for m, value in ((10**4, 0.555), (10**6, 0.0706)):
        assert overall_bound(m, ln_n, 0.05).value == pytest.approx(value, rel=2e-3)


@pytest.mark.spec("SM-8.58", "SM-10.01")
def test_any_class_goes_into_any_uniform_bound():
    spectrum = Spectrum.from_translation_invariant(GAUSSIAN, 6.0)
    classes = [
        SVClass(spectrum),
        SVClass(spectrum, offset=0.5),
        SVClass.from_ball(1.0),
        LPClass(spectrum),
        LpExpansionClass(spectrum, p=2, max_terms=10),
        MultiOutputClass(spectrum, 2),
    ]
    pairs = [*itertools.product(classes[2:], ("alon", "sm", "zero_error"))]
    for chosen, template in [*pairs, (classes[0], "alon"), (classes[1], "sm")]:
        assert template in UNIFORM_BOUNDS
        bound = overall_bound(10**9, lambda e, n, c=chosen: c.log_covering(e, n), 0.05, template)
        assert isinstance(bound, Bound)
        assert 0 < bound.value < math.inf
    # The functional-analytic cover replaces the ball's in the same theorem, and improves it.
    spectral, ball = (
        overall_bound(10**7, c.log_covering, 0.05).value for c in (classes[0], classes[2])
    )
    assert spectral < 0.1 * ball


@pytest.mark.spec("SM-8.55")
@pytest.mark.parametrize("kernel", [GAUSSIAN, Exponential(gamma=1.0), Matern(nu=2.5)])
def test_numerical_evaluation_serves_kernels_in_several_dimensions(kernel):
    for d in (1, 2, 3):
        values = kernel_entropy(kernel, 6.0, d, [5.0, 20.0, 80.0])
        assert (np.diff(values) < 0).all()
        direct = entropy_A(Spectrum.from_translation_invariant(kernel, 6.0, d), 20.0).value
        assert values[1] == pytest.approx(direct)


@pytest.mark.spec("SM-10.02")
def test_open_questions_are_named_and_nothing_that_depends_on_them_is_certified_silently():
    for names in entropy.OPEN_QUESTIONS.values():
        assert all(attrgetter(name)(capacity) for name in names)
    assert entropy.maurey_bound(1e5, 10**6, c=1.86).assumes
    assert entropy.EmpiricalScaling([1.0]).entropy(1.0).assumes
    assert entropy.SVClass.from_ball(1.0).entropy(1.0, 10).assumes
    for bound in (
        entropy.convex_hull_entropy(10, 1.0, 2.0),
        entropy.F1_entropy_lipschitz(10, GAUSSIAN, [0.5]),
        entropy.F1_entropy_sample(10, 100, 2),
        entropy.continuum_entropy(10.0, 0.5, 2.0, 1, 10.0),
    ):
        assert not bound.certified


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="not a function of x - z"):
        entropy_numbers(Polynomial(degree=2, gamma=1.0), 1.0, 100)
    with pytest.raises(ValueError, match="not a function of x - z"):
        kernel_entropy(Linear(), 4.0, 1, 5.0)
    with pytest.raises(ValueError, match="integer of at least 1"):
        entropy_numbers(GAUSSIAN, 1.0, 0)
    with pytest.raises(ValueError, match="radius must be a number > 0"):
        entropy_numbers(GAUSSIAN, 0.0, 10)
    with pytest.raises(ValueError, match="radius=1 is smaller than the data"):
        entropy_numbers(GAUSSIAN, 1.0, 10, X=[[0.5], [1.5]])
    with pytest.raises(ValueError, match="period must exceed the diameter"):
        entropy_numbers(GAUSSIAN, 1.0, 10, period=1.5)
    with pytest.raises(ValueError, match="machine must be one of"):
        entropy_numbers(GAUSSIAN, 1.0, 10, machine="nn")
    steps = entropy_numbers(GAUSSIAN, 1.0, 10)
    for delta in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            steps.generalization_bound(delta)
    with pytest.raises(ValueError, match="gamma"):
        entropy_numbers(RBF(), 1.0, 10)  # its width depends on data
