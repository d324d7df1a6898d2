"""Questions as people put them: names of kernels, boxes, samplers, functions of single objects."""

from inspect import signature

import numpy as np
import pytest

from mercer import SVC, inspection
from mercer.inspection import (
    alignment,
    check,
    diagnose,
    eigenvalue_report,
    embed,
    falsify,
    mercer_decomposition,
)
from mercer.inspection.eigenfunctions import quadrature
from mercer.kernels import RBF, FromFunction, Linear, Spectrum

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.where(X[:, 0] > 0, 1, -1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda k: check(k, X).smallest_eigenvalue,
        lambda k: alignment(k, X, Y),
        lambda k: diagnose(k, X).n,
        lambda k: eigenvalue_report(k, X).eigenvalues.tolist(),
        lambda k: embed(k, X).tolist(),
        lambda k: mercer_decomposition(k, X).eigenvalues.tolist(),
    ],
)
def test_a_kernel_by_its_name(ask):
    assert ask("rbf") == ask(RBF().bind(X))


def test_names_that_are_none_and_names_without_objects():
    with pytest.raises(ValueError, match="unknown kernel 'gauss'; the names are"):
        check("gauss", X)
    with pytest.raises(TypeError, match=r"pass them as X: check\(Linear\(\), X\)"):
        check("linear")
    with pytest.raises(TypeError, match=r"the class RBF; pass RBF\(\)"):
        check(RBF, X)
    assert not falsify("linear", (-1.0, 1.0), n_trials=5).falsified
    with pytest.raises(ValueError, match="bind it first"):
        falsify("rbf", (-1.0, 1.0))


# -- domains -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["gauss", "midpoint"])
def test_eigenvalues_on_a_box_are_products(rule):
    # exp(-|x - z|^2) is a product over the coordinates, and so are its eigenfunctions.
    sides = [
        mercer_decomposition(RBF(1.0), (a, b), n_nodes=20, rule=rule).eigenvalues
        for a, b in ((-1, 1), (0, 3))
    ]
    box = mercer_decomposition(RBF(1.0), ([-1, 0], [1, 3]), n_nodes=400, rule=rule, n_terms=8)
    products = np.sort(np.outer(*sides).ravel())[::-1]
    assert box.eigenvalues == pytest.approx(products[:8], rel=1e-10)
    assert box.nodes.shape == (400, 2)
    assert box.weights.sum() == pytest.approx(6)
    assert box.trace == pytest.approx(6)


def test_a_list_of_pairs_is_ambiguous():
    sides = [(-1, 1), (0, 2)]
    with pytest.raises(ValueError, match=r"domain=\(\[-1, 0\], \[1, 2\]\); for the sample an arr"):
        mercer_decomposition(RBF(1.0), sides)
    assert len(mercer_decomposition(RBF(1.0), np.array(sides)).eigenvalues) == 2
    assert len(mercer_decomposition(RBF(1.0), [list(side) for side in sides]).eigenvalues) == 2
    pairs = FromFunction(lambda A, B: [[float(a == b) for b in B] for a in A])
    assert len(mercer_decomposition(pairs, [("a", "b"), ("c", "d")]).eigenvalues) == 2


@pytest.mark.parametrize(
    "domain", [((-1, 1), (-1, 1)), ([0, 0], [1]), (0, 1, 2), ("a", "b"), ([0, 0, 0], [1, 1])]
)
def test_domains_that_are_no_box(domain):
    if domain == ([0, 0], [1]):  # a number stands for all coordinates
        assert quadrature(domain, 9, "gauss")[0].shape == (9, 2)
        return
    with pytest.raises(ValueError, match="a box a pair of opposite corners with low < high"):
        mercer_decomposition(RBF(1.0), domain)


# -- functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampler", [lambda n: np.zeros((n, 1)), lambda: np.zeros((3, 1)), lambda rng, n, *, d: None]
)
def test_a_sampler_with_other_arguments(sampler):
    with pytest.raises(TypeError, match=r"function f\(rng, n\) that returns n objects.* got one w"):
        falsify(Linear(), sampler)


def test_samplers_that_can_be_called_with_two_arguments():
    for sampler in (
        lambda *given: given[0].normal(size=(given[1], 1)),
        lambda rng, n, d=1: rng.normal(size=(n, d)),
    ):
        assert not falsify(Linear(), sampler, n_trials=3, descents=False).falsified
    numbers = FromFunction(np.outer)  # written in C, and its sampler too
    drawn = falsify(numbers, np.random.Generator.random, n_trials=3, descents=False)
    assert not drawn.falsified


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: float(a @ b),
        lambda a, b: float(np.sum(a * b)),
        lambda a, b: np.exp(-np.linalg.norm(a - b)),
    ],
)
def test_a_function_of_two_objects_is_told_from_one_of_two_collections(function):
    kernel = FromFunction(function)
    for ask in (lambda: kernel(X), lambda: kernel(X[:5], X), lambda: check(function, X)):
        with pytest.raises(TypeError, match=r"takes two objects and returns a number.* Wrap it"):
            ask()
    wrapped = FromFunction(lambda A, B: [[function(a, b) for b in B] for a in A])
    assert wrapped(X).shape == (12, 12)


def test_other_errors_of_a_function_are_its_own():
    def broken(A, B):
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        FromFunction(broken)(X)
    with pytest.raises(ValueError, match=r"must return an array of shape \(12, 12\)"):
        FromFunction(lambda A, B: A)(X)


def test_strings_are_not_drawn_in_a_plane():
    plots = pytest.importorskip("mercer.plots")
    pytest.importorskip("matplotlib")
    from mercer import SVC

    words = ["abab", "abba", "baba", "aabb", "bbaa", "bbab"]
    model = SVC(kernel=Spectrum(2)).fit(words, [0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match="decision_surface draws vectors of numbers"):
        plots.decision_surface(model, words)
    with pytest.raises(ValueError, match="eigenfunctions draws vectors of numbers"):
        plots.eigenfunctions(mercer_decomposition(Spectrum(2), words))


@pytest.mark.parametrize("name", [n for n in inspection.__all__ if n.islower()])
def test_arguments_in_the_wrong_order_get_a_sentence(name: str) -> None:
    points = np.linspace(-1.0, 1.0, 6).reshape(3, 2)
    takes = {"kernels": [RBF(1.0)], "model": SVC().fit(points, [0, 1, 1]), "eigenfunctions": np.sin}
    asked = getattr(inspection, name)
    first = next(iter(signature(asked).parameters))
    with pytest.raises((TypeError, ValueError)) as refusal:
        asked(points, takes.get(first, RBF(1.0)))
    said = str(refusal.value)
    assert len(said.split()) > 7
    assert "argument must be" not in said
    assert "is not callable" not in said
