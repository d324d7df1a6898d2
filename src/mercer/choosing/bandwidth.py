"""How wide a kernel should be, from distances in the data.

The width often matters more than the form of a kernel: a narrow one memorises the training
objects one by one, a wide one sees no differences. Rules for sigma in exp(-d^2 / (2 sigma^2)):

- the median of the distances between objects;
- the distance of the closest pair of objects with different labels (T. Jaakkola, M. Diekhans,
  D. Haussler, "Using the Fisher kernel method to detect remote protein homologies", 1999);
- scikit-learn's "scale", gamma = 1 / (d var(X)), and "auto", gamma = 1 / d.

They are starting points for a search and no answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from mercer.feature_space import distance
from mercer.features.seeds import generator
from mercer.kernels import RBF, Kernel, Laplacian
from mercer.kernels.objects import as_vectors, count, take
from mercer.kernels.parameters import integer, show
from mercer.kernels.vectors.gamma import resolve_gamma

Array = NDArray[np.float64]

RULES = ("median", "closest_opposite_pair", "scale", "auto")
FORMS = ("rbf", "laplacian")
_FEW_COLUMNS = 20  # up to so many a search tree finds nearest neighbours faster than all pairs do


@dataclass(frozen=True)
class Bandwidth:
    """A width for a kernel, and where it comes from.

    Attributes
    ----------
    gamma : float
        The width as the kernels take it: exp(-gamma d^2), or exp(-gamma d) for "laplacian".
    rule : str
        The rule.
    form : {"rbf", "laplacian"}
        The form of the kernel.
    distance : float or None
        The distance that the rule found; None for "scale" and "auto".
    n_used : int
        On how many objects.
    how : str
        In words.
    """

    gamma: float
    rule: str
    form: str
    distance: float | None
    n_used: int
    how: str

    @property
    def sigma(self) -> float:
        """The width as sigma in exp(-d^2 / (2 sigma^2)), or in exp(-d / sigma)."""
        return 1.0 / self.gamma if self.form == "laplacian" else 1.0 / math.sqrt(2.0 * self.gamma)

    @property
    def kernel(self) -> Kernel:
        """The kernel with this width."""
        return Laplacian(self.gamma) if self.form == "laplacian" else RBF(self.gamma)

    def __str__(self) -> str:
        return f"gamma = {self.gamma:.6g}: {self.how}"


def bandwidth(
    X: Any,
    y: Any = None,
    rule: str = "median",
    *,
    form: str = "rbf",
    within: Kernel | None = None,
    n_sample: int = 2000,
    random_state: Any = 0,
) -> Bandwidth:
    """Return a width from the data.

    Parameters
    ----------
    X : objects
        Rows of numbers, or any objects together with ``within``.
    y : array-like of shape (n_X,), optional
        Labels, for the closest opposite pair.
    rule : {"median", "closest_opposite_pair", "scale", "auto"}, default="median"
        The rule; see the head of the module. The median is over pairs of different objects, so
        copies do not count.
    form : {"rbf", "laplacian"}, default="rbf"
        The kernel exp(-gamma d^2) of the Euclidean distance, with gamma = 1 / (2 distance^2), or
        exp(-gamma d) of the L1 distance, with gamma = 1 / distance.
    within : Kernel, optional
        Measure distances in the feature space of this kernel, on objects of any kind, for a
        Gaussian over that space.
    n_sample : int, default=2000
        Use so many objects, drawn at random, if there are more; a closest pair in up to 20
        columns is exact for any number.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the draw.

    Returns
    -------
    Bandwidth
        The width and how it was found.

    Examples
    --------
    >>> from mercer.choosing import bandwidth
    >>> X, y = [[0.0], [1.0], [3.0]], [0, 0, 1]
    >>> bandwidth(X).distance, bandwidth(X, y, "closest_opposite_pair").distance
    (2.0, 2.0)
    >>> print(bandwidth(X))
    gamma = 0.125: the median of the distances between 3 objects is 2
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {show(rule)}.")
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}; got {show(form)}.")
    integer(n_sample, "n_sample", minimum=2)
    if rule in ("scale", "auto"):
        return _by_columns(X, rule, form, within)
    labels = _labels(y, rule)
    if within is None:
        X = as_vectors(X, "bandwidth")
    else:
        if form != "rbf":
            raise ValueError("within a feature space the distance is Euclidean; use form='rbf'.")
        within, X = within._bound_to(X)
    n = count(X)
    if labels is not None and len(labels) != n:
        raise ValueError(f"y must have one label for each of the {n} objects; got {len(labels)}.")
    if n < 2:
        raise ValueError("a distance needs at least two objects; got 1.")
    tree = labels is not None and within is None and _fits_a_tree(X)
    if n > n_sample and not tree:
        chosen = np.sort(generator(random_state).choice(n, n_sample, replace=False))
        X, labels = take(X, chosen), None if labels is None else labels[chosen]
    p = 1 if form == "laplacian" else 2
    found = _median(X, within, p) if labels is None else _closest(X, labels, within, p)
    gamma = 1.0 / found if form == "laplacian" else 0.5 / found / found
    used = count(X)
    what = (
        f"the median of the distances between {used} objects"
        if labels is None
        else f"the closest pair with different labels among {used} objects"
    )
    drawn = f", drawn from {n}," if used < n else ""
    verb = "is" if labels is None else "is apart by"
    return Bandwidth(gamma, rule, form, found, used, f"{what}{drawn} {verb} {found:.6g}")


def _by_columns(X: Any, rule: str, form: str, within: Kernel | None) -> Bandwidth:
    if within is not None:
        raise ValueError(f"the rule {rule!r} needs columns, and a feature space has none.")
    X = as_vectors(X, "bandwidth")
    gamma = resolve_gamma(rule, X)
    variance = " times the variance" if rule == "scale" else ""
    how = f"one over the number of columns, {X.shape[1]},{variance}".replace(",,", ",").rstrip(",")
    return Bandwidth(gamma, rule, form, None, X.shape[0], how)


def _labels(y: Any, rule: str) -> NDArray[Any] | None:
    if rule == "median":
        return None
    if y is None:
        raise ValueError("the closest opposite pair needs labels; pass y.")
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one label per object; got shape {labels.shape}.")
    if labels.dtype.kind == "f" and np.any(labels != np.round(labels)):
        raise ValueError(
            "the closest opposite pair needs class labels; got real targets. Use rule='median'."
        )
    if len(np.unique(labels)) < 2:
        raise ValueError("the closest opposite pair needs objects of at least two classes.")
    return np.unique(labels, return_inverse=True)[1]


def _fits_a_tree(X: Any) -> bool:
    return not sp.issparse(X) and X.shape[1] <= _FEW_COLUMNS


def _median(X: Any, within: Kernel | None, p: int) -> float:
    if within is not None:
        apart = distance(within, X)[np.triu_indices(count(X), 1)]
    elif sp.issparse(X):
        apart = _sparse_distances(X, X, p)[np.triu_indices(X.shape[0], 1)]
    else:
        apart = pdist(X.astype(np.float64, copy=False), "cityblock" if p == 1 else "euclidean")
    apart = apart[apart > 0.0]
    if not len(apart):
        raise ValueError(
            "all objects are equal, so there is no distance to take a width from; give gamma as a "
            "number."
        )
    return float(np.median(apart))


def _closest(X: Any, labels: NDArray[Any], within: Kernel | None, p: int) -> float:
    """Return the smallest distance between objects with different labels."""
    best, pair = math.inf, (0, 0)
    for label in range(labels.max() + 1):
        own, others = np.flatnonzero(labels == label), np.flatnonzero(labels > label)
        if not (len(own) and len(others)):
            continue  # the last class, or a class that the draw missed
        apart, i, j = _nearest(take(X, own), take(X, others), within, p)
        if apart < best:
            best, pair = apart, (int(own[i]), int(others[j]))
    if best == math.inf:
        raise ValueError("the objects drawn are all of one class; raise n_sample.")
    if best == 0.0:
        raise ValueError(
            f"objects {pair[0]} and {pair[1]} are equal but have different labels, so the closest "
            "opposite pair gives no width; remove contradictions, or use rule='median'."
        )
    return best


def _nearest(A: Any, B: Any, within: Kernel | None, p: int) -> tuple[float, int, int]:
    """Return the smallest distance between two sets and where it is."""
    if within is None and _fits_a_tree(A):
        apart, j = cKDTree(B).query(A, p=p)
        i = int(apart.argmin())
        return float(apart[i]), i, int(j[i])
    best, pair = math.inf, (0, 0)
    for first in range(0, count(A), 256):
        block = take(A, slice(first, first + 256))
        tile = _distances(block, B, within, p)
        at = int(tile.argmin())
        if tile.flat[at] < best:
            row, column = divmod(at, tile.shape[1])
            best, pair = float(tile.flat[at]), (first + row, column)
    return best, *pair


def _distances(A: Any, B: Any, within: Kernel | None, p: int) -> Array:
    if within is not None:
        return distance(within, A, B)
    if sp.issparse(A):
        return _sparse_distances(A, B, p)
    from scipy.spatial.distance import cdist

    return cdist(A, B, "cityblock" if p == 1 else "euclidean")


def _sparse_distances(A: Any, B: Any, p: int) -> Array:
    from sklearn.metrics import pairwise_distances

    return pairwise_distances(A, B, metric="manhattan" if p == 1 else "euclidean")
