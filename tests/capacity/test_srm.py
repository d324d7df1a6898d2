"""Structural risk minimisation: which class is chosen, what it costs, what may not be used."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from mercer.capacity import (
    SRM,
    constrained,
    finite_class_bound,
    overall_bound,
    srm_bound,
    srm_penalty,
    structure,
    vc_bound,
)
from mercer.kernels import RBF, FourierSeries, PeriodicGaussian


@pytest.mark.spec("CS-4.10")
def test_srm_chooses_the_third_class() -> None:
    choice = SRM([2, 3, 5, 9, 17]).select([120, 60, 20, 15, 14], n_samples=2000)
    expected = [0.18692, 0.14823, 0.14815, 0.21658, 0.34820]
    assert [b.value for b in choice.path] == pytest.approx(expected, abs=1e-5)
    assert choice.index == 2
    assert choice.bound.delta == 0.05
    assert choice.bound.value == pytest.approx(vc_bound(2000, 5, 0.01, n_errors=20).value)


@pytest.mark.spec("LFD-69")
def test_the_penalty_pays_for_the_search() -> None:
    assert srm_penalty(1000, 3).value == pytest.approx(0.466345, abs=1e-6)
    # Cumulative priors tend to 1, and with them the price of searching: refused.
    shares = 2.0 ** -np.arange(1, 31)
    cumulative = np.cumsum(shares)
    assert srm_penalty(1000, 3, prior=cumulative[-1]).value == pytest.approx(
        srm_penalty(1000, 3).value, rel=1e-6
    )
    with pytest.raises(ValueError, match="not cumulative"):
        SRM(list(range(1, 31)), priors=cumulative)
    # A demonstration with classes of one fixed sign vector each: all have the same error 1/2, and
    # the best of many looks better than its penalty without the price would allow.
    rng = np.random.default_rng(0)
    m, n_classes, deviations = 50, 4000, []
    for _ in range(40):
        emp = rng.binomial(m, 0.5, size=n_classes) / m
        deviations.append(0.5 - emp.min())
    free = finite_class_bound(m, 1, variant="lfd").value
    paid = finite_class_bound(m, 1, variant="lfd", prior=1 / n_classes).value
    assert np.mean(np.array(deviations) > free) > 0.9
    assert np.mean(np.array(deviations) > paid) <= 0.05


@pytest.mark.spec("LFD-70", "SM-7.49", "SM-7.51")
def test_what_may_be_used_as_a_structure() -> None:
    for kind in ("norm balls", "soft-order constraints", "expansion in training points"):
        assert structure(kind).state == "satisfied"
    bad = ("penalty parameter", "observed radius", "observed margin", "relevance determination")
    for kind in bad:
        assert structure(kind).state == "violated"
        assert not srm_bound(1000, 3, 0, kind=kind).certified
    # Not nested: the training error may go up, the bound still pays 1 / p.
    free = SRM([3, 4], nested=False).select([10, 20], n_samples=1000)
    assert free.index == 0
    with pytest.raises(ValueError, match="not nested"):
        SRM([3, 4]).select([10, 11], n_samples=1000)
    with pytest.raises(ValueError, match="kind must be one of"):
        structure("magic")
    # An ordered list stopped at the first good hypothesis: a small m is cheap.
    early = finite_class_bound(1000, 10, variant="lfd", prior=0.5)
    late = finite_class_bound(1000, 10, variant="lfd", prior=2.0**-200)
    assert early < late


@pytest.mark.spec("HO-26")
def test_srm_chooses_a_small_degree_for_a_noisy_parabola() -> None:
    rng = np.random.default_rng(1)
    m, degrees = 4000, list(range(1, 9))
    x = rng.uniform(-1, 1, size=m)
    y = np.where(x**2 - 0.3 > 0, 1, -1) * np.where(rng.random(m) < 0.05, -1, 1)
    errors = []
    for degree in degrees:
        A = np.vander(x, degree + 1)
        f = A @ np.linalg.lstsq(A, y, rcond=None)[0]
        # Shifted by a constant, which stays in the class, to make the fewest errors.
        shifts = np.quantile(f, np.linspace(0, 1, 201))
        errors.append(min(int(np.sum(np.where(f > t, 1, -1) != y)) for t in shifts))
    errors = np.minimum.accumulate(errors).tolist()  # nested: a class contains the one before
    choice = SRM([d + 1 for d in degrees], penalty="ho").select(errors, m)
    assert degrees[choice.index] == 2
    deviations = [b.terms["deviation"] for b in choice.path]
    assert deviations == sorted(deviations)


@pytest.mark.spec("SM-7.47", "SM-7.48")
def test_the_bound_of_the_winner_holds() -> None:
    rng = np.random.default_rng(2)
    m, failures = 300, 0
    blocks = [1, 2, 4, 8, 16]  # functions that are constant on 2^i intervals, nested
    grid = (np.arange(3200) + 0.5) / 3200
    truth = np.where(np.sin(6 * grid) > 0, 1, -1)
    for _ in range(200):
        x = rng.random(m)
        y = np.where(np.sin(6 * x) > 0, 1, -1) * np.where(rng.random(m) < 0.1, -1, 1)
        search = SRM(blocks, penalty="ho", fit_fn=histogram).fit(x, y)
        risk, confidence, total = search.path_.T
        np.testing.assert_allclose(risk + confidence, total)
        assert np.all(np.diff(risk) <= 0)
        assert np.all(np.diff(confidence) > 0)
        assert total.argmin() == search.choice_.index
        assert search.choice_.index not in (0, len(blocks) - 1)  # an interior minimum
        assert np.mean(search.best_(x) != y) == risk[search.choice_.index]
        wrong = np.mean(search.best_(grid) != truth)
        failures += 0.9 * wrong + 0.1 * (1 - wrong) > search.choice_.bound.value
    assert failures <= 10


def histogram(k: int, x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that is constant on k intervals and has the fewest errors."""

    def cell(x: np.ndarray) -> np.ndarray:
        return np.minimum((x * k).astype(int), k - 1)

    labels = np.where(np.bincount(cell(x), weights=y, minlength=k) >= 0, 1, -1)
    return lambda x: labels[cell(x)]


@pytest.mark.spec("SM-7.49")
def test_constrained_and_penalised_problems_have_the_same_solution() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(15, 1)), rng.normal(size=15)
    K = RBF(1.0)(X)

    def fit(lam: float) -> np.ndarray:
        return np.linalg.solve(K + lam * np.eye(15), y)

    def size(a: np.ndarray) -> float:
        return math.sqrt(a @ K @ a)

    lam, a = constrained(fit, size, limit=0.8)
    assert size(a) == pytest.approx(0.8, rel=1e-8)
    assert fit(lam) == pytest.approx(a)
    # Projected gradient on the constrained problem reaches the same function.
    b, step = np.zeros(15), 0.5 / np.linalg.eigvalsh(K)[-1]
    for _ in range(20_000):
        b = b + step * (y - K @ b)
        b *= min(1.0, 0.8 / size(b))
    assert K @ b == pytest.approx(K @ a, abs=1e-5)
    loose = constrained(fit, size, limit=1e6)
    assert loose[0] == 1e-8


@pytest.mark.spec("SM-7.50", code="src/mercer/kernels/algebra/product.py")
def test_a_shift_of_the_frequencies_leaves_the_spectrum_as_it_is() -> None:
    x = 2 * math.pi * np.arange(64)[:, None] / 64
    base = PeriodicGaussian(sigma=0.5)(x)
    spectrum = np.linalg.eigvalsh(base)
    assert spectrum[40] < 1e-3 * spectrum[-1]  # confined to low frequencies
    shift = np.exp(16j * (x - x.T))
    assert np.linalg.eigvalsh(base * shift) == pytest.approx(spectrum, abs=1e-10)
    # The real cosine splits every eigenvalue into two halves.
    wave = FourierSeries([0.0] * 16 + [1.0])(x)
    assert wave == pytest.approx(np.cos(16 * (x - x.T)), abs=1e-9)
    halves = np.sort(np.repeat(spectrum / 2, 2))[64:]
    assert np.linalg.eigvalsh(base * wave) == pytest.approx(halves, abs=1e-3 * spectrum[-1])


@pytest.mark.spec("SM-7.01")
def test_confidence_terms_are_monotone() -> None:
    def deviation(**change: float) -> float:
        given = {"n_samples": 10**5, "delta": 0.05, "scale": 1.0} | change
        cover = lambda eps, n: given["scale"] / eps  # noqa: E731
        return overall_bound(given["n_samples"], cover, given["delta"]).terms["deviation"]

    base = deviation()
    assert base > 0
    assert deviation(scale=2.0) > base  # a larger class
    assert deviation(n_samples=10**6) < base
    assert deviation(delta=0.2) < base
