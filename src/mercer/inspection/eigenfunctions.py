r"""Mercer's decomposition of a kernel, by quadrature.

The eigenfunctions of the integral operator :math:`(T f)(x) = \int k(x, z) f(z) \, d\mu(z)`,
orthonormal in L2(mu), expand the kernel: :math:`k(x, z) = \sum_j \lambda_j \phi_j(x) \phi_j(z)`.
With nodes x_i and weights w_i of a quadrature rule for mu, Nystrom's method solves the symmetric
problem with the matrix sqrt(w_i) k(x_i, x_j) sqrt(w_j) and continues its eigenvectors to all x by
the integral equation itself,

.. math:: \phi_j(x) = \frac{1}{\lambda_j} \sum_i w_i k(x, x_i) \phi_j(x_i) .

The theorem holds as stated for continuous kernels on compact sets; the eigenfunctions need not be
bounded uniformly in j, contrary to theorem 3.1 of Smola's thesis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.linalg

from mercer.gram.running_error import ASSUMED
from mercer.kernels import Kernel, resolve
from mercer.numerics.symmetric_matrices import oriented
from mercer.objects.parameters import integer, is_number, require_choice
from mercer.objects.validation import count

from .definiteness_check import DENSE
from .eigenvalues import leading
from .matrix_source import KernelValues
from .samplers import Box
from .weighted_features import WeightedFeatures


@dataclass(frozen=True, eq=False)
class MercerDecomposition:
    """Eigenvalues and eigenfunctions of a kernel for a measure.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    eigenvalues : ndarray of shape (n_terms,)
        Largest first, all positive.
    nodes : objects
        Where the measure is concentrated.
    weights : ndarray of shape (n_nodes,)
        Its weights.
    values : ndarray of shape (n_nodes, n_terms)
        The eigenfunctions at the nodes, of unit length in L2 of the measure.
    trace : float
        The integral of k(x, x), which is the sum of all eigenvalues.
    n_negative : int
        Eigenvalues below zero that were left out: 0 for a kernel.

    Examples
    --------
    >>> from mercer.inspection import mercer_decomposition
    >>> from mercer.kernels import RBF
    >>> made = mercer_decomposition(RBF(1.0), (0.0, 1.0), n_terms=5)
    >>> round(float(made.eigenvalues.sum() / made.trace), 4), made.n_negative
    (1.0, 0)
    """

    kernel: Kernel
    eigenvalues: np.ndarray
    nodes: Any
    weights: np.ndarray
    values: np.ndarray
    trace: float
    n_negative: int

    def eigenfunctions(self, X: Any) -> np.ndarray:
        """Return the eigenfunctions at any objects, one column for each."""
        weighted = self.weights[:, None] * self.values / self.eigenvalues
        return self.kernel(X, self.nodes) @ weighted

    def features(self) -> WeightedFeatures:
        """Return the eigenfunctions as features, weighted by the eigenvalues."""
        return WeightedFeatures(self.eigenfunctions, self.eigenvalues)

    def reconstruct(self, X: Any, Z: Any = None, n_terms: int | None = None) -> np.ndarray:
        """Return the kernel between `X` and `Z`, by default `X`, from the leading terms, or all."""
        left = self.eigenfunctions(X)[:, :n_terms]
        right = left if Z is None else self.eigenfunctions(Z)[:, :n_terms]
        return (left * self.eigenvalues[:n_terms]) @ right.T

    def tail(self, n_terms: int) -> float:
        """Return the integral of k(x, x) that the first terms leave out.

        It is the sum of the other eigenvalues. No value of the truncated kernel is wrong by more
        than the square root of the product of what is left out at both objects.
        """
        return float(self.trace - self.eigenvalues[:n_terms].sum())

    @property
    def largest_value(self) -> float:
        """Largest size of an eigenfunction at the nodes, a lower bound of its supremum."""
        return float(np.abs(self.values).max())


def mercer_decomposition(
    kernel: Any,
    domain: Any,
    *,
    n_terms: int | None = None,
    n_nodes: int = 200,
    rule: str = "gauss",
    weights: Any = None,
) -> MercerDecomposition:
    """Return the leading eigenvalues and eigenfunctions of a kernel.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel or its name, or a function of two collections of objects.
    domain : tuple (low, high) or objects
        An interval, or a box by two opposite corners ``([0, 0], [1, 2])``, with the uniform
        measure, whose total mass is the length or volume; or objects, a sample, with mass 1/n each
        unless `weights` says otherwise.
    n_terms : int >= 1, optional
        How many terms to return; by default all whose eigenvalue exceeds rounding.
    n_nodes : int >= 2, default=200
        Nodes on an interval; on a box of dimension d about so many in all, and at least 2^d.
    rule : {"gauss", "midpoint", "periodic"}, default="gauss"
        Gauss and Legendre's rule, for smooth kernels; the midpoint rule, for kernels with a kink;
        or equally spaced nodes, for periodic ones.
    weights : array of shape (n,), optional
        Weights of the objects.

    Returns
    -------
    MercerDecomposition
        The terms, by falling eigenvalue.

    Examples
    --------
    The covariance min(x, z) of Brownian motion on [0, 1] has the eigenvalues
    1 / ((j - 1/2)^2 pi^2):

    >>> import numpy as np
    >>> from mercer.inspection import mercer_decomposition
    >>> brownian = lambda A, B: np.minimum(A, B.T)
    >>> mercer_decomposition(brownian, (0, 1), n_terms=3, rule="midpoint").eigenvalues.round(4)
    array([0.4053, 0.045 , 0.0162])
    """
    kernel = resolve(kernel)
    if n_terms is not None:
        integer(n_terms, "n_terms", minimum=1)
    if isinstance(domain, tuple):
        if weights is not None:
            raise ValueError("weights belong to objects; an interval has those of its rule.")
        nodes, mass = quadrature(domain, integer(n_nodes, "n_nodes", minimum=2), rule)
    else:
        _refuse_sides(domain)
        nodes = domain
        mass = _masses(weights, count(domain))
    values = KernelValues(kernel, nodes)
    roots = np.sqrt(mass)
    largest = float(np.abs(values.diagonal() * mass).max())
    if n_terms is not None and values.n > DENSE and n_terms < values.n - 1:
        eigenvalues, vectors = leading(values, roots, n_terms)
    else:
        K = roots[:, None] * values.full() * roots
        largest = float(np.abs(K).max())
        eigenvalues, vectors = scipy.linalg.eigh((K + K.T) / 2)
        eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    tolerance = values.n * ASSUMED * values.eps * largest
    kept = int((eigenvalues > tolerance).sum())
    if kept == 0:
        raise ValueError("the kernel has no positive eigenvalue on this domain.")
    kept = kept if n_terms is None else min(kept, n_terms)
    functions = oriented(vectors[:, :kept] / roots[:, None])
    return MercerDecomposition(
        kernel=values.kernel or kernel,
        eigenvalues=eigenvalues[:kept],
        nodes=values.objects,
        weights=mass,
        values=functions,
        trace=float(values.diagonal() @ mass),
        n_negative=int((eigenvalues < -tolerance).sum()),
    )


def _refuse_sides(domain: Any) -> None:
    """Reject a list of pairs of numbers, which is a box to one reader and a sample to another."""
    if (
        isinstance(domain, list)
        and domain
        and all(
            isinstance(side, tuple) and len(side) == 2 and all(map(is_number, side))
            for side in domain
        )
    ):
        low, high = ([side[end] for side in domain] for end in (0, 1))
        raise ValueError(
            f"a list of pairs may be meant as a box or as a sample of vectors. For the box pass "
            f"its corners, domain=({low}, {high}); for the sample an array, np.array({domain})."
        )


def _masses(weights: Any, n: int) -> np.ndarray:
    if weights is None:
        return np.full(n, 1.0 / n)
    mass = np.asarray(weights, dtype=np.float64)
    if mass.shape != (n,) or not (np.isfinite(mass).all() and (mass > 0).all()):
        raise ValueError(
            f"weights must be {n} positive numbers, one per object; drop objects of weight 0."
        )
    return mass


RULES = ("gauss", "midpoint", "periodic")


def quadrature(domain: tuple[Any, ...], n: int, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """Return about n nodes, 2^d at least, and weights of a rule on an interval or a box."""
    if len(domain) == 2 and all(is_number(end) for end in domain):
        return _interval(float(domain[0]), float(domain[1]), n, rule)
    try:
        box = Box(*domain)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "an interval is a pair (low, high) of finite numbers, and a box a pair of opposite "
            f"corners with low < high in every coordinate; got {domain!r}."
        ) from error
    side = max(2, round(n ** (1 / len(box.low))))
    axes = [_interval(a, b, side, rule) for a, b in zip(box.low, box.high, strict=True)]
    grids = np.meshgrid(*(nodes[:, 0] for nodes, _ in axes), indexing="ij")
    return np.stack(grids, axis=-1).reshape(-1, len(axes)), reduce(
        np.kron, [mass for _, mass in axes]
    )


def _interval(low: float, high: float, n: int, rule: str) -> tuple[np.ndarray, np.ndarray]:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"an interval needs finite ends, low < high; got ({low:g}, {high:g}).")
    require_choice(rule, "rule", RULES)
    if rule == "gauss":
        x, w = np.polynomial.legendre.leggauss(n)
        nodes, mass = (low + high) / 2 + (high - low) / 2 * x, (high - low) / 2 * w
    else:
        shift = 0.5 if rule == "midpoint" else 0.0
        nodes = low + (high - low) * (np.arange(n) + shift) / n
        mass = np.full(n, (high - low) / n)
    return nodes[:, None], mass
