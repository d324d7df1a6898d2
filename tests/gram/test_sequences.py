"""Sequences in the native core: the same bits everywhere, threads, interrupts, memory."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mercer import _native
from mercer.gram import Gram, Prepared
from mercer.kernels import (
    GlobalAlignment,
    Mismatch,
    PairHMM,
    Spectrum,
    Subsequence,
    Substring,
    WeightedDegree,
    normalize,
)
from mercer.objects.vocabulary import Vocabulary

rng = np.random.default_rng(0)
# More than a block of columns of the evaluator, and lengths that share no vector.
DNA = ["".join(rng.choice(list("ACGT"), size=k)) for k in rng.integers(0, 25, size=1100)]
SERIES = [rng.normal(size=k) for k in rng.integers(1, 12, size=1100)]
KERNELS: list[tuple[Any, list]] = [
    (Spectrum(3), DNA),
    (Spectrum(6), DNA),
    (normalize(Mismatch(4, 1, "ACGT")), DNA),
    (Substring(0.7), DNA),
    (Subsequence(3, 0.5), DNA),
    (WeightedDegree(4, 1), DNA),
    (normalize(PairHMM("ACGT")), DNA),
    (normalize(GlobalAlignment(0.5)), SERIES),
    (0.5 * normalize(Subsequence(2)) + normalize(Spectrum(2)) * normalize(Spectrum(6)), DNA),
]
every_kernel = pytest.mark.parametrize(("kernel", "X"), KERNELS, ids=lambda v: repr(v)[:40])


@every_kernel
def test_same_bits_for_any_tile_company_and_number_of_threads(kernel: Any, X: list) -> None:
    X = kernel.validate(X)
    gram = Gram(kernel, X, "float64")
    K = gram.tile(n_jobs=2)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(gram.tile(n_jobs=1), K)
    np.testing.assert_array_equal(gram.tile(np.arange(len(X))), K)  # without using symmetry
    rows = np.array([1099, 0, 513])
    np.testing.assert_array_equal(gram.tile(rows), K[rows])
    columns = [7, 1099, 300]
    small = Prepared(kernel, [X[i] for i in columns]).tile([X[i] for i in rows])
    np.testing.assert_array_equal(small, K[np.ix_(rows, columns)])
    np.testing.assert_allclose(gram.diag(), np.diagonal(K), rtol=1e-13)


@every_kernel
def test_products_are_those_of_the_matrix(kernel: Any, X: list) -> None:
    X = kernel.validate(X[:300])
    gram = Gram(kernel, X, "float64")
    V = np.random.default_rng(1).normal(size=(300, 3))
    expected = gram.tile() @ V
    np.testing.assert_allclose(gram.matmul(V), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(gram.matmul(V, n_jobs=2), gram.matmul(V, n_jobs=1))


@every_kernel
def test_instruction_sets_agree(kernel: Any, X: list) -> None:
    X = kernel.validate(X[:100])
    usual = _native.isa()
    try:
        values = []
        for name in _native.available_isas():
            _native.set_isa(name)
            values.append(Gram(kernel, X, "float64").tile())
        for other in values[1:]:
            np.testing.assert_allclose(other, values[0], rtol=1e-12, atol=1e-300)
    finally:
        _native.set_isa(usual)


def test_counts_are_exact_in_single_precision() -> None:
    """Also beyond the scale where other kernels change to double precision."""
    X = [s * 20 for s in DNA]
    gram = Gram(Spectrum(2), X)
    assert gram.dtype == "float32"
    assert gram.diag().max() > 1e4
    np.testing.assert_array_equal(gram.tile(), Gram(Spectrum(2), X, "float64").tile())
    assert Gram(Spectrum(1), ["a" * 4000] * 1001).dtype == "float32"
    assert Gram(Spectrum(1), ["a" * 4100] * 1001).dtype == "float64"  # sums above 2^24


def test_a_vocabulary_belongs_to_the_objects_that_stay() -> None:
    words = Vocabulary()
    kernel = Spectrum(2)
    assert kernel.map_objects(["abab", "b"], words).toarray().tolist() == [[2, 1], [0, 0]]
    words.fix()
    assert kernel.map_objects(["bacab"], words).toarray().tolist() == [[1, 1]]
    assert kernel.diag(["bacab"]).tolist() == [4]  # from all its own substrings
    assert normalize(kernel)(["bacab"], ["abab"])[0, 0] == pytest.approx(3 / np.sqrt(4 * 5))


@pytest.mark.parametrize("p", [1, 2, 5, 9, 40])
@pytest.mark.parametrize("letters", [2, 5, 300])
def test_substrings_of_any_length_and_alphabet(p: int, letters: int) -> None:
    """Keys of one word, and chains of keys."""
    draw = np.random.default_rng(p)
    X = [draw.integers(0, letters, size=60).tolist() for _ in range(6)]
    X += [x[:50] + x[:9] for x in X]

    def count(s: list, t: list) -> int:
        return sum(
            s[i : i + p] == t[j : j + p]
            for i in range(len(s) - p + 1)
            for j in range(len(t) - p + 1)
        )

    expected = [[count(s, t) for t in X] for s in X]
    np.testing.assert_array_equal(Spectrum(p)(X), expected)


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from mercer import SVC
from mercer.kernels import Subsequence, normalize
rng = np.random.default_rng(0)
X = ["".join(row) for row in rng.choice(list("ACGT"), size=(2500, 60))]
y = rng.integers(0, 2, 2500)
kernel = Subsequence(4, 0.5)
sent = []

def press():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(call):
    threading.Timer(0.5, press).start()
    try:
        call()
    except KeyboardInterrupt:
        print("heard", time.perf_counter() - sent[-1])

interrupted(lambda: kernel(X))
machine = SVC(kernel=normalize(kernel))
interrupted(lambda: machine.fit(X[:1800], y[:1800]))
print(machine.certificate_.status, len(machine.predict(X[:3])))
"""


def test_an_interrupt_is_heard() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    matrix, fit, status = done.stdout.splitlines()
    assert matrix.startswith("heard")
    assert float(matrix.split()[1]) < 1.0
    assert fit.startswith("heard")  # the model so far is completed, which takes a product
    assert status == "interrupted 3"


TRAINING = """
import resource
import numpy as np
from mercer import SVC
from mercer.kernels import Spectrum, normalize
rng = np.random.default_rng(0)
X = ["".join(row) for row in rng.choice(list("ACGT"), size=(20000, 30))]
y = np.array([("ACG" in x) for x in X])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
machine = SVC(kernel=normalize(Spectrum(3)), cache_size=50, max_iter=3000).fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, machine.score(X, y))
"""


def test_twenty_thousand_strings_train_without_their_matrix() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRAINING],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    megabytes, score = map(float, done.stdout.split())
    assert megabytes < 400  # the matrix would take 1600 in single precision
    assert score > 0.8
