"""Kernels of order 2: what is refused, what ends early, and what the model then is."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NotSeparableError, NuSVC, NuSVR, OneClassSVM
from mercer.expansion import Expansion
from mercer.kernels import FromFunction, ThinPlate
from mercer.solvers import dense_interior_point
from tests.machines.splines import LABELS, NEW, X, Y, fitted


@pytest.mark.parametrize(
    ("machine", "y"), [(NuSVC, LABELS), (NuSVR, Y), (OneClassSVM, None)], ids=lambda m: str(m)[:9]
)
def test_machines_without_a_linear_function_name_those_that_have_one(machine, y):
    with pytest.raises(ValueError, match=r"linear term, which \w+ lacks. Use SVR or SVC"):
        machine(kernel=ThinPlate()).fit(X, y)


@pytest.mark.spec("SM-3.54")
@pytest.mark.parametrize(("machine", "y"), [(SVC, LABELS), (SVR, Y)], ids=["SVC", "SVR"])
def test_without_a_bias_there_is_no_linear_function_either(machine, y):
    with pytest.raises(ValueError, match=r"fit_intercept=False excludes. Use fit_intercept=True"):
        machine(kernel=ThinPlate(), fit_intercept=False).fit(X, y)


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(ValueError, match="use a finite C"):
        SVC(kernel=ThinPlate(), C=np.inf).fit(X, LABELS)
    with pytest.raises(NotSeparableError, match="no function stays within epsilon"):
        SVR(kernel=ThinPlate(), C=np.inf, epsilon=0.1).fit(
            np.vstack([X, X]), np.concatenate([Y, Y + 1.0])
        )


def plates(A, B):
    r = cdist(A, B)
    return r**2 * np.log(np.where(r > 0, r, 1.0))


def test_the_word_of_a_user_is_an_assumption_and_a_wrong_one_is_found_out():
    claim = "conditionally positive definite of order 2"
    model = SVR(kernel=FromFunction(plates, claim), C=2.0, epsilon=0.05).fit(X, Y)
    assert model.certificate_.assumes == "cpd"
    np.testing.assert_allclose(model.predict(NEW), fitted().predict(NEW), atol=1e-8)
    with pytest.raises(ValueError, match=r"claims to be .* quadratic form is negative"):
        SVR(kernel=FromFunction(lambda A, B: -plates(A, B), claim)).fit(X, Y)
    with pytest.raises(ValueError, match="rows of numbers only"):
        SVR(kernel=FromFunction(lambda A, B: np.zeros((len(A), len(B))), claim)).fit(
            ["a", "b"], [0, 1]
        )


def test_limits_are_honest_and_memory_is_announced(monkeypatch):
    best = fitted().certificate_.primal
    with pytest.warns(ConvergenceWarning, match="max_iter=4"):
        short = SVR(kernel=ThinPlate(), C=2.0, epsilon=0.05, max_iter=4, tol=1e-6).fit(X, Y)
    proof = short.certificate_
    assert (proof.status, short.n_iter_) == ("iteration_limit", 4)
    assert proof.dual <= best <= proof.primal
    assert proof.gap == pytest.approx(proof.primal - proof.dual)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted(gap_tol=1e-8).certificate_.status == "optimal"
    monkeypatch.setattr(dense_interior_point, "_memory", lambda: 1e5)
    with pytest.raises(MemoryError, match="60 rows need"):
        fitted()


def test_an_interrupt_keeps_what_there_is(monkeypatch):
    step = dense_interior_point._Method._step
    taken = []

    def interrupted(self, it):
        taken.append(1)
        if len(taken) > 6:
            raise KeyboardInterrupt
        return step(self, it)

    monkeypatch.setattr(dense_interior_point._Method, "_step", interrupted)
    model = SVR(kernel=ThinPlate(), C=2.0, epsilon=0.05)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.predict(NEW)).all()


def test_expansions_check_the_linear_function():
    f = Expansion(ThinPlate(), [[0.0, 0.0]], [0.0], 1.0, poly_coef=[2.0, 3.0])
    assert f([[1.0, 1.0]]).tolist() == [6.0]
    with pytest.raises(ValueError, match="one number for each feature; got shape"):
        Expansion(ThinPlate(), [[0.0, 0.0]], [0.0], poly_coef=[[2.0, 3.0]])
    with pytest.raises(ValueError, match="each of the 2 outputs"):
        Expansion(ThinPlate(), [[0.0, 0.0]], [[0.0, 1.0]], poly_coef=[2.0, 3.0])
