"""Stochastic grammars by enumeration of everything that two derivations can share."""

from functools import cache
from itertools import combinations, product


def derived(rules, symbol, x):
    """Return the probability that a nonterminal derives a sequence, over all derivations."""
    total = rules[symbol].get(x[0], 0.0) if len(x) == 1 else 0.0
    for side, p in rules[symbol].items():
        if isinstance(side, tuple):
            total += p * from_frontier(rules, [("open", side[0]), ("open", side[1])], x, 0.0)
    return total


def from_frontier(rules, frontier, x, mutation):
    """Return the probability that what two sequences share becomes the sequence x."""
    total = 0.0
    for cuts in combinations(range(1, len(x)), len(frontier) - 1):
        parts = [x[i:j] for i, j in zip((0, *cuts), (*cuts, len(x)), strict=True)]
        p = 1.0
        for (kind, symbol, *letter), part in zip(frontier, parts, strict=True):
            if kind == "open":
                p *= derived(rules, symbol, part)
            elif len(part) > 1:
                p = 0.0
            else:  # a copy of a letter, which may have been replaced
                emitted = [q for side, q in rules[symbol].items() if not isinstance(side, tuple)]
                again = rules[symbol].get(part[0], 0.0) / sum(emitted)
                p *= (1 - mutation) * (part[0] == letter[0]) + mutation * again
        total += p
    return total


def shared(rules, symbol, independence, most):
    """Yield the frontiers of up to `most` symbols of shared derivations, with probabilities."""
    yield [("open", symbol)], independence
    for side, p in rules[symbol].items():
        if not isinstance(side, tuple):
            yield [("letter", symbol, side)], (1 - independence) * p
        elif most > 1:
            for left, v in shared(rules, side[0], independence, most - 1):
                for right, w in shared(rules, side[1], independence, most - len(left)):
                    yield left + right, (1 - independence) * p * v * w


def grammar(x, z, rules, start, independence, mutation):
    """Return sum_c p(c) p(x|c) p(z|c)."""
    most = min(len(x), len(z))
    if not most:
        return 0.0
    return sum(
        p * from_frontier(rules, c, x, mutation) * from_frontier(rules, c, z, mutation)
        for c, p in shared(rules, start, independence, most)
    )


def joint(x, z, rules, start, independence, mutation):
    """Return the same by the recursion over pairs of substrings: those that A derives together."""

    @cache
    def inside(A, s):
        pairs = [(side, p) for side, p in rules[A].items() if isinstance(side, tuple)]
        cuts = range(1, len(s))
        split = sum(p * inside(B, s[:m]) * inside(C, s[m:]) for (B, C), p in pairs for m in cuts)
        return split + (rules[A].get(s[0], 0.0) if len(s) == 1 else 0.0)

    @cache
    def together(A, s, t):
        pairs = [(side, p) for side, p in rules[A].items() if isinstance(side, tuple)]
        cuts = list(product(range(1, len(s)), range(1, len(t))))
        shared = sum(
            p * together(B, s[:m], t[:n]) * together(C, s[m:], t[n:])
            for (B, C), p in pairs
            for m, n in cuts
        )
        apart = inside(A, s) * inside(A, t)
        if apart and len(s) == len(t) == 1:  # a copied letter, which may be replaced in both
            kept = (1 - mutation) ** 2
            emitted = sum(p for side, p in rules[A].items() if not isinstance(side, tuple))
            shared += kept * (s == t) * rules[A].get(s, 0.0) + (1 - kept) * apart / emitted
        return independence * apart + (1 - independence) * shared

    return together(start, x, z) if x and z else 0.0
