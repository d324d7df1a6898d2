"""Documents as weighted terms, straight from the definition."""

import math
from collections import Counter


def learned_idf(documents):
    """Return log(N / n) for every term of tokenised documents."""
    containing = Counter(term for document in documents for term in set(document))
    return {term: math.log(len(documents) / n) for term, n in containing.items()}


FREQUENCIES = {"count": float, "log": lambda n: 1 + math.log(n), "binary": lambda n: 1.0}


def tf_idf(x, z, idf, tf="count", normalize=True):
    """Return the dot product, or the cosine, of two bags of terms."""

    def phi(document):
        raw = {t: FREQUENCIES[tf](n) * idf.get(t, 0.0) for t, n in Counter(document).items() if n}
        length = math.sqrt(sum(v * v for v in raw.values())) if normalize else 1.0
        return {t: v / length for t, v in raw.items() if v}

    a, b = phi(x), phi(z)
    return sum(v * b.get(t, 0.0) for t, v in a.items())
