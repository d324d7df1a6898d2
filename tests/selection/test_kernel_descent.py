"""Gradients of criteria by kernel parameters, the search over them, and tubes from the noise."""

import numpy as np
import pytest

from mercer import SVC
from mercer.data import noisy_sinc, rings
from mercer.inspection import centred_alignment
from mercer.kernels import RBF, Linear, Polynomial, Spectrum
from mercer.run import Run
from mercer.selection import noise_level, optimise_kernel, radius_margin, tube_from_noise
from mercer.selection.kernel_criteria import CRITERIA
from mercer.selection.kernel_descent import _Objective, hyperparameters


def noisy_columns(n=60, useful=2, useless=3):
    """Return two classes that the first columns separate and the others know nothing of."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, useful + useless))
    return X, (np.sum(X[:, :useful] ** 2, axis=1) > 1.4).astype(int)


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("C", [None, 5.0])
@pytest.mark.parametrize("kernel", [RBF([0.2, 0.4, 0.1, 0.3]), 0.5 * RBF(0.3) + Linear()])
def test_gradients_are_those_of_differences(name, C, kernel):
    X, y = noisy_columns(30, 2, 2)
    kernel, X = kernel.bound_to(X)
    entries, _ = hyperparameters(kernel)
    objective = _Objective(kernel, X, y, CRITERIA[name], entries, C, Run())
    theta = objective.start
    _, gradient = objective(theta)
    for i in range(len(theta)):
        ends = []
        for step in (1e-5, -1e-5):
            moved = theta.copy()
            moved[i] += step
            ends.append(objective(moved)[0])
        slope = (ends[0] - ends[1]) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=2e-4, abs=1e-5), i


def test_criteria_have_the_values_of_their_definitions():
    X, y = noisy_columns(30)
    kernel, X = RBF(0.3).bound_to(X)
    found = CRITERIA["radius_margin"](kernel, X, y, 5.0)
    assert found.value == pytest.approx(radius_margin(kernel, X, y, C=5.0), rel=1e-5)
    aligned = CRITERIA["alignment"](kernel, X, y, 1.0)
    assert aligned.value == pytest.approx(1 - centred_alignment(kernel, X, y), rel=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_widths_of_columns_without_information_vanish(criterion):
    X, y = noisy_columns()
    start = RBF(gamma=[0.2] * 5)
    found = optimise_kernel(start, X, y, criterion, C=10.0, max_iter=40)
    assert found.value < 0.8 * found.start_value
    assert found.history == sorted(found.history, reverse=True)
    relevance = found.relevance()
    assert relevance[:2].min() > 5 * relevance[2:].max()
    Z, z = noisy_columns(400)
    price = found.C or 10.0
    before, after = (
        SVC(kernel=k, C=price, penalty_norm=2).fit(X, y).score(Z[60:], z[60:])
        for k in (start, found.kernel)
    )
    assert after > before


def test_cost_is_searched_with_the_parameters():
    X, y = rings(40, noise=0.3, random_state=0)
    fixed = optimise_kernel(RBF(1.0), X, y, "span", C=1.0)
    free = optimise_kernel(RBF(1.0), X, y, "span")
    assert free.value <= fixed.value + 1e-6
    assert fixed.C == 1.0
    assert optimise_kernel(RBF(1.0), X, y, "alignment").C is None
    timed = optimise_kernel(RBF(1.0), X, y, time_limit=1e-9)
    assert timed.status == "time_limit"
    assert timed.value <= timed.start_value


def test_alignment_takes_several_classes_and_targets():
    X, y = noisy_columns(40)
    three = (y + (X[:, 2] > 1)).astype(int)
    assert optimise_kernel(RBF([0.1] * 5), X, three, "alignment").value < 1
    assert optimise_kernel(Polynomial(2, 0.5), X, X[:, 0] ** 2, "alignment").value < 1


def test_bad_input_is_refused():
    X, y = noisy_columns(20)
    with pytest.raises(ValueError, match="criterion must be one of"):
        optimise_kernel(RBF(1.0), X, y, "loo")
    with pytest.raises(ValueError, match="two classes; got 3"):
        optimise_kernel(RBF(1.0), X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="no continuous parameter"):
        optimise_kernel(Spectrum(2), ["ab", "ba"], [0, 1], "alignment")
    with pytest.raises(ValueError, match="no entry for each column"):
        optimise_kernel(RBF(1.0), X, y, "alignment").relevance()


@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_the_noise_level_is_that_of_the_data(noise):
    X, y = noisy_sinc(150, noise=noise, random_state=0)
    assert noise_level(X, y) == pytest.approx(noise, rel=0.15)
    assert tube_from_noise(X, y) == pytest.approx(0.612 * noise, rel=0.15)
    expected = 3 * noise * np.sqrt(np.log(150) / 150)
    assert tube_from_noise(X, y, rule="cherkassky_ma") == pytest.approx(expected, rel=0.15)


def test_the_efficient_tube_is_the_least_variance_of_a_location():
    """Asymptotic variance of the location under Gaussian noise at epsilon = t sigma."""
    from scipy.stats import norm

    widths = np.linspace(0.3, 0.9, 601)
    tails = norm.sf(widths)
    variance = 2 * tails / (2 * norm.pdf(widths)) ** 2
    assert widths[np.argmin(variance)] == pytest.approx(0.612, abs=1.5e-3)
