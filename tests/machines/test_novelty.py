"""Parzen densities and calibrated novelty scores."""

import signal

import numpy as np
import pytest
import scipy.special
import scipy.stats
from sklearn.neighbors import KernelDensity

import mercer
from mercer import SVDD, ConformalNovelty, OneClassSVM, ParzenDensity
from mercer.kernels import RBF, Spectrum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2)) * [1.0, 3.0]


def test_density_is_that_of_the_definition():
    ours = ParzenDensity(0.5).fit(X)
    theirs = KernelDensity(bandwidth=0.5).fit(X)
    Z = np.vstack([X[:10], [[100.0, -400.0]]])  # the last one underflows
    np.testing.assert_allclose(ours.score_samples(Z), theirs.score_samples(Z))
    assert ours.score(X) == pytest.approx(theirs.score(X))
    grid = np.linspace(-8.0, 8.0, 2001)[:, None]
    line = ParzenDensity("silverman").fit(X[:, :1])
    assert np.exp(line.score_samples(grid)).sum() * 0.008 == pytest.approx(1.0)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_for_the_width(rule):
    model = ParzenDensity(rule).fit(X[:, :1])
    peer = scipy.stats.gaussian_kde(X[:, 0], rule)
    assert model.bandwidth_ == pytest.approx(peer.factor)
    np.testing.assert_allclose(model.scale_, X[:, :1].std(axis=0))


def test_leave_one_out_likelihood_is_that_of_refits_and_is_maximal():
    few = X[:25]
    model = ParzenDensity("likelihood").fit(few)

    def likelihood(h):
        scaled = few / model.scale_
        total = 0.0
        for i in range(25):
            rest = ParzenDensity(h).fit(np.delete(scaled, i, axis=0))
            total += rest.score_samples(scaled[i : i + 1])[0]
        return total - 25 * np.log(model.scale_).sum()

    best = likelihood(model.bandwidth_)
    assert model.loo_log_likelihood_ == pytest.approx(best)
    assert best > max(likelihood(0.9 * model.bandwidth_), likelihood(1.1 * model.bandwidth_))
    assert model.certificate_.status == "stationary"
    # The likelihood of repeated rows grows without bound.
    twice = ParzenDensity().fit(np.repeat(few, 2, axis=0))
    assert twice.certificate_.status == "infeasible"


@pytest.mark.parametrize("by_keyboard", [True, False])
def test_a_stopped_search_for_a_width_keeps_the_best_one(by_keyboard):
    objectives = []

    def stop(report):
        objectives.append(report.objective)
        if len(objectives) == 3 and by_keyboard:
            signal.raise_signal(signal.SIGINT)
        return len(objectives) == 3

    model = ParzenDensity().set_callbacks(stop)
    if by_keyboard:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    else:
        model.fit(X)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.n_iter == len(objectives) == 3
    shift = 100 * np.log(model.scale_).sum()
    assert model.certificate_.primal == pytest.approx(min(objectives) + shift)


def test_an_outlier_does_not_widen_the_windows_of_all_other_rows():
    """Its own term, far below rounding of its own window, is what a larger width must gain."""
    rows = np.vstack([np.random.default_rng(0).normal(size=(300, 2)), [[14.0, 14.0]]])
    model = ParzenDensity().fit(rows)
    scaled = rows / model.scale_
    squares = ((scaled[:, None] - scaled) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)

    def likelihood(h):
        sums = scipy.special.logsumexp(-0.5 * squares / h**2, axis=1)
        return (sums - np.log(300 * 2 * np.pi * h**2)).sum() - 301 * np.log(model.scale_).sum()

    assert model.loo_log_likelihood_ == pytest.approx(likelihood(model.bandwidth_))
    best = max(likelihood(h) for h in np.geomspace(0.01, 10.0, 60))
    assert model.loo_log_likelihood_ >= best
    assert squares[300].min() / (2 * model.bandwidth_**2) > 40  # exp(-40) vanishes beside 1


def test_weights_are_repetitions_and_samples_have_the_density():
    weight = np.arange(100) % 3
    repeated = np.repeat(X, weight, axis=0)
    for rule in ("scott", 0.7):
        a = ParzenDensity(rule).fit(X, sample_weight=weight)
        b = ParzenDensity(rule).fit(repeated)
        np.testing.assert_allclose(a.score_samples(X), b.score_samples(X))
    drawn = ParzenDensity(0.1).fit(X).sample(4000, random_state=0)
    np.testing.assert_allclose(drawn.std(axis=0), X.std(axis=0), rtol=0.05)


@pytest.mark.parametrize(
    "machine", [SVDD(0.2, kernel=RBF(0.3)), OneClassSVM(nu=0.2, gamma=0.3), ParzenDensity("scott")]
)
def test_rate_of_false_alarms_is_bounded(machine):
    """P(p <= alpha) <= alpha; here exactly floor(alpha (m + 1)) / (m + 1) = 4 / 41 in the mean."""
    rng = np.random.default_rng(1)
    alarms = []
    for seed in range(40):
        model = ConformalNovelty(machine, alpha=0.1, random_state=seed).fit(
            rng.normal(size=(80, 2))
        )
        fresh = rng.normal(size=(100, 2))
        assert ((model.score_samples(fresh) <= 0.1) == (model.predict(fresh) == -1)).all()
        alarms.append((model.predict(fresh) == -1).mean())
        assert model.predict([[9.0, 9.0]]).tolist() == [-1]
    # 4 / 41 = 0.098 expected; over 40 splits the standard deviation is about 0.009.
    assert np.mean(alarms) == pytest.approx(4 / 41, abs=0.03)


def test_too_few_calibration_objects_for_an_alarm_warn():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(UserWarning, match=r"at least 24 calibration objects \(48 in all"):
        model = ConformalNovelty(alpha=0.04, random_state=0).fit(rows)
    assert model.predict([[99.0, 99.0]]).tolist() == [1]
    more = np.random.default_rng(0).normal(size=(48, 2))
    model = ConformalNovelty(alpha=0.04, random_state=0).fit(more)
    assert model.predict([[99.0, 99.0]]).tolist() == [-1]


def test_strings_files_and_bad_input(tmp_path):
    words = ["banana", "bananas", "ananas", "nanana", "banan", "nabana", "anana", "banaba"]
    model = ConformalNovelty(SVDD(0.5, kernel=Spectrum(2)), alpha=0.2, random_state=0).fit(words)
    assert model.predict(["kernel"]).tolist() == [-1]
    mercer.save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model").score_samples(words), model.score_samples(words)
    )
    density = ParzenDensity().fit(X)
    mercer.save(density, tmp_path / "model")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model").score_samples(X), density.score_samples(X)
    )
    with pytest.raises(ValueError, match="bandwidth must be a number or one of"):
        ParzenDensity("median").fit(X)
    with pytest.raises(ValueError, match="2 different rows"):
        ParzenDensity().fit(np.ones((4, 2)))
    with pytest.raises(ValueError, match="alpha must lie in"):
        ConformalNovelty(alpha=1.0).fit(X)
    with pytest.raises(TypeError, match="no score_samples"):
        ConformalNovelty(mercer.KernelPCA()).fit(X)
