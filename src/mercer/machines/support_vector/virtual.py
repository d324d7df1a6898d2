"""Virtual support vectors: a known invariance, learned from transformed support vectors.

Transforming the whole training set would multiply its size; only support vectors determine the
machine, so these alone are transformed, and a new machine is trained on them (B. Schoelkopf, C.
Burges, V. Vapnik, "Incorporating invariances in support vector learning machines", ICANN 1996).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

__all__ = ["virtual_support_vectors"]


def virtual_support_vectors(
    model: Any, transforms: Sequence[Callable[[Any], Any]]
) -> tuple[Any, NDArray[Any]]:
    """Return the support vectors of a classifier together with their transformed copies.

    Parameters
    ----------
    model : SVC or NuSVC
        A fitted classifier on vectors.
    transforms : sequence of callables
        Each takes the support vectors, one in a row, and returns as many rows of as many columns
        whose labels are the same: images shifted by a pixel, points turned by an angle.

    Returns
    -------
    X : array or CSR matrix of shape ((1 + n_transforms) n_support, n_features)
        The support vectors, followed by the result of each transform.
    y : array of shape ((1 + n_transforms) n_support,)
        Their labels.

    Examples
    --------
    >>> from mercer import SVC, virtual_support_vectors
    >>> model = SVC(kernel="linear").fit([[-1.0, 0.0], [1.0, 0.0]], ["left", "right"])
    >>> X, y = virtual_support_vectors(model, [lambda X: X + [0.0, 1.0]])
    >>> X.tolist(), y.tolist()
    ([[-1.0, 0.0], [1.0, 0.0], [-1.0, 1.0], [1.0, 1.0]], ['left', 'right', 'left', 'right'])
    """
    if not hasattr(model, "fit"):
        raise TypeError(f"a fitted machine comes first; got {type(model).__name__}.")
    check_is_fitted(model)
    vectors = model.support_vectors_
    if not hasattr(model, "classes_") or model.kernel_.pairwise or not hasattr(vectors, "shape"):
        raise ValueError("virtual support vectors are defined for a classifier trained on vectors.")
    copies = [vectors]
    for transform in transforms:
        moved = transform(vectors)
        if getattr(moved, "shape", None) != vectors.shape:
            raise ValueError(
                f"a transform must return an array of the shape {vectors.shape} that it is given; "
                f"got {getattr(moved, 'shape', type(moved).__name__)}."
            )
        copies.append(moved)
    stack = sp.vstack(copies, format="csr") if sp.issparse(vectors) else np.concatenate(copies)
    labels = np.repeat(model.classes_, model.n_support_)
    return stack, np.tile(labels, len(copies))
