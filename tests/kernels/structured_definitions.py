"""Definitions of the kernels on structured objects, one value after the other."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from scipy.linalg import expm

from mercer import kernels as mk
from tests.kernels import string_definitions as strings
from tests.kernels.document_definitions import tf_idf
from tests.kernels.enumeration import counted, score
from tests.kernels.grammar_definitions import grammar
from tests.kernels.set_definitions import MULTISETS, boolean, jaccard, measure


def pairwise(value):
    """Return the definition of a matrix from that of one value."""
    return lambda k, X, Z: [[value(k, x, z) for z in Z] for x in X]


def unit_weights(k, n):
    return [1.0] * n if k.weights is None else k.weights


def subsequence(k, s, t):
    weights = [0.0] * (k.n - 1) + [1.0] if k.weights is None else k.weights
    return sum(w * strings.subsequence(s, t, n, k.decay) for n, w in enumerate(weights, 1) if w)


def weighted_degree(k, s, t):
    falling = [2 * (k.degree - n) / (k.degree * (k.degree + 1)) for n in range(k.degree)]
    return strings.weighted_degree(s, t, k.weights or falling, k.shift)


def pair_hmm(k, s, t):
    n = len(k.alphabet)
    q = np.full(n, 1 / n) if k.background is None else np.array(k.background)
    kept = (1 - k.mutation) ** 2
    copied = kept * np.diag(q) + (1 - kept) * np.outer(q, q)
    emission = copied if k.emission is None else np.array(k.emission)
    s, t = ([k.alphabet.index(c) for c in x] for x in (s, t))
    return strings.pair_model(s, t, emission, q, k.gap, k.end)


def elements(x):
    return {v for v, n in x.items() if n} if isinstance(x, Counter) else set(x)


def set_ratio(k, a, b):
    return jaccard(a, b, k.weights) if k.multisets else jaccard(elements(a), elements(b), k.weights)


def document_value(k, x, z):
    if k.vocabulary is None:  # rows of counts
        bags, terms = [dict(enumerate(row)) for row in (x, z)], range(len(k.idf))
    else:
        plain = ([w.strip(".,").lower() for w in text.split()] for text in (x, z))
        bags = [[w for w in text if w not in (k.stop_words or ())] for text in plain]
        terms = k.vocabulary
    return tf_idf(*bags, dict(zip(terms, k.idf, strict=True)), k.tf, k.normalize)


def diffusion(k, X, Z):
    W = np.array(k.weights)
    K = expm(-k.beta * (np.diag(W.sum(axis=1)) - W))
    return [[K[list(k.nodes).index(x), list(k.nodes).index(z)] for z in Z] for x in X]


def definitions(defined):
    """Return the definitions by class; `defined` defines what they are composed of."""

    def convolution(k, x, z):
        kernels = k.kernel if isinstance(k.kernel, Sequence) else (k.kernel,)

        def taken_apart(x):
            parts = k.parts(x)
            weights = parts.values() if isinstance(parts, dict) else [1.0] * len(parts)
            total = (sum(weights) or 1.0) if k.average else 1.0
            each = parts if len(kernels) > 1 else [(part,) for part in parts]
            return [(part, w / total) for part, w in zip(each, weights, strict=True)]

        def similarity(kernel, a, b):
            return float(a == b) if kernel is None else defined(kernel, *map(one, (a, b)))[0, 0]

        def one(part):
            return [part] if isinstance(part, str | frozenset) else np.array([part])

        return sum(
            v * w * prod(similarity(*each) for each in zip(kernels, a, b, strict=True))
            for (a, v), (b, w) in product(taken_apart(x), taken_apart(z))
        )

    def over_features(features):
        def value(k, X, Z):
            A, B = (np.array([features(k, x) for x in objects]) for objects in (X, Z))
            return defined(k.kernel or mk.Linear(), A, B)

        return value

    def fisher(k, x):
        metric = 1.0 if isinstance(k.metric, str) else np.array(k.metric)
        return score(k.model, x) / np.sqrt(metric)

    def marginalized(k, x):
        found = counted(k.model, x, k.order, k.average)
        both = list(product(range(len(k.model.initial_)), k.model.alphabet_))
        return [found.get(key, 0.0) for key in product(both, repeat=k.order)]

    def delayed(k, x):
        x = np.asarray(x, dtype=float)
        return np.ravel([x[max(len(x) - 1 - j * k.delay, 0)] for j in range(k.dimension)])

    return {
        mk.Spectrum: pairwise(lambda k, s, t: strings.spectrum(s, t, k.p)),
        mk.BlendedSpectrum: pairwise(
            lambda k, s, t: strings.blended_spectrum(s, t, unit_weights(k, k.p))
        ),
        mk.Substring: pairwise(
            lambda k, s, t: strings.substring(s, t, k.decay, k.min_length, k.max_length)
        ),
        mk.Subsequence: pairwise(subsequence),
        mk.Mismatch: pairwise(lambda k, s, t: strings.mismatch(s, t, k.k, k.m, k.alphabet)),
        mk.WeightedDegree: pairwise(weighted_degree),
        mk.PairHMM: pairwise(pair_hmm),
        mk.GlobalAlignment: pairwise(
            lambda k, x, z: strings.global_alignment(x, z, k.gamma, k.band)
        ),
        mk.Grammar: pairwise(
            lambda k, x, z: grammar(
                x, z, k.rules, k.start or next(iter(k.rules)), k.independence, k.mutation
            )
        ),
        mk.Convolution: pairwise(convolution),
        mk.SetIntersection: pairwise(lambda k, a, b: measure(elements(a) & elements(b), k.weights)),
        mk.SetPower: pairwise(
            lambda k, a, b: k.base ** measure(elements(a) & elements(b), k.weights)
        ),
        mk.Jaccard: pairwise(set_ratio),
        mk.Multiset: pairwise(lambda k, a, b: MULTISETS[k.mode](a, b)),
        mk.TfIdf: pairwise(document_value),
        mk.Boolean: pairwise(lambda k, x, z: boolean(x, z, k.monotone)),
        mk.Diffusion: diffusion,
        mk.Fisher: over_features(fisher),
        mk.Marginalized: over_features(marginalized),
        mk.Delayed: over_features(delayed),
    }
