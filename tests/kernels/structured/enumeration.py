"""Hidden Markov models by enumeration of all hidden paths, for short sequences."""

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
