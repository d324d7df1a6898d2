"""A function that is not symmetric is no kernel: no machine trains on it, let alone proves it."""

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.geometry import smallest_enclosing_ball
from mercer.kernels import RBF, DistanceKernel, FromFunction, Kernel

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
Y = X[:, 0] + 0.5 * rng.normal(size=200)
LABELS = (Y > 0).astype(int)


def shifted(A, B):
    return np.exp(-((A[:, None] - B - 0.5) ** 2).sum(-1))


def slightly(A, B):
    return symmetric(A, B) * (1 + 0.01 * np.sign(A[:, :1] - B[:, 0]))


def symmetric(A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(-1))


class Shifted(Kernel):
    def tile(self, A, B):
        return shifted(A, B)


KERNELS = {
    "callable": shifted,
    "slightly": slightly,
    "declared": FromFunction(shifted, definiteness="positive definite"),
    "subclass": Shifted(),
    "sum": 2 * FromFunction(shifted) + RBF(1.0),
    "columns": FromFunction(shifted).on_columns([0]),
    "distance": DistanceKernel(lambda A, B: ((A[:, None] - B - 0.5) ** 2).sum(-1)),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("machine", [SVC, NuSVC, SVR, NuSVR, OneClassSVM])
def test_it_is_refused_with_two_objects_that_show_it(machine, kernel):
    model = machine(kernel=kernel)
    target = LABELS if machine in (SVC, NuSVC) else Y
    with pytest.raises(ValueError, match=r"must be symmetric; k\(x_\d+, x_\d+\) = .* but"):
        model.fit(X, None if machine is OneClassSVM else target)
    assert not hasattr(model, "dual_coef_")


def test_the_two_objects_are_those_of_the_user():
    def only_two(A, B):
        odd = (A[:, :1] == X[10, 0]) & (B[:, 0] == X[12, 0])
        return symmetric(A, B) + 0.5 * odd

    weight = np.zeros(200)
    weight[[0, 1, 2, 3, 10, 12, 20, 30]] = 1.0
    with pytest.raises(ValueError, match=r"\(x_10, x_12\).*\(x_12, x_10\).*objects 10 and 12"):
        SVR(kernel=only_two).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(("machine", "target"), [(SVC, LABELS), (SVR, Y)])
def test_no_pair_is_rare_enough_to_be_proved(machine, target):
    """One of forty thousand values, which a sample does not see, moves a decision value."""
    sample = set(np.linspace(0, 199, 64).astype(int))
    fitted = machine(kernel=symmetric).fit(X, target)
    free = fitted.support_[(np.abs(fitted.dual_coef_[0]) < 1.0 - 1e-9)]
    i, j = [k for k in free.tolist() if k not in sample][:2]

    def rarely(A, B):
        odd = (A[:, :1] == X[i, 0]) & (B[:, 0] == X[j, 0])
        return symmetric(A, B) + 0.5 * odd

    with pytest.raises(ValueError, match=f"objects ({i} and {j}|{j} and {i}) under"):
        machine(kernel=rarely).fit(X, target)


def test_rounding_is_no_asymmetry():
    far = X + 1000.0

    def rounded(A, B):  # the squared distance loses digits, others in each order
        A, B = A.astype(np.float32), 1.0 * B
        square = (A * A).sum(1)[:, None] + (B * B).sum(1) - 2 * A @ B.T
        return 1.0 / (1.0 + np.maximum(square, 0) / 1e6)

    values = rounded(far, far)
    assert 0 < np.abs(values - values.T).max() < 1e-5
    assert SVC(kernel=rounded).fit(far, LABELS).certificate_.converged


def test_a_symmetric_function_trains_as_before():
    own, native = (SVC(kernel=k).fit(X, LABELS) for k in (symmetric, RBF(1.0)))
    np.testing.assert_allclose(own.decision_function(X), native.decision_function(X), atol=2e-3)
    assert own.certificate_.converged


def test_the_ball_of_no_kernel_is_refused():
    with pytest.raises(ValueError, match="must be symmetric"):
        smallest_enclosing_ball(FromFunction(shifted), X)
