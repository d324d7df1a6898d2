"""Linear machines far from the origin, and in units that make their kernel values huge or tiny."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer import SVC, SVR
from mercer.expansion import Expansion
from mercer.kernels import Linear
from mercer.numerics.sums import compensated_sums

FAR = 2.0**23


def integers(n_classes, n=200, columns=4):
    """Integers, whose translation is exact, with classes that overlap."""
    random = np.random.default_rng(0)
    X = random.integers(-8, 9, size=(n, columns)).astype(np.float64)
    return np.where(X == 0.0, 1.0, X), np.arange(n) % n_classes


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("n_classes", [2, 5, 20])
def test_decision_values_do_not_see_a_translation(n_classes, form):
    X, y = integers(n_classes)
    options = {"kernel": "linear", "decision_function_shape": "ovo", "tol": 1e-9}
    near = SVC(**options).fit(form(X), y)
    far = SVC(**options).fit(form(X + FAR), y)
    # Dot products of rows at 2^23 are rounded to 2^-6. What is left comes from coefficients whose
    # sum is 0 up to rounding, some 1e-14, times 2^23 and the length of a row.
    values = near.decision_function(form(X))
    np.testing.assert_allclose(far.decision_function(form(X + FAR)), values, atol=3e-5)
    w, v = (m.coef_.toarray() if form is csr_array else m.coef_ for m in (near, far))
    np.testing.assert_allclose(v, w, atol=1e-6)
    by_hand = (X + FAR) @ v.T + far.intercept_
    np.testing.assert_allclose(by_hand.reshape(values.shape), values, atol=3e-5)


def test_regressions_do_not_see_a_translation():
    X, _ = integers(2)
    t = X @ [1.0, -2.0, 0.5, 0.0] + np.sin(X[:, 0])
    near, far = (SVR(kernel="linear", tol=1e-8).fit(X + p, t) for p in (0.0, FAR))
    np.testing.assert_allclose(far.predict(X + FAR), near.predict(X), atol=3e-5)


def test_expansions_far_from_the_origin_keep_what_cancels():
    X, _ = integers(2, n=8)
    beta = np.array([[1.0, -0.75], [-1.0, 0.25], [1e-3, 0.5], [-1e-3, 0.0]] * 2)
    outputs = np.hstack([beta] * 5)  # more outputs than terms
    f = Expansion(Linear(), X + FAR, outputs, np.zeros(10))
    exact = (X + FAR).astype(object) @ (X.astype(object).T @ outputs.astype(object))
    np.testing.assert_allclose(f.evaluate(X + FAR), exact.astype(float), rtol=1e-13, atol=1e-6)


def test_compensated_sums_know_what_rounding_took():
    random = np.random.default_rng(1)
    a = random.normal(size=(50, 3))
    terms = np.concatenate([a, [[1e-20, 0.0, 3e-19]], -a])[random.permutation(101)]
    total, lost = compensated_sums(terms)
    np.testing.assert_allclose(total + lost, [1e-20, 0.0, 3e-19], atol=1e-28)


@pytest.mark.parametrize("n_classes", [2, 20])
@pytest.mark.parametrize("power", [-20, 20])
def test_units_of_the_rows_do_not_change_the_problem(n_classes, power):
    # Powers of two scale kernel values, costs and coefficients exactly.
    X, y = integers(n_classes)
    unit = 2.0**power
    plain = SVC(kernel="linear", C=0.1).fit(X, y)
    scaled = SVC(kernel="linear", C=0.1 / unit**2).fit(X * unit, y)
    for model in (plain, scaled):
        assert model.certificate_.status == "optimal"
        assert model.certificate_.kkt_violation < 1e-9
    np.testing.assert_allclose(scaled.coef_ * unit, plain.coef_, atol=1e-9)
