"""Objects with their images under the maps of kernel programs, each computed once.

A map may be a user's function, and is then the expensive part of a kernel. Everything that is
computed for one set of objects (binding, its kernel matrix in any precision, norms, subsets)
therefore takes the images from one `Views`, which is passed on in place of the objects.
`Images` are the rows of the leaves of a program: features, tokens, images under a map.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import scipy.sparse as sp

from mercer.objects.tables import select
from mercer.objects.validation import ANY, Objects, take
from mercer.objects.vocabulary import Vocabulary

from .program import Columns, Composed, Leaf, Mapping, Program, Scalars


class _Image(NamedTuple):
    columns: Columns
    mapping: Mapping
    images: Any


class Views:
    """A set of objects, which must not be changed, with all images of them that were asked for."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self._known: list[_Image] = []
        self._whole: tuple[Views, tuple[int, ...]] | None = None  # of which these are columns

    def of(self, part: Leaf | Scalars, takes: Objects) -> Any:
        """Return the rows, or images, that a part of a program is computed from."""
        return self.seen(part.columns, part.mapping, takes)

    def seen(self, columns: Columns, mapping: Mapping | None, takes: Objects) -> Any:
        """Return columns of the objects of the wanted kind, or their images under a map."""
        if mapping is None:
            return select(self.X, columns, takes)
        return self.images(mapping, columns)

    def images(self, mapping: Mapping, columns: Columns = None) -> Any:
        """Return the images of (some columns of) the objects under a map, made once."""
        if self._whole is not None and columns is None:
            whole, chosen = self._whole
            return whole.images(mapping, chosen)
        for known in self._known:
            if known.columns == columns and known.mapping == mapping:
                return known.images
        if isinstance(mapping, Composed):
            images = mapping.follow(self.images(mapping.first, columns))
        else:
            images = mapping(select(self.X, columns, mapping.takes))
        self._known.append(_Image(columns, mapping, images))
        return images

    def over(self, X: Any) -> Views:
        """Return these views where `X` are their objects, new ones where they are not."""
        return self if X is self.X else Views(X)

    def take(self, index: Any) -> Views:
        """Return the views of some of the objects; what is known of them stays known."""
        part = Views(take(self.X, index))
        part._known = [known._replace(images=take(known.images, index)) for known in self._known]
        return part

    def replaced(self, X: Any) -> Views:
        """Return the views of other objects, which have the same images."""
        part = Views(X)
        part._known = list(self._known)
        return part

    def choose(self, columns: tuple[int, ...], chosen: Any) -> Views:
        """Return the views of some columns, whose images are kept here."""
        part = Views(chosen)
        if self._whole is None:
            part._whole = self, columns
        else:
            whole, outer = self._whole
            part._whole = whole, tuple(outer[c] for c in columns)
        return part


def views_of(X: Any) -> Views:
    """Return the views of objects, or the views that were passed in their place."""
    return X if isinstance(X, Views) else Views(X)


# Rows with fewer non-zero entries than this share are stored compressed.
SPARSE_DENSITY = 0.25


@dataclass
class Images:
    """Images of objects under the maps and feature maps of leaves, and encoded sequences."""

    program: Program  # the kernel's program
    # for mapped leaves and sequences the columns of the features, or the numbers of the tokens, of
    # the reference objects
    vocabularies: dict[int, Vocabulary] = field(default_factory=dict)
    # for every leaf of images whether their rows are stored compressed
    compressed: dict[int, bool] = field(default_factory=dict)

    def of_reference(self, views: Views) -> dict[int, Any]:
        """Return the images of the reference objects, from which the columns are taken."""
        for k, leaf in enumerate(self.program.leaves):
            if leaf.mapped or leaf.kind == "sequence":
                self.vocabularies[k] = Vocabulary()
        found = self.of(views)
        for vocabulary in self.vocabularies.values():
            vocabulary.fix()
        for k, rows in found.items():
            if self.program.leaves[k].kind != "sequence":
                self.compressed[k] = (
                    sp.issparse(rows) and rows.nnz <= SPARSE_DENSITY * rows.shape[0] * rows.shape[1]
                )
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
        """Return rows in the form in which the reference objects are stored, once that is known."""
        if k not in self.compressed:
            return rows
        if self.compressed[k]:
            return sp.csr_array(rows)
        return rows.toarray() if sp.issparse(rows) else rows
