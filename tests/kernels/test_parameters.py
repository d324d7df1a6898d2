"""The scikit-learn parameter protocol, equality, copies and the printed form."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.utils import get_tags

import mercer
from mercer.features import Nystrom, RandomFourierFeatures
from mercer.gram import Gram
from mercer.kernels import (
    RBF,
    Bilinear,
    Constant,
    Convolution,
    Definiteness,
    FromFunction,
    Kernel,
    Laplacian,
    Linear,
    Mismatch,
    OnColumns,
    Polynomial,
    Power,
    Precomputed,
    Scaled,
    Sigmoid,
    Spectrum,
    Sum,
    exp,
    normalize,
    polynomial,
)
from mercer.kernels.vectors.column_widths import ColumnWidths
from mercer.kernels.vectors.vector import RadialKernel
from mercer.objects.parameters import parameter, positive
from tests.kernels.strategies import kernels


def overlap(A, B):
    return [[len(a & b) for b in B] for a in A]


EXAMPLES = [
    Linear(),
    RBF(),
    RBF(gamma=0.5),
    Polynomial(degree=2, coef0=1.0),
    Laplacian("auto"),
    Sigmoid(gamma=0.1, coef0=-1.0),
    Precomputed(),
    Constant(2),
    FromFunction(overlap, "positive semidefinite"),
    2 * RBF(0.5) + Polynomial(3) ** 2,
    exp(normalize(Linear())) * RBF(),
    polynomial(RBF(), [1, 0.5]),
    polynomial(RBF(), np.array([1.0, 0.5])),
    RBF().on_columns(["a", "b"]),
    RBF().on_columns(slice(0, 2)),
]


@pytest.mark.parametrize("kernel", EXAMPLES, ids=repr)
@pytest.mark.parametrize(
    "copied", [clone, copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))]
)
def test_copies_are_equal(kernel, copied):
    twin = copied(kernel)
    assert twin is not kernel
    assert twin == kernel
    assert hash(twin) == hash(kernel)
    assert repr(twin) == repr(kernel)


def test_equality_is_class_and_parameters():
    assert RBF(0.5) == RBF(np.float64(0.5))
    assert RBF(0.5) != RBF(0.6)
    assert RBF(0.5) != Laplacian(0.5)
    assert RBF(0.5) + Linear() != Linear() + RBF(0.5)
    assert RBF() != "rbf"
    kernel = RBF(0.5)
    held = {kernel}
    kernel.set_params(gamma=0.7)
    assert kernel in held  # setting a parameter does not lose it


def test_nested_names():
    kernel = 2 * RBF(gamma=0.5) + Polynomial(degree=3)
    params = kernel.get_params()
    assert params["left__kernel__gamma"] == 0.5
    assert params["right__degree"] == 3
    assert set(kernel.get_params(deep=False)) == {"left", "right"}
    kernel.set_params(left__scale=3, left__kernel__gamma=1.0, right__degree=2)
    assert kernel == 3 * RBF(1.0) + Polynomial(2)
    kernel.set_params(right=Sigmoid(), right__coef0=2.0)
    assert kernel.right == Sigmoid(coef0=2.0)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="RBF has no parameter 'sigma'; it has gamma"):
        RBF().set_params(sigma=1.0)
    with pytest.raises(ValueError, match="has no parameters itself"):
        RBF().set_params(gamma__x=1.0)


ROWS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


def refused_where_used(kernel, X, message):
    """What a constructor refuses, `set_params` takes and every use of the kernel refuses."""
    for use in (
        lambda: kernel.bind(X),
        lambda: kernel(X),
        lambda: kernel(X, X),
        lambda: kernel.diag(X),
        lambda: kernel.gradient(X),
        lambda: kernel.gradient(X, X),
        lambda: Gram(kernel, X),
        lambda: mercer.SVC(kernel=kernel).fit(X, np.arange(len(X)) % 2),
        lambda: Nystrom(kernel).fit(X),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            use()


@pytest.mark.parametrize(
    ("kernel", "params", "X", "message"),
    [
        (Polynomial(2, 1.0), {"gamma": 5.0, "degree": -1}, ROWS, "degree must be an integer"),
        (2 * RBF(1.0), {"scale": -1}, ROWS, "negative number"),
        (2 * RBF(1.0), {"kernel__gamma": -1}, ROWS, "gamma must be a finite number"),
        (normalize(2 * RBF(1.0)), {"kernel__kernel": 3}, ROWS, "must be a kernel; got 3"),
        (Linear().on_columns(0), {"columns": []}, ROWS, "columns is empty"),
        (Mismatch(3, 1, "ab"), {"k": 2, "m": 2}, ["ab", "ba", "aa"], "m must be smaller than k=2"),
        (FromFunction(np.dot), {"definiteness": "psd"}, ROWS, "definiteness must be one of"),
        (Bilinear(np.eye(2)), {"matrix": -np.eye(2)}, ROWS, "not positive semidefinite"),
        (Sum(RBF(), Scaled(Linear())), {"right__kernel": Precomputed()}, ROWS, "precomputed"),
        (Sum(RBF(), 2 * Linear()), {"right__kernel": Spectrum(2)}, ROWS, "cannot be"),
        (Convolution(list, (RBF(1.0), RBF(1.0))), {"kernel": (1, 2)}, ROWS, "must be a kernel"),
    ],
    ids=str,
)
def test_what_set_params_takes_is_refused_where_it_is_used(kernel, params, X, message):
    kernel = copy.deepcopy(kernel)
    assert kernel.set_params(**params) is kernel
    refused_where_used(kernel, X, message)
    assert get_tags(mercer.SVC(kernel=kernel)).input_tags is not None  # read before a fit


def test_a_part_that_was_changed_from_outside_is_seen():
    part = RBF(1.0)
    kernel = normalize(Convolution(list, [part, Linear()]) + 1)
    part.set_params(gamma=-1.0)
    with pytest.raises(ValueError, match="gamma must be a finite number"):
        kernel.bind(ROWS)
    part.set_params(gamma=2.0)
    assert kernel.bind(ROWS).kernel.left.kernel[0] == RBF(2.0)


def test_parameters_that_go_together_may_be_set_one_after_the_other():
    kernel = Mismatch(3, 2, "ab")
    kernel.set_params(k=2).set_params(m=1)  # k=2 alone does not go with m=2
    assert kernel(["ab"], ["aa"]) == Mismatch(2, 1, "ab")(["ab"], ["aa"])
    with pytest.raises(ValueError, match="m must be smaller"):
        Mismatch(2, 2)


class Cauchy(ColumnWidths, RadialKernel):
    """A kernel whose own check calls no other, and which has no spectrum."""

    scale: float = parameter(positive, default=1.0)
    _width_name = "scale"
    definiteness = Definiteness.POSITIVE_DEFINITE

    def compile(self, builder):
        builder.leaf("sqdist")
        builder.affine(1.0 / self.scale**2, 1.0)
        builder.reciprocal()

    def _check(self):
        if self.scale > 9:
            raise ValueError("scale is too large")


def test_declared_checks_do_not_depend_on_a_method_that_checks_more():
    for value, message in ((-1.0, "scale must be a number > 0"), (10.0, "scale is too large")):
        with pytest.raises(ValueError, match=message):
            Cauchy(value)
        with pytest.raises(ValueError, match=message):
            Cauchy().set_params(scale=value).bind(ROWS)
        kernel = Cauchy()
        kernel.scale = value
        with pytest.raises(ValueError, match=message):
            kernel.bind(ROWS)


def test_random_features_of_a_kernel_without_a_spectrum_are_refused():
    with pytest.raises(ValueError, match="Cauchy has no method _frequencies"):
        RandomFourierFeatures(Cauchy()).fit(ROWS)


def test_a_bound_copy_has_been_checked():
    bound = Polynomial(2, 1.0).set_params(degree=3).bind(ROWS)
    assert "_unchecked" not in vars(bound)
    assert bound(ROWS, ROWS) == pytest.approx((ROWS @ ROWS.T) ** 3)


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_grid_search_scores_an_impossible_combination_as_nan():
    words = ["abba", "abab", "baba", "bbbb", "aaba", "babb", "aabb", "bbaa"]
    y = np.arange(8) % 2
    grid = {"kernel__kernel__k": [2, 3], "kernel__kernel__m": [1, 2]}
    search = GridSearchCV(mercer.SVC(kernel=normalize(Mismatch(5, 1))), grid, cv=2)
    with pytest.warns(FitFailedWarning, match="m must be smaller than k=2"):
        search.fit(words, y)
    scores = search.cv_results_["mean_test_score"]
    points = [
        (p["kernel__kernel__k"], p["kernel__kernel__m"]) for p in search.cv_results_["params"]
    ]
    assert [point for point, s in zip(points, scores, strict=True) if np.isnan(s)] == [(2, 2)]
    assert search.best_params_ != {"kernel__kernel__k": 2, "kernel__kernel__m": 2}
    # A part that does not fit the others is one such point too.
    parts = {"kernel__right": [Linear(), Precomputed(), Spectrum(2)]}
    search = GridSearchCV(mercer.SVC(kernel=RBF(1.0) + Linear()), parts, cv=2)
    with pytest.warns(FitFailedWarning):
        search.fit(np.vstack([ROWS, ROWS + 1]), np.arange(6) % 2)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("kernel", "printed"),
    [
        (2 * RBF(gamma=0.5) + Polynomial(degree=3), "2 * RBF(gamma=0.5) + Polynomial(degree=3)"),
        (RBF(), "RBF(gamma='scale')"),
        (Linear(), "Linear()"),
        (Polynomial(2, 0.5, 1.0), "Polynomial(degree=2, gamma=0.5, coef0=1.0)"),
        (np.float64(2) * Linear(), "2.0 * Linear()"),
        (Linear() + 1, "Linear() + 1"),
        (1 + Linear(), "1 + Linear()"),
        ((RBF(1) + Linear()) * Linear(), "(RBF(gamma=1) + Linear()) * Linear()"),
        (RBF(1) * (Linear() * Linear()), "RBF(gamma=1) * (Linear() * Linear())"),
        (RBF(1) + (Linear() + Linear()), "RBF(gamma=1) + (Linear() + Linear())"),
        (2 * (3 * Linear()), "2 * (3 * Linear())"),
        (2 * Linear() ** 2, "2 * Linear() ** 2"),
        ((2 * Linear()) ** 2, "(2 * Linear()) ** 2"),
        ((Linear() ** 2) ** 3, "(Linear() ** 2) ** 3"),
        (exp(2 * Linear()), "exp(2 * Linear())"),
        (normalize(Linear()), "normalize(Linear())"),
        (polynomial(Linear(), [1, 0.5]), "polynomial(Linear(), [1, 0.5])"),
        (RBF(1).on_columns([0, 3]), "RBF(gamma=1).on_columns([0, 3])"),
        ((RBF(1) + 1).on_columns("age"), "(RBF(gamma=1) + 1).on_columns('age')"),
        (FromFunction(overlap), "FromFunction(function=overlap)"),
        (Constant(1) + Constant(2), "Constant(value=1) + 2"),
    ],
)
def test_printed_form(kernel, printed):
    assert repr(kernel) == printed


@settings(max_examples=50, deadline=None)
@given(kernels)
def test_the_printed_form_makes_the_kernel(kernel):
    import mercer.kernels

    assert eval(repr(kernel), dict(vars(mercer.kernels))) == kernel


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RBF(-1.0), ValueError, "gamma must be a finite number of at least 0; got -1.0"),
        (lambda: RBF(np.nan), ValueError, "gamma"),
        (lambda: RBF(np.inf), ValueError, "gamma"),
        (lambda: RBF("median"), ValueError, "'scale', 'auto' or a number"),
        (lambda: RBF(None), TypeError, "real number"),
        (lambda: RBF(True), TypeError, "real number"),
        (lambda: Polynomial(gamma=[1.0]), TypeError, "real number"),
        (lambda: Polynomial(2.5), ValueError, "degree must be an integer"),
        (lambda: Polynomial(-1), ValueError, "degree"),
        (lambda: Polynomial("2"), TypeError, "degree"),
        (lambda: Polynomial(coef0=np.inf), ValueError, "coef0"),
        (lambda: Sigmoid(coef0="a"), TypeError, "coef0"),
        (lambda: RBF.from_sigma(0), ValueError, "sigma must be positive"),
        (lambda: RBF.from_sigma(-1), ValueError, "sigma"),
        (lambda: FromFunction(3), TypeError, "callable"),
        (lambda: FromFunction(overlap, "psd"), ValueError, "definiteness must be one of"),
        (lambda: Power(RBF, 2), TypeError, r"must be a kernel.*Create one: RBF\(\)"),
        (lambda: exp(overlap), TypeError, "FromFunction"),
        (lambda: normalize("rbf"), TypeError, "must be a kernel"),
        (lambda: OnColumns(3, [0]), TypeError, "must be a kernel"),
    ],
)
def test_parameters_out_of_range_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_subclass_must_name_its_parameters():
    with pytest.raises(TypeError, match="name every parameter"):

        class Loose(Kernel):
            def __init__(self, *args):
                pass

    with pytest.raises(TypeError, match=r"Untyped: write s: float = parameter"):

        class Untyped(Kernel):
            s = parameter(positive, default=1.0)


def test_a_subclass_is_a_kernel_with_parameters():
    class Overlap(Kernel):
        def __init__(self, power=1):
            self.power = power

        def tile(self, A, B):
            return np.array([[len(a & b) ** self.power for b in B] for a in A], dtype=float)

    kernel = clone(Overlap(power=2)) + 1
    assert repr(kernel) == "Overlap(power=2) + 1"
    assert kernel([{1, 2}, {2}]).tolist() == [[5.0, 2.0], [2.0, 2.0]]
    assert kernel.diag([{1, 2}, {2}]).tolist() == [5.0, 2.0]


def test_a_grid_search_reaches_into_a_kernel():
    # scikit-learn's own machine takes any callable, hence also a bound kernel.
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        SVC(kernel=RBF(gamma=1e-5) + 0.1 * Polynomial(1, gamma=0.1)),
        {"kernel__left__gamma": [1e-5, 0.2], "kernel__right__kernel__degree": [1, 2]},
        cv=3,
    ).fit(X[::3], y[::3])
    assert len(search.cv_results_["params"]) == 4
    best = search.best_estimator_.kernel
    assert best.left.gamma == search.best_params_["kernel__left__gamma"]


def test_kernels_can_be_the_values_of_a_grid():
    X, y = load_iris(return_X_y=True)
    grid = {"kernel": [Linear(), RBF(0.2), RBF(0.2) * Linear()]}
    search = GridSearchCV(SVC(), grid, cv=2).fit(X[::5], y[::5])
    assert isinstance(search.best_params_["kernel"], Kernel)
