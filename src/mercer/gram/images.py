"""What the leaves of a program look at: columns of the objects, or their images under a map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import scipy.sparse as sp

from mercer.kernels.objects import Objects
from mercer.kernels.tables import select
from mercer.kernels.vocabulary import Vocabulary

from .program import Leaf, Program, Scalars

# Rows with fewer non-zero entries than this share are stored compressed.
SPARSE_DENSITY = 0.25


def view(X: Any, part: Leaf | Scalars, takes: Objects) -> Any:
    """Return what a part of a program looks at.

    Parameters
    ----------
    X : objects
        Validated objects.
    part : Leaf or Scalars
        The part.
    takes : Objects
        What the part takes where no map gives it vectors.

    Returns
    -------
    objects
        The columns of `X`, or their images under the map.
    """
    if part.mapping is None:
        return select(X, part.columns, takes)
    return part.mapping(select(X, part.columns, part.mapping.takes))


@dataclass
class Images:
    """What leaves with a map, mapped leaves and sequences make of objects.

    Attributes
    ----------
    program : Program
        The kernel's program.
    vocabularies : dict
        For mapped leaves and sequences the columns of the features, or the numbers of the tokens,
        of the objects that stay.
    compressed : dict
        For every leaf of images whether their rows are stored compressed.
    """

    program: Program
    vocabularies: dict[int, Vocabulary] = field(default_factory=dict)
    compressed: dict[int, bool] = field(default_factory=dict)

    def of_those_that_stay(self, X: Any) -> dict[int, Any]:
        """Return the images of the objects from which the columns are taken."""
        for k, leaf in enumerate(self.program.leaves):
            if leaf.mapped or leaf.kind == "sequence":
                self.vocabularies[k] = Vocabulary()
        found = self.of(X)
        for vocabulary in self.vocabularies.values():
            vocabulary.fix()
        for k, rows in found.items():
            if self.program.leaves[k].kind != "sequence":
                self.compressed[k] = sp.issparse(rows) and not _is_dense(rows)
                found[k] = self._stored(k, rows)
        return found

    def of(self, X: Any) -> dict[int, Any]:
        """Return the images of objects, by leaf."""
        found: dict[int, Any] = {}
        seen: list[tuple[Leaf, Any]] = []  # a map is applied once, however many leaves it has
        for k, leaf in enumerate(self.program.leaves):
            if leaf.kind in ("matrix", "python") or not (leaf.mapping or leaf.kernel):
                continue
            kernel: Any = leaf.kernel
            if leaf.mapping is None:
                objects = view(X, leaf, kernel.takes)
            else:
                objects = _once(X, leaf, seen)
            if leaf.kind == "sequence":
                found[k] = kernel.encode(objects, self.vocabularies[k])
            elif leaf.mapped:
                found[k] = self._stored(k, kernel.map_objects(objects, self.vocabularies[k]))
            else:
                found[k] = self._stored(k, objects)
        return found

    def _stored(self, k: int, rows: Any) -> Any:
        """Return rows in the form in which those that stay are stored, once that is known."""
        if k not in self.compressed:
            return rows
        if self.compressed[k]:
            return sp.csr_array(rows)
        return rows.toarray() if sp.issparse(rows) else rows


def _once(X: Any, leaf: Leaf, seen: list[tuple[Leaf, Any]]) -> Any:
    """Return the images under the map of a leaf, which another leaf may have had before."""
    for other, images in seen:
        if (other.columns, other.mapping) == (leaf.columns, leaf.mapping):
            return images
    assert leaf.mapping is not None
    images = view(X, leaf, leaf.mapping.takes)
    seen.append((leaf, images))
    return images


def _is_dense(rows: Any) -> bool:
    return bool(rows.nnz > SPARSE_DENSITY * rows.shape[0] * rows.shape[1])
