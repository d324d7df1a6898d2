"""Kernels on the nodes of a graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from mercer.gram.program import Builder
from mercer.objects.hashables import is_hashable
from mercer.objects.parameters import real
from mercer.objects.rows import dense
from mercer.objects.validation import Objects, as_items
from mercer.objects.vocabulary import Vocabulary

from .base import Kernel
from .definiteness import PD


class Diffusion(Kernel):
    r"""How much heat flows from one node of a graph to another.

    .. math:: K = e^{-\beta L}, \quad L = D - W

    W are the weights of the edges and D the diagonal matrix of their sums, so that L is the
    Laplacian of the graph (R. Kondor and J. Lafferty, 2002). The kernel is defined by an algorithm
    on the whole graph, not by a formula of two nodes. Positive definite: the exponential of a
    symmetric matrix has positive eigenvalues.

    Parameters
    ----------
    weights : array or sparse matrix of shape (n_nodes, n_nodes)
        Weights of the edges, symmetric and non-negative; 0 where there is none. The diagonal
        (loops) plays no part.
    beta : float >= 0, default=1.0
        The time for which heat flows. 0: every node is similar to itself only.
    nodes : sequence of hashable, optional
        Names of the nodes; by default they are numbered from 0.

    Notes
    -----
    Use it to classify the nodes of a graph from few labels: people in a network, proteins by
    interactions, words by links. Try a beta between 0.1 and 3, divided by the mean degree of a
    node; a larger one makes all nodes of a component similar. ``normalize`` it where degrees differ
    much. The matrix of all nodes is computed once, in the cube of their number, so up to some
    thousands. Avoid it for different graphs and for nodes that are added later.

    Examples
    --------
    >>> from mercer.kernels import Diffusion
    >>> Diffusion([[0, 1], [1, 0]], beta=0.5)([0, 1]).round(6)
    array([[0.68394, 0.31606],
           [0.31606, 0.68394]])
    """

    weights: Any
    beta: float = 1.0
    nodes: Sequence[Hashable] | None = None

    _objects: ClassVar[Objects] = Objects("nodes of its graph, by name or number", structured=True)
    definiteness = PD  # the exponential of a symmetric matrix

    def _check(self) -> None:
        real(self.beta, "beta", minimum=0)
        weights = dense(self.weights)
        if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or not weights.size:
            raise ValueError(f"weights must be a square matrix; got shape {weights.shape}.")
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError("the weights of edges must be finite and non-negative.")
        if not np.array_equal(weights, weights.T):
            raise ValueError("weights must be symmetric: heat flows both ways along an edge.")
        if self.nodes is not None:
            if len(self.nodes) != len(weights):
                raise ValueError(f"nodes has {len(self.nodes)} names for {len(weights)} nodes.")
            if len(set(self.nodes)) < len(self.nodes):
                raise ValueError("nodes must name every node once.")

    def validate(self, X: Any, against: Any = None) -> list:
        X = as_items(X, type(self).__name__, "nodes")
        known = self._position()
        for i, node in enumerate(X):
            if not is_hashable(node) or node not in known:
                raise ValueError(f"object {i}, {node!r}, is no node of the graph.")
        return X

    def compile(self, builder: Builder) -> None:
        builder.mapped(self, "dot")

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> np.ndarray:
        position = self._position()
        return self._half()[[position[node] for node in X]]

    def feature_map(self, X: Any) -> np.ndarray:
        """Return the rows of exp(-beta L / 2); see :meth:`Kernel.feature_map`."""
        position = self._position()
        return self._half()[[position[node] for node in self.validate(X)]]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        position, beta = self._position(), float(self.beta)
        values, vectors = self._spectrum()
        left, right = (vectors[[position[node] for node in nodes]] for nodes in (X, Z))
        return {"beta": (left * (-values * np.exp(-beta * values))) @ right.T}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Diffusion):
            return NotImplemented
        return (
            self.beta == other.beta
            and np.array_equal(dense(self.weights), dense(other.weights))
            and list(self._position()) == list(other._position())
        )

    def __hash__(self) -> int:
        return hash(type(self))

    def _half(self) -> np.ndarray:
        """Return exp(-beta L / 2), whose square is the matrix of all nodes; computed once."""
        known = self.__dict__.get("_computed")
        if known is None or known[0] is not self.weights or known[1] != self.beta:
            values, vectors = self._spectrum()
            decay = np.exp(-0.5 * float(self.beta) * values)
            known = (self.weights, self.beta, (vectors * decay) @ vectors.T)
            self.__dict__["_computed"] = known
        return known[2]

    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the eigenvalues of the Laplacian, which are at least 0, and its eigenvectors."""
        weights = dense(self.weights)
        values, vectors = eigh(np.diag(weights.sum(axis=1)) - weights)
        return np.maximum(values, 0.0), vectors

    def _position(self) -> dict[Hashable, int]:
        names = range(len(dense(self.weights))) if self.nodes is None else self.nodes
        return {name: i for i, name in enumerate(names)}
