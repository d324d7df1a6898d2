"""A user's function that looks at single objects runs once for each of them, whatever is done."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from mercer import SVC, SVR
from mercer.gram import Gram
from mercer.kernels import (
    RBF,
    Convolution,
    Covariance,
    DistanceKernel,
    Fisher,
    FromFeatureMap,
    FromFunction,
    Laplacian,
    Linear,
    OverFeatureSpace,
    Polynomial,
    TfIdf,
    normalize,
)

rng = np.random.default_rng(0)
X = sorted({"".join(rng.choice(list("abc"), size=rng.integers(2, 9))) for _ in range(70)})
NEW = [x + "d" for x in X[:20]]
Y = np.array([x.count("a") > x.count("b") for x in X])
calls: Counter = Counter()


@pytest.fixture(autouse=True)
def _forget():
    calls.clear()


def letters(A):
    calls.update(A)
    return np.array([[len(x), x.count("a"), x.count("b")] for x in A], dtype=float)


def windows(x):
    calls[x] += 1
    return [x[i : i + 2] for i in range(len(x) - 1)]


def codes(x):
    calls[x] += 1
    return [[float(ord(c))] for c in x]


def neighbours(x):
    calls[x] += 1
    return [([float(ord(a))], b) for a, b in pairwise(x)]


def terms(x):
    calls[x] += 1
    return list(x)


class Model:
    def fisher_scores(self, A):
        return letters(A)


def lengths_apart(A, B):
    return np.abs(np.subtract.outer(A[:, 0], B[:, 0]))


def written_in_python(A, B):
    return np.exp(-lengths_apart(A, B))


KERNELS = {
    "a map": FromFeatureMap(letters),
    "a map, then a rule": FromFeatureMap(letters, RBF()),
    "a map, then two leaves": FromFeatureMap(letters, RBF(0.1) + Laplacian(0.1)),
    "a map, then Python": FromFeatureMap(letters, FromFunction(written_in_python)),
    "a map with norms": normalize(FromFeatureMap(letters, Polynomial(degree=2, gamma=0.1))),
    "a map, seen twice": FromFeatureMap(letters) + normalize(FromFeatureMap(letters, RBF(0.1))),
    "Gaussian over a map": OverFeatureSpace(FromFeatureMap(letters), 0.1),
    "Gaussian over norms": OverFeatureSpace(normalize(FromFeatureMap(letters)), 0.1),
    "functions": normalize(Covariance(letters)),
    "scores": Fisher(Model()),
    "scores in a metric": normalize(Fisher(Model(), metric="information")),
    "scores, then a rule": Fisher(Model(), metric="diagonal", kernel=RBF()),
    "scores, then two leaves": Fisher(Model(), kernel=RBF(0.1) + Laplacian(0.1)),
    "scores, then Python": Fisher(Model(), kernel=DistanceKernel(lengths_apart)),
    "Gaussian over scores": OverFeatureSpace(normalize(Fisher(Model())), 1.0),
    "terms of documents": TfIdf(analyzer=terms),
    "norms of documents": OverFeatureSpace(normalize(TfIdf(analyzer=terms, normalize=False)), 0.5),
    "equal parts": normalize(Convolution(windows)),
    "a kernel of parts": Convolution(codes, RBF(0.5)),
    "a rule for parts": normalize(Convolution(codes, RBF())),
    "kernels of parts": OverFeatureSpace(Convolution(neighbours, (RBF(0.5), None)), 0.1),
}
every = pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))


@every
def test_fitting_and_predicting(kernel):
    model = SVC(kernel=kernel).fit(X, Y)
    assert set(calls.values()) == {1}
    assert set(calls) == set(X)
    calls.clear()
    first = model.decision_function(NEW)
    assert {calls[x] for x in NEW} == {1}
    assert max(calls[x] for x in X) <= 1  # support vectors; of documents the model has the counts
    calls.clear()
    np.testing.assert_array_equal(model.decision_function(NEW), first)
    assert calls == Counter(NEW)  # and not the support vectors again


@every
def test_one_matrix_and_its_relatives(kernel):
    kernel = kernel.bind(X)
    calls.clear()
    gram = Gram(kernel, X)
    whole = gram.tile()
    np.testing.assert_array_equal(gram.tile(rows=[3, 5]), whole[[3, 5]])
    np.testing.assert_array_equal(gram.take([8, 1, 4]).tile(), whole[np.ix_([8, 1, 4], [8, 1, 4])])
    gram.diag(), gram.matmul(np.ones(len(X)))
    gram.with_kernel(2 * kernel).tile()
    gram.take([8, 1, 4]).in_precision("float32").tile()
    assert calls == Counter(X)


@every
def test_values_and_diagonal_on_one_set(kernel):
    kernel(X)
    assert calls == Counter(X)
    calls.clear()
    kernel.diag(X)
    assert max(calls.values(), default=0) <= 1  # and not at all for functions of the distance


def test_a_map_of_one_column():
    table = pd.DataFrame({"text": X, "x": np.arange(len(X)) / len(X)})
    kernel = FromFeatureMap(letters, RBF()).on_columns("text") + Linear().on_columns("x")
    SVC(kernel=kernel).fit(table, Y)
    assert set(calls.values()) == {1}


def test_other_machines_and_precisions():
    SVR(kernel=normalize(Convolution(codes, RBF(0.5)))).fit(X, 1.0 * Y)
    assert set(calls.values()) == {1}
    calls.clear()
    many = [f"{x} {z}" for x in X for z in X[:20]]
    kernel = FromFeatureMap(letters, RBF(0.1))
    model = SVC(kernel=kernel, C=1e4).fit(many, np.repeat(Y, 20))
    assert set(calls.values()) == {1}
    assert Gram(kernel, many).dtype == "float32"
    assert model.certificate_.precision == "float64"  # values of both were needed


def test_changed_objects_are_looked_at_again():
    kernel = FromFeatureMap(letters, RBF(0.1))
    objects = ["ab", "b"]
    before = kernel.bind(objects)(objects)
    objects[0] = "aaaab"
    after = kernel(objects)
    assert before[0, 1] != after[0, 1]
    np.testing.assert_array_equal(after, kernel(["aaaab", "b"]))


def test_a_kernel_of_parts_sees_all_parts_of_many_objects_at_once():
    sizes = []

    def values(A, B):
        sizes.append((len(A), len(B)))
        return np.exp(-np.abs(np.subtract.outer(A[:, 0], B[:, 0])))

    def points(x):
        return np.array([[float(ord(c))] for c in x])

    kernel = Convolution(points, FromFunction(values))
    K = kernel(X)
    total = sum(map(len, X))
    assert sum(n * m for n, m in sizes) <= total * total
    assert len(sizes) < len(X)  # and by no means all pairs
    x, z = points(X[3]), points(X[8])
    assert K[3, 8] == pytest.approx(np.exp(-np.abs(x - z.T)).sum(), rel=1e-12)
