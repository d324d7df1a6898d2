"""The rows of the leaves of a program: features, tokens, images of the objects under a map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import scipy.sparse as sp

from mercer.objects.validation import ANY
from mercer.objects.vocabulary import Vocabulary

from .mapped_objects import Views
from .program import Program

# Rows with fewer non-zero entries than this share are stored compressed.
SPARSE_DENSITY = 0.25


@dataclass
class Images:
    """What leaves with a map, mapped leaves and sequences make of objects."""

    program: Program  # the kernel's program
    # for mapped leaves and sequences the columns of the features, or the numbers of the tokens, of
    # the objects that stay
    vocabularies: dict[int, Vocabulary] = field(default_factory=dict)
    # for every leaf of images whether their rows are stored compressed
    compressed: dict[int, bool] = field(default_factory=dict)

    def of_those_that_stay(self, views: Views) -> dict[int, Any]:
        """Return the images of the objects from which the columns are taken."""
        for k, leaf in enumerate(self.program.leaves):
            if leaf.mapped or leaf.kind == "sequence":
                self.vocabularies[k] = Vocabulary()
        found = self.of(views)
        for vocabulary in self.vocabularies.values():
            vocabulary.fix()
        for k, rows in found.items():
            if self.program.leaves[k].kind != "sequence":
                self.compressed[k] = sp.issparse(rows) and not _is_dense(rows)
                found[k] = self._stored(k, rows)
        return found

    def of(self, views: Views) -> dict[int, Any]:
        """Return the images of objects, by leaf."""
        found: dict[int, Any] = {}
        for k, leaf in enumerate(self.program.leaves):
            if leaf.kind in ("matrix", "python") or not (leaf.mapping or leaf.kernel):
                continue
            kernel: Any = leaf.kernel
            objects = views.of(leaf, kernel.takes if leaf.mapping is None else ANY)
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


def _is_dense(rows: Any) -> bool:
    return bool(rows.nnz > SPARSE_DENSITY * rows.shape[0] * rows.shape[1])
