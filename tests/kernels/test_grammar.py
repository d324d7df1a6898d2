"""The kernel of a stochastic grammar against enumeration of shared derivations."""

import pickle
import signal
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC
from mercer.gram import Gram, Prepared
from mercer.kernels import Grammar, Spectrum, normalize
from tests.kernels.agreement import agrees
from tests.kernels.enumeration import all_strings
from tests.kernels.grammar_definitions import derived, grammar, joint

BRACKETS = {
    "S": {("L", "R"): 0.5, ("L", "T"): 0.25, ("S", "S"): 0.25},
    "T": {("S", "R"): 1.0},
    "L": {"(": 1.0},
    "R": {")": 1.0},
}
TWO = {
    "S": {("S", "S"): 0.1, ("A", "B"): 0.3, "a": 0.4, "b": 0.2},
    "A": {("B", "A"): 0.2, "a": 0.8},
    "B": {"b": 0.9, "a": 0.1},
}
strings = st.lists(st.text("ab", max_size=3), min_size=1, max_size=5)
chances = st.sampled_from([0.0, 0.15, 0.6, 1.0])


@pytest.mark.spec("CS-3.42", "SS-11")
@settings(max_examples=12, deadline=None)
@given(strings, chances, chances, st.sampled_from(["S", "A"]))
def test_values_are_sums_over_what_derivations_share(X, independence, mutation, start):
    agrees(
        Grammar(TWO, start, independence, mutation),
        X,
        lambda x, z: grammar(x, z, TWO, start, independence, mutation),
    )


@pytest.mark.spec("CS-3.42")
def test_longer_strings_agree_too():
    X = ["abab", "bbaa", "b", "aba"]
    agrees(
        Grammar(TWO, "S", 0.3, 0.2), X, lambda x, z: grammar(x, z, TWO, "S", 0.3, 0.2), rtol=1e-10
    )
    Y = ["()()", "(())", "()", "(("]
    agrees(Grammar(BRACKETS), Y, lambda x, z: grammar(x, z, BRACKETS, "S", 0.1, 0.1))


@pytest.mark.spec("CS-3.42")
@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.text("ab", min_size=3, max_size=7), min_size=2, max_size=4),
    chances,
    st.sampled_from([0.0, 0.2]),
)
def test_the_recursion_over_pairs_of_substrings(X, independence, mutation):
    agrees(
        Grammar(TWO, "S", independence, mutation),
        X,
        lambda x, z: joint(x, z, TWO, "S", independence, mutation),
    )


def balanced(rng, n):
    """Return n pairs of brackets that match."""
    if n == 0:
        return ""
    k = rng.integers(n)
    return "(" + balanced(rng, k) + ")" + balanced(rng, n - 1 - k)


@pytest.mark.spec("CS-3.42")
def test_brackets_of_many_lengths():
    rng = np.random.default_rng(1)
    X = [balanced(rng, n) for n in (1, 2, 4, 5)] + ["(()", "())("]
    kernel = Grammar(BRACKETS, independence=0.3, mutation=0.0)
    agrees(kernel, X, lambda x, z: joint(x, z, BRACKETS, "S", 0.3, 0.0))


def test_both_orders_of_a_pair_and_every_subset_have_the_same_bits():
    rng = np.random.default_rng(2)
    X = ["".join(rng.choice(list("ab"), size=n)) for n in (9, 4, 9, 12, 1, 9, 17)]
    kernel = Grammar(TWO, independence=0.3)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(X, X), K)
    np.testing.assert_array_equal(kernel(X[::-1], X[2:4]), K[::-1, 2:4])
    np.testing.assert_array_equal(Gram(kernel, X).tile(n_jobs=1), K)
    np.testing.assert_array_equal(Gram(kernel, X).take([6, 0]).tile(), K[np.ix_([6, 0], [6, 0])])
    np.testing.assert_array_equal(Prepared(kernel, X[3:]).matmul(X, np.eye(4)), K[:, 3:])


def test_derivatives_of_longer_strings():
    X, Z = ["abaabbab", "bba", "()"[:0]], ["babab", "aabbabba"]
    for name in ("independence", "mutation"):
        gradient = Grammar(TWO, "S", 0.3, 0.2).gradient(X, Z)[name]
        h = 1e-6
        at = {"independence": 0.3, "mutation": 0.2}
        up, down = (Grammar(TWO, "S", **{**at, name: at[name] + d})(X, Z) for d in (h, -h))
        np.testing.assert_allclose(gradient, (up - down) / (2 * h), rtol=1e-6, atol=1e-18)
        assert gradient[0, 1] != 0
        assert not gradient[2].any()


def test_each_sequence_is_prepared_once(monkeypatch):
    """The charts are made where the sequences are packed, not where they are compared."""
    calls = []
    original = Grammar.encode
    monkeypatch.setattr(
        Grammar, "encode", lambda self, X, v: calls.append(len(X)) or original(self, X, v)
    )
    X = ["ab", "a", "bab", "b", "abba", "aab"]
    model = SVC(kernel=Grammar(TWO, independence=0.3)).fit(X, [0, 1, 0, 1, 0, 1])
    assert calls == [6]
    model.predict(["bb"])
    model.predict(["aa"])
    assert calls == [6, len(model.support_), 1, 1]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm that interrupts")
@pytest.mark.parametrize("what", ["values", "products", "derivatives", "diagonal"])
def test_an_interrupt_is_heard_within_one_value(what):
    """A value of these strings takes seconds; the alarm comes before the first one is there."""
    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list("ab"), size=70)) for _ in range(3)]
    kernel = Grammar(TWO)
    prepared = Prepared(kernel, X)
    work = {
        "values": lambda: prepared.tile(X),
        "products": lambda: prepared.matmul(X, np.ones((3, 1))),
        "derivatives": lambda: kernel.gradient(X),
        "diagonal": lambda: kernel.diag(X),
    }[what]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    start = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - start < 1.5


@pytest.mark.spec("CS-3.42")
def test_summed_over_one_string_it_is_the_probability_of_the_other():
    rules = {"S": {("S", "S"): 0.05, "a": 0.65, "b": 0.3}}
    kernel = Grammar(rules, independence=0.4, mutation=0.3)
    X = [x for n in range(1, 8) for x in all_strings("ab", n)]
    some = ["a", "b", "ab", "baa"]
    p = kernel.probabilities(some)
    np.testing.assert_allclose(p, [derived(rules, "S", x) for x in some], rtol=1e-13)
    assert kernel.probabilities(X).sum() == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(kernel(some, X).sum(axis=1), p, rtol=1e-4)


@pytest.mark.spec("CS-3.42")
def test_the_limits_of_sharing():
    X = ["a", "ab", "ba", "aab", "bbb", ""]
    p = Grammar(TWO).probabilities(X)
    # Nothing is shared but the start symbol.
    np.testing.assert_allclose(Grammar(TWO, independence=1.0)(X), np.outer(p, p), rtol=1e-14)
    # All is shared, down to the letters: every derivation derives one string.
    np.testing.assert_allclose(
        Grammar(TWO, independence=0.0, mutation=0.0)(X), np.diag(p), rtol=1e-14
    )


@pytest.mark.spec("CS-3.42")
def test_the_kernel_is_positive_semidefinite_over_all_short_strings():
    X = [x for n in range(5) for x in all_strings("ab", n)]
    kernel = normalize(Grammar(TWO, independence=0.3))
    assert kernel.definiteness == "positive semidefinite"
    assert np.linalg.eigvalsh(kernel(X))[0] > -1e-12


def test_strings_that_the_grammar_does_not_derive_have_the_value_zero():
    kernel = Grammar(BRACKETS)
    K = kernel(["", ")(", "(", "()"])
    assert not K[:3].any()
    assert not K[:, :3].any()
    assert K[3, 3] > 0
    np.testing.assert_array_equal(kernel.probabilities(["", ")(", "()"]), [0, 0, 0.5])
    np.testing.assert_allclose(normalize(kernel)(["", "()"]), [[0, 0], [0, 1]], rtol=1e-14)


def test_any_tokens_and_bytes():
    words = {0: {(0, 0): 0.25, "to": 0.5, "be": 0.25}}
    letters = Grammar({"S": {("S", "S"): 0.25, "a": 0.5, "b": 0.25}})
    expected = letters(["ab", "b"])
    np.testing.assert_array_equal(Grammar(words)([["to", "be"], ["be"]]), expected)
    octets = Grammar({"S": {("S", "S"): 0.25, b"a": 0.5, b"b": 0.25}})
    np.testing.assert_array_equal(octets([b"ab", b"b"]), expected)


def test_a_machine_learns_the_structure():
    rng = np.random.default_rng(0)
    X = [balanced(rng, rng.integers(1, 4)) for _ in range(50)]
    y = ["((" in x for x in X]  # nested, or in a row
    kernel = normalize(Grammar(BRACKETS, independence=0.5))
    model = SVC(kernel=kernel, C=10.0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.certificate_.status == "optimal"
    assert cross_val_score(SVC(kernel=kernel, C=10.0), X, y, cv=3).mean() > 0.9
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    search = GridSearchCV(SVC(kernel=kernel), {"kernel__kernel__independence": [0.2, 0.8]}, cv=2)
    assert search.fit(X, y).best_estimator_.kernel_.kernel.rules == BRACKETS


def test_copies_and_sums():
    kernel = Grammar(TWO)
    assert clone(kernel) == kernel
    assert kernel.set_params(start="A").start == "A"
    np.testing.assert_array_equal(kernel(["a"]), Grammar(TWO, "A")(["a"]))  # and not of S
    both = Grammar(TWO) + Spectrum(1)
    np.testing.assert_allclose(both(["ab", "b"]), Grammar(TWO)(["ab", "b"]) + [[2, 1], [1, 1]])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Grammar([]), TypeError, "rules must be a mapping from nonterminals"),
        (lambda: Grammar({}), TypeError, "rules must be a mapping from nonterminals"),
        (lambda: Grammar({"S": ["a"]}), TypeError, "the rules of 'S' must be a mapping"),
        (lambda: Grammar({"S": {}}), TypeError, "the rules of 'S' must be a mapping"),
        (lambda: Grammar({"S": {"a": 0.9}}), ValueError, "of 'S' must add up to 1; .* 0.9"),
        (
            lambda: Grammar({"S": {"a": 1.5, "b": -0.5}}),
            ValueError,
            "the probability of the rule S -> 'b' must be a finite number of at least 0",
        ),
        (lambda: Grammar({"S": {"a": "1"}}), TypeError, "the probability of the rule S -> 'a'"),
        (
            lambda: Grammar({"S": {("S", "T"): 0.5, "a": 0.5}}),
            ValueError,
            "the rule S -> S T: 'T' has no rules of its own; the nonterminals are S",
        ),
        (
            lambda: Grammar({"S": {("S", "S", "S"): 0.1, "a": 0.9}}),
            ValueError,
            "has 3 nonterminals; in Chomsky normal form.*as A -> B E and E -> C D",
        ),
        (lambda: Grammar({"S": {("S",): 0.1, "a": 0.9}}), ValueError, "has 1 nonterminals"),
        (
            lambda: Grammar({"S": {"T": 1.0}, "T": {"a": 1.0}}),
            ValueError,
            "the rule S -> 'T' has one nonterminal.*Replace it by the rules of 'T'",
        ),
        (lambda: Grammar({"S": {"": 0.1, "a": 0.9}}), ValueError, "derives nothing"),
        (lambda: Grammar({"S": {None: 1.0}}), ValueError, "derives nothing"),
        (lambda: Grammar({"S": {("S", "S"): 1.0}}), ValueError, "no rule emits a letter"),
        (lambda: Grammar(TWO, "T"), ValueError, "start must be a nonterminal, one of S, A, B"),
        (lambda: Grammar(TWO, independence=1.5), ValueError, "independence must be a probability"),
        (lambda: Grammar(TWO, mutation=-0.1), ValueError, "mutation must be a finite number of"),
        (lambda: Grammar(TWO, mutation="0"), TypeError, "mutation must be a real number"),
        (
            lambda: Grammar(TWO)(["ab", "abc"]),
            ValueError,
            "object 1 has the letter 'c', which is not in the alphabet .* add rules that emit it",
        ),
        (lambda: Grammar(TWO)([1.0]), TypeError, "object 0 is 1.0 of type float"),
        (lambda: Grammar(TWO)("ab"), TypeError, "collection of sequences"),
        (lambda: Grammar(TWO)([]), ValueError, "no objects"),
    ],
)
def test_what_is_no_grammar_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
