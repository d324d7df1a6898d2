"""Kernels on sets, multisets and truth values straight from their definitions."""

import math
from collections import Counter
from itertools import chain, combinations, product


def measure(items, weights=None):
    return sum((weights or {}).get(v, 1.0) for v in items)


def subsets(items):
    return chain.from_iterable(combinations(sorted(items), k) for k in range(len(items) + 1))


def common_subsets(a, b):
    return len(set(subsets(a)) & set(subsets(b)))


def jaccard(a, b, weights=None):
    """The share of the union that is common, of multisets; a set has every element once."""
    a, b = Counter(a), Counter(b)
    union = measure((a | b).elements(), weights)
    return measure((a & b).elements(), weights) / union if union else 1.0


MULTISETS = {
    "minimum": lambda a, b: (Counter(a) & Counter(b)).total(),
    "product": lambda a, b: sum(n * Counter(b)[v] for v, n in Counter(a).items()),
    "multisets": lambda a, b: math.prod(1 + n for n in (Counter(a) & Counter(b)).values()),
    "subsets": lambda a, b: math.prod(1 + n * Counter(b)[v] for v, n in Counter(a).items()),
}


def conjunctions(n, monotone):
    """Return all conjunctions but the empty one: for each variable required, absent or negated."""
    choices = (None, 1) if monotone else (None, 1, 0)
    return [c for c in product(choices, repeat=n) if any(v is not None for v in c)]


def satisfied(conjunction, x):
    return all(v is None or v == a for v, a in zip(conjunction, x, strict=True))


def boolean(x, z, monotone):
    return sum(satisfied(c, x) and satisfied(c, z) for c in conjunctions(len(x), monotone))
