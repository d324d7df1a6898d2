"""Certificates of machines with free linear functions, compared with optima in 60 digits."""

from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest

from mercer import SVC, SVR
from mercer.kernels import Multiquadric, ThinPlate
from tests.fuzz.exact import Program, exact, minimum


def _thin_plate(X):
    def value(a, b):
        s = mp.fsum((p - q) ** 2 for p, q in zip(a, b, strict=True))
        return Decimal(mp.nstr(s * mp.log(s) / 2, 60)) if s else Decimal(0)

    with mp.workdps(60):
        rows = [[mp.mpf(float(v)) for v in row] for row in X]
        return [[value(a, b) for b in rows] for a in rows]


def _multiquadric(X):
    with mp.workdps(60):
        rows = [[mp.mpf(float(v)) for v in row] for row in X]
        squares = [[mp.fsum((p - q) ** 2 for p, q in zip(a, b, strict=True)) for b in rows]
                   for a in rows]  # fmt: skip
        return [[Decimal(mp.nstr(-mp.sqrt(s + 1), 60)) for s in line] for line in squares]


def _optimum(K, X, y, C, beta, linear):
    """Return the value of the hinge machine with a constant and, perhaps, linear functions."""
    n, sign = len(y), [exact(v) for v in y]
    Q = [[sign[i] * sign[j] * K[i][j] for j in range(n)] for i in range(n)]
    columns = [np.ones(n), *(X.T if linear else [])]
    A = [[s * exact(v) for s, v in zip(sign, column, strict=True)] for column in columns]
    zero = Decimal(0)
    program = Program(Q, [Decimal(-1)] * n, [zero] * n, [exact(C)] * n, A, [zero] * len(A))
    found = minimum(program, np.abs(beta).tolist())
    assert found is not None
    return -found


@pytest.mark.parametrize(
    ("kernel", "matrix"), [(ThinPlate(), _thin_plate), (Multiquadric(1.0), _multiquadric)], ids=repr
)
@pytest.mark.parametrize(
    ("seed", "offset", "C"),
    [(30, 1e4, 1.0), (0, 0.0, 1.0), (1, 1e2, 100.0), (2, 1e4, 1e4), (3, 1e5, 1.0), (7, 1e5, 100.0)],
)
def test_certificates_bracket_the_optimum(kernel, matrix, seed, offset, C):
    rng = np.random.default_rng(seed)
    X, y = offset + rng.normal(size=(9, 2)), np.where(np.arange(9) % 2 == 0, 1.0, -1.0)
    model = SVC(kernel=kernel, C=C).fit(X, y)
    beta = np.zeros(9)
    beta[model.support_] = model.dual_coef_[0]
    optimum = _optimum(matrix(X), X, y, C, beta, isinstance(kernel, ThinPlate))
    rigorous = model.certify(X, y, rigorous=True)
    for proof in (model.certificate_, model.certify(X, y), rigorous):
        assert exact(proof.dual) <= optimum <= exact(proof.primal)
        assert 0.0 <= proof.gap < 5e-4 * proof.primal
    assert rigorous.guaranteed


def test_equations_that_hold_up_to_rounding_only_are_no_guarantee():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    X = np.hstack([X, X * (1.0 + 1e-15 * rng.normal(size=(30, 1)))])
    y = np.where(rng.normal(size=30) > 0, 1, -1)
    proof = SVC(kernel=ThinPlate()).fit(X, y).certify(X, y, rigorous=True)
    assert not proof.guaranteed
    assert "nearly dependent columns" in str(proof)


@pytest.mark.parametrize("kernel", ["rbf", ThinPlate()], ids=repr)
def test_a_hard_tube_says_for_which_tubes_its_values_hold(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.sin(X[:, 0])
    model = SVR(kernel=kernel, C=np.inf, epsilon=0.1).fit(X, y)
    for proof in (model.certificate_, model.certify(X, y, rigorous=True)):
        excess = np.max(np.abs(y - model.predict(X)) - 0.1)
        assert max(excess, 0.0) < proof.widened < 1e-6
        assert "of tubes wider by" in str(proof)
    assert SVR(epsilon=0.1).fit(X, y).certificate_.widened == 0.0
    assert SVC(C=np.inf).fit(X, y > 0).certificate_.widened == 0.0
