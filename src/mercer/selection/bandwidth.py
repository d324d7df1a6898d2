"""Bandwidths of kernels, from distances in the data.

The width often matters more than the form of a kernel: a narrow one memorises the training
objects one by one, a wide one sees no differences. Rules for sigma in exp(-d^2 / (2 sigma^2)):

- the median of the distances between objects;
- the distance of the closest pair of objects with different labels, see
  :mod:`mercer.numerics.closest_pair`;
- scikit-learn's "scale", gamma = 1 / (d var(X)), and "auto", gamma = 1 / d.

They are starting points for a search and no answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from mercer.features.seeds import generator
from mercer.geometry import distance
from mercer.kernels import RBF, Kernel, Laplacian, OverFeatureSpace
from mercer.kernels.vectors.gamma import resolve_gamma
from mercer.numerics.closest_pair import (
    class_numbers,
    closest_opposite_distance,
    fits_a_tree,
    vector_distances,
)
from mercer.objects.parameters import integer, require_choice
from mercer.objects.validation import as_vectors, count, take

RULES = ("median", "closest_opposite_pair", "scale", "auto")
FORMS = ("rbf", "laplacian")


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
    within : Kernel or None
        The kernel in whose feature space distances were measured, bound to the data; None: they
        are those of the vectors.

    Examples
    --------
    >>> from mercer.selection import bandwidth
    >>> made = bandwidth([[0.0], [1.0], [3.0]], rule="median")
    >>> made.distance, made.gamma
    (2.0, 0.125)
    """

    gamma: float
    rule: str
    form: str
    distance: float | None
    n_used: int
    how: str
    within: Kernel | None = None

    @property
    def sigma(self) -> float:
        """The width as sigma in exp(-d^2 / (2 sigma^2)), or in exp(-d / sigma)."""
        return 1.0 / self.gamma if self.form == "laplacian" else 1.0 / math.sqrt(2.0 * self.gamma)

    @property
    def kernel(self) -> Kernel:
        """The kernel with this width, over the feature space in which it was measured."""
        if self.within is not None:
            return OverFeatureSpace(self.within, self.gamma)
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
        Measure distances in the feature space of this kernel, on objects of any kind. The width
        is then that of a Gaussian over this space, ``OverFeatureSpace(within, gamma)``.
    n_sample : int, default=2000
        Number of objects to draw at random, if there are more; a closest pair in up to 20
        columns is exact for any number.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the draw.

    Returns
    -------
    Bandwidth
        The width and how it was found.

    Examples
    --------
    >>> from mercer.selection import bandwidth
    >>> X, y = [[0.0], [1.0], [3.0]], [0, 0, 1]
    >>> bandwidth(X).distance, bandwidth(X, y, "closest_opposite_pair").distance
    (2.0, 2.0)
    >>> print(bandwidth(X))
    gamma = 0.125: the median of the distances between 3 objects is 2

    On other objects the distance is that of another kernel:

    >>> from mercer.kernels import Spectrum
    >>> bandwidth(["ab", "aaab"], within=Spectrum(1)).kernel
    OverFeatureSpace(kernel=Spectrum(p=1), gamma=0.125)
    """
    require_choice(rule, "rule", RULES)
    require_choice(form, "form", FORMS)
    integer(n_sample, "n_sample", minimum=2)
    if rule in ("scale", "auto"):
        return _by_columns(X, rule, form, within)
    if rule == "closest_opposite_pair" and y is None:
        raise ValueError("the closest opposite pair needs labels; pass y.")
    if within is None:
        X = as_vectors(X, "bandwidth")
    else:
        if form != "rbf":
            raise ValueError("within a feature space the distance is Euclidean; use form='rbf'.")
        within, X = within.bound_to(X)
    n = count(X)
    labels = None if rule == "median" else class_numbers(y, n)
    if n < 2:
        raise ValueError("a distance needs at least two objects; got 1.")
    tree = labels is not None and within is None and fits_a_tree(X)
    if n > n_sample and not tree:
        chosen = np.sort(generator(random_state).choice(n, n_sample, replace=False))
        X, labels = take(X, chosen), None if labels is None else labels[chosen]
        if labels is not None and np.ptp(labels) == 0:
            raise ValueError("the objects drawn are all of one class; raise n_sample.")
    p = 1 if form == "laplacian" else 2
    if labels is None:
        found = _median(X, within, p)
    else:
        measure = None if within is None else partial(distance, within)
        found = closest_opposite_distance(X, labels, p=p, distances=measure)
    gamma = 1.0 / found if form == "laplacian" else 0.5 / found / found
    used = count(X)
    what = (
        f"the median of the distances between {used} objects"
        if labels is None
        else f"the closest pair with different labels among {used} objects"
    )
    drawn = f", drawn from {n}," if used < n else ""
    verb = "is" if labels is None else "is apart by"
    where = "" if within is None else f" in the feature space of {within!r}"
    how = f"{what}{drawn} {verb} {found:.6g}{where}"
    return Bandwidth(gamma, rule, form, found, used, how, within)


def _by_columns(X: Any, rule: str, form: str, within: Kernel | None) -> Bandwidth:
    if within is not None:
        raise ValueError(f"the rule {rule!r} needs columns, and a feature space has none.")
    X = as_vectors(X, "bandwidth")
    gamma = resolve_gamma(rule, X)
    variance = " times the variance" if rule == "scale" else ""
    how = f"one over the number of columns, {X.shape[1]},{variance}".replace(",,", ",").rstrip(",")
    return Bandwidth(gamma, rule, form, None, X.shape[0], how)


def _median(X: Any, within: Kernel | None, p: int) -> float:
    if within is not None:
        apart = distance(within, X)[np.triu_indices(count(X), 1)]
    elif sp.issparse(X):
        apart = vector_distances(X, X, p)[np.triu_indices(X.shape[0], 1)]
    else:
        apart = pdist(X.astype(np.float64, copy=False), "cityblock" if p == 1 else "euclidean")
    apart = apart[apart > 0.0]
    if not len(apart):
        raise ValueError(
            "all objects are equal, so there is no distance to take a width from; give gamma as a "
            "number."
        )
    return float(np.median(apart))
