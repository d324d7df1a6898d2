"""Numbers beyond every range and texts of megabytes get the errors of other bad values."""

import numpy as np
import pytest
from sklearn.utils._testing import ignore_warnings

from mercer import SVC, SVR, KernelPCA, KernelRidge, NuSVC
from mercer.kernels import RBF, Polynomial
from mercer.objects.parameters import ParameterError, show
from mercer.persistence.classes import estimator_classes

HUGE = {
    "an integer beyond float64": 10**400,
    "a negative one": -(10**400),
    "an integer that Python does not print": 10**5000,
    "an integer beyond 64 bits": 2**80,
    "a long text": "x" * 1_000_000,
    "a long list": [10**400] * 10_000,
}

X = np.random.default_rng(0).normal(size=(20, 2))
Y = (X[:, 0] > 0).astype(int)


def refusal(check, value, name):
    """Return the message of a check, empty where it takes the value."""
    try:
        check(value, name)
    except ParameterError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("value", HUGE.values(), ids=HUGE.keys())
def test_checks_of_parameters_refuse_them_briefly(value):
    for cls in estimator_classes().values():
        for name, check in getattr(cls, "_checks", {}).items():
            message = refusal(check, value, name)
            assert len(message) < 1000, (cls, name)
            assert not message or name in message


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *((SVC(n_jobs=n), "n_jobs") for n in (2**40, -(2**40), 2**70)),
        *((SVC(C=c), "C") for c in (10**400, -(10**400), 10**5000)),
        *((SVC(gamma=g), "gamma") for g in (10**400, "scale" * 200_000)),
        (SVC(tol=10**400), "tol"),
        (SVC(kernel="poly", degree=2**70), "degree"),
        (SVC(kernel="poly", coef0=10**400), "coef0"),
        (SVC(class_weight={0: 10**400, 1: 1.0}), "class_weight"),
        (SVC(class_weight={0: "x" * 10**6, 1: 1.0}), "class_weight"),
        (SVC(max_iter=[1] * 10**5), "max_iter"),
        (SVR(epsilon=10**400), "epsilon"),
        (NuSVC(nu=10**400), "nu"),
        (KernelRidge(alpha=10**400), "alpha"),
        (KernelRidge(alpha=[10**400]), "alpha"),
        (KernelPCA(n_components=10**400), "n_components"),
        (KernelPCA(n_jobs=2**40), "n_jobs"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@ignore_warnings
def test_fits_refuse_them_by_name(model, name):
    with pytest.raises(ParameterError, match=f"^{name}") as caught:
        model.fit(X, Y)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("make", [lambda: RBF("x" * 10**6), lambda: Polynomial(2**70)])
def test_kernels_refuse_them(make):
    with pytest.raises(ParameterError) as caught:
        make()
    assert len(str(caught.value)) < 1000


def test_weights_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        SVC().fit(X, Y, sample_weight=[10**400] * len(X))


def test_long_values_are_shortened_in_errors_and_whole_in_printed_kernels():
    assert show([1.0] * 3) == "[1.0, 1.0, 1.0]"
    assert len(show(np.arange(10**5))) < 400
    assert show("x" * 1000).endswith("(1002 characters)")
    assert show(10**5000) == "int with an integer of thousands of digits"
    kernel = RBF(0.5).on_columns(list(range(1000)))
    assert "997, 998, 999" in repr(kernel)
    assert repr(kernel).count(",") == 999
