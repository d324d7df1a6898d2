"""Polygonal lines: projection of points, arc length, and the base of estimators that are one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.objects.arrays import Array

from ..base import as_precise
from .quantiser import Quantiser

_VALUES = 2**21  # distances of points to segments that are held at once


class OnLine(NamedTuple):
    """The nearest points of a polygonal line: segment, position in it, squared distance."""

    segment: NDArray[np.intp]
    share: Array
    squares: Array


def lengths(knots: Array) -> Array:
    """Return the lengths of the segments."""
    return np.linalg.norm(np.diff(knots, axis=0), axis=1)


def project(X: Array, knots: Array) -> OnLine:
    """Return the nearest points of the line through the knots."""
    begin, side = knots[:-1], np.diff(knots, axis=0)
    squared = np.einsum("ij,ij->i", side, side)
    safe = np.where(squared > 0.0, squared, 1.0)
    parts = []
    step = max(1, _VALUES // len(side))
    for first in range(0, len(X), step):
        offset = X[first : first + step, None, :] - begin
        along = np.einsum("nkj,kj->nk", offset, side)
        share = np.clip(along / safe, 0.0, 1.0)
        squares = np.einsum("nkj,nkj->nk", offset, offset) - share * (2.0 * along - share * squared)
        best = np.argmin(squares, axis=1)
        rows = np.arange(len(best))
        # Once more from the chosen segment: the difference above loses digits near the line.
        t = share[rows, best]
        rest = offset[rows, best] - t[:, None] * side[best]
        parts.append(OnLine(best, t, np.einsum("ij,ij->i", rest, rest)))
    return OnLine(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def even(knots: Array, n: int) -> Array:
    """Return n points at equal steps of arc length."""
    positions = np.concatenate([[0.0], np.cumsum(lengths(knots))])
    return points_at(knots, np.linspace(0.0, positions[-1], n))


def points_at(knots: Array, position: Array) -> Array:
    """Return the points at positions of arc length."""
    at = np.concatenate([[0.0], np.cumsum(lengths(knots))])
    return np.stack([np.interp(position, at, column) for column in knots.T], axis=1)


class PolygonalLine(Quantiser):
    """Base class of estimators that are a polygonal line. A subclass sets ``knots_`` in `fit`."""

    knots_: Array

    @property
    def length_(self) -> float:
        """The length of the line."""
        check_is_fitted(self)
        return float(lengths(self.knots_).sum())

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the positions of points: arc length up to the nearest point of the line.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Points.

        Returns
        -------
        array of shape (n_X, 1)
            Positions between 0 and ``length_``.
        """
        rows = self._rows(X)
        return as_precise(self._nearest(np.asarray(rows, dtype=np.float64))[0], rows)

    def inverse_transform(self, X: Any) -> Array:
        """Return the points of the line at positions of arc length.

        Parameters
        ----------
        X : array-like of shape (n_X, 1)
            Positions; those beyond an end are taken as the end.

        Returns
        -------
        array of shape (n_X, n_features)
            Points.
        """
        check_is_fitted(self)
        positions = np.asarray(X, dtype=np.float64)
        if positions.ndim != 2 or positions.shape[1] != 1 or not np.isfinite(positions).all():
            raise ValueError(
                "inverse_transform needs one finite position of arc length for each point; got an "
                f"array of shape {positions.shape}."
            )
        return points_at(self.knots_, positions[:, 0])

    def _nearest(self, X: Array) -> tuple[Array, Array]:
        found = project(X, self.knots_)
        sides = lengths(self.knots_)
        begin = np.concatenate([[0.0], np.cumsum(sides)])
        position = begin[found.segment] + found.share * sides[found.segment]
        return position[:, None], found.squares

    def _require_fit(self) -> None:
        check_is_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return "knots_" in self.__dict__

    @property
    def _n_features_out(self) -> int:
        return 1
