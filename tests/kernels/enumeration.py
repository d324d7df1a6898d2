"""Hidden Markov models by enumeration of all hidden paths, for short sequences."""

from collections import Counter
from itertools import product

import numpy as np

from mercer.kernels import HiddenMarkov


def random_model(seed, n_states, alphabet, **options):
    rng = np.random.default_rng(seed)
    model = HiddenMarkov.from_probabilities(
        rng.dirichlet(np.ones(n_states)),
        rng.dirichlet(np.ones(n_states), size=n_states),
        rng.dirichlet(np.ones(len(alphabet)), size=n_states),
        alphabet,
    )
    for name, value in options.items():  # without forgetting the probabilities
        setattr(model, name, value)
    return model


def joint_probabilities(model, x):
    """Yield every hidden path with P(path, x)."""
    p, A, B = model.initial_, model.transition_, model.emission_
    codes = [model.alphabet_.index(symbol) for symbol in x]
    for path in product(range(len(p)), repeat=len(x)):
        probability = 1.0
        for t, (state, code) in enumerate(zip(path, codes, strict=True)):
            probability *= (p[state] if t == 0 else A[path[t - 1], state]) * B[state, code]
        yield path, probability


def probability(model, x):
    return sum(p for _, p in joint_probabilities(model, x))


def all_strings(alphabet, length):
    return ["".join(s) for s in product(alphabet, repeat=length)]


def counted(model, x, order, average):
    """Return the expected joint counts of symbols and states, by enumeration of hidden paths."""
    expected, total = Counter(), probability(model, x)
    for path, p in joint_probabilities(model, x):
        complete = list(zip(path, x, strict=True))
        for t in range(len(x) - order + 1):
            expected[tuple(complete[t : t + order])] += p / total
    number = max(len(x) - order + 1, 1) if average else 1
    return {key: value / number for key, value in expected.items()}


def score(model, x):
    """Return d log P(x) by the logarithms of the entries of the tables, or by the entries.

    By a logarithm it is the expected minus the predicted number of uses of the entry.
    """
    names = ("initial", "transition", "emission")
    tables = {name: getattr(model, name + "_") for name in names}
    uses = {name: np.zeros(np.shape(table)) for name, table in tables.items()}
    total = probability(model, x)
    for path, p in joint_probabilities(model, x):
        for t, (state, symbol) in enumerate(zip(path, x, strict=True)):
            at = ("initial", state) if t == 0 else ("transition", (path[t - 1], state))
            uses[at[0]][at[1]] += p / total
            uses["emission"][state, model.alphabet_.index(symbol)] += p / total
    scores = []
    for name in (name for name in names if name in model.scored):
        by_logarithm = uses[name] - uses[name].sum(axis=-1, keepdims=True) * tables[name]
        softmax = model.coordinates == "softmax"
        scores.append((by_logarithm if softmax else by_logarithm / tables[name]).ravel())
    return np.concatenate(scores)
