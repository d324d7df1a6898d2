"""What holds for every kernel, over all examples of the catalogue."""

import copy
import pickle

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mercer import kernels as mk
from mercer.expansion import Expansion
from mercer.objects.validation import count, take
from tests.catalogue import catalogue, sample
from tests.kernels.reference import defined, interpreted

EXAMPLES = catalogue()
every = pytest.mark.parametrize("example", EXAMPLES, ids=str)
seeds = st.integers(0, 10_000)
# A seed cannot be made simpler, so nothing is shrunk.
phases = (Phase.explicit, Phase.reuse, Phase.generate)
few = settings(max_examples=4, deadline=None, phases=phases)

# Values that come from a table or from a numerical integral, and what they may be wrong by.
LEARNED = (mk.TfIdf, mk.Fisher, mk.Marginalized)  # printed in brief: what they learned is long
ERRORS = {mk.RadialBSpline: 2e-3, mk.FromSpectrum: 1e-6}


def drawn(example, seed, n=8):
    return sample(example.objects, n, np.random.default_rng(seed))


def error(kernel):
    return max([1e-11] + [e for kind, e in ERRORS.items() if isinstance(kernel, kind)])


def concrete(kind):
    written = kind.compile is not mk.Kernel.compile or kind.tile is not mk.Kernel.tile
    return written and kind is not mk.SequenceKernel  # which is there to be derived from


def test_every_exported_kernel_is_in_the_catalogue():
    exported = {
        kind
        for name in mk.__all__
        if isinstance(kind := getattr(mk, name), type) and issubclass(kind, mk.Kernel)
    }
    exported.remove(mk.White)  # depends on which sample an object is: tests/kernels/test_white.py
    shown = {type(part) for e in EXAMPLES for part in everything(e.kernel)}
    assert {kind.__name__ for kind in exported - shown if concrete(kind)} == set()


def everything(kernel):
    return [kernel] + [part for inner in kernel.inner_kernels() for part in everything(inner)]


@every
@few
@given(seeds)
def test_values_agree_with_the_definition(example, seed):
    kernel, X = example.kernel, drawn(example, seed)
    expected = defined(kernel, X)
    close = {"rtol": error(kernel), "atol": error(kernel) * max(1.0, np.abs(expected).max())}
    np.testing.assert_allclose(kernel(X), expected, **close)
    if not kernel.pairwise:
        Z = drawn(example, seed + 1, 5)
        np.testing.assert_allclose(kernel(X, Z), defined(kernel, X, Z), **close)


@every
def test_the_program_agrees_with_the_definition(example):
    kernel, X = example.kernel, drawn(example, 3)
    expected = defined(kernel, X)
    np.testing.assert_allclose(
        interpreted(kernel, X), expected, rtol=error(kernel), atol=error(kernel) * 10
    )


@every
@few
@given(seeds)
def test_values_are_symmetric_and_as_definite_as_claimed(example, seed):
    kernel, X = example.kernel, drawn(example, seed, 10)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.isfinite(K).all()
    if kernel.definiteness.order is None:
        return
    projected = mk.project_gram(K, kernel.null_space(X)) if kernel.definiteness.order else K
    eigenvalues = np.linalg.eigvalsh(projected)
    assert eigenvalues[0] >= -1e-9 * max(1.0, np.abs(K).max())


@every
@few
@given(seeds)
def test_the_diagonal_is_that_of_the_matrix(example, seed):
    kernel, X = example.kernel, drawn(example, seed)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=1e-11, atol=1e-11)


@every
def test_a_value_depends_on_its_two_objects_alone(example):
    kernel = example.kernel
    if kernel.pairwise:
        return
    X, Z = drawn(example, 4, 21), drawn(example, 5, 17)
    K = kernel(X, Z)
    rows, columns = np.array([20, 3, 11]), np.array([5, 16, 0, 5])
    subset = kernel(take(X, rows), take(Z, columns))
    np.testing.assert_array_equal(subset, K[np.ix_(rows, columns)])
    np.testing.assert_array_equal(kernel(take(X, rows[:1]), take(Z, columns[:1])), subset[:1, :1])


@every
def test_sparse_rows_give_the_dense_values(example):
    kernel, X = example.kernel, drawn(example, 6)
    if not (isinstance(X, np.ndarray) and kernel.takes.requires_vectors and kernel.accepts_sparse):
        return
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.4, X, 0.0)
    K, S = kernel(X), sp.csr_matrix(X)
    np.testing.assert_allclose(kernel(S), K, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kernel(S, X[:3]), K[:, :3], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kernel.diag(S), kernel.diag(X), rtol=1e-10, atol=1e-10)


# -- derivatives -----------------------------------------------------------------------------


def numeric_parameters(kernel, prefix=""):
    """Return the names of all parameters that are real numbers, or sequences of them."""
    names = []
    for name in kernel.get_params(deep=False):
        value = getattr(kernel, name)
        if isinstance(value, mk.Kernel):
            names += numeric_parameters(value, f"{prefix}{name}__")
        elif isinstance(value, tuple):
            for i, part in enumerate(value):
                if isinstance(part, mk.Kernel):
                    names += numeric_parameters(part, f"{prefix}{name}__{i}__")
        elif name not in kernel._fixed and is_variable(value):
            names.append(prefix + name)
    return names


def is_variable(value):
    if isinstance(value, list):
        return all(isinstance(entry, float) for entry in value)
    return isinstance(value, float) and np.isfinite(value)


def differences(kernel, name, X, Z, step=1e-5):
    """Return the smallest and the largest slope at the value of a parameter: two at a kink."""
    value = kernel.get_params()[name]
    entries = value if isinstance(value, list) else [value]
    here = kernel(X, Z)

    def moved(i, by):
        other = [*entries[:i], entries[i] + by, *entries[i + 1 :]]
        return clone(kernel).set_params(**{name: other if isinstance(value, list) else other[0]})(
            X, Z
        )

    def one_sided(i, side):
        return (4 * moved(i, side) - moved(i, 2 * side) - 3 * here) / (2 * side)

    def slopes(i):
        try:
            middle = (moved(i, step) - moved(i, -step)) / (2 * step)
        except ValueError:  # at an end of its range
            slope = one_sided(i, -step if name == "power" else step)
            return slope, slope
        left, right = one_sided(i, -step), one_sided(i, step)
        kink = np.abs(left - right) > 1e-3 * np.maximum(np.abs(left), np.abs(right))
        low, high = np.minimum(left, right), np.maximum(left, right)
        return np.where(kink, low, middle), np.where(kink, high, middle)

    low, high = zip(*(slopes(i) for i in range(len(entries))), strict=True)
    return (np.stack(low), np.stack(high)) if isinstance(value, list) else (low[0], high[0])


@every
@settings(max_examples=2, deadline=None, phases=phases)
@given(seeds)
@hypothesis.example(1102)  # a difference of exactly 1.5, the kink of a B-spline of scale 1.5
def test_the_gradient_is_the_limit_of_differences(example, seed):
    kernel, X = example.kernel, drawn(example, seed, 6)
    Z = None if kernel.pairwise else drawn(example, seed + 1, 4)
    gradient = kernel.gradient(X, Z)
    assert sorted(gradient) == sorted(numeric_parameters(kernel))
    for name, matrix in gradient.items():
        low, high = differences(kernel, name, X, Z)
        assert matrix.shape == low.shape
        size = max(1.0, np.abs(high).max(), np.abs(low).max())
        expected = np.clip(matrix, low, high)
        np.testing.assert_allclose(matrix, expected, rtol=1e-5, atol=1e-6 * size, err_msg=name)


@every
def test_the_gradient_on_one_set(example):
    kernel, X = example.kernel, drawn(example, 7)
    if kernel.pairwise:
        return
    both = kernel.gradient(X, X)
    for name, matrix in kernel.gradient(X).items():
        np.testing.assert_allclose(matrix, both[name], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(matrix, np.swapaxes(matrix, -1, -2), rtol=1e-10, atol=1e-12)


# -- parameters ------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    "copied", [clone, copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))]
)
def test_copies_are_equal_and_have_the_same_values(example, copied):
    kernel, X = example.kernel, drawn(example, 8)
    twin = copied(kernel)
    assert twin is not kernel
    assert twin == kernel
    assert repr(twin) == repr(kernel)
    np.testing.assert_array_equal(twin(X), kernel(X))


@every
def test_the_printed_form_makes_the_kernel(example):
    from tests.catalogue import general, sequences, series, vectors

    modules = (general, sequences, series, vectors, mk)
    names = {name: thing for module in modules for name, thing in vars(module).items()}
    assert "\n" not in repr(example.kernel)
    if not any(isinstance(part, LEARNED) for part in everything(example.kernel)):
        assert eval(repr(example.kernel), {**names, "inf": np.inf}) == example.kernel


@every
def test_a_bound_kernel_shares_nothing_with_its_origin(example):
    kernel, X = example.kernel, drawn(example, 9)
    bound = kernel.bind(X)
    assert bound.is_bound
    assert bound == kernel  # the examples do not depend on data
    np.testing.assert_array_equal(bound(X), kernel(X))
    originals = {id(part) for part in everything(kernel)}
    assert not any(id(part) in originals for part in everything(bound))


def holds_code(kernel):
    """Return whether a parameter is a function."""
    return any(callable(v) and not isinstance(v, mk.Kernel) for v in kernel.get_params().values())


@every
def test_expansions_are_written_to_a_file_and_read_again(example, tmp_path):
    kernel, X = example.kernel, drawn(example, 15)
    if kernel.pairwise:
        return
    f = Expansion(kernel, X, np.arange(count(X)) - 3.0)
    if holds_code(kernel) or isinstance(kernel, mk.Covariance):
        with pytest.raises(ValueError, match="pickle"):
            f.save(tmp_path / "f")
        return
    f.save(tmp_path / "f")
    again = Expansion.load(tmp_path / "f")
    assert again.kernel == kernel
    np.testing.assert_array_equal(again(X), f(X))


# -- algebra ---------------------------------------------------------------------------------


@every
def test_laws_of_the_algebra(example):
    kernel, X = example.kernel, drawn(example, 10)
    K = kernel(X)
    close = {"rtol": 1e-11, "atol": 1e-11 * max(1.0, np.abs(K).max() ** 2)}
    np.testing.assert_allclose((kernel + kernel)(X), 2 * K, **close)
    np.testing.assert_allclose((kernel * kernel)(X), K**2, **close)
    np.testing.assert_allclose((kernel**2)(X), K**2, **close)
    np.testing.assert_allclose((3 * kernel + 2)(X), 3 * K + 2, **close)
    np.testing.assert_allclose(mk.polynomial(kernel, [1, 0, 2])(X), 1 + 2 * K**2, **close)
    np.testing.assert_allclose(mk.exp(0.01 * kernel)(X), np.exp(0.01 * K), **close)


@every
def test_definiteness_of_compositions_is_what_holds(example):
    kernel, X = example.kernel, drawn(example, 11, 10)
    for composed in (kernel + kernel, 2 * kernel, kernel**2, mk.exp(0.1 * kernel), kernel + 1):
        if composed.definiteness.order is not None:
            K = composed(X)
            V = composed.null_space(X)
            values = np.linalg.eigvalsh(mk.project_gram(K, V) if V.shape[1] else K)
            assert values[0] >= -1e-9 * max(1.0, np.abs(K).max())


@every
def test_normalisation(example):
    kernel, X = example.kernel, drawn(example, 12)
    diagonal = kernel.diag(X)
    if kernel.pairwise:
        return
    # A norm of 0 beside values that are not 0 is none either.
    lost = (diagonal == 0) & kernel(X).any(axis=1)
    if diagonal.min() < 0 or lost.any():
        with pytest.raises(ValueError, match=r"k\(x, x\)"):
            mk.normalize(kernel)(X)
        return
    lengths = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    np.testing.assert_allclose(
        mk.normalize(kernel)(X), kernel(X) / np.outer(lengths, lengths), rtol=1e-10, atol=1e-12
    )


@every
def test_explicit_features_have_the_kernel_as_their_dot_product(example):
    kernel, X = example.kernel, drawn(example, 13)
    try:
        features = kernel.feature_map(X)
    except (NotImplementedError, ValueError):
        return
    assert features.shape[0] == count(X)
    features = features.toarray() if sp.issparse(features) else features
    np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-9, atol=1e-9)


@every
def test_translation_invariance_is_as_claimed(example):
    kernel, X = example.kernel, drawn(example, 14)
    if kernel.translation_invariant and isinstance(X, np.ndarray):
        np.testing.assert_allclose(kernel(X + 0.75), kernel(X), rtol=1e-9, atol=1e-9)
