"""Kernels on sequences straight from their definitions: slow, short, and without any recursion
that the library uses."""

from collections import Counter
from itertools import combinations, product
from math import exp

import numpy as np


def substrings(s, length):
    return Counter(tuple(s[i : i + length]) for i in range(len(s) - length + 1))


def dot(a, b):
    return float(sum(a[u] * b[u] for u in a.keys() & b.keys()))


def spectrum(s, t, p):
    return dot(substrings(s, p), substrings(t, p))


def blended_spectrum(s, t, weights):
    return sum(w * spectrum(s, t, p) for p, w in enumerate(weights, start=1))


def substring(s, t, decay, shortest=1, longest=None):
    last = min(len(s), len(t)) if longest is None else longest
    return sum(decay ** (2 * p) * spectrum(s, t, p) for p in range(shortest, last + 1))


def subsequence(s, t, n, decay):
    def features(x):
        phi = Counter()
        for index in combinations(range(len(x)), n):
            phi[tuple(x[i] for i in index)] += decay ** (index[-1] - index[0] + 1)
        return phi

    return dot(features(s), features(t))


def mismatch(s, t, k, m, alphabet):
    def features(x):
        windows = [w for w in substrings(x, k).elements() if set(w) <= set(alphabet)]
        words = product(alphabet, repeat=k)
        near = {w: sum(differ(w, u) <= m for u in windows) for w in words}
        return Counter(near)

    return dot(features(s), features(t))


def differ(u, v):
    return sum(a != b for a, b in zip(u, v, strict=True))


def weighted_degree(s, t, weights, shift=0):
    total = 0.0
    for length, weight in enumerate(weights, start=1):
        for i in range(len(s) - length + 1):
            for j in range(len(t) - length + 1):
                if abs(i - j) <= shift and tuple(s[i : i + length]) == tuple(t[j : j + length]):
                    total += weight * (1.0 if i == j else 1 / (2 * (abs(i - j) + 1)))
    return total


def pair_model(s, t, emission, background, gap, end):
    """Sum over all alignments; letters are positions in the alphabet."""
    total = 0.0
    for r in range(min(len(s), len(t)) + 1):
        for i in combinations(range(len(s)), r):
            for j in combinations(range(len(t)), r):
                weight = end * (1 - gap) ** (2 * r + 2) * (1 - end) ** r
                for a, b in zip(i, j, strict=True):
                    weight *= emission[s[a], t[b]]
                for letter in [s[a] for a in range(len(s)) if a not in i]:
                    weight *= gap * background[letter]
                for letter in [t[b] for b in range(len(t)) if b not in j]:
                    weight *= gap * background[letter]
                total += weight
    return total


def alignments(m, n):
    """Return all paths from (0, 0) to (m - 1, n - 1) with steps (1, 0), (0, 1), (1, 1)."""
    if m < 1 or n < 1:
        return []
    if m == n == 1:
        return [[(0, 0)]]
    before = alignments(m - 1, n) + alignments(m, n - 1) + alignments(m - 1, n - 1)
    return [[*path, (m - 1, n - 1)] for path in before]


def global_alignment(x, z, gamma, band=None):
    def similarity(i, j):
        g = exp(-gamma * float(np.sum((np.atleast_1d(x[i]) - np.atleast_1d(z[j])) ** 2)))
        g *= 1.0 if band is None else max(0.0, 1 - abs(i - j) / band)
        return g / (2 - g)

    return sum(
        float(np.prod([similarity(i, j) for i, j in path])) for path in alignments(len(x), len(z))
    )
