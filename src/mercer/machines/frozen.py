"""Read-only arrays: a fitted model changes when an attribute is replaced, never in place.

What a model predicts with is prepared from its attributes once. An edit of an array in place would
change the attribute and not the prepared form, so that a model and its own pickle disagree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

_ATTRIBUTES = (
    "support_",
    "support_vectors_",
    "n_support_",
    "dual_coef_",
    "intercept_",
    "_linear",
)


def freeze(model: Any) -> None:
    """Make the arrays that a fitted model predicts with read-only."""
    for name in _ATTRIBUTES:
        value = model.__dict__.get(name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        elif sp.issparse(value):
            value.sort_indices()  # which nothing can do later
            for part in (value.data, value.indices, value.indptr):
                part.flags.writeable = False
