"""Objects with their images under the maps of kernel programs, each computed once.

A map may be a user's function, and is the expensive part of a kernel then. Everything that
concerns one set of objects (binding a kernel to it, its kernel matrix in any precision, norms,
subsets) therefore asks one `Views` for the images, which is passed on in place of the objects.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mercer.objects.tables import select
from mercer.objects.validation import Objects, take

from .program import Columns, Composed, Leaf, Mapping, Scalars


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
