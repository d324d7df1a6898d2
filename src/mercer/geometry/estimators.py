"""Validation of the objects of transformers that have a kernel, and their scikit-learn tags."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from mercer.kernels.base import Kernel
from mercer.objects.tables import are_vectors, is_table
from mercer.objects.validation import taken_by


def checked_objects(estimator: Any, X: Any, kernel: Kernel, *, reset: bool) -> Any:
    """Return objects in the form in which the kernel evaluates them.

    `estimator`: receives ``n_features_in_`` and ``feature_names_in_`` when `reset` is true, and is
    compared with them otherwise.
    """
    kernel._check_changes()
    takes = kernel.takes
    if not (are_vectors(takes, X) or takes.pairwise):
        if takes.columns and is_table(X):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        return kernel.validate(X)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr" if takes.accepts_sparse and not takes.pairwise else False,
        dtype=[np.float64, np.float32],
        accept_large_sparse=True,
    )
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return kernel.validate(X) if reset or not takes.pairwise else X


def tag_objects(tags: Any, kernel: Kernel) -> Any:
    """Return scikit-learn's tags with what the kernel takes as input."""
    takes = taken_by(kernel)
    tags.input_tags.pairwise = takes.pairwise
    tags.input_tags.sparse = takes.accepts_sparse and not takes.pairwise
    return tags
