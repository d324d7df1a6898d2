"""Linear machines far from the origin, and in units that make their kernel values huge or tiny."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

from mercer import SVC, SVR, NuSVC, NuSVR
from mercer.expansion import Expansion
from mercer.kernels import Linear
from mercer.numerics.sums import compensated_product, compensated_sums
from mercer.solvers.certificate import GAP_LIMIT

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


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_tube_that_holds_all_targets_needs_no_support_vectors(form):
    X, t = integers(2)
    model = SVR(kernel="linear", epsilon=2.0).fit(form(X + FAR), t)
    assert len(model.support_) == 0
    np.testing.assert_array_equal(model.predict(form(X + FAR)), model.intercept_.repeat(200))


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


def _hostile():
    """Return machines, rows, targets, weights: huge prices, far from the origin."""
    x = [-245730, -245790, -245760, -245850, -245760, -245730, -245730, -245730, -245760.0]
    y = [1, 1, -1, 1, 1, -1, -1, -1, 1]
    w = [0.0, 3.6e7, 418.0, 0.0, 0.045, 932.0, 3.5e-7, 7e-4, 0.0]
    yield SVC(C=0.478, C2=0.0199, kernel="linear"), csr_array(np.c_[x]), y, w
    x, y = [-0.999999, -0.999999, -1.0, -1.0], [-2.494e-5, 1.26416e-4, -6.90346e-4, -6.27329e-4]
    squared = SVR(kernel="linear", C=1.36e15, epsilon=0.0, loss="squared_epsilon_insensitive")
    yield squared, np.c_[x], y, [0.038, 0.0026, 4.3e5, 1.5e7]
    x = [23521, -25236, -136468, -163072, -101642, 13031, 76868, 8934, 236827, 98147, 10867]
    x += [23148, -48415, -175437, 119298, 14735, 215259, 95532, -4302, -87567, 144081, 23843]
    y = [1, -1, 1, -1, -1, 1, 1, -1, 1, -1, 1, -1, -1, 1, -1, -1, -1, 1, 1, 1, 1, -1]
    yield SVC(C=1e8, C2=3.29e9, kernel="linear"), np.c_[x] / -1e5 - 1e6, y, np.ones(22)
    x = [[-189, -39, -236, 261, 1622, -88, 423], [893, -560, -603, -615, 706, 580, 186]]
    x += [[-1047, -41, 1368, -169, 770, 802, -205]]
    y = [1, -1, -1, -1, 1, -1, 1, -1, 1, 1, -1, 1, -1, 1]
    w = [1.4e-8, 4e-4, 62.0, 0.13, 0.009, 1.5e-6, 47.0, 6.9e-6, 1.7e7, 0.055, 2.3e-4, 1.24e7]
    rows = np.repeat(np.transpose(x), 2, axis=0) / 1e6 + 8.192
    yield SVC(C=3.2e8, C2=6.3e9, kernel="linear"), rows, y, [*w, 3.27e7, 127.0]


@pytest.mark.parametrize(("machine", "rows", "y", "weight"), list(_hostile()))
def test_predictions_have_the_objective_that_was_proved(machine, rows, y, weight):
    """The intercept and the weight vector lost up to 95 % between centred rows and those given."""
    model = machine.fit(rows, y, sample_weight=weight)
    y, price = np.asarray(y, dtype=float), machine.C * np.asarray(weight)
    w = np.ravel(model.coef_.toarray() if issparse(model.coef_) else model.coef_)
    for values in (
        model.predict(rows) if isinstance(machine, SVR) else model.decision_function(rows),
        rows @ w + model.intercept_,
    ):
        if isinstance(machine, SVR):
            loss = price @ (y - values) ** 2
        else:
            slack = np.maximum(0.0, 1.0 - y * values)
            loss = price @ (slack + machine.C2 / machine.C * slack**2)
        # A decision value is rounded by some units in the last place of its terms.
        terms = np.abs(w) @ np.max(np.abs(rows), axis=0) + abs(model.intercept_[0])
        rounding = price.sum() * np.finfo(float).eps * float(np.ravel(terms)[0])
        primal = model.certificate_.primal
        assert 0.5 * w @ w + loss <= primal * (1.0 + 1e-6) + rounding


@pytest.mark.parametrize("machine", [NuSVR(nu=0.7), SVR(epsilon=1.0), SVC()])
@pytest.mark.parametrize(("offset", "price"), [(1e4, 1e6), (1e6, 1e3), (1e6, 1e6)])
def test_certificates_bound_the_objective_of_predictions(machine, offset, price):
    """What pair steps leave in the sum of coefficients counts times the offset."""
    random = np.random.default_rng(6)
    x, noise = random.normal(size=(2, 30))
    weight, X = random.choice([1e-4, 1.0, 2.0, 1e4], 30), x[:, None] + offset
    y = np.sign(x + noise) if isinstance(machine, SVC) else 1e3 * noise
    model = clone(machine).set_params(C=price, kernel="linear").fit(X, y, weight)
    if isinstance(machine, SVC):
        f = model.decision_function(X)
        cost = weight @ np.maximum(1.0 - y * f, 0.0)
    else:
        f = model.predict(X)
        r, tubes = np.abs(y - f), [1.0]
        if isinstance(machine, NuSVR):
            tubes = [0.0, *r]
        costs = [weight @ np.maximum(r - t, 0.0) for t in tubes]
        if isinstance(machine, NuSVR):
            costs = [c + 0.7 * weight.sum() * t for c, t in zip(costs, tubes, strict=True)]
        cost = min(costs)
    value = 0.5 * model.coef_[0, 0] ** 2 + price * cost
    for certificate in (model.certificate_, model.certify(X, y, weight)):
        assert certificate.dual <= value <= certificate.primal
        assert certificate.relative_gap <= GAP_LIMIT


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("machine", [SVC(kernel="linear", C=5.0), SVR(kernel="linear", C=5.0)])
def test_rows_of_float32_are_centred_without_rounding(machine, form):
    """Differences of float32 numbers beyond a factor 2 are no float32 numbers."""
    random = np.random.default_rng(0)
    X = 1.0 + 0.02 * random.normal(size=(20, 2))
    X[random.random(20) < 0.2] += 3.0 * random.normal(size=2)
    X, y = X.astype(np.float32), random.normal(size=20) * 100.0
    y = np.sign(y) if isinstance(machine, SVC) else y
    single, double = (clone(machine).fit(form(X.astype(d)), y) for d in (np.float32, float))
    for proof in (single.certificate_, single.certify(form(X), y)):
        assert proof.dual <= double.certificate_.primal
        assert double.certificate_.dual <= proof.primal
    f, g = (getattr(m, "decision_function", m.predict) for m in (single, double))
    np.testing.assert_allclose(f(form(X)), g(form(X.astype(float))), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "decomposition"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_whose_squares_overflow_are_proved_around_their_centre(form, solver):
    model = SVC(kernel="linear", solver=solver).fit(form(np.full((2, 2), 1e159)), [-1, 1])
    proof = model.certificate_  # f = 0 is optimal, with a slack of 1 for each row
    assert proof.status == "optimal"
    assert proof.dual <= 2.0 <= proof.primal


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_margins_whose_squares_leave_the_range_of_numbers_are_proved(scale):
    rows = np.array([[-1.0], [1.0]]) * scale
    proof = NuSVC(nu=0.5, kernel="linear").fit(rows, [-1, 1]).certificate_
    # alpha = 1/2 each: w = scale, and the optimum is -w^2 / 2.
    assert proof.dual <= -(scale**2) / 2 <= proof.primal
    assert proof.status == "optimal"


@pytest.mark.parametrize(("small", "large"), [(1.0, 1.0), (1e-300, 1e303), (1e-150, 1e-150)])
def test_compensated_products_are_exact_to_the_last_digits(small, large):
    random = np.random.default_rng(0)
    left, right = random.normal(size=(2, 40)) * 1e9 * small, random.normal(size=(40, 3)) * large
    left = np.hstack([left, -left * (1.0 + 1e-13)])
    right = np.vstack([right, right])
    exact = [
        [
            float(sum(Fraction(a) * Fraction(b) for a, b in zip(line, column, strict=True)))
            for column in right.T.tolist()
        ]
        for line in left.tolist()
    ]
    for given in (right, csr_array(right)):
        product, lost = compensated_product(left, given)
        np.testing.assert_allclose(product + lost, exact, rtol=1e-12)


def test_a_tube_that_holds_all_rows_needs_no_support_vector():
    model = SVR(kernel="linear", epsilon=10.0).fit([[1000.0], [1001.0], [1002.0]], [0.0, 1.0, 2.0])
    assert model.predict([[5.0]]) == [1.0]


def test_the_primal_value_counts_coefficients_whose_sum_is_not_rounding():
    # All coefficients are rounding of larger ones that cancel; their sum is multiplied by p.
    X = [
        [99999921304438.8, 100000183467957.89, 100000000897890.12, 99999925097892.38],
        [99999985965818.95, 99999899942772.67, 100000008112445.52, 99999973344136.28],
    ]
    y = np.array([2.5e-151, 9.1e-151])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rounding ends the fit
        model = NuSVR(kernel="linear", C=8e-6, nu=0.1, solver="decomposition").fit(X, y)
    excess = np.maximum(np.abs(y - model.predict(X)) - model.epsilon_, 0.0)
    assert model.C * excess.sum() <= model.certificate_.primal
    proof = model.certify(X, y)
    assert model.C * excess.sum() <= proof.primal
