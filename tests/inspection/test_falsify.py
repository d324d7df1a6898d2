"""Searching for counterexamples."""

import itertools

import numpy as np
import pytest

from mercer.inspection import check, falsify
from mercer.inspection.counterexample_search import reduce_counterexample
from mercer.inspection.eigenvalue_descent import _value_and_gradient, scaled_extreme
from mercer.inspection.samplers import Box
from mercer.kernels import RBF, FromFunction, Laplacian, Linear, Polynomial, Sigmoid
from tests.inspection.splines import spline_kernel

QUICK = {"n_trials": 24, "max_points": 32}


@pytest.mark.spec("LFD-51", "CS-3.23")
@pytest.mark.parametrize(
    "kernel",
    [
        Sigmoid(gamma=1.0, coef0=-1.0),
        Sigmoid(gamma=0.1, coef0=1.0),
        Polynomial(degree=2, gamma=1.0, coef0=-1.0),
        lambda A, B: -(A @ B.T),
        lambda A, B: np.exp(-(A @ B.T)),
        lambda A, B: np.exp(-(np.abs(A - B.T) ** 3)),
        spline_kernel(2),
        spline_kernel(4),
    ],
)
def test_impostors_are_found_out(kernel):
    found = falsify(kernel, (-6.0, 6.0), **QUICK)
    assert found.falsified
    verdict = check(kernel, found.points)
    assert verdict.witness.value == pytest.approx(found.witness.value)
    assert found.witness.upper_bound < 0
    for out in range(len(found.points)):  # no object can be left out
        rest = np.delete(found.points, out, axis=0)
        assert len(rest) == 0 or check(kernel, rest).witness is None
    assert f"by {len(found.points)} object" in str(found)


@pytest.mark.spec("LFD-51", "CS-3.23", "SM-3.06")
@pytest.mark.parametrize(
    "kernel", [RBF(1.0), Laplacian(1.0), Linear(), spline_kernel(1), spline_kernel(3)]
)
def test_kernels_are_not(kernel):
    found = falsify(kernel, (-3.0, 3.0), **QUICK)
    assert not found.falsified
    assert found.points is None
    assert found.witness is None
    assert found.smallest > -1e-12
    assert str(found).startswith("not falsified after 24 trials")
    assert found.to_dict()["verdict"] is None


def test_the_search_is_reproducible():
    kernel = spline_kernel(2)
    a, b = (falsify(kernel, (0.0, 12.0), random_state=5, **QUICK) for _ in range(2))
    assert np.array_equal(a.points, b.points)
    assert a.to_dict() == b.to_dict()
    other = falsify(kernel, (0.0, 12.0), random_state=np.random.default_rng(6), **QUICK)
    assert other.falsified


def test_descents_find_what_trials_miss():
    # Negative only near one place, which random points and meshes of the box hardly meet.
    def kernel(A, B):
        bump = np.exp(-((A - 0.3) ** 2) * 20) * np.exp(-((B.T - 0.3) ** 2) * 20)
        return np.exp(-((A - B.T) ** 2)) * (1 + 0.6 * bump * (1 - np.exp(-((A - B.T) ** 2) * 4)))

    options = {"n_points": 4, "max_points": 4, "n_trials": 12, "random_state": 3}
    assert not falsify(kernel, (-6.0, 6.0), descents=False, **options).falsified
    assert falsify(kernel, (-6.0, 6.0), descents=True, **options).falsified


def test_the_gradient_of_the_smallest_eigenvalue():
    X = np.random.default_rng(0).normal(size=(5, 2))
    kernel = Polynomial(degree=3, gamma=0.5, coef0=1.0)
    _, gradient = _value_and_gradient(kernel, X)
    for i in range(5):
        for a in range(2):
            ends = []
            for step in (1e-5, -1e-5):
                moved = X.copy()
                moved[i, a] += step
                ends.append(scaled_extreme(kernel(moved))[0])
            assert gradient[i, a] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-6)


def test_objects_of_any_kind():
    def words(rng, n):
        return ["".join(rng.choice(list("ab"), rng.integers(1, 6))) for _ in range(n)]

    longest = FromFunction(lambda A, B: [[max(len(a), len(b)) for b in B] for a in A])
    common = FromFunction(lambda A, B: [[min(len(a), len(b)) for b in B] for a in A])
    assert falsify(longest, words, **QUICK).falsified
    assert not falsify(common, words, n_trials=10, max_points=8).falsified


def test_objects_are_exchanged_where_there_is_no_gradient():
    # Only a set that holds both rare words fails; exchanging single words finds it.
    def rare(rng, n):
        return [f"w{i}" for i in rng.integers(0, 40, size=n)]

    def kernel(A, B):
        odd = {"w1", "w2"}
        return [[float(a == b) + 1.5 * (a != b and {a, b} == odd) for b in B] for a in A]

    options = {"n_points": 4, "max_points": 4, "n_trials": 3}
    found = [falsify(kernel, rare, random_state=s, **options) for s in range(40)]
    without = [falsify(kernel, rare, random_state=s, descents=False, **options) for s in range(40)]
    assert sum(f.falsified for f in found) > sum(f.falsified for f in without)
    for result in found:
        if result.falsified:
            assert sorted(result.points) == ["w1", "w2"]


def test_objects_may_be_drawn_from_a_collection():
    X = np.linspace(-2, 2, 9)[:, None]
    assert falsify(Sigmoid(1.0, -1.0), X, n_trials=5).falsified
    found = falsify(Sigmoid(1.0, -1.0), X.tolist(), n_trials=5)
    assert found.falsified
    assert not falsify(RBF(1.0), X, n_trials=5).falsified


def test_the_callback_sees_every_trial_and_may_stop():
    seen = []

    def watch(state):
        seen.append(state)
        return state.trial == 7

    found = falsify(RBF(1.0), (-1.0, 1.0), n_trials=30, callback=watch)
    assert [state.trial for state in seen] == list(range(1, 8))
    assert found.n_trials == 7
    assert all(state.n_trials == 30 and state.n_points >= 8 for state in seen)
    assert all(b.smallest <= a.smallest for a, b in itertools.pairwise(seen))


def test_progress_is_shown_on_request_only(capsys, monkeypatch):
    falsify(RBF(1.0), (-1.0, 1.0), n_trials=3, descents=False)
    assert capsys.readouterr().out == ""
    import builtins

    real = builtins.__import__

    def without_rich(name, *arguments, **keywords):
        if name.startswith("rich"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    falsify(RBF(1.0), (-1.0, 1.0), n_trials=3, descents=False, verbose=1)
    assert "3/3" in capsys.readouterr().out
    monkeypatch.setattr(builtins, "__import__", without_rich)
    falsify(RBF(1.0), (-1.0, 1.0), n_trials=3, descents=False, verbose=1)
    assert capsys.readouterr().out.splitlines()[-1].startswith("[falsify] 3/3  smallest")


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="low < high"):
        falsify(RBF(1.0), (1.0, 1.0))
    with pytest.raises(TypeError, match=r"sampler must be a function f\(rng, n\)"):
        falsify(RBF(1.0), 3)
    with pytest.raises(ValueError, match="no objects"):
        falsify(RBF(1.0), [])
    with pytest.raises(ValueError, match="bind it first"):
        falsify(RBF(), (0.0, 1.0))
    with pytest.raises(ValueError, match="n_points"):
        falsify(RBF(1.0), (0.0, 1.0), n_points=1)
    with pytest.raises(ValueError, match="max_points"):
        falsify(RBF(1.0), (0.0, 1.0), n_points=9, max_points=8)
    with pytest.raises(ValueError, match="finite numbers"):
        falsify(RBF(1.0), (0.0, np.inf))


def test_points_and_meshes_stay_in_the_box():
    box = Box([0.0, -1.0], [2.0, 3.0])
    rng = np.random.default_rng(0)
    for n in (2, 4, 9, 30):
        for points in (box(rng, n), box.mesh(rng, n)):
            assert points.shape[1] == 2
            assert (points >= box.low).all()
            assert (points <= box.high + 1e-12).all()
    assert len(box.mesh(rng, 9)) == 9
    assert len(Box([0.0] * 8, [1.0] * 8).mesh(rng, 5)) == 5  # too few for a mesh


def test_a_counterexample_is_reduced_to_what_matters():
    K = np.eye(9)
    K[2, 7] = K[7, 2] = 1.5
    assert reduce_counterexample(K).tolist() == [2, 7]
    assert reduce_counterexample(np.eye(3)) is None
