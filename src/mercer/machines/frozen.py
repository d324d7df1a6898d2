"""Read-only arrays: a fitted model changes when an attribute is replaced, never in place.

The data for predictions are prepared from the attributes once. An edit of an array in place would
change the attribute and not the prepared form, so that a model and its own pickle disagree. The
rule is one for all estimators: every array that a fit leaves, which scikit-learn marks by a name
that ends in an underscore, is read-only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

_LINEAR = "_linear"
"""The array behind poly_coef_."""

_CSR = (sp.csr_matrix, sp.csr_array)


def freeze(model: Any) -> None:
    """Make the arrays of a fitted model read-only; those of the user become views."""
    for name, value in list(model.__dict__.items()):
        if name[-1] != "_" and name != _LINEAR:
            continue
        if isinstance(value, np.ndarray):
            if value.flags.writeable:
                model.__dict__[name] = view = value.view()
                view.setflags(write=False)
        elif type(value) in _CSR:
            ordered = value.sorted_indices()  # which nothing can do later
            parts = (ordered.data, ordered.indices, ordered.indptr)
            model.__dict__[name] = type(value)(tuple(map(_read_only, parts)), shape=value.shape)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view
